//! Reads the JSON of recipes, states and logs. A library for all of JSON would make the component a tenth larger, and
//! every host compiles the component when it starts. Tests compare this reader with such a library.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::MAX_EXACT;
use crate::base::memory::{has_headroom, has_room};

/// The most bytes of a text: a recipe, a state, or an entry of a log. The longest checkpoint that a log can need is
/// shorter.
pub(crate) const MAX_TEXT: usize = 1 << 24;

/// The most levels of nested objects and lists in the value of a member that is skipped.
pub(crate) const DEEPEST: u32 = 64;

/// The number of digits that `digits` writes.
pub(crate) const DIGITS: usize = 16;

/// A whole number: whether it is negative, and its amount without the sign.
pub(crate) type Number = (bool, u64);

/// The fields of an entry of a ledger's log, each there at most once, and no others.
pub(crate) struct EntryFields<'a> {
    pub(crate) event: Cow<'a, str>,
    pub(crate) reader: Option<u64>,
    pub(crate) start: Option<u64>,
    pub(crate) count: Option<u64>,
    pub(crate) session: Option<Cow<'a, str>>,
    pub(crate) lease_ms: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) next: Option<u64>,
    pub(crate) committed: Option<u64>,
    pub(crate) free: Option<Vec<u64>>,
    pub(crate) held: Option<Vec<u64>>,
    /// The number of fields that are there.
    pub(crate) len: usize,
}

const ENTRY_NUMBERS: [&str; 7] = ["reader", "start", "count", "lease_ms", "number", "next", "committed"];
const ENTRY_TEXTS: [&str; 2] = ["event", "session"];
const ENTRY_LISTS: [&str; 2] = ["free", "held"];

impl<'a> EntryFields<'a> {
    /// The fields of a text, if it is an object of these fields and nothing else.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (mut numbers, mut texts, mut lists) = ([None; 7], [None, None], [None, None]);
        let mut len = 0;
        whole(text, |reader, name| {
            len += 1;
            if let Some(place) = place_of(&name, &ENTRY_LISTS) {
                return lists[place].replace(reader.naturals()?).is_none().then_some(());
            }
            reader.field(&name, (&ENTRY_NUMBERS, &mut numbers), (&ENTRY_TEXTS, &mut texts))
        })?;
        let [reader, start, count, lease_ms, number, next, committed] = numbers;
        let ([event, session], [free, held]) = (texts, lists);
        Some(Self {
            event: event?,
            reader: optional(reader)?,
            start: optional(start)?,
            count: optional(count)?,
            session,
            lease_ms: optional(lease_ms)?,
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
fn whole<'a>(text: &'a str, field: impl FnMut(&mut Reader<'a>, Cow<'a, str>) -> Option<()>) -> Option<()> {
    let mut reader = Reader::new(text);
    reader.object(field)?;
    reader.is_at_end().then_some(())
}

// Some functions below are not inlined, because this keeps the component small: every host compiles the component when
// it starts.

#[inline(never)]
fn place_of(name: &str, names: &[&str]) -> Option<usize> {
    names.iter().position(|&known| known == name)
}

pub(crate) fn unsigned((negative, amount): Number) -> Option<u64> {
    (!negative || amount == 0).then_some(amount)
}

/// The number of an optional field: `Some(None)` if the field is not there, `None` if the number is negative.
fn optional(number: Option<Number>) -> Option<Option<u64>> {
    match number {
        Some(number) => unsigned(number).map(Some),
        None => Some(None),
    }
}

pub(crate) fn signed((negative, amount): Number) -> Option<i64> {
    if negative { 0_i64.checked_sub_unsigned(amount) } else { amount.try_into().ok() }
}

/// Whether JSON tools that read every number as a 64-bit float keep this number exactly.
pub(crate) fn is_exact((_, amount): Number) -> bool {
    amount <= MAX_EXACT
}

/// The number in a string of digits, which may begin with `-`.
pub(crate) fn in_digits(text: &str) -> Option<Number> {
    let mut reader = Reader::new(text);
    let is_plain = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    reader.number().filter(|_| is_plain && reader.rest().is_empty())
}

/// The JSON of a whole number: in quotes if it is beyond 2^53 - 1, because JSON tools may round such numbers.
pub(crate) fn number_text(number: Number) -> String {
    let (is_negative, amount) = number;
    // -0 is 0.
    let sign = if is_negative && amount > 0 { "-" } else { "" };
    let quote = if is_exact(number) { "" } else { "\"" };
    format!("{quote}{sign}{amount}{quote}")
}

/// The JSON of a seed: see `number_text`.
pub(crate) fn signed_text(number: i64) -> String {
    number_text((number < 0, number.unsigned_abs()))
}

/// The JSON of a number that is not negative: see `number_text`.
pub(crate) fn unsigned_text(number: u64) -> String {
    number_text((false, number))
}

/// The lower-case hexadecimal digits of a number of 64 bits that is no count, such as a checksum: always 16 of them.
pub(crate) fn digits(number: u64) -> String {
    format!("{number:016x}")
}

/// The number of a text that `digits` wrote; none if the text is anything else.
pub(crate) fn of_digits(text: &str) -> Option<u64> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == DIGITS && text.bytes().all(is_digit)).then(|| u64::from_str_radix(text, 16).ok())?
}

/// A reader at the value of the first member `name` of an object; none if there is no such member, or if the text before
/// it is no JSON. The rest of the text is not looked at, so that a text of a later format can be told from a broken one.
#[cold]
#[inline(never)]
pub(crate) fn find<'a>(text: &'a str, name: &str) -> Option<Reader<'a>> {
    let mut found = None;
    Reader::new(text).object(|reader, own| {
        if own != name {
            return reader.skip(DEEPEST);
        }
        found = Some(Reader { ..*reader });
        None
    });
    found
}

/// A reader of a text, with the place up to which it has read.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The number of objects around the place. In a recipe, this is one more, because a state may be around the recipe.
    pub(crate) depth: u32,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a text.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// The text that was not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Whether the place is between a comma and the end of an object or a list, where JSON has no comma.
    pub(crate) fn is_at_last_comma(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default().trim_ascii_end();
        before.ends_with(',') && self.rest().trim_ascii_start().starts_with(['}', ']'])
    }

    /// The number of bytes that were read.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Whether only white space is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }

    /// Whether `byte` comes next, after white space.
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

    /// Skips `byte`, if it comes next. Returns whether it did.
    #[inline(never)]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Reads items with commas between them, from the byte `open` to the byte `close`.
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

    /// Reads an object. Calls `field` with each name, to read the value of this name.
    pub(crate) fn object(&mut self, mut field: impl FnMut(&mut Self, Cow<'a, str>) -> Option<()>) -> Option<()> {
        self.list(b'{', b'}', |reader| {
            let name = reader.string()?;
            if reader.eat(b':') { field(reader, name) } else { None }
        })
    }

    /// Reads a field that is a number or a text into the slot of its name. None if no slot has this name, or if the
    /// slot is filled.
    #[inline(never)]
    fn field(
        &mut self,
        name: &str,
        numbers: (&[&str], &mut [Option<Number>]),
        texts: (&[&str], &mut [Option<Cow<'a, str>>]),
    ) -> Option<()> {
        let first = if let Some(place) = place_of(name, numbers.0) {
            numbers.1[place].replace(self.number()?).is_none()
        } else {
            let place = place_of(name, texts.0)?;
            texts.1[place].replace(self.string()?).is_none()
        };
        first.then_some(())
    }

    /// A string. It is copied only if it has escapes, which names of members never need.
    #[inline(never)]
    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        if !self.eat(b'"') {
            return None;
        }
        let mut start = self.at;
        let mut decoded = String::new();
        loop {
            let byte = self.peek()?;
            if byte < 0x20 {
                return None;
            }
            self.at += 1;
            if byte != b'"' && byte != b'\\' {
                continue;
            }
            let plain = self.text.get(start..self.at - 1)?;
            if byte == b'"' && decoded.is_empty() {
                return Some(Cow::Borrowed(plain));
            }
            // A character is at most four bytes.
            if decoded.try_reserve(plain.len() + 4).is_err() || !has_headroom() {
                return None;
            }
            decoded += plain;
            if byte == b'"' {
                return Some(Cow::Owned(decoded));
            }
            decoded.push(self.escaped()?);
            start = self.at;
        }
    }

    /// The character of an escape, behind its `\`; none if it is no escape, or half of a surrogate pair.
    fn escaped(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => match self.unit()? {
                high @ 0xD800..0xDC00 => {
                    self.word("\\u")?;
                    let low = self.unit()?.checked_sub(0xDC00).filter(|&low| low < 0x400)?;
                    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + low)?
                }
                unit => char::from_u32(unit)?,
            },
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
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
        // A number with a fraction or an exponent is no whole number.
        if let Some(b'.' | b'e' | b'E' | b'+' | b'-') = self.peek() {
            return None;
        }
        let digits = self.at - start;
        let zero_first = self.text.as_bytes().get(start) == Some(&b'0');
        (digits == 1 || digits > 1 && !zero_first).then_some((negative, amount))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self) -> Option<bool> {
        self.space();
        self.word("true").map(|()| true).or_else(|| self.word("false").map(|()| false))
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        rest.starts_with(word).then(|| self.at += word.len())
    }

    /// Skips a value of any type. None if it has more than `depth` levels of nested objects and lists, the value itself
    /// included.
    #[inline(never)]
    pub(crate) fn skip(&mut self, depth: u32) -> Option<()> {
        self.space();
        let first = self.peek()?;
        let depth = depth.checked_sub(u32::from(matches!(first, b'{' | b'[')))?;
        match first {
            b'{' => self.object(|reader, _| reader.skip(depth)),
            b'[' => self.list(b'[', b']', |reader| reader.skip(depth)),
            b'"' => self.string().map(|_| ()),
            b't' | b'f' => self.flag().map(|_| ()),
            b'n' => self.word("null"),
            _ => self.any_number(),
        }
    }

    /// The text of a JSON number, with or without a fraction and an exponent.
    pub(crate) fn number_as_text(&mut self) -> Option<&'a str> {
        self.space();
        let start = self.at;
        self.any_number()?;
        self.text.get(start..self.at)
    }

    /// Skips a number of JSON, with or without a fraction and an exponent.
    fn any_number(&mut self) -> Option<()> {
        self.one_of(b"-");
        self.one_of(b"0").or_else(|| self.digits())?;
        if self.one_of(b".").is_some() {
            self.digits()?;
        }
        if self.one_of(b"eE").is_some() {
            self.one_of(b"+-");
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.one_of(b"0123456789").is_some() {}
        (self.at > start).then_some(())
    }

    /// Skips the next byte, if it is one of these.
    fn one_of(&mut self, bytes: &[u8]) -> Option<()> {
        let next = self.peek()?;
        bytes.contains(&next).then(|| self.at += 1)
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
}

/// The JSON string of a text. It escapes only the characters that must be escaped, as `JSON.stringify` does.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        let short = match letter {
            '"' | '\\' => letter,
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\0'..' ' => {
                out += if letter < '\u{10}' { "\\u000" } else { "\\u001" };
                out.push(char::from_digit(u32::from(letter) % 16, 16).unwrap_or_default());
                continue;
            }
            _ => {
                out.push(letter);
                continue;
            }
        };
        out.push('\\');
        out.push(short);
    }
    out + "\""
}
