//! `samedeal shards`: whole files to ranks and workers, from their footers alone.

mod check;
mod shares;
mod totals;

use std::io::{self, Write};
use std::path::PathBuf;

use samedeal::ShardPlan;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use totals::Totals;

use crate::args::dataset::{Dataset, Unreadable};
use crate::args::format::Format;
use crate::args::plan::{PlanArgs, ShardsArgs};
use crate::write::{Problem, Recipe, print, print_json, progress, verdict};

/// A deal of whole files to readers.
#[derive(Serialize, JsonSchema)]
pub struct Dealt {
    #[serde(flatten)]
    totals: Totals,
    recipe: Recipe,
    epoch: u64,
    /// The files, by the numbers of their shards.
    files: Vec<File>,
    /// The paths of the files that cannot be read, with `--skip-unreadable`.
    left_out: Vec<String>,
    #[serde(flatten)]
    shares: shares::Shares,
    /// Null without `--verify`.
    verification: Option<check::Answer>,
}

#[derive(Serialize, JsonSchema)]
struct File {
    path: String,
    samples: u64,
    bytes: u64,
}

/// The files, and the plan that gives them to readers.
struct Planned {
    dataset: Dataset,
    plan: ShardPlan,
    /// Files that were left out, and why.
    left_out: Vec<(PathBuf, Problem)>,
}

/// `samedeal shards`: returns whether all checks passed.
pub fn run(args: &ShardsArgs) -> Result<bool, Problem> {
    let planned = Planned::new(args)?;
    for (_, problem) in &planned.left_out {
        // A warning that cannot be written is ignored: the answer is complete.
        let _ = writeln!(io::stderr(), "warning: {problem}; left out");
    }
    let checked = args.verify.as_ref().map(|file| check::run(&planned, args, file.as_deref())).transpose()?;
    let passed = checked.as_ref().map_or(Some(true), |checked| checked.passed);
    let format = args.output.format();
    let printed = if format == Format::Json {
        print_json(&planned.answer(args, checked)?)
    } else {
        show(&planned, args, checked.as_ref(), format)
    };
    verdict(printed, passed)
}

/// Prints the plan and the checks. With `--verify=FILE`, the plan is left out, because the checks are about a run and
/// not about the plan.
fn show(planned: &Planned, args: &ShardsArgs, checked: Option<&check::Answer>, format: Format) -> Result<(), Problem> {
    if let (Some(checked), Some(Some(_))) = (checked, &args.verify) {
        let below = if format == Format::Table { Some(Totals::new(planned, args)?.files()) } else { None };
        checked.print(planned, format)?;
        return below.map_or(Ok(()), print);
    }
    // The totals are computed before anything is printed, because their computation can fail.
    let totals = Totals::new(planned, args)?;
    let below = match format {
        Format::Table => Some(totals.lines(&planned.plan)?.join("\n")),
        _ => totals.steps_line().filter(|_| format == Format::Text),
    };
    // Other formats have one table in an answer: the checks, if there are any.
    if let (Some(checked), false) = (checked, matches!(format, Format::Table | Format::Text)) {
        return checked.print(planned, format);
    }
    match args.rank {
        Some(rank) => shares::print_files(planned, rank, args.worker, format)?,
        None => shares::print_loads(planned, format)?,
    }
    below.map_or(Ok(()), print)?;
    checked.map_or(Ok(()), |checked| checked.print(planned, format))
}

/// Refuses a JSON file among the Parquet files. It is probably meant for `--verify=FILE`, which needs the equals sign.
fn refuse_lists(paths: &[PathBuf]) -> Result<(), Problem> {
    let is_list =
        |path: &&PathBuf| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json")) && !path.is_dir();
    paths.iter().find(is_list).map_or(Ok(()), |path| {
        Err(Problem::of(path, format!("is no Parquet file; did you mean --verify={}?", path.display())))
    })
}

impl Planned {
    fn new(args: &ShardsArgs) -> Result<Self, Problem> {
        refuse_lists(&args.paths)?;
        let mut left_out = Vec::new();
        let dataset = Dataset::of(&args.paths, |Unreadable { path, named, why }| {
            let is_parquet = path.extension().is_some_and(|it| it == "parquet");
            // A file whose name does not end in .parquet was probably named by mistake. It is not skipped: nobody would notice the mistake.
            match (args.skip_unreadable && is_parquet, named) {
                (true, _) => {
                    left_out.push((path.clone(), why));
                    Ok(())
                }
                (false, false) => Err(Problem::message(format!("{why}; --skip-unreadable leaves it out"))),
                (false, true) if args.verify == Some(None) && !is_parquet => {
                    Err(Problem::message(format!("{why}; did you mean --verify=FILE?")))
                }
                (false, true) => Err(why),
            }
        })?;
        if dataset.files.is_empty() {
            let why = left_out.iter().map(|(_, why)| why.to_string()).collect::<Vec<_>>().join("; ");
            return Err(Problem::message(format!("{why}; no file can be read")));
        }
        let spinner = progress::spinner("planning");
        let sizes: Vec<_> = dataset.files.iter().map(|file| file.count).collect();
        let bytes: Vec<_> = dataset.files.iter().map(|file| file.bytes).collect();
        let PlanArgs { readers, shards, epoch } = &args.plan;
        let recipe = json!({ "shards": shards.members(), "deal": readers.members() }).to_string();
        let builder = ShardPlan::from_recipe(recipe).sizes(sizes).bytes(bytes).epoch(*epoch);
        // Sizes and bytes come from the files: a message must not name options.
        let plan = builder.build().map_err(|error| match error.failure() {
            Some(failure) if matches!(failure.field.as_str(), "sizes" | "bytes") => Problem::worded(error),
            _ => error.into(),
        })?;
        spinner.finish_and_clear();
        Ok(Self { dataset, plan, left_out })
    }

    /// The path of a shard, for people and programs.
    fn path(&self, shard: u32) -> String {
        self.dataset.files[shard as usize].path.display().to_string()
    }

    fn answer(&self, args: &ShardsArgs, verification: Option<check::Answer>) -> Result<Dealt, Problem> {
        let path = |path: &PathBuf| path.display().to_string();
        let files =
            self.dataset.files.iter().map(|it| File { path: path(&it.path), samples: it.count, bytes: it.bytes });
        Ok(Dealt {
            totals: Totals::new(self, args)?,
            recipe: Recipe::of(&self.plan.recipe()?),
            epoch: self.plan.epoch(),
            files: files.collect(),
            left_out: self.left_out.iter().map(|(left_out, _)| path(left_out)).collect(),
            shares: shares::Shares::new(self, args)?,
            verification,
        })
    }
}
