//! How far an epoch has come, as a text.

pub(crate) mod fields;
mod json;
pub(crate) mod numbers;
mod reading;
pub(crate) mod recipe;

pub(crate) use self::json::{EntryFields, Number, Reader, signed, unsigned};
pub(crate) use self::reading::{ReadFields, ReadSegment};

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use self::fields::{Fields, Key};
use self::json::{StateFields, whole};
use crate::base::failure::{at_most, only, range, shorten};
use crate::{Failure, MAX_EXACT};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The most bytes of a state.
pub(crate) const MAX_STATE: usize = 1 << 14;

/// What the state of a sampler says.
pub(crate) struct SamplerState<'a> {
    pub(crate) order: &'a str,
    pub(crate) samples: u64,
    pub(crate) seed: i64,
    pub(crate) epoch: u64,
    pub(crate) consumed: u64,
    /// Of all that decides the order of every epoch.
    pub(crate) fingerprint: &'a str,
}

/// What the first entry of a ledger says.
pub(crate) struct LedgerState<'a> {
    /// Where the order stood.
    pub(crate) sampler: SamplerState<'a>,
    /// How many positions are claimed at a time.
    pub(crate) block: u32,
    /// How long a reader may be silent, in milliseconds.
    pub(crate) lease: u64,
}

/// What the state of a batcher says.
pub(crate) struct BatcherState<'a> {
    /// The sections that every world has.
    pub(crate) recipe: Fields<'a>,
    pub(crate) epoch: u64,
    /// World sizes and steps.
    pub(crate) history: Vec<(u32, u64)>,
}

impl<'a> SamplerState<'a> {
    /// The text: JSON, in one line.
    pub(crate) fn write(&self) -> String {
        self.written("sampler", "")
    }

    fn written(&self, kind: &str, more: &str) -> String {
        let Self { order, samples, seed, epoch, consumed, fingerprint } = self;
        let own = format!("\"consumed\":{consumed}{more}");
        written(kind, order, *samples, *seed, *epoch, &own, fingerprint)
    }

    /// Reads a state, which need not be trusted. Failures: `state`.
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        match Self::of(read(text, "sampler")?) {
            Some((state, None, None)) => state.checked(),
            _ => Err(refused(text, "sampler")),
        }
    }

    /// What is in fields that are those of a sampler, and a block and a lease, if there are some.
    fn of(fields: StateFields<'a>) -> Option<(Self, Option<u64>, Option<u64>)> {
        let StateFields { order, samples, seed, epoch, consumed, block, lease, fingerprint, .. } = fields;
        let consumed = consumed?;
        Some((Self { order, samples, seed, epoch, consumed, fingerprint }, block, lease))
    }

    fn checked(self) -> Result<Self, Failure> {
        let Self { consumed, samples, .. } = self;
        if consumed > samples {
            return Err(Failure::out_of_range("state", format!("{consumed} consumed"), range(0, samples)));
        }
        Ok(self)
    }
}

impl<'a> LedgerState<'a> {
    /// The text: JSON, in one line.
    pub(crate) fn write(&self) -> String {
        self.sampler.written("ledger", &format!(",\"block\":{},\"lease\":{}", self.block, self.lease))
    }

    /// Reads the first entry of a log, which need not be trusted. Failures: `state`, `block`, `lease`.
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        let Some((sampler, Some(block), Some(lease))) = SamplerState::of(read(text, "ledger")?) else {
            return Err(refused(text, "ledger"));
        };
        Self::new(sampler.checked()?, block, lease)
    }

    /// Failures: `block`, `lease`.
    pub(crate) fn new(sampler: SamplerState<'a>, block: u64, lease: u64) -> Result<Self, Failure> {
        let Ok(block @ 1..) = block.try_into() else {
            return Err(Failure::out_of_range("block", block, range(1, u32::MAX)));
        };
        if !(1..=MAX_EXACT).contains(&lease) {
            return Err(Failure::out_of_range("lease", lease, range(1, MAX_EXACT)));
        }
        Ok(Self { sampler, block, lease })
    }
}

impl<'a> BatcherState<'a> {
    /// Reads a state, which need not be trusted. Failures: `state`.
    pub(crate) fn read(text: &'a str, sections: &'static [Key]) -> Result<Self, Failure> {
        if text.len() > MAX_STATE {
            return Err(too_long(text));
        }
        Self::of(text, sections).ok_or_else(|| refused(text, "batcher"))
    }

    fn of(text: &'a str, sections: &'static [Key]) -> Option<Self> {
        let (mut version, mut kind, mut epoch) = (None, None, None);
        let (mut recipe, mut history) = (None, None);
        whole(text, |reader, name| {
            let first = match name {
                "samedeal" => version.replace(unsigned(reader.number()?)?).is_none(),
                "kind" => kind.replace(reader.string()?).is_none(),
                "recipe" => recipe.replace(Fields::of(reader, "recipe", sections).ok()?).is_none(),
                "epoch" => epoch.replace(unsigned(reader.number()?)?).is_none(),
                "history" => history.replace(reader.history()?).is_none(),
                _ => false,
            };
            first.then_some(())
        })?;
        let there = version? == VERSION && kind? == "batcher";
        if there { Some(Self { recipe: recipe?, epoch: epoch?, history: history? }) } else { None }
    }
}

/// What is in all states, and what is in some. No name has anything in it that JSON writes in another way.
fn written(kind: &str, order: &str, samples: u64, seed: i64, epoch: u64, own: &str, fingerprint: &str) -> String {
    format!(
        "{{\"samedeal\":{VERSION},\"kind\":\"{kind}\",\"order\":\"{order}\",\"samples\":{samples},\"seed\":{seed},\
         \"epoch\":{epoch},{own},\"fingerprint\":\"{fingerprint}\"}}"
    )
}

fn too_long(text: &str) -> Failure {
    Failure::out_of_range("state", format!("of {} bytes", text.len()), at_most(MAX_STATE))
}

fn read<'a>(text: &'a str, kind: &str) -> Result<StateFields<'a>, Failure> {
    if text.len() > MAX_STATE {
        return Err(too_long(text));
    }
    StateFields::read(text)
        .filter(|fields| fields.samedeal == VERSION && fields.kind == kind && fields.samples <= MAX_EXACT)
        .ok_or_else(|| refused(text, kind))
}

/// The kinds of states.
const KINDS: [&str; 4] = ["sampler", "batcher", "ledger", "reading"];

/// That a text is no state of a kind. If it looks like one of another kind, the failure says so.
pub(crate) fn refused(text: &str, kind: &str) -> Failure {
    let wanted = format!("a state of a {kind}, version {VERSION}");
    let written = text.get(..MAX_STATE).unwrap_or(text).split_once("\"kind\":\"").map_or("", |(_, rest)| rest);
    let other = KINDS.into_iter().find(|&other| other != kind && written.strip_prefix(other).is_some_and(is_end));
    Failure::wrong_type(
        "state",
        text,
        match other {
            Some(other) => format!("{wanted}; this is a state of a {other}"),
            None => wanted,
        },
    )
}

fn is_end(rest: &str) -> bool {
    rest.starts_with('"')
}

/// Whether what a state is of is what there is. Failures: `field`.
pub(crate) fn check<T: PartialEq + Display>(field: &'static str, of: T, here: T) -> Result<(), Failure> {
    same(field, of, here, "as in the state; to use another value, begin a new epoch")
}

/// Whether two values are the same, one from a text and one that is here; and why they should be. Failures: `field`.
pub(crate) fn same<T: PartialEq + Display>(field: &'static str, of: T, here: T, why: &str) -> Result<(), Failure> {
    if of == here {
        return Ok(());
    }
    let [here, of] = [here, of].map(|value| shorten(&format!("{value}")));
    Err(Failure::contradiction(field, here, only(of).and(format_args!(", {why}"))))
}
