use svg::node::element::Group;

use super::draw::{bar, line, text};
use super::scale::{Scale, round_up};
use crate::write::{counted, grouped};

/// The most bars of a histogram; the greatest length may need one more.
const BARS: u32 = 60;

/// A histogram: the number of samples in each range of lengths.
pub struct Histogram {
    /// The width of a bar, in tokens: bar i counts the lengths from i * width to (i + 1) * width - 1.
    width: u32,
    counts: Vec<u64>,
    longest: u32,
    /// Samples that are longer than the last bar.
    beyond: u64,
}

impl Histogram {
    /// Counts the lengths. If the longest sample is more than twice as long as 99.9 % of the samples, the bars end with
    /// these 99.9 %, and longer samples are only counted, in `beyond`. With bars up to the longest sample, nearly all
    /// samples would be in the first few bars.
    pub fn new(lengths: &[u32]) -> Self {
        let mut sorted = lengths.to_vec();
        sorted.sort_unstable();
        let longest = sorted.last().copied().unwrap_or(0);
        let most = sorted.get(sorted.len() - sorted.len().div_ceil(1000).min(sorted.len())).copied().unwrap_or(0);
        let end = if most < longest / 2 { most } else { longest };
        let width = round_up(f64::from(end) / f64::from(BARS)).max(1.0) as u32;
        let mut counts = vec![0; (end / width) as usize + 1];
        let mut beyond = 0;
        for length in sorted {
            match counts.get_mut((length / width) as usize) {
                Some(count) => *count += 1,
                None => beyond += 1,
            }
        }
        Self { width, counts, longest, beyond }
    }

    /// Draws bars, axes and their names within a rectangle; `limit` is the most tokens that a sample may have.
    pub fn draw(&self, unit: &str, limit: Option<u32>, [left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> Group {
        let end = self.counts.len() as f64 * f64::from(self.width);
        let most = self.counts.iter().max().copied().unwrap_or(0);
        let across = Scale::new(end, 10, true, [left, right]);
        let up = Scale::new(most as f64, 5, true, [bottom, top]);
        let mut group = Group::new().set("id", "lengths");
        for mark in up.marks() {
            let y = up.at(mark);
            group = group.add(line("grid", [left, y], [right, y]));
            group = group.add(text("faint", "end", left - 8.0, y + 4.0, &grouped(mark as u64)));
        }
        for (number, &count) in (0_u64..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let width = u64::from(self.width);
            let (from, to) = (number * width, (number + 1) * width);
            let (x, y) = (across.at(from as f64), up.at(count as f64));
            let wide = (across.at(to as f64) - x - 0.5).max(0.5);
            let of = if width == 1 { grouped(from) } else { format!("{} to {}", grouped(from), grouped(to - 1)) };
            let says = format!("{of} {unit}: {}", counted(count, "sample", "samples"));
            group = group.add(bar("lengths", [x, y], [wide, bottom - y], &says));
        }
        group = group.add(line("axis", [left, bottom], [right, bottom]));
        for mark in across.marks() {
            let x = across.at(mark);
            group = group.add(line("axis", [x, bottom], [x, bottom + 4.0]));
            group = group.add(text("faint", "middle", x, bottom + 18.0, &grouped(mark as u64)));
        }
        if let Some(limit) = limit.filter(|&limit| f64::from(limit) < across.end) {
            let x = across.at(f64::from(limit));
            let says = format!("--max-length {}", grouped(limit.into()));
            group = group.add(line("limit", [x, top], [x, bottom]).set("stroke-dasharray", "4 3"));
            group = group.add(text("ink", "end", x - 5.0, top + 10.0, &says));
        }
        group = group.add(text("ink", "middle", (left + right) / 2.0, bottom + 38.0, &self.axis(unit)));
        let (x, y) = (left - 68.0, (top + bottom) / 2.0);
        let samples = if self.width == 1 {
            "samples".to_owned()
        } else {
            format!("samples per {} {unit}", grouped(self.width.into()))
        };
        group.add(text("ink", "middle", x, y, &samples).set("transform", format!("rotate(-90 {x} {y})")))
    }

    fn axis(&self, unit: &str) -> String {
        match self.beyond {
            0 => format!("length of a sample, in {unit}"),
            beyond => {
                let more = counted(beyond, "sample is longer", "samples are longer");
                format!("length of a sample, in {unit}; {more}, up to {}", grouped(self.longest.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_counted_once() {
        for lengths in [vec![0; 3], vec![7], (0..100_000).collect(), vec![u32::MAX, 0], vec![1, 1, 2]] {
            let histogram = Histogram::new(&lengths);
            assert_eq!(histogram.counts.iter().sum::<u64>() + histogram.beyond, lengths.len() as u64);
            assert!(histogram.counts.len() <= 2 * BARS as usize, "{}", histogram.counts.len());
        }
        let mut skewed = (0..10_000).map(|length| length % 100).collect::<Vec<_>>();
        skewed.push(1_000_000);
        let histogram = Histogram::new(&skewed);
        assert_eq!((histogram.beyond, histogram.longest), (1, 1_000_000));
        assert!(
            histogram.axis("words").ends_with("1 sample is longer, up to 1,000,000"),
            "{}",
            histogram.axis("words")
        );
    }
}
