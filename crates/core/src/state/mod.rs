//! How far an epoch has come, as a text.

pub(crate) mod check;
pub(crate) mod differences;
pub(crate) mod fields;
mod json;
#[cfg(feature = "texts")]
pub(crate) mod meanings;
pub(crate) mod member;
pub(crate) mod numbers;
pub(crate) mod recipe;
#[cfg(feature = "texts")]
pub(crate) mod tables;
pub(crate) mod text;

pub(crate) use self::json::{
    EntryFields, Number, Reader, in_digits, is_exact, number_text, quoted, signed, signed_text, unsigned, unsigned_text,
};

use alloc::format;
use alloc::string::String;
use core::fmt::Display;

use self::fields::Fields;
use self::member::{Kind, Member, member};
use crate::base::failure::{Kind as FailureKind, at_most, only, range, shorten};
use crate::{Failure, MAX_EXACT};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The most bytes of a text: of a recipe, of a state, which has a part of one, and of an entry of a log, of which the first one is the state of a
/// ledger. A checkpoint of as many runs as there may be is shorter.
pub(crate) const MAX_TEXT: usize = 1 << 24;

/// The most segments of a history: each of them is gone through when a state is read.
pub(crate) const MAX_SEGMENTS: usize = 1 << 12;

/// Why a recipe should be that of a state.
pub(crate) const AS_IN_STATE: &str = "as in the state; to use another value, begin a new epoch";

/// Members that a state may have or not.
const OPTIONAL: [&str; 2] = ["positions", "batch"];

// The members of states, in the order of the canonical text.
pub(crate) const KIND: Member = member!("kind", Kind::TEXT);
pub(crate) const EPOCH: Member = member!("epoch", Kind::LONG);
pub(crate) const CONSUMED: Member = member!("consumed", Kind::COUNT);
/// The recipe of a state: the sections that every world has.
pub(crate) const fn recipe_of(sections: &'static [Member]) -> Member {
    member!("recipe", Kind::Section(sections))
}
pub(crate) const fn history_of(segment: &'static [Member]) -> Member {
    member!("history", Kind::objects(segment))
}

/// The sections of the recipe in a sampler's state.
pub(crate) const ORDERS: &[Member] = &[recipe::ANY_ORDER];
pub(crate) const POSITIONS: Member = member!("positions", Kind::COUNT);
const SAMPLER: &[Member] = &[recipe::SAMEDEAL, KIND, recipe_of(ORDERS), EPOCH, CONSUMED, POSITIONS];
const LEDGER: &[Member] = &[
    recipe::SAMEDEAL,
    KIND,
    recipe_of(ORDERS),
    EPOCH,
    CONSUMED,
    POSITIONS,
    member!("block", Kind::COUNT),
    member!("lease", Kind::COUNT),
];

/// What the state of a sampler says.
pub(crate) struct SamplerState<'a> {
    fields: Fields<'a>,
    /// Its own number of positions, of which `consumed` are consumed.
    pub(crate) samples: u64,
    pub(crate) epoch: u64,
    pub(crate) consumed: u64,
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

/// The text of a state: JSON, in one line. `recipe` is the text of an object; `more` is the text of the members that follow `epoch`, with
/// its comma.
pub(crate) fn write(kind: &str, recipe: &str, epoch: u64, more: &str) -> String {
    let epoch = unsigned_text(epoch);
    format!("{{\"samedeal\":{VERSION},\"kind\":\"{kind}\",\"recipe\":{recipe},\"epoch\":{epoch}{more}}}")
}

/// Reads a state, which need not be trusted, and in which all of these members are; `positions` may be missing. Failures: `state`;
/// `out-of-memory`, of any member.
pub(crate) fn read<'a>(text: &'a str, kind: &str, members: &'static [Member]) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_TEXT {
        return Err(Failure::out_of_range("state", format!("of {} bytes", text.len()), at_most(MAX_TEXT)));
    }
    let found = match Fields::read(text, members) {
        // The text may be a state all the same.
        Err(failure) if failure.kind == FailureKind::OutOfMemory => return Err(failure),
        // A tool may have rounded a number of it.
        Err(failure) if failure.kind == FailureKind::OutOfRange => {
            return Err(refused(text, kind).and(&format!("; in this text, {failure}")));
        }
        found => found.ok(),
    };
    let fields = found.filter(|fields| {
        let has_all = |fields: &Fields, keys: &[Member]| {
            keys.iter().all(|key| fields.has(key.field) || OPTIONAL.contains(&key.field))
        };
        let is_whole = members.iter().all(|key| match key.kind {
            Kind::Objects { of: keys, .. } => fields.objects(key.field).iter().all(|object| has_all(object, keys)),
            _ => true,
        }) && has_all(fields, members);
        is_whole && fields.count("samedeal") == Some(VERSION) && fields.text("kind") == Some(kind)
    });
    fields.ok_or_else(|| refused(text, kind))
}

/// Whether the recipe of a state is the one that is here, of which this is the text. Failures: the first member that differs.
pub(crate) fn check_recipe(state: &Fields, here: &str, sections: &'static [Member]) -> Result<(), Failure> {
    let of = state.section("recipe");
    fields::compare(&Fields::read(here, sections)?, of, sections, AS_IN_STATE)
}

/// The number of positions of a state, which is there if, and only if, the order is composed: the number of samples is then another one.
/// Failures: `state`.
pub(crate) fn positions_of(state: &Fields, text: &str, kind: &str) -> Result<Option<u64>, Failure> {
    let order = state.section("recipe").section("order");
    let is_composed = recipe::COMPOSED.iter().any(|key| order.has(key.field));
    match state.count("positions") {
        Some(positions @ ..=MAX_EXACT) if is_composed => Ok(Some(positions)),
        None if !is_composed => Ok(None),
        _ => Err(refused(text, kind)),
    }
}

impl<'a> SamplerState<'a> {
    /// The text: JSON, in one line.
    pub(crate) fn write(&self) -> String {
        self.written("sampler", "")
    }

    fn written(&self, kind: &str, more: &str) -> String {
        let recipe = self.recipe().canonical(ORDERS);
        let positions = self.fields.count("positions").map_or(String::new(), |count| format!(",\"positions\":{count}"));
        write(kind, &recipe, self.epoch, &format!(",\"consumed\":{}{positions}{more}", self.consumed))
    }

    /// Reads a state, which need not be trusted. Failures: `state`, `consumed`.
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        Self::of(read(text, "sampler", SAMPLER)?, text, "sampler")
    }

    fn of(fields: Fields<'a>, text: &str, kind: &str) -> Result<Self, Failure> {
        let order = fields.section("recipe").section("order");
        let samples = match positions_of(&fields, text, kind)? {
            None => order.count("samples"),
            positions => positions,
        };
        let (Some(samples @ ..=MAX_EXACT), Some(epoch), Some(consumed)) =
            (samples, fields.count("epoch"), fields.count("consumed"))
        else {
            return Err(refused(text, kind));
        };
        if consumed > samples {
            return Err(Failure::out_of_range("consumed", consumed, range(0, samples)));
        }
        Ok(Self { fields, samples, epoch, consumed })
    }

    /// The part of the recipe that the text has.
    pub(crate) fn recipe(&self) -> &Fields<'a> {
        self.fields.section("recipe")
    }
}

impl<'a> LedgerState<'a> {
    /// The text: JSON, in one line.
    pub(crate) fn write(&self) -> String {
        self.sampler.written("ledger", &format!(",\"block\":{},\"lease\":{}", self.block, self.lease))
    }

    /// Reads the first entry of a log, which need not be trusted. Failures: `state`, `consumed`, `block`, `lease`.
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        let fields = read(text, "ledger", LEDGER)?;
        let [block, lease] = ["block", "lease"].map(|field| fields.count(field).unwrap_or_default());
        Self::new(SamplerState::of(fields, text, "ledger")?, block, lease)
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

    /// Whether another first entry is of the same positions. Failures: the first member that differs.
    pub(crate) fn compare(&self, of: &Self, why: &str) -> Result<(), Failure> {
        let (here, theirs) = (&self.sampler, &of.sampler);
        let [own, found] = [here, theirs].map(|state| state.recipe());
        fields::compare(own, found, ORDERS, why)?;
        same("epoch", theirs.epoch, here.epoch, why)?;
        same("consumed", theirs.consumed, here.consumed, why)?;
        same("positions", theirs.samples, here.samples, why)?;
        same("block", of.block, self.block, why)
    }
}

/// The kinds of states.
const KINDS: [&str; 6] = ["sampler", "batcher", "ledger", "reading", "steps", "index"];

/// That a text is no state of a kind. If it looks like one of another kind, the failure says so.
fn refused(text: &str, kind: &str) -> Failure {
    let wanted = format!("{}, version {VERSION}", text_of(kind));
    let written = text.split_once("\"kind\":\"").map_or("", |(_, rest)| rest);
    let other = KINDS.into_iter().find(|&other| other != kind && written.strip_prefix(other).is_some_and(is_end));
    Failure::wrong_type(
        "state",
        text,
        match other {
            Some(other) => format!("{wanted}; this is {}", text_of(other)),
            None => wanted,
        },
    )
}

/// What makes states of a kind.
fn text_of(kind: &str) -> String {
    match kind {
        "index" => "an index of batches".into(),
        "steps" => "a state of a schedule".into(),
        _ => format!("a state of a {kind}"),
    }
}

fn is_end(rest: &str) -> bool {
    rest.starts_with('"')
}

/// Whether two values are the same, one from a text and one that is here; and why they should be. Failures: `field`.
fn same<T: PartialEq + Display>(field: &'static str, of: T, here: T, why: &str) -> Result<(), Failure> {
    if of == here {
        return Ok(());
    }
    let [here, of] = [here, of].map(|value| shorten(&format!("{value}")));
    Err(Failure::contradiction(field, here, only(of).and(format_args!(", {why}"))))
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Whether a library for all of JSON finds what the first entry of a ledger has to have.
    fn by_library(text: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(text).ok()?;
        let has = |object: &Value, names: &[&str]| {
            object.as_object().is_some_and(|fields| {
                fields.len() == names.len() && names.iter().all(|name| fields.contains_key(*name))
            })
        };
        let order = value.get("recipe")?.get("order")?;
        let is_right = has(&value, &["samedeal", "kind", "recipe", "epoch", "consumed", "block", "lease"])
            && has(&value["recipe"], &["order"])
            && order.as_object()?.keys().all(|name| ["name", "samples", "seed"].contains(&&**name))
            && order.get("name").is_none_or(Value::is_string)
            && order.get("seed").is_none_or(|seed| {
                seed.as_i64().is_some_and(|seed| seed.unsigned_abs() <= MAX_EXACT)
                    || seed.as_str().is_some_and(is_wide_seed)
            })
            && order["samples"].as_u64()? <= MAX_EXACT
            && value["samedeal"] == 1
            && value["kind"] == "ledger"
            && (value["epoch"].as_u64().is_some_and(|epoch| epoch <= MAX_EXACT)
                || value["epoch"].as_str().is_some_and(is_wide))
            && value["consumed"].as_u64()? <= order["samples"].as_u64()?
            && (1..=u64::from(u32::MAX)).contains(&value["block"].as_u64()?)
            && (1..=MAX_EXACT).contains(&value["lease"].as_u64()?);
        is_right.then_some(value)
    }

    /// Whether a string has a number that it must have.
    fn is_wide(text: &str) -> bool {
        text.parse().is_ok_and(|number: u64| number > MAX_EXACT && number.to_string() == text)
    }

    /// The same of a seed.
    fn is_wide_seed(text: &str) -> bool {
        text.parse().is_ok_and(|number: i64| number.unsigned_abs() > MAX_EXACT && number.to_string() == text)
    }

    const STATE: &str = r#"{"samedeal":1,"kind":"ledger","recipe":{"order":{"name":"feistel","samples":90,"seed":-2}},
        "epoch":"18446744073709551615","consumed":7,"block":64,"lease":9}"#;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Bytes of a state are replaced, left out and put in.
        #[test]
        fn agrees_with_a_library(changes in prop::collection::vec((0_usize..220, 0_usize..3, 0_usize..40), 0..4)) {
            const BYTES: &[u8] = b"\"\\{}[]:,0123456789-+.eE \n\ttrufalsn\x01\x7fkwx";
            let mut text = STATE.as_bytes().to_vec();
            for (at, change, byte) in changes {
                let at = at % text.len();
                match change {
                    0 => text[at] = BYTES[byte % BYTES.len()],
                    1 => { text.remove(at); }
                    _ => text.insert(at, BYTES[byte % BYTES.len()]),
                }
            }
            let text = String::from_utf8(text).unwrap();
            // A library takes -0 for a fraction, and the last of two fields.
            prop_assume!(!text.contains("-0"));
            let ours = LedgerState::read(&text).ok().map(|state| serde_json::from_str::<Value>(&state.write()).unwrap());
            prop_assert_eq!(ours, by_library(&text), "{}", text);
        }
    }

    #[test]
    fn fields_come_once_and_none_is_missing() {
        assert!(LedgerState::read(STATE).is_ok());
        for name in ["samedeal", "kind", "epoch", "consumed", "block", "lease", "samples"] {
            let field = format!("\"{name}\":");
            let at = STATE.find(&field).unwrap() + field.len();
            let rest = &STATE[at..];
            let end = rest.find([',', '}']).unwrap();
            let twice = STATE.replace(&field, &format!("{field}{},{field}", &rest[..end]));
            assert!(LedgerState::read(&twice).is_err(), "{twice}");
            assert!(by_library(&twice).is_some(), "{twice}");
            let without = STATE.replace(&format!("{field}{}", &rest[..end]), "\"more\":0");
            assert!(LedgerState::read(&without).is_err());
        }
        for text in ["-0", "0", "9007199254740991", "-9007199254740991"] {
            assert!(LedgerState::read(&STATE.replace("-2", text)).is_ok(), "{text}");
        }
        for text in ["--2", "- 2", "", "-", "01", "0x1", "7.", "7.0", "7.1", "7e0", "7.0e0", ".0", "7.00.0"] {
            assert!(LedgerState::read(&STATE.replace("-2", text)).is_err(), "{text}");
        }
        for text in ["-9223372036854775808", "9223372036854775807", "9007199254740992", "-9007199254740992"] {
            assert!(LedgerState::read(&STATE.replace("-2", &quoted(text))).is_ok(), "{text}");
            let failure = LedgerState::read(&STATE.replace("-2", text)).err().unwrap();
            assert_eq!(failure.field, "state");
            assert!(failure.allowed.contains(&format!("seed is {text};")), "{failure}");
            assert!(failure.allowed.contains("in quotes"), "{failure}");
        }
        for text in
            ["-9223372036854775809", "9223372036854775808", "9007199254740991", "7", "-0", "", " 9007199254740992"]
        {
            assert!(LedgerState::read(&STATE.replace("-2", &quoted(text))).is_err(), "{text}");
        }
        for text in ["[", "{\"recipe\":", "{\"recipe\":{\"order\":"] {
            assert!(LedgerState::read(&text.repeat((1 << 14) / text.len())).is_err());
        }
    }
}
