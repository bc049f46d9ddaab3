//! Measured quantities, written for people.

use std::fmt;

/// A number and its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A time, in seconds.
    Seconds(f64),
    /// Memory, in bytes.
    Bytes(f64),
    /// A factor.
    Times(f64),
    /// A factor near 1, whose distance from 1 matters.
    Ratio(f64),
    /// A part of a whole.
    Share(f64),
    /// A number of things.
    Count(f64),
}

impl Quantity {
    /// The bare number.
    pub fn value(self) -> f64 {
        match self {
            Self::Seconds(value) | Self::Bytes(value) | Self::Times(value) => value,
            Self::Ratio(value) | Self::Share(value) | Self::Count(value) => value,
        }
    }
}

impl Quantity {
    /// The name of the unit of `value`, as `tests/docs/measured.py` reads it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Seconds(_) => "s",
            Self::Bytes(_) => "B",
            Self::Times(_) => "x",
            Self::Ratio(_) => "ratio",
            Self::Share(_) => "share",
            Self::Count(_) => "count",
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const TIMES: [(f64, &str); 4] = [(1.0, " s"), (1e-3, " ms"), (1e-6, " us"), (1e-9, " ns")];
        const SIZES: [(f64, &str); 4] = [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")];
        let scaled = |units: [(f64, &'static str); 4], value: f64| {
            let (unit, name) = units.into_iter().find(|(unit, _)| value >= *unit).unwrap_or(units[3]);
            (value / unit, name)
        };
        let (number, unit) = match *self {
            Self::Seconds(seconds) => scaled(TIMES, seconds),
            Self::Bytes(bytes) => scaled(SIZES, bytes),
            Self::Times(times) => (times, "x"),
            Self::Ratio(ratio) => return write!(f, "{ratio:.4}"),
            Self::Share(share) => return write!(f, "{:.2} %", 100.0 * share),
            Self::Count(count) => return write!(f, "{count:.0}"),
        };
        // Three significant digits, without zeros after them.
        let digits = if number > 0.0 { number.log10().floor() } else { 0.0 };
        let decimals = (2.0 - digits).clamp(0.0, 9.0) as usize;
        let text = format!("{number:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        write!(f, "{text}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity::{Bytes, Count, Ratio, Seconds, Share, Times};

    #[test]
    fn quantities_are_written_in_the_digits_that_matter() {
        let cases = [
            (Seconds(15e-9), "15 ns"),
            (Seconds(5.2345e-9), "5.23 ns"),
            (Seconds(12.34e-6), "12.3 us"),
            (Seconds(0.2), "200 ms"),
            (Seconds(9.5), "9.5 s"),
            (Seconds(0.0), "0 ns"),
            (Bytes(4_812_000_000.0), "4.81 GB"),
            (Bytes(1e6), "1 MB"),
            (Times(1.25), "1.25x"),
            (Times(1234.6), "1235x"),
            (Times(0.00321), "0.00321x"),
            (Times(f64::NAN), "NaNx"),
            (Ratio(1.00021), "1.0002"),
            (Share(0.999_76), "99.98 %"),
            (Count(911.0), "911"),
        ];
        for (quantity, text) in cases {
            assert_eq!(quantity.to_string(), text);
        }
    }
}
