//! Many positions of a network at once: the same computation as `Network::sample`, one round of all positions after the
//! other.
//!
//! A round of one position is a chain of multiplications, each of which waits for the one before. So a round is done
//! for all positions before the next round begins. Then a processor works on several chains at a time. Compilers keep
//! the order of memory accesses, not that of arithmetic, so the rows and columns between two rounds lie in memory.

use crate::network::Network;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use portable::{Four, advance_all, four, join, round, round_back};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128::{Four, advance_all, four, join, round, round_back};

/// Number of positions that are computed together: enough that the beginnings and ends of rounds do not matter, and few
/// enough to stay in a cache.
const LANES: usize = 128;
/// A round works on a multiple of this number of vectors, each of four numbers.
const GROUP: usize = 4;
/// Number of positions that take, one by one, about as long as a whole group.
const FEW: usize = 3;

impl Network {
    /// Writes the samples at positions `start`, `start + stride`, ...
    pub fn fill(&self, start: u64, stride: u64, out: &mut [u64]) {
        let mut run = Run::new(self, start, stride, out.len());
        for block in out.chunks_mut(LANES) {
            run.next(self, block);
        }
    }

    /// Writes the samples at positions `start`, `start + stride`, ... There are at most 2^32 samples in all.
    pub fn fill32(&self, start: u64, stride: u64, out: &mut [u32]) {
        let mut run = Run::new(self, start, stride, out.len());
        let mut samples = [0; LANES];
        for block in out.chunks_mut(LANES) {
            let samples = &mut samples[..block.len()];
            run.next(self, samples);
            block.iter_mut().zip(samples).for_each(|(place, sample)| *place = *sample as u32);
        }
    }

    /// Replaces each position by its sample.
    pub fn map(&self, places: &mut [u64]) {
        for block in places.chunks_mut(LANES) {
            if block.len() <= FEW {
                block.iter_mut().for_each(|place| *place = self.sample(*place));
                continue;
            }
            let mut cells = Cells::of(self, block);
            cells.send(self, block.len());
            cells.write(self, block, Self::sample);
        }
    }

    /// Replaces each sample by its position.
    pub fn map_back(&self, places: &mut [u64]) {
        for block in places.chunks_mut(LANES) {
            if block.len() <= FEW {
                block.iter_mut().for_each(|place| *place = self.position(*place));
                continue;
            }
            let mut cells = Cells::of(self, block);
            cells.send_back(self, block.len());
            cells.write(self, block, Self::position);
        }
    }
}

/// A run of positions at equal distances.
struct Run {
    cells: Cells,
    /// The distance from one block to the next, in rows and columns.
    step: (u32, u32),
}

impl Run {
    /// The run from `start` on, in steps of `stride`. Only the first `count` positions are set, at most one block.
    fn new(network: &Network, start: u64, stride: u64, count: usize) -> Self {
        let (mut at, step) = (network.split(start), network.split(stride));
        let cells = Cells::each(count.min(LANES), |_| {
            let cell = at;
            at = advance(network, at, step);
            cell
        });
        // The row of `step` may not fit into 32 bits. Then the run is shorter than a block, and `step` is never used.
        Self { cells, step: network.split(stride * LANES as u64) }
    }

    /// Writes the samples of the next positions: those of a block, or fewer at the end.
    fn next(&mut self, network: &Network, samples: &mut [u64]) {
        let mut cells = Cells { ..self.cells };
        cells.send(network, samples.len());
        cells.write(network, samples, Network::sample);
        if samples.len() == LANES {
            advance_all(network, &mut self.cells.rows, &mut self.cells.columns, self.step);
        }
    }
}

/// Cells of the grid.
struct Cells {
    rows: [Four; LANES / 4],
    columns: [Four; LANES / 4],
}

impl Cells {
    /// `count` cells, at most `LANES`: `cell` gives the row and the column of each.
    #[inline(always)]
    fn each(count: usize, mut cell: impl FnMut(usize) -> (u32, u32)) -> Self {
        let mut cells = Self { rows: [four([0; 4]); LANES / 4], columns: [four([0; 4]); LANES / 4] };
        let mut fours = cells.rows.iter_mut().zip(&mut cells.columns);
        for start in (0..count).step_by(4) {
            let (mut own_rows, mut own_columns) = ([0; 4], [0; 4]);
            let own = own_rows.iter_mut().zip(&mut own_columns).zip(start..count);
            own.for_each(|((row, column), at)| (*row, *column) = cell(at));
            if let Some((row, column)) = fours.next() {
                (*row, *column) = (four(own_rows), four(own_columns));
            }
        }
        cells
    }

    /// The cells of some positions, at most `LANES`.
    fn of(network: &Network, places: &[u64]) -> Self {
        let mut last = places.first().copied().unwrap_or_default();
        let mut at = network.split(last);
        // Most positions have the same distance from the position before. For these, an addition replaces the division.
        let distance = places.get(1).map_or(0, |second| second.wrapping_sub(last));
        let is_ahead = distance < network.samples;
        let step = if is_ahead { network.split(distance) } else { (0, 0) };
        Self::each(places.len(), |number| {
            let place = places[number];
            if place != last {
                let is_next = is_ahead && place.wrapping_sub(last) == distance;
                at = if is_next { advance(network, at, step) } else { network.split(place) };
                last = place;
            }
            at
        })
    }

    /// Replaces the first `count` cells by the cells that the rounds map them to.
    fn send(&mut self, network: &Network, count: usize) {
        let (rows, columns) = self.groups(count);
        for keys in network.keys.as_chunks::<2>().0 {
            round(rows, columns, keys[0], network.rows);
            round(columns, rows, keys[1], network.columns);
        }
    }

    /// Replaces the first `count` cells by the cells that the rounds map to them.
    fn send_back(&mut self, network: &Network, count: usize) {
        let (rows, columns) = self.groups(count);
        for keys in network.keys.as_chunks::<2>().0.iter().rev() {
            round_back(columns, rows, keys[1], network.columns);
            round_back(rows, columns, keys[0], network.rows);
        }
    }

    /// Whole groups that have the first `count` rows and columns.
    fn groups(&mut self, count: usize) -> (&mut [Four], &mut [Four]) {
        let count = count.div_ceil(4).next_multiple_of(GROUP);
        (&mut self.rows[..count], &mut self.columns[..count])
    }

    /// Writes the numbers of these cells. A number that is no sample is replaced by its result of `again`.
    fn write(&self, network: &Network, places: &mut [u64], again: fn(&Network, u64) -> u64) {
        if join(network, &self.rows, &self.columns, places) {
            // This is rare: at most about one in sqrt(`samples`) cells.
            for place in places.iter_mut().filter(|place| **place >= network.samples) {
                *place = again(network, *place);
            }
        }
    }
}

/// The cell `step` cells after `at`. Cells past the end of the run may leave the grid; their values are not used.
#[inline(always)]
fn advance(network: &Network, at: (u32, u32), step: (u32, u32)) -> (u32, u32) {
    let sum = at.1 + step.1;
    let carry = u32::from(sum >= network.columns);
    (at.0.wrapping_add(step.0).wrapping_add(carry), sum - carry * network.columns)
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod portable {
    use super::advance;
    use crate::network::{Network, add, mix};

    /// Four numbers.
    pub(super) type Four = [u32; 4];

    pub(super) fn four(numbers: [u32; 4]) -> Four {
        numbers
    }

    /// Adds to each number of `changed` the mix of the number of `others` in the same place.
    pub(super) fn round(changed: &mut [Four], others: &[Four], keys: [u32; 2], modulus: u32) {
        for (changed, &other) in changed.as_flattened_mut().iter_mut().zip(others.as_flattened()) {
            *changed = add(*changed, mix(other, keys, modulus), modulus);
        }
    }

    /// Reverts `round`.
    pub(super) fn round_back(changed: &mut [Four], others: &[Four], keys: [u32; 2], modulus: u32) {
        for (changed, &other) in changed.as_flattened_mut().iter_mut().zip(others.as_flattened()) {
            *changed = add(*changed, modulus - mix(other, keys, modulus), modulus);
        }
    }

    /// Moves all cells on by `step`.
    pub(super) fn advance_all(network: &Network, rows: &mut [Four], columns: &mut [Four], step: (u32, u32)) {
        for (row, column) in rows.as_flattened_mut().iter_mut().zip(columns.as_flattened_mut()) {
            (*row, *column) = advance(network, (*row, *column), step);
        }
    }

    /// Writes the number of each cell. Returns whether one of them is no sample.
    pub(super) fn join(network: &Network, rows: &[Four], columns: &[Four], cells: &mut [u64]) -> bool {
        let mut beyond = false;
        for ((cell, &row), &column) in cells.iter_mut().zip(rows.as_flattened()).zip(columns.as_flattened()) {
            *cell = network.join(row, column);
            beyond |= *cell >= network.samples;
        }
        beyond
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use core::arch::wasm32::*;
    use core::hint::black_box;

    use super::GROUP;
    use crate::network::{MULTIPLIERS, Network};

    /// Four numbers of 32 bits.
    pub(super) type Four = v128;

    pub(super) fn four(numbers: [u32; 4]) -> Four {
        u32x4(numbers[0], numbers[1], numbers[2], numbers[3])
    }

    /// `super::portable::round`, four numbers at a time.
    #[inline(never)]
    pub(super) fn round(changed: &mut [Four], others: &[Four], keys: [u32; 2], modulus: u32) {
        let modulus = u32x4_splat(modulus);
        for (changed, others) in groups(changed, others) {
            let bound = hidden(modulus);
            for (changed, other) in changed.iter_mut().zip(others) {
                *changed = add(*changed, mix(*other, keys, bound), modulus);
            }
        }
    }

    /// `super::portable::round_back`, four numbers at a time.
    #[inline(never)]
    pub(super) fn round_back(changed: &mut [Four], others: &[Four], keys: [u32; 2], modulus: u32) {
        let modulus = u32x4_splat(modulus);
        for (changed, others) in groups(changed, others) {
            let bound = hidden(modulus);
            for (changed, other) in changed.iter_mut().zip(others) {
                *changed = add(*changed, i32x4_sub(modulus, mix(*other, keys, bound)), modulus);
            }
        }
    }

    /// `super::portable::advance_all`, four cells at a time.
    #[inline(never)]
    pub(super) fn advance_all(network: &Network, rows: &mut [Four], columns: &mut [Four], step: (u32, u32)) {
        let (width, rows_more, columns_more) = (u32x4_splat(network.columns), u32x4_splat(step.0), u32x4_splat(step.1));
        for (row, column) in rows.iter_mut().zip(columns) {
            let sum = i32x4_add(*column, columns_more);
            // All ones, that is -1, where the sum is past the last column.
            let carry = u32x4_ge(sum, width);
            *column = u32x4_min(sum, i32x4_sub(sum, width));
            *row = i32x4_sub(i32x4_add(*row, rows_more), carry);
        }
    }

    /// `super::portable::join`, four cells at a time.
    #[inline(never)]
    pub(super) fn join(network: &Network, rows: &[Four], columns: &[Four], cells: &mut [u64]) -> bool {
        let (width, samples) = (u32x4_splat(network.columns), i64x2_splat(network.samples as i64));
        let mut beyond = i64x2_splat(0);
        let mut fours = rows.iter().zip(columns).map(|(&row, &column)| {
            let width = hidden(width);
            let low = i64x2_add(u64x2_extmul_low_u32x4(row, width), u64x2_extend_low_u32x4(column));
            let high = i64x2_add(u64x2_extmul_high_u32x4(row, width), u64x2_extend_high_u32x4(column));
            (low, high)
        });
        let (whole, rest) = cells.as_chunks_mut::<4>();
        for (cells, (low, high)) in whole.iter_mut().zip(&mut fours) {
            beyond = v128_or(beyond, v128_or(i64x2_ge(low, samples), i64x2_ge(high, samples)));
            *cells = unpacked(low, high);
        }
        let mut is_beyond = v128_any_true(beyond);
        if let Some((low, high)) = fours.next() {
            for (cell, number) in rest.iter_mut().zip(unpacked(low, high)) {
                *cell = number;
                is_beyond |= number >= network.samples;
            }
        }
        is_beyond
    }

    #[inline(always)]
    fn unpacked(low: v128, high: v128) -> [u64; 4] {
        [
            u64x2_extract_lane::<0>(low),
            u64x2_extract_lane::<1>(low),
            u64x2_extract_lane::<0>(high),
            u64x2_extract_lane::<1>(high),
        ]
    }

    /// Both lists in pieces of `GROUP` elements. `hidden` is called once for each piece.
    fn groups<'a>(
        changed: &'a mut [Four],
        others: &'a [Four],
    ) -> impl Iterator<Item = (&'a mut [Four; GROUP], &'a [Four; GROUP])> {
        changed.as_chunks_mut().0.iter_mut().zip(others.as_chunks().0)
    }

    /// The factor, hidden from the compiler. If the compiler saw that the factor stays the same in a loop, the compiler
    /// would widen the factor to 64 bits before the loop. Each product of two 32-bit numbers would then be computed as
    /// a product of two 64-bit numbers, which takes three times as long.
    #[inline(always)]
    fn hidden(factor: v128) -> v128 {
        black_box(factor)
    }

    /// `crate::network::mix`, four at a time.
    #[inline(always)]
    fn mix(x: v128, key: [u32; 2], bound: v128) -> v128 {
        let hash = i32x4_mul(v128_xor(x, u32x4_splat(key[0])), u32x4_splat(MULTIPLIERS[0]));
        let hash = v128_xor(hash, u32x4_shr(hash, 16));
        let hash = i32x4_mul(i32x4_add(hash, u32x4_splat(key[1])), u32x4_splat(MULTIPLIERS[1]));
        let low = u64x2_extmul_low_u32x4(hash, bound);
        let high = u64x2_extmul_high_u32x4(hash, bound);
        i32x4_shuffle::<1, 3, 5, 7>(low, high)
    }

    /// `crate::network::add`, four at a time.
    #[inline(always)]
    fn add(x: v128, y: v128, modulus: v128) -> v128 {
        let sum = i32x4_add(x, y);
        u32x4_min(sum, i32x4_sub(sum, modulus))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::{FEW, GROUP, LANES};
    use crate::Network;

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let keys = core::array::from_fn(|round| [0x9e37_79b9 << round, 0xd134_2543 >> round]);
        for samples in [257, 1_000, 65_536, 65_537, 1 << 32, (1 << 53) - 1] {
            let network = Network::new(samples, keys);
            let one = |position: &u64| network.sample(*position);
            for count in [0, 1, FEW, FEW + 1, 4 * GROUP - 1, 4 * GROUP + 1, LANES, 2 * LANES + 3] {
                for (start, stride) in [(0, 1), (7, 3), (samples - 1, 0), (1, samples / 700 + 1)] {
                    let run = (0..count as u64).map(|at| start + at * stride).filter(|&position| position < samples);
                    let run: Vec<u64> = run.collect();
                    let expected: Vec<u64> = run.iter().map(one).collect();
                    let mut found = std::vec![0; run.len()];
                    network.fill(start, stride, &mut found);
                    assert_eq!(found, expected);
                    if samples <= 1 << 32 {
                        let mut narrow = std::vec![0; run.len()];
                        network.fill32(start, stride, &mut narrow);
                        assert_eq!(narrow.into_iter().map(u64::from).collect::<Vec<_>>(), expected);
                    }
                    network.map_back(&mut found);
                    assert_eq!(found, run);
                    network.map(&mut found);
                    assert_eq!(found, expected);
                }
                // No two neighbours at the same distance, with jumps back and repetitions.
                let mixed: Vec<u64> = (0..count as u64).map(|at| (at * at * 31 + at % 5 * 8) % samples).collect();
                let mut found = mixed.clone();
                network.map(&mut found);
                assert_eq!(found, mixed.iter().map(one).collect::<Vec<_>>());
                network.map_back(&mut found);
                assert_eq!(found, mixed);
            }
        }
    }
}
