//! Many positions of a network at once. The same computation as `Network::sample`, several lanes wide: on WebAssembly
//! with its vector instructions, elsewhere in arrays that the compiler vectorises as far as the target allows.

use super::network::Network;
use crate::order::Index;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use portable::{LANES, Lanes};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128::{LANES, Lanes};

/// The samples at `start`, `start + stride`, ...
pub(super) fn fill<T: Index>(network: &Network, start: u64, stride: u64, out: &mut [T]) {
    // The lanes stand at neighbouring positions of the run; rows and columns are counted up, without a division.
    let mut rows = [0; LANES];
    let mut columns = [0; LANES];
    let mut at = network.split(start);
    let step = network.split(stride);
    for lane in 0..LANES {
        (rows[lane], columns[lane]) = at;
        at = advance(network, at, step);
    }
    // From one block to the next. Where the run is shorter than a block, this is never used, and may be cut off.
    let step = network.split(stride * LANES as u64);
    let mut lanes = Lanes::new(&rows, &columns);
    for block in out.chunks_mut(LANES) {
        write(network, &lanes, block);
        lanes.step(network, step);
    }
}

/// Writes the sample of each of these positions in its place.
#[inline(never)]
pub(super) fn map(network: &Network, places: &mut [u64]) {
    for block in places.chunks_mut(LANES) {
        if block.len() < FEW {
            block.iter_mut().for_each(|place| *place = network.sample(*place));
            continue;
        }
        let (mut rows, mut columns) = ([0; LANES], [0; LANES]);
        for ((place, row), column) in block.iter().zip(&mut rows).zip(&mut columns) {
            (*row, *column) = network.split(*place);
        }
        write(network, &Lanes::new(&rows, &columns), block);
    }
}

/// All lanes together take about as long as so many positions one by one.
const FEW: usize = 3;

/// The samples that the lanes stand at.
fn write<T: Index>(network: &Network, lanes: &Lanes, block: &mut [T]) {
    let cells = lanes.cells(network);
    for (place, &cell) in block.iter_mut().zip(&cells) {
        *place = T::from_u64(if cell < network.samples { cell } else { network.sample(cell) });
    }
}

/// The cell `step` cells after `at`. Lanes past the end of the run may leave the grid; their values are not used.
fn advance(network: &Network, at: (u32, u32), step: (u32, u32)) -> (u32, u32) {
    let sum = at.1 + step.1;
    let carry = u32::from(sum >= network.columns);
    (at.0.wrapping_add(step.0).wrapping_add(carry), sum - carry * network.columns)
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod portable {
    use super::super::network::{Network, add, mix};
    use super::advance;

    pub(super) const LANES: usize = 8;

    pub(super) struct Lanes {
        rows: [u32; LANES],
        columns: [u32; LANES],
    }

    impl Lanes {
        pub(super) fn new(rows: &[u32; LANES], columns: &[u32; LANES]) -> Self {
            Self { rows: *rows, columns: *columns }
        }

        /// The cells that their positions are sent to.
        pub(super) fn cells(&self, network: &Network) -> [u64; LANES] {
            let (mut rows, mut columns) = (self.rows, self.columns);
            for keys in network.keys.as_chunks::<2>().0 {
                for (row, column) in rows.iter_mut().zip(&columns) {
                    *row = add(*row, mix(*column, keys[0], network.rows), network.rows);
                }
                for (row, column) in rows.iter().zip(&mut columns) {
                    *column = add(*column, mix(*row, keys[1], network.columns), network.columns);
                }
            }
            core::array::from_fn(|lane| network.join(rows[lane], columns[lane]))
        }

        /// On to cells so many after these.
        pub(super) fn step(&mut self, network: &Network, step: (u32, u32)) {
            for (row, column) in self.rows.iter_mut().zip(&mut self.columns) {
                (*row, *column) = advance(network, (*row, *column), step);
            }
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use super::super::network::{MULTIPLIERS, Network};
    use core::arch::wasm32::*;

    /// Enough independent vectors to keep a processor busy while a multiplication is under way.
    const VECTORS: usize = 8;
    pub(super) const LANES: usize = 4 * VECTORS;

    pub(super) struct Lanes {
        rows: [v128; VECTORS],
        columns: [v128; VECTORS],
    }

    impl Lanes {
        #[inline(always)]
        pub(super) fn new(rows: &[u32; LANES], columns: &[u32; LANES]) -> Self {
            Self { rows: load(rows), columns: load(columns) }
        }

        /// The cells that their positions are sent to.
        #[inline(always)]
        pub(super) fn cells(&self, network: &Network) -> [u64; LANES] {
            let num_rows = u32x4_splat(network.rows);
            let num_columns = u32x4_splat(network.columns);
            let (mut rows, mut columns) = (self.rows, self.columns);
            for keys in network.keys.as_chunks::<2>().0 {
                for v in 0..VECTORS {
                    rows[v] = add(rows[v], mix(columns[v], keys[0], num_rows), num_rows);
                }
                for v in 0..VECTORS {
                    columns[v] = add(columns[v], mix(rows[v], keys[1], num_columns), num_columns);
                }
            }
            let mut cells = [0; LANES];
            for v in 0..VECTORS {
                let low = u64x2_extmul_low_u32x4(rows[v], num_columns);
                let low = i64x2_add(low, u64x2_extend_low_u32x4(columns[v]));
                let high = u64x2_extmul_high_u32x4(rows[v], num_columns);
                let high = i64x2_add(high, u64x2_extend_high_u32x4(columns[v]));
                cells[4 * v] = u64x2_extract_lane::<0>(low);
                cells[4 * v + 1] = u64x2_extract_lane::<1>(low);
                cells[4 * v + 2] = u64x2_extract_lane::<0>(high);
                cells[4 * v + 3] = u64x2_extract_lane::<1>(high);
            }
            cells
        }

        /// On to cells so many after these.
        #[inline(always)]
        pub(super) fn step(&mut self, network: &Network, step: (u32, u32)) {
            let num_columns = u32x4_splat(network.columns);
            for v in 0..VECTORS {
                let sum = i32x4_add(self.columns[v], u32x4_splat(step.1));
                // All ones, that is -1, where the sum is past the last column.
                let carry = u32x4_ge(sum, num_columns);
                self.columns[v] = u32x4_min(sum, i32x4_sub(sum, num_columns));
                self.rows[v] = i32x4_sub(i32x4_add(self.rows[v], u32x4_splat(step.0)), carry);
            }
        }
    }

    fn load(lanes: &[u32; LANES]) -> [v128; VECTORS] {
        core::array::from_fn(|v| u32x4(lanes[4 * v], lanes[4 * v + 1], lanes[4 * v + 2], lanes[4 * v + 3]))
    }

    /// `super::super::network::mix`, four at a time.
    #[inline(always)]
    fn mix(x: v128, key: [u32; 2], bound: v128) -> v128 {
        let hash = i32x4_mul(v128_xor(x, u32x4_splat(key[0])), u32x4_splat(MULTIPLIERS[0]));
        let hash = v128_xor(hash, u32x4_shr(hash, 16));
        let hash = i32x4_mul(i32x4_add(hash, u32x4_splat(key[1])), u32x4_splat(MULTIPLIERS[1]));
        let low = u64x2_extmul_low_u32x4(hash, bound);
        let high = u64x2_extmul_high_u32x4(hash, bound);
        i32x4_shuffle::<1, 3, 5, 7>(low, high)
    }

    /// `super::super::network::add`, four at a time.
    #[inline(always)]
    fn add(x: v128, y: v128, modulus: v128) -> v128 {
        let sum = i32x4_add(x, y);
        u32x4_min(sum, i32x4_sub(sum, modulus))
    }
}
