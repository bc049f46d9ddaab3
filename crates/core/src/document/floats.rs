//! Weights that are numbers of 64-bit floating point become whole numbers in the same proportions. No floating-point
//! arithmetic is used, so that every host and every machine gets the same numbers. SPEC.md, section 14.

use alloc::vec::Vec;
use core::iter;

use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT, gcd};

/// The most digits after the decimal point of a weight that keeps its proportion exactly.
const MAX_DECIMALS: u32 = 15;
/// The most that decimals add up to, times their power of ten. Up to it, a decimal number is the only one with so many
/// digits that has its float.
const MAX_DIGITS: u64 = (1 << 52) - 1;

/// A number that is not negative: `significand`, at most 53 bits, times a power of two.
#[derive(Clone, Copy)]
struct Float {
    significand: u64,
    exponent: i32,
}

impl Float {
    /// The number with these bits. Failure: the words for a value that is no weight.
    fn read(bits: u64) -> Result<Self, &'static str> {
        let (significand, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        match (exponent, significand) {
            (0x7ff, 0) => Err("an infinite number"),
            (0x7ff, _) => Err("NaN"),
            (0, 0) => Ok(Self { significand: 0, exponent: 0 }),
            _ if bits >> 63 == 1 => Err("a negative number"),
            (0, _) => Ok(Self { significand, exponent: -1074 }),
            _ => Ok(Self { significand: significand | 1 << 52, exponent: exponent - 1075 }),
        }
    }

    /// The whole number nearest to the float times 10^`decimals`. None if the two are half a unit in the last place of
    /// the float, times 10^`decimals`, or more apart: then no decimal number with so many digits has this float. None above
    /// [`MAX_DIGITS`] too.
    fn decimal(self, decimals: u32) -> Option<u64> {
        let power = 10_u128.pow(decimals);
        // Below 2^103. Divided by more than 2^104, it would be rounded to 0.
        let wide = u128::from(self.significand) * power;
        let shift = u32::try_from(-self.exponent).ok().filter(|&shift| shift <= 104)?;
        let found = (wide + (1_u128 << shift >> 1)) >> shift;
        let off = (found << shift).abs_diff(wide);
        u64::try_from(found).ok().filter(|&found| 2 * off < power && found <= MAX_DIGITS)
    }

    /// The exponent of the least power of two above the number.
    fn magnitude(self) -> i32 {
        self.exponent + (u64::BITS - self.significand.leading_zeros()) as i32
    }

    /// The number times a power of two, rounded down. It has to be below 2^64.
    fn scaled(self, power: i32) -> u64 {
        let shift = self.exponent + power;
        match u32::try_from(shift) {
            Ok(shift) => self.significand.unbounded_shl(shift),
            Err(_) => self.significand.unbounded_shr(shift.unsigned_abs()),
        }
    }
}

/// Whole numbers in the proportions of weights, which are given as their bits: 7 and 3 for 0.7 and 0.3. Decimals with
/// at most 15 digits after the point keep their proportions exactly, if they add up to less than 2^52 without the point
/// (0.7 and 0.25 are 70 and 25). So do whole numbers with a sum of at most 2^53 - 1. Others are rounded to about 2^-53 of
/// their sum. Failures: `weights`, if one is negative, infinite or NaN, or is above 0 and
/// would become 0; `out-of-memory`.
pub fn whole_weights(bits: &[u64]) -> Result<Vec<u64>, Failure> {
    let refused = |index, value: &'static str, allowed: &'static str| {
        Err(Failure::out_of_range("weights", value, allowed).at_index(index))
    };
    for (index, &bits) in bits.iter().enumerate() {
        if let Err(words) = Float::read(bits) {
            return refused(index, words, "finite numbers from 0 on");
        }
    }
    let floats = || bits.iter().filter_map(|&bits| Float::read(bits).ok());
    let mut parts = collect("weights", bits.len(), iter::repeat_n(0, bits.len()))?;
    let mut keep = |decimals| {
        let mut sum = 0;
        parts.iter_mut().zip(floats()).all(|(part, float)| {
            *part = float.decimal(decimals).unwrap_or(MAX_DIGITS + 1);
            sum += *part;
            sum <= MAX_DIGITS
        })
    };
    if !(0..=MAX_DECIMALS).any(&mut keep) {
        // The largest weight gets 63 bits.
        let power = 63 - floats().filter(|float| float.significand > 0).map(Float::magnitude).max().unwrap_or(0);
        let sum = floats().map(|float| u128::from(float.scaled(power))).sum::<u128>();
        let mut shift = (u128::BITS - sum.leading_zeros()).saturating_sub(54);
        loop {
            let half = 1_u64 << shift >> 1;
            let mut sum = 0_u64;
            for (part, float) in parts.iter_mut().zip(floats()) {
                *part = (float.scaled(power) + half) >> shift;
                sum = sum.saturating_add(*part);
            }
            if sum <= MAX_EXACT {
                break;
            }
            shift += 1;
        }
        if let Some(index) = parts.iter().zip(floats()).position(|(&part, float)| part == 0 && float.significand > 0) {
            return refused(index, "a number that would become 0", "0, or at least 2^-52 of all weights together");
        }
    }
    let divisor = parts.iter().fold(0, |divisor, &part| gcd(divisor, part));
    if divisor > 1 {
        parts.iter_mut().for_each(|part| *part /= divisor);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;
    use crate::document::weights::{Decimal, whole};

    fn of(weights: &[f64]) -> Result<Vec<u64>, Failure> {
        whole_weights(&weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>())
    }

    #[test]
    fn decimals_keep_their_proportions() {
        for (weights, found) in [
            (&[0.7, 0.3][..], &[7, 3][..]),
            (&[0.5, 0.25], &[2, 1]),
            (&[0.7, 0.4, -0.0], &[7, 4, 0]),
            (&[1e-15, 0.1], &[1, 100_000_000_000_000]),
            (&[4.0, 6.0], &[2, 3]),
            (&[9_007_199_254_740_990.0, 1.0], &[9_007_199_254_740_990, 1]),
            (&[4.5, 1e-15], &[4_500_000_000_000_000, 1]),
            (&[1e300], &[1]),
            (&[5e-324], &[1]),
            (&[0.0, 0.0], &[0, 0]),
            (&[], &[]),
        ] {
            assert_eq!(of(weights).unwrap(), found, "{weights:?}");
        }
    }

    #[test]
    fn others_are_rounded() {
        let thirds = of(&[1.0 / 3.0, 2.0 / 3.0]).unwrap();
        assert_eq!(thirds, [1_501_199_875_790_165, 3_002_399_751_580_331]);
        assert_eq!(of(&[1e300, 3e300]).unwrap().len(), 2);
        // The sum of whole numbers is 2^53.
        assert_eq!(of(&[9_007_199_254_740_991.0, 1.0]).unwrap(), [4_503_599_627_370_496, 1]);
        assert_eq!(of(&[5e-324, 1e-323]).unwrap(), [1, 2]);
        assert_eq!(of(&[1e300, 1e-300]).err().unwrap().value, "a number that would become 0 (at index 1)");
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        let cases =
            [(-1.0, "a negative number"), (-5e-324, "a negative number"), (f64::NAN, "NaN"), (-f64::NAN, "NaN")];
        let infinite = [f64::INFINITY, f64::NEG_INFINITY].map(|weight| (weight, "an infinite number"));
        for (weight, words) in cases.into_iter().chain(infinite) {
            let failure = of(&[0.5, weight]).err().unwrap();
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
            prop_assert_eq!(of(&floats).unwrap(), whole("weights", &decimals).ok().unwrap());
        }

        /// The proportions of any floats are kept to 2^-52 of their sum.
        #[test]
        fn proportions_are_kept(weights in prop::collection::vec(0.001_f64..1_000.0, 1..40)) {
            let found = of(&weights).unwrap();
            let (all, sum) = (weights.iter().sum::<f64>(), found.iter().sum::<u64>());
            prop_assert!((1..=MAX_EXACT).contains(&sum));
            for (weight, own) in weights.iter().zip(&found) {
                prop_assert!((weight / all - *own as f64 / sum as f64).abs() < 1e-15, "{}", weight.to_string());
            }
        }
    }
}
