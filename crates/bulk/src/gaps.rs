//! Conversion of positions for an order that leaves out some positions of another order.

/// Adds to each place the count of numbers in an ascending list that are at most this place. Ascending places are the
/// fastest.
pub fn add_counts(ascending: &[u64], places: &mut [u64]) {
    let (mut count, mut last) = (0, u64::MAX);
    for place in places {
        if *place < last {
            count = ascending.partition_point(|number| number <= place);
        } else {
            count += passed(&ascending[count..], *place);
        }
        last = *place;
        *place += count as u64;
    }
}

/// The count of numbers that are at most `most`. Mostly, the count is 0, which is found without a search.
#[inline(always)]
fn passed(ascending: &[u64], most: u64) -> usize {
    match ascending.first() {
        Some(first) if *first <= most => searched(ascending, most),
        _ => 0,
    }
}

/// The count of numbers that are at most `most`, if the first number is. Steps double until a number is too large; then
/// a binary search finds the end. This is fast, because a place is seldom far from the place before. Source: Bentley
/// and Yao, An almost optimal algorithm for unbounded searching (1976).
fn searched(ascending: &[u64], most: u64) -> usize {
    let (mut low, mut step) = (1, 1);
    while ascending.get(low + step - 1).is_some_and(|number| *number <= most) {
        low += step;
        step *= 2;
    }
    let end = (low + step).min(ascending.len());
    low + ascending[low..end].partition_point(|number| *number <= most)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn counts_are_those_of_a_search() {
        for density in [0, 1, 2, 3, 50, 400] {
            // With repetitions, as they come from neighbouring positions that are left out.
            let list: Vec<u64> = (0..density).map(|at| at * at * 7 % 31 + at * 1_000 / density.max(1)).collect();
            let mut list = list;
            list.sort_unstable();
            for stride in [1, 2, 17, 300, 997] {
                let mut places: Vec<u64> = (0..200).map(|at| at * stride % 1_100).collect();
                let expected: Vec<u64> = places
                    .iter()
                    .map(|place| place + list.iter().filter(|number| *number <= place).count() as u64)
                    .collect();
                super::add_counts(&list, &mut places);
                assert_eq!(places, expected, "{density} {stride}");
            }
        }
    }
}
