//! Collation: sequences laid end to end become an array that a model takes. The results say which token each cell of
//! the array gets.

use alloc::format;
use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::failure::{at_least, at_most, range};
use crate::base::memory::collect;
use crate::base::names::named;

/// The side of a row on which the padding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// After the sequence.
    Right,
    /// Before the sequence.
    Left,
}

const SIDES: [(&str, Side); 2] = [("right", Side::Right), ("left", Side::Left)];

impl Side {
    /// The side with this name. Failures: `side`.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        named("side", Some(name), &SIDES)
    }
}

/// The number in [`Padded::token_indices`] and [`Packed::token_indices`] for a cell that is padding.
pub const PADDING: u32 = u32::MAX;

/// The most cells of an array.
pub(crate) const MAX_CELLS: u64 = 1 << 26;

/// Rows of equal width, one for each sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padded {
    /// The number of cells of a row.
    pub width: u32,
    /// For every cell, row by row, its source: the number of its token, counted over all sequences. [`PADDING`] if the
    /// cell is padding.
    pub token_indices: Vec<u32>,
}

/// Rows of equal width that several sequences share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// For every cell, its source, as in [`Padded`].
    pub token_indices: Vec<u32>,
    /// For every cell, its place in its sequence, from 0; 0 if the cell is padding.
    pub position_ids: Vec<u32>,
    /// For every cell, the number of its sequence in its row, from 1; 0 if the cell is padding.
    pub segment_ids: Vec<u32>,
    /// Where each sequence begins if all are laid end to end without padding, and where the last one ends.
    pub cu_seqlens: Vec<u32>,
    /// The length of the longest sequence.
    pub max_seqlen: u32,
}

/// Makes a row for each sequence. The width of the rows is `width` (by default, the length of the longest sequence),
/// rounded up to a multiple of `pad_to_multiple_of`. Failures: `width` (narrower than a sequence),
/// `pad_to_multiple_of`, `lengths` (too many cells), `out-of-memory`.
pub fn pad(lengths: &[u32], width: Option<u32>, pad_to_multiple_of: u32, side: Side) -> Result<Padded, Failure> {
    let longest = lengths.iter().copied().max().unwrap_or(0);
    if pad_to_multiple_of == 0 {
        return Err(Failure::out_of_range("pad_to_multiple_of", 0, range(1, u32::MAX)));
    }
    let width = width.unwrap_or(longest);
    if width < longest {
        return Err(Failure::out_of_range("width", width, at_least(longest).and(", the longest sequence")));
    }
    let wide = u64::from(width).next_multiple_of(pad_to_multiple_of.into());
    if wide > u32::MAX.into() {
        let most = u32::MAX - u32::MAX % pad_to_multiple_of;
        let rounded = format!(", since rows are rounded up to a multiple of {pad_to_multiple_of}");
        let allowed = if longest > most {
            format!("no sequence above {most}{rounded}").into()
        } else {
            range(0, most).and(rounded)
        };
        return Err(Failure::out_of_range("width", width, allowed));
    }
    let cells = check_cells(lengths, lengths.len() as u64, wide)?;
    let wide = wide as u32;
    let mut token_indices = collect("lengths", cells, [])?;
    let mut at = 0;
    for &length in lengths {
        let padding = core::iter::repeat_n(PADDING, (wide - length) as usize);
        if side == Side::Left {
            token_indices.extend(padding.clone());
        }
        token_indices.extend(at..at + length);
        if side == Side::Right {
            token_indices.extend(padding);
        }
        at += length;
    }
    Ok(Padded { width: wide, token_indices })
}

/// Makes rows of `width` cells that several sequences share, one after the other. `row_ends` has, for each row, the
/// number of sequences up to its end. Failures: `row_ends` (not ascending to the number of sequences; a row with more
/// than `width` tokens), `lengths`, `out-of-memory`.
pub fn pack(lengths: &[u32], row_ends: &[u32], width: u32) -> Result<Packed, Failure> {
    if !row_ends.is_sorted() || row_ends.last().copied().unwrap_or(0) as usize != lengths.len() {
        let value = format!("{} numbers", row_ends.len());
        return Err(Failure::contradiction("row_ends", value, format!("ascending to {}", lengths.len())));
    }
    let cells = check_cells(lengths, row_ends.len() as u64, width.into())?;
    let mut packed = Packed {
        token_indices: collect("lengths", cells, [])?,
        position_ids: collect("lengths", cells, [])?,
        segment_ids: collect("lengths", cells, [])?,
        cu_seqlens: collect("lengths", lengths.len() + 1, [0])?,
        max_seqlen: lengths.iter().copied().max().unwrap_or(0),
    };
    let (mut first, mut at) = (0, 0);
    for (row, &end) in row_ends.iter().enumerate() {
        let held = &lengths[first as usize..end as usize];
        let tokens: u64 = held.iter().map(|&length| u64::from(length)).sum();
        let Some(padding) = u64::from(width).checked_sub(tokens) else {
            let value = format!("{tokens} tokens in row {row}");
            return Err(Failure::out_of_range("row_ends", value, at_most(width).and(", the width")));
        };
        for (segment, &length) in (1..).zip(held) {
            packed.token_indices.extend(at..at + length);
            packed.position_ids.extend(0..length);
            packed.segment_ids.extend(core::iter::repeat_n(segment, length as usize));
            at += length;
            packed.cu_seqlens.push(at);
        }
        packed.token_indices.extend(core::iter::repeat_n(PADDING, padding as usize));
        packed.position_ids.extend(core::iter::repeat_n(0, padding as usize));
        packed.segment_ids.extend(core::iter::repeat_n(0, padding as usize));
        first = end;
    }
    Ok(packed)
}

fn check_cells(lengths: &[u32], rows: u64, width: u64) -> Result<usize, Failure> {
    let cells = rows.saturating_mul(width);
    let tokens: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    if cells.max(tokens) > MAX_CELLS {
        return Err(Failure::out_of_range("lengths", format!("{} cells", cells.max(tokens)), at_most(MAX_CELLS)));
    }
    Ok(cells as usize)
}
