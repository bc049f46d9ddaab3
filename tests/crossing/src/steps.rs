//! Jobs that are read step by step, by all ranks.

use samedeal::{Batcher, Reading, Sampler, Schedule, ShardPlan, Split};
use serde_json::{Value, json};

use crate::Failed;
use crate::document::{Document, Job};

/// Number of ids whose parts of a split are asked in one call.
const IDS: u64 = 64;

/// The steps of a job.
pub trait Steps {
    /// The first step that is not done.
    fn first(&self) -> u64 {
        0
    }
    /// The step after the last one.
    fn end(&self) -> Result<u64, Failed>;
    /// The samples, rows or parts of each rank at a step. A rank without this step has null.
    fn read(&self, step: u64) -> Result<Value, Failed>;
    /// The state before a step; empty for kinds without a state.
    fn state(&self, step: u64) -> Result<String, Failed>;
    /// The fingerprint of the samples, if the host has one.
    fn fingerprint(&self) -> Result<String, Failed> {
        Ok(String::new())
    }
}

/// The steps of a job, and the document with its recipe.
pub fn make(job: &Job) -> Result<(Box<dyn Steps>, Document), Failed> {
    let before = if job.from.is_empty() { None } else { Some(Document::read(&job.from)?) };
    let recipe = before.as_ref().map_or(&job.case.recipe, |document| &document.recipe);
    let recipe = dealt(recipe, job)?;
    let state = before.as_ref().map(|document| document.state.as_str());
    let epoch: u64 = job.case.epoch.parse()?;
    let case = &job.case;
    let done = |made: Box<dyn Steps>, recipe, fingerprint| {
        Ok((made, Document { recipe, fingerprint, steps: 0, state: String::new() }))
    };
    match case.kind.as_str() {
        "sampler" => {
            let mut sampler = Sampler::from_recipe(recipe).epoch(epoch).build()?;
            state.map_or(Ok(()), |state| sampler.resume(state))?;
            let (text, fingerprint) = (sampler.recipe()?, sampler.recipe_fingerprint()?);
            let ranks = (0..sampler.world_size()).map(|rank| sampler.at_rank(rank)).collect::<Result<_, _>>()?;
            done(Box::new(Ranks { ranks, batch_size: case.batch_size }), text, fingerprint)
        }
        "batcher" => {
            let mut batcher = Batcher::from_recipe(recipe, case.lengths.clone()).epoch(epoch).build()?;
            state.map_or(Ok(()), |state| batcher.resume(state))?;
            let (text, fingerprint) = (batcher.recipe()?, batcher.recipe_fingerprint()?);
            done(Box::new(batcher), text, fingerprint)
        }
        "reading" => {
            let mut reading = Reading::from_recipe(recipe).build()?.at_epoch(epoch)?;
            if let Some(state) = state {
                reading = reading.resume(state)?;
            }
            let (text, fingerprint) = (reading.recipe()?, reading.recipe_fingerprint()?);
            done(Box::new(reading), text, fingerprint)
        }
        "schedule" => {
            let schedule = Schedule::from_recipe(recipe).build()?;
            let first = state.map_or(Ok(0), |state| schedule.resume(state))?;
            let (text, fingerprint) = (schedule.recipe()?, schedule.recipe_fingerprint()?);
            let ranks = (0..schedule.world_size()).map(|rank| schedule.at_rank(rank)).collect::<Result<_, _>>()?;
            done(Box::new(Scheduled { ranks, first, end: case.end }), text, fingerprint)
        }
        "plan" => {
            let plan = ShardPlan::from_recipe(recipe).sizes(case.sizes.clone()).epoch(epoch).build()?;
            let (text, fingerprint) = (plan.recipe()?, plan.recipe_fingerprint()?);
            let first = before.map_or(0, |document| document.steps);
            done(Box::new(Planned { plan, first }), text, fingerprint)
        }
        "split" => {
            let split = Split::from_recipe(recipe).build()?;
            let (text, fingerprint) = (split.recipe()?, split.recipe_fingerprint()?);
            let first = before.map_or(0, |document| document.steps);
            done(Box::new(Parts { split, first, ids: case.end }), text, fingerprint)
        }
        kind => Err(format!("unknown kind: {kind}").into()),
    }
}

/// The recipe with the world size and the workers of a job.
fn dealt(recipe: &str, job: &Job) -> Result<String, Failed> {
    let mut parsed: Value = serde_json::from_str(recipe)?;
    for (member, number) in [("world_size", job.world_size), ("workers", job.workers)] {
        if let Some(number) = number {
            parsed["deal"][member] = number.into();
        }
    }
    Ok(parsed.to_string())
}

struct Ranks {
    ranks: Vec<Sampler>,
    batch_size: u32,
}

impl Steps for Ranks {
    fn end(&self) -> Result<u64, Failed> {
        let counts = self.ranks.iter().map(|rank| rank.num_batches(self.batch_size));
        Ok(counts.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0))
    }

    fn read(&self, step: u64) -> Result<Value, Failed> {
        let of = |rank: &Sampler| -> Result<Value, Failed> {
            let is_there = step < rank.num_batches(self.batch_size)?;
            Ok(if is_there { json!(rank.batch::<u64>(step, self.batch_size)?) } else { Value::Null })
        };
        self.ranks.iter().map(of).collect()
    }

    fn state(&self, step: u64) -> Result<String, Failed> {
        let most = self.ranks.iter().map(Sampler::num_samples).max().unwrap_or(0);
        Ok(self.ranks[0].state(most.min(step * u64::from(self.batch_size)))?)
    }

    fn fingerprint(&self) -> Result<String, Failed> {
        let prints = self.ranks.iter().map(Sampler::fingerprint).collect::<Result<Vec<_>, _>>()?;
        Ok(prints.join(" "))
    }
}

impl Steps for Batcher {
    fn end(&self) -> Result<u64, Failed> {
        Ok(self.num_steps()?)
    }

    fn read(&self, step: u64) -> Result<Value, Failed> {
        let of = |rank| -> Result<Value, Failed> {
            let batch = self.batch_of(rank, step)?;
            Ok(json!([batch.samples, batch.row_ends, batch.padded_length, batch.cost, batch.repeated]))
        };
        (0..self.world_size()).map(of).collect()
    }

    fn state(&self, step: u64) -> Result<String, Failed> {
        Ok(self.state(step)?)
    }

    fn fingerprint(&self) -> Result<String, Failed> {
        Ok(self.fingerprint()?)
    }
}

impl Steps for Reading {
    fn end(&self) -> Result<u64, Failed> {
        Ok(self.steps()?.max)
    }

    fn read(&self, step: u64) -> Result<Value, Failed> {
        let of = |rank| -> Result<Value, Failed> {
            if step >= self.num_steps(rank)? {
                return Ok(Value::Null);
            }
            let batch = self.batch_at(rank, step)?;
            Ok(json!(self.indices(rank, batch.worker, batch.start..batch.start + u64::from(batch.count))?))
        };
        (0..self.world_size()).map(of).collect()
    }

    fn state(&self, step: u64) -> Result<String, Failed> {
        Ok(self.state(step)?)
    }
}

struct Scheduled {
    ranks: Vec<Schedule>,
    first: u64,
    end: u64,
}

impl Steps for Scheduled {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> Result<u64, Failed> {
        Ok(self.end)
    }

    fn read(&self, step: u64) -> Result<Value, Failed> {
        self.ranks.iter().map(|rank| Ok(json!(rank.batch(step)?))).collect()
    }

    fn state(&self, step: u64) -> Result<String, Failed> {
        Ok(self.ranks[0].state(step)?)
    }
}

struct Planned {
    plan: ShardPlan,
    first: u64,
}

impl Steps for Planned {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> Result<u64, Failed> {
        let mut most = 0;
        for rank in 0..self.plan.world_size() {
            for worker in 0..self.plan.workers() {
                most = most.max(self.plan.num_shards(rank, worker)?);
            }
        }
        Ok(most.into())
    }

    /// The next shard of each reader, and its rows.
    fn read(&self, step: u64) -> Result<Value, Failed> {
        let readers = (0..self.plan.world_size()).flat_map(|rank| (0..self.plan.workers()).map(move |own| (rank, own)));
        let of = |(rank, worker)| -> Result<Value, Failed> {
            let Some(&shard) = self.plan.shards(rank, worker)?.get(usize::try_from(step)?) else {
                return Ok(Value::Null);
            };
            Ok(json!([shard, self.plan.rows(shard, ..)?]))
        };
        readers.map(of).collect()
    }

    fn state(&self, _: u64) -> Result<String, Failed> {
        Ok(String::new())
    }

    fn fingerprint(&self) -> Result<String, Failed> {
        Ok(self.plan.config_fingerprint()?)
    }
}

struct Parts {
    split: Split,
    first: u64,
    ids: u64,
}

impl Steps for Parts {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> Result<u64, Failed> {
        Ok(self.ids.div_ceil(IDS))
    }

    fn read(&self, step: u64) -> Result<Value, Failed> {
        let ids: Vec<u64> = (step * IDS..self.ids.min((step + 1) * IDS)).collect();
        Ok(json!([self.split.part_of(&ids)?]))
    }

    fn state(&self, _: u64) -> Result<String, Failed> {
        Ok(String::new())
    }
}
