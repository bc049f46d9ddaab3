//! The exact shares that the weights ask for. Counts are compared with them.

use samedeal::Sampler;
use serde_json::Value;

use crate::write::Problem;

/// The stages of a blend: weights, and the position at which they begin.
pub struct Shares {
    stages: Vec<Stage>,
    /// The position at which this epoch begins, counted over all epochs, as stages count positions.
    first: u64,
    is_steady: bool,
}

struct Stage {
    from: u64,
    weights: Vec<u64>,
    sum: u64,
}

impl Stage {
    fn new(from: u64, weights: Vec<u64>) -> Self {
        let sum = weights.iter().sum::<u64>().max(1);
        Self { from, weights, sum }
    }
}

impl Shares {
    /// The weights and stages of the canonical recipe.
    pub fn new(sampler: &Sampler) -> Result<Self, Problem> {
        let recipe: Value = serde_json::from_str(&sampler.recipe()?).unwrap_or_default();
        let (order, list) = (&recipe["order"], |list: &Value| list.as_array().cloned().unwrap_or_default());
        let number = |number: &Value| number.as_u64().unwrap_or(0);
        let weights = list(&order["sources"]).iter().map(|source| number(&source["weight"])).collect();
        let stages = list(&order["stages"]);
        let more = stages
            .iter()
            .map(|stage| Stage::new(number(&stage["from"]), list(&stage["weights"]).iter().map(number).collect()));
        let exhaustion = order["exhaustion"].as_str().unwrap_or_default();
        // Without `repeat`, every epoch begins anew.
        let goes_on = exhaustion == "repeat";
        let first = if goes_on { sampler.epoch().saturating_mul(sampler.epoch_length()) } else { 0 };
        let stages = std::iter::once(Stage::new(0, weights)).chain(more).collect();
        Ok(Self { stages, first, is_steady: exhaustion != "renormalize" })
    }

    /// Whether the stages alone decide the shares. With `renormalize`, a source may leave, and the other sources then
    /// get its share.
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// A position of the epoch, counted from the beginning of the blend.
    pub fn position(&self, position: u64) -> u64 {
        self.first.saturating_add(position)
    }

    /// The stages of the positions `start` to before `end` of the epoch, and how many positions each stage has.
    fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (&Stage, u64)> {
        self.stages_within(self.position(start), self.position(end))
    }

    /// The stages of the positions `start` to before `end`, counted from the beginning of the blend, and how many
    /// positions each stage has.
    fn stages_within(&self, start: u64, end: u64) -> impl Iterator<Item = (&Stage, u64)> {
        let ends = self.stages.iter().skip(1).map(|stage| stage.from).chain([u64::MAX]);
        let parts = self
            .stages
            .iter()
            .zip(ends)
            .map(move |(stage, to)| (stage, end.min(to).saturating_sub(start.max(stage.from))));
        parts.filter(|(_, count)| *count > 0)
    }

    /// The weight of a source in each stage of the positions `start` to before `end` of the epoch.
    pub fn weights(&self, source: usize, start: u64, end: u64) -> Vec<u64> {
        self.within(start, end).map(|(stage, _)| stage.weights[source]).collect()
    }

    /// How many samples the weights give to a source in the positions `start` to before `end`, in millionths of a
    /// sample. The part of each stage is rounded down.
    pub fn expected(&self, source: usize, start: u64, end: u64) -> i128 {
        Self::sum(self.within(start, end), source)
    }

    fn sum<'a>(parts: impl Iterator<Item = (&'a Stage, u64)>, source: usize) -> i128 {
        let part = |(stage, count): (&Stage, u64)| {
            // At most 2^53 * 2^53 * 2^20, which fits into 128 bits.
            millionths(count) * i128::from(stage.weights[source]) / i128::from(stage.sum)
        };
        parts.map(part).sum()
    }

    /// How many samples the weights give to a source from the beginning of the blend to before a position of the epoch,
    /// in millionths of a sample.
    pub fn expected_so_far(&self, source: usize, end: u64) -> i128 {
        Self::sum(self.stages_within(0, self.position(end)), source)
    }

    /// The share of a source in the positions `start` to before `end`, from 0 to 1.
    pub fn share(&self, source: usize, start: u64, end: u64) -> f64 {
        let positions = self.within(start, end).map(|(_, count)| count).sum::<u64>().max(1);
        self.expected(source, start, end) as f64 / 1e6 / positions as f64
    }
}

pub fn millionths(number: u64) -> i128 {
    1_000_000 * i128::from(number)
}

#[cfg(test)]
mod tests {
    use samedeal::{Order, Source};

    use super::*;

    #[test]
    fn stages_are_counted_over_epochs() {
        let blend = Order::blend([Source::new("a", 10, 3), Source::new("b", 10, 1)]).samples(100);
        let blend = blend.stage(150, [1, 1]).stage(180, [0, 5]);
        let sampler = Sampler::from_order(blend).epoch(1).build().unwrap();
        let shares = Shares::new(&sampler).unwrap();
        assert_eq!(shares.position(7), 107);
        assert_eq!(shares.weights(0, 0, 100), [3, 1, 0]);
        assert_eq!(shares.weights(1, 60, 70), [1]);
        // 50 positions at 3 of 4, 30 at 1 of 2.
        assert_eq!((shares.expected(0, 0, 100), shares.expected(1, 0, 100)), (52_500_000, 47_500_000));
        assert_eq!(shares.share(0, 0, 100), 0.525);
        assert_eq!(shares.share(0, 5, 5), 0.0);
    }
}
