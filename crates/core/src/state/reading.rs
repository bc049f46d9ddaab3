//! The fields of a state of readers.

use alloc::vec::Vec;

use super::json::{Object, signed, unsigned, whole};
use super::numbers::Numbers;
use crate::base::memory::has_room;

/// All of them, as they stand in the text; whether they make sense together is for who reads them.
pub(crate) struct ReadFields<'a> {
    pub(crate) samedeal: u64,
    pub(crate) kind: &'a str,
    pub(crate) epoch: u64,
    pub(crate) consumed: u64,
    pub(crate) history: Vec<ReadSegment>,
    pub(crate) seed: i64,
    pub(crate) shuffle: bool,
    pub(crate) deal: &'a str,
    pub(crate) lanes: Option<u64>,
    pub(crate) window: Option<u64>,
    pub(crate) shuffle_rows: Option<bool>,
    pub(crate) reshuffle: Option<bool>,
    pub(crate) policy: Option<&'a str>,
    pub(crate) worker_policy: Option<&'a str>,
    pub(crate) weight: Option<&'a str>,
    pub(crate) bytes: Option<Numbers<'a>>,
    pub(crate) samples: u64,
    pub(crate) shards: u64,
    pub(crate) sizes: Numbers<'a>,
}

pub(crate) struct ReadSegment {
    pub(crate) world_size: u32,
    pub(crate) workers: u32,
    pub(crate) batch_size: u32,
    pub(crate) drop_last: bool,
    pub(crate) steps: u64,
}

impl<'a> ReadFields<'a> {
    /// The fields of a text, if it is an object of them and nothing else, each there once.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (mut outer, mut inner) = (Object::default(), None);
        let mut history = None;
        whole(text, |reader, name| match name {
            "recipe" if inner.is_none() => {
                let mut found = (Object::default(), None, None);
                reader.object(|reader, name| match name {
                    "sizes" => found.1.replace(sizes(reader)?).is_none().then_some(()),
                    "bytes" => found.2.replace(sizes(reader)?).is_none().then_some(()),
                    _ => reader.add(name, RECIPE, &mut found.0),
                })?;
                inner = Some(found);
                Some(())
            }
            "history" if history.is_none() => {
                history = Some(segments(reader)?);
                Some(())
            }
            "samedeal" | "kind" | "epoch" | "consumed" => reader.add(name, OUTER, &mut outer),
            _ => None,
        })?;
        let (recipe, sizes, bytes) = inner?;
        Some(Self {
            samedeal: unsigned(outer.number("samedeal")?)?,
            kind: outer.text("kind")?,
            epoch: unsigned(outer.number("epoch")?)?,
            consumed: unsigned(outer.number("consumed")?)?,
            history: history?,
            seed: signed(recipe.number("seed")?)?,
            shuffle: recipe.flag("shuffle")?,
            deal: recipe.text("deal")?,
            lanes: recipe.optional("lanes")?,
            window: recipe.optional("window")?,
            shuffle_rows: recipe.optional_flag("shuffle_rows")?,
            reshuffle: recipe.optional_flag("reshuffle")?,
            policy: recipe.optional_text("policy")?,
            worker_policy: recipe.optional_text("worker_policy")?,
            weight: recipe.optional_text("weight")?,
            bytes,
            samples: unsigned(recipe.number("samples")?)?,
            shards: unsigned(recipe.number("shards")?)?,
            sizes: sizes?,
        })
    }
}

const OUTER: &[&str] = &["samedeal", "kind", "epoch", "consumed"];
const RECIPE: &[&str] = &[
    "seed",
    "shuffle",
    "deal",
    "lanes",
    "window",
    "shuffle_rows",
    "reshuffle",
    "policy",
    "worker_policy",
    "weight",
    "samples",
    "shards",
];

fn sizes<'a>(reader: &mut super::json::Reader<'a>) -> Option<Numbers<'a>> {
    if reader.is_at(b'"') {
        return reader.string().map(Numbers::Hash);
    }
    let mut numbers = Vec::new();
    reader.list(b'[', b']', |reader| {
        let number = unsigned(reader.number()?)?;
        has_room(&mut numbers, 1).then(|| numbers.push(number))
    })?;
    Some(Numbers::All(numbers))
}

fn segments(reader: &mut super::json::Reader) -> Option<Vec<ReadSegment>> {
    const NAMES: &[&str] = &["world_size", "workers", "batch_size", "drop_last", "steps"];
    let mut history = Vec::new();
    reader.list(b'[', b']', |reader| {
        let mut found = Object::default();
        reader.object(|reader, name| reader.add(name, NAMES, &mut found))?;
        let number = |name| unsigned(found.number(name)?)?.try_into().ok();
        let segment = ReadSegment {
            world_size: number("world_size")?,
            workers: number("workers")?,
            batch_size: number("batch_size")?,
            drop_last: found.flag("drop_last")?,
            steps: unsigned(found.number("steps")?)?,
        };
        has_room(&mut history, 1).then(|| history.push(segment))
    })?;
    Some(history)
}
