//! Reads the JSON of a state. A library for all of JSON would make the component, which every host compiles when it starts,
//! a tenth larger; the tests hold this one to such a library.

use alloc::vec::Vec;

use crate::base::memory::has_room;

/// The fields of any state, each there at most once, and no others.
#[derive(Debug)]
pub(super) struct StateFields<'a> {
    pub(super) samedeal: u64,
    pub(super) kind: &'a str,
    pub(super) order: &'a str,
    pub(super) samples: u64,
    pub(super) seed: i64,
    pub(super) epoch: u64,
    pub(super) consumed: Option<u64>,
    pub(super) block: Option<u64>,
    pub(super) lease: Option<u64>,
    pub(super) fingerprint: &'a str,
}

/// What a text has of them so far: the numbers and the texts in the order of their names below.
#[derive(Default)]
struct Found<'a> {
    numbers: [Option<Number>; NUMBERS.len()],
    texts: [Option<&'a str>; TEXTS.len()],
}

const NUMBERS: [&str; 7] = ["samedeal", "samples", "seed", "epoch", "consumed", "block", "lease"];
const TEXTS: [&str; 3] = ["kind", "order", "fingerprint"];

/// Whether it is negative, and its amount.
pub(crate) type Number = (bool, u64);

impl<'a> StateFields<'a> {
    /// The fields of a text, if it is an object of them and nothing else. Nothing in it nests of itself, so that no text makes
    /// the stack deep.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut found = Found::default();
        whole(text, |reader, name| reader.field(name, (&NUMBERS, &mut found.numbers), (&TEXTS, &mut found.texts)))?;
        let [samedeal, samples, seed, epoch, consumed, block, lease] = found.numbers;
        let [kind, order, fingerprint] = found.texts;
        Some(Self {
            samedeal: unsigned(samedeal?)?,
            kind: kind?,
            order: order?,
            samples: unsigned(samples?)?,
            seed: signed(seed?)?,
            epoch: unsigned(epoch?)?,
            consumed: optional(consumed)?,
            block: optional(block)?,
            lease: optional(lease)?,
            fingerprint: fingerprint?,
        })
    }
}

/// The fields of an entry of a ledger's log, each there at most once, and no others.
pub(crate) struct EntryFields<'a> {
    pub(crate) event: &'a str,
    pub(crate) reader: Option<u64>,
    pub(crate) start: Option<u64>,
    pub(crate) count: Option<u64>,
    pub(crate) life: Option<&'a str>,
    pub(crate) lease: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) next: Option<u64>,
    pub(crate) committed: Option<u64>,
    pub(crate) free: Option<Vec<u64>>,
    pub(crate) held: Option<Vec<u64>>,
    /// How many there are.
    pub(crate) len: usize,
}

const ENTRY_NUMBERS: [&str; 7] = ["reader", "start", "count", "lease", "number", "next", "committed"];
const ENTRY_TEXTS: [&str; 2] = ["event", "life"];
const ENTRY_LISTS: [&str; 2] = ["free", "held"];

impl<'a> EntryFields<'a> {
    /// The fields of a text, if it is an object of them and nothing else.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (mut numbers, mut texts, mut lists) = ([None; 7], [None; 2], [None, None]);
        let mut len = 0;
        whole(text, |reader, name| {
            len += 1;
            if let Some(place) = place_of(name, &ENTRY_LISTS) {
                return lists[place].replace(reader.naturals()?).is_none().then_some(());
            }
            reader.field(name, (&ENTRY_NUMBERS, &mut numbers), (&ENTRY_TEXTS, &mut texts))
        })?;
        let [reader, start, count, lease, number, next, committed] = numbers;
        let ([event, life], [free, held]) = (texts, lists);
        Some(Self {
            event: event?,
            reader: optional(reader)?,
            start: optional(start)?,
            count: optional(count)?,
            life,
            lease: optional(lease)?,
            number: optional(number)?,
            next: optional(next)?,
            committed: optional(committed)?,
            free,
            held,
            len,
        })
    }
}

/// Reads a text that is an object and nothing else.
pub(super) fn whole<'a>(text: &'a str, field: impl FnMut(&mut Reader<'a>, &'a str) -> Option<()>) -> Option<()> {
    let mut reader = Reader::new(text);
    reader.object(field)?;
    reader.is_at_end().then_some(())
}

// None of what follows is inlined, for the same reason.

#[inline(never)]
fn place_of(name: &str, names: &[&str]) -> Option<usize> {
    names.iter().position(|&known| known == name)
}

pub(crate) fn unsigned((negative, amount): Number) -> Option<u64> {
    (!negative || amount == 0).then_some(amount)
}

/// None where it is not there, nothing where it is no such number.
fn optional(number: Option<Number>) -> Option<Option<u64>> {
    match number {
        Some(number) => unsigned(number).map(Some),
        None => Some(None),
    }
}

pub(crate) fn signed((negative, amount): Number) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(amount) } else { amount.try_into().ok() }
}

/// Fields by their names.
#[derive(Default)]
pub(super) struct Object<'a> {
    fields: Vec<(&'a str, Value<'a>)>,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Number(Number),
    Text(&'a str),
    Flag(bool),
}

impl<'a> Object<'a> {
    fn get(&self, name: &str) -> Option<Value<'a>> {
        self.fields.iter().find(|(own, _)| *own == name).map(|&(_, value)| value)
    }

    pub(super) fn number(&self, name: &str) -> Option<Number> {
        if let Value::Number(number) = self.get(name)? { Some(number) } else { None }
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        if let Value::Text(text) = self.get(name)? { Some(text) } else { None }
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        if let Value::Flag(flag) = self.get(name)? { Some(flag) } else { None }
    }

    /// None where it is not there, nothing where it is no text.
    pub(super) fn optional_text(&self, name: &str) -> Option<Option<&'a str>> {
        if self.get(name).is_none() { Some(None) } else { self.text(name).map(Some) }
    }

    /// The same of a flag.
    pub(super) fn optional_flag(&self, name: &str) -> Option<Option<bool>> {
        if self.get(name).is_none() { Some(None) } else { self.flag(name).map(Some) }
    }

    /// None where it is not there, nothing where it is no natural number.
    pub(super) fn optional(&self, name: &str) -> Option<Option<u64>> {
        if self.get(name).is_none() { Some(None) } else { unsigned(self.number(name)?).map(Some) }
    }
}

/// A place in a text.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of a text.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// How many bytes were read.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Whether nothing more comes.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }

    /// Whether a byte comes next.
    pub(crate) fn is_at(&mut self, byte: u8) -> bool {
        self.space();
        self.peek() == Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Goes beyond a byte, if it comes next.
    #[inline(never)]
    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// What stands between two bytes, with commas between.
    pub(crate) fn list(&mut self, open: u8, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if !self.eat(open) {
            return None;
        }
        if self.eat(close) {
            return Some(());
        }
        loop {
            item(self)?;
            if self.eat(close) {
                return Some(());
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    /// The fields of an object: asks `field` to read the value of each name.
    pub(crate) fn object(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.list(b'{', b'}', |reader| {
            let name = reader.string()?;
            if reader.eat(b':') { field(reader, name) } else { None }
        })
    }

    /// The value of a field that is a number or a text, to where those of its kind are; nothing where it has no such name, or
    /// is there already.
    #[inline(never)]
    fn field(
        &mut self,
        name: &str,
        numbers: (&[&str], &mut [Option<Number>]),
        texts: (&[&str], &mut [Option<&'a str>]),
    ) -> Option<()> {
        let first = if let Some(place) = place_of(name, numbers.0) {
            numbers.1[place].replace(self.number()?).is_none()
        } else {
            let place = place_of(name, texts.0)?;
            texts.1[place].replace(self.string()?).is_none()
        };
        first.then_some(())
    }

    /// A text without escapes: no name that is known has any.
    #[inline(never)]
    pub(crate) fn string(&mut self) -> Option<&'a str> {
        if !self.eat(b'"') {
            return None;
        }
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' | 0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.text.get(start..self.at - 1)
    }

    /// A whole number, without a fraction or an exponent.
    #[inline(never)]
    pub(crate) fn number(&mut self) -> Option<Number> {
        let negative = self.eat(b'-');
        if !negative {
            self.space();
        }
        let start = self.at;
        let mut amount = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            amount = amount.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        // A fraction or an exponent is a number of another kind.
        if let Some(b'.' | b'e' | b'E' | b'+' | b'-') = self.peek() {
            return None;
        }
        let digits = self.at - start;
        let zero_first = self.text.as_bytes().get(start) == Some(&b'0');
        (digits == 1 || digits > 1 && !zero_first).then_some((negative, amount))
    }

    /// A field that is a number, a text or a flag, to where those of its kind are; nothing where no field has this name, or it
    /// is there already.
    #[inline(never)]
    pub(super) fn add(&mut self, name: &'a str, known: &[&str], object: &mut Object<'a>) -> Option<()> {
        place_of(name, known)?;
        if object.fields.iter().any(|(there, _)| *there == name) || !has_room(&mut object.fields, 1) {
            return None;
        }
        self.space();
        let value = match self.peek()? {
            b'"' => Value::Text(self.string()?),
            b't' => self.word("true").map(|()| Value::Flag(true))?,
            b'f' => self.word("false").map(|()| Value::Flag(false))?,
            _ => Value::Number(self.number()?),
        };
        object.fields.push((name, value));
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        rest.starts_with(word).then(|| self.at += word.len())
    }

    /// A list of natural numbers.
    #[inline(never)]
    fn naturals(&mut self) -> Option<Vec<u64>> {
        let mut numbers = Vec::new();
        self.list(b'[', b']', |reader| {
            let number = unsigned(reader.number()?)?;
            if !has_room(&mut numbers, 1) {
                return None;
            }
            numbers.push(number);
            Some(())
        })?;
        Some(numbers)
    }

    /// A list of world sizes and steps.
    #[inline(never)]
    pub(crate) fn history(&mut self) -> Option<Vec<(u32, u64)>> {
        let mut history = Vec::new();
        self.list(b'[', b']', |reader| {
            let (mut world_size, mut steps) = (None, None);
            reader.object(|reader, name| {
                let place = [&mut world_size, &mut steps].into_iter().nth(place_of(name, &["world_size", "steps"])?)?;
                place.replace(unsigned(reader.number()?)?).is_none().then_some(())
            })?;
            if !has_room(&mut history, 1) {
                return None;
            }
            history.push((world_size?.try_into().ok()?, steps?));
            Some(())
        })?;
        Some(history)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// The same by a library for all of JSON, and by what is asked of a state.
    fn by_library(text: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(text).ok()?;
        let fields = value.as_object()?;
        let natural = |name: &str| fields.get(name).is_none_or(|value| value.is_u64());
        let known = |name: &String| NUMBERS.contains(&&**name) || TEXTS.contains(&&**name);
        (fields.keys().all(known)
            && ["samedeal", "samples", "epoch", "consumed", "block", "lease"].into_iter().all(natural)
            && fields.get("seed").is_some_and(Value::is_i64)
            && ["samedeal", "samples", "epoch", "kind", "order", "fingerprint"]
                .iter()
                .all(|&name| fields.contains_key(name))
            && TEXTS.iter().all(|&name| fields.get(name).is_none_or(Value::is_string)))
        .then_some(value)
    }

    fn as_value(fields: &StateFields) -> Value {
        let StateFields { samedeal, kind, order, samples, seed, epoch, consumed, block, lease, fingerprint } = fields;
        let mut value = serde_json::json!({
            "samedeal": samedeal, "kind": kind, "order": order, "samples": samples, "seed": seed, "epoch": epoch,
            "fingerprint": fingerprint,
        });
        let more = [
            ("consumed", consumed.map(Value::from)),
            ("block", block.map(Value::from)),
            ("lease", lease.map(Value::from)),
        ];
        for (name, field) in more.into_iter().filter_map(|(name, field)| Some((name, field?))) {
            value[name] = field;
        }
        value
    }

    const STATE: &str = r#"{"samedeal":1,"kind":"ledger","order":"feistel","samples":90,"seed":-2,"epoch":18446744073709551615,
        "consumed":7,"block":64,"lease":9,"fingerprint":"ab"}"#;

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
            // Escapes are JSON, but no state has them; a library takes -0 for a fraction, and the last of two fields.
            prop_assume!(!text.contains('\\') && !text.contains("-0"));
            let ours = StateFields::read(&text);
            let theirs = by_library(&text);
            prop_assert_eq!(ours.as_ref().map(as_value), theirs, "{}", text);
        }
    }

    #[test]
    fn fields_come_once_and_none_is_missing() {
        assert!(StateFields::read(STATE).is_some());
        for name in NUMBERS.iter().chain(&TEXTS) {
            let field = format!("\"{name}\":");
            let at = STATE.find(&field).unwrap() + field.len();
            let rest = &STATE[at..];
            let end = rest.find([',', '}']).unwrap();
            let twice = STATE.replace(&field, &format!("{field}{},{field}", &rest[..end]));
            assert!(StateFields::read(&twice).is_none(), "{twice}");
            assert!(by_library(&twice).is_some(), "{twice}");
            let without = STATE.replace(&format!("{field}{}", &rest[..end]), "\"more\":0");
            assert!(StateFields::read(&without).is_none());
        }
        for text in ["-0", "0"] {
            assert_eq!(StateFields::read(&STATE.replace("-2", text)).unwrap().seed, 0);
        }
        for text in ["-9223372036854775808", "9223372036854775807"] {
            assert_eq!(StateFields::read(&STATE.replace("-2", text)).unwrap().seed.to_string(), text);
        }
        for text in ["-9223372036854775809", "9223372036854775808", "--2", "- 2", "", "-", "01", "0x1"] {
            assert!(StateFields::read(&STATE.replace("-2", text)).is_none(), "{text}");
        }
        assert!(StateFields::read(&"[".repeat(1 << 14)).is_none());
        assert!(StateFields::read(&format!("{{\"history\":{}", "[".repeat(1 << 14))).is_none());
    }
}
