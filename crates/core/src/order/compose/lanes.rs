//! Lanes and shards of orders whose samples are in shards.

use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::memory::grow;
use crate::order::members::{at_order, at_source};
use crate::order::{OrderId, OrderPart, Sharding};

impl OrderPart {
    /// The shards, if this order is `sharded`.
    fn as_sharded(&self) -> Option<&Sharding> {
        self.sharding.as_deref().filter(|_| self.id == OrderId::Sharded)
    }

    /// The inner orders of a composed order.
    fn parts_below(&self) -> impl Iterator<Item = &Self> {
        (0..).map_while(|place| self.part(place))
    }

    /// The number of lanes of this order, or of all its inner orders together.
    pub(crate) fn lanes(&self) -> u32 {
        self.as_sharded().map_or_else(|| self.parts_below().map(Self::lanes).sum(), |sharding| sharding.lanes)
    }

    /// The number of samples in one window of each lane, summed over the inner orders.
    pub(crate) fn samples_of_windows(&self) -> u64 {
        self.as_sharded().map_or_else(|| self.parts_below().map(Self::samples_of_windows).sum(), Sharding::round)
    }

    /// Adds the sizes of the shards that have the samples. Failures: `name`, if an order without inner orders is not
    /// `sharded`; `sources`, if sources with the index space `shared` differ in their shards; `out-of-memory`.
    pub(crate) fn add_shards(&self, sizes: &mut Vec<u64>) -> Result<(), Failure> {
        if let Some(sharding) = self.as_sharded() {
            grow("sizes", sharding.shards.count() as usize, sizes)?;
            sizes.extend(sharding.shards.sizes());
            return Ok(());
        }
        let is_shared = self.as_blend().is_some_and(|blend| blend.is_shared());
        let start = sizes.len();
        for (place, part) in self.parts_below().enumerate() {
            let end = sizes.len();
            part.add_shards(sizes).map_err(|failure| match self.as_blend() {
                Some(_) => at_source(place, failure),
                None => at_order("of", failure),
            })?;
            if is_shared && place > 0 {
                if sizes[start..end] != sizes[end..] {
                    let name = self.as_blend().and_then(|blend| blend.names().nth(place)).unwrap_or_default();
                    let allowed = "sources in the shards of the first one, with the index_space shared";
                    return Err(Failure::contradiction("sources", name, allowed));
                }
                sizes.truncate(end);
            }
        }
        if self.part(0).is_none() {
            let allowed =
                "sharded, or one that is made of orders sharded alone: readers of shards need neighbouring rows";
            return Err(Failure::contradiction("name", self.id.name(), allowed));
        }
        Ok(())
    }
}
