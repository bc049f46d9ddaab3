//! The index of an epoch: the number of steps of each window, a checksum of its lengths, and the metrics of all
//! windows. One job makes it, or several jobs make parts of it. Then every rank knows the number of steps of the epoch
//! without planning.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::metrics::Metrics;
use crate::base::failure::{only, range, shorten};
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::{collect, grow, joined};
use crate::base::{Failure, MAX_EXACT};
use crate::document::fields::Fields;
use crate::document::member::{Kind, Member};
use crate::document::numbers::Numbers;
use crate::document::state::{self, EPOCH, KIND};
use crate::document::{DIGITS, digits, of_digits, recipe, unsigned_text};

const INDEX: &[Member] = &[
    recipe::SAMEDEAL,
    KIND,
    Member::new("recipe_fingerprint", Kind::TEXT),
    EPOCH,
    Member::new("windows", Kind::COUNT),
    Member::new("first", Kind::COUNT),
    Member::new("steps", Kind::Numbers { most: crate::base::MAX_EXACT, beside: false }),
    Member::new("checksums", Kind::TEXT),
    Member::new("metrics", Kind::Section(&METRICS)),
    Member::new("checksum", Kind::TEXT),
];

/// The metrics of an index, in the order of [`Metrics::named`]. The text gives each metric its name, so that a later
/// version can add metrics.
const METRICS: [Member; 16] = [
    Member::new("steps", Kind::LONG),
    Member::new("items", Kind::LONG),
    Member::new("rows", Kind::LONG),
    Member::new("tokens", Kind::LONG),
    Member::new("padded", Kind::LONG),
    Member::new("slowest", Kind::LONG),
    Member::new("cost", Kind::LONG),
    Member::new("slowest_cost", Kind::LONG),
    Member::new("packs_bound", Kind::LONG),
    Member::new("over_budget", Kind::LONG),
    Member::new("empty", Kind::LONG),
    Member::new("repeated", Kind::LONG),
    Member::new("dropped", Kind::LONG),
    Member::new("truncated", Kind::LONG),
    Member::new("too_long", Kind::LONG),
    Member::new("split", Kind::LONG),
];

/// The steps and metrics of consecutive windows of an epoch.
pub(super) struct Index {
    fingerprint: String,
    epoch: u64,
    /// How many windows the epoch has.
    windows: u64,
    /// The number of the first window of this index.
    first: u64,
    /// For each window of this index, its number of steps.
    pub(super) steps: Vec<u64>,
    /// For each window of this index, the checksum of its lengths.
    pub(super) checksums: Vec<u64>,
    /// The metrics of all windows of this index together.
    pub(super) metrics: Metrics,
}

impl Index {
    pub(super) fn new(fingerprint: String, epoch: u64, windows: u64, first: u64) -> Self {
        Self {
            fingerprint,
            epoch,
            windows,
            first,
            steps: Vec::new(),
            checksums: Vec::new(),
            metrics: Metrics::default(),
        }
    }

    /// The index as JSON, in one line. Failures: `out-of-memory`.
    pub(super) fn text(&self) -> Result<String, Failure> {
        let Self { fingerprint, epoch, windows, first, .. } = self;
        let separator = |at| if at == 0 { "" } else { "," };
        let text = joined("index", &|each| {
            each(&format!(
                "{{\"samedeal\":{},\"kind\":\"index\",\"recipe_fingerprint\":\"{fingerprint}\",\"epoch\":{},\"windows\":{windows},\
                 \"first\":{first},\"steps\":[",
                recipe::VERSION,
                unsigned_text(*epoch),
            ));
            for (at, steps) in self.steps.iter().enumerate() {
                each(&format!("{}{steps}", separator(at)));
            }
            each("],\"checksums\":\"");
            for &checksum in &self.checksums {
                each(&digits(checksum));
            }
            each("\",\"metrics\":{");
            for (at, (member, (_, number))) in METRICS.iter().zip(self.metrics.named()).enumerate() {
                each(&format!("{}\"{}\":{}", separator(at), member.name, unsigned_text(number)));
            }
            each("}");
        })?;
        let checksum = checksum(&text);
        joined("index", &|each| [&*text, ",\"checksum\":\"", &*checksum, "\"}"].into_iter().for_each(each))
    }

    /// Reads an index from a text that need not be trusted. Failures: `index`, `out-of-memory`.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let fields = state::read(text, "index", INDEX)?;
        let refused = || Failure::wrong_type("index", text, "an index of this version, whole and unchanged");
        let whole = text.rfind(",\"checksum\"").and_then(|end| text.get(..end));
        if whole.map(checksum).as_deref() != fields.text("checksum") {
            return Err(refused());
        }
        let named = metrics_of(fields.section("metrics")).ok_or_else(refused)?;
        let Some(Numbers::All(steps)) = fields.numbers("steps") else { return Err(refused()) };
        let checksums = checksums_of(fields.text("checksums").unwrap_or_default())?.ok_or_else(refused)?;
        let (windows, first) = (fields.number("windows"), fields.number("first"));
        let ends = first.checked_add(steps.len() as u64).filter(|&end| end <= windows);
        let sum = steps.iter().try_fold(0_u64, |sum, &steps| sum.checked_add(steps));
        if windows > MAX_EXACT
            || sum.is_none_or(|sum| sum > MAX_EXACT)
            || ends.is_none()
            || checksums.len() != steps.len()
            || sum != Some(named.steps)
        {
            return Err(refused());
        }
        Ok(Self {
            fingerprint: fields.text("recipe_fingerprint").unwrap_or_default().into(),
            epoch: fields.number("epoch"),
            windows,
            first,
            steps: collect("index", steps.len(), steps.iter().copied())?,
            checksums,
            metrics: named,
        })
    }

    /// Checks that the index is of this recipe and epoch. Failures: `recipe_fingerprint`, `epoch`.
    pub(super) fn check(&self, fingerprint: &str, epoch: u64) -> Result<(), Failure> {
        if self.fingerprint != fingerprint {
            let allowed = only(fingerprint)
                .and(": an index is of one recipe, so of the same options, seed, world size and lengths");
            return Err(Failure::contradiction("recipe_fingerprint", shorten(&self.fingerprint), allowed));
        }
        if self.epoch != epoch {
            return Err(Failure::contradiction("epoch", self.epoch, only(epoch)));
        }
        Ok(())
    }

    /// Checks that the index has all `windows` windows of the epoch. Failures: `windows`, `index`.
    pub(super) fn check_whole(&self, windows: u64) -> Result<(), Failure> {
        if self.windows != windows {
            return Err(Failure::contradiction("windows", self.windows, only(windows)));
        }
        let count = self.steps.len() as u64;
        if self.first == 0 && count == windows {
            return Ok(());
        }
        let value = format!("{count} windows from {}", self.first);
        Err(Failure::contradiction("index", value, format!("all {windows} windows: join its parts")))
    }
}

/// Joins parts of an index into one index. The parts may be in any order. A part adds nothing if the parts that begin
/// before it, or a part that begins with the same window and is as long or longer, have all its windows. Failures:
/// `index` (a part is no index; there are no parts), `recipe_fingerprint`, `epoch`, `windows` (a part is of other batches),
/// `first` (windows are missing between two parts, or two parts overlap and each has windows that the other one lacks),
/// `lengths` (two parts planned a window with different lengths), `out-of-memory`.
pub fn join_indices(parts: &[String]) -> Result<String, Failure> {
    let mut all = collect("index", parts.len(), [])?;
    for part in parts {
        all.push(Index::read(part)?);
    }
    all.sort_by_key(|part: &Index| (part.first, Reverse(part.steps.len())));
    let mut parts = all.into_iter();
    let Some(mut whole) = parts.next() else {
        return Err(Failure::missing("index", "one part or more"));
    };
    for part in parts {
        part.check(&whole.fingerprint, whole.epoch)?;
        let next = whole.first + whole.steps.len() as u64;
        if part.windows != whole.windows {
            return Err(Failure::contradiction("windows", part.windows, only(whole.windows)));
        }
        if part.first + part.steps.len() as u64 <= next && part.first < next {
            // The result already has all windows of this part, so the part adds nothing. The lengths of both must be
            // the same.
            let from = (part.first - whole.first) as usize;
            let known = &whole.checksums[from..from + part.checksums.len()];
            let differs = known.iter().zip(&part.checksums).position(|(known, other)| known != other);
            if let Some(at) = differs {
                let value = format!("the checksum {} of window {}", digits(part.checksums[at]), part.first + at as u64);
                let allowed = only(digits(known[at])).and(", that of another part");
                return Err(Failure::contradiction("lengths", value, allowed));
            }
            continue;
        }
        if part.first != next {
            return Err(Failure::contradiction("first", part.first, range(next, next)));
        }
        grow("index", part.steps.len(), &mut whole.steps)?;
        whole.steps.extend(&part.steps);
        grow("index", part.checksums.len(), &mut whole.checksums)?;
        whole.checksums.extend(&part.checksums);
        whole.metrics.join(&part.metrics);
    }
    whole.text()
}

/// The metrics of an object that has all of them.
fn metrics_of(fields: &Fields) -> Option<Metrics> {
    let mut numbers = [0; METRICS.len()];
    for (number, member) in numbers.iter_mut().zip(&METRICS) {
        *number = fields.count(member.name)?;
    }
    Metrics::of_numbers(&numbers)
}

/// The checksums in a text of hexadecimal digits; None if the text is anything else. Failures: `out-of-memory`.
fn checksums_of(text: &str) -> Result<Option<Vec<u64>>, Failure> {
    let mut checksums = collect("index", text.len() / DIGITS, [])?;
    for at in (0..text.len()).step_by(DIGITS) {
        let Some(checksum) = text.get(at..at + DIGITS).and_then(of_digits) else { return Ok(None) };
        checksums.push(checksum);
    }
    Ok(Some(checksums))
}

fn checksum(text: &str) -> String {
    let mut hash = Fingerprint::new();
    hash.add(text.as_bytes());
    hash.finish()
}
