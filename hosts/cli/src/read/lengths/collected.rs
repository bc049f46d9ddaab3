use std::fmt;

use super::Unit;
use super::parts::Parts;

/// The unit of lengths that are stored as numbers.
const TOKENS: &str = "tokens";

/// The lengths that were read so far.
#[derive(Default)]
pub struct Collected {
    pub lengths: Vec<u32>,
    /// The unit of `--length-unit`.
    pub asked: Option<Unit>,
    /// The unit of the lengths, once there are some.
    pub unit: Option<&'static str>,
    /// The parts of a split, if values are ids or keys in place of lengths.
    pub parts: Option<Parts>,
}

/// Errors of these methods begin with a verb: the caller puts the place of the value in front.
impl Collected {
    /// The option that names a column.
    pub fn option(&self) -> &'static str {
        if self.parts.is_some() { "--column" } else { "--lengths" }
    }

    /// How many values were read so far.
    pub fn len(&self) -> usize {
        self.parts.as_ref().map_or(self.lengths.len(), Parts::len)
    }

    /// Whether values are texts (a key, or a text whose length counts) and not numbers.
    pub fn is_text(&self) -> bool {
        self.parts.as_ref().map_or(self.asked.is_some(), Parts::is_of_keys)
    }

    /// The problem of a value in a text that is no number.
    pub fn no_number(&self, shown: &str) -> String {
        match &self.parts {
            Some(_) => format!("is {shown:?}; allowed: whole numbers, or add --keys to split by text"),
            None => {
                let what = "or say what to count: --length-unit words, characters or bytes";
                format!("{}; {what}", refused(format!("{shown:?}")))
            }
        }
    }

    /// Adds a length that is stored as a number.
    pub fn number(&mut self, length: i128) -> Result<(), String> {
        if let Some(parts) = &mut self.parts {
            return parts.number(length);
        }
        match self.asked {
            Some(unit) => {
                let what = "holds a number, which is a length by itself";
                Err(format!("{what}; leave --length-unit {} out", unit.name()))
            }
            None => self.add(length, TOKENS),
        }
    }

    /// Adds the length of a text.
    pub fn text(&mut self, text: &str) -> Result<(), String> {
        if let Some(parts) = &mut self.parts {
            return parts.text(text);
        }
        // Text has no default unit: its words, characters and bytes differ too much.
        let unit = self.asked.ok_or("holds text; say what to count of it: --length-unit words, characters or bytes")?;
        let length = match unit {
            Unit::Words => text.split_whitespace().count(),
            Unit::Characters => text.chars().count(),
            Unit::Bytes => text.len(),
            Unit::Items => return Err("holds text; allowed: --length-unit words, characters or bytes".to_owned()),
        };
        self.add(length as i128, unit.name())
    }

    /// Adds the length of a text. It must be UTF-8, unless bytes are counted.
    pub fn encoded(&mut self, text: &[u8]) -> Result<(), String> {
        match str::from_utf8(text) {
            Ok(text) => self.text(text),
            Err(_) if self.parts.is_some() => Err("is text, but not UTF-8; write it again".to_owned()),
            Err(_) if self.asked == Some(Unit::Bytes) => self.bytes(text),
            Err(_) => Err("is text, but not UTF-8; write it again, or count its bytes: --length-unit bytes".to_owned()),
        }
    }

    /// Adds the length of bytes that are no text.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.parts.is_some() {
            return Err(
                "holds bytes that are not marked as text; allowed: whole numbers, or text with --keys".to_owned()
            );
        }
        match self.asked.unwrap_or(Unit::Bytes) {
            Unit::Bytes => self.add(bytes.len() as i128, Unit::Bytes.name()),
            _ => Err("holds bytes that are not marked as text; allowed: --length-unit bytes".to_owned()),
        }
    }

    /// Adds the length of a list.
    pub fn items(&mut self, items: u64) -> Result<(), String> {
        if self.parts.is_some() {
            return Err("holds a list; allowed: whole numbers, or text with --keys".to_owned());
        }
        match self.asked.unwrap_or(Unit::Items) {
            Unit::Items => self.add(items.into(), Unit::Items.name()),
            _ => Err("holds a list; allowed: --length-unit items".to_owned()),
        }
    }

    fn add(&mut self, length: i128, unit: &'static str) -> Result<(), String> {
        let known = *self.unit.get_or_insert(unit);
        if known != unit {
            return Err(format!("has a length in {unit}, where those before it are in {known}; read them apart"));
        }
        let length = u32::try_from(length).map_err(|_| refused(length))?;
        self.lengths.push(length);
        Ok(())
    }
}

/// The problem of a value that is no length.
pub fn refused(value: impl fmt::Display) -> String {
    format!("is {value}; allowed: whole numbers from 0 to {}", u32::MAX)
}

/// The problem of a sample without a value.
pub fn missing() -> String {
    "has no value; leave such samples out of the files, or give them one".to_owned()
}
