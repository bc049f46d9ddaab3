//! Sets of lengths: real ones, pseudorandom ones, and ones that are hard to batch.

use super::super::plans::sizes;

/// The number of words of each verse in the book of Ruth (King James Bible).
#[rustfmt::skip]
const RUTH: [u32; 85] = [
    42, 39, 13, 31, 21, 38, 32, 32, 30, 14, 28, 37, 39, 21, 25, 41, 29, 18, 34, 21, 32, 32, 23, 36, 35, 24, 16, 28,
    37, 28, 48, 36, 56, 26, 38, 43, 25, 24, 23, 36, 52, 46, 25, 30, 28, 25, 22, 35, 40, 14, 19, 37, 23, 27, 36, 30,
    19, 62, 33, 36, 28, 24, 31, 42, 21, 27, 61, 39, 27, 39, 16, 36, 52, 51, 28, 26, 28, 37, 16, 33, 10, 8, 8, 8, 8,
];

/// The longest length in any set.
pub const LONGEST: u32 = 64;

/// All sets, each with its name.
pub fn sets() -> Vec<(&'static str, Vec<u32>)> {
    vec![
        ("Ruth", RUTH.to_vec()),
        ("uniform", uniform(50, 3, 1, LONGEST)),
        ("a long tail", long_tail(70, 5)),
        ("more than half", vec![33; 19]),
        ("two to a third", [vec![31; 9], vec![21; 12], vec![20; 5]].concat()),
        ("equal", vec![16; 24]),
        ("fewer than ranks", vec![7, 50]),
        ("empty ones among others", vec![0, 9, 0, 0, 31, 60, 0, 2, 0, 17, 1]),
        ("empty ones", vec![0; 7]),
        ("one long", [uniform(12, 8, 1, 9), vec![LONGEST], uniform(12, 9, 1, 9)].concat()),
        ("one", vec![5]),
        ("none", vec![]),
    ]
}

/// Pseudorandom lengths from `least` to `most`.
pub fn uniform(count: usize, seed: u64, least: u32, most: u32) -> Vec<u32> {
    sizes(count, seed, u64::from(most - least) + 1).iter().map(|&size| size as u32 + least).collect()
}

/// Mostly short lengths and a few long ones. Each is a product of three pseudorandom numbers.
pub fn long_tail(count: usize, seed: u64) -> Vec<u32> {
    let factor = |of: u64| sizes(count, seed * 10 + of, 256);
    let (a, b, c) = (factor(0), factor(1), factor(2));
    (0..count).map(|at| ((a[at] * b[at] * c[at] * u64::from(LONGEST)) >> 24) as u32 + 1).collect()
}
