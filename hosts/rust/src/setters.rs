//! The setters that several builders have, each said once. A builder has a field of the name of each, or a `draft`.

/// The setters of these names, within the `impl` of a builder.
macro_rules! setters {
    ($($name:ident)*) => { $($crate::setters::setter!($name);)* };
}

macro_rules! setter {
    (epoch) => {
        /// The number of the epoch, 64-bit; 0 unless set.
        pub fn epoch(mut self, epoch: u64) -> Self {
            self.epoch = epoch;
            self
        }
    };
    (rank) => {
        /// Which of the data-parallel ranks this is; 0 unless set. Range: 0 to `world_size` - 1.
        pub fn rank(mut self, rank: u32) -> Self {
            self.rank = rank;
            self
        }
    };
    (memory_limit) => {
        /// The most memory, in bytes, that the tables, lists and windows of the object may take; 2 GiB unless set, which is also the most
        /// that the component can use. Range: from 32 MiB. Beyond it calls fail with [`OutOfMemory`](crate::FailureKind::OutOfMemory).
        pub fn memory_limit(mut self, bytes: usize) -> Self {
            self.memory_limit = bytes;
            self
        }
    };
    (order) => {
        /// The order: an [`Order`](crate::Order), such as a blend or a dataset in shards, or a name, which is one of
        /// [`orders`](crate::orders), or `sharded`, which needs the `sizes` of shards; `feistel` unless set. An `Order` replaces all that
        /// was set of the order, or that a recipe has: number of samples, seed and lists.
        pub fn order(mut self, order: impl Into<crate::OrderOption>) -> Self {
            self.draft.order(order.into());
            self
        }
    };
    (list) => {
        /// A list of which a recipe has only the hash, because it has more than 256 numbers, by its path: its name in the recipe, after
        /// the path to the order that has it, such as `sizes`, `of/indices` or `sources/web/sizes`.
        /// [`Sampler::from_recipe`](crate::Sampler::from_recipe) has an example.
        pub fn list(mut self, path: impl AsRef<str>, numbers: impl Into<Vec<u64>>) -> Self {
            self.draft.list(path.as_ref(), numbers);
            self
        }
    };
    (lists) => {
        /// Lists that come beside a recipe, by their names.
        #[doc(hidden)]
        pub fn lists(mut self, lists: Vec<crate::members::List>) -> Self {
            self.draft.set_lists(lists);
            self
        }
    };
    (share_lists) => {
        pub(crate) fn share_lists(mut self, lists: Vec<crate::members::Shared>) -> Self {
            self.draft.share_lists(lists);
            self
        }
    };
    (samples) => {
        pub(crate) fn samples(mut self, samples: u64) -> Self {
            self.draft.set("order", "samples", samples);
            self
        }
    };
}

pub(crate) use {setter, setters};
