use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core as core_;
use samedeal_core::batch;

use crate::Component;
use crate::bindings::exports::samedeal::deal::{batches, types};

impl batches::Guest for Component {
    type Batcher = Batcher;
    type BatchStream = BatchStream;
}

pub struct Batcher(RefCell<batch::Batcher>);

impl batches::GuestBatcher for Batcher {
    fn new(config: batches::BatchConfig) -> Result<Self, types::Failure> {
        Ok(Self(RefCell::new(batch::Batcher::new(config.try_into()?)?)))
    }

    fn set_epoch(&self, epoch: u64) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().set_epoch(epoch)?)
    }

    fn state(&self, taken: u64) -> Result<String, types::Failure> {
        Ok(self.0.borrow().state(taken)?)
    }

    fn resume(&self, state: String) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().resume(&state)?)
    }

    fn epoch(&self) -> u64 {
        self.0.borrow().config().epoch
    }

    fn history(&self) -> Vec<batches::Stretch> {
        let past = |past: &batch::Stretch| batches::Stretch { world: past.world, steps: past.steps };
        self.0.borrow().config().history.iter().map(past).collect()
    }

    fn locate(&self, sample: u64) -> Result<Vec<batches::BatchPlace>, types::Failure> {
        let places = self.0.borrow().locate(sample)?;
        Ok(places.into_iter().map(Into::into).collect())
    }

    fn metrics(&self) -> batches::Metrics {
        self.0.borrow().metrics().into()
    }

    fn ratio(&self, name: String) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().ratio(&name)?)
    }

    fn take(&self, rank: u32, start: u64, count: u32) -> Result<batches::Run, types::Failure> {
        Ok(self.0.borrow().take(rank, start, count)?.into())
    }

    fn fingerprint(&self) -> Result<String, types::Failure> {
        Ok(self.0.borrow().fingerprint()?)
    }
}

pub struct BatchStream(RefCell<batch::BatchStream>);

impl batches::GuestBatchStream for BatchStream {
    fn new(config: batches::BatchConfig, rank: u32) -> Result<Self, types::Failure> {
        Ok(Self(RefCell::new(batch::BatchStream::new(config.try_into()?, rank)?)))
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

    fn metrics(&self) -> batches::Metrics {
        (*self.0.borrow().metrics()).into()
    }

    fn ratio(&self, name: String) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().ratio(&name)?)
    }
}

impl TryFrom<batches::BatchConfig> for batch::BatchConfig {
    type Error = core_::Failure;

    fn try_from(config: batches::BatchConfig) -> Result<Self, core_::Failure> {
        Ok(Self {
            lengths: config.lengths,
            seed: config.seed,
            epoch: config.epoch,
            order: core_::OrderId::from_name(&config.order)?,
            world: config.world,
            strategy: match config.strategy {
                batches::Strategy::PadToMax => batch::Strategy::PadToMax,
                batches::Strategy::Bucket => batch::Strategy::Bucket,
                batches::Strategy::Budget => batch::Strategy::Budget,
                batches::Strategy::Pack => batch::Strategy::Pack,
            },
            max_batch_size: config.max_batch_size,
            max_length: config.max_length,
            budget: config.budget,
            counting: match config.counting {
                batches::Counting::Padded => batch::Counting::Padded,
                batches::Counting::Unpadded => batch::Counting::Unpadded,
                batches::Counting::Weighted => {
                    batch::Counting::Weighted { linear: config.linear, quadratic: config.quadratic }
                }
            },
            multiple: config.multiple,
            capacity: config.capacity,
            packing: match config.packing {
                batches::Packing::Fast => batch::Packing::Fast,
                batches::Packing::Optimal => batch::Packing::Optimal,
            },
            buckets: config.buckets.map(|buckets| match buckets {
                batches::Buckets::BucketWidth(width) => batch::Buckets::Width(width),
                batches::Buckets::Boundaries(ends) => batch::Buckets::Boundaries(ends),
                batches::Buckets::Quantiles(count) => batch::Buckets::Quantiles(count),
            }),
            window: config.window,
            too_long: match config.too_long {
                batches::TooLong::Error => batch::TooLong::Error,
                batches::TooLong::Truncate => batch::TooLong::Truncate,
                batches::TooLong::Drop => batch::TooLong::Drop,
                batches::TooLong::Split => batch::TooLong::Split,
                batches::TooLong::Single => batch::TooLong::Single,
            },
            tail: match config.tail {
                batches::Tail::Drop => batch::Tail::Drop,
                batches::Tail::Keep => batch::Tail::Keep,
                batches::Tail::EvenSplit => batch::Tail::EvenSplit,
                batches::Tail::Duplicate => batch::Tail::Duplicate,
            },
            history: config
                .history
                .into_iter()
                .map(|batches::Stretch { world, steps }| batch::Stretch { world, steps })
                .collect(),
        })
    }
}

impl From<batch::BatchPlace> for batches::BatchPlace {
    fn from(batch::BatchPlace { step, rank, row, slot, start }: batch::BatchPlace) -> Self {
        Self { step, rank, row, slot, start }
    }
}

impl From<batch::Metrics> for batches::Metrics {
    fn from(metrics: batch::Metrics) -> Self {
        let batch::Metrics {
            steps,
            items,
            rows,
            tokens,
            padded,
            slowest,
            cost,
            slowest_cost,
            packs_bound,
            over_budget,
            empty,
            repeated,
            dropped,
            truncated,
            too_long,
            split,
        } = metrics;
        Self {
            steps,
            items,
            rows,
            tokens,
            padded,
            slowest,
            cost,
            slowest_cost,
            packs_bound,
            over_budget,
            empty,
            repeated,
            dropped,
            truncated,
            too_long,
            split,
        }
    }
}

impl From<batch::Run> for batches::Run {
    fn from(run: batch::Run) -> Self {
        let batch::Run { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated } = run;
        Self { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated }
    }
}
