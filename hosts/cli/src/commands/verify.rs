//! `samedeal verify`: checks that all readers together get the samples that they should.

use std::collections::BTreeMap;

use clap::Args;
use samedeal::{Remainder, Sampler};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::dataset::Dataset;
use crate::args::deal::{AllRanks, EpochArgs};
use crate::args::format::{Format, Output};
use crate::commands::readers::{Readers, left};
use crate::write::{Cell, Items, Problem, counted, grouped, progress, show, verdict};

/// The most readers that are verified: the samples of each of them are read.
const READERS: u64 = 1 << 20;

#[derive(Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    ranks: AllRanks,
    #[command(flatten)]
    pub output: Output,
}

/// The checks of an epoch, and their results.
#[derive(Serialize, JsonSchema)]
pub struct Verified<'a> {
    /// Null if no check failed, but one was not made.
    passed: Option<bool>,
    /// Number of sample indices: those of all sources of a blend.
    dataset_size: u64,
    /// Samples that were consumed before: by the state that is resumed.
    consumed: u64,
    ranks: u32,
    /// Loader workers of each rank; null without `--workers`.
    workers: Option<u32>,
    /// How many different samples are seen, and how many more the batches hold, as padding.
    seen: u64,
    num_padding: u64,
    /// Samples that no rank is dealt, and samples in partial batches that are left out.
    dropped: u64,
    left_out: u64,
    /// The fewest and the most steps of a rank; null without `--batch-size`.
    steps: Option<[u64; 2]>,
    checks: &'a [Check],
}

/// A check, its result, and the numbers that it counted, for programs and for people.
#[derive(Serialize, JsonSchema)]
struct Check {
    name: &'static str,
    /// Null if it was not checked.
    passed: Option<bool>,
    found: Option<Counted>,
    #[serde(skip)]
    told: String,
}

/// The numbers that a check counted. A pair of numbers is a range: the least and the most that the deal promises.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Counted {
    Disjoint { dealt_twice: u64, unknown: u64 },
    Covering { seen: u64, of: u64, dropped: u64, expected_dropped: [u64; 2], left_out: u64 },
    Padding { repeated: u64, expected: [u64; 2], in_batches: u64 },
    SharesOfRanks { ranks: Vec<Share> },
    SharesOfWorkers { workers: Vec<Share> },
    Steps { ranks: Vec<Batches> },
}

/// A number of readers that have the same number of samples.
#[derive(Serialize, JsonSchema)]
struct Share {
    count: u64,
    samples: u64,
}

/// A number of ranks that have the same number of batches.
#[derive(Serialize, JsonSchema)]
struct Batches {
    count: u64,
    batches: u64,
}

/// `samedeal verify`: returns false if a check failed.
pub fn run(args: &VerifyArgs) -> Result<bool, Problem> {
    let EpochArgs { deal, batch_size, drop_last, .. } = &args.epoch;
    if *drop_last && batch_size.is_none() {
        return Err(Problem::message("--drop-last needs batches; add --batch-size"));
    }
    let (dataset, mut readers) = args.epoch.open()?;
    if u64::from(deal.world_size()) * u64::from(deal.workers.unwrap_or(1)) > READERS {
        let workers = deal.workers.map_or(String::new(), |workers| format!(" with --workers {workers}"));
        return Err(Problem::message(format!(
            "--world-size is {}{workers}; allowed here: 1 to {READERS} readers in all, since each is asked for its samples",
            deal.world_size()
        )));
    }
    let has_batches = args.epoch.has_batches();
    // Positions are counted, since a composed order may have a sample several times, or not at all.
    let samples = readers.sampler().map_or(dataset.samples, Sampler::epoch_length);
    let epoch = Epoch::walk(&mut readers, &dataset, samples, args)?;
    let checks = epoch.checks(&readers, samples, has_batches);
    let passed = all_passed(checks.iter().map(|check| check.passed));
    let format = args.output.format();
    let items = || {
        let mut items = Items::new(["check", "result", "found"]);
        for Check { name, passed, told, found } in &checks {
            let exact = || Cell::Value(serde_json::to_value(found).unwrap_or_default());
            let found = if format == Format::Table { told.as_str().into() } else { exact() };
            items.push([(*name).into(), result(*passed).into(), found]);
        }
        items
    };
    let most = || Some([*epoch.steps.keys().min()?, *epoch.steps.keys().max()?]);
    let answer = || {
        Ok(Verified {
            passed,
            dataset_size: dataset.samples,
            consumed: epoch.consumed,
            ranks: deal.world_size(),
            workers: deal.workers,
            seen: epoch.seen,
            num_padding: epoch.held.saturating_sub(epoch.seen),
            dropped: epoch.dropped(samples),
            left_out: epoch.left_out(),
            steps: most().filter(|_| has_batches),
            checks: &checks,
        })
    };
    verdict(show(format, items, || Ok(String::new()), answer), passed)
}

/// Whether all checks passed: `None` if no check failed, but one was not made.
pub fn all_passed(checks: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for passed in checks {
        match passed {
            Some(false) => return passed,
            None => all = None,
            Some(true) => {}
        }
    }
    all
}

/// The result of a check in words.
pub fn result(passed: Option<bool>) -> &'static str {
    passed.map_or("not checked", |passed| if passed { "ok" } else { "FAILED" })
}

/// Counts of the samples that all ranks together were dealt in an epoch, or in the rest of one.
#[derive(Default)]
struct Epoch {
    /// Samples that were consumed before the state of `--resume`; 0 without a state.
    consumed: u64,
    /// Samples that were dealt, other than as padding: for the first time (`dealt`), and again (`repeated`).
    dealt: u64,
    repeated: u64,
    padding: u64,
    /// Padding that repeats no dealt sample.
    stray: u64,
    /// Indices that are not samples of the dataset.
    outside: u64,
    /// The samples in batches, counted with their repetitions (`held`), and counted once each (`seen`). Without
    /// `--drop-last`, every sample that was dealt is in a batch.
    held: u64,
    seen: u64,
    /// How many samples the batches must have.
    to_be_held: u64,
    /// `shares`: how many readers have each number of samples. `of_ranks` and `steps`: how many ranks have each number
    /// of samples and of batches.
    shares: BTreeMap<u64, u64>,
    of_ranks: BTreeMap<u64, u64>,
    steps: BTreeMap<u64, u64>,
}

impl Epoch {
    /// Reads the samples of every reader.
    fn walk(readers: &mut Readers, dataset: &Dataset, samples: u64, args: &VerifyArgs) -> Result<Self, Problem> {
        let mut epoch = Self::default();
        let mut bits = epoch.consumed(readers, dataset, args)?;
        // A second set of marks for the batches: a sample whose own place is left out may still be seen as padding.
        let mut in_batches = readers.batches.drops_last().then(|| bits.copy()).transpose()?;
        let bar = progress::bar("verifying", samples - epoch.consumed);
        // Padding that repeats samples which no earlier rank was dealt: a later rank may still be dealt them.
        let mut pending = Vec::new();
        let is_cut = readers.batches.drops_last();
        for rank in 0..readers.world_size {
            let (mut share, mut steps) = (0, 0);
            for worker in 0..readers.workers.unwrap_or(1) {
                let reader = readers.reader(rank, worker)?;
                *epoch.shares.entry(reader.samples).or_default() += 1;
                (share, steps) = (share + reader.samples, steps + reader.batches);
                let in_batch = reader.batches.saturating_mul(reader.size);
                epoch.to_be_held += if is_cut { reader.samples - reader.samples % reader.size } else { reader.samples };
                for window in reader.windows(0, reader.samples) {
                    let (start, window) = window?;
                    for (index, &sample) in (start..).zip(&window) {
                        let Some(is_set) = bits.set(sample) else {
                            epoch.outside += 1;
                            continue;
                        };
                        match (reader.is_padding(index), is_set) {
                            (false, false) => epoch.dealt += 1,
                            (false, true) => epoch.repeated += 1,
                            (true, true) => epoch.padding += 1,
                            (true, false) => {
                                bits.unset(sample);
                                pending.push(sample);
                            }
                        }
                        if index < in_batch {
                            epoch.held += 1;
                            epoch.seen +=
                                u64::from(in_batches.as_mut().is_some_and(|bits| bits.set(sample) == Some(false)));
                        }
                    }
                    bar.inc(window.len() as u64);
                }
            }
            *epoch.of_ranks.entry(share).or_default() += 1;
            *epoch.steps.entry(steps).or_default() += 1;
        }
        if in_batches.is_none() {
            epoch.seen = epoch.dealt;
        }
        for sample in pending {
            epoch.padding += 1;
            epoch.stray += u64::from(bits.is_set(sample) == Some(false));
        }
        Ok(epoch)
    }

    /// Marks the consumed samples, which must not be dealt again, other than as padding.
    fn consumed(&mut self, readers: &Readers, dataset: &Dataset, args: &VerifyArgs) -> Result<Marks, Problem> {
        if let Some(sampler) = readers.sampler().filter(|_| args.epoch.deal.is_composed) {
            self.consumed = sampler.consumed();
            let whole = args.epoch.deal.whole(dataset)?.at_epoch(sampler.epoch())?;
            return Ok(Marks::Left(left_of(&whole, self.consumed)?));
        }
        let mut marks =
            Marks::Dealt(zeros(dataset.samples.div_ceil(64), dataset.samples.div_ceil(8), "one bit")?, dataset.samples);
        if let Some(saved) = args.epoch.reading() {
            let mut left = left(saved, dataset)?;
            let reader = left.reader(0, 0)?;
            self.consumed = dataset.samples - reader.samples;
            for window in reader.windows(0, reader.samples) {
                window?.1.into_iter().for_each(|sample| _ = marks.set(sample));
            }
            if let Marks::Dealt(words, _) = &mut marks {
                words.iter_mut().for_each(|word| *word = !*word);
            }
        } else if let Some(sampler) = readers.sampler().filter(|sampler| sampler.consumed() > 0) {
            self.consumed = sampler.consumed();
            let whole = args.epoch.deal.whole(dataset)?.at_epoch(sampler.epoch())?;
            for sample in whole.iter().take(self.consumed as usize) {
                marks.set(sample?);
            }
        }
        Ok(marks)
    }

    /// Samples that no rank was dealt.
    fn dropped(&self, samples: u64) -> u64 {
        (samples - self.consumed).saturating_sub(self.dealt)
    }

    /// Samples that were dealt, but are in no batch.
    fn left_out(&self) -> u64 {
        self.dealt.saturating_sub(self.seen)
    }

    /// How much padding the deal promises, and how many dropped samples: the least and the most.
    fn promised(&self, readers: &Readers, samples: u64) -> [[u64; 2]; 2] {
        let count = u64::from(readers.world_size) * u64::from(readers.workers.unwrap_or(1)) * readers.unit();
        let over = (samples - self.consumed) % count;
        // A range, if a reading deals: the last group of readers divided the rest of the epoch when the group began,
        // and the state does not have the size of this rest.
        let is_exact = readers.sampler().is_some();
        let range = |number: u64| if is_exact { [number; 2] } else { [0, count - 1] };
        match readers.remainder {
            Some(Remainder::Drop) => [[0; 2], range(over)],
            Some(Remainder::Pad) => [range((count - over) % count), [0; 2]],
            _ => [[0; 2]; 2],
        }
    }

    /// Compares the counts with the numbers that the deal promises.
    fn checks(&self, readers: &Readers, samples: u64, has_batches: bool) -> Vec<Check> {
        let (left, dropped) = (samples - self.consumed, self.dropped(samples));
        let [promised_padding, promised_drops] = self.promised(readers, samples);
        let expected = |[least, most]: [u64; 2]| match least == most {
            true => grouped(most),
            false => format!("at most {}", grouped(most)),
        };
        let is_within = |number: u64, [least, most]: [u64; 2]| (least..=most).contains(&number);
        let said = |whether: bool, what: String| if whether { what } else { String::new() };
        let left_out =
            said(readers.batches.drops_last(), format!("; {} left out by --drop-last", grouped(self.left_out())));
        let in_batches = format!("; {} in the batches", grouped(self.held.saturating_sub(self.seen)));
        let in_batches = said(readers.batches.drops_last() && self.padding > 0, in_batches);
        let names = if self.consumed > 0 { ["sample left", "samples left"] } else { ["sample", "samples"] };
        let ranks = ["rank", "ranks"];
        // With a reading, ranks are compared: after a resume within a turn (one batch of each worker), the workers of a
        // rank may differ by a batch.
        let (shares, who) = match (readers.sampler(), readers.workers) {
            (Some(_), Some(_)) => (&self.shares, ["worker", "workers"]),
            (Some(_), None) => (&self.shares, ranks),
            (None, _) => (&self.of_ranks, ranks),
        };
        let spread = shares.keys().max().unwrap_or(&0) - shares.keys().min().unwrap_or(&0);
        let workers = if readers.sampler().is_some() { 1 } else { readers.workers.unwrap_or(1).into() };
        let spread_of = |remainder| if remainder == Remainder::Uneven { workers * readers.spread() } else { 0 };
        let most = readers.remainder.map(spread_of);
        let is_covered = is_within(dropped, promised_drops) && self.stray == 0 && self.held == self.to_be_held;
        let equal = has_batches.then_some(self.steps.len() == 1);
        let steps = by(&self.steps, ranks, ["batch", "batches"]);
        let batches = || self.steps.iter().map(|(&batches, &count)| Batches { count, batches }).collect();
        let steps_found = equal.map(|_| Counted::Steps { ranks: batches() });
        let of_readers = shares.iter().map(|(&samples, &count)| Share { count, samples }).collect();
        let shares_found = match who == ranks {
            true => Counted::SharesOfRanks { ranks: of_readers },
            false => Counted::SharesOfWorkers { workers: of_readers },
        };
        let steps = match (equal, readers.remainder) {
            (None, _) => "--batch-size N checks them".to_owned(),
            (Some(false), Some(_)) => steps + "; --remainder drop or pad makes them equal",
            (Some(_), _) => steps,
        };
        let dealt_twice = counted(self.repeated, "sample", "samples");
        let (seen, left, dropped) = (grouped(self.seen), counted(left, names[0], names[1]), grouped(dropped));
        let drops = expected(promised_drops);
        [
            (
                "disjoint",
                Some(self.repeated == 0 && self.outside == 0),
                format!("{dealt_twice} dealt twice, {} unknown", grouped(self.outside)),
                Some(Counted::Disjoint { dealt_twice: self.repeated, unknown: self.outside }),
            ),
            (
                "covering",
                Some(is_covered),
                format!("{seen} of {left} seen; {dropped} dropped, expected {drops}{left_out}"),
                Some(Counted::Covering {
                    seen: self.seen,
                    of: samples - self.consumed,
                    dropped: self.dropped(samples),
                    expected_dropped: promised_drops,
                    left_out: self.left_out(),
                }),
            ),
            (
                "padding",
                Some(is_within(self.padding, promised_padding) && self.stray == 0),
                format!("{} repeated, expected {}{in_batches}", grouped(self.padding), expected(promised_padding)),
                Some(Counted::Padding {
                    repeated: self.padding,
                    expected: promised_padding,
                    in_batches: self.held.saturating_sub(self.seen),
                }),
            ),
            ("shares", most.map(|most| spread <= most), by(shares, who, ["sample", "samples"]), Some(shares_found)),
            ("equal steps", equal, steps, steps_found),
        ]
        .map(|(name, passed, told, found)| Check { name, passed, told, found })
        .into()
    }
}

/// For each number of samples or batches: how many readers have it, such as "3 ranks with 5 batches".
fn by(counts: &BTreeMap<u64, u64>, [who, whose]: [&str; 2], [one, many]: [&str; 2]) -> String {
    let parts = counts
        .iter()
        .map(|(&count, &whom)| format!("{} with {}", counted(whom, who, whose), counted(count, one, many)));
    parts.collect::<Vec<_>>().join(", ")
}

/// How many times each sample is to be dealt from a position of an epoch on.
fn left_of(whole: &Sampler, from: u64) -> Result<Vec<u32>, Problem> {
    let mut left = zeros::<u32>(whole.dataset_size(), whole.dataset_size().saturating_mul(4), "4 bytes")?;
    for sample in whole.iter().rev().take((whole.epoch_length() - from) as usize) {
        // A number that is no sample is passed over here, and counted when it is dealt.
        let times = left.get_mut(sample? as usize);
        times.into_iter().for_each(|times| *times = times.saturating_add(1));
    }
    Ok(left)
}

/// A list of `count` zeros. If there is no memory for its `bytes`, the message says that `each` is needed for a sample.
fn zeros<T: Clone + Default>(count: u64, bytes: u64, each: &str) -> Result<Vec<T>, Problem> {
    let mut zeros = Vec::new();
    match usize::try_from(count).ok().filter(|count| zeros.try_reserve_exact(*count).is_ok()) {
        Some(count) => zeros.resize(count, T::default()),
        None => {
            let needed = grouped(bytes);
            return Err(Problem::message(format!(
                "no memory for {each} a sample, {needed} bytes; verify fewer samples"
            )));
        }
    }
    Ok(zeros)
}

/// The samples that were dealt so far.
enum Marks {
    /// A bit for each sample, and the number of samples.
    Dealt(Vec<u64>, u64),
    /// For a composed order: how many more times each sample is to be dealt.
    Left(Vec<u32>),
}

impl Marks {
    /// Whether a sample was dealt as often as it should be; `None` if there is no such sample.
    fn is_set(&self, sample: u64) -> Option<bool> {
        match self {
            Self::Dealt(words, samples) => {
                (sample < *samples).then(|| words[(sample / 64) as usize] & 1 << (sample % 64) != 0)
            }
            Self::Left(left) => left.get(usize::try_from(sample).ok()?).map(|left| *left == 0),
        }
    }

    /// Marks a sample as dealt, and returns [`Self::is_set`] as it was before.
    fn set(&mut self, sample: u64) -> Option<bool> {
        let was = self.is_set(sample)?;
        match self {
            Self::Dealt(words, _) => words[(sample / 64) as usize] |= 1 << (sample % 64),
            Self::Left(left) => left[sample as usize] = left[sample as usize].saturating_sub(1),
        }
        Some(was)
    }

    /// The inverse of [`Self::set`].
    fn unset(&mut self, sample: u64) {
        match self {
            Self::Dealt(words, _) => words[(sample / 64) as usize] &= !(1 << (sample % 64)),
            Self::Left(left) => left[sample as usize] += 1,
        }
    }

    fn copy(&self) -> Result<Self, Problem> {
        Ok(match self {
            Self::Dealt(words, samples) => {
                let mut copy = zeros(words.len() as u64, samples.div_ceil(8), "one bit")?;
                copy.copy_from_slice(words);
                Self::Dealt(copy, *samples)
            }
            Self::Left(left) => Self::Left(left.clone()),
        })
    }
}
