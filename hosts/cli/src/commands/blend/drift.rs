//! A plot in plain text of how far the count of each source is from its share.

use std::fmt;

use samedeal::Sampler;
use schemars::JsonSchema;
use serde::Serialize;

use super::shares::{Shares, millionths};
use crate::write::{Problem, grouped};

/// How many columns there are, and how many positions are looked at for each.
const COLUMNS: u64 = 64;
const LOOKS: u64 = 32;
/// From the lowest value to the highest one.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// For each source, the drift that is farthest from 0 in each column, in millionths of a sample.
pub struct Drift {
    start: u64,
    end: u64,
    sources: Vec<Line>,
}

/// How far the count of a source is from its share, in samples.
#[derive(Serialize, JsonSchema)]
pub struct Drifting {
    source: String,
    bound: f64,
    /// The drift that is farthest from 0 in each of up to 64 parts of the positions.
    values: Vec<f64>,
}

struct Line {
    name: String,
    bound: u64,
    values: Vec<i128>,
}

impl Drift {
    pub fn new(sampler: &Sampler, shares: &Shares, start: u64, end: u64) -> Result<Self, Problem> {
        if !shares.is_steady() {
            let what = "--plot is not for --exhaustion renormalise, where the shares change when a source leaves";
            return Err(Problem::message(what));
        }
        let names = sampler.sources()?;
        let bounds = sampler.source_bounds()?;
        let lines = names.into_iter().zip(bounds).map(|(name, bound)| Line { name, bound, values: Vec::new() });
        let mut sources = lines.collect::<Vec<_>>();
        // Before the epoch, all epochs of a blend that goes on.
        let before = sampler.source_counts(0..0)?.first;
        let goes_on = shares.position(0) > 0;
        let columns = COLUMNS.min(end - start);
        for column in 0..columns {
            let at = |column: u64| start + (u128::from(end - start) * u128::from(column) / u128::from(columns)) as u64;
            let (from, to) = (at(column), at(column + 1));
            // Odd, so that few periods of a blend hide what is between.
            let step = ((to - from) / LOOKS) | 1;
            let looks = (from + 1..=to).step_by(step as usize).chain([to]);
            let mut most = vec![0_i128; sources.len()];
            for look in looks {
                let counts = sampler.source_counts(0..look)?.count;
                for (source, most) in most.iter_mut().enumerate() {
                    let count = counts[source] + if goes_on { before[source] } else { 0 };
                    let drift = millionths(count) - shares.expected_so_far(source, look);
                    if drift.abs() > most.abs() {
                        *most = drift;
                    }
                }
            }
            sources.iter_mut().zip(most).for_each(|(line, value)| line.values.push(value));
        }
        Ok(Self { start, end, sources })
    }

    pub fn answer(&self) -> Vec<Drifting> {
        let line = |line: &Line| {
            let values = line.values.iter().map(|&value| value as f64 / 1e6).collect();
            Drifting { source: line.name.clone(), bound: line.bound as f64 / 1e6, values }
        };
        self.sources.iter().map(line).collect()
    }
}

impl Line {
    /// The bar of a value, between the bounds.
    fn bar(&self, value: i128) -> char {
        let (bound, last) = (i128::from(self.bound.max(1)), BARS.len() as i128 - 1);
        let level = ((value + bound) * last + bound) / (2 * bound);
        BARS[level.clamp(0, last) as usize]
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |line: &Line| line.name.chars().filter(|letter| !letter.is_control()).take(24).collect::<String>();
        let width = self.sources.iter().map(|line| name(line).chars().count()).max().unwrap_or(0);
        writeln!(f, "drift of each source: its count less its share, in samples. ▁ is -bound, █ is +bound")?;
        for line in &self.sources {
            let bars = line.values.iter().map(|&value| line.bar(value)).collect::<String>();
            let most = line.values.iter().map(|value| value.abs()).max().unwrap_or(0) as f64 / 1e6;
            let bound = line.bound as f64 / 1e6;
            writeln!(f, "{:<width$} {bars} farthest {most:.3}, bound {bound:.3}", name(line))?;
        }
        write!(f, "{:<width$} positions {} to {}", "", grouped(self.start), grouped(self.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_go_from_bound_to_bound() {
        let line = Line { name: "a".to_owned(), bound: 1_500_000, values: Vec::new() };
        assert_eq!([-1_500_000, 1_500_000, -9_000_000].map(|value| line.bar(value)), ['▁', '█', '▁']);
        assert_eq!([-1_000_000, 1_000_000].map(|value| line.bar(value)), ['▂', '▇']);
        assert!(['▄', '▅'].contains(&line.bar(0)));
        let none = Line { name: "b".to_owned(), bound: 0, values: Vec::new() };
        assert!(['▄', '▅'].contains(&none.bar(0)));
    }
}
