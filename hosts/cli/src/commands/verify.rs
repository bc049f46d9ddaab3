use std::collections::BTreeMap;

use clap::Args;
use samedeal::{Config, Remainder, Sampler};
use serde_json::{Value, json};

use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{AllRanks, DealArgs};
use crate::args::format::{Format, Output};
use crate::args::values::within;
use crate::args::workers::WorkersArgs;
use crate::commands::state::ResumeArgs;
use crate::write::items::Items;
use crate::write::output::{counted, grouped, print, verdict};
use crate::write::problem::Problem;
use crate::write::progress;

/// How many readers are gone through, each of which is asked for its share.
const READERS: u32 = 1 << 20;

#[derive(Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub workers: WorkersArgs,
    /// Check as well that every rank gets the same number of batches of this size
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch, and count the samples that no batch holds
    #[arg(long, requires = "batch_size")]
    pub drop_last: bool,
    #[command(flatten)]
    ranks: AllRanks,
    #[command(flatten)]
    pub output: Output,
}

/// One thing that must hold: its name, whether it does (`None` if nobody asked), and what was counted.
struct Check {
    name: &'static str,
    passed: Option<bool>,
    found: String,
}

/// `samedeal verify`: whether everything holds.
pub fn run(args: &VerifyArgs) -> Result<bool, Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    let mut sampler = args.resume.sampler(args.workers.sampler(&args.deal, &dataset)?)?;
    if sampler.config().world > READERS {
        let workers = args.workers.workers.map_or(String::new(), |workers| format!(" with --workers {workers}"));
        let world = args.deal.world;
        return Err(Problem::message(format!(
            "--world is {world}{workers}; allowed here: 1 to {READERS} readers in all, since each is gone through"
        )));
    }
    if let Some(size) = args.batch_size {
        sampler.num_batches(size, args.drop_last)?;
    }
    let epoch = Epoch::walk(&mut sampler, &dataset, args)?;
    let checks = epoch.checks(&sampler, args);
    let passed = checks.iter().all(|check| check.passed != Some(false));
    let mut items = Items::new(["check", "result", "found"]);
    for Check { name, passed, found } in &checks {
        let result = passed.map_or("not checked", |passed| if passed { "ok" } else { "FAILED" });
        items.push([(*name).into(), result.into(), found.as_str().into()]);
    }
    let printed = match args.output.format() {
        Format::Table => print(items.table()),
        Format::Text => print(items.lines()),
        Format::Json => {
            let steps = args.batch_size.map(|_| [epoch.steps.keys().min(), epoch.steps.keys().max()]);
            // What was not asked for is no check that a program could count; its `steps` are null.
            let checks = checks.iter().filter(|check| check.passed.is_some());
            let checks = checks.map(|check| json!({"name": check.name, "passed": check.passed, "found": check.found}));
            print(json!({
                "passed": passed, "samples": dataset.samples, "consumed": epoch.consumed, "ranks": args.deal.world,
                "workers": args.workers.workers, "seen": epoch.seen,
                "padding": epoch.held.saturating_sub(epoch.seen), "dropped": epoch.dropped(dataset.samples),
                "left_out": epoch.left_out(), "steps": steps, "checks": checks.collect::<Value>(),
            }))
        }
    };
    verdict(printed, passed)
}

/// What all ranks together were dealt in an epoch, or in what is left of it, as it was counted.
#[derive(Default)]
struct Epoch {
    /// Samples that were consumed before: by the state that is resumed.
    consumed: u64,
    /// Samples dealt other than as padding: for the first time, and again.
    dealt: u64,
    repeated: u64,
    padding: u64,
    /// Padding that repeats nothing that was dealt.
    stray: u64,
    /// Indices that are not samples of the dataset.
    outside: u64,
    /// What the batches hold, which is all that was dealt unless the last, partial ones are left out: how many samples
    /// in all, and how many different ones.
    held: u64,
    seen: u64,
    /// How many ranks have so many samples, and so many batches.
    shares: BTreeMap<u64, u64>,
    steps: BTreeMap<u64, u64>,
}

impl Epoch {
    /// Reads the indices of every reader, with one sampler, so that an order's table is built once.
    fn walk(sampler: &mut Sampler, dataset: &Dataset, args: &VerifyArgs) -> Result<Self, Problem> {
        let samples = sampler.config().samples;
        let mut bits = Bits::new(samples)?;
        // A sample whose own place is left out may still be seen as padding, so that it takes a bit of its own.
        let mut in_batches = args.drop_last.then(|| Bits::new(samples)).transpose()?;
        let consumed = sampler.config().consumed;
        let mut epoch = Self { consumed, ..Self::default() };
        let bar = progress::bar("verifying", consumed.saturating_add(sampler.num_positions()));
        if consumed > 0 {
            // What was consumed is not to be dealt again, other than as padding.
            let mut whole = args.deal.whole(dataset)?;
            whole.set_epoch(sampler.config().epoch)?;
            for start in (0..consumed).step_by(1 << 16) {
                for sample in whole.window::<u64>(start, (consumed - start).min(1 << 16) as u32)? {
                    for bits in [Some(&mut bits), in_batches.as_mut()].into_iter().flatten() {
                        if let Some(mark) = bits.mark(sample) {
                            mark.set();
                        }
                    }
                    bar.inc(1);
                }
            }
        }
        // Padding repeats what an earlier rank was dealt; if it does not, a later one may still be.
        let mut pending = Vec::new();
        // The loader of a rank has the batches of its workers, of which worker w is reader rank + world * w.
        let world = args.deal.world;
        let mut steps = vec![0_u64; if args.batch_size.is_some() { world as usize } else { 0 }];
        for reader in 0..sampler.config().world {
            sampler.set_rank(reader)?;
            let share = sampler.num_samples();
            *epoch.shares.entry(share).or_default() += 1;
            let mut end = share;
            if let Some(size) = args.batch_size {
                let batches = sampler.num_batches(size, args.drop_last)?;
                steps[(reader % world) as usize] += batches;
                end = share.min(batches.saturating_mul(size.into()));
            }
            let real = share - sampler.num_padding();
            for start in (0..share).step_by(1 << 16) {
                let window: Vec<u64> = sampler.window(start, (share - start).min(1 << 16) as u32)?;
                for (index, &sample) in (start..).zip(&window) {
                    let Some(mark) = bits.mark(sample) else {
                        epoch.outside += 1;
                        continue;
                    };
                    match (index < real, mark.is_set()) {
                        (true, false) => {
                            mark.set();
                            epoch.dealt += 1;
                        }
                        (true, true) => epoch.repeated += 1,
                        (false, true) => epoch.padding += 1,
                        (false, false) => pending.push(sample),
                    }
                    if index < end {
                        epoch.held += 1;
                        if let Some(mark) = in_batches.as_mut().and_then(|bits| bits.mark(sample)) {
                            epoch.seen += u64::from(!mark.is_set());
                            mark.set();
                        }
                    }
                }
                bar.inc(window.len() as u64);
            }
        }
        steps.iter().for_each(|&steps| *epoch.steps.entry(steps).or_default() += 1);
        if in_batches.is_none() {
            epoch.seen = epoch.dealt;
        }
        for sample in pending {
            epoch.padding += 1;
            epoch.stray += u64::from(!bits.mark(sample).is_some_and(|mark| mark.is_set()));
        }
        Ok(epoch)
    }

    /// Samples that no rank was dealt.
    fn dropped(&self, samples: u64) -> u64 {
        (samples - self.consumed).saturating_sub(self.dealt)
    }

    /// Samples that were dealt, but that no batch holds.
    fn left_out(&self) -> u64 {
        self.dealt.saturating_sub(self.seen)
    }

    /// How many samples the batches must hold.
    fn to_be_held(&self, args: &VerifyArgs) -> u64 {
        let size = args.batch_size.filter(|_| args.drop_last).map_or(1, u64::from);
        self.shares.iter().map(|(share, ranks)| (share - share % size) * ranks).sum()
    }

    /// Holds what was counted against what the configuration promises.
    fn checks(&self, sampler: &Sampler, args: &VerifyArgs) -> Vec<Check> {
        let &Config { samples, world, remainder, consumed, .. } = sampler.config();
        let left = samples - consumed;
        let over = left % u64::from(world);
        let (padding, dropped) = match remainder {
            Remainder::Drop => (0, over),
            Remainder::Pad if over > 0 => (u64::from(world) - over, 0),
            Remainder::Pad | Remainder::Uneven => (0, 0),
        };
        let said = |whether: bool, what: String| if whether { what } else { String::new() };
        let left_out = said(args.drop_last, format!("; {} left out by --drop-last", grouped(self.left_out())));
        let in_batches = format!("; {} in the batches", grouped(self.held.saturating_sub(self.seen)));
        let in_batches = said(args.drop_last && self.padding > 0, in_batches);
        let spread = self.shares.keys().max().unwrap_or(&0) - self.shares.keys().min().unwrap_or(&0);
        let who = if args.workers.workers.is_some() { ["worker", "workers"] } else { ["rank", "ranks"] };
        let mut checks = vec![
            Check {
                name: "disjoint",
                passed: Some(self.repeated == 0 && self.outside == 0),
                found: format!(
                    "{} dealt twice, {} unknown",
                    counted(self.repeated, "sample", "samples"),
                    grouped(self.outside)
                ),
            },
            Check {
                name: "covering",
                passed: Some(self.dropped(samples) == dropped && self.stray == 0 && self.held == self.to_be_held(args)),
                found: format!(
                    "{} of {} seen; {} dropped, expected {}{left_out}",
                    grouped(self.seen),
                    counted(
                        left,
                        if consumed > 0 { "sample left" } else { "sample" },
                        if consumed > 0 { "samples left" } else { "samples" }
                    ),
                    grouped(self.dropped(samples)),
                    grouped(dropped)
                ),
            },
            Check {
                name: "padding",
                passed: Some(self.padding == padding && self.stray == 0),
                found: format!("{} repeated, expected {}{in_batches}", grouped(self.padding), grouped(padding)),
            },
            Check {
                name: "shares",
                passed: Some(spread <= u64::from(remainder == Remainder::Uneven)),
                found: by(&self.shares, who, ["sample", "samples"]),
            },
        ];
        let ranks = ["rank", "ranks"];
        let equal = args.batch_size.map(|_| self.steps.len() == 1);
        let found = match equal {
            None => "--batch-size N checks them".to_owned(),
            Some(true) => by(&self.steps, ranks, ["batch", "batches"]),
            Some(false) => by(&self.steps, ranks, ["batch", "batches"]) + "; --remainder drop or pad makes them equal",
        };
        checks.push(Check { name: "equal steps", passed: equal, found });
        checks
    }
}

/// How many of whom have how many.
fn by(counts: &BTreeMap<u64, u64>, [who, whose]: [&str; 2], [one, many]: [&str; 2]) -> String {
    let parts = counts
        .iter()
        .map(|(&count, &whom)| format!("{} with {}", counted(whom, who, whose), counted(count, one, many)));
    parts.collect::<Vec<_>>().join(", ")
}

/// One bit for every sample.
struct Bits {
    words: Vec<u64>,
    length: u64,
}

impl Bits {
    fn new(length: u64) -> Result<Self, Problem> {
        let mut words = Vec::new();
        let count = usize::try_from(length.div_ceil(64)).ok();
        let reserved = count.filter(|count| words.try_reserve_exact(*count).is_ok());
        let Some(count) = reserved else {
            let needed = grouped(length.div_ceil(8));
            return Err(Problem::message(format!(
                "no memory for one bit a sample, {needed} bytes; verify fewer samples"
            )));
        };
        words.resize(count, 0);
        Ok(Self { words, length })
    }

    /// The bit of a sample, if there is such a sample.
    fn mark(&mut self, sample: u64) -> Option<Mark<'_>> {
        let word = (sample < self.length).then(|| &mut self.words[(sample / 64) as usize])?;
        Some(Mark { word, bit: 1 << (sample % 64) })
    }
}

struct Mark<'a> {
    word: &'a mut u64,
    bit: u64,
}

impl Mark<'_> {
    fn is_set(&self) -> bool {
        *self.word & self.bit != 0
    }

    fn set(self) {
        *self.word |= self.bit;
    }
}
