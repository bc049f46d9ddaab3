//! Values on the command line.

use std::fmt::Display;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads a whole number, with `_` between digits or as a power of ten if that is easier to write.
pub fn number(text: &str) -> Result<u64, String> {
    let read = || {
        let digits = text.replace('_', "");
        let (digits, zeros) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
        let scale = 10_u64.checked_pow(zeros.parse().ok()?)?;
        digits.parse::<u64>().ok()?.checked_mul(scale)
    };
    // Samples end there, and with them every other number that is read here.
    read().ok_or_else(|| format!("allowed: 0 to {}, such as 50000, 50_000 or 5e4", (1_u64 << 53) - 1))
}

/// Reads a whole number as it is. What its type holds goes on to the sampler, which knows all that is allowed.
pub fn within<T: FromStr + Display + Copy>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| text.parse().map_err(|_| format!("allowed: {least} to {most}"))
}

pub fn named<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = samedeal::Failure> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_the_ways_people_write_them() {
        for (text, value) in
            [("50000", 50_000), ("50_000", 50_000), ("5e4", 50_000), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        for text in ["", "-1", "1.7", "NaN", "18446744073709551616", "1e20", "2e19", "1e", "e3", "0x10"] {
            assert!(number(text).is_err(), "{text}");
        }
    }
}
