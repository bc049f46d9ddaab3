//! A comparison of all strategies on the same lengths.

use indicatif::ProgressBar;
use samedeal::{Batcher, Metrics};
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::Figures;
use super::plot::{Plot, Waste};
use super::strategies::{Candidate, Members, Room, refused_by_all};
use super::{command, figures, neighbours};
use crate::args::by_length::worded;
use crate::args::format::Format;
use crate::commands::numbers::BatchesArgs;
use crate::read::lengths::Lengths;
use crate::write::{Cell, Items, Problem, Recipe, Rows, Sink, counted, grouped, percent, progress, write_json};

/// The result of a strategy on the lengths.
struct Outcome {
    candidate: Candidate,
    options: Members,
    made: Made,
    world_size: u32,
    metrics: Metrics,
}

/// The batches that strategies make of the same lengths.
#[derive(Serialize, JsonSchema)]
pub struct Compared<'a> {
    /// How many samples there are, and what their lengths count.
    samples: usize,
    unit: &'static str,
    strategies: Vec<Strategy<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct Strategy<'a> {
    name: &'static str,
    #[serde(flatten)]
    made: &'a Made,
}

/// The batches that limits make of the same lengths.
#[derive(Serialize, JsonSchema)]
pub struct Swept<'a> {
    /// How many samples there are, and what their lengths count.
    samples: usize,
    unit: &'static str,
    sweep: Vec<Limit<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct Limit<'a> {
    max_tokens: u64,
    #[serde(flatten)]
    made: &'a Made,
}

/// Batches of one recipe.
#[derive(Serialize, JsonSchema)]
struct Made {
    recipe: Recipe,
    metrics: Figures,
    /// How much the lengths of neighbours in the run are alike, from -1 to 1; null if there is no such number.
    neighbor_correlation: Option<f64>,
}

/// `samedeal batches --lengths` with `--compare` or `--plot`
pub fn run(args: &BatchesArgs, lengths: &Lengths, format: Format) -> Result<(), Problem> {
    let room = Room::new(args, lengths.values.iter().max().copied().unwrap_or(0))?;
    let candidates = room.candidates();
    let bar = progress::bar("comparing strategies", candidates.len() as u64);
    let given = lengths.given(&ProgressBar::hidden());
    let (mut outcomes, mut refused) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let (batcher, options, others) = candidate.batcher(args, &given)?;
        outcomes.push(Outcome::of(candidate, options, &batcher)?);
        refused.push(others);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(error) = refused_by_all(&refused) {
        return Err(error.clone().into());
    }
    let rows = counted(room.rows.into(), "row", "rows");
    let of = format!(
        "batches of up to {} {}, such as {rows} of {}",
        grouped(room.tokens),
        lengths.unit,
        grouped(room.width.into())
    );
    let summary = format!("{}; {of}", lengths.summary());
    if let Some(path) = &args.compare.plot {
        let waste = outcomes.iter().map(Outcome::waste).collect::<Vec<_>>();
        let limit = args.by_length.options.short("max_length");
        Plot { lengths, limit, title: "Lengths, and what batches waste on them", below: &summary, waste: &waste }
            .write(path)?;
    }
    let sink = Sink::new(args.shown.window.output.output.as_deref())?;
    if format == Format::Json {
        let strategies = outcomes.iter().map(|it| Strategy { name: it.candidate.name, made: &it.made }).collect();
        let compared = Compared { samples: lengths.values.len(), unit: lengths.unit, strategies };
        return write_json(sink, &compared);
    }
    let notes = [summary].into_iter().chain(notes(args, &outcomes, &room)).collect::<Vec<_>>().join("\n");
    let names = outcomes.iter().map(|outcome| (outcome.candidate.name.into(), outcome));
    Rows::new(sink, format)?.finish(&table("strategy", names, format), &notes)
}

/// `samedeal batches --lengths` with several `--max-tokens`: the metrics of the batches that each limit makes.
pub fn sweep(args: &BatchesArgs, lengths: &Lengths, format: Format) -> Result<(), Problem> {
    let (window, limits) = (&args.shown.window, args.by_length.limits());
    if window.start != 0 || window.count.is_some() || window.all {
        return Err(Problem::message("--start, --count and --all show batches; name --max-tokens once for them"));
    }
    let bar = progress::bar("comparing limits", limits.len() as u64);
    let given = lengths.given(&ProgressBar::hidden());
    let outcome = |&limit: &u64| {
        let batcher = args.by_length.batcher_of(&args.epoch.deal, 0, given.clone(), Some(limit))?;
        let batcher = args.epoch.resumed_batcher(batcher, args.by_length.replan)?;
        let outcome = Outcome::of(Candidate::default(), Members::new(), &batcher)?;
        bar.inc(1);
        Ok((limit, outcome))
    };
    let outcomes = limits.iter().map(outcome).collect::<Result<Vec<_>, Problem>>()?;
    bar.finish_and_clear();
    let sink = Sink::new(window.output.output.as_deref())?;
    if format == Format::Json {
        let sweep = outcomes.iter().map(|(limit, it)| Limit { max_tokens: *limit, made: &it.made }).collect();
        return write_json(sink, &Swept { samples: lengths.values.len(), unit: lengths.unit, sweep });
    }
    let rows = outcomes.iter().map(|(limit, outcome)| ((*limit).into(), outcome));
    Rows::new(sink, format)?.finish(&table("max tokens", rows, format), &lengths.summary())
}

impl Outcome {
    fn of(candidate: Candidate, options: Members, batcher: &Batcher) -> Result<Self, Problem> {
        let metrics = batcher.metrics().map_err(worded)?;
        let (recipe, neighbor_correlation) = (figures::recipe(batcher)?, neighbours::correlation(batcher)?);
        let made = Made { recipe, metrics: Figures::of(&metrics), neighbor_correlation };
        Ok(Self { candidate, options, made, world_size: batcher.world_size(), metrics })
    }

    /// Whether the strategy is for models that compute no padding.
    fn is_unpadded(&self) -> bool {
        self.candidate.name == "budget unpadded"
    }

    fn waste(&self) -> Waste {
        let Metrics { steps, tokens, padded, slowest, cost, slowest_cost, .. } = self.metrics;
        let share = |part: f64, slowest: u64| {
            let all = f64::from(self.world_size) * slowest as f64;
            if all == 0.0 { 0.0 } else { part / all }
        };
        let waits = |all: u64, slowest: u64| share(f64::from(self.world_size) * slowest as f64 - all as f64, slowest);
        let (padding, waiting) = if self.is_unpadded() {
            (0.0, waits(cost, slowest_cost))
        } else {
            (share((padded - tokens) as f64, slowest), waits(padded, slowest))
        };
        let says = counted(steps, "step", "steps");
        Waste { strategy: self.candidate.name.to_owned(), padding, waiting, says }
    }
}

/// The table of a comparison: a row for each outcome. The `first` column names the strategy or the limit.
fn table<'a>(first: &str, outcomes: impl Iterator<Item = (Cell, &'a Outcome)>, format: Format) -> Items {
    let mut items = Items::new([
        first,
        "steps",
        "rows",
        "padding",
        "budget used",
        "slowest rank",
        "cost max/mean",
        "packs >=",
        "neighbours",
        "left out",
        "cut",
    ]);
    for (first, outcome) in outcomes {
        let metrics = &outcome.metrics;
        // A table leaves out the padding of `budget unpadded`: this strategy is for models that compute no padding.
        let padded =
            |share: f64| if outcome.is_unpadded() && format == Format::Table { "".into() } else { Cell::Share(share) };
        items.push([
            first,
            metrics.steps.into(),
            metrics.rows.into(),
            padded(metrics.padding_ratio()),
            // `pad-to-max` has no budget, and so no utilization of a budget.
            if outcome.candidate.name == "pad-to-max" { "".into() } else { Cell::Share(metrics.budget_utilization()) },
            padded(metrics.slowest_rank_utilization()),
            Cell::Ratio(metrics.cost_imbalance()),
            Some(metrics.packs_bound).filter(|bound| *bound > 0).into(),
            outcome.made.neighbor_correlation.map(Cell::Ratio).into(),
            (metrics.dropped + metrics.too_long).into(),
            metrics.truncated.into(),
        ]);
    }
    items
}

/// Notes that the table has no place for.
fn notes(args: &BatchesArgs, outcomes: &[Outcome], room: &Room) -> Vec<String> {
    let rows = counted(room.rows.into(), "row", "rows");
    let mut notes = vec![
        format!(
            "pad-to-max and bucket rows: batches of {rows}, as full as their samples make them; the others fill the budget"
        ),
        "budget unpadded is for models that compute no padding; --help says what the columns are".to_owned(),
    ];
    let least = |names: [&str; 2]| {
        let used = |it: &&Outcome| it.metrics.slowest_rank_utilization();
        let found = outcomes.iter().filter(|it| names.contains(&it.candidate.name) && it.metrics.steps > 0);
        let found = found.reduce(|best, it| if used(&it) > used(&best) { it } else { best })?;
        Some((found, format!("{} ({})", found.candidate.name, percent(1.0 - used(&found)))))
    };
    if let (Some((padded, of_padded)), Some((packed, of_packed))) =
        (least(["bucket tokens", "budget padded"]), least(["pack fast", "pack optimal"]))
    {
        notes.push(format!(
            "least padding and waiting in full batches: {of_padded} with padded rows, {of_packed} with packed rows"
        ));
        notes.extend([padded, packed].map(|it| format!("  {}", command::of(args, &it.options))));
    }
    for outcome in outcomes {
        let told = figures::oddities(&outcome.metrics);
        notes.extend(told.map(|told| format!("{}: {told}", outcome.candidate.name)));
    }
    notes
}
