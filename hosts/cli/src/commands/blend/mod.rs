//! `samedeal blend`: the counts that a blend of sources gives.

mod drift;
mod shares;

use std::io::Write;
use std::path::Path;

use samedeal::{Layout, Sampler};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use shares::{Shares, millionths};

use crate::args::blend::BlendArgs;
use crate::args::format::Format;
use crate::args::{deal, recipe};
use crate::write::{Cell, Items, Problem, Recipe, Sink, counted, grouped, print, progress, show};

/// How many samples of a rank are read at a time.
const WINDOW: u64 = 1 << 16;

/// The counts that a blend of sources gives.
#[derive(Serialize, JsonSchema)]
pub struct Blended<'a> {
    recipe: Recipe,
    epoch: u64,
    /// Positions of the epoch, of all ranks.
    length: u64,
    /// The rank whose samples are counted; null if the positions of all ranks are.
    rank: Option<u32>,
    /// The first position or sample that is counted, and the one after the last.
    start: u64,
    end: u64,
    sources: &'a [Source],
    /// With `--plot`.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<Vec<drift::Drifting>>,
}

/// The counts of one source. A number that is not known for one rank alone, or if a source may leave the blend, is null
/// or not there.
#[derive(Serialize, JsonSchema)]
struct Source {
    source: String,
    /// The weight of the source in each stage that has some of the positions.
    weights: Vec<u64>,
    /// The share that was asked for, from 0 to 1.
    share_asked: f64,
    count: u64,
    share: f64,
    /// The count less the exact share, in samples; its absolute value is at most `bound`.
    deviation: Option<f64>,
    bound: Option<f64>,
    #[serde(flatten)]
    passes: Option<Passes>,
}

/// Where the draws of a source begin and end: in which pass through its samples, and at which position of that pass.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PassesOf")]
struct Passes {
    from_pass: u64,
    from_position: u64,
    to_pass: u64,
    to_position: u64,
    /// Samples that are drawn again.
    repeats: u64,
}

/// `samedeal blend`
pub fn run(args: &BlendArgs) -> Result<(), Problem> {
    let sampler = sampler(args)?;
    // Refuses an order without sources before all other checks.
    sampler.sources().map_err(Problem::worded)?;
    let Some(path) = &args.recipe_out else { return report(args, &sampler) };
    let mut sink = Sink::new(Some(path.as_path()).filter(|path| *path != Path::new("-")))?;
    writeln!(sink, "{}", sampler.recipe()?)?;
    if !args.report && !args.plot {
        return sink.finish();
    }
    // The recipe is written first. If the report goes to the same output, the report follows the recipe.
    sink.flush()?;
    sink.finish_after(report(args, &sampler))
}

fn report(args: &BlendArgs, sampler: &Sampler) -> Result<(), Problem> {
    let shares = Shares::new(sampler)?;
    let most = if args.rank.is_some() { sampler.num_samples() } else { sampler.epoch_length() };
    let end = args.end.unwrap_or(most);
    for (option, value, least, most) in [("--end", end, 0, most), ("--start", args.start, 0, end)] {
        if value > most {
            return Err(Problem::message(format!("{option} is {value}; allowed: {least} to {most}")));
        }
    }
    let sources = match args.rank {
        Some(_) => of_rank(sampler, &shares, args.start, end)?,
        None => of_all(sampler, &shares, args.start, end)?,
    };
    let drift = if args.plot { Some(drift::Drift::new(sampler, &shares, args.start, end)?) } else { None };
    let format = args.output.format();
    let json = || {
        let (epoch, length) = (sampler.epoch(), sampler.epoch_length());
        let (recipe, drift) = (Recipe::of(&sampler.recipe()?), drift.as_ref().map(|drift| drift.sources.clone()));
        Ok(Blended { recipe, epoch, length, rank: args.rank, start: args.start, end, sources: &sources, drift })
    };
    show(format, || items(&sources), || Ok(said(sampler, args, end)), json)?;
    if matches!(format, Format::Table | Format::Text) { drift.iter().try_for_each(print) } else { Ok(()) }
}

/// The sampler of the blend, from the options, the recipe, or both.
fn sampler(args: &BlendArgs) -> Result<Sampler, Problem> {
    let text = args.recipe.as_deref().map_or_else(|| Ok(r#"{"order":{"name":"blend"}}"#.to_owned()), recipe::text)?;
    let builder = Sampler::from_recipe(recipe::with(text, [("order", args.sources.members())]));
    let builder = deal::lists(&args.list)?.into_iter().fold(builder, |it, (path, list)| it.list(path, list));
    let builder = args.world_size.into_iter().fold(builder, samedeal::Builder::world_size);
    let built = builder.epoch(args.epoch).rank(args.rank.unwrap_or(0)).build();
    built.map_err(|error| match &args.recipe {
        Some(path) => Problem::of(path, error),
        None => Problem::worded(error),
    })
}

/// The counts of the sources over all ranks. No pass over the positions is needed.
fn of_all(sampler: &Sampler, shares: &Shares, start: u64, end: u64) -> Result<Vec<Source>, Problem> {
    let counts = sampler.source_counts(start..end)?;
    let bounds = sampler.source_bounds()?;
    let is_prefix = shares.position(start) == 0;
    let of = |(source, name): (usize, &String)| {
        let expected = shares.expected(source, start, end);
        // The count of a run that begins later is the difference of two counts from the beginning, so its bound is
        // twice as large.
        let bound = if is_prefix { bounds[source] } else { 2 * bounds[source] };
        let mut own = Source::new(name, source, shares, [start, end], counts.count[source], end - start);
        own.deviation = shares.is_steady().then(|| samples(millionths(own.count) - expected));
        own.bound = shares.is_steady().then(|| samples(bound.into()));
        own.passes = Some(Passes {
            from_pass: counts.from_pass[source],
            from_position: counts.from_position[source],
            to_pass: counts.to_pass[source],
            to_position: counts.to_position[source],
            repeats: repeats(sampler, source, start, end)?,
        });
        Ok(own)
    };
    counts.sources.iter().enumerate().map(of).collect()
}

/// How many draws of a source repeat an earlier sample: all draws after its first pass.
fn repeats(sampler: &Sampler, source: usize, start: u64, end: u64) -> Result<u64, Problem> {
    let count = |to: u64| -> Result<(u64, bool), Problem> {
        let counts = sampler.source_counts(start..to)?;
        Ok((counts.count[source], counts.to_pass[source] > 0))
    };
    let (all, is_over) = count(end)?;
    if !is_over {
        return Ok(0);
    }
    let first_pass = first(start, end, |to| Ok(count(to)?.1))?;
    Ok(all - count(first_pass)?.0)
}

/// The first number from `low` to before `high` for which `holds` is true; `high` if there is none. `holds` must be
/// true for all later numbers, too.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> Result<bool, Problem>) -> Result<u64, Problem> {
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(low)
}

/// The sources of a rank, counted sample by sample.
fn of_rank(sampler: &Sampler, shares: &Shares, start: u64, end: u64) -> Result<Vec<Source>, Problem> {
    if sampler.layout() == Layout::Contiguous {
        return Err(Problem::message("--rank is for the layouts strided and rotated; the recipe has contiguous"));
    }
    let names = sampler.sources()?;
    let ends = ends(sampler, names.len())?;
    let mut counts = vec![0; names.len()];
    let bar = progress::bar("counting", end - start);
    for from in (start..end).step_by(WINDOW as usize) {
        let window = sampler.window::<u64>(from, (end - from).min(WINDOW) as u32)?;
        window.iter().for_each(|sample| counts[ends.partition_point(|end| end <= sample)] += 1);
        bar.inc(window.len() as u64);
    }
    bar.finish_and_clear();
    let ranks = u64::from(sampler.world_size());
    let [first, last] = [start, end].map(|index| index.saturating_mul(ranks).min(sampler.epoch_length()));
    let of = |((source, name), count): ((usize, &String), u64)| {
        let own = Source::new(name, source, shares, [first, last], count, end - start);
        let expected = (own.share_asked * 1e6 * (end - start) as f64).round() as i128;
        Source { deviation: shares.is_steady().then(|| samples(millionths(count) - expected)), ..own }
    };
    Ok(names.iter().enumerate().zip(counts).map(of).collect())
}

/// The index after the last sample of each source.
fn ends(sampler: &Sampler, sources: usize) -> Result<Vec<u64>, Problem> {
    let mut ends = Vec::with_capacity(sources);
    for source in 0..sources as u32 {
        let is_later = |sample| Ok(sampler.source_of(sample).map_err(Problem::worded)?.source > source);
        ends.push(first(ends.last().copied().unwrap_or(0), sampler.dataset_size(), is_later)?);
    }
    Ok(ends)
}

fn items(sources: &[Source]) -> Items {
    let mut items = Items::new([
        "source",
        "weight",
        "share asked",
        "count",
        "share got",
        "deviation in samples",
        "bound",
        "whole passes",
        "of the next",
        "repeats",
    ]);
    for Source { source, weights, share_asked, count, share, deviation, bound, passes } in sources {
        let weight = match weights[..] {
            [weight] => weight.into(),
            _ => Cell::Told(json!(weights), weights.iter().copied().map(grouped).collect::<Vec<_>>().join(", then ")),
        };
        items.push([
            source.as_str().into(),
            weight,
            Cell::Share(*share_asked),
            (*count).into(),
            Cell::Share(*share),
            deviation.map(Cell::Ratio).into(),
            bound.map(Cell::Ratio).into(),
            passes.as_ref().map(|it| it.to_pass).into(),
            passes.as_ref().map(|it| it.to_position).into(),
            passes.as_ref().map(|it| it.repeats).into(),
        ]);
    }
    items
}

impl Source {
    /// A source with `count` of `seen` samples, without the numbers that are unknown for a rank. The shares are those
    /// of the positions `start` to `end`.
    fn new(name: &str, source: usize, shares: &Shares, [start, end]: [u64; 2], count: u64, seen: u64) -> Self {
        let (weights, share_asked) = (shares.weights(source, start, end), shares.share(source, start, end));
        let share = count as f64 / seen.max(1) as f64;
        Self { source: name.to_owned(), weights, share_asked, count, share, deviation: None, bound: None, passes: None }
    }
}

/// Millionths of a sample as samples.
fn samples(millionths: i128) -> f64 {
    millionths as f64 / 1e6
}

/// The note below the table: the positions and the order.
fn said(sampler: &Sampler, args: &BlendArgs, end: u64) -> String {
    let last = end.checked_sub(1).filter(|&last| last >= args.start);
    let what = if args.rank.is_some() { "sample" } else { "position" };
    let which = last
        .map_or_else(|| format!("no {what}s"), |last| format!("{what}s {} to {}", grouped(args.start), grouped(last)));
    let who = match args.rank {
        Some(rank) => format!("of rank {rank} of {}", sampler.world_size()),
        None => "of all ranks".to_owned(),
    };
    let length = counted(sampler.epoch_length(), "position", "positions");
    format!(
        "{which} {who}, in epoch {} of {length}, order {}, seed {}",
        sampler.epoch(),
        sampler.order(),
        sampler.seed()
    )
}
