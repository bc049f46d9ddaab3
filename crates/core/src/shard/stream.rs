use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::check::check_run;
use crate::base::failure::{only, range};
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};
use crate::document::member::{Default, Kind, Member, text, with_elsewhere};
use crate::document::recipe::{self, VERSION};
use crate::document::signed_text;
use crate::order::{COMPOSED_MEMBERS, Order, OrderId};
use crate::{deal, order};

/// The configuration of a chunk stream, which is read without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// Number of chunks, which the stream repeats in cycles; `None` if the number is not known.
    pub chunks: Option<u64>,
    /// Number of this reader, 0 to `readers` - 1.
    pub reader: u32,
    /// Number of readers, at least 1.
    pub readers: u32,
    /// The order of the chunks in each cycle; `sequential` if the number of chunks is not known.
    pub order: OrderId,
    /// Seed of the order.
    pub seed: i64,
    /// The epoch of the first cycle. Each further cycle is one epoch later.
    pub epoch: u64,
}

/// The most chunks that one call shuffles, if it needs more than two tables (a table is the order of all chunks in a
/// cycle). To shuffle so many takes a second or two.
const MOST_SHUFFLED: u128 = 1 << 24;

/// A chunk stream. Reader r of n takes the chunks at places r, r + n, r + 2n, ... of an endless sequence. If the number
/// of chunks is known, the sequence is one cycle through all chunks after the other; else it is 0, 1, 2, ...
pub struct Stream {
    config: StreamConfig,
    /// The cycle that was needed last, and its order.
    order: Option<(u64, Order)>,
}

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    order::ANY_ORDER.of(Kind::Section(ORDER)).or(Default::Empty),
    deal::DEAL.of(Kind::Section(DEAL)),
    Member::new("shards", OF_OTHERS),
    Member::new("batch", OF_OTHERS),
];
const ORDER: &[Member] = &const {
    let allowed = "none here: composed orders belong to samplers";
    with_elsewhere::<_, { OWN_ORDER.len() + COMPOSED_MEMBERS.len() }>(OWN_ORDER, COMPOSED_MEMBERS, allowed)
};
const OWN_ORDER: [Member; 8] = [
    Member::new("name", Kind::TEXT)
        .text(text!("The order of the chunks in each cycle; by default `feistel`, or `sequential` without `chunks`.")),
    Member::new("chunks", Kind::POSITIVE).text(text!("The number of chunks, if it is known.")),
    recipe::SEED,
    Member::new("samples", OF_OTHERS),
    Member::new("lanes", OF_OTHERS),
    Member::new("shuffle_window", OF_OTHERS),
    Member::new("shards", OF_OTHERS),
    Member::new("sizes", OF_OTHERS),
];
const DEAL: &[Member] = &[
    deal::READERS,
    Member::new("world_size", OF_OTHERS),
    Member::new("workers", OF_OTHERS),
    Member::new("remainder", OF_OTHERS),
    Member::new("layout", OF_OTHERS),
    Member::new("unit", OF_OTHERS),
];
const OF_OTHERS: Kind = Kind::Elsewhere("none in the recipe of a stream of chunks: it has chunks and readers");

impl Stream {
    /// The stream of a recipe, as a reader sees it. Failures: `recipe` (no JSON object, or more than 2^24 bytes), an
    /// unknown member, or any field.
    #[inline(never)]
    pub fn from_recipe(text: &str, epoch: u64, reader: u32) -> Result<Self, Failure> {
        recipe::read(text, SECTIONS, &[], |fields| {
            let order = fields.section("order");
            let chunks = order.count("chunks");
            let id = match (order.text("name"), chunks) {
                (Some(name), _) => OrderId::from_name(name)?,
                (None, Some(_)) => OrderId::Feistel,
                (None, None) => OrderId::Sequential,
            };
            fields.check_section("order", &[])?;
            let deal = fields.check_section("deal", &[])?;
            let (seed, readers) = (order.integer("seed"), deal.short("readers"));
            Self::new(StreamConfig { chunks, reader, readers, order: id, seed, epoch })
        })
    }

    /// The recipe in its canonical form (SPEC.md, section 14). Failures: `out-of-memory`.
    #[inline(never)]
    pub fn recipe(&self) -> Result<String, Failure> {
        let StreamConfig { chunks, readers, order, seed, .. } = self.config;
        let chunks = chunks.map(|chunks| format!("\"chunks\":{chunks},")).unwrap_or_default();
        let seed = signed_text(seed);
        let text = format!(
            "{{\"samedeal\":{VERSION},\"order\":{{\"name\":\"{}\",{chunks}\"seed\":{seed}}},\"deal\":{{\"readers\":{readers}}}}}",
            order.name()
        );
        recipe::canonical(&|each| each(&text))
    }

    /// The stream of a configuration, in O(1). Failures: `readers`, `reader`, `chunks`, `name`, `seed`.
    pub fn new(config: StreamConfig) -> Result<Self, Failure> {
        let StreamConfig { chunks, reader, readers, order, seed, .. } = config;
        if readers == 0 {
            return Err(Failure::out_of_range("readers", 0, range(1, u32::MAX)));
        }
        if reader >= readers {
            return Err(Failure::out_of_range("reader", reader, range(0, readers - 1)));
        }
        if chunks == Some(0) {
            return Err(Failure::out_of_range("chunks", 0, range(1, MAX_EXACT)));
        }
        if chunks.is_none() && order != OrderId::Sequential {
            return Err(Failure::contradiction(
                "name",
                order.name(),
                only("sequential").and(", where the number of chunks is not known"),
            ));
        }
        if order == OrderId::Sharded {
            return Err(Failure::contradiction("name", order.name(), "an order of single chunks"));
        }
        order.check(chunks.unwrap_or(0), seed).map_err(of_chunks)?;
        Ok(Self { config, order: None })
    }

    /// This reader's chunks number `start` to `start + count - 1`, each cycle in its own order. Failures: `start`,
    /// `count` (also if the order has a table of all chunks for each cycle, and the chunks of the call are in too many
    /// cycles), `out-of-memory`.
    pub fn chunks(&mut self, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        let StreamConfig { chunks, reader, readers, .. } = self.config;
        // The greatest place is 2^53 - 1.
        check_run(start, count, (MAX_EXACT - u64::from(reader)) / u64::from(readers) + 1)?;
        self.check_tables(start, count)?;
        let mut out = collect("count", count as usize, [])?;
        for i in start..start + u64::from(count) {
            let place = u64::from(reader) + i * u64::from(readers);
            out.push(match chunks {
                Some(chunks) => self.cyclic(chunks, place)?,
                None => place,
            });
        }
        Ok(out)
    }

    /// Checks that a call makes at most two tables, or that its tables have at most [`MOST_SHUFFLED`] chunks together.
    /// Each cycle needs a table, which costs a shuffle of all chunks. Failures: `count`.
    fn check_tables(&self, start: u64, count: u32) -> Result<(), Failure> {
        let StreamConfig { chunks, reader, readers, order, .. } = self.config;
        let (Some(chunks), 1.., true) = (chunks, count, order.has_table()) else { return Ok(()) };
        let cycle = |i: u64| (u64::from(reader) + i * u64::from(readers)) / chunks;
        // A call makes one table for each cycle from the cycle of its first chunk to the cycle of its last chunk. With
        // more readers than chunks, a reader skips some of these cycles. It has at most one chunk in each cycle then,
        // so `count` tables are enough.
        let tables = (cycle(start + u64::from(count) - 1) - cycle(start) + 1).min(count.into());
        if tables > 2 && u128::from(tables) * u128::from(chunks) > MOST_SHUFFLED {
            let order = order.name();
            let allowed = format!(
                "fewer: these are in {tables} epochs of {chunks} chunks, and the order {order} shuffles all chunks for each of \
                 them; one call shuffles up to {MOST_SHUFFLED} chunks, or two epochs of any number"
            );
            return Err(Failure::out_of_range("count", count, allowed));
        }
        Ok(())
    }

    fn cyclic(&mut self, chunks: u64, place: u64) -> Result<u64, Failure> {
        let (cycle, position) = (place / chunks, place % chunks);
        if let Some((built, order)) = &self.order
            && *built == cycle
        {
            return order.sample(position);
        }
        let StreamConfig { order, seed, epoch, .. } = self.config;
        self.order = None;
        let order = Order::new(order, chunks, seed, epoch.wrapping_add(cycle)).map_err(of_chunks)?;
        let chunk = order.sample(position)?;
        self.order = Some((cycle, order));
        Ok(chunk)
    }
}

/// A failure of an order with the field `chunks` in place of `samples`: the samples of the order are chunks here.
fn of_chunks(failure: Failure) -> Failure {
    if failure.field != "samples" {
        return failure;
    }
    // An order may have 0 samples, but a cycle has at least one chunk.
    failure.starting_at_one().of("chunks")
}

#[cfg(test)]
mod tests {
    use super::{Stream, StreamConfig};
    use crate::order::OrderId;

    fn allowed(order: OrderId, chunks: u64, readers: u32, start: u64, count: u32) -> bool {
        let config = StreamConfig { chunks: Some(chunks), reader: 0, readers, order, seed: 0, epoch: 0 };
        let found = Stream::new(config).unwrap().check_tables(start, count);
        assert!(found.as_ref().err().is_none_or(|failure| failure.field == "count"));
        found.is_ok()
    }

    #[test]
    fn a_call_shuffles_so_many_chunks_or_two_epochs() {
        let torch = OrderId::Torch;
        assert!(allowed(torch, 1 << 20, 1 << 20, 0, 16));
        assert!(!allowed(torch, 1 << 20, 1 << 20, 0, 17));
        assert!(allowed(torch, 1 << 14, u32::MAX, 0, 1 << 10));
        assert!(!allowed(torch, 1 << 14, u32::MAX, 0, (1 << 10) + 1));
        // The chunks of the first call are in two cycles, the chunks of the second call in three.
        assert!(allowed(torch, u32::MAX.into(), 1 << 31, 1, 2));
        assert!(!allowed(torch, u32::MAX.into(), 1 << 31, 1, 4));
        assert!(allowed(torch, u32::MAX.into(), 1, 0, 1 << 20));
        assert!(allowed(torch, u32::MAX.into(), u32::MAX, 9, 0));
        assert!(allowed(torch, 5, 7, 0, 1 << 20));
        for order in [OrderId::Feistel, OrderId::Sequential] {
            assert!(allowed(order, u32::MAX.into(), u32::MAX, 0, 1 << 20));
        }
    }
}
