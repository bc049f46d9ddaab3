//! A sort with little code. `sort_unstable` of the library takes 6 kB of WebAssembly for every type, too much for short
//! lists.

/// Sorts by heapsort: O(n log n), in place, not stable. Three times slower than the library's for millions of items.
///
/// Source: J. W. J. Williams, "Algorithm 232: Heapsort", Communications of the ACM 7 (1964).
pub(crate) fn sort_short<T: Ord>(items: &mut [T]) {
    let sift = |items: &mut [T], mut root: usize| loop {
        let mut child = 2 * root + 1;
        if child >= items.len() {
            return;
        }
        if child + 1 < items.len() && items[child] < items[child + 1] {
            child += 1;
        }
        if items[root] >= items[child] {
            return;
        }
        items.swap(root, child);
        root = child;
    };
    for root in (0..items.len() / 2).rev() {
        sift(items, root);
    }
    for end in (1..items.len()).rev() {
        items.swap(0, end);
        sift(&mut items[..end], 0);
    }
}

#[cfg(test)]
mod tests {
    use super::sort_short;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts(mut items: Vec<(u8, u32)>) {
            let mut wanted = items.clone();
            wanted.sort_unstable();
            sort_short(&mut items);
            prop_assert_eq!(items, wanted);
        }
    }
}
