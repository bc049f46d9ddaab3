use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use samedeal::{FailureKind, Overlap, Steps, verify_shards};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Planned;
use crate::args::format::Format;
use crate::args::plan::ShardsArgs;
use crate::commands::verify::{all_passed, result};
use crate::write::{Cell, Items, Problem, counted, grouped, print};

/// How many overlaps and how many gaps are named below a table.
const NAMED: usize = 20;

/// The result of a check of the files of all readers.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Null if nothing failed, but the steps were not checked.
    pub passed: Option<bool>,
    /// Whether all ranks take the same number of steps; null if that was not checked.
    equal_steps: Option<bool>,
    overlaps: Vec<Again>,
    gaps: Vec<Gap>,
    /// The workers of each rank, and the steps, if there is a batch size. `None` for a file of what readers read, which
    /// has neither.
    #[serde(skip)]
    of_plan: Option<(u32, Option<Steps>)>,
}

/// A file that two readers read.
#[derive(Serialize, JsonSchema)]
struct Again {
    shard: u32,
    path: String,
    first_reader: u32,
    other_reader: u32,
}

/// Files, one after the other, that nobody reads.
#[derive(Serialize, JsonSchema)]
struct Gap {
    first_shard: u32,
    num_shards: u32,
    first_path: String,
    last_path: String,
}

/// Checks the plan over all its readers, or, with `file`, the files that the readers of a run read.
pub fn run(planned: &Planned, args: &ShardsArgs, file: Option<&Path>) -> Result<Answer, Problem> {
    let plan = &planned.plan;
    let (found, of_plan) = match file {
        None => {
            let steps = args.batches().map(|size| plan.steps(size)).transpose()?;
            (plan.verify()?, Some((plan.workers(), steps)))
        }
        Some(file) => {
            let assigned = read(planned, file)?;
            let found = verify_shards(planned.dataset.files.len() as u32, &assigned);
            let found = found.map_err(|error| match error.failure() {
                Some(failure) if failure.field == "assigned" && failure.kind == FailureKind::OutOfRange => {
                    Problem::of(file, format!("shard {}; allowed: {}", failure.value, failure.allowed))
                }
                _ => error.into(),
            })?;
            (found, None)
        }
    };
    let equal_steps = of_plan.and_then(|(_, steps)| Some(steps?.is_equal()));
    let passed = all_passed([Some(found.is_ok())].into_iter().chain(of_plan.map(|_| equal_steps)));
    let again = |Overlap { shard, first_reader, other_reader, .. }| Again {
        shard,
        path: planned.path(shard),
        first_reader,
        other_reader,
    };
    let gap = |Range { start, end }| Gap {
        first_shard: start,
        num_shards: end - start,
        first_path: planned.path(start),
        last_path: planned.path(end - 1),
    };
    let (overlaps, gaps) = (found.overlaps.into_iter().map(again), found.gaps.into_iter().map(gap));
    Ok(Answer { passed, equal_steps, overlaps: overlaps.collect(), gaps: gaps.collect(), of_plan })
}

/// Reads, for each reader, a list of the numbers or the paths of its shards.
fn read(planned: &Planned, file: &Path) -> Result<Vec<Vec<u32>>, Problem> {
    let wrong = |what: String| {
        Problem::of(
            file,
            format!("{what}; needed: a JSON list, for each reader, of the numbers or the paths of its files"),
        )
    };
    let text = fs::read(file).map_err(|error| Problem::of(file, error))?;
    let readers: Vec<Vec<Value>> = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let files = planned.dataset.files.iter().map(|file| &file.path);
    // Paths are compared in canonical form, because a path can be written in several ways.
    let known: HashMap<_, _> =
        files.zip(0..).filter_map(|(path, shard)| Some((fs::canonicalize(path).ok()?, shard))).collect();
    let shard = |value: Value| match &value {
        Value::Number(number) => {
            number.as_u64().and_then(|number| number.try_into().ok()).ok_or_else(|| wrong(value.to_string()))
        }
        Value::String(path) => {
            let found = fs::canonicalize(path).ok().and_then(|path| known.get(&path).copied());
            found.ok_or_else(|| Problem::of(file, format!("{path} is none of the files that are dealt")))
        }
        _ => Err(wrong(value.to_string())),
    };
    readers.into_iter().map(|shards| shards.into_iter().map(shard).collect()).collect()
}

impl Answer {
    pub fn print(&self, planned: &Planned, format: Format) -> Result<(), Problem> {
        let Self { overlaps, gaps, .. } = self;
        let missed = gaps.iter().map(|gap| u64::from(gap.num_shards)).sum::<u64>();
        let [again, files] = [overlaps.len(), planned.dataset.files.len()].map(|it| it as u64);
        let mut items = Items::new(["check", "result", "found"]);
        let mut push = |check: &str, passed: Option<bool>, found: Value, told: String| {
            let found = if format == Format::Table { told.into() } else { Cell::Value(found) };
            items.push([check.into(), result(passed).into(), found]);
        };
        let told = format!("{} too many", counted(again, "reading", "readings"));
        push("overlaps", Some(overlaps.is_empty()), json!({ "too_many": again }), told);
        let told = format!("{} of {} read by no reader", grouped(missed), counted(files, "file", "files"));
        push("gaps", Some(gaps.is_empty()), json!({ "missed": missed, "of": files }), told);
        match self.of_plan {
            None => {}
            Some((_, None)) => push("equal steps", None, Value::Null, "--batch-size N checks them".to_owned()),
            Some((_, Some(Steps { min, max, .. }))) => {
                let told = match min == max {
                    true => format!("every rank takes {}", counted(max, "step", "steps")),
                    false => format!("ranks take {} to {} steps", grouped(min), grouped(max)),
                };
                push("equal steps", self.equal_steps, json!({ "min": min, "max": max }), told);
            }
        }
        items.print(format)?;
        let named = match format {
            Format::Table => NAMED,
            Format::Text => usize::MAX,
            _ => return Ok(()),
        };
        for Again { shard, path, first_reader, other_reader } in overlaps.iter().take(named) {
            print(match format {
                Format::Table => {
                    let [first, other] = [first_reader, other_reader].map(|reader| self.reader(*reader));
                    format!("{path}: read by {first}, and again by {other}")
                }
                _ => format!("overlap\t{shard}\t{}\t{first_reader}\t{other_reader}", escaped(path)),
            })?;
        }
        for Gap { first_shard, num_shards, first_path, last_path } in gaps.iter().take(named) {
            print(match (format, num_shards) {
                (Format::Table, 1) => format!("{first_path}: read by no reader"),
                (Format::Table, count) => {
                    let files = counted((*count).into(), "file", "files");
                    format!("{first_path} to {last_path}, {files}: read by no reader")
                }
                _ => format!("gap\t{first_shard}\t{num_shards}\t{}\t{}", escaped(first_path), escaped(last_path)),
            })?;
        }
        match [overlaps.len(), gaps.len()].map(|found| found.saturating_sub(named)).iter().sum::<usize>() {
            0 => Ok(()),
            left => print(format!("and {} more, which --format text and json name", grouped(left as u64))),
        }
    }

    /// The name of a reader for people.
    fn reader(&self, reader: u32) -> String {
        match self.of_plan {
            Some((workers, _)) => format!("worker {} of rank {}", reader % workers, reader / workers),
            None => format!("reader {reader}"),
        }
    }
}

/// The path for a line of text: control characters, which could end its part of the line, are escaped.
fn escaped(path: &str) -> String {
    Cell::from(path).to_string()
}
