use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::buckets::Buckets;
use super::config::{BatchConfig, TooLong};
use super::items::{Items, too_long};
use super::metrics::Metrics;
use super::recipe::BatchRecipe;
use super::run::Run;
use super::window::{Planned, plan_window};
use crate::base::failure::{only, range};
use crate::base::memory::{collect, has_room};
use crate::{Failure, MAX_EXACT};

/// Batches of one rank from samples whose lengths are not known up front. The samples are taken in the order in which they
/// come; the batches are those of [`Batcher`](super::Batcher) in the order `sequential`.
pub struct BatchStream {
    /// Without lengths.
    config: BatchConfig,
    rank: u32,
    /// The samples that wait, from `start` on: those that the last window handed back come first.
    waiting: Vec<Part>,
    start: usize,
    /// How many of them those are.
    carried: usize,
    /// Number of the next window.
    window: u64,
    metrics: Metrics,
    /// Whether no more samples come.
    ended: bool,
    /// Whether the last window was made.
    done: bool,
}

/// A sample, or a part of one.
#[derive(Clone, Copy)]
struct Part {
    sample: u64,
    start: u32,
    length: u32,
}

/// The most samples that wait.
const MAX_WAITING: u32 = 1 << 24;

impl BatchStream {
    /// The stream of a configuration. Failures: any field of it, and those of `new`.
    pub fn of(config: BatchConfig, rank: u32) -> Result<Self, Failure> {
        let epoch = config.epoch;
        Self::new(&BatchRecipe::without_lengths(config)?, epoch, rank)
    }

    /// A stream that gives the batches of a rank in an epoch. The lengths of the recipe are not looked at, nor is the name of its order.
    /// Failures: `quantiles` (lengths are not known), `batch-window` (0 to 2^24, where 0 takes samples one by one), `rank`.
    pub fn new(recipe: &BatchRecipe, epoch: u64, rank: u32) -> Result<Self, Failure> {
        let config = BatchConfig { epoch, ..recipe.of_a_stream() };
        if let Some(Buckets::Quantiles(count)) = config.buckets {
            let allowed = "a width or boundaries, where lengths are not known";
            return Err(Failure::contradiction("quantiles", count, allowed));
        }
        if let Some(window) = config.window.filter(|&window| window > MAX_WAITING) {
            return Err(Failure::out_of_range("batch-window", window, range(0, MAX_WAITING)));
        }
        if rank >= config.world {
            return Err(Failure::out_of_range("rank", rank, range(0, config.world - 1)));
        }
        let metrics = Metrics::default();
        Ok(Self {
            config,
            rank,
            waiting: Vec::new(),
            start: 0,
            carried: 0,
            window: 0,
            metrics,
            ended: false,
            done: false,
        })
    }

    /// Adds samples and their lengths, a number of each; all of them or, after a failure, none. Failures: `lengths` (another number;
    /// too long, where that is an error), `samples` (above 2^53 - 1; after `flush`), `out-of-memory`.
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
        let most = self.config.longest();
        if self.config.too_long == TooLong::Error
            && let Some((sample, length)) = samples.iter().zip(lengths).find(|(_, length)| **length > most)
        {
            return Err(too_long(*length, *sample, most));
        }
        let items = Items::new(&self.config, Rc::new(collect("lengths", lengths.len(), lengths.iter().copied())?))?;
        let parts = collect(
            "lengths",
            items.count() as usize,
            (0..items.count()).map(|item| {
                let (place, start) = items.part(item);
                Part { sample: samples[place as usize], start, length: items.length(item) }
            }),
        )?;
        if !has_room(&mut self.waiting, parts.len()) {
            return Err(Failure::out_of_memory("samples", samples.len(), "fewer at a time"));
        }
        self.waiting.extend(parts);
        self.metrics.truncated += items.truncated;
        self.metrics.too_long += items.dropped;
        self.metrics.split += items.split;
        Ok(())
    }

    /// Ends the stream: what waits becomes batches.
    pub fn flush(&mut self) {
        self.ended = true;
    }

    /// The next batches, those of one window; none if no window is complete. Failures: `out-of-memory`; what waits still
    /// does.
    pub fn take(&mut self) -> Result<Option<Run>, Failure> {
        // A window may come to nothing but what the next one takes over.
        while !self.done {
            let waiting = self.waiting.len() - self.start;
            let width = usize::try_from(self.config.width_after(self.carried)).unwrap_or(usize::MAX);
            let run = if waiting - self.carried > width {
                self.plan(self.carried + width, false)?
            } else if self.ended {
                self.plan(waiting, true)?
            } else {
                break;
            };
            if !run.batch_ends.is_empty() {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// What the batches of all windows that were taken amount to, those of the other ranks too; what happened to samples that
    /// are too long, of all that were pushed.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// A ratio of these metrics, in parts per million: see [`Metrics::ratio`]. Failures: `ratio`.
    pub fn ratio(&self, name: &str) -> Result<u64, Failure> {
        self.metrics.ratio(&self.config, name)
    }

    /// Makes a window of the first `count` that wait.
    fn plan(&mut self, count: usize, last: bool) -> Result<Run, Failure> {
        let waiting = &self.waiting[self.start..];
        let lengths = waiting[..count].iter().map(|part| part.length);
        let items = Items::of_lengths(collect("window", count, lengths)?);
        let pool = collect("window", count, 0..count as u32)?;
        let Planned { steps, left, dropped, packs_bound } = plan_window(&self.config, &items, pool, self.window, last)?;
        let mut run = Run::default();
        for step in 0..steps.count() {
            run.add(&self.config, &items, &steps, step, self.rank as usize)?;
        }
        for (sample, start) in run.samples.iter_mut().zip(&mut run.starts) {
            let part = waiting[*sample as usize];
            (*sample, *start) = (part.sample, part.start);
        }
        let kept = collect("window", left.len(), left.iter().map(|&item| waiting[item as usize]))?;
        self.metrics.add(&self.config, &items, &steps, 0);
        self.metrics.dropped += dropped;
        self.metrics.packs_bound += packs_bound;
        self.carried = kept.len();
        // In the place of the last of those that are gone, so that not all that wait are moved for each window.
        self.start += count - kept.len();
        self.waiting[self.start..self.start + kept.len()].copy_from_slice(&kept);
        if self.start > self.waiting.len() / 2 {
            self.waiting.drain(..self.start);
            self.start = 0;
        }
        self.window += 1;
        self.done = last;
        Ok(run)
    }
}
