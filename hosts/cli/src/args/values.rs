//! Values on the command line.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::Value;

use crate::write::with_powers;

/// The digits of a whole number in the ways people write it: `50000`, `50_000`, `50,000` as tables print it, `5e4`, `1.5e3`, `50k`, `2M`
/// or `1G`.
pub fn digits(text: &str) -> Option<String> {
    let (sign, amount) = text.strip_prefix('-').map_or(("", text), |amount| ("-", amount));
    let (amount, scale) = match amount.char_indices().next_back()? {
        (end, 'k' | 'K') => (&amount[..end], Some("3")),
        (end, 'M') => (&amount[..end], Some("6")),
        (end, 'G') => (&amount[..end], Some("9")),
        _ => amount.split_once(['e', 'E']).map_or((amount, None), |(amount, scale)| (amount, Some(scale))),
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A point without a scale is refused: it could group digits. A scale above 20 is refused: no number that is read
    // here has more zeros.
    let (whole, fraction) = match (amount.split_once('.'), scale) {
        (Some((whole, fraction)), Some(_)) if are_digits(fraction) => (whole, fraction.trim_end_matches('0')),
        (Some(_), _) => return None,
        (None, _) => (amount, ""),
    };
    let scale = scale.unwrap_or("0");
    let scale = are_digits(scale).then(|| scale.parse::<usize>().ok()).flatten().filter(|scale| *scale <= 20)?;
    let zeros = scale.checked_sub(fraction.len())?;
    let separator = if whole.contains(',') { ',' } else { '_' };
    let groups = whole.split(separator).collect::<Vec<_>>();
    let is_grouped = |groups: &[&str]| groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    let is_number = groups.iter().all(|group| are_digits(group)) && (separator == '_' || is_grouped(&groups));
    is_number.then(|| format!("{sign}{}{fraction}{}", groups.concat(), "0".repeat(zeros)))
}

/// Parses a whole number, such as a number of samples.
pub fn number(text: &str) -> Result<u64, String> {
    let read = digits(text).and_then(|digits| digits.parse().ok());
    // The message names 2^53 - 1, the greatest number of samples, positions or steps. Any number of 64 bits passes,
    // since an epoch may be greater: `numbers` reads epochs, too.
    read.ok_or_else(|| {
        format!("allowed: 0 to {} (2^53 - 1), such as 50000, 50_000, 50,000, 5e4 or 50k", (1_u64 << 53) - 1)
    })
}

/// Parses a weight: a whole number, or a decimal fraction.
pub fn share(text: &str) -> Result<Value, String> {
    let fraction = || text.parse::<f64>().ok().filter(|share| share.is_finite() && *share >= 0.0);
    let found = number(text).ok().map(Value::from).or_else(|| fraction().map(Value::from));
    found.ok_or_else(|| "allowed: a number that is not negative, such as 70 or 0.7".to_owned())
}

/// Parses a whole number in all ways of [`digits`]. `least` and `most` are for the message. Any number of the type
/// passes: the sampler checks the range.
pub fn within<T: FromStr + Display + Copy>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        digits(text)
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| with_powers(&format!("allowed: {least} to {most}")))
    }
}

/// The most numbers of a range. Each number gets an answer of its own.
const LONGEST: u64 = 1 << 16;

/// A number, or a range of them: `A..B` without `B`, or `A..=B` with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    pub first: u64,
    pub last: u64,
    /// Whether a range was given, even of one number: the answer is a list then.
    pub is_range: bool,
}

impl Numbers {
    pub const fn one(number: u64) -> Self {
        Self { first: number, last: number, is_range: false }
    }

    /// These numbers, counted from `first` on. `first` must not exceed any of them.
    pub const fn minus(self, first: u64) -> Self {
        Self { first: self.first - first, last: self.last - first, ..self }
    }

    /// The inverse of `minus`: adds `first` to the numbers.
    pub const fn plus(self, first: u64) -> Self {
        Self { first: self.first.saturating_add(first), last: self.last.saturating_add(first), ..self }
    }

    pub fn iter(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    pub fn count(self) -> u64 {
        self.last - self.first + 1
    }
}

impl Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        if self.is_range { write!(f, "..={}", self.last) } else { Ok(()) }
    }
}

/// Reads a number or a range.
pub fn numbers(text: &str) -> Result<Numbers, String> {
    let Some((first, end)) = text.split_once("..") else { return number(text).map(Numbers::one) };
    let (end, is_inclusive) = end.strip_prefix('=').map_or((end, false), |end| (end, true));
    let allowed = "allowed: A..B for A to B - 1, or A..=B for A to B, such as 1200..1210";
    let (Ok(first), Ok(end)) = (number(first), number(end)) else { return Err(allowed.to_owned()) };
    let last = if is_inclusive { Some(end) } else { end.checked_sub(1) };
    match last.filter(|&last| last >= first) {
        None => Err(format!("the range is empty; {allowed}")),
        Some(last) if last - first >= LONGEST => {
            Err(format!("the range is too long; allowed: up to {LONGEST} numbers at once"))
        }
        Some(last) => Ok(Numbers { first, last, is_range: true }),
    }
}

/// One sample, or several with commas between.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    list: Vec<u64>,
    /// The text as one number with grouped digits, if it can also be read so.
    one: Option<u64>,
}

pub fn samples(text: &str) -> Result<Samples, String> {
    let list = text.split(',').map(number).collect::<Result<Vec<_>, _>>();
    match (list, number(text)) {
        (Ok(list), one) => Ok(Samples { one: one.ok().filter(|_| list.len() > 1), list }),
        (Err(why), _) => Err(why),
    }
}

impl Samples {
    /// The samples that the text means in a dataset of `count` samples. Tables print `14,822`: this is one sample if
    /// the dataset has it, and otherwise two.
    pub fn of(&self, count: u64) -> Vec<u64> {
        self.one.filter(|one| *one < count).map_or_else(|| self.list.clone(), |one| vec![one])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_ways_people_write_them() {
        let all = "50000=50000 50_000=50000 5e4=50000 50,000=50000 1,234,567=1234567 1_0=10 1.5e3=1500 1.50E1=15 5k=5000 \
            2M=2000000 1_000.25K=1000250 0.5G=500000000 18446744073709551615=18446744073709551615";
        for (text, value) in all.split(' ').filter_map(|pair| pair.split_once('=')) {
            assert_eq!(number(text).map(|number| number.to_string()).as_deref(), Ok(value), "{text}");
        }
        // The first text is empty.
        let none = " -1 1.7 NaN 18446744073709551616 1e20 2e19 1e e3 0x10 1, ,1 1,00 1234,567 1,_00 _5 \
            5_ 1__0 1.000 1.0 1.2345e3 1.e3 .5e3 1.5e k 5m 5kk 5e3k 1.5_0k 1_000,000 5\u{661}k 1e99999999999999999999";
        for text in none.split(' ') {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_of_any_type_are_read_alike() {
        assert_eq!(within(1, u32::MAX)("1,024"), Ok(1024));
        assert_eq!(within(i64::MIN, i64::MAX)("-5e3"), Ok(-5000));
        assert_eq!(within(1, u32::MAX)("5e9"), Err("allowed: 1 to 4294967295".to_owned()));
        assert!(within(0, u32::MAX)("-1").is_err());
    }

    #[test]
    fn ranges_are_those_of_rust() {
        let ends = |text| numbers(text).map(|it| (it.first, it.last, it.is_range));
        for (text, expected) in [
            ("7", (7, 7, false)),
            ("0..4", (0, 3, true)),
            ("1,200..=1_210", (1200, 1210, true)),
            ("7..8", (7, 7, true)),
            ("0..65536", (0, 65_535, true)),
            ("18446744073709551615..=18446744073709551615", (u64::MAX, u64::MAX, true)),
        ] {
            assert_eq!(ends(text), Ok(expected), "{text}");
        }
        for text in ["4..4", "4..2", "0..0", "5..=4"] {
            assert!(ends(text).unwrap_err().starts_with("the range is empty; allowed: A..B"), "{text}");
        }
        for text in ["..", "1..", "..3", "1...3", "1..3..5", "1..=x", "-1..3", "1=..3"] {
            assert!(ends(text).unwrap_err().starts_with("allowed: A..B"), "{text}");
        }
        assert!(ends("0..=65536").unwrap_err().contains("up to 65536"));
        assert!(ends("x").unwrap_err().starts_with("allowed: 0 to"));
    }

    #[test]
    fn a_comma_groups_digits_where_there_is_such_a_sample() {
        assert_eq!(samples("14,822").unwrap().of(14_823), [14_822]);
        assert_eq!(samples("14,822").unwrap().of(14_822), [14, 822]);
        assert_eq!(samples("7,8,9").unwrap().of(u64::MAX), [7, 8, 9]);
        assert_eq!(samples("5").unwrap().of(1), [5]);
        assert!(samples("7,,9").is_err());
    }
}
