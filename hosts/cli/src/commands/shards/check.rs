use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use samedeal::{FailureKind, Overlap, Steps, Verification, verify_shards};
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

/// What is wrong with what readers read.
pub struct Checked {
    pub found: Verification,
    /// What only a plan says; none of what readers really read.
    planned: Option<OfPlan>,
}

/// What a check of the files of all readers found.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Null if nothing failed, but the steps were not checked.
    passed: Option<bool>,
    /// Whether all ranks take the same number of steps; null if that was not checked.
    equal_steps: Option<bool>,
    overlaps: Vec<Again>,
    gaps: Vec<Gap>,
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

struct OfPlan {
    /// In each rank.
    workers: u32,
    /// None without a batch size.
    steps: Option<Steps>,
}

/// Checks the plan over all its readers, or what readers really read, as a file has it.
pub fn run(planned: &Planned, args: &ShardsArgs, file: Option<&Path>) -> Result<Checked, Problem> {
    let Some(file) = file else {
        let plan = &planned.plan;
        let steps = args.batch_size.map(|size| plan.steps(size, args.drop_last)).transpose()?;
        return Ok(Checked { found: plan.verify()?, planned: Some(OfPlan { workers: plan.workers(), steps }) });
    };
    let assigned = read(planned, file)?;
    let shards = planned.dataset.files.len() as u32;
    let found = verify_shards(shards, &assigned).map_err(|error| match error.failure() {
        Some(failure) if failure.field == "assigned" && failure.kind == FailureKind::OutOfRange => {
            Problem::of(file, format!("shard {}; allowed: {}", failure.value, failure.allowed))
        }
        _ => error.into(),
    })?;
    Ok(Checked { found, planned: None })
}

/// Reads a list, for each reader, of the numbers or the paths of its shards.
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
    // A path means the same file however it is written.
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

impl Checked {
    /// Whether all that was checked holds: `None` if nothing failed, but the steps were not checked.
    pub fn passed(&self) -> Option<bool> {
        all_passed([Some(self.found.is_ok())].into_iter().chain(self.planned.as_ref().map(|_| self.equal_steps())))
    }

    fn equal_steps(&self) -> Option<bool> {
        Some(self.planned.as_ref()?.steps?.is_equal())
    }

    pub fn print(&self, planned: &Planned, format: Format) -> Result<(), Problem> {
        let Verification { overlaps, gaps, .. } = &self.found;
        let missed = gaps.iter().map(|gap| u64::from(gap.end - gap.start)).sum::<u64>();
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
        match self.planned.as_ref().map(|plan| plan.steps) {
            None => {}
            Some(None) => push("equal steps", None, Value::Null, "--batch-size N checks them".to_owned()),
            Some(Some(Steps { least, most, .. })) => {
                let told = format!("ranks take {} to {} steps", grouped(least), grouped(most));
                let told =
                    if least == most { format!("every rank takes {}", counted(most, "step", "steps")) } else { told };
                push("equal steps", self.equal_steps(), json!({ "least": least, "most": most }), told);
            }
        }
        items.print(format)?;
        if !matches!(format, Format::Table | Format::Text) {
            return Ok(());
        }
        let mut lines = Vec::new();
        let named = if format == Format::Table { NAMED } else { usize::MAX };
        let name =
            |shard: u32| if format == Format::Table { planned.path(shard) } else { escaped(planned.path(shard)) };
        for &Overlap { shard, first_reader, other_reader, .. } in overlaps.iter().take(named) {
            lines.push(match format {
                Format::Table => {
                    let [first, other] = [first_reader, other_reader].map(|reader| self.reader(reader));
                    format!("{}: read by {first}, and again by {other}", name(shard))
                }
                _ => format!("overlap\t{shard}\t{}\t{first_reader}\t{other_reader}", name(shard)),
            });
        }
        for Range { start, end } in gaps.iter().take(named) {
            let (first, last) = (name(*start), name(end - 1));
            lines.push(match (format, start + 1 == *end) {
                (Format::Table, true) => format!("{first}: read by no reader"),
                (Format::Table, false) => format!("{first} to {last}, {}: read by no reader", files_of(end - start)),
                _ => format!("gap\t{start}\t{}\t{first}\t{last}", end - start),
            });
        }
        let left = [overlaps.len(), gaps.len()].map(|found| found.saturating_sub(named)).iter().sum::<usize>();
        if left > 0 {
            lines.push(format!("and {} more, which --format text and json name", grouped(left as u64)));
        }
        lines.iter().try_for_each(print)
    }

    pub fn answer(&self, planned: &Planned) -> Answer {
        let Verification { overlaps, gaps, .. } = &self.found;
        let again = |&Overlap { shard, first_reader, other_reader, .. }: &Overlap| Again {
            shard,
            path: planned.path(shard),
            first_reader,
            other_reader,
        };
        let gap = |&Range { start, end }: &Range<u32>| Gap {
            first_shard: start,
            num_shards: end - start,
            first_path: planned.path(start),
            last_path: planned.path(end - 1),
        };
        Answer {
            passed: self.passed(),
            equal_steps: self.equal_steps(),
            overlaps: overlaps.iter().map(again).collect(),
            gaps: gaps.iter().map(gap).collect(),
        }
    }

    /// A reader, as people know it.
    fn reader(&self, reader: u32) -> String {
        match self.planned {
            Some(OfPlan { workers, .. }) => format!("worker {} of rank {}", reader % workers, reader / workers),
            None => format!("reader {reader}"),
        }
    }
}

/// How many files there are, for people.
fn files_of(count: u32) -> String {
    counted(count.into(), "file", "files")
}

/// What would end a part of a line is escaped.
fn escaped(path: String) -> String {
    crate::write::Cell::from(path).to_string()
}
