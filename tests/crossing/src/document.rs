//! Requests for the programs, and the documents that they leave on disk.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Failed;

#[derive(Deserialize)]
pub struct Request {
    pub jobs: Vec<Job>,
    /// The job of each step. Without turns, each job is done to its end.
    pub turns: Vec<Turn>,
}

#[derive(Deserialize)]
pub struct Turn {
    pub job: usize,
    /// Whether the state is saved after the step.
    pub save: bool,
}

#[derive(Deserialize)]
pub struct Job {
    pub id: String,
    pub case: Case,
    /// The document to continue from; empty at the beginning.
    pub from: String,
    /// The document to save.
    pub to: String,
    /// The world size, and the number of loader workers of each rank, if they differ from the recipe.
    pub world_size: Option<u32>,
    pub workers: Option<u32>,
    /// Whether the lines have the state after each step.
    pub states: bool,
    /// The log of a ledger.
    pub log: String,
    /// The readers of a ledger, and the lease in milliseconds with which they open the log.
    pub readers: Vec<u32>,
    pub lease: u64,
    /// Whether the program only replays the log.
    pub replay: bool,
}

/// A recipe, and the values that are passed beside it.
#[derive(Clone, Deserialize)]
pub struct Case {
    pub kind: String,
    pub recipe: String,
    pub epoch: String,
    pub batch_size: u32,
    /// The end of the case in steps or ids, if it is not the end of the epoch.
    pub end: u64,
    pub lengths: Vec<u32>,
    /// The shards of a plan, whose recipe has only their hash.
    pub sizes: Vec<u64>,
}

/// A document that a program leaves for the next one.
#[derive(Clone, Default, Deserialize, Serialize)]
pub struct Document {
    /// The recipe as the host writes it.
    pub recipe: String,
    pub fingerprint: String,
    /// The number of the next step. It is counted from the state if the next program counts so, otherwise from the
    /// beginning.
    pub steps: u64,
    /// The state; empty for kinds without a state: a plan and a split.
    pub state: String,
}

impl Document {
    pub fn read(path: &str) -> Result<Self, Failed> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    /// Replaces the document at once, so that a process that is killed meanwhile leaves the old one.
    pub fn save(&self, path: &str) -> Result<(), Failed> {
        let temporary = Path::new(path).with_extension("new");
        fs::write(&temporary, serde_json::to_string(self)?)?;
        Ok(fs::rename(temporary, path)?)
    }
}
