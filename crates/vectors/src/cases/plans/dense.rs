//! Many shards with pseudorandom sizes: cases for single branches of the core that the other cases do not reach.
//! `cargo xtask mutants` shows which branches these are.

use matrix::format::Case;

use super::{plan, sizes, whole};
use crate::cases::forms::Plan;

/// Numbers of the pseudorandom plans that are cases.
const PLANS: [u64; 2] = [25, 119];

pub fn cases() -> Vec<Case> {
    PLANS.into_iter().map(case).collect()
}

/// A plan by size with so many shards that the exchanges after longest-first go on for long.
fn case(number: u64) -> Case {
    let [count, world, spread, least] = sizes(4, 2_000 + number, 1 << 20).try_into().expect("four numbers");
    let (count, world) = (8 + count % 60, 2 + world % 14);
    let (least, spread) = ([0, 100, 1_000][(least % 3) as usize], [50, 1_000, 100_000][(spread % 3) as usize]);
    let shards: Vec<u64> = sizes(count as usize, number, spread).iter().map(|size| size + least).collect();
    let name = format!("{count} shards to {world} ranks, number {number}");
    whole(&name, Plan { policy: "size-aware".into(), ..plan(&shards, world as u32, 1) })
}
