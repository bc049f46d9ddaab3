//! Padding and packing: the sequence and the token that each cell of an array comes from.

use matrix::format::{Call, Case, Subject};

use super::asked;

/// The largest number of cells of an array.
const MAX_CELLS: u32 = 1 << 26;

pub fn cases() -> Vec<Case> {
    let functions = |name: &str, calls: Vec<Call>| asked(name, Subject::Functions {}, calls);
    vec![functions("padding", pads()), functions("packing", packs()), functions("arrays too large", large())]
}

fn pads() -> Vec<Call> {
    let mut calls = Vec::new();
    for lengths in [&[3, 1, 4, 0, 2][..], &[5], &[0, 0], &[]] {
        for (width, multiple) in [
            (None, 1),
            (None, 4),
            (Some(6), 1),
            (Some(6), 4),
            (Some(4), 1),
            (Some(3), 1),
            (Some(3), 0),
            (Some(0), 1),
            (None, 0),
            (None, 100),
        ] {
            for side in ["right", "left"] {
                calls.push(pad(lengths, width, multiple, side));
            }
        }
    }
    // The name of the side is checked before the numbers.
    calls.extend(["", "Right", "both"].map(|side| pad(&[3, 1], Some(2), 0, side)));
    calls
}

fn packs() -> Vec<Call> {
    let mut calls = Vec::new();
    for (lengths, row_ends) in [
        (&[3, 1, 4, 0, 2][..], &[2, 5][..]),
        (&[3, 1, 4, 0, 2], &[1, 2, 3, 4, 5]),
        (&[3, 1, 4, 0, 2], &[0, 2, 2, 5, 5]),
        (&[0, 0], &[2]),
        (&[], &[]),
        (&[], &[0, 0]),
        // Row ends that do not ascend, or do not end at the number of sequences.
        (&[3, 1], &[]),
        (&[3, 1], &[1]),
        (&[3, 1], &[3]),
        (&[3, 1], &[2, 1]),
        (&[3, 1], &[2, 1, 2]),
        (&[], &[1]),
    ] {
        for width in [6, 8, 3, 0] {
            calls.push(pack(lengths, row_ends, width));
        }
    }
    calls
}

/// Arrays that are too large, and the largest one. Too large arrays are refused before memory is allocated.
fn large() -> Vec<Call> {
    vec![
        pad(&[MAX_CELLS + 1], None, 1, "right"),
        pad(&[MAX_CELLS / 2 + 1, 1], None, 1, "left"),
        pad(&[1], None, MAX_CELLS + 1, "right"),
        pad(&[1], Some(u32::MAX), u32::MAX, "right"),
        pad(&[1], Some(u32::MAX), 2, "right"),
        pad(&[u32::MAX; 3], None, u32::MAX, "right"),
        pad(&[1], Some(u32::MAX), 1, "left"),
        pack(&[MAX_CELLS + 1], &[1], MAX_CELLS + 1),
        pack(&[1], &[1], u32::MAX),
        pack(&[u32::MAX; 2], &[1, 2], 4),
        pack(&[u32::MAX; 2], &[2, 1], u32::MAX),
        pad(&[2], None, 1, "right"),
        // The row would have as many cells as are allowed, but its width is only 4.
        pack(&[MAX_CELLS], &[1], 4),
    ]
}

fn pad(lengths: &[u32], width: Option<u32>, multiple: u32, side: &str) -> Call {
    Call::Pad { lengths: lengths.to_vec(), width, pad_to_multiple_of: multiple, side: side.into() }
}

fn pack(lengths: &[u32], row_ends: &[u32], width: u32) -> Call {
    Call::Pack { lengths: lengths.to_vec(), row_ends: row_ends.to_vec(), width }
}
