//! Lists of numbers in a text: short lists as they are, long lists as a hash.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

use crate::base::Failure;
use crate::base::failure::range;
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::collect;

/// The most numbers of a list that a canonical text has in full. For a longer list, the text has the hash.
pub(crate) const MAX_NUMBERS: usize = 256;

/// A list of numbers in a text: whole, or its hash.
pub(crate) enum Numbers<'a> {
    All(Vec<u64>),
    Hash(Cow<'a, str>),
}

/// The canonical text of a list of numbers: the list if it is short, else its hash.
pub(crate) fn text(numbers: impl Iterator<Item = u64> + Clone) -> String {
    if numbers.clone().nth(MAX_NUMBERS).is_some() {
        return format!("\"{}\"", hash(numbers));
    }
    list(numbers)
}

/// The canonical text of a list whose items are JSON.
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

/// SHA-256 over numbers, each as 8 bytes, little-endian; in hexadecimal.
pub(crate) fn hash(numbers: impl Iterator<Item = u64>) -> String {
    let mut hash = Fingerprint::new();
    for number in numbers {
        hash.add(&number.to_le_bytes());
    }
    hash.finish()
}

/// Whether a text has the form of a hash.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The words for a list beside a text, in a failure.
pub(crate) fn counted(list: Option<&[u64]>) -> String {
    format!("{} numbers", list.unwrap_or_default().len())
}

/// The place where a list of numbers was found: in a text, or beside it.
pub(crate) enum Chosen<'a> {
    Nowhere,
    Text(&'a [u64]),
    Beside,
}

/// Finds the list in the text, or beside it. If both are there, they must be equal; if the text has a hash, the list
/// beside it must have the same hash. Failures: `field`.
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

/// Converts numbers to 32 bits. Failures: `field`, `out-of-memory`.
#[inline(never)]
pub(crate) fn narrow(field: &'static str, numbers: &[u64]) -> Result<Vec<u32>, Failure> {
    if let Some(at) = numbers.iter().position(|&number| number > u32::MAX.into()) {
        return Err(Failure::out_of_range(field, numbers[at], range(0, u32::MAX)).at_index(at));
    }
    collect(field, numbers.len(), numbers.iter().map(|&number| number as u32))
}

/// The difference between two lists. `None`: the lists are equal, or one is not there. `Some(Some(...))`: the first
/// numbers that differ, or, of two hashes, only that they differ. `Some(None)`: nothing can be shown, because the
/// lengths differ or only one is a hash.
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
