//! The options of batches by length.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use samedeal::{BatchBuilder, Batcher, Error, Failure, FailureKind, TooLong};
use serde_json::{Map, Value, json};

use crate::args::deal::{DealArgs, EpochArgs, lists};
use crate::args::member::Given;
use crate::args::recipe::{naming_list, with};
use crate::generated::Batch;
use crate::read::checkpoint::Saved;
use crate::read::lengths::{Lengths, Unit};
use crate::write::Problem;

/// Batches of samples of different length: where the lengths are, and how samples become batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct ByLengthArgs {
    /// Make batches of samples of different length. COLUMN of PATH holds the lengths as whole numbers, or text, bytes or lists that
    /// are measured. PATH may be Parquet, CSV, TSV or JSON (an array of objects, an object in each line, or an object of lists);
    /// without COLUMN, .npy, a JSON array of numbers, or text with a number in each line. --lengths PATH is the same as PATH --lengths
    #[arg(long, value_name = "COLUMN", num_args = 0..=1)]
    pub lengths: Option<Option<String>>,
    /// What to count if COLUMN holds no lengths. Text needs it [default: the items of lists, the bytes of bytes]
    #[arg(long, value_name = "UNIT", value_enum, requires = "lengths")]
    pub length_unit: Option<Unit>,
    /// With --resume: what is left of the epoch is planned with other options of batches than those of the state, such as a smaller
    /// --max-tokens after an out-of-memory error. Without it, options that differ from the state are refused
    #[arg(long, requires_all = ["lengths", "resume"])]
    pub replan: bool,
    /// The index of these batches, which `samedeal index` or a library wrote: how many steps the epoch has is known without planning all of it
    #[arg(long, value_name = "FILE", requires = "lengths")]
    pub index: Option<PathBuf>,
    #[command(flatten)]
    pub options: Given<Batch>,
}

/// A comparison of all strategies, instead of batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct CompareArgs {
    /// Compare all strategies, instead of showing batches
    #[arg(long, requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing", "recipe"])]
    pub compare: bool,
    /// Compare all strategies, and draw the lengths and the waste of every strategy into this file
    #[arg(long, value_name = "FILE.svg", requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing", "recipe"])]
    pub plot: Option<PathBuf>,
}

impl ByLengthArgs {
    /// Refuses options that have no meaning with `--lengths`, and names the options to use instead. (If clap knew these
    /// conflicts, it would no longer require `--lengths`.)
    fn check(epoch: &EpochArgs) -> Result<(), Problem> {
        let EpochArgs { dataset, deal, batch_size, drop_last, .. } = epoch;
        let size = batch_size.map_or(String::new(), |size| format!("add --max-batch-size {size} instead"));
        let order = "name it in a recipe (--recipe FILE), or add another order instead; `samedeal orders` lists them";
        let is_option = deal.by_length.is_none();
        let refused = [
            (dataset.samples.is_some(), "--samples", "name the files that tell lengths instead"),
            (batch_size.is_some(), "--batch-size", &size),
            (*drop_last, "--drop-last", "add --tail drop instead"),
            (deal.is_sharded() && is_option, "--order sharded", order),
            (
                deal.workers.is_some(),
                "--workers",
                "leave it out; the workers of a loader take the batches of its rank in turn",
            ),
        ];
        let refused = refused.into_iter().find(|(is_given, ..)| *is_given);
        refused.map_or(Ok(()), |(_, option, instead)| {
            Err(Problem::message(format!("{option} has no meaning with --lengths: {instead}")))
        })
    }

    /// The limits to compare, if `--max-tokens` is given several times.
    pub fn limits(&self) -> &[u64] {
        self.options.repeated("max_tokens")
    }

    /// Refuses several values of `--max-tokens` in an answer that does not compare limits.
    pub fn one_limit(&self) -> Result<(), Problem> {
        match self.limits() {
            [first, second, ..] => Err(Problem::message(format!(
                "--max-tokens is {first} and {second}; allowed here: one of them. `samedeal batches` without --compare takes several"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses `--index` for an answer that does not use an index.
    pub fn without_index(&self) -> Result<(), Problem> {
        let what = "--index has no meaning here: it is of the batches that one set of options makes; leave it out";
        if self.index.is_some() { Err(Problem::message(what)) } else { Ok(()) }
    }

    /// Gives the batcher the number of steps of each window, from the file of `--index`, if there is one.
    pub fn use_index(&self, batcher: &Batcher) -> Result<(), Problem> {
        let Some(path) = &self.index else { return Ok(()) };
        let text = fs::read_to_string(path).map_err(|error| Problem::of(path, error))?;
        batcher.use_index(&text).map_err(|error| Problem::of(path, error))
    }

    /// Reads the lengths that decide batches.
    pub fn read(&self, epoch: &EpochArgs) -> Result<Lengths, Problem> {
        Self::check(epoch)?;
        let (paths, column) = (&epoch.dataset.paths, self.lengths.as_ref().and_then(Option::as_deref));
        match column.map(PathBuf::from) {
            // `--lengths PATH` without another PATH: the file contains only lengths, and no columns.
            Some(path) if paths.is_empty() && path.is_file() => Lengths::read(&[path], None, self.length_unit),
            _ if paths.is_empty() => {
                let needed =
                    "needed: the file with the lengths, such as lengths.json --lengths, or table.csv --lengths COLUMN";
                let what = column.map_or_else(
                    || "PATH is missing".to_owned(),
                    |given| format!("{given}: there is no such file, and no PATH with such a column"),
                );
                Err(Problem::message(format!("{what}; {needed}")))
            }
            _ => Lengths::read(paths, column, self.length_unit),
        }
    }

    /// A builder of batches of these lengths. The options for batches come from `--recipe` and the command line; if
    /// neither has any, from the state. Options in `more` replace all others.
    fn builder(
        &self,
        deal: &DealArgs,
        lengths: samedeal::Lengths,
        more: Map<String, Value>,
    ) -> Result<BatchBuilder<Batcher>, Problem> {
        let mut members = self.options.members().clone();
        members.extend(more);
        // Options of the command line replace single members of a recipe, but all batch options of a state.
        let recipe = deal.by_length.as_ref().filter(|_| deal.recipe.is_some() || members.is_empty());
        let Some(recipe) = recipe else { return Ok(self.with(deal, members, lengths)) };
        let recipe = with(recipe.clone(), [("batch", members)]);
        let builder = Batcher::from_recipe(recipe, lengths).epoch(deal.epoch);
        Ok(lists(&deal.list)?.into_iter().fold(builder, |it, (path, list)| it.list(path, list)))
    }

    /// A builder of batches from this section `batch`, in place of the options for batches.
    pub fn with(
        &self,
        deal: &DealArgs,
        batch: Map<String, Value>,
        lengths: samedeal::Lengths,
    ) -> BatchBuilder<Batcher> {
        let recipe = json!({ "order": deal.order.members(), "deal": deal.deal.members(), "batch": batch });
        Batcher::from_recipe(recipe.to_string(), lengths).epoch(deal.epoch)
    }

    /// The batcher of the given options, which may have only one `--max-tokens`.
    pub fn batcher(&self, deal: &DealArgs, rank: u32, lengths: samedeal::Lengths) -> Result<Batcher, Problem> {
        self.one_limit()?;
        self.batcher_of(deal, rank, lengths, None)
    }

    /// The batcher of the given options; `limit`, if given, replaces `--max-tokens`.
    pub fn batcher_of(
        &self,
        deal: &DealArgs,
        rank: u32,
        lengths: samedeal::Lengths,
        limit: Option<u64>,
    ) -> Result<Batcher, Problem> {
        let limit = limit.map(|limit| ("max_tokens".to_owned(), limit.into()));
        build(self.builder(deal, lengths, limit.into_iter().collect())?.rank(rank))
    }

    /// The batcher that group `number` in the history of a state had: the open window after the steps of the earlier
    /// groups, and the windows after it.
    pub fn past(
        &self,
        deal: &DealArgs,
        lengths: samedeal::Lengths,
        saved: &Saved,
        number: usize,
    ) -> Result<Batcher, Problem> {
        let mut state = saved.fields.as_ref().clone();
        let history = state.get_mut("history").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        // A group without batch options of its own had the options of the state. They are passed only with `--replan`,
        // with which the command line may have other options. Without `--replan`, the command line has the options of
        // the state already.
        let own = history.get(number).and_then(|group| group.get("batch")?.as_object());
        let mut options = own.or(saved.batch().filter(|_| self.replan)).cloned().unwrap_or_default();
        options.remove("lengths");
        state.insert("history".to_owned(), history.iter().take(number).cloned().collect());
        if number == 0 {
            // `window` and `checksum` describe the open window, and without a history there is none.
            for name in ["window", "checksum"] {
                state.remove(name);
            }
        }
        let ranks = saved.history.get(number).map_or(1, |group| u32::try_from(group.world_size).unwrap_or(u32::MAX));
        let mut batcher = build(self.builder(deal, lengths, options)?.world_size(ranks))?;
        batcher.replan(&Value::Object(state).to_string()).map_err(|error| saved.refused(error))?;
        Ok(batcher)
    }

    /// The batcher of a whole epoch, without a state.
    pub fn whole(&self, deal: &DealArgs, lengths: samedeal::Lengths, epoch: u64) -> Result<Batcher, Problem> {
        build(self.builder(deal, lengths, Map::new())?.epoch(epoch))
    }
}

/// Builds the batcher. The message of a failure names the options that help.
fn build(builder: BatchBuilder<Batcher>) -> Result<Batcher, Problem> {
    builder.build().map_err(worded)
}

pub fn worded(error: Error) -> Problem {
    match error.failure() {
        Some(failure) if failure.field == "lengths" && failure.value.contains("sample") => {
            let others = TooLong::ALL.iter().map(|it| it.name()).filter(|name| *name != "error").collect::<Vec<_>>();
            let Failure { value, allowed, .. } = failure;
            // After `;`, the message of the library names other remedies. On the command line, they are options.
            let allowed = allowed.split(';').next().unwrap_or_default();
            let what = format!("a sample is too long: {value}; allowed: {allowed}");
            Problem::message(format!("{what}, or choose what happens to it: --too-long {}", others.join(", ")))
        }
        Some(Failure { kind: FailureKind::Contradiction, field, value, allowed, .. }) if field == "samples" => {
            Problem::message(format!("the recipe has {value} samples; allowed: {allowed}"))
        }
        _ => match naming_list(&error) {
            Some(advice) => Problem::message(format!("{error}; {advice}")),
            None => error.into(),
        },
    }
}

impl CompareArgs {
    pub fn is_given(&self) -> bool {
        self.compare || self.plot.is_some()
    }

    /// Refuses a `--plot` file that does not end in `.svg`.
    pub fn check(&self) -> Result<(), Problem> {
        match &self.plot {
            Some(path) if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg")) => {
                let what = "the picture is in SVG; name a file that ends in .svg";
                Err(Problem::message(format!("--plot {}: {what}", path.display())))
            }
            _ => Ok(()),
        }
    }
}
