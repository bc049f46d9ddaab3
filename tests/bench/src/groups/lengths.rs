//! Lengths for measurements of batches: those of a real corpus, and log-normal ones. `lengths.py` draws the same
//! lengths.

use std::f64::consts::TAU;

use serde_json::Value;

use crate::Result;

const MEAN: f64 = 600.0;
const DEVIATION: f64 = 700.0;
const KJV: &str = include_str!("../../data/kjv-lengths.json");

/// Words of the verses of the King James Bible.
pub fn verses() -> Result<Vec<u32>> {
    let data: Value = serde_json::from_str(KJV)?;
    let words = data["words"].as_array().ok_or("no words")?;
    Ok(words.iter().filter_map(Value::as_u64).map(|count| count as u32).collect())
}

/// Lengths with a mean of 600 and a standard deviation of 700 before they are cut at `most`.
pub fn log_normal(count: u64, most: u32) -> Vec<u32> {
    let variance = (DEVIATION / MEAN).powi(2).ln_1p();
    let draw = |sample| {
        // The Box-Muller transform.
        let normal = (-2.0 * uniform(2 * sample).ln()).sqrt() * (TAU * uniform(2 * sample + 1)).cos();
        let drawn = (MEAN.ln() - variance / 2.0 + variance.sqrt() * normal).exp();
        (drawn.round_ties_even() as u32).clamp(1, most)
    };
    (0..count).map(draw).collect()
}

/// `distinct` different lengths: half of them near half of the capacity, the others near a third.
pub fn dense(distinct: u64, count: u64, capacity: u32) -> Vec<u32> {
    let size = |place: u64| {
        let spread = (uniform(2 * place) * f64::from(capacity / 8)) as u32;
        capacity / (2 + place as u32 % 2) - capacity / 16 + spread
    };
    (0..count).map(|sample| size((uniform(2 * sample + 1) * distinct as f64) as u64)).collect()
}

/// `count` lengths of 1 to `distinct`, all equally likely.
pub fn even(distinct: u32, count: u64) -> Vec<u32> {
    (0..count).map(|sample| 1 + (uniform(sample) * f64::from(distinct)) as u32).collect()
}

/// A number above 0 and below 1 (SplitMix64).
fn uniform(place: u64) -> f64 {
    let state = (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (((state ^ (state >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}
