use wasmtime::component::ResourceAny;

use crate::engine::{MOST_MEMORY, Object, Planning, Store, check_room, cut, planning_types};
use crate::{Error, Reading};

/// What is dealt to readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deal {
    /// Single samples of one order over the whole dataset. The default.
    #[default]
    Samples,
    /// Whole shards.
    Shards,
}

impl Deal {
    /// Every choice.
    pub const ALL: &[Self] = &[Self::Samples, Self::Shards];

    /// The name of the choice, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Shards => "shards",
        }
    }
}

impl std::fmt::Display for Deal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The options of a new [`Reading`]; see [`Reading::builder`]. An option that is not set has its default. If an option
/// is set that the deal does not use, [`build`](Self::build) fails. A choice is a value of its enum, or a name.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ReadingBuilder {
    sizes: Vec<u64>,
    bytes: Option<Vec<u64>>,
    seed: Option<i64>,
    deal: Option<String>,
    shuffle: Option<bool>,
    lanes: Option<u32>,
    window: Option<u32>,
    remainder: Option<String>,
    shuffle_rows: Option<bool>,
    reshuffle: Option<bool>,
    policy: Option<String>,
    worker_policy: Option<String>,
    weight: Option<String>,
    world_size: Option<u32>,
    workers: Option<u32>,
    batch_size: Option<u32>,
    drop_last: Option<bool>,
    memory_limit: usize,
}

impl ReadingBuilder {
    pub(super) fn new(sizes: Vec<u64>) -> Self {
        Self {
            sizes,
            bytes: None,
            seed: None,
            deal: None,
            shuffle: None,
            lanes: None,
            window: None,
            remainder: None,
            shuffle_rows: None,
            reshuffle: None,
            policy: None,
            worker_policy: None,
            weight: None,
            world_size: None,
            workers: None,
            batch_size: None,
            drop_last: None,
            memory_limit: MOST_MEMORY,
        }
    }

    /// Seed of all shuffles, 64-bit. Default: 0.
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// What is dealt to the readers. Default: [`Deal::Samples`].
    pub fn deal(mut self, deal: impl ToString) -> Self {
        self.deal = Some(cut(deal.to_string()));
        self
    }

    /// Whether the epoch is shuffled. Default: true. With [`Deal::Samples`], the order is `sharded` if true; otherwise
    /// samples come in storage order. With [`Deal::Shards`], the list of shards is shuffled before it is dealt to the
    /// ranks if true.
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.shuffle = Some(shuffle);
        self
    }

    /// Only with [`Deal::Samples`] and a shuffle: the number of lanes, which are parallel streams that the dataset is
    /// cut into. Range: 1 to 4,096. Default: 64. If the number of lanes is a multiple of ranks times workers, every row
    /// is read once.
    pub fn lanes(mut self, lanes: u32) -> Self {
        self.lanes = Some(lanes);
        self
    }

    /// Only with [`Deal::Samples`] and a shuffle: the number of neighbouring samples of a lane that are shuffled
    /// together. Range: 1 to 2^20. Default: 256.
    pub fn window(mut self, window: u32) -> Self {
        self.window = Some(window);
        self
    }

    /// Only with [`Deal::Samples`]: what happens if the number of readers does not divide the samples. Default:
    /// [`Remainder::Pad`](crate::Remainder::Pad).
    pub fn remainder(mut self, remainder: impl ToString) -> Self {
        self.remainder = Some(cut(remainder.to_string()));
        self
    }

    /// Only with [`Deal::Shards`]: whether the rows within each shard are shuffled. Default: the value of
    /// [`shuffle`](Self::shuffle).
    pub fn shuffle_rows(mut self, shuffle: bool) -> Self {
        self.shuffle_rows = Some(shuffle);
        self
    }

    /// Only with [`Deal::Shards`]: whether each reader shuffles its own shards again, after the deal. Default: false.
    pub fn reshuffle(mut self, reshuffle: bool) -> Self {
        self.reshuffle = Some(reshuffle);
        self
    }

    /// Only with [`Deal::Shards`]: how shards are dealt to ranks. Default:
    /// [`Policy::SizeAware`](crate::Policy::SizeAware).
    pub fn policy(mut self, policy: impl ToString) -> Self {
        self.policy = Some(cut(policy.to_string()));
        self
    }

    /// Only with [`Deal::Shards`]: how the shards of a rank are dealt to its workers. Default:
    /// [`WorkerPolicy::SizeAware`](crate::WorkerPolicy::SizeAware).
    pub fn worker_policy(mut self, worker_policy: impl ToString) -> Self {
        self.worker_policy = Some(cut(worker_policy.to_string()));
        self
    }

    /// Only with [`Deal::Shards`]: what the size-aware policies balance. Default:
    /// [`Weight::Samples`](crate::Weight::Samples).
    pub fn weight(mut self, weight: impl ToString) -> Self {
        self.weight = Some(cut(weight.to_string()));
        self
    }

    /// Only with [`Deal::Shards`] and [`Weight::Bytes`](crate::Weight::Bytes): the number of bytes of each shard, at
    /// most 2^53 - 1 together.
    pub fn bytes(mut self, bytes: impl Into<Vec<u64>>) -> Self {
        self.bytes = Some(bytes.into());
        self
    }

    /// Number of ranks. Range: 1 to 2^22. Default: 1.
    pub fn world_size(mut self, world_size: u32) -> Self {
        self.world_size = Some(world_size);
        self
    }

    /// Number of loader workers of each rank. Range: 1 to 2^16, and up to 2^22 workers of all ranks. Default: 1.
    pub fn workers(mut self, workers: u32) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Number of samples in a batch. Range: from 1. Default: 1.
    pub fn batch_size(mut self, batch_size: u32) -> Self {
        self.batch_size = Some(batch_size);
        self
    }

    /// Whether a reader drops its last batch if that is shorter. Default: false.
    pub fn drop_last(mut self, drop_last: bool) -> Self {
        self.drop_last = Some(drop_last);
        self
    }

    /// The most memory, in bytes, that the reading may take; 2 GiB unless set, which is also the most that the
    /// component can use. Range: from 32 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// The whole epoch 0. Costs O(shards). The first object in a process compiles the component in some tens of
    /// milliseconds. Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (`sizes`, `bytes`, `lanes`, `window`,
    /// `world-size`, `workers`, `batch-size`; `samples` if the samples and the padding are more than 2^53 - 1;
    /// `memory-limit`), [`UnknownName`](crate::FailureKind::UnknownName), [`Missing`](crate::FailureKind::Missing)
    /// (`bytes`), [`Contradiction`](crate::FailureKind::Contradiction) (any option that the deal does not use,
    /// `bytes`), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Reading, Error> {
        let count = self.sizes.len();
        // The component keeps the lists of the options beside those of the reading.
        check_room(self.memory_limit, "sizes", count, 2 * 8 * (count + self.bytes.as_ref().map_or(0, Vec::len)))?;
        let reading = Object::new(self.memory_limit, |exports: &Planning, store| self.make(exports, store))?;
        Ok(Reading::new(reading))
    }

    fn make(
        &self,
        exports: &Planning,
        store: &mut Store,
    ) -> wasmtime::Result<Result<ResourceAny, planning_types::Failure>> {
        let interface = exports.samedeal_deal_read();
        let options = interface.options();
        let own = options.call_constructor(&mut *store, &self.sizes)?;
        macro_rules! set {
            ($($field:ident: $call:ident),* $(,)?) => {
                $(if let Some(value) = &self.$field {
                    options.$call(&mut *store, own, set!(@ $field value))?;
                })*
            };
            (@ deal $value:ident) => { $value };
            (@ remainder $value:ident) => { $value };
            (@ policy $value:ident) => { $value };
            (@ worker_policy $value:ident) => { $value };
            (@ weight $value:ident) => { $value };
            (@ bytes $value:ident) => { $value };
            (@ $other:ident $value:ident) => { *$value };
        }
        set!(
            seed: call_set_seed,
            deal: call_set_deal,
            shuffle: call_set_shuffle,
            lanes: call_set_lanes,
            window: call_set_window,
            remainder: call_set_remainder,
            shuffle_rows: call_set_shuffle_rows,
            reshuffle: call_set_reshuffle,
            policy: call_set_policy,
            worker_policy: call_set_worker_policy,
            weight: call_set_weight,
            bytes: call_set_bytes,
            world_size: call_set_world_size,
            workers: call_set_workers,
            batch_size: call_set_batch_size,
            drop_last: call_set_drop_last,
        );
        let made = interface.reading().call_constructor(&mut *store, own)?;
        own.resource_drop(store)?;
        Ok(made)
    }
}
