//! Deals shards to ranks on the nodes where the shards are stored.

use alloc::collections::BinaryHeap;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::balance::heaviest_first;
use crate::base::Failure;
use crate::base::failure::only;
use crate::base::memory::{collect, has_headroom};
use crate::base::sort::sort_short;

/// The nodes that store shards, and the nodes that run ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locality {
    /// The nodes that hold shard i are `holders[offsets[i]..offsets[i + 1]]`.
    pub offsets: Vec<u32>,
    /// Numbers of the nodes that hold each shard.
    pub holders: Vec<u32>,
    /// Number of the node that runs each rank.
    pub rank_nodes: Vec<u32>,
    /// How far the weight of a rank may exceed the mean weight for the sake of locality, in thousandths of the mean.
    pub tolerance: u32,
}

impl Locality {
    /// Checks that the lists fit the numbers of shards and ranks, and that each shard has a node. Failures:
    /// `holder_offsets`, `holders`, `rank_nodes`.
    pub(super) fn check(&self, shards: usize, world_size: u32) -> Result<(), Failure> {
        if self.offsets.len() != shards + 1
            || self.offsets.first() != Some(&0)
            || self.offsets.last().copied() != u32::try_from(self.holders.len()).ok()
            || !self.offsets.is_sorted()
        {
            let allowed = format!("{} ascending numbers from 0 to {}", shards + 1, self.holders.len());
            let value = format!("{} numbers", self.offsets.len());
            return Err(Failure::contradiction("holder_offsets", value, allowed));
        }
        if self.rank_nodes.len() != world_size as usize {
            let value = format!("{} nodes", self.rank_nodes.len());
            return Err(Failure::contradiction("rank_nodes", value, only(world_size).and(", one for each rank")));
        }
        if let Some(shard) = (0..shards).find(|&shard| self.offsets[shard] == self.offsets[shard + 1]) {
            return Err(Failure::missing("holders", format!("at least one node for shard {shard}")));
        }
        Ok(())
    }

    pub(super) fn is_local(&self, shard: u32, rank: u32) -> bool {
        let node = self.rank_nodes[rank as usize];
        self.holders_of(shard).contains(&node)
    }

    fn holders_of(&self, shard: u32) -> &[u32] {
        let shard = shard as usize;
        &self.holders[self.offsets[shard] as usize..self.offsets[shard + 1] as usize]
    }

    /// Assigns shards to ranks, heaviest shard first. A shard goes to the lightest rank on the nodes that hold it. If
    /// no rank runs there, or if the rank would exceed the tolerance, the shard goes to the lightest rank of all. So no
    /// rank exceeds the mean by more than the greater of the tolerance and the heaviest shard.
    pub(super) fn assign(&self, weights: &[u64], shards: &[u32], world_size: u32) -> Result<Vec<u32>, Failure> {
        let total: u64 = weights.iter().sum();
        let bound = u128::from(total) * (1_000 + u128::from(self.tolerance));
        let mut owners = collect("sizes", shards.len(), shards.iter().map(|_| 0))?;
        let mut loads = Loads::new(&self.rank_nodes)?;
        for item in heaviest_first(weights)? {
            let (shard, weight) = (shards[item as usize], weights[item as usize]);
            let local = self.holders_of(shard).iter().filter_map(|&node| loads.lightest_of(node)).min();
            let local = local.filter(|(load, _)| u128::from(load + weight) * 1_000 * u128::from(world_size) <= bound);
            let Some((_, rank)) = local.or_else(|| loads.lightest()) else { break };
            owners[item as usize] = rank;
            loads.add(rank, weight)?;
        }
        Ok(owners)
    }
}

/// The load of each rank, and heaps to find the lightest rank of all and the lightest rank of each node. The heaps also
/// hold earlier loads, which are dropped when they come to the top.
struct Loads<'a> {
    loads: Vec<u64>,
    /// Number of the node that runs each rank.
    nodes: &'a [u32],
    /// The nodes that run ranks, ascending. `of_node` has a heap for each.
    known: Vec<u32>,
    of_node: Vec<Heap>,
    of_all: Heap,
}

/// Pairs of a load and a rank, the lightest first.
type Heap = BinaryHeap<Reverse<(u64, u32)>>;

impl<'a> Loads<'a> {
    fn new(nodes: &'a [u32]) -> Result<Self, Failure> {
        let mut known = collect("rank_nodes", nodes.len(), nodes.iter().copied())?;
        sort_short(&mut known);
        known.dedup();
        let of_node = collect("rank_nodes", known.len(), known.iter().map(|_| Heap::new()))?;
        let loads = collect("rank_nodes", nodes.len(), nodes.iter().map(|_| 0))?;
        let mut all = Self { loads, nodes, known, of_node, of_all: Heap::new() };
        for rank in 0..nodes.len() as u32 {
            all.add(rank, 0)?;
        }
        Ok(all)
    }

    fn add(&mut self, rank: u32, weight: u64) -> Result<(), Failure> {
        let load = &mut self.loads[rank as usize];
        *load += weight;
        push(&mut self.of_all, *load, rank)?;
        if let Ok(node) = self.known.binary_search(&self.nodes[rank as usize]) {
            push(&mut self.of_node[node], *load, rank)?;
        }
        Ok(())
    }

    fn lightest(&mut self) -> Option<(u64, u32)> {
        lightest(&mut self.of_all, &self.loads)
    }

    fn lightest_of(&mut self, node: u32) -> Option<(u64, u32)> {
        let node = self.known.binary_search(&node).ok()?;
        lightest(&mut self.of_node[node], &self.loads)
    }
}

fn push(heap: &mut Heap, load: u64, rank: u32) -> Result<(), Failure> {
    if heap.len() == heap.capacity() && (heap.try_reserve(1).is_err() || !has_headroom()) {
        return Err(Failure::out_of_memory("rank_nodes", heap.len(), "fewer shards or ranks"));
    }
    heap.push(Reverse((load, rank)));
    Ok(())
}

fn lightest(heap: &mut Heap, loads: &[u64]) -> Option<(u64, u32)> {
    while let Some(&Reverse((load, rank))) = heap.peek() {
        if load == loads[rank as usize] {
            return Some((load, rank));
        }
        heap.pop();
    }
    None
}
