//! A number for each shard: a few as they are, many as a hash.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use crate::Failure;
use crate::base::failure::range;
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::collect;

/// The most numbers that a text names; of more, it has a hash.
pub(crate) const NAMED: usize = 256;

/// A list of numbers in a text: whole, or its hash.
pub(crate) enum Numbers<'a> {
    All(Vec<u64>),
    Hash(Cow<'a, str>),
}

/// A list of numbers as a canonical text has it: whole if it is short, else its hash.
pub(crate) fn text(numbers: impl Iterator<Item = u64> + Clone) -> String {
    if numbers.clone().nth(NAMED).is_some() {
        return format!("\"{}\"", hash(numbers));
    }
    list(numbers)
}

/// A list of a canonical text: items that are JSON.
pub(crate) fn list(items: impl Iterator<Item = impl Display>) -> String {
    let mut text = String::from("[");
    for item in items {
        if text.len() > 1 {
            text += ",";
        }
        text += &item.to_string();
    }
    text + "]"
}

/// SHA-256 over all of them, each as 8 bytes, little-endian; in hexadecimal.
pub(crate) fn hash(numbers: impl Iterator<Item = u64>) -> String {
    let mut hash = Fingerprint::new();
    for number in numbers {
        hash.add(&number.to_le_bytes());
    }
    hash.finish()
}

/// Whether a text is such a hash.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// How a list beside a text is shown.
pub(crate) fn counted(list: Option<&[u64]>) -> String {
    format!("{} numbers", list.unwrap_or_default().len())
}

/// Where numbers come from that may stand in a text, or beside it.
pub(crate) enum Chosen<'a> {
    Nowhere,
    Text(&'a [u64]),
    Beside,
}

/// The list in the text, or the list beside it. If both are there, they have to be equal, or have the hash of the text. Failures: `field`.
#[inline(never)]
pub(crate) fn chosen<'a>(
    field: &'static str,
    of_text: Option<&'a Numbers>,
    beside: Option<impl ExactSizeIterator<Item = u64> + Clone>,
) -> Result<Chosen<'a>, Failure> {
    Ok(match (of_text, beside) {
        (None, None) => Chosen::Nowhere,
        (Some(Numbers::All(all)), None) => Chosen::Text(all),
        (Some(Numbers::Hash(_)), None) => {
            return Err(Failure::missing(field, "the numbers, of which the recipe has the hash alone"));
        }
        (None, Some(_)) => Chosen::Beside,
        (Some(of_text), Some(beside)) => {
            let count = beside.len();
            let same = match of_text {
                Numbers::All(all) => beside.eq(all.iter().copied()),
                Numbers::Hash(is) => **is == hash(beside),
            };
            if !same {
                let value = format!("{count} numbers that are others");
                return Err(Failure::contradiction(field, value, "the numbers that the recipe was made with"));
            }
            Chosen::Beside
        }
    })
}

/// Numbers of 32 bits. Failures: `field`, `out-of-memory`.
#[inline(never)]
pub(crate) fn narrow(field: &'static str, numbers: &[u64]) -> Result<Vec<u32>, Failure> {
    if let Some(at) = numbers.iter().position(|&number| number > u32::MAX.into()) {
        return Err(Failure::out_of_range(field, numbers[at], range(0, u32::MAX)).at_index(at));
    }
    collect(field, numbers.len(), numbers.iter().map(|&number| number as u32))
}

/// Nothing if these numbers are those; else both, where the first one differs, if both are there in full. Of hashes, only that they
/// differ is known.
#[inline(never)]
pub(crate) fn difference(here: Option<&Numbers>, of: Option<&Numbers>) -> Option<Option<(String, Option<String>)>> {
    match (here?, of?) {
        (Numbers::Hash(here), Numbers::Hash(of)) => (here != of).then(|| Some((String::from("other numbers"), None))),
        (Numbers::All(here), Numbers::All(of)) if here.len() == of.len() => {
            let (at, (here, of)) = here.iter().zip(of).enumerate().find(|(_, (here, of))| here != of)?;
            Some(Some((format!("{here} in place {at}"), Some(format!("{of}")))))
        }
        _ => Some(None),
    }
}
