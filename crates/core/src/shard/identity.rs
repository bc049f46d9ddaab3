//! Fingerprints of the configuration of a plan.

use alloc::string::String;

use super::locality::Locality;
use super::plan::PlanConfig;
use crate::base::fingerprint::Fingerprint;

/// Everything that decides a plan. The locality is that which counts, if any.
pub(crate) fn of_plan(config: &PlanConfig, locality: Option<&Locality>) -> String {
    let PlanConfig { sizes, bytes, world, workers, policy, worker_policy, weight, locality: _, .. } = config;
    let PlanConfig { shuffle, reshuffle, seed, epoch, .. } = config;
    let mut hash = Fingerprint::new();
    hash.add(b"samedeal plan 1\0");
    hash.add(&seed.to_le_bytes());
    hash.add(&epoch.to_le_bytes());
    hash.add(&world.to_le_bytes());
    hash.add(&workers.to_le_bytes());
    hash.add(&[*policy as u8, *worker_policy as u8, *weight as u8, u8::from(*shuffle), u8::from(*reshuffle)]);
    for list in [sizes, bytes] {
        // Its length first, so that no two configurations run into one another.
        hash.add(&(list.len() as u64).to_le_bytes());
        for item in list {
            hash.add(&item.to_le_bytes());
        }
    }
    if let Some(Locality { offsets, holders, rank_nodes, tolerance }) = locality {
        hash.add(&tolerance.to_le_bytes());
        for item in rank_nodes.iter().chain(offsets).chain(holders) {
            hash.add(&item.to_le_bytes());
        }
    }
    hash.finish()
}
