//! Recipes of batches: documents with everything that decides the batches of every epoch.
//!
//! SPEC.md, section 14, has the grammar. Functions here are called seldom and are not inlined, to make the component
//! smaller: every host compiles it when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::buckets::Buckets;
#[cfg(feature = "grown")]
use super::config::LATEST_EPOCH;
use super::config::{BatchConfig, Counting, MAX_WORLD, NO_LIMIT, Strategy, Tail, TooLong};
use super::lengths::{Lengths, missing};
use super::packing::Packing;
use super::rules::Rules;
#[cfg(feature = "grown")]
use crate::base::failure::range;
use crate::base::memory::{Pieces, collect};
use crate::base::names::name_of;
use crate::base::{Failure, MAX_COUNT};
use crate::document::check::Checked;
use crate::document::fields::{Fields, NOTHING};
use crate::document::lists::List;
use crate::document::member::{Default, Kind, Member, Need, is, names, place, text};
use crate::document::numbers;
use crate::document::recipe::{self, VERSION};
use crate::document::{signed_text, unsigned_text};
use crate::order::{OrderId, OrderPart, of_order};
use crate::{deal, order};

const STRATEGIES: [(&str, Strategy); 4 + cfg!(feature = "grown") as usize] = [
    ("budget", Strategy::Budget),
    ("bucket", Strategy::Bucket),
    ("pack", Strategy::Pack),
    ("pad-to-max", Strategy::PadToMax),
    // A later version's strategy, which only tests have. Only its name is new, because hosts know no more of a strategy
    // than its name.
    #[cfg(feature = "grown")]
    ("as-they-come", Strategy::PadToMax),
];
const COUNTINGS: [(&str, Counting); 3] = [
    ("padded", Counting::Padded),
    ("unpadded", Counting::Unpadded),
    ("weighted", Counting::Weighted { linear: 1, quadratic: 0 }),
];
const PACKINGS: [(&str, Packing); 2] = [("fast", Packing::Fast), ("optimal", Packing::Optimal)];
const TOO_LONG: [(&str, TooLong); 5] = [
    ("error", TooLong::Error),
    ("truncate", TooLong::Truncate),
    ("drop", TooLong::Drop),
    ("split", TooLong::Split),
    ("single", TooLong::Single),
];
const TAILS: [(&str, Tail); 4] =
    [("even-split", Tail::EvenSplit), ("drop", Tail::Drop), ("keep", Tail::Keep), ("duplicate", Tail::Duplicate)];

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    order::ANY_ORDER.or(Default::Empty),
    deal::DEAL.of(Kind::Section(DEAL)),
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    Member::new("batch", Kind::Section(BATCH)).or(Default::Empty),
    Member::new("shards", Kind::Elsewhere(recipe::OF_READERS)),
];

/// The sections of a recipe that its states have: all except `deal`, because the world size may change.
pub(super) const STATE_SECTIONS: &[Member] = &[order::ANY_ORDER, Member::new("batch", Kind::Section(BATCH))];

const HAS_TAIL: &str = "none with batches, which have tail";
const DEAL: &[Member] = &[
    deal::WORLD_SIZE.of(Kind::from_one(MAX_WORLD)),
    deal::REMAINDER.elsewhere(HAS_TAIL),
    deal::LAYOUT.elsewhere(HAS_TAIL),
    deal::UNIT.elsewhere(HAS_TAIL),
    deal::WORKERS.elsewhere(recipe::OF_READERS),
    deal::READERS.elsewhere(recipe::OF_STREAMS),
];

const BUDGET: Need = is("strategy", &["budget"]);
const BUCKET: Need = is("strategy", &["bucket"]);
const PACK: Need = is("strategy", &["pack"]);
const WITH_BUDGET: Need = is("strategy", &["budget", "bucket"]);
const PADDED: Need = is("counting", &["padded"]);
const TOKENS: Need = is("counting", &["padded", "unpadded"]);
const WEIGHTED: Need = is("counting", &["weighted"]);

/// The members of the section `batch`, in the order of the canonical text.
pub(super) const BATCH: &[Member] = &[
    Member::new("strategy", Kind::Name(const { &names(&STRATEGIES) })).text(text!("How items become batches.")),
    Member::new("counting", Kind::Name(const { &names(&COUNTINGS) })).text(text!("How much of the budget an item uses.")),
    Member::new("linear", Kind::SHORT).with(place![[WEIGHTED]]).or_number(1).text(text!("Factor of the length in the cost of an item: `linear` * length + `quadratic` * length * length.")),
    Member::new("quadratic", Kind::SHORT)
        .with(place![[WEIGHTED]])
        .or_number(0)
        .text(text!("Factor of the squared length in the cost of an item: `linear` * length + `quadratic` * length * length.")),
    Member::new("max_batch_size", Kind::SHORT_POSITIVE)
        .text(text!("The most rows of a batch. Without `pack`, a row is one item. By default, 1 with `pack`; no limit if there is a budget; else 32.")),
    Member::new("max_length", Kind::SHORT).or_number(u32::MAX as u64).text(text!("The most tokens of an item.")),
    Member::new("max_tokens", Kind::Natural { least: 1, most: u64::MAX })
        .with(place![[WITH_BUDGET, TOKENS]])
        .text(text!("The budget of a batch, in tokens. By default, `max_batch_size` * `max_length` with `budget`, if both are given; no limit with `bucket`.")),
    Member::new("max_cost", Kind::Natural { least: 1, most: u64::MAX })
        .with(place![[WITH_BUDGET, WEIGHTED]])
        .text(text!("The budget of a batch, as a cost, in place of `max_tokens`. With the strategy `budget`, it must be given.")),
    Member::new("batch_size_multiple", Kind::SHORT_POSITIVE)
        .with(place![[BUCKET], [BUDGET, PADDED]])
        .or_number(1)
        .text(text!("The number of items of a batch is rounded down to a multiple of this, unless it is smaller than this. Not used in the last steps of a window.")),
    Member::new("capacity", Kind::SHORT_POSITIVE)
        .with(place![[PACK]])
        .text(text!("The most tokens of a row; by default, `max_length`, if that is given.")),
    Member::new("packing", Kind::Name(const { &names(&PACKINGS) }))
        .with(place![[PACK], [BUDGET, is("counting", &["unpadded", "weighted"])]])
        .text(text!("How much work goes into finding few packs, or few batches.")),
    Member::new("bucket_width", Kind::SHORT_POSITIVE).with(place![[BUCKET]]).text(text!("The width w of a bucket, in tokens: lengths 0 to w, w + 1 to 2 w, and so on. By default, 64 buckets that have the same number of tokens each; in a stream, a width of 64.")),
    Member::new("boundaries", Kind::SHORT_NUMBERS)
        .with(place![[BUCKET]])
        .text(text!("The greatest length of each bucket, in tokens, ascending; longer items are in one more bucket.")),
    Member::new("quantiles", Kind::from_one(MAX_COUNT))
        .with(place![[BUCKET]])
        .text(text!("The number of buckets. Each gets the same number of items, as far as equal lengths allow.")),
    Member::new("separate_buckets", Kind::Flag)
        .with(place![[BUCKET]])
        .or(Default::Flag(false))
        .text(text!("Whether every step has items of one bucket alone. Then each bucket ends a window with a step that is not full; else the last items of all buckets make such steps together.")),
    Member::new("pad_to_bucket", Kind::Flag)
        .with(place![[BUCKET]])
        .or(Default::Flag(false))
        .text(text!("Whether rows are padded to the greatest length of the bucket, so that there are few shapes; else to the longest item of the batch.")),
    Member::new("batch_window", Kind::SHORT_POSITIVE)
        .with(place![[is("strategy", &["budget", "bucket", "pack"])]])
        .text(text!("The number of samples of a window, which are planned together. A window should have the samples of many steps: it ends with a step that is not full. By default, the samples of 128 steps of average batches: 8,192 or more, and 2^22 or fewer if that is enough for 8 steps; with `separate_buckets`, of 32 steps for each bucket, if that is more. In a stream without `mean_length`, 2,048 for each rank: 8,192 or more, and 2^22 or fewer.")),
    Member::new("mean_length", Kind::SHORT_POSITIVE)
        .with(place![[is("strategy", &["budget", "bucket", "pack"])]])
        .text(text!("The tokens of an average sample, from which the default window follows. By default, it follows from the lengths of 16,384 samples.")),
    Member::new("keep_order", Kind::Flag)
        .with(place![[is("strategy", &["budget", "bucket", "pack"])]])
        .or(Default::Flag(false))
        .text(text!("Whether the steps of a window keep the order in which they are made; else they are shuffled. With `budget`, items are also taken in the order of the epoch, and not sorted by length. Windows have the default size: it cannot be together with `batch_window`.")),
    Member::new("too_long", Kind::Name(const { &names(&TOO_LONG) }))
        .text(text!("What happens to a sample that is longer than `max_length`, or too long for the budget or for a row.")),
    Member::new("tail", Kind::Name(const { &names(&TAILS) }))
        .text(text!("What happens to the items of each window that do not fill a step.")),
    Member::new("lengths", Kind::Lengths).text(text!("The length of every sample, in tokens; or the hash of the lengths of up to 16,384 samples.")),
    #[cfg(feature = "grown")]
    Member::new("latest_epoch", Kind::LONG).or_number(LATEST_EPOCH),
];

/// The members that define buckets. A recipe has at most one of them.
const BUCKETS: [&str; 3] = ["bucket_width", "boundaries", "quantiles"];

/// Everything that decides the batches of every epoch: the order, the world size, how samples become batches, and their
/// lengths. It has no epoch number, and no progress.
///
/// ```
/// use std::rc::Rc;
/// use samedeal_core::batch::{Batcher, BatchRecipe};
/// let text = r#"{"order": {"seed": 42}, "deal": {"world_size": 2}, "batch": {"max_tokens": 64}}"#;
/// let recipe = Rc::new(BatchRecipe::with_lengths(text, vec![10, 30, 20, 7, 12], &[])?);
/// assert!(recipe.text()?.contains(r#""strategy":"budget","counting":"padded","max_tokens":64"#));
/// assert_eq!(Batcher::new(&recipe, 0)?.metrics()?.items, 5);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
///
/// If a recipe has no list of lengths, the caller is asked for them: first for the lengths of some samples, which stand
/// for all, then for the lengths of each window.
///
/// ```
/// # use std::rc::Rc;
/// # use samedeal_core::batch::{Batcher, BatchRecipe};
/// let length = |sample: u64| 1 + (sample % 500) as u32;
/// let text = r#"{"order": {"samples": 1000000000}, "batch": {"max_tokens": 8192}}"#;
/// let recipe = Rc::new(BatchRecipe::read(text, None, &[])?);
/// recipe.supply(recipe.wanted()?.into_iter().map(length).collect())?;
/// let batcher = Batcher::new(&recipe, 0)?;
/// let batches = loop {
///     match batcher.take(0, 0, 2) {
///         Err(_) if !batcher.wanted()?.is_empty() => {
///             batcher.supply(batcher.wanted()?.into_iter().map(length).collect())?;
///         }
///         answer => break answer?,
///     }
/// };
/// assert_eq!(batches.batch_ends.len(), 2);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct BatchRecipe {
    /// The options as they were given, without lengths, at epoch 0.
    config: BatchConfig,
    /// The lengths of the samples, and their order. None in a stream, where samples come one by one.
    samples: Option<(Rc<Lengths>, Rc<OrderPart>)>,
    /// The options with the default window and buckets, which are computed once, after the lengths are given.
    rules: OnceCell<Rc<Rules>>,
}

impl BatchRecipe {
    /// Reads a recipe. `lists` has lists of which the text has only a hash, or nothing. Lengths come from the first of
    /// these sources that is given: the caller, who is asked for `num_lengths` lengths later; a list in the text; the
    /// caller, who is asked for one length for each sample of the order later. If the caller is asked, and the text has
    /// lengths or their hash, both must match. Without any source, the recipe is for streams. Failures: those of a
    /// recipe; any field; `out-of-memory`.
    #[inline(never)]
    pub fn read(text: &str, num_lengths: Option<u64>, lists: &[List]) -> Result<Self, Failure> {
        recipe::read(text, SECTIONS, lists, |fields| {
            let order = fields.section("order");
            let (id, part) = order_of(order, lists).map_err(of_order)?;
            let deal = fields.check_section("deal", &[])?;
            let batch = fields.check_section("batch", lists)?;
            let seed = part.as_ref().map_or(order.integer("seed"), |part| part.seed);
            let config = BatchConfig { seed, order: id, world_size: deal.short("world_size"), ..options(&batch)? };
            config.check()?;
            let samples = part.as_ref().map(|part| part.samples).or_else(|| order.count("samples"));
            let lengths = Lengths::chosen(batch.numbers("lengths"), num_lengths, samples)?;
            Self::of_order(config, part, lengths)
        })
    }

    /// Reads a recipe and gives it all lengths at once. Failures: as `read`, and `lengths`, if the text has other
    /// lengths.
    pub fn with_lengths(text: &str, lengths: Vec<u32>, lists: &[List]) -> Result<Self, Failure> {
        let recipe = Self::read(text, Some(lengths.len() as u64), lists)?;
        recipe.samples()?.0.hold(lengths)?;
        Ok(recipe)
    }

    /// The recipe of a configuration with all lengths. The epoch of the configuration is ignored. Failures: any field
    /// of the configuration, `out-of-memory`.
    pub fn of(mut config: BatchConfig) -> Result<Self, Failure> {
        config.check()?;
        let lengths = Lengths::of(core::mem::take(&mut config.lengths))?;
        Self::of_order(config, None, Some(lengths))
    }

    fn of_order(config: BatchConfig, part: Option<OrderPart>, lengths: Option<Lengths>) -> Result<Self, Failure> {
        let Some(lengths) = lengths else {
            return match part {
                Some(_) => Err(missing()),
                None => Self::without_lengths(config),
            };
        };
        let part = match part {
            Some(part) => part,
            None => {
                config.order.check(lengths.samples(), config.seed)?;
                OrderPart::new(config.order, lengths.samples(), config.seed, None)
            }
        };
        let samples = Some((Rc::new(lengths), Rc::new(part)));
        Ok(Self { config: whole(config), samples, rules: OnceCell::new() })
    }

    /// The recipe of a configuration whose samples come one by one. Failures: any field of the configuration but the
    /// lengths.
    pub fn without_lengths(config: BatchConfig) -> Result<Self, Failure> {
        config.check()?;
        Ok(Self { config: whole(config), samples: None, rules: OnceCell::new() })
    }

    /// The samples whose lengths must be given before anything else is computed. Empty once they are given, and for
    /// streams. Failures: `out-of-memory`.
    pub fn wanted(&self) -> Result<Vec<u64>, Failure> {
        self.samples.as_ref().map_or(Ok(Vec::new()), |(lengths, _)| lengths.wanted())
    }

    /// Takes the lengths of the samples of `wanted`. Failures: `lengths` (another number of them, or another hash than
    /// in the recipe); `out-of-memory`.
    pub fn supply(&self, lengths: Vec<u32>) -> Result<(), Failure> {
        self.samples.as_ref().map_or_else(|| Err(missing()), |(here, _)| here.supply(lengths))
    }

    pub(super) fn config(&self) -> &BatchConfig {
        &self.config
    }

    /// The configuration with the window and the buckets that follow from the lengths. Failures: `lengths` (not given);
    /// `out-of-memory`.
    pub(super) fn rules(&self) -> Result<Rc<Rules>, Failure> {
        if let Some(rules) = self.rules.get() {
            return Ok(Rc::clone(rules));
        }
        let rules = Rules::new(&self.config, self.samples()?.0.sample()?)?;
        Ok(Rc::clone(self.rules.get_or_init(|| rules)))
    }

    /// The order of the samples. None in a stream.
    pub(super) fn order(&self) -> Option<&Rc<OrderPart>> {
        self.samples.as_ref().map(|(_, order)| order)
    }

    /// The lengths of the samples, and their order. Failures: `lengths`, if the recipe has no samples.
    pub(super) fn samples(&self) -> Result<&(Rc<Lengths>, Rc<OrderPart>), Failure> {
        self.samples.as_ref().ok_or_else(missing)
    }

    /// The canonical text (SPEC.md, section 14). Equal recipes have equal texts. Failures: `out-of-memory`.
    pub fn text(&self) -> Result<String, Failure> {
        self.pieces(recipe::canonical)
    }

    /// SHA-256 over the canonical text, in hexadecimal.
    pub fn fingerprint(&self) -> String {
        self.pieces(recipe::fingerprint)
    }

    /// Calls `with` with the canonical text.
    fn pieces<T>(&self, with: impl FnOnce(&Pieces) -> T) -> T {
        let begin = format!("{{\"samedeal\":{VERSION},\"order\":");
        let deal = format!(",\"deal\":{{\"world_size\":{}}},\"batch\":", self.config.world_size);
        self.sections(|[order, batch]| with(&|each| [&begin, order, &deal, batch, "}"].into_iter().for_each(each)))
    }

    /// Calls `with` with the members of the canonical text that states have: all except `deal`, because the world size
    /// may change.
    pub(super) fn lasting<T>(&self, with: impl FnOnce(&Pieces) -> T) -> T {
        self.sections(|[order, batch]| {
            with(&|each| ["\"order\":", order, ",\"batch\":", batch].into_iter().for_each(each))
        })
    }

    /// The text of the section `batch`, without lengths.
    pub(super) fn options_text(&self) -> String {
        written(&self.config)
    }

    /// Calls `with` with the texts of the sections `order` and `batch`.
    #[inline(never)]
    fn sections<T>(&self, with: impl FnOnce([&str; 2]) -> T) -> T {
        let BatchConfig { seed, order, .. } = self.config;
        let short;
        let section = match &self.samples {
            Some((_, part)) => part.text(),
            None => {
                short = format!("{{\"name\":\"{}\",\"seed\":{}}}", order.name(), signed_text(seed));
                &short
            }
        };
        let mut batch = written(&self.config);
        if let Some(lengths) = self.samples.as_ref().and_then(|(lengths, _)| lengths.text()) {
            batch.pop();
            batch += &format!(",\"lengths\":{lengths}}}");
        }
        with([section, &batch])
    }
}

/// The text of the section `batch` in its canonical form, without lengths.
#[inline(never)]
pub(super) fn written(config: &BatchConfig) -> String {
    let BatchConfig { strategy, counting, max_batch_size, max_length, budget, buckets, too_long, tail, .. } = config;
    let BatchConfig { multiple, capacity, packing, separate, pad_to_bucket, window, .. } = config;
    let number = |text: &mut String, name: &str, number: u64| {
        *text += &format!(",\"{name}\":{}", unsigned_text(number));
    };
    let mut text = format!("{{\"strategy\":\"{}\"", strategy.name());
    let name = |text: &mut String, member: &str, name: &str| *text += &format!(",\"{member}\":\"{name}\"");
    name(&mut text, "counting", counting_name(*counting));
    if let Counting::Weighted { linear, quadratic } = *counting {
        number(&mut text, "linear", linear.into());
        number(&mut text, "quadratic", quadratic.into());
    }
    // `NO_LIMIT` is the default with a budget, and no number of a batch that has none.
    if *budget == 0 || *max_batch_size != NO_LIMIT {
        number(&mut text, "max_batch_size", (*max_batch_size).into());
    }
    if *max_length < u32::MAX {
        number(&mut text, "max_length", (*max_length).into());
    }
    let given = [("strategy", strategy.name()), ("counting", counting_name(*counting))];
    let used = |field| BATCH.iter().any(|member| member.name == field && NOTHING.fits(member, &given));
    for member in ["max_tokens", "max_cost"] {
        if used(member) && *budget > 0 {
            number(&mut text, member, *budget);
        }
    }
    if used("batch_size_multiple") {
        number(&mut text, "batch_size_multiple", (*multiple).into());
    }
    if used("capacity") {
        number(&mut text, "capacity", (*capacity).into());
    }
    if used("packing") {
        name(&mut text, "packing", name_of(packing, &PACKINGS));
    }
    match buckets {
        Some(_) if !used("quantiles") => {}
        Some(Buckets::Width(width)) => number(&mut text, "bucket_width", (*width).into()),
        Some(Buckets::Quantiles(count)) => number(&mut text, "quantiles", (*count).into()),
        Some(Buckets::Boundaries(ends)) => {
            text += &format!(",\"boundaries\":{}", numbers::text(ends.iter().map(|&end| end.into())));
        }
        None => {}
    }
    if used("separate_buckets") {
        text += &format!(",\"separate_buckets\":{separate},\"pad_to_bucket\":{pad_to_bucket}");
    }
    if let Some(window) = window
        && used("batch_window")
    {
        number(&mut text, "batch_window", (*window).into());
    }
    if config.mean_length > 0 && used("mean_length") {
        number(&mut text, "mean_length", config.mean_length.into());
    }
    if config.keep_order && used("keep_order") {
        text += ",\"keep_order\":true";
    }
    name(&mut text, "too_long", name_of(too_long, &TOO_LONG));
    name(&mut text, "tail", name_of(tail, &TAILS));
    // A new member is written only if its value is not the default, so that the fingerprints of old recipes stay.
    #[cfg(feature = "grown")]
    if config.latest_epoch != LATEST_EPOCH {
        number(&mut text, "latest_epoch", config.latest_epoch);
    }
    text + "}"
}

/// The configuration without the epoch and its lengths.
fn whole(config: BatchConfig) -> BatchConfig {
    BatchConfig { epoch: 0, lengths: Vec::new(), ..config }
}

fn counting_name(counting: Counting) -> &'static str {
    match counting {
        Counting::Padded => "padded",
        Counting::Unpadded => "unpadded",
        Counting::Weighted { .. } => "weighted",
    }
}

/// The name of the order. If the order is `sharded` or composed, also the order itself; other orders are made when the
/// number of lengths is known. Failures: `order`, a member or a list that the order does not use, any field of the
/// section.
fn order_of(fields: &Fields, lists: &[List]) -> Result<(OrderId, Option<OrderPart>), Failure> {
    let by_default = if fields.has("sizes") { OrderId::Sharded } else { OrderId::Feistel };
    let named = |name| OrderId::of_any_name(name, fields, lists, &[OrderId::Sharded]);
    let id = fields.text("name").map_or(Ok(by_default), named)?;
    let own = lists.iter().filter(|(name, _)| *name != "boundaries").copied();
    let lists: Vec<List> = collect("lists", lists.len(), own)?;
    if id == OrderId::Sharded || id.is_composed() {
        return OrderPart::read(fields, &lists).map(|part| (id, Some(part)));
    }
    OrderPart::checked(fields, &lists, id)?;
    Ok((id, None))
}

/// The configuration that the section `batch` describes, without the lengths. Failures: any field of the section.
#[inline(never)]
pub(super) fn options(fields: &Checked) -> Result<BatchConfig, Failure> {
    let strategy = fields.named("strategy", &STRATEGIES);
    let mut counting = fields.named("counting", &COUNTINGS);
    if let Counting::Weighted { linear, quadratic } = &mut counting {
        (*linear, *quadratic) = (fields.short("linear"), fields.short("quadratic"));
    }
    #[cfg(feature = "grown")]
    if let Some(latest @ 100..) = fields.count("latest_epoch") {
        return Err(Failure::too_late("latest_epoch", latest, range(0, 99)));
    }
    let most_rows = fields.given_short("max_batch_size");
    let longest = fields.given_short("max_length");
    let is_weighted = matches!(counting, Counting::Weighted { .. });
    let limit = if is_weighted { "max_cost" } else { "max_tokens" };
    let budget = match (fields.count(limit), most_rows, longest) {
        (Some(budget), ..) => budget,
        (None, Some(rows), Some(longest)) if strategy == Strategy::Budget && !is_weighted => {
            u64::from(rows) * u64::from(longest)
        }
        (None, ..) if strategy == Strategy::Budget => {
            // With `weighted` there is no default: `max_batch_size` * `max_length` are tokens, not a cost.
            let tokens = "the most tokens of a batch, or max_batch_size and max_length";
            return Err(Failure::missing(limit, if is_weighted { "the most that a batch may cost" } else { tokens }));
        }
        (None, ..) => 0,
    };
    let capacity = match (fields.given_short("capacity"), longest) {
        _ if strategy != Strategy::Pack => 0,
        (Some(capacity), _) | (None, Some(capacity)) => capacity,
        (None, None) => return Err(Failure::missing("capacity", "the tokens of a row, or max_length")),
    };
    let usual_rows = match strategy {
        Strategy::Budget => NO_LIMIT,
        Strategy::Pack => 1,
        Strategy::Bucket if budget > 0 => NO_LIMIT,
        Strategy::Bucket | Strategy::PadToMax => 32,
    };
    let (window, keep_order) = (fields.given_short("batch_window"), fields.is("keep_order"));
    if let (Some(window), true) = (window, keep_order) {
        return Err(Failure::contradiction("batch_window", window, "none, where keep_order is true"));
    }
    Ok(BatchConfig {
        max_batch_size: most_rows.unwrap_or(usual_rows),
        max_length: fields.short("max_length"),
        budget,
        counting,
        multiple: fields.short("batch_size_multiple"),
        capacity,
        packing: fields.named("packing", &PACKINGS),
        buckets: buckets(fields)?,
        separate: fields.is("separate_buckets"),
        pad_to_bucket: fields.is("pad_to_bucket"),
        window,
        keep_order,
        mean_length: fields.given_short("mean_length").unwrap_or(0),
        too_long: fields.named("too_long", &TOO_LONG),
        tail: fields.named("tail", &TAILS),
        #[cfg(feature = "grown")]
        latest_epoch: fields.number("latest_epoch"),
        ..BatchConfig::new(Vec::new(), strategy)
    })
}

/// The buckets of the section; none for the default. Failures: two members that define buckets.
fn buckets(fields: &Checked) -> Result<Option<Buckets>, Failure> {
    let is_there = |field| fields.has(field) || fields.found(field).is_some();
    let mut there = BUCKETS.into_iter().filter(|field| is_there(field));
    if let (Some(first), Some(second)) = (there.next(), there.next()) {
        let value = fields.shown(first).unwrap_or_else(|| numbers::counted(fields.found(first)));
        return Err(Failure::contradiction(first, value, format!("none, where {} is given", second.replace('-', "_"))));
    }
    if let Some(width) = fields.given_short("bucket_width") {
        return Ok(Some(Buckets::Width(width)));
    }
    if let Some(count) = fields.given_short("quantiles") {
        return Ok(Some(Buckets::Quantiles(count)));
    }
    match fields.found("boundaries") {
        Some(_) => Ok(Some(Buckets::Boundaries(fields.copied32("boundaries")?))),
        None => Ok(None),
    }
}
