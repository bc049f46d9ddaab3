//! How far an epoch has come: `--resume`, and `samedeal state`.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use samedeal::{Batcher, Error, Failure, FailureKind, Sampler};

use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{AllRanks, DealArgs, SHARDED};
use crate::args::values::number;
use crate::commands::reading;
use crate::read::checkpoint::{self, Saved};
use crate::write::output::Sink;
use crate::write::problem::Problem;

/// Of a subcommand that can go on within an epoch.
#[derive(Args)]
pub struct ResumeArgs {
    /// Go on where a state was taken, by any of the libraries or by `samedeal state`: the file that holds it, which may be a
    /// checkpoint that `samedeal explain` reads, or - for standard input. Order, seed, epoch and number of samples are those of
    /// the state; the world is this one
    #[arg(long, value_name = "FILE", help_heading = "Deal", conflicts_with = "epoch")]
    pub resume: Option<PathBuf>,
    /// The state in it, once it is read.
    #[arg(skip)]
    pub saved: Option<Saved>,
}

impl ResumeArgs {
    /// Reads the state, if there is one, and sets what it decides: order, seed and number of samples. Refuses options that
    /// contradict it. `by_length` is whether the batches are of samples of different length.
    pub fn settle(
        &mut self,
        deal: &mut DealArgs,
        dataset: Option<&mut DatasetArgs>,
        by_length: bool,
    ) -> Result<(), Problem> {
        self.settle_any(deal, dataset, by_length, false)
    }

    /// The same for a subcommand that also goes on for the readers of a dataset in files.
    pub fn settle_readers(&mut self, deal: &mut DealArgs, dataset: Option<&mut DatasetArgs>) -> Result<(), Problem> {
        self.settle_any(deal, dataset, false, true)
    }

    /// The state of the readers of a dataset in files, if it is one.
    pub fn of_readers(&self) -> Option<&Saved> {
        self.saved.as_ref().filter(|saved| saved.kind() == reading::KIND)
    }

    /// A failure of the state that is resumed.
    pub fn refused(&self, why: String) -> Problem {
        let path = self.resume.as_ref().map_or(String::new(), |path| path.display().to_string());
        Problem::message(format!("--resume {path}: {why}"))
    }

    fn settle_any(
        &mut self,
        deal: &mut DealArgs,
        dataset: Option<&mut DatasetArgs>,
        by_length: bool,
        readers: bool,
    ) -> Result<(), Problem> {
        let Some(path) = &self.resume else { return Ok(()) };
        let saved = only(path)?;
        let refused = |why: String| Err(Problem::message(format!("--resume {}: {why}", path.display())));
        if saved.kind() == reading::KIND {
            if !readers {
                let what = "`samedeal indices`, `replay` and `explain` answer for it, and the libraries resume it";
                return refused(format!("{}; {what}", described(&saved)));
            }
            if let Some(why) = reading::differing(deal, &saved) {
                return refused(why);
            }
            if let (Some(dataset), Some(samples)) = (dataset, saved.number("samples")) {
                match dataset.samples {
                    Some(given) if given != samples => return refused(contradiction("samples", given, samples)),
                    None if dataset.paths.is_empty() => dataset.samples = Some(samples),
                    _ => {}
                }
            }
            self.saved = Some(saved);
            return Ok(());
        }
        if saved.is_python() {
            return refused(format!("{}, which Python alone resumes", described(&saved)));
        }
        match (saved.kind(), by_length) {
            ("batcher", false) => {
                let what = "the state of batches of samples of different length";
                return refused(format!(
                    "{what}; name them with --lengths, as `samedeal batches` does, and their options"
                ));
            }
            ("sampler", true) => {
                return refused("the state of samples whose length does not matter; leave --lengths out".to_owned());
            }
            _ => {}
        }
        if let Err(why) = deal.settle(&saved) {
            return refused(why);
        }
        if let (Some(dataset), Some(samples), false) = (dataset, saved.number("samples"), by_length) {
            match dataset.samples {
                Some(given) if given != samples => return refused(contradiction("samples", given, samples)),
                None if dataset.paths.is_empty() && deal.order() != SHARDED => dataset.samples = Some(samples),
                _ => {}
            }
        }
        self.saved = Some(saved);
        Ok(())
    }

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
        let (Some(path), Some(saved)) = (&self.resume, &self.saved) else { return Ok(()) };
        let refused = |error: Error| Problem::message(format!("--resume {}: {}", path.display(), differing(error)));
        resume(&saved.text).map_err(refused)
    }
}

/// What differs, where a state is of something else. A fingerprint says nothing to anybody; which options it is of, does.
pub fn differing(error: Error) -> String {
    let Some(Failure { kind: FailureKind::Contradiction, field, value, allowed }) = error.failure() else {
        return error.to_string();
    };
    match field.as_str() {
        "samples" => format!("there are {value} samples; allowed: {allowed}"),
        "sharding" => {
            "the state is of other files, or of other --lanes or --window: it holds as many samples, but does not say which \
             of these differ; name the files, in the order in which they were read, and the options that it was taken with"
                .to_owned()
        }
        "config" => {
            "the state is of other lengths, or of other options of batches: it does not say which of these differ; allowed: \
             the lengths and all of --max-batch-size, --max-length, --budget, --counting, --multiple, --capacity, --packing, \
             --window, --too-long, --tail and buckets that it was taken with"
                .to_owned()
        }
        "state" => "the state is of another order of as many samples, although order and seed are the same".to_owned(),
        field => format!("--{field} is {value}; allowed: {allowed}"),
    }
}

/// What is said of an option that is not what the state says.
pub fn contradiction(option: &str, given: impl Display, state: impl Display) -> String {
    format!("--{option} is {given}; allowed: {state}, as in the state, or leave --{option} out")
}

/// The state in a file that has one.
fn only(path: &Path) -> Result<Saved, Problem> {
    let states = checkpoint::read(path)?;
    match checkpoint::distinct(&states)[..] {
        [saved] => Ok(saved.clone()),
        [] => Err(Problem::of(path, "holds no state of samedeal")),
        [..] => {
            let places = states.iter().map(|saved| saved.place.as_str()).collect::<Vec<_>>().join(", ");
            let what = "holds several states that differ; write one of them to a file of its own, as `samedeal explain";
            Err(Problem::of(path, format!("{what} --json` shows them: {places}")))
        }
    }
}

/// What a state is of, in words.
pub fn described(saved: &Saved) -> &'static str {
    if saved.of_worker {
        return "the state of one worker of a loader";
    }
    match saved.kind() {
        "sampler" if saved.history.is_empty() => "the state of samples in an order",
        "sampler" => "the state of a ShardedDataset within a turn of a loader's workers, by an earlier version",
        reading::KIND => "the state of readers of a dataset in files",
        "batcher" => "the state of batches of samples of different length",
        "ledger" => "the first entry of a ledger's log",
        _ => "a state of a kind that this version does not know",
    }
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
    /// The same answer: a state is one JSON object
    #[arg(long)]
    pub json: bool,
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
