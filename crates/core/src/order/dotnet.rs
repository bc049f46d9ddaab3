//! `dotnet`: the shuffle `for (i = n - 1; i > 0; i--) { j = random.Next(0, i + 1); swap }` with
//! `new System.Random(seed + epoch)`. All versions of .NET have the same generator for a seed: the subtractive one of
//! Knuth (The Art of Computer Programming, volume 2, 3.2.2) in 32-bit integers. Its lag is 21 instead of Knuth's 31,
//! which .NET keeps for compatibility.

use super::table::Table;
use crate::base::Failure;

pub(super) fn order(samples: u32, seed: i64, epoch: u64) -> Result<Table, Failure> {
    let mut random = Random::new((seed as i32).wrapping_add(epoch as i32));
    Table::new(samples, |values| {
        for i in (1..values.len()).rev() {
            values.swap(i, random.below(i as i32 + 1) as usize);
        }
    })
}

struct Random {
    /// The state of the generator, numbered from 1 as in the original: element 0 is unused.
    seeds: [i32; 56],
    next: usize,
    next_p: usize,
}

impl Random {
    fn new(seed: i32) -> Self {
        let mut seeds = [0_i32; 56];
        let mut mj = 161_803_398_i32.wrapping_sub(seed.checked_abs().unwrap_or(i32::MAX));
        let mut mk = 1_i32;
        seeds[55] = mj;
        for i in 1..55 {
            let ii = 21 * i % 55;
            seeds[ii] = mk;
            mk = wrap(mj.wrapping_sub(mk));
            mj = seeds[ii];
        }
        for _ in 0..4 {
            for i in 1..56 {
                seeds[i] = wrap(seeds[i].wrapping_sub(seeds[1 + (i + 30) % 55]));
            }
        }
        Self { seeds, next: 0, next_p: 21 }
    }

    fn sample(&mut self) -> i32 {
        self.next = self.next % 55 + 1;
        self.next_p = self.next_p % 55 + 1;
        let mut draw = self.seeds[self.next].wrapping_sub(self.seeds[self.next_p]);
        if draw == i32::MAX {
            draw -= 1;
        }
        self.seeds[self.next] = wrap(draw);
        self.seeds[self.next]
    }

    /// `Next(0, bound)` of .NET. No other definition in this crate uses floating point. The few operations here are in
    /// IEEE 754 double precision, which every engine rounds in the same way.
    fn below(&mut self, bound: i32) -> i32 {
        (f64::from(self.sample()) * (1.0 / f64::from(i32::MAX)) * f64::from(bound)) as i32
    }
}

fn wrap(value: i32) -> i32 {
    if value < 0 { value.wrapping_add(i32::MAX) } else { value }
}
