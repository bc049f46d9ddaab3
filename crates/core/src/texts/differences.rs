//! Differences between two texts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::text::Found;
use crate::base::Failure;
use crate::base::failure::{Kind as FailureKind, shorten};
use crate::base::memory::{collect, grow};
use crate::base::sort::sort_short;
use crate::batch::BatchRecipe;
use crate::deal::Recipe;
use crate::document::{Reader, quoted};
use crate::read::Reading;
use crate::shard::{Plan, Stream};
use crate::split::Split;
use crate::steps::Schedule;

/// A member that differs between two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path of the member, such as `order.seed` or `history[0].steps`.
    pub path: String,
    /// Its value in the first text, JSON without spaces; none if it is not there.
    pub one: Option<String>,
    /// Its value in the other text.
    pub other: Option<String>,
    /// The part of a run that the member decides: `order`, `deal`, `batch`, `steps`, `split`, `epoch`, `progress` or
    /// `kind`; empty if it is none of these.
    pub decides: &'static str,
}

/// The part of a run that a member decides, by the first name of its path.
const DECIDES: [(&str, &str); 14] = [
    ("order", "order"),
    ("deal", "deal"),
    ("shards", "deal"),
    ("batch", "batch"),
    ("steps", "steps"),
    ("split", "split"),
    ("epoch", "epoch"),
    ("consumed", "progress"),
    ("positions", "progress"),
    ("history", "progress"),
    ("window", "progress"),
    ("checksum", "progress"),
    ("step", "progress"),
    ("kind", "kind"),
];

/// The members that differ between two texts: those of `one`, in its order, then those that only `other` has, in its
/// order. A recipe is compared in its canonical form, if it needs nothing beside its text. If one text is a recipe and
/// the other a state, only the sections that the recipe of the state has are compared. Failures: `one` or `other` (no
/// JSON object, more than 2^24 bytes, or a member twice), `samedeal`, `kind`, `out-of-memory`.
pub fn differences(one: &str, other: &str) -> Result<Vec<Difference>, Failure> {
    let texts = [("one", one), ("other", other)];
    let [own, others] = texts.map(|(field, text)| Members::read(field, text));
    let (mut own, mut others) = (own?, others?);
    own.compare_with_recipe_of(&mut others)?;
    others.compare_with_recipe_of(&mut own)?;
    let (own_places, other_places) = (own.places()?, others.places()?);
    let mut found = Vec::new();
    for (path, value) in &own.all {
        let (one, other) = (Some(value), others.value(&other_places, path));
        if one != other && !is_told_below(path, value, &own_places, &other_places) {
            add(&mut found, path, [one, other])?;
        }
    }
    for (path, value) in &others.all {
        if own.value(&own_places, path).is_none() && !is_told_below(path, value, &other_places, &own_places) {
            add(&mut found, path, [None, Some(value)])?;
        }
    }
    Ok(found)
}

/// Whether a value is an empty list or object, in which the other text has members that this text does not have. Then
/// only these members are listed, and not the empty value.
fn is_told_below(path: &str, value: &str, here: &[(&str, usize)], others: &[(&str, usize)]) -> bool {
    let below = match value {
        "[]" => format!("{path}["),
        "{}" => format!("{path}."),
        _ => return false,
    };
    let first = others.partition_point(|&(other, _)| other < &*below);
    let mut paths = others[first..].iter().map(|&(other, _)| other).take_while(|other| other.starts_with(&below));
    // A name may have a dot in it, so a member elsewhere may have the same path.
    paths.any(|other| here.binary_search_by_key(&other, |&(path, _)| path).is_err())
}

/// Adds a difference. Failures: `out-of-memory`.
fn add(found: &mut Vec<Difference>, path: &str, values: [Option<&String>; 2]) -> Result<(), Failure> {
    let bytes = path.len() + values.iter().flatten().map(|value| value.len()).sum::<usize>();
    grow("one", bytes, &mut Vec::<u8>::new())?;
    grow("one", 1, found)?;
    let [one, other] = values.map(|value| value.cloned());
    let section = first_name(path.strip_prefix(RECIPE).unwrap_or(path));
    let decides = DECIDES.iter().find(|(name, _)| section == *name).map_or("", |(_, decides)| decides);
    found.push(Difference { path: path.into(), one, other, decides });
    Ok(())
}

/// The beginning of all paths of the recipe of a state.
const RECIPE: &str = "recipe.";

fn first_name(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// The canonical form of a recipe. Failures: those of reading the recipe without lists beside it.
pub(super) fn canonical(of: &str, text: &str) -> Result<String, Failure> {
    match of {
        "split" => Split::read(text)?.text(),
        "schedule" => Rc::new(Schedule::read(text, &[], 0)?).recipe(),
        "chunk-stream" => Stream::from_recipe(text, 0, 0)?.recipe(),
        "reading" => Reading::from_recipe(text, &[], 0)?.recipe(),
        "plan" => Plan::from_recipe(text, &[], 0)?.recipe(),
        "batcher" => BatchRecipe::read(text, None, &[])?.text(),
        _ => Recipe::read(text, &[])?.text(),
    }
}

/// The members of a text with their paths, in its order.
struct Members {
    field: &'static str,
    is_recipe: bool,
    all: Vec<(String, String)>,
    /// The failure that stopped `add`.
    failed: Option<Failure>,
}

impl Members {
    /// The members of a text; of a recipe, those of its canonical form. Failures: `field`, `samedeal`, `kind`,
    /// `out-of-memory`.
    fn read(field: &'static str, text: &str) -> Result<Self, Failure> {
        let found = Found::read(field, text)?;
        let is_recipe = found.recipe_of().is_some();
        let full = match found.recipe_of().map(|of| canonical(of, text)) {
            Some(Err(failure)) if failure.kind == FailureKind::OutOfMemory => return Err(failure),
            full => full.and_then(Result::ok),
        };
        let text = full.as_deref().unwrap_or(text);
        let mut members = Self { field, is_recipe, all: Vec::new(), failed: None };
        // No path is longer than the text, apart from the dots and indices between its names.
        let most = text.len() + (1 << 10);
        grow(field, most, &mut Vec::<u8>::new())?;
        let whole = members.add(&mut Reader::new(text), &mut String::with_capacity(most), true);
        match (whole, members.failed) {
            (Some(()), _) => Ok(Self { failed: None, ..members }),
            // The text was read before, so a name that cannot be read now did not find memory.
            (None, failed) => Err(failed.unwrap_or_else(|| Failure::out_of_memory(field, most, "a shorter text"))),
        }
    }

    /// Adds the members within the JSON value that comes next. With `is_whole`, this value is the object of the whole
    /// text. None if there is no memory.
    fn add(&mut self, reader: &mut Reader, path: &mut String, is_whole: bool) -> Option<()> {
        let (len, start, rest) = (path.len(), reader.place(), reader.rest());
        let close = match () {
            () if is_whole || has_members(rest) => b'}',
            () if has_objects(rest) => b']',
            () => {
                reader.skip(u32::MAX)?;
                return self.push(path, rest.get(..reader.place() - start)?);
            }
        };
        reader.eat(rest.trim_ascii_start().as_bytes()[0]);
        let mut at = 0;
        while !reader.eat(close) {
            reader.eat(b',');
            if close == b']' {
                *path += &format!("[{at}]");
            } else {
                *path += if is_whole { "" } else { "." };
                *path += &reader.string()?;
                reader.eat(b':');
            }
            self.add(reader, path, false)?;
            path.truncate(len);
            at += 1;
        }
        Some(())
    }

    /// Adds a value. None if there is no memory.
    fn push(&mut self, path: &str, value: &str) -> Option<()> {
        // Compacting a string may need memory of four times its size.
        let has_room = grow(self.field, path.len() + 4 * value.len(), &mut Vec::<u8>::new());
        self.failed = has_room.and_then(|()| grow(self.field, 1, &mut self.all)).err();
        self.failed.is_none().then(|| self.all.push((path.into(), compact(value))))
    }

    /// If this text is a recipe and the other one a state, keeps only the recipe of the state, and only the same
    /// sections of this recipe. Failures: `out-of-memory`.
    fn compare_with_recipe_of(&mut self, state: &mut Self) -> Result<(), Failure> {
        let of_recipe = |path: &str| path.starts_with(RECIPE);
        if !self.is_recipe || state.is_recipe || !state.all.iter().any(|(path, _)| of_recipe(path)) {
            return Ok(());
        }
        state.all.retain(|(path, _)| of_recipe(path));
        state.all.iter_mut().for_each(|(path, _)| drop(path.drain(..RECIPE.len())));
        let names = state.all.iter().map(|(path, _)| first_name(path));
        let mut sections = collect(state.field, state.all.len(), names)?;
        sections.dedup();
        self.all.retain(|(path, _)| sections.contains(&first_name(path)));
        Ok(())
    }

    /// The paths, ascending, each with its place. Failures: `field`, if a path is there twice; `out-of-memory`.
    fn places(&self) -> Result<Vec<(&str, usize)>, Failure> {
        let paths = self.all.iter().enumerate().map(|(place, (path, _))| (&**path, place));
        let mut places = collect(self.field, self.all.len(), paths)?;
        sort_short(&mut places);
        match places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(Failure::contradiction(self.field, shorten(pair[0].0), "each member once")),
            None => Ok(places),
        }
    }

    fn value(&self, places: &[(&str, usize)], path: &str) -> Option<&String> {
        let at = places.binary_search_by_key(&path, |(path, _)| path).ok()?;
        Some(&self.all[places[at].1].1)
    }
}

/// Whether JSON begins with an object that has members.
fn has_members(json: &str) -> bool {
    let mut ahead = Reader::new(json);
    ahead.eat(b'{') && !ahead.eat(b'}')
}

/// Whether JSON begins with a list that has an object among its items.
fn has_objects(json: &str) -> bool {
    let mut ahead = Reader::new(json);
    let mut goes_on = ahead.eat(b'[');
    while goes_on && !ahead.is_at(b'{') {
        goes_on = ahead.skip(u32::MAX).is_some() && ahead.eat(b',');
    }
    goes_on
}

/// JSON without spaces, and only with the escapes that it must have. It is never longer than before.
fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut reader = Reader::new(json);
    while !reader.is_at_end() {
        match reader.rest().as_bytes() {
            [b'"', ..] => text += &quoted(&reader.string().unwrap_or_default()),
            &[byte, ..] if reader.eat(byte) => text.push(byte.into()),
            _ => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(one: &str, other: &str) -> Vec<String> {
        let shown = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        let found = differences(one, other).unwrap().into_iter();
        found.map(|it| format!("{} {} {} {}", it.path, shown(it.one), shown(it.other), it.decides)).collect()
    }

    #[test]
    fn recipes_are_compared_with_their_defaults() {
        let one = r#"{"order": {"samples": 10}, "deal": {"remainder": "pad"}}"#;
        assert!(told(one, r#"{"samedeal":1,"order":{"seed":0,"samples":10,"name":"feistel"}}"#).is_empty());
        let other = r#"{"deal": {"unit": 2}, "order": {"samples": 10, "seed": "-9007199254740993"}}"#;
        assert_eq!(told(one, other), ["order.seed 0 \"-9007199254740993\" order", "deal.unit - 2 deal"]);
        // Every kind has its own defaults.
        for (text, member) in [
            (r#"{"split":{"parts":[{"name":"a","weight":1}]}}"#, "split.seed"),
            (r#"{"order":{"samples":10},"steps":{"global_batch_size":4}}"#, "deal.layout"),
            (r#"{"order":{"chunks":7}}"#, "deal.readers"),
            (r#"{"order":{"sizes":[4,5]},"deal":{"workers":2}}"#, "batch.drop_last"),
            (r#"{"shards":{"sizes":[4,5]}}"#, "shards.policy"),
            (r#"{"order":{"samples":10},"batch":{"max_tokens":64}}"#, "batch.tail"),
            (r#"{"order":{"samples":10}}"#, "deal.remainder"),
        ] {
            assert!(differences(text, "{}").unwrap().iter().any(|found| found.path == member), "{text}");
        }
    }

    #[test]
    fn what_is_no_recipe_is_compared_as_it_is() {
        let hash = "a".repeat(64);
        let alone = format!(r#"{{"order":{{"name":"sharded","sizes":"{hash}"}}}}"#);
        assert_eq!(told(&alone, "{}").len(), 2);
        let one =
            r#"{"kind":"batcher","epoch":3,"history":[{"steps": 2, "batch": {}}, {"steps":1}],"a":[ [{"b" : 1}] ]}"#;
        let other = r#"{"history":[{"steps":2}],"kind":"batcher","x\u002fy":[true,null, "\u0041\n"],"epoch":4}"#;
        assert_eq!(
            told(one, other),
            [
                "epoch 3 4 epoch",
                "history[0].batch {} - progress",
                "history[1].steps 1 - progress",
                "a [[{\"b\":1}]] - ",
                "x/y - [true,null,\"A\\n\"] "
            ]
        );
        assert_eq!(
            told(r#"{"a":[],"b":{},"aa":1}"#, r#"{"a":[{"x":1}],"b":{"y":2}}"#),
            ["aa 1 - ", "a[0].x - 1 ", "b.y - 2 "]
        );
        assert_eq!(
            told(r#"{"a":[{"x":1}],"b":{"y":2}}"#, r#"{"a":[],"b":{},"aa":1}"#),
            ["a[0].x 1 - ", "b.y 2 - ", "aa - 1 "]
        );
        assert!(told("{}", " { } ").is_empty());
    }

    #[test]
    fn texts_that_say_nothing_are_refused() {
        for (one, other, field) in [
            ("", "{}", "one"),
            ("{}", "[]", "other"),
            ("{}", "{} {}", "other"),
            (r#"{"a":1,"a":2}"#, "{}", "one"),
            ("{}", r#"{"a.b":1,"a":{"b":2}}"#, "other"),
            ("{}", r#"{"samedeal":"1"}"#, "samedeal"),
        ] {
            assert_eq!(differences(one, other).unwrap_err().into_parts().field, field, "{one} {other}");
        }
    }
}
