//! `samedeal split`: which samples are for training, validation or test.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use samedeal::Split;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::dataset::{Dataset, find};
use crate::args::format::Format;
use crate::args::split::{SplitArgs, SplitSamples};
use crate::commands::numbers::Answer;
use crate::read::lengths::{self, Use};
use crate::write::{Cell, Items, Problem, Recipe, Rows, Sink, counted, grouped, progress, write_json};

/// How many samples are split at a time.
const WINDOW: u64 = 1 << 18;

/// `samedeal split`
pub fn run(args: &SplitArgs) -> Result<(), Problem> {
    let split = Arc::new(match &args.parts.rest {
        Some(rest) => exact(args, rest)?,
        None => args.split()?,
    });
    let Some(path) = &args.recipe_out else { return answer(args, &split) };
    let path = Some(path.as_path()).filter(|path| *path != Path::new("-"));
    let mut sink = Sink::new(path)?;
    writeln!(sink, "{}", split.recipe()?)?;
    if path.is_none() {
        return sink.finish();
    }
    sink.finish_after(answer(args, &split))
}

/// The split whose parts have exact numbers of the samples, or of their ids or keys.
fn exact(args: &SplitArgs, rest: &str) -> Result<Split, Problem> {
    let SplitSamples { paths, samples, column, keys } = &args.samples;
    let sizes = Arc::new(args.split()?.exact_sizes().map_err(Problem::worded)?);
    let samples = match samples {
        Some(samples) => Some(*samples),
        None if paths.is_empty() => {
            return Err(Problem::message("the samples are missing; needed: a PATH or --samples <N>"));
        }
        None if column.is_none() && !keys && are_parquet(paths)? => Some(Dataset::of_files(paths)?.samples),
        None => None,
    };
    if let Some(samples) = samples {
        let bar = progress::bar("drawing", samples);
        for start in (0..samples).step_by(WINDOW as usize) {
            let ids = (start..samples.min(start + WINDOW)).collect::<Vec<_>>();
            sizes.add_ids(&ids).map_err(Problem::worded)?;
            bar.inc(ids.len() as u64);
        }
        bar.finish_and_clear();
    } else if *paths == [Path::new("-")] {
        return Err(Problem::message(
            "--rest reads PATH twice, and standard input can be read once; write it into a file",
        ));
    } else {
        lengths::parts(paths, column.as_deref(), Use::Sizes(Arc::clone(&sizes)), *keys)?;
    }
    sizes.split(rest).map_err(Problem::worded)
}

/// Prints the answer, apart from the recipe.
fn answer(args: &SplitArgs, split: &Arc<Split>) -> Result<(), Problem> {
    let recipe: Value = serde_json::from_str(&split.recipe()?).unwrap_or_default();
    let Some(found) = Found::new(&args.samples, split, &recipe)? else {
        return match args.recipe_out {
            Some(_) => Ok(()),
            None => Err(Problem::message(
                "the samples are missing; needed: a PATH or --samples <N>, or --recipe-out <FILE> to write the recipe alone",
            )),
        };
    };
    let answer = Shown { args, split, recipe, found };
    match (&args.members, &args.others) {
        (Some(part), _) => answer.list(part, true),
        (_, Some(part)) => answer.list(part, false),
        _ if args.each => answer.each(),
        _ => answer.report(),
    }
}

/// The first members of a JSON answer.
#[derive(Serialize, JsonSchema)]
struct Head {
    recipe: Recipe,
    /// How many samples are split.
    samples: u64,
}

/// How many samples each part has.
#[derive(Serialize, JsonSchema)]
pub struct Parts {
    #[serde(flatten)]
    head: Head,
    parts: Vec<Part>,
}

#[derive(Serialize, JsonSchema)]
struct Part {
    part: String,
    /// The share that was asked for: a weight, or a number of samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// That share as a part of the whole, from 0 to 1.
    share_asked: f64,
    /// The number of samples that the part has.
    samples: u64,
    share: f64,
}

/// The samples of a part, or of all others.
#[derive(Serialize, JsonSchema)]
pub struct Members {
    #[serde(flatten)]
    head: Head,
    /// With `--members`: the part that they are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    /// With `--others`: the part that they are not of.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_than: Option<String>,
    /// How many samples come before those that are shown.
    start: u64,
    indices: Vec<u64>,
}

/// The part of each sample.
#[derive(Serialize, JsonSchema)]
pub struct Each {
    #[serde(flatten)]
    head: Head,
    /// The parts, by their numbers.
    names: Vec<String>,
    /// The first sample that is shown.
    start: u64,
    /// For each sample, the number of its part.
    part_of: Vec<u32>,
}

/// The samples that are split, and their parts, if a file decides them.
struct Found {
    samples: u64,
    /// The part of each sample, if it depends on an id or a key in a file. None if it depends on the sample index
    /// alone.
    parts: Option<Vec<u32>>,
    /// The files that have the samples, if there are any.
    dataset: Dataset,
}

impl Found {
    /// The samples of the options; none if the options name no samples.
    fn new(args: &SplitSamples, split: &Arc<Split>, recipe: &Value) -> Result<Option<Self>, Problem> {
        let SplitSamples { paths, samples, column, keys } = args;
        // The sum of the sizes, if parts have sizes: there cannot be more samples.
        let most = recipe["split"]["samples"].as_u64();
        let exceeded = |samples: u64| most.filter(|most| samples > *most);
        if paths.is_empty() {
            if let Some((samples, most)) = samples.and_then(|samples| Some((samples, exceeded(samples)?))) {
                let what = format!("--samples is {samples}; allowed: 0 to {most}, the sum of the sizes");
                return Err(Problem::message(what));
            }
            let samples = samples.or(most);
            return Ok(samples.map(|samples| Self { samples, parts: None, dataset: Dataset::default() }));
        }
        if column.is_none() && !keys && are_parquet(paths)? {
            let dataset = Dataset::of_files(paths)?;
            if let Some(most) = exceeded(dataset.samples) {
                let rows = counted(dataset.samples, "row", "rows");
                let what = format!("the files have {rows}, and the sizes of the parts are {} together", grouped(most));
                return Err(Problem::message(format!("{what}; name larger sizes")));
            }
            return Ok(Some(Self { samples: dataset.samples, parts: None, dataset }));
        }
        let (parts, dataset) = lengths::parts(paths, column.as_deref(), Use::Split(Arc::clone(split)), *keys)?;
        Ok(Some(Self { samples: parts.len() as u64, parts: Some(parts), dataset }))
    }

    /// The parts of a run of samples.
    fn window(&self, split: &Split, start: u64, count: u64) -> Result<Cow<'_, [u32]>, Problem> {
        match &self.parts {
            Some(parts) => Ok(Cow::Borrowed(&parts[start as usize..(start + count) as usize])),
            None => {
                let found = split.part_of_run(start, count as u32).map_err(Problem::worded)?;
                Ok(Cow::Owned(found))
            }
        }
    }
}

/// Whether all files are Parquet, by their names.
fn are_parquet(paths: &[PathBuf]) -> Result<bool, Problem> {
    let is_parquet = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
    Ok(paths != [Path::new("-")] && find(paths)?.iter().all(|file| is_parquet(&file.path)))
}

/// The options of an answer, and its samples.
struct Shown<'a> {
    args: &'a SplitArgs,
    split: &'a Split,
    recipe: Value,
    found: Found,
}

impl Shown<'_> {
    /// Calls `visit` for all samples, in windows, until it returns false: with the index of the first sample of a
    /// window, and the parts.
    fn walk(
        &self,
        doing: &'static str,
        mut visit: impl FnMut(u64, &[u32]) -> Result<bool, Problem>,
    ) -> Result<(), Problem> {
        let samples = self.found.samples;
        let bar = progress::bar(doing, samples);
        for start in (0..samples).step_by(WINDOW as usize) {
            let parts = self.found.window(self.split, start, (samples - start).min(WINDOW))?;
            bar.inc(parts.len() as u64);
            if !visit(start, &parts)? {
                break;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// How many samples each part has.
    fn counts(&self) -> Result<Vec<u64>, Problem> {
        let mut counts = vec![0; self.split.parts().len()];
        self.walk("splitting", |_, parts| {
            parts.iter().for_each(|part| counts[*part as usize] += 1);
            Ok(true)
        })?;
        Ok(counts)
    }

    /// The first members of a JSON answer.
    fn head(&self) -> Head {
        Head { recipe: Recipe(self.recipe.as_object().cloned().unwrap_or_default()), samples: self.found.samples }
    }

    /// Prints the samples of a part, or of all other parts.
    fn list(&self, part: &str, is_in: bool) -> Result<(), Problem> {
        let number = self.split.number_of(part).map_err(Problem::worded)?;
        let in_part = self.counts()?[number as usize];
        let all = if is_in { in_part } else { self.found.samples - in_part };
        let window = &self.args.window;
        let count = window.run(20, all)?;
        let dataset = &self.found.dataset;
        let [in_part, other_than] = [is_in, !is_in].map(|named| named.then(|| part.to_owned()));
        let (head, start) = (self.head(), window.start);
        let answer = || Ok(Members { head, part: in_part, other_than, start, indices: Vec::new() });
        let columns = [&["sample"], dataset.columns()].concat();
        let mut answer = Answer::new(window, Items::new(columns), answer, &[count])?;
        let (mut passed, mut left) = (window.start, count);
        self.walk("listing", |start, parts| {
            let found =
                (start..).zip(parts).filter(|(_, other)| (**other == number) == is_in).map(|(sample, _)| sample);
            let mut found = found.collect::<Vec<_>>();
            let skipped = passed.min(found.len() as u64);
            passed -= skipped;
            found.drain(..skipped as usize);
            found.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= found.len() as u64;
            answer.add(&found, |&sample| [sample.into()].into_iter().chain(dataset.row(sample)))?;
            Ok(left > 0)
        })?;
        let of = if is_in { format!("of part {part}") } else { format!("of the other parts than {part}") };
        let told = format!("{} of the {} {of}", grouped(count), counted(all, "sample", "samples"));
        answer.finish(&window.told(count, told, all))
    }

    /// Prints the part of each sample.
    fn each(&self) -> Result<(), Problem> {
        let (window, samples) = (&self.args.window, self.found.samples);
        let count = window.run(20, samples)?;
        let (names, dataset, end) = (self.split.parts(), &self.found.dataset, window.start + count);
        let starts = (window.start..end).step_by(WINDOW as usize);
        let each = || Ok(Each { head: self.head(), names: names.to_vec(), start: window.start, part_of: Vec::new() });
        let items = Items::new([&["sample", "part"], dataset.columns()].concat());
        let mut answer = Answer::new(window, items, each, &[count])?;
        for start in starts {
            let parts = self.found.window(self.split, start, (end - start).min(WINDOW))?;
            if answer.format == Format::Text {
                let line =
                    |(sample, part): (u64, &u32)| format!("{sample}\t{}\n", Cell::from(names[*part as usize].as_str()));
                answer.write(&(start..).zip(&*parts).map(line).collect::<String>(), parts.len())?;
                continue;
            }
            let mut samples = start..;
            let parts = parts.iter().map(|&part| part.into()).collect::<Vec<_>>();
            answer.add(&parts, |&part: &u64| {
                let sample = samples.next().unwrap_or_default();
                [sample.into(), names[part as usize].as_str().into()].into_iter().chain(dataset.row(sample))
            })?;
        }
        let told = format!("{} of the {}", grouped(count), counted(samples, "sample", "samples"));
        answer.finish(&window.told(count, told, samples))
    }

    /// Prints how many samples each part has.
    fn report(&self) -> Result<(), Problem> {
        let window = &self.args.window;
        if window.start != 0 || window.count.is_some() || window.all {
            let what = "--start, --count and --all are for --members, --others and --each; add one of them";
            return Err(Problem::message(what));
        }
        let format = window.output.format();
        if format == Format::Npy {
            let what =
                "the counts of parts are no array; add --members PART, --others PART or --each, or use --format json";
            return Err(Problem::message(what));
        }
        let (counts, samples) = (self.counts()?, self.found.samples);
        let parts = self.recipe["split"]["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let share = if parts.iter().all(|part| part.get("size").is_some()) { "size" } else { "weight" };
        let shares = parts.iter().map(|part| part[share].as_u64().unwrap_or_default());
        let total = shares.clone().sum::<u64>();
        let ratio = |part: u64, all: u64| part as f64 / all.max(1) as f64;
        let sink = Sink::new(window.output.output.as_deref())?;
        let mut items = Items::new(["part", share, "share asked", "samples", "share got"]);
        let mut answers = Vec::new();
        for ((name, own), &count) in self.split.parts().iter().zip(shares).zip(&counts) {
            let (asked, got) = (ratio(own, total), ratio(count, samples));
            items.push([name.as_str().into(), own.into(), Cell::Share(asked), count.into(), Cell::Share(got)]);
            let [weight, size] = ["weight", "size"].map(|it| (share == it).then_some(own));
            answers.push(Part { part: name.clone(), weight, size, share_asked: asked, samples: count, share: got });
        }
        if format == Format::Json {
            return write_json(sink, &Parts { head: self.head(), parts: answers });
        }
        let seed = self.recipe["split"]["seed"].to_string().replace('"', "");
        let more = "--members PART shows the samples of a part, --each the part of each sample";
        let told = format!("{}, seed {seed}; {more}", counted(samples, "sample", "samples"));
        Rows::new(sink, format)?.finish(&items, &told)
    }
}
