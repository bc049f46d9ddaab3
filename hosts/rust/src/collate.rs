//! Turns sequences of different length into the arrays that a model takes: padded, or packed into shared rows. Tokens
//! may be of any type.
//!
//! ```
//! use samedeal::collate::{Padding, pack, pad};
//!
//! // The sequences 5 6 7, 8 and 9 9.
//! let (tokens, lengths) = ([5, 6, 7, 8, 9, 9], [3, 1, 2]);
//! let padded = pad(&tokens, &lengths, Padding::new(0).pad_to_multiple_of(4))?;
//! assert_eq!((padded.rows, padded.width), (3, 4));
//! assert_eq!(padded.values, [5, 6, 7, 0, 8, 0, 0, 0, 9, 9, 0, 0]);
//!
//! // Two rows: the first one holds two sequences.
//! let packed = pack(&tokens, &lengths, &[2, 3], 4, 0)?;
//! assert_eq!(packed.values, [5, 6, 7, 8, 9, 9, 0, 0]);
//! assert_eq!(packed.position_ids, [0, 1, 2, 0, 0, 1, 0, 0]);
//! assert_eq!(packed.cu_seqlens, [0, 3, 4, 6]);
//! # Ok::<(), samedeal::Error>(())
//! ```

use crate::engine::{Instance, MOST_MEMORY, check_room, collation};
use crate::named::names;
use crate::{Error, Failure};

/// The side of a row on which the padding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// After the sequence. The default.
    #[default]
    Right,
    /// Before the sequence.
    Left,
}
names!(Side, "side", { Right = "right", Left = "left" });

/// How rows are padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Padding<T> {
    value: T,
    side: Side,
    pad_to_multiple_of: u32,
    width: Option<u32>,
}

impl<T> Padding<T> {
    /// Padding with this value, on the right, up to the length of the longest sequence.
    pub fn new(value: T) -> Self {
        Self { value, side: Side::default(), pad_to_multiple_of: 1, width: None }
    }

    /// Sets the side of a row on which the padding is.
    pub fn side(mut self, side: Side) -> Self {
        self.side = side;
        self
    }

    /// Rounds the width up to a multiple of this number of cells. Range: from 1.
    pub fn pad_to_multiple_of(mut self, cells: u32) -> Self {
        self.pad_to_multiple_of = cells;
        self
    }

    /// Sets the width, for example to [`Batch::padded_length`](crate::Batch::padded_length). By default, rows are as wide
    /// as the longest sequence.
    pub fn width(mut self, cells: u32) -> Self {
        self.width = Some(cells);
        self
    }
}

/// The result of [`pad`]: a row for each sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Padded<T> {
    /// The number of rows, which is the number of sequences.
    pub rows: usize,
    /// Cells of a row.
    pub width: usize,
    /// The cells, row by row: `rows` * `width` values.
    pub values: Vec<T>,
    /// For every cell, whether it holds a token; false for padding.
    pub attention_mask: Vec<bool>,
}

/// The result of [`pack`]: rows that sequences share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Packed<T> {
    /// The number of rows.
    pub rows: usize,
    /// Cells of a row.
    pub width: usize,
    /// The cells, row by row: `rows` * `width` values.
    pub values: Vec<T>,
    /// For every cell, the position of its token in the sequence; 0 for padding.
    pub position_ids: Vec<u32>,
    /// For every cell, the number of its sequence in the row, from 1; 0 for padding.
    pub segment_ids: Vec<u32>,
    /// The first token of each sequence if all sequences are laid end to end without padding, and the end of the last
    /// one. Attention over sequences of different length takes this list.
    pub cu_seqlens: Vec<u32>,
    /// The length of the longest sequence.
    pub max_seqlen: u32,
}

/// Pads each sequence to a row. `values` has the tokens of all sequences end to end, and `lengths` the number of tokens
/// of each.
///
/// # Errors
///
/// [`Contradiction`](crate::FailureKind::Contradiction) (`lengths`: their sum is not the number of values), out of
/// range (`width` below the longest sequence, or above 2^32 - 1 when it is rounded up; `pad_to_multiple_of` is 0;
/// `lengths`: more than 2^26 cells or tokens), out of memory.
pub fn pad<T: Copy>(values: &[T], lengths: &[u32], padding: Padding<T>) -> Result<Padded<T>, Error> {
    let Padding { value, side, pad_to_multiple_of, width } = padding;
    let mut instance = instance(lengths, &[])?;
    let collation::Padded { width, token_indices } =
        collation::pad(&mut instance, lengths, width, pad_to_multiple_of, side.name())?;
    let attention_mask = token_indices.iter().map(|&source| source != NOWHERE).collect();
    let values = gathered(values, lengths, &token_indices, value)?;
    Ok(Padded { rows: lengths.len(), width: width as usize, values, attention_mask })
}

/// Packs sequences into rows of `width` cells, and returns the numbers that keep the sequences of a row apart in
/// attention. `values` has the tokens of all sequences end to end, `lengths` the number of tokens of each, and
/// `row_ends`, for each row, the number of sequences up to the end of the row. A [`Batch`](crate::Batch) has `lengths`,
/// `row_ends` and, as its `padded_length`, the width.
///
/// # Errors
///
/// [`Contradiction`](crate::FailureKind::Contradiction) (`lengths`: their sum is not the number of values; `row_ends`
/// that do not ascend to the number of sequences), out of range (`row_ends`: a row of more than `width` tokens;
/// `lengths`: more than 2^26 cells or tokens), out of memory.
pub fn pack<T: Copy>(
    values: &[T],
    lengths: &[u32],
    row_ends: &[u32],
    width: u32,
    padding: T,
) -> Result<Packed<T>, Error> {
    let mut instance = instance(lengths, row_ends)?;
    let cells = collation::pack(&mut instance, lengths, row_ends, width)?;
    let collation::Packed { token_indices, position_ids, segment_ids, cu_seqlens, max_seqlen } = cells;
    let values = gathered(values, lengths, &token_indices, padding)?;
    let (rows, width) = (row_ends.len(), width as usize);
    Ok(Packed { rows, width, values, position_ids, segment_ids, cu_seqlens, max_seqlen })
}

/// The index that the component gives to a cell of padding in place of the index of a token. No token has this index:
/// there are at most 2^26 tokens.
const NOWHERE: u32 = u32::MAX;

/// A new instance for each call, so that its memory is freed afterwards.
fn instance(lengths: &[u32], row_ends: &[u32]) -> Result<Instance, Error> {
    let bytes = size_of_val(lengths).saturating_add(size_of_val(row_ends));
    check_room(MOST_MEMORY, "lengths", lengths.len(), bytes)?;
    Instance::new(MOST_MEMORY)
}

/// The values of the cells. `token_indices` has, for each cell, the index of its token in `values`, or [`NOWHERE`] for
/// padding.
fn gathered<T: Copy>(values: &[T], lengths: &[u32], token_indices: &[u32], padding: T) -> Result<Vec<T>, Failure> {
    let tokens = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
    if tokens != values.len() as u64 {
        let allowed = format!("{} together, the number of values", values.len());
        return Err(Failure::contradiction("lengths", format!("{tokens} together"), allowed));
    }
    let mut cells = Vec::new();
    let room = cells.try_reserve_exact(token_indices.len());
    room.map_err(|_| Failure::out_of_memory("lengths", token_indices.len(), "fewer or smaller cells"))?;
    cells.extend(token_indices.iter().map(|&source| if source == NOWHERE { padding } else { values[source as usize] }));
    Ok(cells)
}
