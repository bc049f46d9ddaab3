//! The options of `samedeal steps`.

use std::path::{Path, PathBuf};

use clap::Args;
use samedeal::{Error, FailureKind, Schedule};
use serde_json::{Map, Value, json};

use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{SHARDED, list, lists, needs_files};
use crate::args::format::Output;
use crate::args::member::Given;
use crate::args::recipe;
use crate::args::resume::differing;
use crate::args::values::{Samples, number, samples, within};
use crate::generated::{Order, Steps, StepsDeal};
use crate::read::checkpoint::{self, Kind, Saved};
use crate::write::Problem;

#[derive(Args)]
pub struct StepsArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Show this step in the table, too. May be repeated
    #[arg(long, value_name = "STEP", value_parser = number)]
    pub at: Vec<u64>,
    /// Show the steps in which so many epochs begin
    #[arg(long, value_name = "COUNT", value_parser = within(0, 1_u32 << 16), default_value = "3")]
    pub epochs: u32,
    /// Show what every rank takes at this step, in place of the table
    #[arg(long, value_name = "STEP", value_parser = number, conflicts_with_all = ["locate", "state"])]
    pub step: Option<u64>,
    /// With --step: show only this rank
    #[arg(long, requires = "step", value_parser = within(0, u32::MAX))]
    pub rank: Option<u32>,
    /// With --step: show what this column of the Parquet files holds of each sample; a table has the beginning of it. May be repeated
    #[arg(long, value_name = "NAME", requires = "step")]
    pub column: Vec<String>,
    /// Find a sample: when it is seen, and on which rank. May be repeated, or separated by commas
    #[arg(long, value_name = "INDEX", value_parser = samples, conflicts_with = "state")]
    pub locate: Vec<Samples>,
    /// With --locate: the step to search from [default: 0, or the step of --resume]
    #[arg(long, value_name = "STEP", requires = "locate", value_parser = number)]
    pub from: Option<u64>,
    /// With --locate: in how many steps a sample is found at most
    #[arg(long, value_name = "COUNT", requires = "locate", value_parser = within(1, 1_u32 << 16), default_value = "1")]
    pub times: u32,
    /// Print the state before this step, for --resume and for the libraries
    #[arg(long, value_name = "STEP", value_parser = number)]
    pub state: Option<u64>,
    /// Write the recipe of the steps to this file, for --recipe and for the libraries. The table is left out then. - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["step", "locate", "state", "at"])]
    pub recipe_out: Option<PathBuf>,
    /// With --state: write to this file, which appears when it is complete
    #[arg(long = "output", short = 'o', value_name = "FILE", help_heading = "Output", requires = "state")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

/// The schedule itself.
#[derive(Args)]
#[command(next_help_heading = "Schedule")]
pub struct ScheduleArgs {
    /// How many samples all ranks together take in a step: a multiple of --world-size times --unit. 512@1000 is the size from step 1000 on;
    /// may be repeated, in the order of steps
    #[arg(long, value_name = "SIZE[@STEP]", value_parser = stage)]
    global_batch_size: Vec<Value>,
    #[command(flatten)]
    steps: Given<Steps>,
    #[command(flatten)]
    order: Given<Order>,
    #[command(flatten)]
    deal: Given<StepsDeal>,
    /// Take the schedule from a recipe that a library or this command wrote. Options that are given too replace those of the recipe. - is standard
    /// input. Name the files too if the recipe has a hash of their sizes
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    /// Continue from a state that a library or --state wrote. FILE is the state, a checkpoint that `samedeal explain` can read, or - for
    /// standard input. Without --recipe, the state decides order, seed, number of samples and batch sizes; --world-size may differ, and
    /// --global-batch-size sets other sizes for later steps: name the sizes of the steps that were taken too, then SIZE@STEP for each change
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// With --recipe or --resume: a list of which the recipe or the state has only a hash. PATH is its name and the path to it, such as
    /// of/indices. FILE is a NumPy array, a JSON list, or a text with one number in each line. May be repeated
    #[arg(long, value_name = "PATH=FILE", value_parser = list)]
    list: Vec<(String, PathBuf)>,
}

/// Parses a value of `--global-batch-size` into a stage as recipes have it: a batch size and its first step, which is left out
/// if it is 0.
fn stage(text: &str) -> Result<Value, String> {
    let (size, from) = text.split_once('@').map_or((text, None), |(size, from)| (size, Some(from)));
    let global_batch_size = within(1, u32::MAX)(size);
    let global_batch_size =
        global_batch_size.map_err(|allowed| format!("{allowed}, and from which step on, such as 512@1000"))?;
    Ok(match from.map(number).transpose()?.unwrap_or(0) {
        0 => json!({ "global_batch_size": global_batch_size }),
        from => json!({ "from": from, "global_batch_size": global_batch_size }),
    })
}

/// A schedule, and the dataset that it deals.
pub struct Opened {
    pub dataset: Dataset,
    pub schedule: Schedule,
    /// The step at which the state of `--resume` continues.
    pub resumed: Option<u64>,
}

impl StepsArgs {
    pub fn open(&self) -> Result<Opened, Problem> {
        let (args, dataset) = (&self.schedule, &self.dataset);
        let saved = args.resume.as_deref().map(|path| checkpoint::only(path).and_then(steps_of)).transpose()?;
        let files = if dataset.paths.is_empty() { None } else { Some(Dataset::of_files(&dataset.paths)?) };
        // The recipe to which the options are added, and its file: the file of `--recipe`, or the state.
        let (text, path) = match (&args.recipe, &saved) {
            (Some(path), _) => (recipe::text(path)?, Some(path.as_path())),
            (None, Some(saved)) => {
                (Value::Object(saved.recipe().cloned().unwrap_or_default()).to_string(), Some(saved.path.as_path()))
            }
            (None, None) => (r#"{"steps":{}}"#.to_owned(), None),
        };
        let is_sharded = args.order.text("name") == Some(SHARDED);
        let samples = match path {
            None if is_sharded && files.is_none() => return Err(needs_files()),
            None if !is_sharded => {
                Some(files.as_ref().map_or_else(|| Dataset::new(dataset), |it| Ok(it.clone()))?.samples)
            }
            _ => dataset.samples,
        };
        let mut order = args.order.members().clone();
        order.extend(samples.map(|samples| ("samples".to_owned(), samples.into())));
        let sections = [("order", order), ("deal", args.deal.members().clone()), ("steps", args.steps()?)];
        let text = recipe::with(text, sections);
        let lists = lists(&args.list)?;
        let builder = lists.into_iter().fold(Schedule::from_recipe(text), |it, (path, list)| it.list(path, list));
        let sizes = files.as_ref().and_then(Dataset::sizes);
        let make = |sizes: Option<Vec<u64>>| {
            sizes.into_iter().fold(builder.clone(), |it, sizes| it.list("sizes", sizes)).build()
        };
        let schedule = recipe::with_sizes(sizes, make, |schedule| schedule.order() == SHARDED)
            .map_err(|error| args.refused(error, path))?;
        let samples = schedule.dataset_size();
        let dataset = files.unwrap_or_else(|| Dataset { samples, ..Dataset::default() });
        let checked = recipe::check_samples(samples, &dataset);
        checked.map_err(|why| path.map_or_else(|| Problem::message(&why), |path| Problem::of(path, &why)))?;
        let resume = |saved: Saved| schedule.resume(&saved.text).map_err(|error| saved.refused(differing(&error)));
        let resumed = saved.map(resume).transpose()?;
        Ok(Opened { dataset, schedule, resumed })
    }
}

/// Refuses a state that is not the state of a schedule.
fn steps_of(saved: Saved) -> Result<Saved, Problem> {
    match saved.kind() {
        Kind::Steps => Ok(saved),
        _ => Err(saved
            .refused(format!("{}; `samedeal steps` resumes the states that its --state prints", saved.described()))),
    }
}

impl ScheduleArgs {
    /// The members of the section `steps` of a recipe.
    fn steps(&self) -> Result<Map<String, Value>, Problem> {
        let mut members = self.steps.members().clone();
        let mut stages = Vec::new();
        for (number, stage) in self.global_batch_size.iter().enumerate() {
            let size = &stage["global_batch_size"];
            match stage.get("from") {
                Some(_) => stages.push(stage.clone()),
                None if number == 0 => _ = members.insert("global_batch_size".to_owned(), size.clone()),
                None => {
                    let what =
                        format!("--global-batch-size {size} is there besides another one: say from which step on");
                    return Err(Problem::message(format!("{what}, such as --global-batch-size {size}@1000")));
                }
            }
        }
        if !stages.is_empty() {
            members.insert("stages".to_owned(), stages.into());
        }
        Ok(members)
    }

    /// The problem of an error of the schedule. The message names the file of the recipe or the state, or options if
    /// there is none.
    fn refused(&self, error: Error, path: Option<&Path>) -> Problem {
        let Some(path) = path else {
            return match error.failure() {
                Some(failure) if ["from", "stages"].contains(&failure.field.as_str()) => {
                    Problem::message(format!("--global-batch-size SIZE@STEP: {error}"))
                }
                Some(failure) if failure.kind == FailureKind::Missing && failure.field != "global_batch_size" => {
                    Problem::message(format!("{error}. Such an order comes from --recipe FILE"))
                }
                _ => error.into(),
            };
        };
        Problem::of(path, recipe::explained(&error, self.list.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_read() {
        assert_eq!(stage("1,024@1e3"), Ok(json!({ "from": 1_000, "global_batch_size": 1_024 })));
        assert_eq!(stage("256@0"), Ok(json!({ "global_batch_size": 256 })));
        for text in ["", "@5", "0.5", "256@", "256@x", "-1"] {
            assert!(stage(text).is_err(), "{text}");
        }
    }
}
