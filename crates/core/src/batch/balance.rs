//! Division of packs into parts of equal count and nearly equal cost. Each pack, the costliest first, goes to the
//! cheapest part that has room. Then, again and again, the costliest and the cheapest part exchange the two packs that
//! bring their costs closest.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::base::Failure;
use crate::base::memory::collect;

/// The most exchanges of a division.
const EXCHANGES: u32 = 64;
/// The most packs of a part for which packs are exchanged. Larger parts have nearly equal costs without exchanges.
const LARGE: usize = 64;

/// The memory for divisions of packs into parts of `each` packs.
pub(super) struct Balance {
    each: usize,
    costs: Vec<u128>,
    loads: Vec<u128>,
    filled: Vec<usize>,
    /// The packs of each part, part after part, as places in `costs`.
    places: Vec<u32>,
    /// The memory for the heap of parts that have room, by load.
    open: Vec<Reverse<(u128, usize)>>,
}

impl Balance {
    /// The memory for `parts` parts of `each` packs. Failures: `out-of-memory`.
    pub(super) fn new(parts: usize, each: usize) -> Result<Self, Failure> {
        let all = parts.saturating_mul(each);
        Ok(Self {
            each,
            costs: collect("batch_window", all, [])?,
            loads: collect("batch_window", parts, core::iter::repeat_n(0, parts))?,
            filled: collect("batch_window", parts, core::iter::repeat_n(0, parts))?,
            places: collect("batch_window", all, core::iter::repeat_n(0, all))?,
            open: collect("batch_window", parts, [])?,
        })
    }

    /// Divides packs of these costs, which descend. There must be as many packs as the parts have room for. Returns the
    /// places of the packs of each part, part after part.
    pub(super) fn divide(&mut self, costs: impl Iterator<Item = u128>) -> &[u32] {
        let Self { each, costs: known, loads, filled, places, open } = self;
        let each = *each;
        let room = known.capacity();
        known.clear();
        known.extend(costs.take(room));
        loads.fill(0);
        filled.fill(0);
        open.clear();
        open.extend((0..loads.len()).map(|part| Reverse((0, part))));
        let mut heap = BinaryHeap::from(core::mem::take(open));
        for (place, &cost) in (0..).zip(&*known) {
            let Some(Reverse((load, part))) = heap.pop() else { break };
            places[part * each + filled[part]] = place;
            filled[part] += 1;
            loads[part] = load + cost;
            if filled[part] < each {
                heap.push(Reverse((loads[part], part)));
            }
        }
        *open = heap.into_vec();
        for _ in 0..if each > LARGE { 0 } else { EXCHANGES } {
            let Some(most) = (0..loads.len()).max_by_key(|&part| (loads[part], Reverse(part))) else { break };
            let Some(least) = (0..loads.len()).min_by_key(|&part| (loads[part], part)) else { break };
            let apart = loads[most] - loads[least];
            // The best exchange so far: the difference between the costs of the two parts after the exchange, and the
            // two places that are exchanged. The costs get closer only if the cheapest part gets the costlier pack.
            let mut best = (apart, 0, 0);
            for from in most * each..(most + 1) * each {
                for to in least * each..(least + 1) * each {
                    let (dear, cheap) = (known[places[from] as usize], known[places[to] as usize]);
                    if dear > cheap {
                        best = best.min((apart.abs_diff(2 * (dear - cheap)), from, to));
                    }
                }
            }
            let (after, from, to) = best;
            if after >= apart {
                break;
            }
            let moved = known[places[from] as usize] - known[places[to] as usize];
            loads[most] -= moved;
            loads[least] += moved;
            places.swap(from, to);
        }
        places
    }
}
