//! What the programs are asked, and what they leave on disk.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Failed;

#[derive(Deserialize)]
pub struct Request {
    pub jobs: Vec<Job>,
    /// Whose next step it is. Without turns, each job is done to its end.
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
    /// The number of ranks, and of loader workers of each, if they are others than those of the recipe.
    pub world_size: Option<u32>,
    pub workers: Option<u32>,
    /// Whether the lines have the state after each step.
    pub states: bool,
    /// The log of a ledger.
    pub log: String,
    /// The readers of a ledger, and the lease in milliseconds that they open the log with.
    pub readers: Vec<u32>,
    pub lease: u64,
    /// Whether to replay the log, and nothing else.
    pub replay: bool,
}

/// What is dealt.
#[derive(Clone, Deserialize)]
pub struct Case {
    pub kind: String,
    pub recipe: String,
    pub epoch: String,
    pub batch_size: u32,
    /// Where it ends, in steps or ids, if not with the epoch.
    pub end: u64,
    pub lengths: Vec<u32>,
    /// The shards of a plan, whose recipe has only their hash.
    pub sizes: Vec<u64>,
}

/// What a program leaves for the next one.
#[derive(Clone, Default, Deserialize, Serialize)]
pub struct Document {
    /// As the host writes it.
    pub recipe: String,
    pub fingerprint: String,
    /// The number of the next step: counted from the state on if the next program counts so, else from the beginning.
    pub steps: u64,
    /// Empty for what has none: a plan and a split.
    pub state: String,
}

impl Document {
    pub fn read(path: &str) -> Result<Self, Failed> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    /// Writes it at once, so that whoever dies meanwhile leaves the one before.
    pub fn save(&self, path: &str) -> Result<(), Failed> {
        let temporary = Path::new(path).with_extension("new");
        fs::write(&temporary, serde_json::to_string(self)?)?;
        Ok(fs::rename(temporary, path)?)
    }
}
