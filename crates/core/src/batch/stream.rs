use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::buckets::Buckets;
use super::config::{BatchConfig, TooLong};
use super::items::{Items, Tally, too_long};
use super::metrics::Metrics;
use super::recipe::BatchRecipe;
use super::rules::Rules;
use super::run::Run;
use super::window::{Planned, plan_window};
use crate::base::failure::{only, range};
use crate::base::memory::{collect, has_room};
use crate::base::{Failure, MAX_EXACT};

/// Batches of one rank from samples whose lengths are not known before. The samples are taken in the order in which
/// they are pushed. The batches are equal to those of a [`Batcher`](super::Batcher) with the order `sequential`, the
/// same window width and the same buckets.
pub struct BatchStream {
    rules: Rc<Rules>,
    epoch: u64,
    rank: u32,
    /// The samples that were pushed; `lengths` has the length of each. The samples from the place `start` on wait for a
    /// plan; the samples before `start` were planned.
    samples: Vec<u64>,
    lengths: Vec<u32>,
    start: usize,
    /// How many samples were planned.
    position: u64,
    metrics: Metrics,
    /// Whether no more samples come.
    ended: bool,
}

/// The greatest `batch_window` of a stream.
const MAX_WINDOW: u32 = 1 << 24;

impl BatchStream {
    /// The stream of a configuration. Failures: any field of the configuration, and those of `new`.
    pub fn of(config: BatchConfig, rank: u32) -> Result<Self, Failure> {
        let epoch = config.epoch;
        Self::new(&BatchRecipe::without_lengths(config)?, epoch, rank)
    }

    /// The stream of the batches of a rank in an epoch. It does not use the lengths of the recipe, or the name of its
    /// order. Failures: `quantiles` (lengths are not known), `batch_window` (1 to 2^24), `rank`.
    pub fn new(recipe: &BatchRecipe, epoch: u64, rank: u32) -> Result<Self, Failure> {
        let config = recipe.config();
        if let Some(Buckets::Quantiles(count)) = config.buckets {
            let allowed = "a width or boundaries, where lengths are not known";
            return Err(Failure::contradiction("quantiles", count, allowed).at("batch.quantiles"));
        }
        if let Some(window) = config.window.filter(|&window| window > MAX_WINDOW) {
            return Err(Failure::out_of_range("batch_window", window, range(1, MAX_WINDOW)).at("batch.batch_window"));
        }
        if rank >= config.world_size {
            return Err(Failure::out_of_range("rank", rank, range(0, config.world_size - 1)));
        }
        let rules = Rules::of_a_stream(config);
        let (samples, lengths) = (Vec::new(), Vec::new());
        Ok(Self {
            rules,
            epoch,
            rank,
            samples,
            lengths,
            start: 0,
            position: 0,
            metrics: Metrics::default(),
            ended: false,
        })
    }

    /// Adds samples, with one length for each. After a failure, none is added. Failures: `lengths` (not one for each
    /// sample; or a sample is too long, and `too_long` is `error`), `samples` (above 2^53 - 1; after `flush`),
    /// `max_length`, `max_tokens`, `max_cost` (no room for a token), `out-of-memory`.
    pub fn push(&mut self, samples: &[u64], lengths: &[u32]) -> Result<(), Failure> {
        if samples.len() != lengths.len() {
            let value = format!("{} of them", lengths.len());
            return Err(Failure::contradiction("lengths", value, only(samples.len()).and(", one for each sample")));
        }
        if let Some(sample) = samples.iter().find(|&&sample| sample > MAX_EXACT) {
            return Err(Failure::out_of_range("samples", sample, range(0, MAX_EXACT)));
        }
        if self.ended {
            let value = format!("{} of them", samples.len());
            return Err(Failure::contradiction("samples", value, "none, after the end"));
        }
        let most = self.rules.longest();
        let is_long = |length: &u32| *length > most;
        if let Some(at) = lengths.iter().position(is_long) {
            match self.rules.too_long {
                TooLong::Error => return Err(too_long(lengths[at], samples[at], most)),
                how => Items::check(&self.rules, how)?,
            }
        }
        if !has_room(&mut self.samples, samples.len()) || !has_room(&mut self.lengths, lengths.len()) {
            return Err(Failure::out_of_memory("samples", samples.len(), "fewer at a time"));
        }
        self.samples.extend(samples);
        self.lengths.extend(lengths);
        Ok(())
    }

    /// Ends the stream: the samples that wait become batches.
    pub fn flush(&mut self) {
        self.ended = true;
    }

    /// The batches of the next window that has any. None if no window is complete. After a failure, all samples still
    /// wait. Failures: `out-of-memory`, `max_length`.
    pub fn take(&mut self) -> Result<Option<Run>, Failure> {
        loop {
            let waiting = (self.samples.len() - self.start) as u64;
            let width = self.rules.width;
            // The last window may have up to half a width more. So before the end, a window is planned only if at least
            // half a width is left after it.
            let count = if waiting - waiting.min(width) >= width.div_ceil(2) {
                width
            } else if self.ended && waiting > 0 {
                waiting
            } else {
                return Ok(None);
            };
            let run = self.plan(count as usize)?;
            if !run.batch_ends.is_empty() {
                return Ok(Some(run));
            }
        }
    }

    /// The metrics of all windows that were planned so far, of all ranks together.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// A ratio of the metrics, in parts per million: see [`Metrics::ratio`]. Failures: `ratio`.
    pub fn ratio(&self, name: &str) -> Result<u64, Failure> {
        self.metrics.ratio(&self.rules, name)
    }

    /// Plans a window of the first `count` samples that wait.
    fn plan(&mut self, count: usize) -> Result<Run, Failure> {
        let taken = self.start..self.start + count;
        let samples = collect("batch_window", count, self.samples[taken.clone()].iter().copied())?;
        let lengths = collect("batch_window", count, self.lengths[taken].iter().copied())?;
        let mut tally = Tally::default();
        let items = Items::new(samples, lengths).treated(&self.rules, &mut tally)?;
        let Planned { steps, dropped, packs_bound } = plan_window(&self.rules, self.epoch, &items, self.position)?;
        let mut run = Run::default();
        for step in 0..steps.count() {
            run.add(&self.rules, &items, &steps, step, self.rank as usize)?;
        }
        self.metrics.add(&self.rules, &items, &steps, 0);
        self.metrics.dropped += dropped;
        self.metrics.packs_bound += packs_bound;
        self.metrics.add_tally(&tally);
        self.start += count;
        // Planned samples are removed only when they are the greater part of the list, because removing them moves all
        // samples that wait.
        if self.start > self.samples.len() / 2 {
            self.samples.drain(..self.start);
            self.lengths.drain(..self.start);
            self.start = 0;
        }
        self.position += count as u64;
        Ok(run)
    }
}
