//! Weights that a text has as decimal fractions, such as 0.7 and 0.3, become whole numbers. All weights of a list are
//! converted together, with whole numbers alone, so that every host and every machine gets the same ones. SPEC.md,
//! section 14.

use alloc::vec::Vec;

use crate::base::memory::collect;
use crate::{Failure, MAX_EXACT};

/// The sum of weights that are rounded.
const TOTAL: u128 = 1_000_000_000_000_000;

/// The most digits of a weight, without zeros at either end.
pub(crate) const MAX_DIGITS: u32 = 19;

/// A number that is not negative: `digits` times a power of ten. The last digit is not 0, unless the number is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u64,
    exponent: i64,
}

impl Decimal {
    /// A whole number.
    pub(crate) fn whole(number: u64) -> Self {
        Self { digits: number, exponent: 0 }.trimmed()
    }

    /// The number of a JSON text. `None` if it is negative, or has more than 19 digits.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        // An exponent of more digits than an `i32` has is too small or too large for any weight.
        let beyond = if exponent.starts_with('-') { i32::MIN } else { i32::MAX };
        let power = i64::from(exponent.trim_start_matches('+').parse().unwrap_or(beyond));
        let (whole, fraction, zeros) = match fraction {
            "" => (whole.trim_end_matches('0'), "", whole.len() - whole.trim_end_matches('0').len()),
            fraction => (whole, fraction, 0),
        };
        let mut digits = 0_u64;
        for digit in whole.bytes().chain(fraction.bytes()) {
            let digit = u64::from(digit.checked_sub(b'0')?);
            digits = digits.checked_mul(10)?.checked_add(digit).filter(|&digits| digits < 10_u64.pow(MAX_DIGITS))?;
        }
        Some(Self { digits, exponent: power + zeros as i64 - fraction.len() as i64 }.trimmed())
    }

    fn trimmed(mut self) -> Self {
        while self.digits > 0 && self.digits.is_multiple_of(10) {
            (self.digits, self.exponent) = (self.digits / 10, self.exponent + 1);
        }
        if self.digits == 0 { Self { digits: 0, exponent: 0 } } else { self }
    }

    /// The number times a power of ten, rounded down. `None` from 2^128 on.
    fn scaled(self, power: i64) -> Option<u128> {
        let digits = u128::from(self.digits);
        let shift = u32::try_from((self.exponent + power).unsigned_abs()).ok();
        let factor = shift.and_then(|shift| 10_u128.checked_pow(shift));
        match factor {
            _ if digits == 0 => Some(0),
            Some(factor) if self.exponent + power >= 0 => digits.checked_mul(factor),
            None if self.exponent + power >= 0 => None,
            Some(factor) => Some(digits / factor),
            None => Some(0),
        }
    }

    /// The number of digits before the decimal point, if the number is 1 or more; else 1 less the number of zeros after it.
    fn magnitude(self) -> i64 {
        self.exponent + i64::from(self.digits.ilog10()) + 1
    }
}

/// The whole numbers that stand for weights. Failures: `field`, at the weight that is above 0 and would become 0;
/// `out-of-memory`.
#[inline(never)]
pub(crate) fn whole(field: &'static str, weights: &[Decimal]) -> Result<Vec<u64>, (usize, Failure)> {
    let room = |failure| (0, failure);
    let there = || weights.iter().filter(|weight| weight.digits > 0);
    // Where a weight does not fit into 128 bits, the smallest one has too few digits to divide it down to 2^53.
    let power = -there().map(|weight| weight.exponent).min().unwrap_or(0);
    let exact = || weights.iter().map(|weight| weight.scaled(power));
    let divisor = exact().try_fold(0, |divisor, weight| Some(gcd(divisor, weight?)));
    let shares = || exact().map(|weight| weight.unwrap_or_default() / divisor.unwrap_or(1).max(1));
    let sum = divisor.and_then(|_| shares().try_fold(0_u128, u128::checked_add));
    if sum.is_some_and(|sum| sum <= MAX_EXACT.into()) {
        return collect(field, weights.len(), shares().map(|share| share as u64)).map_err(room);
    }
    let mut found = rounded(field, weights)?;
    let divisor = found.iter().fold(0, |divisor, &weight| gcd(divisor, weight.into())).max(1) as u64;
    found.iter_mut().for_each(|weight| *weight /= divisor);
    Ok(found)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Weights with the sum `TOTAL`, by the largest remainder.
fn rounded(field: &'static str, weights: &[Decimal]) -> Result<Vec<u64>, (usize, Failure)> {
    let room = |failure| (0, failure);
    let top = weights.iter().filter(|weight| weight.digits > 0).map(|weight| weight.magnitude()).max().unwrap_or(0);
    // The greatest weight gets 19 digits, so that all of them together, times `TOTAL`, are below 2^128.
    let scaled = weights.iter().map(|weight| weight.scaled(i64::from(MAX_DIGITS) - top).unwrap_or_default());
    let sum: u128 = scaled.clone().sum::<u128>().max(1);
    let floors = scaled.clone().map(|weight| (TOTAL * weight / sum) as u64);
    let mut found = collect(field, weights.len(), floors).map_err(room)?;
    let remainders = || scaled.clone().map(|weight| TOTAL * weight % sum);
    // Found by bisection: a sort of such numbers would add 6 kB to the component.
    let (mut least, mut end) = (0, sum);
    let mut missing = (TOTAL as u64 - found.iter().sum::<u64>()) as usize;
    while least < end {
        let middle = least + (end - least) / 2;
        let above = remainders().filter(|&remainder| remainder > middle).count();
        if above > missing { least = middle + 1 } else { end = middle }
    }
    for is_above in [true, false] {
        for (weight, remainder) in found.iter_mut().zip(remainders()) {
            if missing > 0 && if is_above { remainder > least } else { remainder == least } {
                (*weight, missing) = (*weight + 1, missing - 1);
            }
        }
    }
    let lost = found.iter().zip(weights).position(|(&found, weight)| found == 0 && weight.digits > 0);
    match lost {
        None => Ok(found),
        Some(place) => {
            let allowed = "0, or at least 10^-15 of all weights together";
            let Decimal { digits, exponent } = weights[place];
            Err((place, Failure::out_of_range(field, alloc::format!("{digits}e{exponent}"), allowed)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(weights: &[&str]) -> Result<Vec<u64>, usize> {
        let decimals: Vec<_> = weights.iter().map(|weight| Decimal::read(weight).unwrap()).collect();
        whole("weights", &decimals).map_err(|(place, _)| place)
    }

    #[test]
    fn decimals_that_fit_keep_their_proportions() {
        assert_eq!(of(&["0.7", "0.3"]).unwrap(), [7, 3]);
        assert_eq!(of(&["0.5", "0.1", "0"]).unwrap(), [5, 1, 0]);
        assert_eq!(of(&["7.0", "3e0"]).unwrap(), [7, 3]);
        assert_eq!(of(&["1e3", "250.0"]).unwrap(), [4, 1]);
        assert_eq!(of(&["0.0", "0e7"]).unwrap(), [0, 0]);
        assert_eq!(of(&["1", "9.6e-9"]).unwrap(), [312_500_000, 3]);
        assert_eq!(of(&["9007199254740990.0", "1"]).unwrap(), [9_007_199_254_740_990, 1]);
    }

    #[test]
    fn others_are_rounded_to_a_fixed_sum() {
        // The largest remainder gets what is missing, the first one of equal ones.
        let thirds = ["0.3333333333333333", "0.3333333333333333", "0.3333333333333333"];
        assert_eq!(of(&thirds).unwrap(), [1, 1, 1]);
        let found = of(&["0.33333333333333331", "0.66666666666666663", "0.00000000000000006"]);
        assert_eq!(found, Err(2));
        assert_eq!(of(&["0.14285714285714285", "0.2857142857142857", "0.5714285714285714"]).unwrap(), [1, 2, 4]);
        let found = of(&["0.14285714285714286", "0.2857142857142857", "0.5714285714285714"]).unwrap();
        assert_eq!(found, [142_857_142_857_143, 285_714_285_714_286, 571_428_571_428_571]);
        assert_eq!(found.iter().sum::<u64>(), 1_000_000_000_000_000);
        assert_eq!(of(&["1e300", "3e300", "3e300"]).unwrap(), [1, 3, 3]);
        assert_eq!(of(&["1", "1e-14"]).unwrap(), [100_000_000_000_000, 1]);
        assert_eq!(of(&["1e-400000000000", "1"]), Err(0));
    }

    #[test]
    fn a_number_has_at_most_19_digits() {
        assert_eq!(
            Decimal::read("9999999999999999999e5").unwrap(),
            Decimal { digits: 9_999_999_999_999_999_999, exponent: 5 }
        );
        assert_eq!(Decimal::read("000.10").unwrap(), Decimal { digits: 1, exponent: -1 });
        assert_eq!(Decimal::read("1000000000000000000000000"), Some(Decimal { digits: 1, exponent: 24 }));
        assert_eq!(Decimal::read("1.0000000000000000001"), None);
        assert_eq!(Decimal::read("-1.5"), None);
    }
}
