//! `samedeal explain`: what the states in a checkpoint say.

use std::path::PathBuf;

use clap::Args;
use samedeal::{Layout, Remainder};
use serde_json::{Value, json};

use crate::args::by_length::ByLengthArgs;
use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{AllRanks, DealArgs, SHARDED};
use crate::args::format::{Format, Output};
use crate::args::values::{Samples, named, number, samples, within};
use crate::args::workers::WorkersArgs;
use crate::commands::locate::{LocateArgs, Status, add_stored};
use crate::commands::state::{ResumeArgs, contradiction, described};
use crate::commands::step::StepArgs;
use crate::commands::{batching, locate, reading, step};
use crate::read::checkpoint::{self, Saved, Stretch};
use crate::write::items::{Cell, Items};
use crate::write::output::{counted, grouped, percent, print};
use crate::write::problem::Problem;

#[derive(Args)]
pub struct ExplainArgs {
    /// What a run has saved: a state, JSON that holds one (such as trainer_state.json), or what torch.save wrote (.pt, .ckpt).
    /// Nothing in it is executed. - is standard input
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
    /// The Parquet files that were read, or directories of them, for the file and row of a sample; the order sharded needs them.
    /// With --lengths: the files that tell lengths
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Which state is asked about, where there are several: its place, as shown
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// What became of a sample: seen, to come, padding or dropped. May be repeated, or separated by commas
    #[arg(long, value_name = "INDEX", value_parser = samples, allow_negative_numbers = true)]
    sample: Vec<Samples>,
    /// What the ranks read in a step, counted from the beginning of the epoch
    #[arg(long, value_name = "STEP", value_parser = number, allow_negative_numbers = true, conflicts_with = "sample")]
    step: Option<u64>,
    /// How many ranks took the state, where it does not say so; with --lengths, how many go on
    #[arg(long, value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    world: Option<u32>,
    #[command(flatten)]
    workers: WorkersArgs,
    /// Samples in a batch, where the checkpoint does not say so
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    batch_size: Option<u32>,
    /// The last, partial batch was left out
    #[arg(long)]
    drop_last: bool,
    /// What happened where the world does not divide the samples
    #[arg(long, default_value = "pad", value_parser = named::<Remainder>(Remainder::ALL.iter().map(|it| it.name())))]
    remainder: Remainder,
    /// With the order sharded: how many streams the files were cut into [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    lanes: Option<u32>,
    /// With the order sharded: how many neighbouring samples of a lane were shuffled together [default: 256]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    window: Option<u32>,
    #[command(flatten)]
    by_length: ByLengthArgs,
    #[command(flatten)]
    output: Output,
}

/// `samedeal explain`
pub fn run(args: ExplainArgs) -> Result<(), Problem> {
    let states = checkpoint::read(&args.checkpoint)?;
    if states.is_empty() {
        return Err(Problem::of(&args.checkpoint, "holds no state of samedeal"));
    }
    if args.sample.is_empty() && args.step.is_none() {
        return show(&args, &states);
    }
    let saved = args.chosen(&states)?;
    if saved.is_python() {
        let what = "--sample and --step of it are answered by Python alone, where its dataset resumes it";
        return Err(args.refused(format!("{}; {what}", described(&saved))));
    }
    match saved.kind() {
        "sampler" => samples_of(args, saved),
        "batcher" => batches_of(args, saved),
        reading::KIND => readings_of(&args, &saved),
        _ => Err(args.refused(format!(
            "{}; allowed for --sample and --step: one of a sampler or of batches",
            described(&saved)
        ))),
    }
}

/// Every state in the file, in words.
fn show(args: &ExplainArgs, states: &[Saved]) -> Result<(), Problem> {
    match args.output.format() {
        Format::Json => {
            let states = states.iter().map(json_of).collect::<Value>();
            print(json!({ "file": args.checkpoint.display().to_string(), "states": states }))
        }
        format => {
            for (number, saved) in states.iter().enumerate() {
                if number > 0 {
                    print("")?;
                }
                let items = items(args, saved, format);
                print(if format == Format::Table { items.table().to_string() } else { items.lines() })?;
            }
            Ok(())
        }
    }
}

/// How many samples were consumed, where the state says so.
fn consumed(saved: &Saved) -> Option<u64> {
    if saved.kind() == reading::KIND
        && let Some(left) = left(saved)
    {
        return saved.number("samples")?.checked_sub(left);
    }
    saved.number("consumed")
}

/// How many are left; not where more was taken within a turn of workers, or of whole files.
fn left(saved: &Saved) -> Option<u64> {
    if saved.kind() == reading::KIND {
        return reading::left(saved, None).ok()?.num_samples(0, 0).ok();
    }
    saved.number("samples")?.checked_sub(consumed(saved)?).filter(|_| !saved.is_python())
}

/// What a state says, a row for each part of it.
fn items(args: &ExplainArgs, saved: &Saved, format: Format) -> Items {
    let mut items = Items::new(["what", "the state says"]);
    let mut push = |what: &str, says: Cell| items.push([what.into(), says]);
    let place = if saved.place.is_empty() { "the whole file" } else { &saved.place };
    push("file", args.checkpoint.display().to_string().into());
    push("place", place.into());
    push("what it is", described(saved).into());
    let order = saved.word("order");
    if !order.is_empty() {
        push("order", order.into());
    }
    if let Some(seed) = saved.seed() {
        push("seed", seed.to_string().into());
    }
    for name in ["epoch", "samples"] {
        // An epoch is a name, and no amount.
        if let Some(number) = saved.number(name) {
            push(name, if name == "epoch" { number.to_string().into() } else { number.into() });
        }
    }
    for name in reading::SHOWN.into_iter().filter(|_| saved.kind() == reading::KIND) {
        match saved.recipe().and_then(|recipe| recipe.get(name)) {
            Some(Value::String(word)) => push(&name.replace('_', " "), word.as_str().into()),
            Some(value) => push(&name.replace('_', " "), value.to_string().into()),
            None => {}
        }
    }
    match (consumed(saved), left(saved), saved.number("samples")) {
        (Some(consumed), Some(left), Some(samples)) => {
            let share = percent(consumed as f64 / samples.max(1) as f64);
            let said = if format == Format::Table {
                format!("{} ({share})", grouped(consumed)).into()
            } else {
                consumed.into()
            };
            push("consumed", said);
            push("left", left.into());
        }
        (Some(consumed), None, _) => push("consumed before what was taken", consumed.into()),
        _ => {}
    }
    if saved.history.is_empty() {
        push(
            "world",
            if saved.kind() == "batcher" {
                "of nobody yet: no step was taken"
            } else {
                "not in the state; it goes on with any"
            }
            .into(),
        );
    } else {
        for past in &saved.history {
            push("taken", said(past).into());
        }
        if saved.kind() == "batcher" {
            push("steps taken", saved.history.iter().map(|past| past.steps).sum::<u64>().into());
        }
    }
    if let Some(size) = saved.batch_size {
        push("batch size", size.into());
    }
    if let Some(batches) = saved.batches {
        push("batches behind it", batches.into());
    }
    push("resumed by", resumed_by(saved).into());
    items
}

fn said(past: &Stretch) -> String {
    let mut said = format!("{} by {}", counted(past.steps, "step", "steps"), counted(past.world, "rank", "ranks"));
    if let Some(workers) = past.workers {
        said += &format!(" with {} each", counted(workers, "worker", "workers"));
    }
    if let Some(size) = past.batch_size {
        said += &format!(", batches of {}", grouped(size));
    }
    if past.drop_last == Some(true) {
        said += ", without the last, partial one";
    }
    said
}

fn resumed_by(saved: &Saved) -> &'static str {
    let (order, samples) = (saved.word("order"), saved.number("samples"));
    let known = || order == SHARDED || samedeal::orders().is_ok_and(|orders| orders.iter().any(|name| name == order));
    if saved.number("samedeal") != Some(1) {
        return "nothing of this version, which reads states of version 1";
    }
    if saved.kind() != reading::KIND && !known() {
        return "nothing of this version, which has no such order";
    }
    if saved.number("consumed").is_some_and(|consumed| samples.is_some_and(|samples| consumed > samples)) {
        return "nothing: more is consumed than there is";
    }
    match saved.kind() {
        _ if saved.is_python() => "Python alone",
        "sampler" | "batcher" => "every library, and --resume",
        reading::KIND => "every library, and --resume of indices and replay",
        _ => "nothing of this version",
    }
}

fn json_of(saved: &Saved) -> Value {
    let history = saved.history.iter().map(|past| {
        json!({
            "world": past.world, "workers": past.workers, "batch_size": past.batch_size, "drop_last": past.drop_last,
            "steps": past.steps,
        })
    });
    json!({
        "place": saved.place, "kind": saved.kind(), "order": saved.fields.get("order"), "seed": saved.seed(),
        "epoch": saved.number("epoch"), "samples": saved.number("samples"), "consumed": consumed(saved),
        "recipe": saved.recipe(),
        "left": left(saved), "history": history.collect::<Value>(), "batch_size": saved.batch_size,
        "batches": saved.batches, "python_only": saved.is_python(), "state": saved.text,
    })
}

impl ExplainArgs {
    fn refused(&self, why: String) -> Problem {
        Problem::of(&self.checkpoint, why)
    }

    /// The state that is asked about.
    fn chosen(&self, states: &[Saved]) -> Result<Saved, Problem> {
        let places = || states.iter().map(|saved| saved.place.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(place) = &self.place {
            let found = states.iter().find(|saved| saved.place == *place);
            return found
                .cloned()
                .ok_or_else(|| Problem::message(format!("--place is {place:?}; known: {}", places())));
        }
        match checkpoint::distinct(states)[..] {
            [saved] => Ok(saved.clone()),
            [..] => Err(self.refused(format!("holds several states that differ; name one with --place: {}", places()))),
        }
    }

    /// What is dealt: the samples of the state, or the rows of files.
    fn dataset(&self, saved: &Saved) -> Result<DatasetArgs, Problem> {
        if self.paths.is_empty() && saved.word("order") == SHARDED {
            let needed =
                "name the files, or directories of them, after the checkpoint, and --lanes and --window of the run";
            return Err(self.refused(format!("the order is {SHARDED}, which is made of the files; {needed}")));
        }
        let samples = saved.number("samples").filter(|_| self.paths.is_empty());
        Ok(DatasetArgs { paths: self.paths.clone(), samples })
    }

    fn deal(&self, saved: &Saved, world: u32) -> DealArgs {
        DealArgs {
            seed: saved.seed(),
            epoch: saved.number("epoch").unwrap_or(0),
            order: Some(saved.word("order").to_owned()),
            lanes: self.lanes,
            window: self.window,
            world,
            remainder: self.remainder,
            // Within an epoch, no other has a state.
            layout: Layout::Strided,
        }
    }

    /// The samples in a batch, by an option or by the checkpoint.
    fn size(&self, saved: &Saved) -> Result<Option<u32>, Problem> {
        let known = saved.batch_size.and_then(|size| u32::try_from(size).ok());
        match (self.batch_size, known) {
            (Some(given), Some(known)) if given != known => {
                Err(self.refused(contradiction("batch-size", given, known)))
            }
            (given, known) => Ok(given.or(known)),
        }
    }
}

/// What became of samples or of a step, by the state of a sampler. Within the epoch, the same world deals the same, from the
/// beginning on or resumed, so that one sampler of the whole epoch knows all of it.
fn samples_of(args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let dataset = args.dataset(&saved)?;
    let loaded = Dataset::new(&dataset)?;
    // Files and options are to be those of the state.
    let resume = ResumeArgs { resume: Some(args.checkpoint.clone()), saved: Some(saved.clone()) };
    let whole = args.deal(&saved, 1).whole(&loaded)?;
    let consumed = resume.sampler(whole)?.config().consumed;
    let size = args.size(&saved)?;
    let option = |name: &str, why: &str| args.refused(format!("the checkpoint does not say {why}; add --{name}"));
    let (world, size) = match (args.world, size) {
        (Some(world), Some(size)) => (world, size),
        (None, None) if args.step.is_none() => return positions(&args, &saved, &loaded, consumed),
        (None, Some(_)) if args.step.is_none() && args.batch_size.is_none() => {
            return positions(&args, &saved, &loaded, consumed);
        }
        (None, _) => return Err(option("world", "how many ranks took it")),
        (_, None) => return Err(option("batch-size", "how many samples a batch had")),
    };
    let readers = u64::from(world) * u64::from(args.workers.workers.unwrap_or(1));
    let turn = readers * u64::from(size);
    let samples = loaded.samples;
    if consumed % turn != 0 && consumed != samples {
        let what = "--world times --workers times --batch-size";
        return Err(args.refused(format!(
            "{} are consumed, no multiple of {turn} ({what}); name those that the epoch was read with up to there. The state does \
             not know whether the epoch was resumed on another world before; without --world and --batch-size, --sample still \
             says what was seen",
            counted(consumed, "sample", "samples")
        )));
    }
    let assumed = format!(
        "This assumes that {} were read by {}, in batches of {size}. If the epoch was resumed on other ranks or workers before, only \
         \"seen\" and \"to come\" hold.",
        counted(consumed, "sample", "samples"),
        counted(readers, "reader", "readers"),
    );
    let is_table = args.output.format() == Format::Table;
    let deal = args.deal(&saved, world);
    let none = ResumeArgs { resume: None, saved: None };
    let ExplainArgs { workers, drop_last, by_length, output, sample, .. } = args;
    if let Some(number) = args.step {
        let batch = number / u64::from(workers.workers.unwrap_or(1));
        let read = consumed == samples || batch.saturating_add(1).saturating_mul(turn) <= consumed;
        step::run(&StepArgs {
            step: number,
            dataset,
            deal,
            resume: none,
            workers,
            global: false,
            rank: None,
            batch_size: Some(size),
            drop_last,
            column: None,
            by_length,
            output,
            past: None,
            first: 0,
            status: Some(if read { Status::Seen } else { Status::ToCome }),
        })?;
        return if is_table { print(assumed) } else { Ok(()) };
    }
    locate::run(&LocateArgs {
        dataset,
        deal,
        resume: none,
        workers,
        sample,
        consumed: Some(consumed),
        batch_size: Some(size),
        drop_last,
        ranks: AllRanks::default(),
        by_length,
        output,
    })?;
    if is_table { print(assumed) } else { Ok(()) }
}

/// Whether samples were seen, where nobody knows by which ranks.
fn positions(args: &ExplainArgs, saved: &Saved, dataset: &Dataset, consumed: u64) -> Result<(), Problem> {
    let whole = args.deal(saved, 1).whole(dataset)?;
    let mut items = Items::new([&["sample", "status", "position"], dataset.columns()].concat());
    let mut answers = Vec::new();
    for sample in args.sample.iter().flat_map(|samples| samples.of(dataset.samples)) {
        let Some(place) = whole.locate(sample, 1)? else { continue };
        let status = if place.position < consumed { Status::Seen } else { Status::ToCome };
        let row = [sample.into(), status.name().into(), place.position.into()];
        items.push(row.into_iter().chain(dataset.row(sample)));
        let place = json!({ "position": place.position, "status": status.name() });
        let mut answer = json!({ "sample": sample, "status": status.name(), "places": [place] });
        add_stored(&mut answer, dataset, sample);
        answers.push(answer);
    }
    match args.output.format() {
        Format::Json => print(json!({ "samples": answers })),
        Format::Text => print(items.lines()),
        Format::Table => {
            print(items.table())?;
            print(
                "the checkpoint does not say by how many ranks; --world and --batch-size add the step, the rank and padding",
            )
        }
    }
}

/// Whether samples were seen, by the state of readers: all but those that are left.
fn readings_of(args: &ExplainArgs, saved: &Saved) -> Result<(), Problem> {
    if args.step.is_some() {
        let what = "--step of it is not answered; name samples with --sample, or see what is left with `samedeal indices --resume`";
        return Err(args.refused(format!("{}; {what}", described(saved))));
    }
    let samples = saved.number("samples").filter(|_| args.paths.is_empty());
    let dataset = Dataset::new(&DatasetArgs { paths: args.paths.clone(), samples })?;
    let rest = reading::left(saved, Some(&dataset)).map_err(|why| args.refused(why))?;
    let asked = args.sample.iter().flat_map(|samples| samples.of(dataset.samples)).collect::<Vec<_>>();
    let total = saved.number("samples").unwrap_or(0);
    if let Some(beyond) = asked.iter().find(|&&sample| sample >= total) {
        return Err(Problem::message(format!(
            "--sample is {beyond}; there are {}",
            counted(total, "sample", "samples")
        )));
    }
    let to_come = reading::to_come(&rest, asked.iter().copied())?;
    let mut items = Items::new([&["sample", "status"], dataset.columns()].concat());
    let mut answers = Vec::new();
    for sample in asked {
        let status = if to_come.contains(&sample) { Status::ToCome } else { Status::Seen };
        items.push([sample.into(), status.name().into()].into_iter().chain(dataset.row(sample)));
        let mut answer = json!({ "sample": sample, "status": status.name() });
        add_stored(&mut answer, &dataset, sample);
        answers.push(answer);
    }
    match args.output.format() {
        Format::Json => print(json!({ "samples": answers })),
        Format::Text => print(items.lines()),
        Format::Table => print(items.table()),
    }
}

/// The same by the state of batches, which knows its worlds.
fn batches_of(args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    if args.by_length.lengths.is_none() {
        let needed = "name the files that tell lengths after the checkpoint, --lengths, and the options of the batches";
        return Err(args.refused(format!("{}; {needed}", described(&saved))));
    }
    let history = saved.history.iter().map(|past| {
        let world = u32::try_from(past.world).unwrap_or(u32::MAX);
        samedeal::Stretch { world, steps: past.steps }
    });
    let history = history.collect::<Vec<_>>();
    let goes_on = args.world.or(history.last().map(|past| past.world));
    let goes_on =
        || goes_on.ok_or_else(|| args.refused("the state does not say how many ranks go on; add --world".to_owned()));
    let dataset = DatasetArgs { paths: args.paths.clone(), samples: None };
    let resume = ResumeArgs { resume: Some(args.checkpoint.clone()), saved: Some(saved.clone()) };
    let Some(number) = args.step else {
        let deal = args.deal(&saved, goes_on()?);
        let ExplainArgs { workers, sample, batch_size, drop_last, by_length, output, .. } = args;
        let ranks = AllRanks::default();
        return batching::locate(&LocateArgs {
            dataset,
            deal,
            resume,
            workers,
            sample,
            consumed: None,
            batch_size,
            drop_last,
            ranks,
            by_length,
            output,
        });
    };
    let (mut first, mut place) = (0, 0);
    while let Some(past) = history.get(place).filter(|past| number - first >= past.steps) {
        first += past.steps;
        place += 1;
    }
    let (world, status) = match history.get(place) {
        Some(past) => (past.world, Status::Seen),
        None => (goes_on()?, Status::ToCome),
    };
    let epoch = saved.number("epoch").unwrap_or(0);
    let deal = args.deal(&saved, world);
    let ExplainArgs { workers, batch_size, drop_last, by_length, output, .. } = args;
    batching::step(&StepArgs {
        step: number - first,
        dataset,
        deal,
        resume,
        workers,
        global: false,
        rank: None,
        batch_size,
        drop_last,
        column: None,
        by_length,
        output,
        past: Some((epoch, history[..place].to_vec())),
        first,
        status: Some(status),
    })
}
