//! Ratios as integers, so that every host shows the same number.

use super::MAX_EXACT;

/// A ratio in parts per million, rounded to the nearest integer (a half upwards), at most 2^53 - 1. `numerator` is
/// below 2^106. `denominator` is not 0; `None` stands for a denominator of 2^128 or more.
pub(crate) fn millionths(numerator: u128, denominator: Option<u128>) -> u64 {
    // Any numerator divided by 2^127 or more is less than half of a millionth.
    let Some(denominator) = denominator.filter(|&denominator| denominator < 1 << 127) else { return 0 };
    let rounded = (2_000_000 * numerator + denominator) / (2 * denominator);
    u64::try_from(rounded).map_or(MAX_EXACT, |ratio| ratio.min(MAX_EXACT))
}

#[cfg(test)]
mod tests {
    use super::millionths;
    use crate::base::MAX_EXACT;

    #[test]
    fn to_the_nearest_and_up_between_two() {
        assert_eq!(millionths(1, Some(3)), 333_333);
        assert_eq!(millionths(2, Some(3)), 666_667);
        assert_eq!(millionths(1, Some(2_000_000)), 1);
        assert_eq!(millionths(1, Some(2_000_001)), 0);
        assert_eq!(millionths(3, Some(2_000_000)), 2);
        assert_eq!(millionths(0, Some(7)), 0);
        assert_eq!(millionths(7, Some(7)), 1_000_000);
    }

    #[test]
    fn no_numbers_are_too_large() {
        assert_eq!(millionths((1 << 106) - 1, Some(1)), MAX_EXACT);
        assert_eq!(millionths((1 << 106) - 1, Some(u128::MAX)), 0);
        assert_eq!(millionths((1 << 106) - 1, None), 0);
        assert_eq!(millionths(1 << 105, Some((1 << 127) - 1)), 0);
        assert_eq!(millionths(u128::from(MAX_EXACT), Some(1_000_000)), MAX_EXACT);
    }
}
