//! The replay of a log.

use samedeal::Sampler;
use samedeal::ledger::Replay;
use serde_json::{Value, json};

use crate::Failed;
use crate::document::Job;

/// All committed samples, in the order of the log.
pub fn replay(job: &Job) -> Result<Value, Failed> {
    let sampler = Sampler::from_recipe(&job.case.recipe).epoch(job.case.epoch.parse()?).build()?;
    let samples = Replay::open(&job.log)?.samples(&sampler)?.collect::<Result<Vec<_>, _>>()?;
    Ok(json!({"job": job.id, "replayed": samples}))
}
