use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core::batch;

use crate::bindings::{batches, types};
use crate::{Component, beside};

impl batches::Guest for Component {
    type BatchRecipe = BatchRecipe;
    type Batcher = Batcher;
    type BatchStream = BatchStream;

    fn join_indices(parts: Vec<String>) -> Result<String, types::Failure> {
        Ok(batch::join_indices(&parts)?)
    }
}

pub struct BatchRecipe(Rc<batch::BatchRecipe>);

impl batches::GuestBatchRecipe for BatchRecipe {
    fn new(recipe: String, num_lengths: Option<u64>, lists: Vec<types::NamedList>) -> Result<Self, types::Failure> {
        Ok(Self(Rc::new(batch::BatchRecipe::read(&recipe, num_lengths, &beside(&lists))?)))
    }

    fn wanted(&self) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.wanted()?)
    }

    fn supply(&self, lengths: Vec<u32>) -> Result<(), types::Failure> {
        Ok(self.0.supply(lengths)?)
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.text()?)
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.fingerprint()
    }
}

pub struct Batcher(batch::Batcher);

impl batches::GuestBatcher for Batcher {
    fn new(recipe: batches::BatchRecipeBorrow, epoch: u64) -> Result<Self, types::Failure> {
        let BatchRecipe(recipe) = recipe.get();
        Ok(Self(batch::Batcher::new(recipe, epoch)?))
    }

    fn at_epoch(&self, epoch: u64) -> Result<batches::Batcher, types::Failure> {
        Ok(batches::Batcher::new(Self(self.0.at_epoch(epoch)?)))
    }

    fn resume(&self, state: String) -> Result<batches::Batcher, types::Failure> {
        Ok(batches::Batcher::new(Self(self.0.resume(&state)?)))
    }

    fn replan(&self, state: String) -> Result<batches::Batcher, types::Failure> {
        Ok(batches::Batcher::new(Self(self.0.replan(&state)?)))
    }

    fn state(&self, steps: u64) -> Result<String, types::Failure> {
        Ok(self.0.state(steps)?)
    }

    fn wanted(&self) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.wanted()?)
    }

    fn supply(&self, lengths: Vec<u32>) -> Result<(), types::Failure> {
        Ok(self.0.supply(lengths)?)
    }

    fn epoch(&self) -> u64 {
        self.0.epoch()
    }

    fn consumed(&self) -> Result<u64, types::Failure> {
        Ok(self.0.consumed())
    }

    fn num_windows(&self) -> Result<u64, types::Failure> {
        Ok(self.0.num_windows())
    }

    fn num_known_windows(&self) -> Result<u64, types::Failure> {
        Ok(self.0.num_known_windows())
    }

    fn num_steps(&self) -> Result<u64, types::Failure> {
        Ok(self.0.num_steps()?)
    }

    fn index(&self, first: u64, count: u64) -> Result<String, types::Failure> {
        Ok(self.0.index(first, count)?)
    }

    fn use_index(&self, index: String) -> Result<(), types::Failure> {
        Ok(self.0.use_index(&index)?)
    }

    fn shapes(&self, filled: bool) -> Result<Vec<batches::BatchShape>, types::Failure> {
        Ok(self.0.shapes(filled)?.into_iter().map(Into::into).collect())
    }

    fn metrics(&self) -> Result<Vec<types::NamedNumber>, types::Failure> {
        Ok(named(&self.0.metrics()?))
    }

    fn ratio(&self, name: String) -> Result<u64, types::Failure> {
        Ok(self.0.ratio(&name)?)
    }

    fn take(&self, rank: u32, start: u64, count: u32) -> Result<batches::BatchColumns, types::Failure> {
        Ok(self.0.take(rank, start, count)?.into())
    }

    fn step(&self, step: u64, first: u32, count: u32) -> Result<batches::BatchColumns, types::Failure> {
        Ok(self.0.step(step, first, count)?.into())
    }

    fn locate(&self, sample: u64) -> Result<Vec<batches::BatchPlace>, types::Failure> {
        Ok(self.0.locate(sample)?.into_iter().map(Into::into).collect())
    }

    fn fingerprint(&self) -> Result<String, types::Failure> {
        Ok(self.0.fingerprint()?)
    }
}

pub struct BatchStream(RefCell<batch::BatchStream>);

impl batches::GuestBatchStream for BatchStream {
    fn new(recipe: batches::BatchRecipeBorrow, epoch: u64, rank: u32) -> Result<Self, types::Failure> {
        let BatchRecipe(recipe) = recipe.get();
        Ok(Self(RefCell::new(batch::BatchStream::new(recipe, epoch, rank)?)))
    }

    fn push(&self, samples: Vec<u64>, lengths: Vec<u32>) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().push(&samples, &lengths)?)
    }

    fn flush(&self) {
        self.0.borrow_mut().flush();
    }

    fn take(&self) -> Result<Option<batches::BatchColumns>, types::Failure> {
        Ok(self.0.borrow_mut().take()?.map(Into::into))
    }

    fn metrics(&self) -> Result<Vec<types::NamedNumber>, types::Failure> {
        Ok(named(self.0.borrow().metrics()))
    }

    fn ratio(&self, name: String) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().ratio(&name)?)
    }
}

fn named(metrics: &batch::Metrics) -> Vec<types::NamedNumber> {
    let own = |(name, number): (&str, u64)| types::NamedNumber { name: name.to_string(), number };
    metrics.named().into_iter().map(own).collect()
}

impl From<batch::BatchPlace> for batches::BatchPlace {
    fn from(place: batch::BatchPlace) -> Self {
        let batch::BatchPlace { step, rank, row, index_in_row, start } = place;
        Self { step, rank, row, index_in_row, start }
    }
}

impl From<batch::BatchShape> for batches::BatchShape {
    fn from(shape: batch::BatchShape) -> Self {
        let batch::BatchShape { rows, padded_length, batches } = shape;
        Self { rows, padded_length, batches }
    }
}

impl From<batch::Run> for batches::BatchColumns {
    fn from(run: batch::Run) -> Self {
        let batch::Run { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated, full_rows } =
            run;
        Self { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated, full_rows }
    }
}
