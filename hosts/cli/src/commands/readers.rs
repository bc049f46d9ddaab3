//! The readers of an epoch, or of the rest of one: ranks, or the loader workers of each rank. A sampler deals to the
//! readers; after `--resume` with the state of a dataset in files, a reading does.

use samedeal::{BatchSize, Failure, FailureKind, Layout, ReadBatch, Reading, ReadingBuilder, Remainder, Sampler};
use serde_json::Value;

use crate::args::dataset::Dataset;
use crate::args::deal::EpochArgs;
use crate::args::recipe::order_of;
use crate::args::resume::{NAME_FILES, differing};
use crate::read::checkpoint::{Saved, Segment};
use crate::write::{Head, Problem, ReaderOf, Recipe};

/// How many samples are read at a time.
pub const WINDOW: u64 = 1 << 16;

pub struct Readers {
    pub source: Source,
    pub world_size: u32,
    pub workers: Option<u32>,
    pub batches: BatchSize,
    /// The treatment of samples that the readers cannot share equally; none if whole files are dealt.
    pub remainder: Option<Remainder>,
    /// If a sampler deals: a reading that has the turns of the workers. It is made when a turn is first needed.
    turns: Option<Reading>,
}

pub enum Source {
    Sampler(Box<Sampler>),
    Reading(Reading),
}

/// One reader: a rank, or a worker of a rank.
pub struct Reader<'a> {
    readers: &'a Readers,
    pub rank: u32,
    pub worker: u32,
    /// The samples in a batch.
    pub size: u64,
    /// `samples`: how many samples the reader has. `padding`: how many of these, the last ones, are padding. `batches`:
    /// how many batches it forms.
    pub samples: u64,
    pub padding: u64,
    pub batches: u64,
}

impl EpochArgs {
    /// The dataset, and its readers.
    pub fn open(&self) -> Result<(Dataset, Readers), Problem> {
        let dataset = Dataset::new(&self.dataset)?;
        let readers = self.readers(&dataset)?;
        Ok((dataset, readers))
    }

    pub fn readers(&self, dataset: &Dataset) -> Result<Readers, Problem> {
        let (world_size, workers) = (self.deal.world_size(), self.deal.workers);
        let Some(saved) = self.reading() else {
            let sampler = self.resumed(self.deal.sampler(dataset)?)?;
            let batches = BatchSize::new(self.batch_size.unwrap_or(1)).drop_last(self.drop_last);
            // Only for its checks: the sampler refuses a batch size that is not allowed.
            sampler.num_batches(batches)?;
            let remainder = Some(sampler.remainder());
            let source = Source::Sampler(Box::new(sampler));
            return Ok(Readers { source, world_size, workers, batches, remainder, turns: None });
        };
        let batches = self.group(saved);
        let mut remainder = self.deal.deal.text("remainder").and_then(|name| name.parse().ok());
        if remainder.is_none() && !saved.deals_shards() {
            // The state says whether its last group dropped the remainder.
            let is_dropped = last(saved, |past| past.drop_last).unwrap_or(false);
            remainder = Some(if is_dropped { Remainder::Drop } else { Remainder::Pad });
        }
        let builder = builder(saved, dataset).world_size(world_size).batch_size(batches.samples());
        let builder = builder.drop_last(batches.drops_last());
        let builder = workers.into_iter().fold(builder, ReadingBuilder::workers);
        let builder = remainder.into_iter().fold(builder, ReadingBuilder::remainder);
        let source = Source::Reading(resumed(builder, saved)?);
        Ok(Readers { source, world_size, workers, batches, remainder, turns: None })
    }

    /// The size of the batches, and whether the last one is left out: by options, or else by the state.
    fn group(&self, saved: &Saved) -> BatchSize {
        let size = last(saved, |past| past.batch_size).and_then(|size| u32::try_from(size).ok());
        let is_left_out = saved.deals_shards() && last(saved, |past| past.drop_last).unwrap_or(false);
        BatchSize::new(self.batch_size.or(size).unwrap_or(1)).drop_last(self.drop_last || is_left_out)
    }
}

/// A single reader for the rest of the epoch after the state of a dataset in files.
pub fn left(saved: &Saved, dataset: &Dataset) -> Result<Readers, Problem> {
    let remainder = (!saved.deals_shards()).then_some(Remainder::Uneven);
    let builder = remainder.into_iter().fold(builder(saved, dataset), ReadingBuilder::remainder);
    let source = Source::Reading(resumed(builder, saved)?);
    Ok(Readers { source, world_size: 1, workers: None, batches: BatchSize::new(1), remainder, turns: None })
}

fn resumed(builder: ReadingBuilder, saved: &Saved) -> Result<Reading, Problem> {
    let reading = builder.build().map_err(|error| match error.failure() {
        Some(Failure { kind: FailureKind::Missing, field, .. }) if field == "sizes" => saved.refused(NAME_FILES),
        Some(Failure { kind: FailureKind::Missing, field, .. }) if field == "bytes" => {
            let what = "the state has a hash of the bytes of the files, not the bytes; resume it with a library";
            saved.refused(what)
        }
        Some(Failure { kind: FailureKind::Contradiction, .. }) => saved.refused(differing(&error)),
        _ => error.into(),
    })?;
    reading.resume(&saved.text).map_err(|error| saved.refused(differing(&error)))
}

/// A builder from the recipe of a state, still without readers. Sizes are those of the files, if there are any.
fn builder(saved: &Saved, dataset: &Dataset) -> ReadingBuilder {
    let recipe = Value::Object(saved.recipe().cloned().unwrap_or_default()).to_string();
    dataset.sizes().into_iter().fold(Reading::from_recipe(recipe), ReadingBuilder::sizes)
}

/// A member of the last group of readers in the state.
fn last<T>(saved: &Saved, field: impl FnOnce(&Segment) -> Option<T>) -> Option<T> {
    saved.history.last().and_then(field)
}

impl Readers {
    /// The reader that is a worker of a rank. For a sampler, worker w of rank r is rank r + world size * w.
    pub fn reader(&mut self, rank: u32, worker: u32) -> Result<Reader<'_>, Problem> {
        for (name, value, count) in [("rank", rank, self.world_size), ("worker", worker, self.workers.unwrap_or(1))] {
            // The sampler has refused a count of 0 before.
            if value >= count {
                return Err(Problem::not_one_of(name, value, count));
            }
        }
        let size = u64::from(self.batches.samples());
        let (samples, padding, batches) = match &mut self.source {
            Source::Sampler(sampler) => {
                sampler.set_rank(rank + self.world_size * worker)?;
                let batches = sampler.num_batches(self.batches)?;
                (sampler.num_samples(), sampler.num_padding(), batches)
            }
            Source::Reading(reading) => {
                let samples = reading.num_samples(rank, worker)?;
                (samples, reading.num_padding(rank, worker)?, reading.num_batches(rank, worker)?)
            }
        };
        Ok(Reader { readers: self, rank, worker, size, samples, padding, batches })
    }

    /// The sampler, set to the reader of the last call of [`Self::reader`]; `None` if a reading deals.
    pub fn sampler(&self) -> Option<&Sampler> {
        match &self.source {
            Source::Sampler(sampler) => Some(sampler),
            Source::Reading(_) => None,
        }
    }

    fn recipe(&self) -> Result<String, Problem> {
        Ok(match &self.source {
            Source::Sampler(sampler) => sampler.recipe()?,
            Source::Reading(reading) => reading.recipe()?,
        })
    }

    /// The order and the seed, in words.
    pub fn order(&self) -> Result<String, Problem> {
        Ok(order_of(&self.recipe()?))
    }

    /// How many neighbouring positions always go to the same reader.
    pub fn unit(&self) -> u64 {
        self.sampler().map_or(1, |sampler| sampler.unit().into())
    }

    /// The most by which the numbers of samples of two readers differ, if no sample is dropped or repeated.
    pub fn spread(&self) -> u64 {
        match self.sampler().map(Sampler::layout) {
            // The last reader may have one unit less than others, and only a part of its last unit.
            Some(Layout::Contiguous) => 2 * self.unit() - 1,
            _ => self.unit(),
        }
    }

    /// The reading that has the turns in which the loader of a rank takes the batches of its workers; `None` if a
    /// sampler deals to ranks without workers.
    fn turns(&mut self) -> Result<Option<&Reading>, Problem> {
        if let (Source::Sampler(sampler), Some(workers), None) = (&self.source, self.workers, &self.turns) {
            // A reading with the same number of samples and the same readers has the same turns: they do not depend on
            // the order.
            let reading = Reading::builder([sampler.epoch_length() - sampler.consumed()]).shuffle(false);
            let reading = reading.remainder(sampler.remainder()).world_size(self.world_size).workers(workers);
            let reading = reading.batch_size(self.batches.samples()).drop_last(self.batches.drops_last());
            self.turns = Some(reading.build()?);
        }
        Ok(match &self.source {
            Source::Sampler(_) => self.turns.as_ref(),
            Source::Reading(reading) => Some(reading),
        })
    }

    /// The worker whose batch a rank takes in a step, and the number of the batch among those of the worker; none if
    /// the rank has no such step.
    pub fn turn(&mut self, rank: u32, step: u64) -> Result<Option<(u32, u64)>, Problem> {
        if let Some(turns) = self.turns()? {
            if step >= turns.num_steps(rank)? {
                return Ok(None);
            }
            let ReadBatch { worker, number, .. } = turns.batch_at(rank, step)?;
            return Ok(Some((worker, number)));
        }
        Ok((step < self.reader(rank, 0)?.batches).then_some((0, step)))
    }

    /// The inverse of [`Self::turn`]: the step in which a rank takes a batch of a worker.
    pub fn step_of(&mut self, rank: u32, worker: u32, batch: u64) -> Result<u64, Problem> {
        Ok(match self.turns()? {
            Some(turns) => turns.batch(rank, worker, batch)?.step,
            None => batch,
        })
    }
}

/// Readers or a batcher, for counting steps over one epoch after the other.
pub trait Steps {
    /// Whether all whole epochs have the same number of steps.
    fn is_alike(&self) -> bool;
    fn epoch(&self) -> Result<u64, Problem>;
    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem>;
    /// The steps of the epoch, or of what is left of it, on the rank that has the most.
    fn steps(&mut self) -> Result<u64, Problem>;
    /// Whether a part of the epoch was read before.
    fn is_rest(&self) -> Result<bool, Problem>;
}

impl Steps for Readers {
    /// True only with a sampler: the shuffle of whole shards changes how many samples each reader has.
    fn is_alike(&self) -> bool {
        matches!(self.source, Source::Sampler(_))
    }

    fn epoch(&self) -> Result<u64, Problem> {
        match &self.source {
            Source::Sampler(sampler) => Ok(sampler.epoch()),
            Source::Reading(reading) => Ok(reading.epoch()),
        }
    }

    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem> {
        match &mut self.source {
            Source::Sampler(sampler) => sampler.set_epoch(epoch)?,
            Source::Reading(reading) => *reading = reading.at_epoch(epoch)?,
        }
        // The cached turns may belong to the rest of the previous epoch.
        self.turns = None;
        Ok(())
    }

    fn steps(&mut self) -> Result<u64, Problem> {
        match self.turns()? {
            Some(turns) => Ok(turns.steps()?.max),
            None => Ok(self.reader(0, 0)?.batches),
        }
    }

    fn is_rest(&self) -> Result<bool, Problem> {
        match &self.source {
            Source::Sampler(sampler) => Ok(sampler.consumed() > 0),
            Source::Reading(reading) => Ok(reading.is_rest()),
        }
    }
}

impl Reader<'_> {
    /// The samples of the reader from number `start` to `start + count - 1`.
    pub fn window(&self, start: u64, count: u64) -> Result<Vec<u64>, Problem> {
        // A larger count is refused below.
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match &self.readers.source {
            Source::Sampler(sampler) => Ok(sampler.window(start, count)?),
            Source::Reading(reading) => Ok(reading.indices_window(self.rank, self.worker, start, count)?),
        }
    }

    /// The samples of the reader from number `start` to before `end`, in windows, each with the number of its first
    /// sample.
    pub fn windows(&self, start: u64, end: u64) -> impl Iterator<Item = Result<(u64, Vec<u64>), Problem>> {
        let starts = (start..end).step_by(WINDOW as usize);
        starts.map(move |start| Ok((start, self.window(start, (end - start).min(WINDOW))?)))
    }

    /// The samples of a batch of the reader.
    pub fn batch(&self, batch: u64) -> Result<Vec<u64>, Problem> {
        match &self.readers.source {
            Source::Sampler(sampler) => Ok(sampler.batch(batch, self.readers.batches)?),
            Source::Reading(reading) => {
                let ReadBatch { start, count, .. } = reading.batch(self.rank, self.worker, batch)?;
                Ok(reading.indices_window(self.rank, self.worker, start, count)?)
            }
        }
    }

    /// Whether a sample is padding, by its number among those of the reader.
    pub fn is_padding(&self, index: u64) -> bool {
        index >= self.samples - self.padding
    }

    /// How many samples no reader gets; 0 if a reading deals.
    pub fn dropped(&self) -> u64 {
        self.readers.sampler().map_or(0, Sampler::num_dropped)
    }

    /// The name of the reader, for people.
    pub fn who(&self) -> String {
        let rank = format!("rank {} of {}", self.rank, self.readers.world_size);
        self.readers.workers.map_or(rank.clone(), |workers| format!("worker {} of {workers} in {rank}", self.worker))
    }

    /// The first members of a JSON answer about the reader.
    pub fn head(&self) -> Result<Head, Problem> {
        let Readers { world_size, workers, batches, .. } = *self.readers;
        let (rank, worker, sampler) = (self.rank, self.worker, self.readers.sampler());
        let batch_size = sampler.is_none().then_some(batches.samples());
        let reader = ReaderOf { rank, world_size, worker, workers: workers.unwrap_or(1), batch_size };
        Ok(Head {
            recipe: Recipe::of(&self.readers.recipe()?),
            epoch: self.readers.epoch()?,
            rank: sampler.map(Sampler::rank),
            consumed: sampler.map(Sampler::consumed),
            num_samples: self.samples,
            num_padding: self.padding,
            num_dropped: sampler.map(Sampler::num_dropped),
            reader: (workers.is_some() || sampler.is_none()).then_some(reader),
        })
    }
}
