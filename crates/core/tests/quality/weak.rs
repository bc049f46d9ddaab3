//! Orders with known faults.

use crate::battery::Source;

type Sample = Box<dyn Fn(u64) -> u64>;

/// A multiplication: a bijection, evenly spread, without any disorder, and sample 0 always first.
pub fn affine(samples: u64, seed: i64, epoch: u64) -> Sample {
    let mut factor = (hash(seed, epoch, 0) % samples) | 1;
    while gcd(factor, samples) != 1 {
        factor += 2;
    }
    Box::new(move |position| (u128::from(position) * u128::from(factor) % u128::from(samples)) as u64)
}

/// A Feistel network with a good round function and too few rounds, without the care for few samples.
pub fn rounds(count: u64) -> impl Source {
    move |samples, seed, epoch| {
        let root = samples.isqrt();
        let rows = root + u64::from(root * root < samples);
        let columns = samples.div_ceil(rows);
        Box::new(move |position| {
            let mut cell = position;
            loop {
                let (mut row, mut column) = (cell / columns, cell % columns);
                for round in 0..count {
                    let key = hash(seed, epoch, round) as i64;
                    if round % 2 == 0 {
                        row = (row + hash(key, column, 2) % rows) % rows;
                    } else {
                        column = (column + hash(key, row, 2) % columns) % columns;
                    }
                }
                cell = row * columns + column;
                if cell < samples {
                    return cell;
                }
            }
        }) as Sample
    }
}

/// A good order whose seed and epoch are added, so that the next seed is the next epoch.
pub fn adding(good: impl Source) -> impl Source {
    move |samples, seed: i64, epoch| good(samples, seed.wrapping_add(epoch as i64), 0)
}

/// SplitMix64 over three numbers.
fn hash(a: i64, b: u64, c: u64) -> u64 {
    let mut z = (a as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for part in [b, c] {
        z = z.wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
    }
    z
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
