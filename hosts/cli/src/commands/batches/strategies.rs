//! The strategies that are compared, with options that make them comparable.

use std::collections::BTreeMap;

use samedeal::{Batcher, Error, FailureKind, Lengths};
use serde_json::{Map, Value, json};

use crate::args::by_length::worded;
use crate::commands::numbers::BatchesArgs;
use crate::write::Problem;

/// A strategy, with its options.
#[derive(Default)]
pub struct Candidate {
    /// The name of the strategy in the comparison.
    pub name: &'static str,
    members: Members,
}

/// Options of batches, as members of a recipe.
pub type Members = Map<String, Value>;

/// Options that a strategy does not take, each with the reason.
pub type Refused = BTreeMap<String, Error>;

/// The reason why all strategies refuse an option; none if there is no option that all of them refuse.
pub fn refused_by_all(all: &[Refused]) -> Option<&Error> {
    let name = all.first()?.keys().find(|name| all.iter().all(|refused| refused.contains_key(*name)))?;
    let mut reasons = all.iter().map(|refused| &refused[name]);
    // A strategy that takes the option but refuses its value gives the better reason.
    let is_value = |error: &&Error| error.failure().is_some_and(|failure| !failure.allowed.starts_with("none with"));
    reasons.clone().find(is_value).or(reasons.next())
}

/// The limits of a batch, the same for all strategies.
pub struct Room {
    /// `rows`: the rows of a batch in which all rows have the greatest length. `width`: the tokens of such a row.
    pub rows: u32,
    pub width: u32,
    /// The tokens of a batch.
    pub tokens: u64,
    /// `max_batch_size` of a strategy with a budget, if it was given.
    bound: Option<u32>,
    /// The most cost of a batch, if `--counting` is `weighted`.
    cost: Option<u64>,
    /// The tokens of a packed row. The tokens of a batch are divided among the rows that fit into the batch.
    capacity: u32,
}

impl Room {
    /// The limits that the options give. Without `max_batch_size` and `max_tokens`, a batch has the default number of
    /// rows, as long as the longest sample.
    pub fn new(args: &BatchesArgs, longest: u32) -> Result<Self, Problem> {
        let options = &args.by_length.options;
        let max_length = options.short("max_length");
        let longest = max_length.map_or(longest, |most| most.min(longest)).max(1);
        let budget = options.natural("max_tokens");
        let width = max_length.unwrap_or(longest).max(1);
        let max_batch_size = options.short("max_batch_size");
        let rows = match (max_batch_size, budget) {
            (Some(rows), _) => rows,
            (None, Some(budget)) => fitting(budget, width),
            (None, None) => {
                let [rows] = with_defaults(json!({ "strategy": "pad-to-max" }), ["max_batch_size"])?;
                u32::try_from(rows).unwrap_or(u32::MAX)
            }
        };
        let tokens = budget.unwrap_or(u64::from(rows) * u64::from(width));
        let shared = || u32::try_from(tokens / u64::from(fitting(tokens, width))).unwrap_or(u32::MAX);
        let capacity = options.short("capacity").unwrap_or_else(shared);
        let cost = match options.natural("max_cost") {
            _ if options.text("counting") != Some("weighted") => None,
            Some(cost) => Some(cost),
            None => {
                let mut weighted = json!({ "counting": "weighted", "max_cost": 1 });
                for name in ["linear", "quadratic"] {
                    options.natural(name).into_iter().for_each(|factor| weighted[name] = factor.into());
                }
                let [linear, quadratic] = with_defaults(weighted, ["linear", "quadratic"])?;
                let each = linear.saturating_add(quadratic.saturating_mul(width.into()));
                Some(each.saturating_mul(width.into()).saturating_mul(rows.into()).max(1))
            }
        };
        Ok(Self { rows, width, tokens, bound: budget.and(max_batch_size), cost, capacity })
    }

    pub fn candidates(&self) -> Vec<Candidate> {
        let &Self { rows, tokens, bound, cost, capacity, .. } = self;
        let packs = fitting(tokens, capacity);
        let candidate = |name, members: Value| {
            let members = members.as_object().cloned().unwrap_or_default();
            Candidate { name, members }
        };
        let bounded = |name, mut members: Value| {
            bound.into_iter().for_each(|rows| members["max_batch_size"] = rows.into());
            candidate(name, members)
        };
        let budget = |name, counting: &str, limit: &str, most: u64| {
            bounded(name, json!({ "strategy": "budget", "counting": counting, limit: most }))
        };
        let pack = |name, packing: &str| {
            candidate(
                name,
                json!({ "strategy": "pack", "packing": packing, "max_batch_size": packs, "capacity": capacity }),
            )
        };
        let mut all = vec![
            candidate("pad-to-max", json!({ "strategy": "pad-to-max", "max_batch_size": rows })),
            candidate("bucket rows", json!({ "strategy": "bucket", "max_batch_size": rows, "max_tokens": tokens })),
            bounded("bucket tokens", json!({ "strategy": "bucket", "max_tokens": tokens })),
            budget("budget padded", "padded", "max_tokens", tokens),
            budget("budget unpadded", "unpadded", "max_tokens", tokens),
        ];
        all.extend(cost.map(|cost| budget("budget weighted", "weighted", "max_cost", cost)));
        all.extend([pack("pack fast", "fast"), pack("pack optimal", "optimal")]);
        all
    }
}

/// Numbers of the section `batch` of a recipe that has these options, and else the defaults of the library.
fn with_defaults<const N: usize>(batch: Value, names: [&str; N]) -> Result<[u64; N], Problem> {
    let recipe = Batcher::from_recipe(json!({ "batch": batch }).to_string(), [1]).build()?.recipe()?;
    let recipe: Value = serde_json::from_str(&recipe).unwrap_or_default();
    Ok(names.map(|name| recipe["batch"][name].as_u64().unwrap_or_default()))
}

/// How many rows of `width` tokens fit into a budget, at least 1.
fn fitting(budget: u64, width: u32) -> u32 {
    budget.checked_div(width.into()).map_or(1, |rows| u32::try_from(rows).unwrap_or(u32::MAX).max(1))
}

impl Candidate {
    /// The batches of the strategy, with the other options that it takes. Returns the batcher, its options, and the
    /// reasons for the refused ones.
    pub fn batcher(&self, args: &BatchesArgs, lengths: &Lengths) -> Result<(Batcher, Members, Refused), Problem> {
        let (options, deal) = (&args.by_length, &args.epoch.deal);
        let mut others = options.options.members().clone();
        // The size of batches comes from [`Room`] for all strategies, not from these options.
        for name in ["max_batch_size", "max_tokens", "max_cost", "capacity", "counting"] {
            others.remove(name);
        }
        let mut refused = Refused::new();
        loop {
            let members = others.clone().into_iter().chain(self.members.clone()).collect::<Members>();
            let error = match options.with(deal, members.clone(), lengths.clone()).build() {
                Ok(batcher) => return Ok((batcher, members, refused)),
                Err(error) => error,
            };
            let failure = error.failure().filter(|failure| failure.kind == FailureKind::Contradiction);
            let name = failure.map(|failure| failure.field.clone()).unwrap_or_default();
            if others.remove(&name).is_none() {
                return Err(worded(error));
            }
            refused.insert(name, error);
        }
    }
}
