//! Weights that a text has as decimal fractions, such as 0.7 and 0.3, become whole numbers. All weights of a list are
//! converted together, by integer arithmetic alone, so that every host and every machine gets the same weights.
//! SPEC.md, section 14.

use alloc::format;
use alloc::vec::Vec;
use core::iter;

use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};

/// The sum of the whole numbers that weights are rounded to, before the numbers are divided by their common divisor.
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

    /// The number of a JSON text. `None` if it is negative, or has more than 19 digits. One loop over bytes: methods of
    /// texts would add 8 kB to the component.
    #[inline(never)]
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (mut digits, mut exponent, mut power) = (0_u64, 0_i64, 0_i64);
        let (mut is_fraction, mut is_power, mut is_small) = (false, false, false);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' if is_power => power = (10 * power + i64::from(byte - b'0')).min(1 << 31),
                b'0'..=b'9' => {
                    exponent -= i64::from(is_fraction);
                    // Zeros at the end count in the exponent.
                    let digit = u64::from(byte - b'0');
                    match digits.checked_mul(10).map(|tens| tens + digit) {
                        Some(found) if found < 10_u64.pow(MAX_DIGITS) => digits = found,
                        _ if digit == 0 => exponent += 1,
                        _ => return None,
                    }
                }
                b'.' => is_fraction = true,
                b'e' | b'E' => is_power = true,
                b'-' if is_power => is_small = true,
                b'+' if is_power => {}
                _ => return None,
            }
        }
        // An exponent beyond the signed numbers of 32 bits counts as the end of their range (SPEC.md, section 14).
        exponent += if is_small { -power } else { power.min(i32::MAX.into()) };
        Some(Self { digits, exponent }.trimmed())
    }

    fn trimmed(mut self) -> Self {
        while self.digits > 0 && self.digits.is_multiple_of(10) {
            (self.digits, self.exponent) = (self.digits / 10, self.exponent + 1);
        }
        if self.digits == 0 { Self { digits: 0, exponent: 0 } } else { self }
    }

    /// The number times a power of ten, rounded down. `None` from 2^128 on.
    #[inline(never)]
    fn scaled(self, power: i64) -> Option<u128> {
        let shift = if self.digits == 0 { 0 } else { self.exponent + power };
        let (mut small, mut large) = (self.digits, u128::from(self.digits));
        for _ in shift..0 {
            if small == 0 {
                break;
            }
            small /= 10;
        }
        for _ in 0..shift {
            large = large.checked_mul(10)?;
        }
        Some(if shift < 0 { small.into() } else { large })
    }

    /// The number of digits before the decimal point, if the number is 1 or more; else minus the number of zeros that
    /// follow the point.
    fn magnitude(self) -> i64 {
        self.exponent + i64::from(self.digits.ilog10()) + 1
    }
}

/// The whole numbers that stand for weights. Failures: `field`, at the weight that is above 0 and would become 0;
/// `out-of-memory`.
#[inline(never)]
pub(crate) fn whole(field: &'static str, weights: &[Decimal]) -> Result<Vec<u64>, (usize, Failure)> {
    let room = |failure| (0, failure);
    let mut parts: Vec<u128> = collect(field, weights.len(), iter::repeat_n(0, weights.len())).map_err(room)?;
    let least = positive(weights).map(|weight| weight.exponent).min().unwrap_or(0);
    // The common divisor of the parts is below 2^64, because the weight with the least exponent has at most 19 digits.
    // So a part that does not fit into 128 bits is above 2^53 also after the division.
    let fits = scale(weights, -least, &mut parts);
    if !fits || reduced(&mut parts) > MAX_EXACT.into() {
        round(field, weights, &mut parts)?;
        reduced(&mut parts);
    }
    collect(field, parts.len(), parts.iter().map(|&part| part as u64)).map_err(room)
}

fn positive(weights: &[Decimal]) -> impl Iterator<Item = &Decimal> {
    weights.iter().filter(|weight| weight.digits > 0)
}

/// Sets the parts to the weights times a power of ten. `false` if one does not fit.
#[inline(never)]
fn scale(weights: &[Decimal], power: i64, parts: &mut [u128]) -> bool {
    for (part, weight) in parts.iter_mut().zip(weights) {
        let Some(scaled) = weight.scaled(power) else { return false };
        *part = scaled;
    }
    true
}

/// Divides the parts by their greatest common divisor. Returns their sum, at most 2^128 - 1.
#[inline(never)]
fn reduced(parts: &mut [u128]) -> u128 {
    let mut divisor = 0;
    for &part in &*parts {
        let mut rest = part;
        while rest > 0 {
            (divisor, rest) = (rest, divided(divisor, rest).1);
        }
    }
    let mut sum = 0_u128;
    for part in parts {
        *part = divided(*part, divisor.max(1)).0;
        sum = sum.saturating_add(*part);
    }
    sum
}

/// Quotient and remainder. Not inlined, because the code of a division of 128 bits is long in WebAssembly.
#[inline(never)]
fn divided(number: u128, by: u128) -> (u128, u128) {
    let quotient = number / by;
    (quotient, number - quotient * by)
}

/// Sets the parts to weights with the sum `TOTAL`, by the largest remainder. Failures: `field`, at the weight that is
/// above 0 and would become 0.
#[inline(never)]
fn round(field: &'static str, weights: &[Decimal], parts: &mut [u128]) -> Result<(), (usize, Failure)> {
    let top = positive(weights).map(|weight| weight.magnitude()).max().unwrap_or(0);
    // The greatest weight gets 19 digits, so that `TOTAL` times any part is below 2^128.
    scale(weights, i64::from(MAX_DIGITS) - top, parts);
    let sum = parts.iter().sum();
    let share = |part: u128| divided(TOTAL * part, sum);
    let missing = TOTAL - parts.iter().map(|&part| share(part).0).sum::<u128>();
    let above = |remainder| parts.iter().filter(|&&part| share(part).1 > remainder).count() as u128;
    // All parts with a remainder above `least` get one more, and so do the first `equal` parts whose remainder is
    // `least`. `least` is found by bisection, because a sort would add 6 kB to the component.
    let (mut least, mut end) = (0, sum);
    while least < end {
        let middle = least + (end - least) / 2;
        if above(middle) > missing { least = middle + 1 } else { end = middle }
    }
    let mut equal = missing - above(least);
    for ((place, part), weight) in parts.iter_mut().enumerate().zip(weights) {
        let (floor, remainder) = share(*part);
        let is_equal = remainder == least && equal > 0;
        equal -= u128::from(is_equal);
        *part = floor + u128::from(remainder > least || is_equal);
        let &Decimal { digits, exponent } = weight;
        if *part == 0 && digits > 0 {
            let allowed = "0, or at least 10^-15 of all weights together";
            return Err((place, Failure::out_of_range(field, format!("{digits}e{exponent}"), allowed)));
        }
    }
    Ok(())
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
        // Equal weights of 16 digits need no rounding.
        let thirds = ["0.3333333333333333", "0.3333333333333333", "0.3333333333333333"];
        assert_eq!(of(&thirds).unwrap(), [1, 1, 1]);
        let found = of(&["0.33333333333333331", "0.66666666666666663", "0.00000000000000006"]);
        assert_eq!(found, Err(2));
        assert_eq!(of(&["0.14285714285714285", "0.2857142857142857", "0.5714285714285714"]).unwrap(), [1, 2, 4]);
        // Rounded down, the numbers add up to 2 less than the fixed sum. The two weights with the largest remainders
        // get one more each.
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
