//! The pattern of `blend`: a binary tree in which every node divides its positions between its two children in
//! proportion to their weights. The source of a position, and the inverse, cost as many steps as the tree is deep.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use samedeal_bulk::{Divisor, Item, SMALL, halve, item, unpacked};

use super::items::{Items, MAX_ELEMENT, Take};
use crate::base::Failure;
use crate::base::memory::collect;

pub(super) struct Tree {
    nodes: Vec<Node>,
    /// For each source, its parent node, and whether the source is the left child. `None` for weight 0, and for the
    /// only source with a weight.
    above: Vec<Option<Above>>,
    weights: Vec<u64>,
    root: Child,
}

#[derive(Clone, Copy)]
enum Child {
    Source(u32),
    Node(u32),
}

#[derive(Clone, Copy)]
struct Above {
    node: u32,
    is_left: bool,
}

struct Node {
    /// The weight of the left child.
    left_weight: u64,
    weight: Divisor,
    /// The last position for which 64 bits are enough in `divide`.
    narrow: u64,
    /// `halve` is right for positions up to this distance from `Items::first`: the distance times the left weight, plus
    /// a remainder, is then below 2^31, or the distance is 0. Positions further away need `halve_far`.
    near: u64,
    left: Child,
    right: Child,
    above: Option<Above>,
}

impl Node {
    /// The number of positions of the left child among the first `n` of this node, and the remainder of the division.
    #[inline(always)]
    fn divide(&self, n: u64) -> (u64, u64) {
        // floor((2 n l + w) / (2 w)), where l is the left weight and w the weight, without the factor 2. Most products
        // fit into 64 bits.
        if n <= self.narrow {
            return self.weight.divide(n * self.left_weight + self.weight.value() / 2);
        }
        self.divide_wide(n)
    }

    /// `divide` in 128 bits, for weights (sums up to 2^53) and positions of any size.
    #[cold]
    #[inline(never)]
    fn divide_wide(&self, n: u64) -> (u64, u64) {
        let (left, weight) = (u128::from(self.left_weight), u128::from(self.weight.value()));
        let sum = u128::from(n) * left + weight / 2;
        ((sum / weight) as u64, (sum % weight) as u64)
    }

    /// `halve` for any weights, and for numbers at any distance from `first`.
    #[cold]
    #[inline(never)]
    fn halve_far(&self, first: u64, items: &mut [Item], spare: &mut [Item]) -> usize {
        let (before, _) = self.divide(first);
        let (mut lefts, mut rights) = (0, 0);
        for at in 0..items.len() {
            let (number, slot) = unpacked(items[at]);
            let (count, rest) = self.divide(first + number);
            let count = count - before;
            if self.is_left(rest) {
                items[lefts] = item(count, slot);
                lefts += 1;
            } else {
                spare[rights] = item(number - count, slot);
                rights += 1;
            }
        }
        lefts
    }

    /// Whether position `n` belongs to the left child: then the count of the left child is one more at `n + 1`. `rest`
    /// is the remainder of `divide(n)`.
    #[inline(always)]
    fn is_left(&self, rest: u64) -> bool {
        rest + self.left_weight >= self.weight.value()
    }
}

impl Tree {
    /// The tree of weights. At least one weight must be above 0, and their sum at most 2^53 - 1. Failures:
    /// `out-of-memory`.
    pub(super) fn new(weights: &[u64]) -> Result<Self, Failure> {
        let count = weights.len();
        let mut above = collect("sources", count, core::iter::repeat_n(None, count))?;
        let mut nodes: Vec<Node> = collect("sources", count, [])?;
        let items = (0..).zip(weights).filter(|&(_, &weight)| weight > 0);
        let items =
            collect("sources", count, items.map(|(source, &weight)| Least(weight, source, Child::Source(source))))?;
        let mut items = BinaryHeap::from_iter(items.into_iter().map(Reverse));
        let root = loop {
            let Some(Reverse(left)) = items.pop() else { break Child::Source(0) };
            let Some(Reverse(right)) = items.pop() else { break left.2 };
            let number = nodes.len() as u32;
            for (child, is_left) in [(left.2, true), (right.2, false)] {
                let place = Some(Above { node: number, is_left });
                match child {
                    Child::Source(source) => above[source as usize] = place,
                    Child::Node(node) => nodes[node as usize].above = place,
                }
            }
            let weight = left.0 + right.0;
            let narrow = (u64::MAX - weight / 2) / left.0;
            let near = (SMALL - 1).saturating_sub(weight) / left.0;
            let (left_weight, by_weight) = (left.0, Divisor::new(weight));
            nodes.push(Node {
                left_weight,
                weight: by_weight,
                narrow,
                near,
                left: left.2,
                right: right.2,
                above: None,
            });
            items.push(Reverse(Least(weight, left.1.min(right.1), Child::Node(number))));
        };
        Ok(Self { nodes, above, weights: collect("sources", count, weights.iter().copied())?, root })
    }

    /// The source of a position, and the number of positions of this source before it.
    #[inline]
    pub(super) fn at(&self, mut n: u64) -> (u32, u64) {
        let mut child = self.root;
        loop {
            match child {
                Child::Source(source) => return (source, n),
                Child::Node(node) => {
                    let node = &self.nodes[node as usize];
                    let (count, rest) = node.divide(n);
                    (n, child) = if node.is_left(rest) { (count, node.left) } else { (n - count, node.right) };
                }
            }
        }
    }

    /// See `Pattern::sort`.
    pub(super) fn sort(&self, run: Items, spare: &mut [Item], take: &mut Take) -> Result<(), Failure> {
        self.sort_below(self.root, run, spare, take)
    }

    /// Sorts the positions of a child by source.
    fn sort_below(&self, child: Child, run: Items, spare: &mut [Item], take: &mut Take) -> Result<(), Failure> {
        let node = match child {
            Child::Source(source) => return take(source, run.first, run.items),
            Child::Node(node) => &self.nodes[node as usize],
        };
        let Items { first, most, items } = run;
        let (before, rest) = node.divide(first);
        let lefts = if most <= node.near {
            halve(items, spare, node.left_weight, &node.weight, rest)
        } else {
            node.halve_far(first, items, spare)
        };
        let (left, right) = items.split_at_mut(lefts);
        right.copy_from_slice(&spare[..right.len()]);
        // `most` is a bound for both children, too: two positions of a child are no further apart than the same two
        // positions of this node.
        if !left.is_empty() {
            self.sort_below(node.left, Items { first: before, most, items: left }, spare, take)?;
        }
        if !right.is_empty() {
            self.sort_below(node.right, Items { first: first - before, most, items: right }, spare, take)?;
        }
        Ok(())
    }

    /// The number of positions of a source among the first `n`.
    pub(super) fn count(&self, source: u32, n: u64) -> u64 {
        if self.weights[source as usize] == 0 {
            return 0;
        }
        // The path from the root to the source, collected from the source upwards and then reversed.
        let mut way = [None; MAX_DEPTH];
        let (mut depth, mut above) = (0, self.above[source as usize]);
        while let Some(place) = above {
            way[depth] = above;
            depth += 1;
            above = self.nodes[place.node as usize].above;
        }
        way[..depth].iter().rev().flatten().fold(n, |n, &Above { node, is_left }| {
            let (count, _) = self.nodes[node as usize].divide(n);
            if is_left { count } else { n - count }
        })
    }

    /// Position number `number`, from 0, of a source; `None` above `MAX_ELEMENT`, or if the weight is 0.
    pub(super) fn nth(&self, source: u32, number: u64) -> Option<u64> {
        if self.weights[source as usize] == 0 {
            return None;
        }
        let (mut n, mut above) = (number, self.above[source as usize]);
        while let Some(Above { node, is_left }) = above {
            let node = &self.nodes[node as usize];
            let wide = u128::from(node.weight.value()) * (2 * u128::from(n) + 1);
            let found = if is_left {
                wide.div_ceil(2 * u128::from(node.left_weight)) - 1
            } else {
                wide / (2 * u128::from(node.weight.value() - node.left_weight))
            };
            n = u64::try_from(found).ok().filter(|&n| n <= MAX_ELEMENT)?;
            above = node.above;
        }
        Some(n)
    }

    /// The greatest deviation of a source's count from exact proportion, in millionths of a sample.
    pub(super) fn bound(&self, source: u32) -> u64 {
        let own = u128::from(self.weights[source as usize]);
        let (mut bound, mut above) = (0, self.above[source as usize]);
        // The weight of the child that the loop comes from: first the source itself.
        let mut weight = own;
        while let Some(Above { node, .. }) = above {
            bound += (500_000 * own).div_ceil(weight) as u64;
            let node = &self.nodes[node as usize];
            (weight, above) = (node.weight.value().into(), node.above);
        }
        bound
    }
}

/// The most levels of a tree. The weight of a node doubles at least with every second level, and is below 2^53 at the
/// root.
const MAX_DEPTH: usize = 128;

/// A child without a parent so far: its weight and its number. The least weight comes first, then the least number.
struct Least(u64, u32, Child);

impl PartialEq for Least {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Least {}

impl PartialOrd for Least {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Least {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}
