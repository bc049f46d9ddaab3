use alloc::format;
use alloc::vec::Vec;

use crate::base::check::check_run;
use crate::base::memory::collect;
use crate::{Failure, MAX_EXACT, Order, OrderId};

/// Chunks that are read without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// How many chunks there are, to go through again and again; none where that is not known.
    pub chunks: Option<u64>,
    /// Which reader this is.
    pub reader: u32,
    /// How many there are.
    pub readers: u32,
    /// The order of the chunks in each cycle; `sequential` where their number is not known.
    pub order: OrderId,
    /// Seed of the order.
    pub seed: i64,
    /// The epoch of the first cycle. Each further cycle is the next one.
    pub epoch: u64,
}

/// Reader r of n takes the chunks at places r, r + n, r + 2n, ... of an endless row: of all chunks, or of one cycle
/// through them after the other.
pub struct Stream {
    config: StreamConfig,
    /// The cycle that was asked for last.
    order: Option<(u64, Order)>,
}

impl Stream {
    /// Checks the configuration, in O(1). Failures: `readers`, `reader`, `chunks`, `order`, `seed`.
    pub fn new(config: StreamConfig) -> Result<Self, Failure> {
        let StreamConfig { chunks, reader, readers, order, seed, .. } = config;
        if readers == 0 {
            return Err(Failure::out_of_range("readers", 0, format!("1 to {}", u32::MAX)));
        }
        if reader >= readers {
            return Err(Failure::out_of_range("reader", reader, format!("0 to {}", readers - 1)));
        }
        if chunks == Some(0) {
            return Err(Failure::out_of_range("chunks", 0, format!("1 to {MAX_EXACT}")));
        }
        if chunks.is_none() && order != OrderId::Sequential {
            return Err(Failure::contradiction(
                "order",
                order.name(),
                "sequential, where the number of chunks is not known",
            ));
        }
        if order == OrderId::Sharded {
            return Err(Failure::contradiction("order", order.name(), "an order of single chunks"));
        }
        order.check(chunks.unwrap_or(0), seed).map_err(of_chunks)?;
        Ok(Self { config, order: None })
    }

    /// This reader's chunks number `start` to `start + count - 1`, each cycle in its own order. Failures: `start`, `count`.
    pub fn chunks(&mut self, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        let StreamConfig { chunks, reader, readers, .. } = self.config;
        // Places end at 2^53 - 1.
        check_run(start, count, (MAX_EXACT - u64::from(reader)) / u64::from(readers) + 1)?;
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

    fn cyclic(&mut self, chunks: u64, place: u64) -> Result<u64, Failure> {
        let (cycle, position) = (place / chunks, place % chunks);
        if let Some((built, order)) = &self.order
            && *built == cycle
        {
            return Ok(order.sample(position));
        }
        let StreamConfig { order, seed, epoch, .. } = self.config;
        self.order = None;
        let order = Order::new(order, chunks, seed, epoch.wrapping_add(cycle)).map_err(of_chunks)?;
        let chunk = order.sample(position);
        self.order = Some((cycle, order));
        Ok(chunk)
    }
}

/// What an order calls samples are chunks here.
fn of_chunks(failure: Failure) -> Failure {
    if failure.field != "samples" {
        return failure;
    }
    // An order may have no samples at all; a cycle has some.
    let allowed = failure.allowed.replacen("0 to", "1 to", 1);
    Failure { field: "chunks", allowed, ..failure }
}
