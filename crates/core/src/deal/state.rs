//! States of samplers: texts that say how far an epoch was read.

use alloc::format;
use alloc::string::String;

use crate::base::failure::range;
use crate::base::{Failure, MAX_EXACT};
use crate::document::fields::Fields;
use crate::document::member::Member;
use crate::document::recipe::SAMEDEAL;
use crate::document::state::{CONSUMED, EPOCH, KIND, POSITIONS, read, recipe_of, refused, write};
use crate::order::{COMPOSED_MEMBERS, ORDERS};

const SAMPLER: &[Member] = &[SAMEDEAL, KIND, recipe_of(ORDERS), EPOCH, CONSUMED, POSITIONS];

/// The members of the state of a sampler.
pub(crate) struct SamplerState<'a> {
    fields: Fields<'a>,
    /// The number of positions of the epoch, from the state. The first `consumed` positions are consumed.
    pub(crate) samples: u64,
    pub(crate) epoch: u64,
    pub(crate) consumed: u64,
}

/// The member `positions` of a state. The member is there if, and only if, the order is composed: an epoch of a
/// composed order can have more or fewer positions than there are samples. Failures: `state`.
pub(crate) fn positions_of(state: &Fields, text: &str, kind: &str) -> Result<Option<u64>, Failure> {
    let order = state.section("recipe").section("order");
    let is_composed = COMPOSED_MEMBERS.iter().any(|key| order.has(key.name));
    match state.count("positions") {
        Some(positions @ ..=MAX_EXACT) if is_composed => Ok(Some(positions)),
        None if !is_composed => Ok(None),
        _ => Err(refused(text, kind)),
    }
}

impl<'a> SamplerState<'a> {
    /// The text of a state of this kind: JSON, in one line. `more` is the text of its last members. Failures:
    /// `out-of-memory`.
    pub(crate) fn written(&self, kind: &str, more: &str) -> Result<String, Failure> {
        let recipe = self.recipe().canonical(ORDERS);
        let positions = self.fields.count("positions").map_or(String::new(), |count| format!(",\"positions\":{count}"));
        let members = recipe.get(1..recipe.len() - 1).unwrap_or_default();
        let more = format!(",\"consumed\":{}{positions}{more}", self.consumed);
        write(kind, &|each| each(members), self.epoch, &more)
    }

    /// Reads a state, which need not be trusted. Failures: `state`, `consumed`.
    pub(crate) fn read(text: &'a str) -> Result<Self, Failure> {
        Self::of(read(text, "sampler", SAMPLER)?, text, "sampler")
    }

    pub(crate) fn of(fields: Fields<'a>, text: &str, kind: &str) -> Result<Self, Failure> {
        let order = fields.section("recipe").section("order");
        let samples = match positions_of(&fields, text, kind)? {
            None => order.count("samples"),
            positions => positions,
        };
        let (Some(samples @ ..=MAX_EXACT), Some(epoch), Some(consumed)) =
            (samples, fields.count("epoch"), fields.count("consumed"))
        else {
            return Err(refused(text, kind));
        };
        if consumed > samples {
            return Err(Failure::out_of_range("consumed", consumed, range(0, samples)));
        }
        Ok(Self { fields, samples, epoch, consumed })
    }

    /// The recipe in the state, which has only the section `order`.
    pub(crate) fn recipe(&self) -> &Fields<'a> {
        self.fields.section("recipe")
    }
}
