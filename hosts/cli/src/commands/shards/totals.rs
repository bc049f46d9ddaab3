use std::io::{self, Write};

use samedeal::{LoadSummary, Steps, Tier, Weight};
use schemars::JsonSchema;
use serde::Serialize;

use super::Planned;
use crate::args::plan::ShardsArgs;
use crate::write::{Problem, counted, grouped};

/// How much there is.
pub fn files(planned: &Planned) -> Result<String, Problem> {
    let files = counted(planned.dataset.files.len() as u64, "file", "files");
    let samples = counted(planned.dataset.samples, "sample", "samples");
    let bytes = counted(planned.plan.load_summary(Tier::Ranks, Weight::Bytes)?.total, "byte", "bytes");
    let empty = match empty(planned) {
        0 => String::new(),
        empty => format!("; {} without samples", grouped(empty)),
    };
    Ok(format!("{files}, {samples}, {bytes}{empty}"))
}

/// What is said below a table: how much there is, how evenly it is spread, and how many steps it takes.
pub fn lines(planned: &Planned, args: &ShardsArgs) -> Result<Vec<String>, Problem> {
    let plan = &planned.plan;
    let mut lines = vec![files(planned)?];
    for (tier, member) in tiers(planned) {
        let [samples, bytes] = [Weight::Samples, Weight::Bytes].map(|weight| plan.load_summary(tier, weight));
        let [samples, bytes] = [samples?, bytes?].map(|balance| balance.imbalance());
        let mut line = format!("heaviest {member} by the mean: {samples:.3} in samples, {bytes:.3} in bytes");
        let idle = plan.loads(tier)?.shards.iter().filter(|shards| **shards == 0).count() as u64;
        if idle > 0 {
            line += &format!("; {} {} nothing to read", grouped(idle), if idle == 1 { "has" } else { "have" });
        }
        lines.push(line);
    }
    lines.push(match args.batch_size {
        None => "--batch-size tells the steps".to_owned(),
        Some(size) => {
            let steps = plan.steps(size, args.drop_last)?;
            match unequal(steps, size) {
                None => {
                    let steps = counted(steps.most, "step", "steps");
                    format!("every rank takes {steps}, in batches of {}", grouped(size.into()))
                }
                Some(unequal) => format!("WARNING: {unequal}"),
            }
        }
    });
    Ok(lines)
}

/// The same of the steps alone, as a line for programs, and people warned apart from it; none without a batch size.
pub fn steps_line(planned: &Planned, args: &ShardsArgs) -> Result<Option<String>, Problem> {
    let Some(size) = args.batch_size else { return Ok(None) };
    let steps = planned.plan.steps(size, args.drop_last)?;
    let equal = if steps.is_equal() { "equal" } else { "unequal" };
    if let Some(unequal) = unequal(steps, size) {
        let _ = writeln!(io::stderr(), "warning: {unequal}");
    }
    Ok(Some(format!("steps\t{size}\t{}\t{}\t{equal}", steps.least, steps.most)))
}

/// What is to be said where ranks end at different steps.
fn unequal(steps: Steps, size: u32) -> Option<String> {
    let ([least, most], size) = ([steps.least, steps.most].map(grouped), grouped(size.into()));
    (!steps.is_equal()).then(|| {
        format!(
            "ranks end at different steps, {least} to {most} in batches of {size}; a rank that waits for the others hangs.\nStop \
             all ranks after {least} steps, or deal single samples: `samedeal batches PATH --order sharded` gives all ranks the \
             same number of steps."
        )
    })
}

/// How much there is, and how it is spread.
#[derive(Serialize, JsonSchema)]
pub struct Totals {
    /// How many files, and what they have.
    shards: u64,
    samples: u64,
    bytes: u64,
    /// How many files have no samples.
    empty: u64,
    balance: Balances,
    /// Null without `--batch-size`.
    steps: Option<StepsOf>,
}

#[derive(Serialize, JsonSchema)]
struct Balances {
    ranks: Spread,
    workers: Spread,
}

#[derive(Serialize, JsonSchema)]
struct Spread {
    samples: Range,
    bytes: Range,
}

/// The least and the most that one has, and the most divided by the mean.
#[derive(Serialize, JsonSchema)]
struct Range {
    least: u64,
    most: u64,
    imbalance: f64,
}

/// The fewest and the most steps that a rank takes.
#[derive(Serialize, JsonSchema)]
struct StepsOf {
    batch_size: u32,
    drop_last: bool,
    least: u64,
    most: u64,
    equal: bool,
}

impl Totals {
    pub fn new(planned: &Planned, args: &ShardsArgs) -> Result<Self, Problem> {
        let (plan, drop_last) = (&planned.plan, args.drop_last);
        let steps = |batch_size| -> Result<_, Problem> {
            let steps = plan.steps(batch_size, drop_last)?;
            Ok(StepsOf { batch_size, drop_last, least: steps.least, most: steps.most, equal: steps.is_equal() })
        };
        let range = |tier, weight| -> Result<_, Problem> {
            let balance: LoadSummary = plan.load_summary(tier, weight)?;
            Ok(Range { least: balance.least, most: balance.most, imbalance: balance.imbalance() })
        };
        let spread = |tier| -> Result<_, Problem> {
            Ok(Spread { samples: range(tier, Weight::Samples)?, bytes: range(tier, Weight::Bytes)? })
        };
        Ok(Self {
            shards: planned.dataset.files.len() as u64,
            samples: planned.dataset.samples,
            bytes: plan.load_summary(Tier::Ranks, Weight::Bytes)?.total,
            empty: empty(planned),
            balance: Balances { ranks: spread(Tier::Ranks)?, workers: spread(Tier::Workers)? },
            steps: args.batch_size.map(steps).transpose()?,
        })
    }
}

/// How many files have no samples.
fn empty(planned: &Planned) -> u64 {
    planned.dataset.files.iter().filter(|file| file.count == 0).count() as u64
}

/// Whose shares there are to compare.
fn tiers(planned: &Planned) -> Vec<(Tier, &'static str)> {
    let mut tiers = vec![(Tier::Ranks, "rank"), (Tier::Workers, "worker")];
    tiers.truncate(planned.plan.workers().min(2) as usize);
    tiers
}
