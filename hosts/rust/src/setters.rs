//! Setters that several builders share. A setter needs a field of the same name in the builder, or the field `draft`.

/// Expands to the setters with these names, within the `impl` of a builder.
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
        /// The data-parallel rank; 0 unless set. Range: 0 to `world_size` - 1.
        pub fn rank(mut self, rank: u32) -> Self {
            self.rank = rank;
            self
        }
    };
    (memory_limit) => {
        /// The most memory, in bytes, for the tables, lists and windows of the object; 2 GiB unless set, which is also
        /// the most that the component can use. Range: from 32 MiB. A call that needs more fails with
        /// [`OutOfMemory`](crate::FailureKind::OutOfMemory).
        pub fn memory_limit(mut self, bytes: usize) -> Self {
            self.memory_limit = bytes;
            self
        }
    };
    (order) => {
        /// The order: an [`Order`](crate::Order), such as a blend or a dataset in shards; or a name: one of
        /// [`orders`](crate::orders), or `sharded`, which also needs the `sizes` of shards. Default: `feistel`. An
        /// `Order` replaces the whole order that was set before or is in the recipe: number of samples, seed and lists.
        pub fn order(mut self, order: impl Into<crate::OrderOption>) -> Self {
            self.draft.order(order.into());
            self
        }
    };
    (list) => {
        /// Sets a list of more than 256 numbers, of which a recipe has only the hash. `path` is the path of the order
        /// in the recipe and the name of the list, such as `sizes`, `of/indices` or `sources/web/sizes`.
        /// [`Sampler::from_recipe`](crate::Sampler::from_recipe) has an example.
        pub fn list(mut self, path: impl AsRef<str>, numbers: impl Into<Vec<u64>>) -> Self {
            self.draft.list(path.as_ref(), numbers);
            self
        }
    };
    (lists) => {
        /// Sets all lists beside a recipe, by their paths.
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
