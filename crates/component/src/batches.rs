use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core::batch;

use crate::bindings::exports::samedeal::deal::{batches, types};
use crate::{Component, beside};

impl batches::Guest for Component {
    type BatchRecipe = BatchRecipe;
    type Batcher = Batcher;
    type BatchStream = BatchStream;
}

pub struct BatchRecipe(Rc<batch::BatchRecipe>);

impl batches::GuestBatchRecipe for BatchRecipe {
    fn new(recipe: String, lengths: Option<Vec<u32>>, lists: Vec<types::NamedList>) -> Result<Self, types::Failure> {
        Ok(Self(Rc::new(batch::BatchRecipe::read(&recipe, lengths, &beside(&lists))?)))
    }

    fn text(&self) -> String {
        self.0.text()
    }

    fn fingerprint(&self) -> String {
        self.0.fingerprint()
    }
}

pub struct Batcher(batch::Batcher);

impl batches::GuestBatcher for Batcher {
    fn new(
        recipe: batches::BatchRecipeBorrow,
        epoch: u64,
        history: Vec<batches::Segment>,
    ) -> Result<Self, types::Failure> {
        let segment = |batches::Segment { world_size, steps }| batch::Segment { world_size, steps };
        let history = history.into_iter().map(segment).collect();
        Ok(Self(batch::Batcher::new(&recipe.get::<BatchRecipe>().0, epoch, history)?))
    }

    fn at_epoch(&self, epoch: u64) -> Result<batches::Batcher, types::Failure> {
        Ok(batches::Batcher::new(Self(self.0.at_epoch(epoch)?)))
    }

    fn resume(&self, state: String) -> Result<batches::Batcher, types::Failure> {
        Ok(batches::Batcher::new(Self(self.0.resume(&state)?)))
    }

    fn state(&self, steps: u64) -> Result<String, types::Failure> {
        Ok(self.0.state(steps)?)
    }

    fn epoch(&self) -> u64 {
        self.0.config().epoch
    }

    fn history(&self) -> Vec<batches::Segment> {
        let segment = |&batch::Segment { world_size, steps }| batches::Segment { world_size, steps };
        self.0.config().history.iter().map(segment).collect()
    }

    fn metrics(&self) -> Vec<types::NamedNumber> {
        named(&self.0.metrics())
    }

    fn ratio(&self, name: String) -> Result<u64, types::Failure> {
        Ok(self.0.ratio(&name)?)
    }

    fn take(&self, rank: u32, start: u64, count: u32) -> Result<batches::Run, types::Failure> {
        Ok(self.0.take(rank, start, count)?.into())
    }

    fn step(&self, step: u64, first: u32, count: u32) -> Result<batches::Run, types::Failure> {
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
        Ok(Self(RefCell::new(batch::BatchStream::new(&recipe.get::<BatchRecipe>().0, epoch, rank)?)))
    }

    fn push(&self, samples: Vec<u64>, lengths: Vec<u32>) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().push(&samples, &lengths)?)
    }

    fn flush(&self) {
        self.0.borrow_mut().flush();
    }

    fn take(&self) -> Result<Option<batches::Run>, types::Failure> {
        Ok(self.0.borrow_mut().take()?.map(Into::into))
    }

    fn metrics(&self) -> Vec<types::NamedNumber> {
        named(self.0.borrow().metrics())
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

impl From<batch::Run> for batches::Run {
    fn from(run: batch::Run) -> Self {
        let batch::Run { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated } = run;
        Self { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated }
    }
}
