//! What the recipes of all stages have in common.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::MAX_TEXT;
use super::fields::Fields;
use super::member::{Default, Kind, Member, Place, is, is_not, member, names, place, text};
use crate::base::failure::{at_most, known as one_of};
use crate::base::fingerprint::Fingerprint;
use crate::deal::{LAYOUTS, MAX_UNIT, REMAINDERS};
use crate::order::MAX_LANES;
use crate::order::compose::{EXHAUSTIONS, INDEX_SPACES, MAX_SOURCES};
use crate::{Failure, MAX_COUNT, MAX_EXACT};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The most bytes of the canonical text of an order. It leaves room for the rest of a recipe, and for all that a state has besides.
pub(crate) const MAX_ORDER: usize = MAX_TEXT - (1 << 22);

/// Numbers that a recipe may have as a hash alone, by the name of their field.
pub type List<'a> = (&'a str, &'a [u64]);

pub(crate) const SAMEDEAL: Member = member!("samedeal", Kind::Natural { least: VERSION, most: VERSION })
    .or_number(VERSION)
    .text(text!("The version of the format."));
/// An order, which may be composed.
pub(crate) const ANY_ORDER: Member =
    member!("order", Kind::Section(&MEMBERS)).required("the section that has the samples and their order");
/// The deal of single positions to ranks.
pub(crate) const DEAL: Member = member!("deal", Kind::Section(DEAL_MEMBERS)).or(Default::Empty);

/// Which kind of documents has a member that this one refuses.
pub(crate) const OF_STREAMS: &str = "none here: it belongs to a stream of chunks";
pub(crate) const OF_READERS: &str = "none here: it belongs to readers of a dataset in shards";

pub(crate) const STEPS_ELSEWHERE: Member =
    member!("steps", Kind::Elsewhere("none here: it belongs to a schedule of global steps"));
pub(crate) const SPLIT_ELSEWHERE: Member = member!("split", Kind::Elsewhere("none here: it belongs to a split"));

/// Those of orders that are made of others.
pub(crate) const COMPOSED: &[Member] = MEMBERS.split_at(8).1;

/// The members of all orders.
pub(crate) const ANY_ORDER_MEMBERS: &[Member] = &MEMBERS;

const BLENDS: &[&str] = &["blend", "blend-exact"];
const VIEWS: &[&str] = &["exclude", "subset", "skip", "copies"];
const SHARDED: Place = place![[is("order", &["sharded"])]];
const BLENDED: Place = place![[is("order", BLENDS)]];
const WINDOWS: Place = place![[is("order", &["windows"])]];
const BALANCE: Place = place![[is("order", &["balance"])]];

// Orders lie in one another, so that this refers to itself.
static MEMBERS: [Member; 23] = [
    member!("name", Kind::TEXT).called("order").text(text!("The name of the order.")),
    member!("samples", Kind::COUNT)
        .with(place![[is_not("order", &["exclude", "subset", "skip", "copies", "windows"])]])
        .text(text!("Number of samples in the dataset; with a blend and a balance, number of positions in an epoch.")),
    SEED.with(place![[is_not("order", VIEWS)]]),
    member!("lanes", Kind::from_one(MAX_LANES))
        .with(SHARDED)
        .or_number(64)
        .text(text!("Number of parts of the dataset that are read side by side; best a multiple of every number of readers that may read it.")),
    member!("shuffle_window", Kind::from_one(MAX_COUNT))
        .with(SHARDED)
        .or_number(256)
        .text(text!("Number of neighbouring samples of a lane that are shuffled together.")),
    member!("shards", Kind::COUNT).with(SHARDED).text(text!("The number of `sizes`.")),
    member!("sizes", Kind::NUMBERS)
        .with(place![[is("order", &["sharded", "windows"])]])
        .required("the samples of each shard, or of each episode")
        .text(text!("Number of samples in each shard; with the order `windows`, in each episode.")),
    member!("chunks", Kind::Elsewhere(OF_STREAMS)),
    member!("exhaustion", Kind::Name(const { &names(&EXHAUSTIONS) }))
        .with(BLENDED)
        .text(text!("What happens if a source has made `max_passes` passes in an epoch. With `stop`, the epoch ends; with `renormalise`, the other sources go on; with `fail`, the recipe is refused. With `repeat`, the number of passes has no limit.")),
    member!("max_passes", Kind::POSITIVE)
        .with(place![[is("order", BLENDS), is("exhaustion", &["stop", "renormalise", "fail"])]])
        .or_number(1)
        .text(text!("The largest number of passes over a source in an epoch.")),
    member!("run_length", Kind::from_one(MAX_COUNT))
        .with(BLENDED)
        .or_number(1)
        .text(text!("Number of neighbouring positions that a source gets at a time.")),
    member!("index_space", Kind::Name(const { &names(&INDEX_SPACES) }))
        .with(BLENDED)
        .text(text!("Whether each source has sample indices of its own (`joined`), or all sources have the same ones (`shared`).")),
    member!("sources", Kind::Objects { of: SOURCE_MEMBERS, most: MAX_SOURCES })
        .with(BLENDED)
        .required("the orders that are blended"),
    member!("stages", Kind::objects(STAGE_MEMBERS)).with(BLENDED).text(text!("Other weights from later positions on.")),
    member!("growth", Kind::objects(GROWTH_MEMBERS))
        .with(place![[is("order", &["grown"])]])
        .text(text!("The times at which the dataset got more samples.")),
    member!("of", Kind::Section(&MEMBERS))
        .with(place![[is("order", VIEWS)]])
        .required("the order that this one is made of"),
    member!("indices", Kind::NUMBERS)
        .with(place![[is("order", &["exclude", "subset"])]])
        .required("samples, in ascending order"),
    member!("ranges", Kind::objects(RANGE_MEMBERS))
        .with(place![[is("order", &["skip"])]])
        .text(text!("Positions that are left out, in ascending order.")),
    member!("copies", Kind::SHORT_POSITIVE)
        .with(place![[is("order", &["copies"])]])
        .required("how many times in a row each sample comes"),
    member!("length", Kind::POSITIVE).with(WINDOWS).required("the samples of a window"),
    member!("stride", Kind::POSITIVE)
        .with(WINDOWS)
        .text(text!("Number of samples from the beginning of a window to the beginning of the next one; by default, `length`.")),
    member!("classes", Kind::SHORT_NUMBERS).with(BALANCE).required("the class of each sample"),
    member!("factors", Kind::Numbers { most: MAX_EXACT, beside: true })
        .with(BALANCE)
        .required("how often the samples of each class are seen in an epoch, in millionths"),
];
/// The seed of an order, or of what shuffles.
pub(crate) const SEED: Member = member!("seed", Kind::Integer).or_number(0).text(text!("The seed of all shuffles."));
static SOURCE_MEMBERS: &[Member] = &[
    SOURCE_NAME,
    SOURCE_WEIGHT,
    member!("samples", Kind::COUNT).text(text!("Number of samples of a source without an order.")),
    member!("order", Kind::Section(&MEMBERS)).text(text!("The order of the source; by default, `feistel`.")),
];
pub(crate) const SOURCE_NAME: Member =
    member!("name", Kind::Text { least: 1, most: MAX_TEXT }).called("source").required("a name for each source");
pub(crate) const SOURCE_WEIGHT: Member = member!("weight", Kind::COUNT)
    .or_number(1)
    .text(text!("How many positions the source gets, in proportion to the other weights."));
static STAGE_MEMBERS: &[Member] = &[
    member!("from", Kind::POSITIVE).required("the first position of each stage"),
    member!("weights", Kind::Numbers { most: u64::MAX, beside: false }).required("a weight for each source"),
];
const EVENT_EPOCH: Member = member!("epoch", Kind::LONG).required("an epoch in each entry");
static GROWTH_MEMBERS: &[Member] = &[
    EVENT_EPOCH,
    member!("consumed", Kind::COUNT).required("the positions of that epoch that were consumed before"),
    member!("samples", Kind::POSITIVE).required("the number of samples after it"),
];
static RANGE_MEMBERS: &[Member] = &[
    EVENT_EPOCH,
    member!("start", Kind::COUNT).required("the first position that is left out"),
    member!("count", Kind::COUNT).required("how many positions are left out"),
];
pub(crate) const WORLD_SIZE: Member =
    member!("world_size", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of ranks."));
pub(crate) const WORKERS: Member =
    member!("workers", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of loader workers of each rank."));
pub(crate) const REMAINDER: Member = member!("remainder", Kind::Name(const { &names(&REMAINDERS) })).text(text!(
    "What happens if the number of ranks (in a reading: of readers) does not divide the number of positions."
));
pub(crate) const LAYOUT: Member = member!("layout", Kind::Name(const { &names(&LAYOUTS) })).text(text!(
    "Which positions belong to a rank; by default `rotated` if an epoch can have a sample twice, else `strided`."
));
pub(crate) const UNIT: Member = member!("unit", Kind::from_one(MAX_UNIT))
    .or_number(1)
    .text(text!("How many neighbouring positions always go to the same rank."));
pub(crate) const READERS: Member =
    member!("readers", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of readers."));
const DEAL_MEMBERS: &[Member] =
    &[WORLD_SIZE, REMAINDER, LAYOUT, UNIT, WORKERS.elsewhere(OF_READERS), READERS.elsewhere(OF_STREAMS)];

/// A document and its own members, and whether the lists that come beside it have names that they may have. Failures: `recipe` (no JSON
/// object, or more than 2^24 bytes), `recipe-member` and its like (an unknown one), `lists`, any member that is of another type,
/// `samedeal`, a section that is missing.
#[inline(never)]
pub(crate) fn fields<'a>(text: &'a str, sections: &'static [Member], lists: &[List]) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_TEXT {
        let value = format!("of {} bytes", text.len());
        return Err(Failure::out_of_range(
            "recipe",
            value,
            at_most(MAX_TEXT).and("; long lists come beside it, by their names"),
        ));
    }
    // In the recipe of a sampler, a list of an order within another one has the path to it before its own name.
    let known = || sections.iter().flat_map(|section| lists_of(section.kind));
    let has_paths = known().any(|name| name == "indices");
    let own = |name: &str| {
        name.rsplit('/').next().is_some_and(|own| known().any(|known| known == own) && (has_paths || own == name))
    };
    if let Some((name, _)) = lists.iter().find(|(name, _)| !own(name)) {
        let mut names: Vec<&str> = Vec::new();
        known().for_each(|name| {
            if !names.contains(&name) {
                names.push(name)
            }
        });
        return Err(Failure::unknown_name("lists", name, one_of(names)));
    }
    for (at, (name, _)) in lists.iter().enumerate() {
        if lists.iter().take(at).any(|(before, _)| before == name) {
            return Err(Failure::contradiction("lists", format!("{name} twice"), "each name once"));
        }
    }
    let fields = Fields::read(text, sections)?;
    fields.check(&[], &[])?;
    Ok(fields)
}

/// The members of a section that may come beside the document, by their names.
fn lists_of(section: Kind) -> impl Iterator<Item = &'static str> {
    let members = if let Kind::Section(members) = section { members } else { &[] };
    let is_list = |member: &&Member| matches!(member.kind, Kind::Numbers { beside: true, .. });
    members.iter().filter(is_list).map(|member| member.name)
}

/// SHA-256 over a canonical text, in hexadecimal.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut hash = Fingerprint::new();
    hash.add(text.as_bytes());
    hash.finish()
}

/// The list of a field that comes beside the document. The names of lists have `_` where those of fields have `-`.
#[inline(never)]
pub(crate) fn beside<'a>(field: &str, lists: &[List<'a>]) -> Option<&'a [u64]> {
    let is_named = |name: &str| name.bytes().map(|byte| if byte == b'_' { b'-' } else { byte }).eq(field.bytes());
    lists.iter().find(|(name, _)| is_named(name)).map(|&(_, list)| list)
}

/// Failures: `lists`, where a list is neither of these members nor below one of them.
pub(crate) fn check_lists(lists: &[List], own: &[Member], below: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let is_own = |name: &str| own.iter().any(|member| member.name == name);
    match lists.iter().find(|(name, _)| !is_own(name) && !below(name)) {
        Some((name, _)) => Err(Failure::contradiction("lists", name, "lists of members that the recipe has")),
        None => Ok(()),
    }
}
