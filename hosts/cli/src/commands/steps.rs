//! `samedeal steps`: a whole training in one row of steps, over the ends of epochs.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use samedeal::{EpochPosition, Schedule, StepPlace};
use serde_json::{Map, Value, json};

use crate::args::dataset::Dataset;
use crate::args::format::Format;
use crate::args::steps::{Opened, StepsArgs};
use crate::commands::locate::add_stored;
use crate::commands::numbers::abridged;
use crate::commands::step::stored;
use crate::read::contents::Contents;
use crate::write::items::{Cell, Items};
use crate::write::output::{Sink, counted, grouped, note, print};
use crate::write::problem::Problem;
use crate::write::progress;

/// How many ranks are gone through.
const MOST: u32 = 1 << 16;

/// `samedeal steps`
pub fn run(args: &StepsArgs) -> Result<(), Problem> {
    let opened = args.open()?;
    let Opened { schedule, .. } = &opened;
    if let Some(path) = &args.recipe_out {
        let mut sink = Sink::new(Some(path.as_path()).filter(|path| *path != Path::new("-")))?;
        writeln!(sink, "{}", schedule.recipe()?)?;
        return sink.finish();
    }
    if let Some(step) = args.state {
        let mut sink = Sink::new(args.file.as_deref())?;
        writeln!(sink, "{}", schedule.state(step)?)?;
        return sink.finish();
    }
    match args.step {
        Some(step) => taken(args, &opened, step),
        None if !args.locate.is_empty() => found(args, &opened),
        None => table(args, &opened),
    }
}

/// What a JSON answer begins with.
fn head(Opened { schedule, resumed, .. }: &Opened) -> Result<Map<String, Value>, Problem> {
    let recipe = serde_json::from_str(&schedule.recipe()?).unwrap_or(Value::Null);
    let parts = [("recipe", recipe), ("num_steps", schedule.num_steps().into()), ("resumed_at", json!(resumed))];
    Ok(parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// What the answer is of, for people.
fn said(schedule: &Schedule) -> String {
    let ranks = counted(schedule.world_size().into(), "rank", "ranks");
    let samples = counted(schedule.samples(), "sample", "samples");
    format!("{ranks}, {samples}, order {}, seed {}", schedule.order(), schedule.seed())
}

/// Where a step begins, and why it is shown.
struct Row {
    step: u64,
    notes: Vec<String>,
    batch_size: u32,
    consumed: u64,
    place: EpochPosition,
}

/// The first step of each stage and of some epochs, and those that are asked for.
fn table(args: &StepsArgs, opened: &Opened) -> Result<(), Problem> {
    let Opened { schedule, resumed, .. } = opened;
    let first = resumed.unwrap_or(0);
    let mut steps = BTreeMap::<u64, Vec<String>>::new();
    let mut add = |step: u64, what: String| steps.entry(step).or_default().push(what);
    add(first, if resumed.is_some() { "the state continues".to_owned() } else { "the first step".to_owned() });
    let recipe: Value = serde_json::from_str(&schedule.recipe()?).unwrap_or_default();
    for stage in recipe["steps"]["stages"].as_array().into_iter().flatten() {
        // A stage may begin after the last step.
        if let Some(from) = stage["from"].as_u64().filter(|from| (first..schedule.num_steps()).contains(from)) {
            add(from, format!("batch size {}", grouped(stage["batch_size"].as_u64().unwrap_or_default())));
        }
    }
    // After the last step, there is no epoch to go on with.
    let begun = if first < schedule.num_steps() { Some(schedule.place_of(first)?.epoch) } else { None };
    for epoch in begun.into_iter().flat_map(|begun| (1..=u64::from(args.epochs)).map(move |more| begun + more)) {
        let Ok(step) = schedule.step_of(epoch, 0) else { break };
        add(step, format!("epoch {epoch} begins"));
    }
    for step in &args.at {
        steps.entry(*step).or_default();
    }
    let row = |(step, notes): (u64, Vec<String>)| -> Result<Row, Problem> {
        let asked = |error: samedeal::Error| match error.failure() {
            Some(failure) => Problem::message(format!("--at is {step}; allowed: {}", failure.allowed)),
            None => error.into(),
        };
        let batch_size = schedule.batch_size(step).map_err(asked)?;
        Ok(Row { step, notes, batch_size, consumed: schedule.samples_consumed(step)?, place: schedule.place_of(step)? })
    };
    let rows = steps.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let mut items = Items::new(["step", "what", "batch size", "samples consumed", "epoch", "position"]);
    for Row { step, notes, batch_size, consumed, place } in &rows {
        // An epoch is a name, and no amount.
        let epoch = place.epoch.to_string().into();
        let notes = notes.join("; ").into();
        items.push([(*step).into(), notes, (*batch_size).into(), (*consumed).into(), epoch, place.position.into()]);
    }
    match args.output.format() {
        Format::Table => {
            items.print(Format::Table)?;
            let limit = schedule.num_steps();
            note(format!("{}; up to {}. --at STEP shows others", said(schedule), counted(limit, "step", "steps")))
        }
        Format::Json => {
            let json_of = |Row { step, notes, batch_size, consumed, place }: &Row| {
                json!({
                    "step": step, "notes": notes, "batch_size": batch_size, "samples_consumed": consumed,
                    "epoch": place.epoch, "position": place.position,
                })
            };
            let mut answer = head(opened)?;
            answer.insert("steps".to_owned(), rows.iter().map(json_of).collect());
            print(Value::Object(answer))
        }
        format => items.print(format),
    }
}

/// The ranks that are asked for.
fn ranks(args: &StepsArgs, schedule: &Schedule) -> Result<Range<u32>, Problem> {
    let ranks = schedule.world_size();
    match args.rank {
        Some(rank) if rank < ranks => Ok(rank..rank + 1),
        Some(rank) => Err(Problem::not_one_of("rank", rank, ranks)),
        None if ranks > MOST => {
            Err(Problem::message(format!("--world-size is {ranks}, too many ranks to show; name one with --rank")))
        }
        None => Ok(0..ranks),
    }
}

/// What every rank takes at a step.
fn taken(args: &StepsArgs, opened: &Opened, step: u64) -> Result<(), Problem> {
    let Opened { dataset, schedule, .. } = opened;
    if step >= schedule.num_steps() {
        let last = schedule.num_steps().saturating_sub(1);
        return Err(Problem::message(format!("--step is {step}; allowed: 0 to {last}")));
    }
    let ranks = ranks(args, schedule)?;
    let bar = progress::bar("reading", u64::from(ranks.end - ranks.start));
    let read = |rank: u32| {
        bar.inc(1);
        Ok::<_, Problem>((rank, schedule.at_rank(rank)?.batch(step)?))
    };
    let parts = ranks.map(read).collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();
    let samples = parts.iter().flat_map(|(_, samples)| samples.iter().copied());
    let contents = &Contents::read(dataset, &args.column, samples.clone())?;
    match args.output.format() {
        Format::Table => {
            let is_short = dataset.files.is_empty();
            let items = if is_short { short(&parts) } else { long(&parts, dataset, contents) };
            items.print(Format::Table)?;
            let EpochPosition { epoch, position, .. } = schedule.place_of(step)?;
            let from = format!("from position {} of epoch {epoch} on", grouped(position));
            let count = counted(samples.count() as u64, "sample", "samples");
            let more = if is_short { "; --format text shows all of them" } else { "" };
            note(format!("step {}: {count} {from}; {}{more}", grouped(step), said(schedule)))
        }
        Format::Json => {
            let json_of = |(rank, samples): &(u32, Vec<u64>)| {
                let mut object = Map::new();
                object.insert("rank".to_owned(), (*rank).into());
                object.insert("samples".to_owned(), samples.clone().into());
                stored(&mut object, samples, dataset, contents);
                Value::Object(object)
            };
            let mut answer = head(opened)?;
            let EpochPosition { epoch, position, .. } = schedule.place_of(step)?;
            for (name, value) in [("step", step), ("epoch", epoch), ("position", position)] {
                answer.insert(name.to_owned(), value.into());
            }
            answer.insert("batch_size".to_owned(), schedule.batch_size(step)?.into());
            answer.insert("ranks".to_owned(), parts.iter().map(json_of).collect());
            print(Value::Object(answer))
        }
        format => long(&parts, dataset, contents).print(format),
    }
}

/// A row for each rank.
fn short(parts: &[(u32, Vec<u64>)]) -> Items {
    let mut items = Items::new(["rank", "size", "samples"]);
    for (rank, samples) in parts {
        items.push([(*rank).into(), (samples.len() as u64).into(), abridged(samples).into()]);
    }
    items
}

/// A row for each sample.
fn long(parts: &[(u32, Vec<u64>)], dataset: &Dataset, contents: &Contents) -> Items {
    let columns = [&["rank", "index in batch", "sample"], dataset.columns(), &contents.columns()].concat();
    let mut items = Items::new(columns);
    for (rank, samples) in parts {
        for (index, &sample) in (0_u64..).zip(samples) {
            let row = [(*rank).into(), index.into(), sample.into()].into_iter().chain(dataset.row(sample));
            items.push(row.chain(contents.cells(sample)));
        }
    }
    items
}

/// When and where samples are seen.
fn found(args: &StepsArgs, opened: &Opened) -> Result<(), Problem> {
    let Opened { dataset, schedule, resumed } = opened;
    let from = args.from.or(*resumed).unwrap_or(0);
    if from > schedule.num_steps() {
        return Err(Problem::message(format!("--from is {from}; allowed: 0 to {}", schedule.num_steps())));
    }
    let columns = ["sample", "step", "rank", "index in batch", "epoch", "position", "draw"];
    let mut items = Items::new([&columns, dataset.columns()].concat());
    let mut answers = Vec::new();
    let spinner = progress::spinner("searching");
    for sample in args.locate.iter().flat_map(|samples| samples.of(schedule.samples())) {
        if sample >= schedule.samples() {
            let most = schedule.samples() - 1;
            return Err(Problem::message(format!("--locate is {sample}; allowed: 0 to {most}")));
        }
        let (mut places, mut next) = (Vec::new(), Some(from));
        while let Some(step) = next.filter(|_| places.len() < args.times as usize) {
            let place = schedule.locate(sample, step)?;
            places.extend(place);
            next = place.map(|place| place.step + 1).filter(|step| *step < schedule.num_steps());
        }
        for StepPlace { draw, epoch, position, step, rank, index_in_batch, .. } in places.iter().copied() {
            let epoch = epoch.to_string().into();
            let row =
                [sample.into(), step.into(), rank.into(), index_in_batch.into(), epoch, position.into(), draw.into()];
            items.push(row.into_iter().chain(dataset.row(sample)));
        }
        if places.is_empty() {
            let none = (1..columns.len()).map(|column| if column == 1 { "never".into() } else { Cell::from("") });
            items.push(std::iter::once(sample.into()).chain(none).chain(dataset.row(sample)));
        }
        let json_of = |place: &StepPlace| {
            json!({
                "draw": place.draw, "epoch": place.epoch, "position": place.position, "step": place.step,
                "rank": place.rank, "index_in_batch": place.index_in_batch,
            })
        };
        let mut answer = json!({ "sample": sample, "places": places.iter().map(json_of).collect::<Value>() });
        add_stored(&mut answer, dataset, sample);
        answers.push(answer);
    }
    spinner.finish_and_clear();
    match args.output.format() {
        Format::Table => {
            items.print(Format::Table)?;
            note(format!("from step {} on; {}", grouped(from), said(schedule)))
        }
        Format::Json => {
            let mut answer = head(opened)?;
            answer.insert("from".to_owned(), from.into());
            answer.insert("samples".to_owned(), answers.into());
            print(Value::Object(answer))
        }
        format => items.print(format),
    }
}
