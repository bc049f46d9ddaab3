//! The similarity of consecutive batches. If it is high, the order that a model sees is not random.

use samedeal::Batcher;

use crate::write::Problem;

/// The Pearson correlation between the mean lengths of consecutive batches of rank 0; none if there are fewer than
/// three batches, or all means are equal. Batches without samples are passed over.
pub fn correlation(batcher: &Batcher) -> Result<Option<f64>, Problem> {
    let mut means = Vec::new();
    for batch in batcher.batches_of(0, ..)? {
        let lengths = batch?.lengths;
        if !lengths.is_empty() {
            means.push(lengths.iter().map(|&length| f64::from(length)).sum::<f64>() / lengths.len() as f64);
        }
    }
    Ok(if means.len() < 3 { None } else { pearson(&means[..means.len() - 1], &means[1..]) })
}

fn pearson(xs: &[f64], ys: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(xs), mean(ys));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        let (x, y) = (x - x_mean, y - y_mean);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    // Equal values have a variance of rounding errors, which counts as 0.
    let least = 1e-12 * xs.len() as f64 * (1.0 + x_mean * x_mean);
    (xx > least && yy > least).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_correlated_as_they_should_be() {
        let of = |means: &[f64]| pearson(&means[..means.len() - 1], &means[1..]);
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0, 1.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(of(&[0.1; 1000]), None);
        let found = of(&[1.0, 3.0, 2.0, 4.0]).unwrap();
        // x = 1, 3, 2 and y = 3, 2, 4.
        assert!((found - -0.5).abs() < 1e-12, "{found}");
    }
}
