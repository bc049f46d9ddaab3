//! States of batches: the position at which the open window begins, and the steps that were taken of this window.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::batcher::{Batcher, OpenWindow, Segment};
use super::config::{BatchConfig, MAX_WORLD};
use super::recipe::{BATCH, BatchRecipe, STATE_SECTIONS, options, written};
use super::rules::Rules;
use crate::base::failure::{at_most, range};
use crate::base::memory::{collect, joined};
use crate::base::{Failure, MAX_EXACT};
use crate::document::fields::{self, Fields};
use crate::document::member::{Kind, Member};
use crate::document::state::{self, AS_IN_STATE, CONSUMED, EPOCH, KIND, history_of, recipe_of};
use crate::document::{digits, numbers, of_digits, recipe};

const STATE: &[Member] =
    &[recipe::SAMEDEAL, KIND, recipe_of(STATE_SECTIONS), EPOCH, CONSUMED, history_of(SEGMENT), WINDOW, CHECKSUM];
// The width of the open window, and the checksum of its lengths. A state has both if, and only if, it has a history.
const WINDOW: Member = Member::new("window", Kind::COUNT);
const CHECKSUM: Member = Member::new("checksum", Kind::TEXT);
const SEGMENT: &[Member] = &[
    Member::new("world_size", Kind::from_one(MAX_WORLD)),
    Member::new("steps", Kind::POSITIVE),
    Member::new("batch", Kind::Section(BATCH)),
];
/// The most segments of a history. The open window is planned once for each segment, in one call, so the limit bounds
/// the time of this call. All segments are of one window, so more segments would mean hundreds of resumptions within
/// one window.
const MAX_SEGMENTS: usize = 1 << 8;
/// The only member of the section `batch` that must be as in the state for [`Batcher::replan`].
const LENGTHS: &[Member] = &[Member::new("lengths", Kind::Lengths)];
const AS_PLANNED: &str =
    "as in the state; for other options, plan the rest anew (replan); for other lengths, begin a new epoch";

impl Batcher {
    /// The state after every rank has taken `steps` steps: a text for a checkpoint, equal on all ranks. Failures:
    /// `steps`, `history` (too many segments), and those of planning.
    pub fn state(&self, steps: u64) -> Result<String, Failure> {
        let known = self.steps_up_to(steps)?;
        if steps > known {
            return Err(Failure::out_of_range("steps", steps, range(0, known)));
        }
        let own = |steps| Segment { world_size: self.rules().world_size, steps, own_options: None };
        let (window, history) = match self.window_up_to(steps) {
            _ if steps == 0 => (0, self.history().to_vec()),
            None => (self.num_windows(), Vec::new()),
            Some((window, _, end)) if end == steps => (window + 1, Vec::new()),
            Some((0, before, _)) => {
                let mut history = self.history().to_vec();
                match history.last_mut() {
                    Some(last) if last.world_size == self.rules().world_size && last.own_options.is_none() => {
                        last.steps += steps - before
                    }
                    _ => history.push(own(steps - before)),
                }
                (0, history)
            }
            Some((window, before, _)) => (window, [own(steps - before)].into()),
        };
        check_segments(history.len())?;
        let open = if history.is_empty() {
            String::new()
        } else {
            let checksum = digits(self.checksum_of(window)?);
            format!(",\"window\":{},\"checksum\":\"{checksum}\"", self.width_of(window))
        };
        let segments = history.iter().map(|Segment { world_size, steps, own_options }| {
            let batch = own_options.as_ref().map_or(String::new(), |(text, _)| format!(",\"batch\":{text}"));
            format!("{{\"world_size\":{world_size},\"steps\":{steps}{batch}}}")
        });
        let more = format!(",\"consumed\":{},\"history\":{}{open}", self.begin(window), numbers::list(segments));
        self.recipe().lasting(|recipe| state::write("batcher", recipe, self.epoch(), &more))
    }

    /// The batcher of the rest of the epoch of a state. This recipe must have the same options as the state. The rest
    /// of the open window is planned when a call needs it. Failures: `state`; any member of the recipe that differs;
    /// `epoch`, `consumed`, `history` or a member of a segment, `window`, `checksum`, `out-of-memory`.
    pub fn resume(&self, state: &str) -> Result<Self, Failure> {
        self.resume_with(state, false)
    }

    /// Resumes with other options than those of the state: the rest of the epoch is planned with the options of this
    /// recipe. Failures: as `resume`; but in the section `batch`, only `lengths` must be as in the state.
    pub fn replan(&self, state: &str) -> Result<Self, Failure> {
        self.resume_with(state, true)
    }

    fn resume_with(&self, text: &str, anew: bool) -> Result<Self, Failure> {
        let state = state::read(text, "batcher", STATE)?;
        let segments = state.objects("history");
        let (width, checksum) = (state.count("window"), state.text("checksum"));
        let number = checksum.and_then(of_digits);
        if checksum.is_some() != number.is_some() || !segments.is_empty() && (width.is_none() || number.is_none()) {
            return Err(state::refused(text, "batcher"));
        }
        let (epoch, consumed) = (state.number("epoch"), state.number("consumed"));
        let of = state.section("recipe");
        self.check(of, epoch, consumed > 0 || !segments.is_empty(), anew)?;
        check_segments(segments.len())?;
        let recipe = self.recipe();
        let here = recipe.options_text();
        // A segment without options was planned with the options of the recipe in the state.
        let then = if anew { written(&options_before(of)?) } else { here.clone() };
        let mut history: Vec<Segment> = collect("history", segments.len(), [])?;
        for (index, segment) in segments.iter().enumerate() {
            let within = |failure: Failure| failure.in_element("history", index);
            let checked = segment.check(&[], &[]).map_err(within)?;
            let (world_size, steps) = (checked.short("world_size"), segment.number("steps"));
            let own = segment.given_section("batch").map(options_of).transpose();
            let own = own.map_err(|failure| within(failure.under("batch", BATCH)))?;
            let text = own.as_ref().map_or_else(|| then.clone(), written);
            let own_options = if text == here {
                None
            } else {
                let options = own.map_or_else(|| options_before(of), Ok)?;
                Some((Rc::from(text), rules(recipe, options, world_size)?))
            };
            match history.last_mut() {
                Some(last)
                    if last.world_size == world_size
                        && text_of(last) == own_options.as_ref().map(|(text, _)| &**text) =>
                {
                    last.steps = last.steps.saturating_add(steps);
                }
                _ => history.push(Segment { world_size, steps, own_options }),
            }
        }
        if history.is_empty() {
            for member in [WINDOW, CHECKSUM] {
                if let Some(value) = state.shown(member.name) {
                    return Err(Failure::contradiction(member.name, value, "none, where the history is empty"));
                }
            }
        }
        let [width, checksum] = [width, number].map(Option::unwrap_or_default);
        if !history.is_empty() && width == 0 {
            return Err(Failure::out_of_range("window", width, range(1, MAX_EXACT)));
        }
        let open = (!history.is_empty()).then_some(OpenWindow { width, history, checksum });
        let made = Self::from_position(recipe, epoch, consumed, open)?;
        if made.num_windows() == 0 && !made.history().is_empty() {
            let value = format!("of {} segments", made.history().len());
            return Err(Failure::contradiction("history", value, "none at the end of the epoch"));
        }
        Ok(made)
    }

    /// Checks that `of`, the recipe in a state, fits this recipe. A composed order may have been extended after the
    /// state was taken, but only in later epochs if steps of the epoch of the state were taken (`is_begun`). With
    /// `anew`, the options may differ, except the lengths. Failures: the first member that differs.
    fn check(&self, of: &Fields, epoch: u64, is_begun: bool, anew: bool) -> Result<(), Failure> {
        let lasting = self.recipe().lasting(|members| {
            joined("recipe", &|each| {
                each("{");
                members(each);
                each("}");
            })
        })?;
        let here = Fields::read(&lasting, STATE_SECTIONS)?;
        match self.recipe().order().filter(|order| order.is_composed()) {
            Some(order) => order.check_resumes(of, (epoch.saturating_add(is_begun.into()), 0), AS_IN_STATE)?,
            None => fields::compare(&here, of, &STATE_SECTIONS[..1], AS_IN_STATE)?,
        }
        if anew {
            let same = fields::compare(here.section("batch"), of.section("batch"), LENGTHS, AS_PLANNED);
            return same.map_err(|failure| failure.under("batch", LENGTHS));
        }
        fields::compare(&here, of, &STATE_SECTIONS[1..], AS_PLANNED)
    }
}

/// The options of the recipe of a state.
fn options_before(recipe: &Fields) -> Result<BatchConfig, Failure> {
    options_of(recipe.section("batch")).map_err(|failure| failure.under("recipe.batch", BATCH))
}

/// Checks the number of segments of a history. Failures: `history`.
fn check_segments(count: usize) -> Result<(), Failure> {
    if count <= MAX_SEGMENTS {
        return Ok(());
    }
    Err(Failure::out_of_range("history", format!("of {count} segments"), at_most(MAX_SEGMENTS)))
}

fn text_of(past: &Segment) -> Option<&str> {
    past.own_options.as_ref().map(|(text, _)| &**text)
}

fn options_of(section: &Fields) -> Result<BatchConfig, Failure> {
    let config = options(&section.check(&[], &[])?)?;
    config.check()?;
    Ok(config)
}

/// The rules of these options, for the lengths of this recipe. Failures: `out-of-memory`.
fn rules(recipe: &BatchRecipe, options: BatchConfig, world_size: u32) -> Result<Rc<Rules>, Failure> {
    let config = BatchConfig { world_size, seed: recipe.config().seed, ..options };
    Rules::new(&config, recipe.samples()?.0.sample()?)
}
