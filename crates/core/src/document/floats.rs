//! Weights that are numbers of 64-bit floating point become whole numbers in the same proportions. No number is ever
//! rounded by floating-point arithmetic, so every host and every machine gets the same ones. SPEC.md, section 14.

use alloc::vec::Vec;
use core::iter;

use super::weights::{reduced, share_out};
use crate::base::memory::collect;
use crate::{Failure, MAX_EXACT};

/// The most digits after the decimal point that are looked for: so many decimal digits fit into every float.
const MAX_DECIMALS: u32 = 15;

/// A number that is not negative: `digits` times a power of two. The digits have at most 53 bits; they have 53 if the
/// number is 2^53 or more.
#[derive(Clone, Copy)]
struct Float {
    digits: u64,
    exponent: i32,
}

impl Float {
    /// Failure: the words for a value that is no weight.
    fn read(value: f64) -> Result<Self, &'static str> {
        let bits = value.to_bits();
        let (digits, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        match (exponent, digits) {
            (0x7ff, 0) => Err("an infinite number"),
            (0x7ff, _) => Err("NaN"),
            (0, 0) => Ok(Self { digits: 0, exponent: 0 }),
            _ if bits >> 63 == 1 => Err("a negative number"),
            (0, _) => Ok(Self { digits, exponent: -1074 }),
            _ => Ok(Self { digits: digits | 1 << 52, exponent: exponent - 1075 }),
        }
    }

    /// The number times 10^`decimals`, if a number with so many digits after the decimal point has this float: if the
    /// float is less than half of its last bit away from it.
    fn decimal(self, decimals: u32) -> Option<u128> {
        let power = 10_u128.pow(decimals);
        // Below 2^103. A float that is divided by more than that is less than a half.
        let wide = u128::from(self.digits) * power;
        let shift = u32::try_from(-self.exponent).ok().filter(|&shift| shift < 110)?;
        let found = (wide + (1_u128 << shift >> 1)) >> shift;
        let off = (found << shift).abs_diff(wide);
        (2 * off < power).then_some(found)
    }

    /// The exponent of the least power of two above the number.
    fn magnitude(self) -> i32 {
        self.exponent + (u64::BITS - self.digits.leading_zeros()) as i32
    }

    /// The number times a power of two, rounded down. It is below 2^64.
    fn scaled(self, power: i32) -> u64 {
        let shift = self.exponent + power;
        match u32::try_from(shift) {
            Ok(shift) => self.digits.unbounded_shl(shift),
            Err(_) => self.digits.unbounded_shr(shift.unsigned_abs()),
        }
    }
}

/// Whole numbers in the proportions of `weights`: 7 and 3 for 0.7 and 0.3. Weights with at most 15 digits after the
/// decimal point keep their proportions exactly, if that needs no sum above 2^53 - 1; others are rounded to 10^-15 of
/// their sum. Failures: `weights`, if one is negative, infinite or NaN, or is above 0 and would become 0;
/// `out-of-memory`.
pub fn whole_weights(weights: &[f64]) -> Result<Vec<u64>, Failure> {
    let mut floats: Vec<Float> = collect("weights", weights.len(), [])?;
    for (index, &weight) in weights.iter().enumerate() {
        match Float::read(weight) {
            Ok(float) => floats.push(float),
            Err(words) => {
                return Err(Failure::out_of_range("weights", words, "finite numbers from 0 on").at_index(index));
            }
        }
    }
    let mut parts: Vec<u128> = collect("weights", floats.len(), iter::repeat_n(0, floats.len()))?;
    if !(0..=MAX_DECIMALS).any(|decimals| keep(&floats, decimals, &mut parts)) {
        let most = floats.iter().filter(|float| float.digits > 0).map(|float| float.magnitude()).max().unwrap_or(0);
        // The greatest weight gets 63 bits, so that 10^15 times any of them is below 2^128.
        for (part, float) in parts.iter_mut().zip(&floats) {
            *part = float.scaled(63 - most).into();
        }
        share_out(&mut parts);
        let lost = parts.iter().zip(&floats).position(|(&part, float)| part == 0 && float.digits > 0);
        if let Some(index) = lost {
            let allowed = "0, or at least 10^-15 of all weights together";
            return Err(Failure::out_of_range("weights", "a smaller number", allowed).at_index(index));
        }
        reduced(&mut parts);
    }
    collect("weights", parts.len(), parts.iter().map(|&part| part as u64))
}

/// Sets the parts to the numbers times 10^`decimals`, divided by their greatest common divisor. `false` if a number has
/// more decimals, or if the parts add up to more than 2^53 - 1.
fn keep(floats: &[Float], decimals: u32, parts: &mut [u128]) -> bool {
    for (part, float) in parts.iter_mut().zip(floats) {
        let Some(found) = float.decimal(decimals) else { return false };
        *part = found;
    }
    reduced(parts) <= MAX_EXACT.into()
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;
    use crate::document::weights::{Decimal, whole};

    #[test]
    fn decimals_keep_their_proportions() {
        for (weights, found) in [
            (&[0.7, 0.3][..], &[7, 3][..]),
            (&[0.5, 0.25], &[2, 1]),
            (&[0.7, 0.4, -0.0], &[7, 4, 0]),
            (&[1e-15, 0.1], &[1, 100_000_000_000_000]),
            (&[4.0, 6.0], &[2, 3]),
            (&[9_007_199_254_740_990.0, 1.0], &[9_007_199_254_740_990, 1]),
            (&[1e300], &[1]),
            (&[5e-324], &[1]),
            (&[0.0, 0.0], &[0, 0]),
            (&[], &[]),
        ] {
            assert_eq!(whole_weights(weights).unwrap(), found, "{weights:?}");
        }
    }

    #[test]
    fn others_are_rounded_to_a_fixed_sum() {
        let thirds = whole_weights(&[1.0 / 3.0, 2.0 / 3.0]).unwrap();
        assert_eq!(thirds, [333_333_333_333_333, 666_666_666_666_667]);
        // The sum of whole numbers is 2^53.
        let halves = whole_weights(&[9_007_199_254_740_991.0, 1.0]).err().unwrap();
        assert_eq!((halves.field, &*halves.value), ("weights", "a smaller number (at index 1)"));
        assert_eq!(whole_weights(&[1e300, 3e300]).unwrap(), [1, 3]);
        assert_eq!(whole_weights(&[5e-324, 1e-323]).unwrap(), [333_333_333_333_333, 666_666_666_666_667]);
        assert_eq!(whole_weights(&[1e300, 1e-300]).err().unwrap().value, "a smaller number (at index 1)");
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        let cases =
            [(-1.0, "a negative number"), (-5e-324, "a negative number"), (f64::NAN, "NaN"), (-f64::NAN, "NaN")];
        let infinite = [f64::INFINITY, f64::NEG_INFINITY].map(|weight| (weight, "an infinite number"));
        for (weight, words) in cases.into_iter().chain(infinite) {
            let failure = whole_weights(&[0.5, weight]).err().unwrap();
            assert_eq!((failure.field, &*failure.value), ("weights", &*format!("{words} (at index 1)")));
        }
    }

    proptest! {
        /// Floats of short decimals become what the decimals themselves become in a recipe.
        #[test]
        fn floats_are_read_as_decimals_are(digits in prop::collection::vec((0_u64..100_000, 0_i32..6), 1..9)) {
            let texts = digits.iter().map(|(digits, places)| format!("{digits}e-{places}")).collect::<Vec<_>>();
            let floats: Vec<f64> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let decimals: Vec<Decimal> = texts.iter().map(|text| Decimal::read(text).unwrap()).collect();
            prop_assert_eq!(whole_weights(&floats).unwrap(), whole("weights", &decimals).ok().unwrap());
        }

        /// The proportions of any floats are kept to 10^-15 of their sum.
        #[test]
        fn proportions_are_kept(weights in prop::collection::vec(0.001_f64..1_000.0, 1..40)) {
            let found = whole_weights(&weights).unwrap();
            let (all, sum) = (weights.iter().sum::<f64>(), found.iter().sum::<u64>());
            prop_assert!((1..=MAX_EXACT).contains(&sum));
            for (weight, own) in weights.iter().zip(&found) {
                prop_assert!((weight / all - *own as f64 / sum as f64).abs() < 2e-15, "{}", weight.to_string());
            }
        }
    }
}
