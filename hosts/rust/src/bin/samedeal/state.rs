//! How far an epoch has come: `--resume`, and `samedeal state`.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use samedeal::{Batcher, Error, Sampler};
use serde_json::Value;

use crate::dataset::{Dataset, DatasetArgs};
use crate::deal::{AllRanks, DealArgs};
use crate::output::Sink;
use crate::problem::Problem;
use crate::values::number;

/// More than any state has: of what is larger, not all is read.
const MOST: u64 = 1 << 16;

/// Of a subcommand that can go on within an epoch.
#[derive(Args)]
pub struct ResumeArgs {
    /// Go on where a state was taken, by any of the libraries or by `samedeal state`: the file that holds it, also as JSON of a
    /// state_dict in Python, or - for standard input. The epoch is that of the state; the world is this one
    #[arg(long, value_name = "FILE", help_heading = "Deal", conflicts_with = "epoch")]
    pub resume: Option<PathBuf>,
}

impl ResumeArgs {
    /// Moves a sampler to where the state was taken, if there is one.
    pub fn sampler(&self, mut sampler: Sampler) -> Result<Sampler, Problem> {
        self.apply(|state| sampler.resume(state))?;
        Ok(sampler)
    }

    /// Moves a batcher there.
    pub fn batcher(&self, mut batcher: Batcher) -> Result<Batcher, Problem> {
        self.apply(|state| batcher.resume(state))?;
        Ok(batcher)
    }

    fn apply(&self, resume: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), Problem> {
        let Some(path) = &self.resume else { return Ok(()) };
        let refused = |why: &dyn Display| Problem::message(format!("--resume {}: {why}", path.display()));
        let text = read(path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => refused(&"no state of samedeal: it is not UTF-8"),
            _ => Problem::of(path, error),
        })?;
        let state = state_of(text.trim()).map_err(|why| refused(&why))?;
        resume(&state).map_err(|error| refused(&error))
    }
}

/// The state in a text: the text itself, or what it holds as a `state_dict` of Python, `{"samedeal": "<state>"}`.
fn state_of(text: &str) -> Result<String, &'static str> {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(text) else { return Ok(text.to_owned()) };
    let Some(Value::String(state)) = fields.remove("samedeal") else { return Ok(text.to_owned()) };
    match fields.get("history") {
        None | Some(Value::Null) => Ok(state),
        Some(Value::Array(history)) if history.is_empty() => Ok(state),
        _ => Err(
            "the state of a ShardedDataset in the middle of a loader's turn (it has a history), which Python alone resumes",
        ),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        io::stdin().lock().take(MOST).read_to_string(&mut text)?;
    } else {
        File::open(path)?.take(MOST).read_to_string(&mut text)?;
    }
    Ok(text)
}

#[derive(Args)]
pub struct StateArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    ranks: AllRanks,
    /// How many samples every rank has taken: batches times their size
    #[arg(long, value_name = "SAMPLES", value_parser = number, allow_negative_numbers = true)]
    pub taken: u64,
    /// Write to a file, which is there at once and whole
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `samedeal state`
pub fn run(args: &StateArgs) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    let state = args.resume.sampler(args.deal.sampler(&dataset, 0)?)?.state(args.taken)?;
    let mut sink = Sink::new(args.output.as_deref())?;
    writeln!(sink, "{state}")?;
    sink.finish()
}
