//! Fingerprints of the configuration of a deal.

use alloc::string::String;

use super::Config;
use crate::base::fingerprint::Fingerprint;
use crate::order::Sharding;

/// Everything that decides the deal, except the rank.
pub(crate) fn of_config(config: &Config, sharding: Option<&Sharding>) -> String {
    let Config { samples, seed, epoch, order, rank: _, world, remainder, layout, consumed } = config;
    let mut hash = Fingerprint::new();
    hash.add(b"samedeal config 1\0");
    hash.add(order.name().as_bytes());
    hash.add(&[0]);
    hash.add(&samples.to_le_bytes());
    hash.add(&seed.to_le_bytes());
    hash.add(&epoch.to_le_bytes());
    hash.add(&world.to_le_bytes());
    hash.add(&[*remainder as u8, *layout as u8]);
    hash.add(&consumed.to_le_bytes());
    if let Some(sharding) = sharding {
        add_sharding(&mut hash, sharding);
    }
    hash.finish()
}

/// What decides the order of every epoch.
pub(crate) fn of_order(config: &Config, sharding: Option<&Sharding>) -> String {
    let Config { samples, seed, order, .. } = config;
    let mut hash = Fingerprint::new();
    hash.add(b"samedeal order 1\0");
    hash.add(order.name().as_bytes());
    hash.add(&[0]);
    hash.add(&samples.to_le_bytes());
    hash.add(&seed.to_le_bytes());
    if let Some(sharding) = sharding {
        add_sharding(&mut hash, sharding);
    }
    hash.finish()
}

fn add_sharding(hash: &mut Fingerprint, Sharding { shards, lanes, window }: &Sharding) {
    hash.add(&lanes.to_le_bytes());
    hash.add(&window.to_le_bytes());
    for shard in 0..shards.count() {
        hash.add(&shards.size(shard).to_le_bytes());
    }
}
