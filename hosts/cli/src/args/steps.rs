//! The options of `samedeal steps`.

use std::path::PathBuf;

use clap::Args;
use samedeal::{Error, FailureKind, Layout, Order, Schedule, ScheduleBuilder};
use serde_json::{Value, json};

use crate::args::choices::choice;
use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{SHARDED, list, lists, unit};
use crate::args::format::Output;
use crate::args::recipe;
use crate::args::resume::{contradiction, differing};
use crate::args::values::{Samples, number, samples, within};
use crate::read::checkpoint::{self, Kind, Saved};
use crate::write::problem::Problem;

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
    batch_size: Vec<Stage>,
    /// How many epochs the steps take at most: no step takes a sample of a later one [default: the steps go on, epoch after epoch]
    #[arg(long, value_name = "COUNT", value_parser = number)]
    max_epochs: Option<u64>,
    /// Seed of the order [default: 0, or the seed of --resume]
    #[arg(long, value_parser = within(i64::MIN, i64::MAX))]
    seed: Option<i64>,
    /// Order of each epoch; `samedeal orders` lists them. `sharded` needs files [default: feistel, or the order of --resume]
    #[arg(long)]
    order: Option<String>,
    /// With --order sharded: how many streams the files are cut into [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX))]
    lanes: Option<u32>,
    /// With --order sharded: how many neighbouring samples of a lane are shuffled together [default: 256]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX))]
    shuffle_window: Option<u32>,
    /// How many ranks share each step [default: 1]
    #[arg(long, value_name = "RANKS", value_parser = within(1, u32::MAX))]
    world_size: Option<u32>,
    /// Which samples of a step a rank gets [default: strided; rotated with orders that can have a sample twice]
    #[arg(long, value_parser = choice::<Layout>())]
    layout: Option<Layout>,
    /// How many neighbouring positions always go to the same rank: the size of groups that must stay together [default: 1]
    #[arg(long, value_name = "POSITIONS", value_parser = unit)]
    unit: Option<u32>,
    /// Take all of this from a recipe that a library or this command wrote. An option beside it replaces what the recipe says of the same. - is
    /// standard input. Name the files too if the recipe has a hash of their sizes
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    /// Continue from a state that a library or --state wrote. FILE is the state, a checkpoint that `samedeal explain` can read, or - for
    /// standard input. Without --recipe, the state decides order, seed, number of samples and batch sizes; --world-size may differ, and
    /// --batch-size sets other sizes for later steps: name the sizes of the steps that were taken too, then SIZE@STEP for each change
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// With --recipe or --resume: numbers of which it has only a hash, by their path, such as of/indices. FILE is a NumPy array, a JSON list,
    /// or a text with one number in each line. May be repeated
    #[arg(long, value_name = "PATH=FILE", value_parser = list)]
    list: Vec<(String, PathBuf)>,
}

/// A batch size, and the step that it begins with; none for the first steps.
#[derive(Clone, Debug, PartialEq)]
struct Stage {
    from: Option<u64>,
    batch_size: u32,
}

fn stage(text: &str) -> Result<Stage, String> {
    let (size, from) = text.split_once('@').map_or((text, None), |(size, from)| (size, Some(from)));
    let batch_size = within(1, u32::MAX)(size);
    let batch_size = batch_size.map_err(|allowed| format!("{allowed}, and from which step on, such as 512@1000"))?;
    Ok(Stage { from: from.map(number).transpose()?.filter(|from| *from > 0), batch_size })
}

/// A schedule, and what it is of.
pub struct Opened {
    pub dataset: Dataset,
    pub schedule: Schedule,
    /// The step to go on with after the state that is resumed.
    pub resumed: Option<u64>,
}

impl StepsArgs {
    pub fn open(&self) -> Result<Opened, Problem> {
        let (args, dataset) = (&self.schedule, &self.dataset);
        let saved = args.resume.as_deref().map(|path| checkpoint::only(path).and_then(steps_of)).transpose()?;
        let files = if dataset.paths.is_empty() { None } else { Some(Dataset::of_files(&dataset.paths)?) };
        let opened = match (&args.recipe, &saved) {
            (Some(path), _) => {
                // The other options go on to the builder.
                let order = recipe::given(json!({ "name": args.order, "samples": dataset.samples }));
                let text = recipe::with(recipe::text(path)?, [("order", order)]);
                args.of_recipe(text, files).map_err(|why| Problem::of(path, why))?
            }
            (None, Some(saved)) => {
                let recipe = Value::Object(saved.recipe().cloned().unwrap_or_default()).to_string();
                let opened = args.of_recipe(recipe, files).map_err(|why| saved.refused(why))?;
                self.check_state(&opened.schedule).map_err(|why| saved.refused(why))?;
                opened
            }
            (None, None) => args.of_options(Dataset::new(dataset)?)?,
        };
        let Some(saved) = saved else { return Ok(opened) };
        let step = opened.schedule.resume(&saved.text).map_err(|error| saved.refused(differing(error)))?;
        Ok(Opened { resumed: Some(step), ..opened })
    }

    /// Refuses what a state decides and an option says differently. (Seed and batch sizes go on to the schedule, which compares them.)
    fn check_state(&self, schedule: &Schedule) -> Result<(), String> {
        let samples = self.dataset.samples.filter(|samples| *samples != schedule.samples());
        if let Some(samples) = samples {
            return Err(contradiction("samples", samples, schedule.samples()));
        }
        match self.schedule.order.as_deref().filter(|order| *order != schedule.order()) {
            Some(order) => Err(contradiction("order", order, schedule.order())),
            None => Ok(()),
        }
    }
}

/// A state, if it is one of a schedule.
fn steps_of(saved: Saved) -> Result<Saved, Problem> {
    match saved.kind() {
        Kind::Steps => Ok(saved),
        _ => Err(saved
            .refused(format!("{}; `samedeal steps` resumes the states that its --state prints", saved.described()))),
    }
}

impl ScheduleArgs {
    /// The schedule of a recipe, or of a state, which has most of one. Files are its `sizes`, except with an order that has none.
    fn of_recipe(&self, text: String, files: Option<Dataset>) -> Result<Opened, String> {
        let lists = lists(&self.list).map_err(|problem| problem.to_string())?;
        let builder = lists.into_iter().fold(Schedule::from_recipe(text), |it, (path, list)| it.list(path, list));
        let builder = self.with(builder).map_err(|problem| problem.to_string())?;
        let sizes = files.as_ref().and_then(Dataset::sizes);
        let make = |sizes: Option<Vec<u64>>| {
            sizes.into_iter().fold(builder.clone(), |it, sizes| it.list("sizes", sizes)).build()
        };
        let schedule = recipe::with_sizes(sizes, make, |schedule| schedule.order() == SHARDED)
            .map_err(|error| recipe::explained(&error, self.list.is_empty()))?;
        let samples = schedule.samples();
        let dataset = files.unwrap_or_else(|| Dataset { samples, ..Dataset::default() });
        recipe::check_samples(samples, &dataset)?;
        Ok(Opened { dataset, schedule, resumed: None })
    }

    fn of_options(&self, dataset: Dataset) -> Result<Opened, Problem> {
        let Some(first) = self.batch_size.first().filter(|stage| stage.from.is_none()) else {
            let needed = "how many samples all ranks together take in the first steps, such as --batch-size 256";
            return Err(Problem::message(format!("--batch-size is missing; needed: {needed}")));
        };
        let order = match (self.order.as_deref(), dataset.sizes()) {
            (Some(SHARDED), Some(sizes)) => Order::sharded(sizes),
            (Some(SHARDED), None) => {
                let needed = "name the files or their directories instead of --samples";
                let what = format!("--order {SHARDED} needs samples that are stored in files; {needed}");
                return Err(Problem::message(what));
            }
            (name, _) => Order::new(name.unwrap_or("feistel"), dataset.samples),
        };
        let builder = Schedule::from_order(order, first.batch_size);
        let schedule = self.with(builder)?.build().map_err(|error| match error.failure() {
            Some(failure) if ["from", "stages"].contains(&failure.field.as_str()) => {
                Problem::message(format!("--batch-size SIZE@STEP: {error}"))
            }
            Some(failure) if failure.kind == FailureKind::Missing && failure.field != "batch-size" => {
                Problem::message(format!("{error}. Such an order comes from --recipe FILE"))
            }
            _ => Error::into(error),
        })?;
        Ok(Opened { dataset, schedule, resumed: None })
    }

    /// With the options that were given.
    fn with(&self, builder: ScheduleBuilder) -> Result<ScheduleBuilder, Problem> {
        let mut stages = Vec::new();
        let mut builder = builder;
        for (number, Stage { from, batch_size }) in self.batch_size.iter().enumerate() {
            match from {
                Some(from) => stages.push((*from, *batch_size)),
                None if number == 0 => builder = builder.batch_size(*batch_size),
                None => {
                    let what =
                        format!("--batch-size {batch_size} is there besides another one: say from which step on");
                    return Err(Problem::message(format!("{what}, such as --batch-size {batch_size}@1000")));
                }
            }
        }
        if !stages.is_empty() {
            builder = builder.stages(stages);
        }
        let builder = self.world_size.into_iter().fold(builder, ScheduleBuilder::world_size);
        let builder = self.layout.into_iter().fold(builder, ScheduleBuilder::layout);
        let builder = self.unit.into_iter().fold(builder, ScheduleBuilder::unit);
        let builder = self.seed.into_iter().fold(builder, ScheduleBuilder::seed);
        let builder = self.lanes.into_iter().fold(builder, ScheduleBuilder::lanes);
        let builder = self.max_epochs.into_iter().fold(builder, ScheduleBuilder::epochs);
        Ok(self.shuffle_window.into_iter().fold(builder, ScheduleBuilder::shuffle_window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_read() {
        assert_eq!(stage("1,024@1e3"), Ok(Stage { from: Some(1_000), batch_size: 1_024 }));
        assert_eq!(stage("256@0"), Ok(Stage { from: None, batch_size: 256 }));
        for text in ["", "@5", "0.5", "256@", "256@x", "-1"] {
            assert!(stage(text).is_err(), "{text}");
        }
    }
}
