use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::segment::Group;
use crate::base::failure::shorten;
use crate::base::memory::collect;
use crate::base::names::{name_of, named};
use crate::deal::REMAINDERS;
use crate::order::{DEFAULT_LANES, DEFAULT_WINDOW, Sharding, Shards};
use crate::shard::{Policy, Weight, WorkerPolicy, check_bytes};
use crate::{Failure, Remainder};

/// The names of the deals, the default first.
pub const READ_DEALS: [&str; 2] = ["samples", "shards"];
const POLICIES: [(&str, Policy); 2] = [("size-aware", Policy::SizeAware), ("round-robin", Policy::RoundRobin)];
const WORKER_POLICIES: [(&str, WorkerPolicy); 2] =
    [("size-aware", WorkerPolicy::SizeAware), ("round-robin", WorkerPolicy::RoundRobin)];
const WEIGHTS: [(&str, Weight); 2] = [("samples", Weight::Samples), ("bytes", Weight::Bytes)];

/// The options of a [`Reading`](super::Reading). An option that is `None` has its default. An option that the deal does
/// not use is refused.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Samples in each shard.
    pub sizes: Vec<u64>,
    /// Bytes in each shard, for the weight `bytes`.
    pub bytes: Option<Vec<u64>>,
    /// Seed of all shuffles. 0.
    pub seed: i64,
    /// `samples` or `shards`.
    pub deal: Option<String>,
    /// Whether anything is shuffled: with the deal `samples` by the order `sharded`, with `shards` the shards before
    /// they are given away. Yes.
    pub shuffle: Option<bool>,
    /// With `samples` and a shuffle: how many streams the dataset is cut into. 64.
    pub lanes: Option<u32>,
    /// With `samples` and a shuffle: how many neighbouring samples of a lane are shuffled together. 256.
    pub window: Option<u32>,
    /// With `samples`: `pad`, `drop` or `uneven`, over all readers. `pad`.
    pub remainder: Option<String>,
    /// With `shards`: whether the rows of each shard are shuffled. As `shuffle`.
    pub shuffle_rows: Option<bool>,
    /// With `shards`: whether each reader shuffles its shards once more. No.
    pub reshuffle: Option<bool>,
    /// With `shards`: how they are given to ranks, `size-aware` or `round-robin`. `size-aware`.
    pub policy: Option<String>,
    /// With `shards`: how those of a rank are given to its workers. `size-aware`.
    pub worker_policy: Option<String>,
    /// With `shards`: what is to be equal, `samples` or `bytes`. `samples`.
    pub weight: Option<String>,
    /// How many ranks there are. 1.
    pub world_size: Option<u32>,
    /// Loader workers of each rank, at least 1. 1.
    pub workers: Option<u32>,
    /// Samples of a batch. 1.
    pub batch_size: Option<u32>,
    /// Whether a reader's last batch is left out where it is shorter. No.
    pub drop_last: Option<bool>,
}

/// Everything that decides the order of an epoch. It does not depend on the readers.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) seed: i64,
    /// How many samples each shard has; with lanes and a window for [`Dealt::Samples`] in a shuffle.
    pub(super) sharding: Rc<Sharding>,
    pub(super) shuffle: bool,
    pub(super) dealt: Dealt,
}

/// What is dealt to readers.
#[derive(Clone)]
pub(super) enum Dealt {
    Samples,
    Shards {
        shuffle_rows: bool,
        reshuffle: bool,
        policy: Policy,
        worker_policy: WorkerPolicy,
        /// The bytes of each shard, where they are to be equal.
        bytes: Option<Rc<Vec<u64>>>,
    },
}

impl Recipe {
    pub(super) fn shards(&self) -> &Shards {
        &self.sharding.shards
    }

    pub(super) fn samples(&self) -> u64 {
        self.shards().samples()
    }

    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> + Clone {
        (0..self.shards().count()).map(|shard| self.shards().size(shard))
    }
}

/// What the options come to: the recipe, the readers, what happens where these do not divide the samples, and whether
/// short batches are left out. Failures: any option.
pub(super) fn settled(options: Options) -> Result<(Recipe, Group, Remainder, bool), Failure> {
    let Options { sizes, bytes, seed, deal, shuffle, lanes, window, remainder, .. } = options;
    let Options { shuffle_rows, reshuffle, policy, worker_policy, weight, .. } = options;
    let by_samples = named("deal", deal.as_deref(), &READ_DEALS.map(|name| (name, name == "samples")))?;
    let on = |name| format!("none, as it goes with deal=\"{name}\"");
    if by_samples {
        let unused = [
            ("shuffle-rows", shuffle_rows.map(shown)),
            ("reshuffle", reshuffle.map(shown)),
            ("policy", policy.as_deref().map(shorten)),
            ("worker-policy", worker_policy.as_deref().map(shorten)),
            ("weight", weight.as_deref().map(shorten)),
            ("bytes", bytes.as_ref().map(|bytes| format!("{} numbers", bytes.len()))),
        ];
        refuse(unused, on("shards"))?;
    } else {
        let unused = [
            ("lanes", lanes.map(shown)),
            ("window", window.map(shown)),
            ("remainder", remainder.as_deref().map(shorten)),
        ];
        refuse(unused, on("samples"))?;
    }
    let shuffle = shuffle.unwrap_or(true);
    if !shuffle {
        let allowed = "none where shuffle is false: rows come as they are stored";
        refuse([("lanes", lanes.map(shown)), ("window", window.map(shown))], allowed.to_string())?;
    }
    let remainder = named("remainder", remainder.as_deref(), &REMAINDERS)?;
    let sharding =
        Rc::new(Sharding::new(Shards::new(&sizes)?, lanes.unwrap_or(DEFAULT_LANES), window.unwrap_or(DEFAULT_WINDOW))?);
    let dealt = if by_samples {
        Dealt::Samples
    } else {
        let weight = named("weight", weight.as_deref(), &WEIGHTS)?;
        let bytes = match (weight, bytes) {
            (Weight::Bytes, Some(bytes)) => Some(Rc::new(bytes)),
            (Weight::Bytes, None) => {
                return Err(Failure::missing("bytes", "the bytes of every shard, with the weight bytes"));
            }
            (Weight::Samples, None) => None,
            (Weight::Samples, Some(bytes)) => {
                let allowed = "none, as they go with the weight bytes";
                return Err(Failure::contradiction("bytes", format!("{} numbers", bytes.len()), allowed));
            }
        };
        Dealt::Shards {
            shuffle_rows: shuffle_rows.unwrap_or(shuffle),
            reshuffle: reshuffle.unwrap_or(false),
            policy: named("policy", policy.as_deref(), &POLICIES)?,
            worker_policy: named("worker-policy", worker_policy.as_deref(), &WORKER_POLICIES)?,
            bytes,
        }
    };
    let short_left_out = options.drop_last.unwrap_or(false);
    let group = Group {
        world_size: options.world_size.unwrap_or(1),
        workers: options.workers.unwrap_or(1),
        batch_size: options.batch_size.unwrap_or(1),
        // Where samples are dealt, a reader's short batch is its last one in any case, and says nothing of other readers.
        drop_last: if by_samples { remainder == Remainder::Drop } else { short_left_out },
    };
    group.check()?;
    if let Dealt::Shards { bytes: Some(bytes), .. } = &dealt {
        check_bytes(bytes, sizes.len())?;
    }
    Ok((Recipe { seed, sharding, shuffle, dealt }, group, remainder, short_left_out))
}

fn shown(value: impl ToString) -> String {
    value.to_string()
}

/// Failures: the first of these options that is there.
fn refuse<const N: usize>(options: [(&'static str, Option<String>); N], allowed: String) -> Result<(), Failure> {
    for (field, value) in options {
        if let Some(value) = value {
            return Err(Failure::contradiction(field, value, allowed));
        }
    }
    Ok(())
}

pub(super) fn policy_name(policy: Policy) -> &'static str {
    name_of(&policy, &POLICIES)
}

pub(super) fn worker_policy_name(policy: WorkerPolicy) -> &'static str {
    name_of(&policy, &WORKER_POLICIES)
}

impl Options {
    /// The same once more. Failures: `out-of-memory`.
    pub fn copied(&self) -> Result<Self, Failure> {
        let sizes = collect("sizes", self.sizes.len(), self.sizes.iter().copied())?;
        let bytes = match &self.bytes {
            Some(bytes) => Some(collect("bytes", bytes.len(), bytes.iter().copied())?),
            None => None,
        };
        let Self { deal, remainder, policy, worker_policy, weight, .. } = self;
        let name = |name: &Option<String>| name.as_deref().map(shorten);
        Ok(Self {
            sizes,
            bytes,
            deal: name(deal),
            remainder: name(remainder),
            policy: name(policy),
            worker_policy: name(worker_policy),
            weight: name(weight),
            ..*self
        })
    }
}
