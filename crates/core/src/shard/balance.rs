//! Splits items of different weights into parts of about the same weight.

use alloc::collections::{BinaryHeap, TryReserveError};
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::base::Failure;
use crate::base::memory::{collect, has_headroom};

/// Returns `owners`: item i belongs to part `owners[i]`. First, each item, the heaviest first, goes to the lightest
/// part (longest processing time, Graham 1969). Then the heaviest and the lightest part make their best exchange, again
/// and again, while it makes the heaviest part lighter, at most 2 * `parts` times. Ties go to the earlier item and to
/// the lower part.
pub(super) fn balance(weights: &[u64], parts: u32) -> Result<Vec<u32>, Failure> {
    if weights.len() < 2 {
        return collect("sizes", weights.len(), weights.iter().map(|_| 0));
    }
    // Ties go to the lower part, so at most as many parts as there are items get an item. One more part is kept for all
    // parts that stay empty, because it is then the lightest part.
    let parts = u32::try_from(weights.len()).map_or(parts, |count| parts.min(count.saturating_add(1)));
    let order = heaviest_first(weights)?;
    let mut owners = collect("sizes", weights.len(), weights.iter().map(|_| 0))?;
    let mut lightest: BinaryHeap<_> =
        collect("world_size", parts as usize, (0..parts).map(|part| Reverse((0, part))))?.into();
    for &item in &order {
        if let Some(mut top) = lightest.peek_mut() {
            let Reverse((load, part)) = *top;
            owners[item as usize] = part;
            *top = Reverse((load + weights[item as usize], part));
        }
    }
    improve(weights, &order, &mut owners, parts)?;
    Ok(owners)
}

/// The items by weight, heaviest first; of items of equal weight, the earlier one first.
pub(super) fn heaviest_first(weights: &[u64]) -> Result<Vec<u32>, Failure> {
    // One number of 128 bits sorts like the pair of weight and item: its high half is 2^64 - 1 less the weight, its low
    // half is the item.
    let mut keys = collect(
        "sizes",
        weights.len(),
        (0_u64..).zip(weights).map(|(item, &weight)| u128::from(u64::MAX - weight) << 64 | u128::from(item)),
    )?;
    samedeal_bulk::numbers128(&mut keys);
    collect("sizes", keys.len(), keys.iter().map(|&key| key as u32))
}

/// Makes exchanges between the heaviest and the lightest part: see [`balance`].
fn improve(weights: &[u64], order: &[u32], owners: &mut [u32], parts: u32) -> Result<(), Failure> {
    let mut loads = collect("world_size", parts as usize, (0..parts).map(|_| 0_u64))?;
    let mut counts = collect("world_size", parts as usize, (0..parts).map(|_| 0_usize))?;
    for (&owner, weight) in owners.iter().zip(weights) {
        loads[owner as usize] += weight;
        counts[owner as usize] += 1;
    }
    if loads.contains(&0) {
        // If a part has the load 0, every other part has at most one item with a weight above 0, so the heaviest part
        // cannot get lighter.
        return Ok(());
    }
    // The items of every part, heaviest first.
    let mut members: Vec<Vec<u32>> = collect("world_size", parts as usize, [])?;
    for count in counts {
        members.push(collect("sizes", count, [])?);
    }
    for &item in order {
        members[owners[item as usize] as usize].push(item);
    }
    // The heaps also hold earlier loads of parts, which are dropped when they come to the top.
    let loaded = |part: u32| loads[part as usize];
    let mut heaviest: BinaryHeap<_> =
        collect("world_size", parts as usize, (0..parts).map(|part| (loaded(part), Reverse(part))))?.into();
    let mut lightest: BinaryHeap<_> =
        collect("world_size", parts as usize, (0..parts).map(|part| Reverse((loaded(part), part))))?.into();
    // Every exchange makes the heaviest part lighter, but maybe only by little. So the number of exchanges is limited.
    for _ in 0..2 * u64::from(parts) {
        while heaviest.peek().is_some_and(|&(load, Reverse(part))| load != loads[part as usize]) {
            heaviest.pop();
        }
        while lightest.peek().is_some_and(|&Reverse((load, part))| load != loads[part as usize]) {
            lightest.pop();
        }
        let (Some(&(most, Reverse(heavy))), Some(&Reverse((least, light)))) = (heaviest.peek(), lightest.peek()) else {
            break;
        };
        let (heavy, light, gap) = (heavy as usize, light as usize, most - least);
        let Some((given, taken)) = best_exchange(weights, &members[heavy], &members[light], gap) else { break };
        for (from, to, item) in [(heavy, light, Some(given)), (light, heavy, taken)] {
            let Some(item) = item else { continue };
            let weight = weights[item as usize];
            loads[from] -= weight;
            loads[to] += weight;
            owners[item as usize] = to as u32;
            members[from].retain(|&other| other != item);
            let at = members[to]
                .partition_point(|&other| (Reverse(weights[other as usize]), other) < (Reverse(weight), item));
            reserve(members[to].try_reserve(1), weights)?;
            members[to].insert(at, item);
        }
        reserve(heaviest.try_reserve(2).and(lightest.try_reserve(2)), weights)?;
        for part in [heavy, light] {
            heaviest.push((loads[part], Reverse(part as u32)));
            lightest.push(Reverse((loads[part], part as u32)));
        }
    }
    Ok(())
}

fn reserve(reserved: Result<(), TryReserveError>, weights: &[u64]) -> Result<(), Failure> {
    if reserved.is_ok() && has_headroom() {
        return Ok(());
    }
    Err(Failure::out_of_memory("sizes", weights.len(), "fewer shards"))
}

/// The best exchange of two parts: an item of `heavy` to give, and an item of `light`, or none, to take for it. The
/// difference of their weights is nearest to half the gap between the loads, and below the gap. Both lists are sorted,
/// heaviest first; the first of several equal exchanges is returned.
fn best_exchange(weights: &[u64], heavy: &[u32], light: &[u32], gap: u64) -> Option<(u32, Option<u32>)> {
    let mut best: Option<(u64, u32, Option<u32>)> = None;
    let mut consider = |given: u32, taken: Option<u32>| {
        let back = taken.map_or(0, |item| weights[item as usize]);
        let Some(moved) = weights[given as usize].checked_sub(back) else { return };
        if moved == 0 || moved >= gap {
            return;
        }
        let miss = (2 * moved).abs_diff(gap);
        if best.is_none_or(|(least, ..)| miss < least) {
            best = Some((miss, given, taken));
        }
    };
    for &given in heavy {
        consider(given, None);
        // An exchange with an item of the weight `wanted` would move half of the gap, so only the items nearest to this
        // weight are tried.
        let wanted = weights[given as usize].saturating_sub(gap / 2);
        let at = light.partition_point(|&item| weights[item as usize] > wanted);
        for &taken in &light[at.saturating_sub(1)..light.len().min(at + 2)] {
            consider(given, Some(taken));
        }
    }
    best.map(|(_, given, taken)| (given, taken))
}
