//! The first entry of a log: the state of the sampler, and the options that all readers share.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;

use crate::base::failure::{only, range, shorten};
use crate::base::memory::joined;
use crate::base::{Failure, MAX_EXACT};
use crate::deal::SamplerState;
use crate::document::fields;
use crate::document::member::{Kind, Member};
use crate::document::recipe::SAMEDEAL;
use crate::document::state::{CONSUMED, EPOCH, KIND, POSITIONS, read, recipe_of};
use crate::order::ORDERS;

const LEDGER: &[Member] = &[
    SAMEDEAL,
    KIND,
    recipe_of(ORDERS),
    EPOCH,
    CONSUMED,
    POSITIONS,
    Member::new("block_size", Kind::COUNT),
    Member::new("lease_ms", Kind::COUNT),
];

/// The members of the first entry of a ledger.
pub(crate) struct LedgerState<'a> {
    /// The state of the sampler at the beginning of the log.
    pub(crate) sampler: SamplerState<'a>,
    /// How many positions are claimed at a time.
    pub(crate) block_size: u32,
    /// How long a reader may be silent, in milliseconds.
    pub(crate) lease_ms: u64,
}

impl<'a> LedgerState<'a> {
    /// The text of the entry: JSON, in one line.
    pub(crate) fn write(&self) -> Result<String, Failure> {
        self.sampler.written("ledger", &format!(",\"block_size\":{},\"lease_ms\":{}", self.block_size, self.lease_ms))
    }

    /// The state of the sampler, from an entry that `write` wrote: the entry with the kind of a sampler, and without
    /// `block_size` and `lease_ms` at the end. Failures: `out-of-memory`.
    pub(crate) fn initial(entry: &str) -> Result<String, Failure> {
        let (begin, rest) = entry.split_once("\"ledger\"").unwrap_or_default();
        let (members, _) = rest.rsplit_once(",\"block_size\":").unwrap_or_default();
        joined("state", &|each| [begin, "\"sampler\"", members, "}"].into_iter().for_each(each))
    }

    /// Reads the first entry of a log, which need not be trusted. Failures: `state`, `consumed`, `block_size`, `lease_ms`.
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        let fields = read(text, "ledger", LEDGER)?;
        let [block_size, lease_ms] = ["block_size", "lease_ms"].map(|field| fields.count(field).unwrap_or_default());
        Self::new(SamplerState::of(fields, text, "ledger")?, block_size, lease_ms)
    }

    /// The members of a first entry, with checked ranges. Failures: `block_size`, `lease_ms`.
    pub(crate) fn new(sampler: SamplerState<'a>, block_size: u64, lease_ms: u64) -> Result<Self, Failure> {
        let Ok(block_size @ 1..) = block_size.try_into() else {
            return Err(Failure::out_of_range("block_size", block_size, range(1, u32::MAX)));
        };
        if !(1..=MAX_EXACT).contains(&lease_ms) {
            return Err(Failure::out_of_range("lease_ms", lease_ms, range(1, MAX_EXACT)));
        }
        Ok(Self { sampler, block_size, lease_ms })
    }

    /// Checks that another first entry has the same positions and block size. Failures: the first member that differs.
    pub(crate) fn compare(&self, of: &Self, why: &str) -> Result<(), Failure> {
        let (here, theirs) = (&self.sampler, &of.sampler);
        let [own, found] = [here, theirs].map(|state| state.recipe());
        fields::compare(own, found, ORDERS, why)?;
        same("epoch", theirs.epoch, here.epoch, why)?;
        same("consumed", theirs.consumed, here.consumed, why)?;
        same("positions", theirs.samples, here.samples, why)?;
        same("block_size", of.block_size, self.block_size, why)
    }
}

/// Checks that a value of another first entry, `of`, equals the own one, `here`. The message ends with `why`. Failures:
/// `field`.
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
    use crate::document::quoted;

    /// The first entry of a ledger, read by a library for all of JSON; none if a member is wrong or missing.
    fn by_library(text: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(text).ok()?;
        let has = |object: &Value, names: &[&str]| {
            object.as_object().is_some_and(|fields| {
                fields.len() == names.len() && names.iter().all(|name| fields.contains_key(*name))
            })
        };
        let order = value.get("recipe")?.get("order")?;
        let is_right = has(&value, &["samedeal", "kind", "recipe", "epoch", "consumed", "block_size", "lease_ms"])
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
            && (1..=u64::from(u32::MAX)).contains(&value["block_size"].as_u64()?)
            && (1..=MAX_EXACT).contains(&value["lease_ms"].as_u64()?);
        is_right.then_some(value)
    }

    /// Whether a string is a number beyond 2^53 - 1, which must be in quotes.
    fn is_wide(text: &str) -> bool {
        text.parse().is_ok_and(|number: u64| number > MAX_EXACT && number.to_string() == text)
    }

    /// Whether a string is a seed beyond 2^53 - 1, which must be in quotes.
    fn is_wide_seed(text: &str) -> bool {
        text.parse().is_ok_and(|number: i64| number.unsigned_abs() > MAX_EXACT && number.to_string() == text)
    }

    const STATE: &str = r#"{"samedeal":1,"kind":"ledger","recipe":{"order":{"name":"feistel","samples":90,"seed":-2}},
        "epoch":"18446744073709551615","consumed":7,"block_size":64,"lease_ms":9}"#;

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
            // The library reads -0 as a fraction.
            prop_assume!(!text.contains("-0"));
            let ours = LedgerState::read(&text).ok().map(|state| serde_json::from_str::<Value>(&state.write().unwrap()).unwrap());
            prop_assert_eq!(ours, by_library(&text), "{}", text);
        }
    }

    #[test]
    fn fields_come_once_and_none_is_missing() {
        assert!(LedgerState::read(STATE).is_ok());
        for name in ["samedeal", "kind", "epoch", "consumed", "block_size", "lease_ms", "samples"] {
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
