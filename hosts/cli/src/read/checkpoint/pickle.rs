//! Reads the values of a pickle, and executes nothing: an object is a value that contains its class, arguments and
//! attributes.
//!
//! A pickle is a program for a machine with a stack (`Lib/pickletools.py` of CPython describes every instruction). It
//! is read here, because serde-pickle refuses the persistent ids by which torch refers to tensors.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Number;

use super::values::{Held, Id, Node, Values};

/// The most values on the stack at a time.
const STACK: usize = 1 << 22;
/// The most pickles in a row: `torch.save` without a zip archive writes five, and then tensors.
const PICKLES: usize = 16;

/// Reads one pickle after the other, until the end or until other bytes follow.
pub fn read(bytes: &[u8]) -> Result<Values<'_>, String> {
    let mut machine = Machine { bytes, at: 0, values: Values::default(), stack: Vec::new(), marks: Vec::new() };
    while machine.values.roots.is_empty()
        || machine.values.roots.len() < PICKLES && matches!(bytes.get(machine.at..), Some([0x80, 2..=5, ..]))
    {
        let at = machine.at;
        if let Err(why) = machine.run() {
            // The bytes after the fifth pickle may be the numbers of a tensor, which can look like a pickle: reading
            // ends there.
            if at > 0 && machine.values.len() > 0 && machine.values.roots.len() >= 5 {
                break;
            }
            return Err(why);
        }
    }
    Ok(machine.values)
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Values<'a>,
    stack: Vec<Id>,
    /// The height of the stack at each mark.
    marks: Vec<usize>,
}

impl<'a> Machine<'a> {
    fn wrong(&self, what: &str) -> String {
        format!("is no pickle that can be read: {what} at byte {}", self.at)
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.wrong("it is cut off"))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// Reads a whole number of `width` bytes, little-endian.
    fn size(&mut self, width: u64) -> Result<u64, String> {
        Ok(self.take(width)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn sized(&mut self, width: u64) -> Result<&'a [u8], String> {
        let size = self.size(width)?;
        self.take(size)
    }

    /// Reads the rest of the line, which is Latin-1.
    fn line(&mut self) -> Result<String, String> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| self.wrong("it is cut off"))?;
        self.at += end + 1;
        Ok(rest[..end].iter().copied().map(char::from).collect())
    }

    fn push(&mut self, id: Id) -> Result<(), String> {
        if self.stack.len() == STACK {
            return Err(self.wrong("too many values at a time"));
        }
        self.stack.push(id);
        Ok(())
    }

    fn make(&mut self, node: Node<'a>) -> Result<(), String> {
        let id = self.values.add(node)?;
        self.push(id)
    }

    fn text(&mut self, bytes: &'a [u8]) -> Result<(), String> {
        // A lone half of a surrogate pair is no UTF-8, and in no state.
        self.make(str::from_utf8(bytes).map_or(Node::Other, |text| Node::Text(Cow::Borrowed(text))))
    }

    fn number(&mut self, number: Option<impl Into<Number>>) -> Result<(), String> {
        self.make(number.map_or(Node::Other, |number| Node::Number(number.into())))
    }

    /// Adds the whole number in a text. A number of more than 64 bits becomes `Other`, since no state has one.
    fn whole(&mut self, text: &str) -> Result<(), String> {
        let digits = text.trim_end_matches('L');
        match digits.parse::<u64>() {
            Ok(number) => self.number(Some(number)),
            Err(_) => self.number(digits.parse::<i64>().ok()),
        }
    }

    fn float(&mut self, number: Option<f64>) -> Result<(), String> {
        self.make(number.and_then(Number::from_f64).map_or(Node::Other, Node::Number))
    }

    /// Adds the signed number in these bytes. An unsigned number of 64 bits has a ninth byte, which is 0.
    fn long(&mut self, bytes: &[u8]) -> Result<(), String> {
        let amount = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
        match bytes.len() {
            0 => self.number(Some(0)),
            count @ 1..=8 => {
                let unused = 64 - 8 * count as u32;
                self.number(Some((amount(bytes) << unused).cast_signed() >> unused))
            }
            9 if bytes[8] == 0 => self.number(Some(amount(&bytes[..8]))),
            _ => self.make(Node::Other),
        }
    }

    /// Takes the topmost value off the stack. Values below a mark are out of reach.
    fn pop(&mut self) -> Result<Id, String> {
        let bottom = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= bottom {
            return Err(self.wrong("a value is missing"));
        }
        self.stack.pop().ok_or_else(|| self.wrong("a value is missing"))
    }

    /// Takes all values above the topmost mark off the stack.
    fn down_to_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().ok_or_else(|| self.wrong("a mark is missing"))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    /// Adds a value that contains the `count` topmost values.
    fn hold(&mut self, count: usize, node: fn(Vec<Held>) -> Node<'a>) -> Result<(), String> {
        let mut items = (0..count).map(|_| Ok(Held::item(self.pop()?))).collect::<Result<Vec<_>, String>>()?;
        items.reverse();
        self.make(node(items))
    }

    /// Adds a value that contains all values above the topmost mark.
    fn hold_to_mark(&mut self, node: fn(Vec<Held>) -> Node<'a>) -> Result<(), String> {
        let items = self.down_to_mark()?.into_iter().map(Held::item).collect();
        self.make(node(items))
    }

    /// Adds values to the contents of the topmost value.
    fn add(&mut self, more: impl ExactSizeIterator<Item = Held>) -> Result<(), String> {
        let id = self.pop()?;
        self.values.hold(id, more)?;
        self.push(id)
    }

    /// Adds pairs to the topmost value. `more` has keys and values in turn.
    fn add_pairs(&mut self, more: &[Id]) -> Result<(), String> {
        self.add(more.chunks_exact(2).map(|pair| Held::pair(pair[0], pair[1])))
    }

    /// Runs one pickle, and adds its value to the roots.
    fn run(&mut self) -> Result<(), String> {
        self.stack.clear();
        self.marks.clear();
        let mut memo = HashMap::<u64, Id>::new();
        loop {
            match self.size(1)? as u8 {
                b'.' => {
                    let root = self.pop()?;
                    self.values.roots.push(root);
                    return Ok(());
                }
                b'(' => {
                    // Marks have the limit of values, because they take memory, too.
                    if self.marks.len() == STACK {
                        return Err(self.wrong("too many marks"));
                    }
                    self.marks.push(self.stack.len());
                }
                b'0' => {
                    // If a mark is on top, it is removed in place of a value.
                    if self.marks.last() == Some(&self.stack.len()) {
                        self.marks.pop();
                    } else {
                        self.pop()?;
                    }
                }
                b'1' => drop(self.down_to_mark()?),
                b'2' => {
                    let id = self.pop()?;
                    self.push(id)?;
                    self.push(id)?;
                }
                b'I' => match &*self.line()? {
                    flag @ ("00" | "01") => self.make(Node::Flag(flag == "01"))?,
                    text => self.whole(text)?,
                },
                b'L' => {
                    let text = self.line()?;
                    self.whole(&text)?;
                }
                code @ (b'J' | 0x8a | 0x8b) => {
                    let bytes = match code {
                        b'J' => self.take(4)?,
                        0x8a => self.sized(1)?,
                        _ => self.sized(4)?,
                    };
                    self.long(bytes)?;
                }
                code @ (b'K' | b'M') => {
                    let number = self.size(if code == b'K' { 1 } else { 2 })?;
                    self.number(Some(number))?;
                }
                b'S' => {
                    let line = self.line()?;
                    let text = line.trim().strip_prefix(['\'', '"']).and_then(|text| text.strip_suffix(['\'', '"']));
                    let text = text.unwrap_or_default().replace("\\\\", "\\");
                    self.make(Node::Text(Cow::Owned(text)))?;
                }
                b'V' => {
                    let text = unescaped(&self.line()?);
                    self.make(Node::Text(Cow::Owned(text)))?;
                }
                code @ (b'U' | 0x8c | b'T' | b'X' | 0x8d) => {
                    let bytes = self.sized(match code {
                        b'U' | 0x8c => 1,
                        0x8d => 8,
                        _ => 4,
                    })?;
                    self.text(bytes)?;
                }
                b'N' => self.make(Node::Null)?,
                code @ (0x88 | 0x89) => self.make(Node::Flag(code == 0x88))?,
                b'F' => {
                    let text = self.line()?;
                    self.float(text.parse().ok())?;
                }
                b'G' => {
                    let bytes = self.take(8)?.try_into().map_err(|_| self.wrong("it is cut off"))?;
                    self.float(Some(f64::from_be_bytes(bytes)))?;
                }
                // Buffers, persistent ids in text, classes (by name or by code) and bytes, which no state has.
                code @ (0x97 | b'P' | b'c' | 0x82..=0x84 | b'C' | b'B' | 0x8e | 0x96) => {
                    match code {
                        b'P' => drop(self.line()?),
                        b'c' => drop((self.line()?, self.line()?)),
                        0x82..=0x84 => drop(self.take(1 << (code - 0x82))?),
                        b'C' => drop(self.sized(1)?),
                        b'B' => drop(self.sized(4)?),
                        0x8e | 0x96 => drop(self.sized(8)?),
                        _ => {}
                    }
                    self.make(Node::Other)?;
                }
                b']' | b')' | 0x8f => self.make(Node::List(Vec::new()))?,
                b'}' => self.make(Node::Map(Vec::new()))?,
                b'l' | b't' | 0x91 => self.hold_to_mark(Node::List)?,
                b'o' => self.hold_to_mark(Node::Object)?,
                b'i' => {
                    drop((self.line()?, self.line()?));
                    self.hold_to_mark(Node::Object)?;
                }
                b'd' => {
                    let items = self.down_to_mark()?;
                    self.make(Node::Map(Vec::new()))?;
                    self.add_pairs(&items)?;
                }
                // An object, made from a persistent id; from a class and its arguments; or from the two names of a
                // class.
                b'Q' => self.hold(1, Node::Object)?,
                b'R' | 0x81 | 0x93 => self.hold(2, Node::Object)?,
                0x92 => self.hold(3, Node::Object)?,
                code @ 0x85..=0x87 => self.hold(usize::from(code - 0x84), Node::List)?,
                b'a' | b'b' => {
                    let item = self.pop()?;
                    self.add([Held::item(item)].into_iter())?;
                }
                b's' => {
                    let value = self.pop()?;
                    let key = self.pop()?;
                    self.add_pairs(&[key, value])?;
                }
                b'e' | 0x90 => {
                    let items = self.down_to_mark()?;
                    self.add(items.into_iter().map(Held::item))?;
                }
                b'u' => {
                    let items = self.down_to_mark()?;
                    self.add_pairs(&items)?;
                }
                code @ (b'p' | b'q' | b'r' | 0x94) => {
                    let key = match code {
                        b'p' => self.key()?,
                        b'q' => self.size(1)?,
                        b'r' => self.size(4)?,
                        _ => memo.len() as u64,
                    };
                    let id = self.pop()?;
                    self.push(id)?;
                    if memo.insert(key, id).is_none() {
                        self.values.count(1)?;
                    }
                }
                code @ (b'g' | b'h' | b'j') => {
                    let key = match code {
                        b'g' => self.key()?,
                        b'h' => self.size(1)?,
                        _ => self.size(4)?,
                    };
                    let id = memo.get(&key).copied().ok_or_else(|| self.wrong("it refers to nothing"))?;
                    self.push(id)?;
                }
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                // This makes a buffer read-only, which changes nothing here.
                0x98 => {}
                _ => return Err(self.wrong("an unknown instruction")),
            }
        }
    }

    fn key(&mut self) -> Result<u64, String> {
        let line = self.line()?;
        line.parse().map_err(|_| self.wrong("a number is missing"))
    }
}

/// A text without the escapes of protocol 0: `\uXXXX`.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\\u") {
        text.push_str(&rest[..at]);
        let letter = rest.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match letter.and_then(char::from_u32) {
            Some(letter) => {
                text.push(letter);
                rest = &rest[at + 6..];
            }
            None => {
                text.push_str("\\u");
                rest = &rest[at + 2..];
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&[u8]; 7] = [
        include_bytes!("../../../tests/data/protocol-0.pkl"),
        include_bytes!("../../../tests/data/protocol-1.pkl"),
        include_bytes!("../../../tests/data/protocol-2.pkl"),
        include_bytes!("../../../tests/data/protocol-3.pkl"),
        include_bytes!("../../../tests/data/protocol-4.pkl"),
        include_bytes!("../../../tests/data/protocol-5.pkl"),
        include_bytes!("../../../tests/data/legacy.pt"),
    ];

    /// All texts among the values.
    fn texts<'a>(values: &'a Values<'_>) -> Vec<&'a str> {
        (0..values.len() as Id).filter_map(|id| values.text(id)).collect()
    }

    #[test]
    fn every_protocol_is_read() {
        for file in &FILES[..6] {
            let values = read(file).unwrap();
            let [root] = values.roots[..] else { panic!("one root") };
            let state = values.field(values.field(root, "s").unwrap(), "samedeal").unwrap();
            assert!(values.text(state).unwrap().starts_with("{\"samedeal\":1,"));
            let Node::List(items) = values.get(values.field(root, "x").unwrap()) else { panic!("a list") };
            let told = items.iter().map(|held| values.json(held.value, &mut 100));
            let told = told.map(|told| told.unwrap_or_default()).collect::<Vec<_>>();
            // Bytes, sets and numbers of more than 64 bits have no JSON here, because no state has them.
            assert_eq!(
                (&told[..3], &told[7..9]),
                (&["1", "2.5", "null"].map(str::to_owned)[..], &["true", "-5"].map(str::to_owned)[..])
            );
            assert_eq!((&*told[3], &*told[9], &*told[10]), ("", "", "\"é\\n\""));
            assert!(texts(&values).contains(&"é\n"));
        }
        // Five pickles come before the tensors: a magic number, a version, the system, what was saved, and the names of
        // the tensors.
        assert_eq!(read(FILES[6]).unwrap().roots.len(), 5);
    }

    /// No broken pickle may cause a panic, or take more memory than is allowed: one that is cut off anywhere, or has a
    /// changed byte.
    #[test]
    fn broken_pickles_are_refused() {
        for file in FILES {
            for end in 0..file.len() {
                // A file that is cut off may still have whole pickles: in torch's own format, tensors follow them.
                if let Ok(values) = read(&file[..end]) {
                    assert!(!values.roots.is_empty());
                }
            }
            let mut broken = file.to_vec();
            for at in 0..file.len() {
                // Twelve other bytes at every place; every byte occurs at some place.
                for step in 1..=12_usize {
                    broken[at] = file[at].wrapping_add((at * 13 + step * 21) as u8);
                    let _ = read(&broken);
                }
                broken[at] = file[at];
            }
        }
    }

    #[test]
    fn hostile_pickles_are_bounded() {
        for (bytes, said) in [
            (b"X\xff\xff\xff\xffabc".to_vec(), "cut off"),
            (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(), "cut off"),
            (vec![b']'; (1 << 22) + 1], "too many"),
            (vec![b'('; (1 << 22) + 1], "too many marks"),
            ([vec![b'N'], vec![b'2'; 1 << 23]].concat(), "too many values at a time"),
            (b"(0.".to_vec(), "a value is missing"),
            (b"(.".to_vec(), "a value is missing"),
            (b"u.".to_vec(), "a mark is missing"),
            (b"h\x00.".to_vec(), "refers to nothing"),
            (b"\xff".to_vec(), "unknown instruction"),
            (Vec::new(), "cut off"),
        ] {
            let found = read(&bytes).unwrap_err();
            assert!(found.contains(said), "{found}, not {said}");
        }
        // A list that contains itself, and forty tuples, each of which contains the one before twice.
        let twice = [&b"]q\x00"[..], &b"h\x00h\x00\x86q\x00".repeat(40), b"."].concat();
        for bytes in [&b"]q\x00h\x00a."[..], &twice] {
            assert_eq!(super::super::of_values(&read(bytes).unwrap()), Ok(Vec::new()));
        }
    }
}
