use alloc::string::String;
use sha2::{Digest, Sha256};

use crate::Config;
use crate::order::Sharding;
use crate::shards::{Locality, PlanConfig};

/// A SHA-256 that speaks the types of this crate.
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Each index as 8 bytes, little-endian.
    pub(crate) fn update(&mut self, indices: &[u64]) {
        for index in indices {
            self.0.update(index.to_le_bytes());
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// How many there are, so that no two lists run into one another, and each as 4 bytes, little-endian.
    pub(crate) fn add_u32s(&mut self, numbers: &[u32]) {
        self.add(&(numbers.len() as u64).to_le_bytes());
        for number in numbers {
            self.add(&number.to_le_bytes());
        }
    }

    /// 64 lower-case hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let nibbles = self.0.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
    }
}

/// Everything that decides the deal, except the rank.
pub(crate) fn of_config(config: &Config, sharding: Option<&Sharding>) -> String {
    let Config { samples, seed, epoch, order, rank: _, world, remainder, layout, consumed } = config;
    let mut hash = Sha256::new()
        .chain_update(b"samedeal config 1\0")
        .chain_update(order.name().as_bytes())
        .chain_update([0])
        .chain_update(samples.to_le_bytes())
        .chain_update(seed.to_le_bytes())
        .chain_update(epoch.to_le_bytes())
        .chain_update(world.to_le_bytes())
        .chain_update([*remainder as u8, *layout as u8])
        .chain_update(consumed.to_le_bytes());
    if let Some(sharding) = sharding {
        add_sharding(&mut hash, sharding);
    }
    Fingerprint(hash).finish()
}

/// What decides the order of every epoch.
pub(crate) fn of_order(config: &Config, sharding: Option<&Sharding>) -> String {
    let Config { samples, seed, order, .. } = config;
    let mut hash = Sha256::new()
        .chain_update(b"samedeal order 1\0")
        .chain_update(order.name().as_bytes())
        .chain_update([0])
        .chain_update(samples.to_le_bytes())
        .chain_update(seed.to_le_bytes());
    if let Some(sharding) = sharding {
        add_sharding(&mut hash, sharding);
    }
    Fingerprint(hash).finish()
}

fn add_sharding(hash: &mut Sha256, Sharding { shards, lanes, window }: &Sharding) {
    hash.update(lanes.to_le_bytes());
    hash.update(window.to_le_bytes());
    for shard in 0..shards.count() {
        hash.update(shards.size(shard).to_le_bytes());
    }
}

/// Everything that decides a plan. The locality is that which counts, if any.
pub(crate) fn of_plan(config: &PlanConfig, locality: Option<&Locality>) -> String {
    let PlanConfig { sizes, bytes, world, workers, policy, worker_policy, weight, locality: _, .. } = config;
    let PlanConfig { shuffle, reshuffle, seed, epoch, .. } = config;
    let mut hash = Sha256::new()
        .chain_update(b"samedeal plan 1\0")
        .chain_update(seed.to_le_bytes())
        .chain_update(epoch.to_le_bytes())
        .chain_update(world.to_le_bytes())
        .chain_update(workers.to_le_bytes())
        .chain_update([*policy as u8, *worker_policy as u8, *weight as u8, u8::from(*shuffle), u8::from(*reshuffle)]);
    for list in [sizes, bytes] {
        // Its length first, so that no two configurations run into one another.
        hash.update((list.len() as u64).to_le_bytes());
        for item in list {
            hash.update(item.to_le_bytes());
        }
    }
    if let Some(Locality { offsets, holders, rank_nodes, tolerance }) = locality {
        hash.update(tolerance.to_le_bytes());
        for item in rank_nodes.iter().chain(offsets).chain(holders) {
            hash.update(item.to_le_bytes());
        }
    }
    Fingerprint(hash).finish()
}
