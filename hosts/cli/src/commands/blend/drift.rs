//! A plot in plain text of how far the count of each source is from its share.

use std::fmt;

use samedeal::Sampler;
use schemars::JsonSchema;
use serde::Serialize;

use super::samples;
use super::shares::{Shares, millionths};
use crate::write::{Problem, grouped};

/// The most columns of the plot, and about how many positions of each column the drift is computed for.
const COLUMNS: u64 = 64;
const LOOKS: u64 = 32;
/// The bars, from the lowest value to the highest one.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// For each source, the drift that is farthest from 0 in each column.
pub struct Drift {
    start: u64,
    end: u64,
    pub sources: Vec<Drifting>,
}

/// How far the count of a source is from its share, in samples.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Drifting {
    source: String,
    bound: f64,
    /// The drift that is farthest from 0 in each of up to 64 parts of the positions.
    values: Vec<f64>,
}

impl Drift {
    pub fn new(sampler: &Sampler, shares: &Shares, start: u64, end: u64) -> Result<Self, Problem> {
        if !shares.is_steady() {
            let what = "--plot is not for --exhaustion renormalize, where the shares change when a source leaves";
            return Err(Problem::message(what));
        }
        let sources = sampler.sources()?.into_iter().zip(sampler.source_bounds()?);
        let line = |(source, bound)| Drifting { source, bound: samples(i128::from(bound)), values: Vec::new() };
        let mut sources = sources.map(line).collect::<Vec<_>>();
        // The counts of earlier epochs, which are added if the blend goes on over the ends of epochs.
        let before = sampler.source_counts(0..0)?.first;
        let goes_on = shares.position(0) > 0;
        let columns = COLUMNS.min(end - start);
        for column in 0..columns {
            let at = |column: u64| start + (u128::from(end - start) * u128::from(column) / u128::from(columns)) as u64;
            let (from, to) = (at(column), at(column + 1));
            // The step is odd: few blends have a period that such steps always meet at the same place.
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
            sources.iter_mut().zip(most).for_each(|(line, value)| line.values.push(samples(value)));
        }
        Ok(Self { start, end, sources })
    }
}

impl Drifting {
    /// The bar of a value; the lowest bar is -`bound`, the highest one `bound`.
    fn bar(&self, value: f64) -> char {
        let [value, bound] = [value, self.bound].map(|samples| (samples * 1e6).round() as i128);
        let (bound, last) = (bound.max(1), BARS.len() as i128 - 1);
        let level = ((value + bound) * last + bound) / (2 * bound);
        BARS[level.clamp(0, last) as usize]
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |line: &Drifting| line.source.chars().filter(|letter| !letter.is_control()).take(24).collect::<String>();
        let width = self.sources.iter().map(|line| name(line).chars().count()).max().unwrap_or(0);
        writeln!(f, "drift of each source: its count less its share, in samples. ▁ is -bound, █ is +bound")?;
        for line in &self.sources {
            let bars = line.values.iter().map(|&value| line.bar(value)).collect::<String>();
            let most = line.values.iter().map(|value| value.abs()).fold(0.0, f64::max);
            writeln!(f, "{:<width$} {bars} farthest {most:.3}, bound {:.3}", name(line), line.bound)?;
        }
        write!(f, "{:<width$} positions {} to {}", "", grouped(self.start), grouped(self.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_go_from_bound_to_bound() {
        let line = |bound| Drifting { source: "a".to_owned(), bound, values: Vec::new() };
        assert_eq!([-1.5, 1.5, -9.0].map(|value| line(1.5).bar(value)), ['▁', '█', '▁']);
        assert_eq!([-1.0, 1.0].map(|value| line(1.5).bar(value)), ['▂', '▇']);
        assert!([1.5, 0.0].iter().all(|bound| ['▄', '▅'].contains(&line(*bound).bar(0.0))));
    }
}
