//! `samedeal blend`: what a blend of sources gives.

mod drift;
mod shares;

use std::io::Write;
use std::path::Path;

use samedeal::{Layout, Sampler};
use schemars::JsonSchema;
use serde::Serialize;
use shares::{Shares, millionths};

use crate::args::blend::BlendArgs;
use crate::args::format::Format;
use crate::args::{deal, recipe};
use crate::write::answer::{Recipe, print_json};
use crate::write::items::{Cell, Items};
use crate::write::output::{Sink, counted, grouped, note, print};
use crate::write::problem::Problem;
use crate::write::progress;

/// How many samples of a rank are read at a time.
const WINDOW: u64 = 1 << 16;

/// What a blend of sources gives.
#[derive(Serialize, JsonSchema)]
pub struct Blended {
    recipe: Recipe,
    epoch: u64,
    /// Positions of the epoch, of all ranks.
    length: u64,
    /// Whose samples are counted; null for the positions of all ranks.
    rank: Option<u32>,
    /// The first position or sample that is counted, and the one after the last.
    start: u64,
    end: u64,
    sources: Vec<Source>,
    /// With `--plot`.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<Vec<drift::Drifting>>,
}

/// What a source gives. What is not known of a rank, or where sources leave, is null or not there.
#[derive(Serialize, JsonSchema)]
struct Source {
    source: String,
    /// Of each stage that has some of the positions.
    weights: Vec<u64>,
    /// The share that was asked for, from 0 to 1.
    share_asked: f64,
    count: u64,
    share: f64,
    /// The count less what the share asks for, and the bound of that, in samples.
    deviation: Option<f64>,
    bound: Option<f64>,
    #[serde(flatten)]
    passes: Option<PassesOf>,
}

/// Where in its passes a source begins and ends.
#[derive(Serialize, JsonSchema)]
struct PassesOf {
    from_pass: u64,
    from_position: u64,
    to_pass: u64,
    to_position: u64,
    /// Samples that are drawn again.
    repeats: u64,
}

/// A source, and what it gives to the positions that are counted.
struct Row {
    name: String,
    /// Of each stage that has some of the positions.
    weights: Vec<u64>,
    asked: f64,
    count: u64,
    /// What is not known of a rank, or where sources leave.
    deviation: Option<i128>,
    bound: Option<u64>,
    passes: Option<Passes>,
}

/// How far a source is in its passes.
struct Passes {
    from: (u64, u64),
    to: (u64, u64),
    repeats: u64,
}

/// `samedeal blend`
pub fn run(args: &BlendArgs) -> Result<(), Problem> {
    let sampler = sampler(args)?;
    // With any other order, that is what is wrong.
    sampler.sources().map_err(Problem::worded)?;
    let Some(path) = &args.recipe_out else { return report(args, &sampler) };
    let mut sink = Sink::new(Some(path.as_path()).filter(|path| *path != Path::new("-")))?;
    writeln!(sink, "{}", sampler.recipe()?)?;
    if !args.report && !args.plot {
        return sink.finish();
    }
    // With the report on the same output, it stands before it.
    sink.flush()?;
    sink.finish_after(report(args, &sampler))
}

fn report(args: &BlendArgs, sampler: &Sampler) -> Result<(), Problem> {
    let shares = Shares::new(sampler)?;
    let most = if args.rank.is_some() { sampler.num_samples() } else { sampler.length() };
    let end = args.end.unwrap_or(most);
    for (option, value, least, most) in [("--end", end, 0, most), ("--start", args.start, 0, end)] {
        if value > most {
            return Err(Problem::message(format!("{option} is {value}; allowed: {least} to {most}")));
        }
    }
    let rows = match args.rank {
        Some(_) => of_rank(sampler, &shares, args.start, end)?,
        None => of_all(sampler, &shares, args.start, end)?,
    };
    let drift = if args.plot { Some(drift::Drift::new(sampler, &shares, args.start, end)?) } else { None };
    let seen = end - args.start;
    match args.output.format() {
        Format::Table => {
            items(&rows, seen).print(Format::Table)?;
            note(said(sampler, args, end))?;
            drift.iter().try_for_each(print)
        }
        Format::Json => print_json(&Blended {
            recipe: Recipe::of(&sampler.recipe()?),
            epoch: sampler.epoch(),
            length: sampler.length(),
            rank: args.rank,
            start: args.start,
            end,
            sources: rows.iter().map(|row| Source::new(row, seen)).collect(),
            drift: drift.map(|drift| drift.answer()),
        }),
        format => {
            items(&rows, seen).print(format)?;
            if format == Format::Text { drift.iter().try_for_each(print) } else { Ok(()) }
        }
    }
}

/// The sampler of the blend that is described, or that a recipe has.
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

/// What all ranks get together. It costs no pass over the positions.
fn of_all(sampler: &Sampler, shares: &Shares, start: u64, end: u64) -> Result<Vec<Row>, Problem> {
    let counts = sampler.source_counts(start..end)?;
    let bounds = sampler.source_bounds()?;
    let is_prefix = shares.position(start) == 0;
    let mut rows = Vec::new();
    for (source, name) in counts.sources.iter().enumerate() {
        let count = counts.count[source];
        let expected = shares.expected(source, start, end);
        let weights = shares.weights(source, start, end);
        // A run from anywhere is the difference of two from the beginning.
        let bound = if is_prefix { bounds[source] } else { 2 * bounds[source] };
        rows.push(Row {
            name: name.clone(),
            weights,
            asked: shares.share(source, start, end),
            count,
            deviation: shares.is_steady().then(|| millionths(count) - expected),
            bound: shares.is_steady().then_some(bound),
            passes: Some(Passes {
                from: (counts.from_pass[source], counts.from_position[source]),
                to: (counts.to_pass[source], counts.to_position[source]),
                repeats: repeats(sampler, source, start, end)?,
            }),
        });
    }
    Ok(rows)
}

/// How many draws of a source repeat a sample that the run had before: those after its first pass.
fn repeats(sampler: &Sampler, source: usize, start: u64, end: u64) -> Result<u64, Problem> {
    let count = |to: u64| -> Result<(u64, bool), Problem> {
        let counts = sampler.source_counts(start..to)?;
        Ok((counts.count[source], counts.to_pass[source] > 0))
    };
    let (all, is_over) = count(end)?;
    if !is_over {
        return Ok(0);
    }
    // The first end at which the first pass is over.
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low.midpoint(high);
        if count(middle)?.1 { high = middle } else { low = middle + 1 }
    }
    Ok(all - count(low)?.0)
}

/// What a rank gets, sample by sample.
fn of_rank(sampler: &Sampler, shares: &Shares, start: u64, end: u64) -> Result<Vec<Row>, Problem> {
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
    let [first, last] = [start, end].map(|index| index.saturating_mul(ranks).min(sampler.length()));
    let row = |((source, name), count): ((usize, String), u64)| {
        let asked = shares.share(source, first, last);
        let expected = (asked * 1e6 * (end - start) as f64).round() as i128;
        let deviation = shares.is_steady().then(|| millionths(count) - expected);
        Row { name, weights: shares.weights(source, first, last), asked, count, deviation, bound: None, passes: None }
    };
    Ok(names.into_iter().enumerate().zip(counts).map(row).collect())
}

/// The sample after the last one of each source.
fn ends(sampler: &Sampler, sources: usize) -> Result<Vec<u64>, Problem> {
    let mut ends = Vec::with_capacity(sources);
    for source in 0..sources as u32 {
        let (mut low, mut high) = (ends.last().copied().unwrap_or(0), sampler.samples());
        while low < high {
            let middle = low.midpoint(high);
            let place = sampler.source_of(middle).map_err(Problem::worded)?;
            if place.source <= source { low = middle + 1 } else { high = middle }
        }
        ends.push(low);
    }
    Ok(ends)
}

fn items(rows: &[Row], seen: u64) -> Items {
    let mut items = Items::new([
        "source",
        "weight",
        "share asked",
        "count",
        "share got",
        "deviation in samples",
        "bound",
        "whole passes",
        "repeats",
    ]);
    for row in rows {
        let none = || Cell::from("");
        let weight = row.weights.iter().copied().map(grouped).collect::<Vec<_>>().join(", then ");
        let passes = row.passes.as_ref().map(|it| match it.to {
            (passes, 0) => grouped(passes),
            (passes, more) => format!("{}, and {}", grouped(passes), counted(more, "sample", "samples")),
        });
        items.push([
            row.name.as_str().into(),
            weight.into(),
            Cell::Share(row.asked),
            row.count.into(),
            Cell::Share(got(row, seen)),
            row.deviation.map_or_else(none, |it| Cell::Ratio(it as f64 / 1e6)),
            row.bound.map_or_else(none, |it| Cell::Ratio(it as f64 / 1e6)),
            passes.map_or_else(none, Cell::from),
            row.passes.as_ref().map_or_else(none, |it| it.repeats.into()),
        ]);
    }
    items
}

fn got(row: &Row, seen: u64) -> f64 {
    row.count as f64 / seen.max(1) as f64
}

impl Source {
    fn new(row: &Row, seen: u64) -> Self {
        let passes = |&Passes { from, to, repeats }: &Passes| PassesOf {
            from_pass: from.0,
            from_position: from.1,
            to_pass: to.0,
            to_position: to.1,
            repeats,
        };
        Self {
            source: row.name.clone(),
            weights: row.weights.clone(),
            share_asked: row.asked,
            count: row.count,
            share: got(row, seen),
            deviation: row.deviation.map(|it| it as f64 / 1e6),
            bound: row.bound.map(|it| it as f64 / 1e6),
            passes: row.passes.as_ref().map(passes),
        }
    }
}

/// What the table is of, for people.
fn said(sampler: &Sampler, args: &BlendArgs, end: u64) -> String {
    let last = end.checked_sub(1).filter(|&last| last >= args.start);
    let what = if args.rank.is_some() { "sample" } else { "position" };
    let which = last
        .map_or_else(|| format!("no {what}s"), |last| format!("{what}s {} to {}", grouped(args.start), grouped(last)));
    let who = match args.rank {
        Some(rank) => format!("of rank {rank} of {}", sampler.world_size()),
        None => "of all ranks".to_owned(),
    };
    let length = counted(sampler.length(), "position", "positions");
    format!(
        "{which} {who}, in epoch {} of {length}, order {}, seed {}",
        sampler.epoch(),
        sampler.order(),
        sampler.seed()
    )
}
