//! The checks. Each takes an order as a function of (samples, seed, epoch), so that weak ones can be put in its place.

use crate::stats::{DEVIATIONS, chi_square, correlation, deviations_of_chi_square};

/// Makes the order of an epoch: a function from positions to samples.
pub trait Source: Fn(u64, i64, u64) -> Box<dyn Fn(u64) -> u64> {}
impl<F: Fn(u64, i64, u64) -> Box<dyn Fn(u64) -> u64>> Source for F {}

/// The outcome of a check.
#[derive(Debug)]
pub struct Finding {
    pub kind: &'static str,
    #[expect(dead_code, reason = "shown where a check fails")]
    pub of: String,
    pub deviations: f64,
}

impl Finding {
    pub fn holds(&self) -> bool {
        self.deviations.abs() < DEVIATIONS
    }
}

/// Few samples, the smallest networks (full and not), squares, and up to 10^9 and beyond.
pub const SIZES: [u64; 16] =
    [2, 3, 4, 5, 6, 31, 256, 257, 289, 290, 1_000, 10_000, 1_000_000, 16_777_217, 1_000_000_000, (1 << 53) - 1];

/// Runs the checks that suit each number of samples.
pub fn run(source: &impl Source, sizes: &[u64]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &samples in sizes {
        if samples <= 6 {
            findings.push(every_permutation(source, samples));
            continue;
        }
        findings.extend(position_and_value(source, samples));
        findings.extend(lags(source, samples));
        findings.extend(pair_order(source, samples));
        findings.extend(neighbours(source, samples));
        findings.push(differences(source, samples));
        if samples <= 10_000 {
            findings.push(fixed_points(source, samples));
        }
        if samples >= 1_000 {
            findings.extend(tables(source, samples));
        }
    }
    findings
}

/// All permutations of a few samples are equally likely over seeds.
fn every_permutation(source: &impl Source, samples: u64) -> Finding {
    let count: u64 = (1..=samples).product();
    let mut counts = vec![0; count as usize];
    let seeds = 200 * count;
    for seed in 0..seeds {
        let order = source(samples, seed as i64, 0);
        // The number of the permutation in the factorial system.
        let values: Vec<_> = (0..samples).map(order).collect();
        let number = (0..values.len()).fold(0, |number, i| {
            let smaller = values[i + 1..].iter().filter(|&&value| value < values[i]).count() as u64;
            number * (samples - i as u64) + smaller
        });
        counts[number as usize] += 1;
    }
    let statistic = chi_square(&counts, |_| seeds as f64 / count as f64);
    chi("every permutation", format!("{samples} samples"), statistic, counts.len() - 1)
}

/// The sample at a position is uniform over seeds, at the ends and in the middle.
fn position_and_value(source: &impl Source, samples: u64) -> Vec<Finding> {
    let seeds = 8_000;
    let cells = samples.min(40);
    [0, 1, samples / 2, samples - 1]
        .map(|position| {
            let mut counts = vec![0; cells as usize];
            for seed in 0..seeds {
                counts[cell(source(samples, seed, 0)(position), samples, cells)] += 1;
            }
            let statistic = chi_square(&counts, |i| seeds as f64 * share(i, samples, cells));
            chi("position and value", format!("{samples} samples, position {position}"), statistic, counts.len() - 1)
        })
        .into()
}

/// The correlation of positions 1 to 8 apart, over enough seeds that 0.01 is at least five standard deviations.
fn lags(source: &impl Source, samples: u64) -> Vec<Finding> {
    let run = samples.min(100_000);
    let seeds = 400_000_u64.div_ceil(run).min(400);
    let orders: Vec<Vec<u64>> = (0..seeds)
        .map(|seed| {
            let order = source(samples, seed as i64, 7);
            let start = (samples - run) / 2;
            (start..start + run).map(order).collect()
        })
        .collect();
    (1..=8)
        .map(|lag| {
            let correlations = orders.iter().map(|o| correlation(o.iter().copied().zip(o[lag..].iter().copied())));
            let mean = correlations.sum::<f64>() / seeds as f64;
            // Neighbours in a permutation without replacement are correlated by -1 / (samples - 1).
            let expected = -1.0 / (samples - 1) as f64;
            let deviations = (mean - expected) * ((run - lag as u64) as f64 * seeds as f64).sqrt();
            if samples >= 10_000 {
                assert!(seeds * run >= 250_000, "0.01 is five standard deviations");
            }
            Finding { kind: "lag", of: format!("{samples} samples, lag {lag}: {mean:.5}"), deviations }
        })
        .collect()
}

/// Of two positions, each holds the smaller sample as often as the other.
fn pair_order(source: &impl Source, samples: u64) -> Vec<Finding> {
    let seeds = 8_000;
    // Pairs within a row of the grid, within a column, and across.
    let root = samples.isqrt();
    [(0, 1), (0, root), (samples / 2, samples / 2 + 1), (1, samples - 1), (root, 2 * root + 1)]
        .map(|(i, j)| {
            let smaller = (0..seeds)
                .filter(|&seed| {
                    let order = source(samples, seed, 3);
                    order(i) < order(j)
                })
                .count();
            let deviations = (smaller as f64 - seeds as f64 / 2.0) / (seeds as f64 / 4.0).sqrt();
            Finding { kind: "pair order", of: format!("{samples} samples, positions {i} and {j}"), deviations }
        })
        .into()
}

/// The next seed and the next epoch have nothing to do with this one, nor with each other.
fn neighbours(source: &impl Source, samples: u64) -> Vec<Finding> {
    let run = samples.min(2_000);
    let seeds = 200_000 / run as i64;
    [("next seed", [(0, 0), (1, 0)]), ("next epoch", [(0, 0), (0, 1)]), ("seed and epoch", [(1, 0), (0, 1)])]
        .map(|(name, [one, other])| {
            let mean = (0..seeds)
                .map(|seed| {
                    let of = |(more, epoch): (i64, u64)| source(samples, 2 * seed + more, epoch);
                    let (one, other) = (of(one), of(other));
                    correlation((0..run).map(|position| (one(position), other(position))))
                })
                .sum::<f64>()
                / seeds as f64;
            let deviations = mean * (run as f64 * seeds as f64).sqrt();
            Finding { kind: "neighbours", of: format!("{samples} samples, {name}: {mean:.5}"), deviations }
        })
        .into()
}

/// The step from one sample to the next is any step: its size modulo the number of samples is uniform.
fn differences(source: &impl Source, samples: u64) -> Finding {
    let run = samples.min(20_001);
    let seeds = 200_000 / (run - 1) as i64;
    // A step of 0 does not occur.
    let steps = samples - 1;
    let cells = steps.min(64);
    let mut counts = vec![0; cells as usize];
    for seed in 0..seeds {
        let order = source(samples, seed, 5);
        let mut last = order(0);
        for position in 1..run {
            let next = order(position);
            counts[cell((next + samples - last) % samples - 1, steps, cells)] += 1;
            last = next;
        }
    }
    let total = (seeds * (run - 1) as i64) as f64;
    let statistic = chi_square(&counts, |i| total * share(i, steps, cells));
    chi("differences", format!("{samples} samples"), statistic, counts.len() - 1)
}

/// The number of samples that are at their own position is Poisson(1) over seeds.
fn fixed_points(source: &impl Source, samples: u64) -> Finding {
    let seeds = 4_000;
    let mut counts = vec![0; 7];
    for seed in 0..seeds {
        let order = source(samples, seed, 11);
        let fixed = (0..samples).filter(|&position| order(position) == position).count();
        counts[fixed.min(6)] += 1;
    }
    let mut probabilities = [0.0; 7];
    let mut probability = (-1.0_f64).exp();
    for (k, place) in probabilities.iter_mut().take(6).enumerate() {
        *place = probability;
        probability /= k as f64 + 1.0;
    }
    probabilities[6] = 1.0 - probabilities.iter().sum::<f64>();
    let statistic = chi_square(&counts, |i| seeds as f64 * probabilities[i]);
    chi("fixed points", format!("{samples} samples"), statistic, 6)
}

/// Where in the dataset a sample lies says nothing of where in the epoch it is seen: neither by size, nor by remainder.
fn tables(source: &impl Source, samples: u64) -> Vec<Finding> {
    const SIDE: u64 = 16;
    let run = samples.min(200_000);
    let spread = samples / run;
    let seeds = 200_000 / run as i64;
    let total = (run as i64 * seeds) as f64;
    let mut by_size = vec![0; (SIDE * SIDE) as usize];
    let mut by_remainder = by_size.clone();
    for seed in 0..seeds {
        let order = source(samples, seed, 13);
        for i in 0..run {
            let sample = order(i * spread);
            by_size[cell(i, run, SIDE) * SIDE as usize + cell(sample, samples, SIDE)] += 1;
            by_remainder[(i % SIDE * SIDE + sample % SIDE) as usize] += 1;
        }
    }
    // In a whole permutation the margins are fixed, which takes 2 SIDE - 1 degrees of freedom; a part leaves some.
    [("size", by_size), ("remainder", by_remainder)]
        .map(|(name, counts)| {
            let margin = |line: &dyn Fn(usize) -> usize, at: usize| -> f64 {
                (0..counts.len()).filter(|&i| line(i) == at).map(|i| counts[i] as f64).sum()
            };
            let (row, column) = (|i: usize| i / SIDE as usize, |i: usize| i % SIDE as usize);
            let rows: Vec<_> = (0..SIDE as usize).map(|at| margin(&row, at)).collect();
            let columns: Vec<_> = (0..SIDE as usize).map(|at| margin(&column, at)).collect();
            let statistic = chi_square(&counts, |i| rows[row(i)] * columns[column(i)] / total);
            chi("tables", format!("{samples} samples, by {name}"), statistic, ((SIDE - 1) * (SIDE - 1)) as usize)
        })
        .into()
}

fn chi(kind: &'static str, of: String, statistic: f64, freedom: usize) -> Finding {
    Finding { kind, of, deviations: deviations_of_chi_square(statistic, freedom) }
}

/// Which of `cells` even parts of [0, end) a value lies in.
fn cell(value: u64, end: u64, cells: u64) -> usize {
    (u128::from(value) * u128::from(cells) / u128::from(end)) as usize
}

/// The share of [0, end) that a part has.
fn share(i: usize, end: u64, cells: u64) -> f64 {
    let start = |i: u64| (u128::from(i) * u128::from(end)).div_ceil(u128::from(cells)) as f64;
    (start(i as u64 + 1) - start(i as u64)) / end as f64
}
