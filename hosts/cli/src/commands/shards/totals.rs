use std::io::{self, Write};

use samedeal::{BalanceBy, BatchSize, LoadSummary, ShardPlan, Tier};
use schemars::JsonSchema;
use serde::Serialize;

use super::Planned;
use crate::args::plan::ShardsArgs;
use crate::write::{Problem, counted, grouped};

impl Totals {
    /// The numbers of files, samples and bytes, in words.
    pub fn files(&self) -> String {
        let (files, samples) = (counted(self.shards, "file", "files"), counted(self.samples, "sample", "samples"));
        let empty = match self.empty {
            0 => String::new(),
            empty => format!("; {} without samples", grouped(empty)),
        };
        format!("{files}, {samples}, {}{empty}", counted(self.bytes, "byte", "bytes"))
    }

    /// The lines below a table: the totals, how evenly they are spread, and how many steps they take.
    pub fn lines(&self, plan: &ShardPlan) -> Result<Vec<String>, Problem> {
        let mut lines = vec![self.files()];
        let tiers = [(Tier::Ranks, &self.balance.ranks, "rank"), (Tier::Workers, &self.balance.workers, "worker")];
        for (tier, spread, member) in tiers.into_iter().take(plan.workers() as usize) {
            let [samples, bytes] = [&spread.samples, &spread.bytes].map(|range| range.imbalance);
            let mut line = format!("heaviest {member} by the mean: {samples:.3} in samples, {bytes:.3} in bytes");
            let idle = plan.loads(tier)?.shards.iter().filter(|shards| **shards == 0).count() as u64;
            if idle > 0 {
                line += &format!("; {} {} nothing to read", grouped(idle), if idle == 1 { "has" } else { "have" });
            }
            lines.push(line);
        }
        lines.push(match &self.steps {
            None => "--batch-size tells the steps".to_owned(),
            Some(steps) if steps.equal => {
                let size = grouped(steps.batch_size.into());
                format!("every rank takes {}, in batches of {size}", counted(steps.max, "step", "steps"))
            }
            Some(steps) => format!("WARNING: {}", steps.unequal()),
        });
        Ok(lines)
    }

    /// The line about steps for programs; none without a batch size. If the steps are unequal, a warning is printed as
    /// well.
    pub fn steps_line(&self) -> Option<String> {
        let steps = self.steps.as_ref()?;
        let equal = if steps.equal { "equal" } else { "unequal" };
        if !steps.equal {
            let _ = writeln!(io::stderr(), "warning: {}", steps.unequal());
        }
        Some(format!("steps\t{}\t{}\t{}\t{equal}", steps.batch_size, steps.min, steps.max))
    }
}

impl StepsOf {
    /// The warning where ranks end at different steps.
    fn unequal(&self) -> String {
        let [min, max, size] = [self.min, self.max, self.batch_size.into()].map(grouped);
        format!(
            "ranks end at different steps, {min} to {max} in batches of {size}; a rank that waits for the others hangs.\nStop \
             all ranks after {min} steps, or deal single samples: `samedeal batches PATH --order sharded` gives all ranks the \
             same number of steps."
        )
    }
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

/// The smallest and the largest load of a rank or a worker, and the largest divided by the mean.
#[derive(Serialize, JsonSchema)]
struct Range {
    min: u64,
    max: u64,
    imbalance: f64,
}

/// The smallest and the largest number of steps that a rank takes.
#[derive(Serialize, JsonSchema)]
struct StepsOf {
    batch_size: u32,
    drop_last: bool,
    min: u64,
    max: u64,
    equal: bool,
}

impl Totals {
    pub fn new(planned: &Planned, args: &ShardsArgs) -> Result<Self, Problem> {
        let plan = &planned.plan;
        let steps = |size: BatchSize| -> Result<_, Problem> {
            let steps = plan.steps(size)?;
            let (batch_size, drop_last) = (size.samples(), size.drops_last());
            Ok(StepsOf { batch_size, drop_last, min: steps.min, max: steps.max, equal: steps.is_equal() })
        };
        let range = |tier, balance_by| -> Result<_, Problem> {
            let balance: LoadSummary = plan.load_summary(tier, balance_by)?;
            Ok(Range { min: balance.min, max: balance.max, imbalance: balance.imbalance() })
        };
        let spread = |tier| -> Result<_, Problem> {
            Ok(Spread { samples: range(tier, BalanceBy::Samples)?, bytes: range(tier, BalanceBy::Bytes)? })
        };
        Ok(Self {
            shards: planned.dataset.files.len() as u64,
            samples: planned.dataset.samples,
            bytes: plan.load_summary(Tier::Ranks, BalanceBy::Bytes)?.total,
            empty: planned.dataset.files.iter().filter(|file| file.count == 0).count() as u64,
            balance: Balances { ranks: spread(Tier::Ranks)?, workers: spread(Tier::Workers)? },
            steps: args.batches().map(steps).transpose()?,
        })
    }
}
