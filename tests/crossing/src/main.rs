//! The Rust host as one of the programs that begin an epoch and continue it (tests/crossing/README.md has the protocol):
//! `crossing-rust REQUEST`.

mod document;
mod ledger;
mod replay;
mod steps;

use std::io::{self, Write};
use std::{env, fs, process};

use document::{Document, Job, Request};
use serde_json::{Value, json};
use steps::Steps;

type Failed = Box<dyn std::error::Error>;

/// A job in progress.
enum Running {
    Steps { made: Box<dyn Steps>, job: Job, document: Document, next: u64 },
    Ledger(ledger::Readers),
}

fn main() -> Result<(), Failed> {
    let path = env::args().nth(1).ok_or("usage: crossing-rust REQUEST")?;
    let request: Request = serde_json::from_str(&fs::read_to_string(path)?)?;
    tell(&json!({"host": "rust", "engine": samedeal::ENGINE, "pid": process::id()}))?;
    if request.turns.is_empty() {
        return request.jobs.into_iter().try_for_each(finish);
    }
    let mut running = request.jobs.into_iter().map(begin).collect::<Result<Vec<_>, _>>()?;
    for turn in request.turns {
        running[turn.job].step(turn.save)?;
    }
    // The test kills the program here, unless it did so before.
    tell(&json!({"waits": true}))?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Err("nobody killed this program".into())
}

/// Prints a line for the test, which gets it even if this process is killed at once.
fn tell(line: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn begin(job: Job) -> Result<Running, Failed> {
    if job.case.kind == "ledger" {
        return Ok(Running::Ledger(ledger::Readers::open(job)?));
    }
    let (made, document) = steps::make(&job)?;
    Ok(Running::Steps { next: made.first(), made, job, document })
}

/// Does a job from its next step to its end.
fn finish(job: Job) -> Result<(), Failed> {
    if job.replay {
        return Ok(tell(&replay::replay(&job)?)?);
    }
    match begin(job)? {
        Running::Ledger(readers) => readers.finish(),
        Running::Steps { made, job, document, next } => {
            for step in next..made.end()? {
                let mut line = json!({"job": job.id, "step": step - made.first(), "read": made.read(step)?});
                if job.states {
                    line["state"] = made.state(step + 1)?.into();
                }
                tell(&line)?;
            }
            Ok(tell(&json!({
                "job": job.id, "recipe": document.recipe, "fingerprint": document.fingerprint, "end": made.fingerprint()?,
            }))?)
        }
    }
}

impl Running {
    /// Does one step, and saves the state after it if `save`.
    fn step(&mut self, save: bool) -> Result<(), Failed> {
        match self {
            Self::Ledger(readers) => readers.step(),
            Self::Steps { made, job, document, next } => {
                tell(&json!({"job": job.id, "step": *next - made.first(), "read": made.read(*next)?}))?;
                *next += 1;
                if save {
                    document.steps = *next;
                    document.state = made.state(*next)?;
                    document.save(&job.to)?;
                }
                Ok(())
            }
        }
    }
}
