//! What a state of batches is of, and what it says.

use alloc::format;
use alloc::string::String;

use super::batcher::Batcher;
use super::buckets::Buckets;
use super::config::{BatchConfig, Counting, MAX_HISTORY, Strategy, Stretch};
use super::items::Items;
use crate::Failure;
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::collect;
use crate::state::{BatcherState, check};

impl Batcher {
    /// The state once every rank has taken so many steps: a text for a checkpoint, the same on all ranks. Failures: `taken`;
    /// `history`, where more than 64 worlds took a part.
    pub fn state(&self, taken: u64) -> Result<String, Failure> {
        let (config, left) = (self.config(), self.metrics().steps);
        if taken > left {
            return Err(Failure::out_of_range("taken", taken, format!("0 to {left}")));
        }
        let here = Stretch { world: config.world, steps: taken };
        let mut history = collect("history", config.history.len() + 1, config.history.iter().copied())?;
        match history.last_mut() {
            Some(last) if last.world == config.world => last.steps = last.steps.saturating_add(taken),
            _ if taken > 0 => history.push(here),
            _ => {}
        }
        if history.len() > MAX_HISTORY {
            let value = format!("of {} worlds", history.len());
            return Err(Failure::out_of_range("history", value, format!("up to {MAX_HISTORY}")));
        }
        Ok(BatcherState {
            order: config.order.name(),
            samples: self.num_samples(),
            seed: config.seed,
            epoch: config.epoch,
            strategy: config.strategy.name(),
            history,
            fingerprint: self.identity(),
        }
        .write())
    }

    /// Goes on where a state was taken: moves to its epoch, and plans what was not taken. After a failure, nothing has
    /// changed. Failures: `state`; `order`, `samples`, `seed`, `strategy` or, for all else, `config` where they are
    /// others; `history`, `out-of-memory`.
    pub fn resume(&mut self, state: &str) -> Result<(), Failure> {
        let state = BatcherState::read(state)?;
        let config = self.config();
        check("order", state.order, config.order.name())?;
        check("samples", state.samples, self.num_samples())?;
        check("seed", state.seed, config.seed)?;
        check("strategy", state.strategy, config.strategy.name())?;
        check("config", state.fingerprint, self.identity())?;
        self.move_to(state.epoch, state.history)
    }

    fn identity(&self) -> &str {
        self.identity.get_or_init(|| fingerprint(self.config(), self.follows, self.items()))
    }
}

/// SHA-256 over all that decides the batches, but for the epoch and who takes them. What the strategy does not look at counts as
/// 0, so that it may be anything.
fn fingerprint(config: &BatchConfig, follows: bool, items: &Items) -> String {
    let BatchConfig { seed, order, strategy, max_batch_size, max_length, budget, counting, .. } = config;
    let BatchConfig { multiple, capacity, packing, buckets, window, too_long, tail, .. } = config;
    let (kind, linear, quadratic) = match *counting {
        Counting::Padded => (0, 0, 0),
        Counting::Unpadded => (1, 1, 0),
        Counting::Weighted { linear, quadratic } => (2, linear, quadratic),
    };
    let is = |one: Strategy| *strategy == one;
    let has_budget = is(Strategy::Budget) || is(Strategy::Bucket);
    let packs = is(Strategy::Pack) || is(Strategy::Budget) && kind != 0;
    let mut hash = Fingerprint::new();
    hash.add(b"samedeal batches 1\0");
    hash.add(order.name().as_bytes());
    hash.add(&[0, *strategy as u8, kind, if packs { *packing as u8 } else { 0 }, *too_long as u8, *tail as u8]);
    hash.add(&seed.to_le_bytes());
    hash.add(&if has_budget { *budget } else { 0 }.to_le_bytes());
    let multiple = if has_budget { *multiple } else { 0 };
    let capacity = if is(Strategy::Pack) { *capacity } else { 0 };
    // The default follows the world, and a state goes on in any world: it is no number of items.
    let follows = follows && !is(Strategy::PadToMax);
    let window = if is(Strategy::PadToMax) || follows { 0 } else { window.unwrap_or(0) };
    // No bound is one thing, whichever way it is said: there are fewer items than 2^32 - 1.
    let max_batch_size = if *max_batch_size == u32::MAX { 0 } else { *max_batch_size };
    for number in [max_batch_size, *max_length, linear, quadratic, multiple, capacity, window] {
        hash.add(&number.to_le_bytes());
    }
    match buckets {
        _ if !is(Strategy::Bucket) => hash.add(&[0; 4]),
        Some(Buckets::Width(number) | Buckets::Quantiles(number)) => hash.add(&number.to_le_bytes()),
        Some(Buckets::Boundaries(ends)) => hash.add_u32s(ends),
        None => hash.add(&[0; 4]),
    }
    hash.add_u32s(items.lengths());
    for (sample, start) in items.parts() {
        hash.add(&sample.to_le_bytes());
        hash.add(&start.to_le_bytes());
    }
    if follows {
        // After pairs of 4 bytes, one byte is not part of them.
        hash.add(&[1]);
    }
    hash.finish()
}
