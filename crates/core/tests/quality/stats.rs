//! The statistics of the battery. Floating point is fine here: nothing of it defines a value.

/// How many standard deviations a statistic may be away from what it is expected to be.
pub const DEVIATIONS: f64 = 5.0;

/// Pearson's statistic of counts that are expected to be `expected`.
pub fn chi_square(counts: &[u64], expected: impl Fn(usize) -> f64) -> f64 {
    counts.iter().enumerate().map(|(i, &count)| (count as f64 - expected(i)).powi(2) / expected(i)).sum()
}

/// A chi-square statistic in standard deviations from its mean (Wilson and Hilferty 1931).
pub fn deviations_of_chi_square(statistic: f64, freedom: usize) -> f64 {
    let k = 2.0 / (9.0 * freedom as f64);
    ((statistic / freedom as f64).cbrt() - (1.0 - k)) / k.sqrt()
}

/// Correlation of pairs.
pub fn correlation(pairs: impl Iterator<Item = (u64, u64)> + Clone) -> f64 {
    let count = pairs.clone().count() as f64;
    let (sum_x, sum_y) = pairs.clone().fold((0.0, 0.0), |(x, y), pair| (x + pair.0 as f64, y + pair.1 as f64));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (x, y) = (x as f64 - mean_x, y as f64 - mean_y);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    xy / (xx * yy).sqrt()
}
