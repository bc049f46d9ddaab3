//! Batches of readers and their steps, the rows of rounds, and what lanes cost.

use crate::cases::forms::ReadOptions;
use matrix::format::{Case, ReadCall, S64, U64};

use super::{REMAINDERS, Script, by_samples, by_shards, chain, grouped, name, stored};

const SIZES: [u64; 6] = [13, 5, 0, 21, 9, 16];

pub fn cases() -> Vec<Case> {
    [whole(), rests(), long_rounds(), lanes(), refused(), suggested()].concat()
}

impl Script {
    /// Asks for every batch, by its number and by its step, and for the rows of every round.
    fn batches(&mut self) {
        let (world, workers) = self.group;
        for step in [0, 1, 4, 1 << 40] {
            for (first, count) in [(0, world), (1, 1), (0, world + 1), (world, 0)] {
                self.ask([ReadCall::Step { step: U64(step), first, count }]);
            }
        }
        for rank in 0..world {
            let steps = self.number(ReadCall::NumSteps { rank });
            self.ask((0..=steps).map(|step| ReadCall::BatchAt { rank, step: U64(step) }));
            for worker in 0..workers {
                let count = self.number(ReadCall::NumBatches { rank, worker });
                self.ask((0..=count).map(|number| ReadCall::Batch { rank, worker, number: U64(number) }));
                let rounds = self.number(ReadCall::NumRounds { rank, worker });
                for number in (0..rounds).map(U64) {
                    let count = self.samples_of(rank, worker, number);
                    let rows = |start, count| ReadCall::RoundRows { rank, worker, number, start: U64(start), count };
                    self.ask([rows(0, count as u32)]);
                    self.ask((count > 2).then(|| rows(count / 2, (count / 2) as u32)));
                }
            }
        }
    }

    /// The number of samples of a round.
    fn samples_of(&mut self, rank: u32, worker: u32, number: U64) -> u64 {
        let round = self.answer(ReadCall::Round { rank, worker, number });
        round["count"].as_str().and_then(|text| text.parse().ok()).expect("a number")
    }
}

fn kinds() -> Vec<ReadOptions> {
    let mut kinds = Vec::new();
    for remainder in REMAINDERS {
        for options in [by_samples(), stored()] {
            kinds.push(ReadOptions { remainder: Some(remainder.into()), ..options });
        }
    }
    kinds.push(ReadOptions { drop_last: Some(true), ..by_samples() });
    kinds.push(by_shards());
    kinds.push(ReadOptions { drop_last: Some(true), ..by_shards() });
    kinds.push(ReadOptions { shuffle: Some(false), ..by_shards() });
    kinds
}

/// Batches of whole epochs.
fn whole() -> Vec<Case> {
    let mut cases = Vec::new();
    for options in kinds() {
        for group in [(1, 1, 16), (2, 3, 4), (3, 4, 2)] {
            let options = grouped(options.clone(), group);
            let mut script = Script::new(&SIZES, &options);
            script.ask([ReadCall::Recipe, ReadCall::ReadsPerRow, ReadCall::LanesReadOnce, ReadCall::MixingAdvice]);
            script.batches();
            cases.push(script.case(&format!("batches: {}", name(&options))));
        }
    }
    cases
}

/// Batches of what torn turns leave, for the same group and for another one.
fn rests() -> Vec<Case> {
    let mut cases = Vec::new();
    for options in kinds() {
        for (group, next, steps) in [((2, 3, 2), (2, 3, 2), 4), ((2, 3, 2), (3, 2, 3), 2), ((1, 4, 3), (1, 4, 3), 3)] {
            let text = chain(&SIZES, &options, 3, &[(group, steps)]);
            let options = grouped(options.clone(), next);
            let mut script = Script::new(&SIZES, &options);
            script.ask([ReadCall::Resume { state: text }]);
            script.ask([ReadCall::Recipe, ReadCall::ReadsPerRow, ReadCall::LanesReadOnce, ReadCall::MixingAdvice]);
            script.batches();
            cases.push(script.case(&format!("batches after {steps} steps of {group:?}: {}", name(&options))));
        }
    }
    cases
}

/// Parts of the rows of long rounds.
fn long_rounds() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, options) in [
        ("windows of 64 lanes", ReadOptions { seed: Some(S64(7)), ..ReadOptions::default() }),
        ("stored samples", stored()),
        ("shards", by_shards()),
        ("shards as they are stored", ReadOptions { shuffle_rows: Some(false), ..by_shards() }),
    ] {
        let sizes = [1 << 40, 70_000, 1 << 30];
        let options = grouped(options, (2, 2, 1_000));
        let mut script = Script::new(&sizes, &options);
        for (number, start) in [(0, 0), (0, 500), (1, 900), (2, 7)] {
            let rows =
                |count| ReadCall::RoundRows { rank: 1, worker: 1, number: U64(number), start: U64(start), count };
            script.ask([rows(40)]);
        }
        script.ask([0, 1, 1 << 20, 1 << 29].map(|number| ReadCall::Batch { rank: 0, worker: 1, number: U64(number) }));
        script.ask([0, 1, 1 << 20, 1 << 30].map(|step| ReadCall::BatchAt { rank: 0, step: U64(step) }));
        cases.push(script.case(&format!("parts of long rounds: {kind}")));
    }
    cases
}

/// The cost of lanes for groups of many sizes.
fn lanes() -> Vec<Case> {
    let mut cases = Vec::new();
    for (lanes, window) in [(64, 256), (1, 1), (5, 1 << 20), (4_096, 3), (100, 7)] {
        for (group, samples) in [
            ((1, 1, 1), 1_000),
            ((2, 4, 32), 1 << 20),
            ((3, 1, 200), 1 << 20),
            ((5, 8, 256), 1 << 20),
            ((64, 1, 4_096), 1 << 40),
            ((1_000, 4, 64), 1 << 40),
            ((4_096, 1, 100), 1 << 40),
            ((4_097, 1, 100), 1 << 40),
            ((2, 1, u32::MAX), 1 << 40),
            ((8, 1, 65), 8 * 65),
            ((8, 1, 65), 8 * 66),
        ] {
            let options = ReadOptions { lanes: Some(lanes), window: Some(window), ..ReadOptions::default() };
            let mut script = Script::new(&[samples], &grouped(options, group));
            script.ask([ReadCall::ReadsPerRow, ReadCall::LanesReadOnce, ReadCall::MixingAdvice]);
            cases.push(script.case(&format!("{lanes} lanes of {window}, {group:?} of {samples} samples")));
        }
    }
    cases
}

/// Calls that fail.
fn refused() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, options) in [("samples", by_samples()), ("stored samples", stored()), ("shards", by_shards())] {
        let mut script = Script::new(&SIZES, &grouped(options, (2, 3, 4)));
        for (rank, worker) in [(2, 0), (0, 3), (9, 9), (u32::MAX, u32::MAX)] {
            script.ask([
                ReadCall::NumBatches { rank, worker },
                ReadCall::Batch { rank, worker, number: U64(0) },
                ReadCall::BatchAt { rank, step: U64(u64::from(worker)) },
                ReadCall::RoundRows { rank, worker, number: U64(0), start: U64(0), count: 0 },
            ]);
        }
        let (rank, worker) = (1, 2);
        script.ask([u64::MAX, 1 << 53].map(|number| ReadCall::Batch { rank, worker, number: U64(number) }));
        script.ask([u64::MAX, 1 << 53].map(|step| ReadCall::BatchAt { rank, step: U64(step) }));
        for (number, start, count) in
            [(u64::MAX, 0, 0), (99, 0, 1), (0, u64::MAX, 0), (0, 99, 1), (0, 0, u32::MAX), (0, 1, 1 << 20)]
        {
            script.ask([ReadCall::RoundRows { rank, worker, number: U64(number), start: U64(start), count }]);
        }
        cases.push(script.case(&format!("batches that are refused: {kind}")));
    }
    for options in [by_samples(), by_shards()] {
        let mut script = Script::new(&[0, 0], &grouped(options.clone(), (1, 2, 4)));
        script.batches();
        script.ask([ReadCall::LanesReadOnce, ReadCall::MixingAdvice]);
        cases.push(script.case(&format!("no batches: {}", name(&options))));
    }
    cases
}

/// Lanes to begin a run with, for files, readers and batches of many sizes.
fn suggested() -> Vec<Case> {
    let mut cases = Vec::new();
    for samples in [0, 400_000, 1_000_000_000, (1 << 53) - 1] {
        for batch in [1, 2, 63, 257, 4_096, u32::MAX] {
            let options = ReadOptions { batch_size: Some(batch), ..ReadOptions::default() };
            let mut script = Script::new(&[samples], &options);
            for readers in [1, 2, 3, 63, 64, 65, 513, 1 << 15, 1 << 16] {
                for group_rows in [1, 2_000] {
                    script.ask([suggest(group_rows, readers, &[])]);
                }
            }
            cases.push(script.case(&format!("lanes for {samples} samples in batches of {batch}")));
        }
    }
    // A lane gets its least number of row groups, and one less.
    let mut script = Script::new(&[8_192], &grouped(ReadOptions::default(), (1, 1, 64)));
    for readers in [1, 4, 32, 64] {
        for group_rows in [1, 31, 32, 33, 8_191, 8_192, 8_193, (1 << 53) - 1] {
            script.ask([suggest(group_rows, readers, &[])]);
        }
    }
    for (group_rows, readers) in [(0, 1), (1, 0), (1, (1 << 16) + 1), (1, u32::MAX), (0, 0)] {
        script.ask([suggest(group_rows, readers, &[])]);
    }
    cases.push(script.case("lanes at the ends of ranges"));
    for (kind, options) in [("stored samples", stored()), ("shards", by_shards()), ("another batch", by_samples())] {
        let group = (2, 2, 3);
        let text = chain(&SIZES, &options, 3, &[(group, 2)]);
        let mut script = Script::new(&SIZES, &grouped(options, group));
        let call = || suggest(1, 4, &[]);
        script.ask([call(), ReadCall::Resume { state: text }, call()]);
        cases.push(script.case(&format!("lanes for the same samples in the rest of an epoch: {kind}")));
    }
    // With 4 readers, batches of 64 and row groups of one row, the lanes are 128 = 4 x 32 if nothing else is asked for.
    let options = ReadOptions { batch_size: Some(64), ..ReadOptions::default() };
    let mut script = Script::new(&[1 << 20], &options);
    for multiples in [
        &[][..],
        &[0],
        &[128],
        &[124],
        &[4],
        &[1 << 20, 0, 3_000],
        &[720, 1_200],
        &[720, 1_200, 0, 720],
        // No multiple of the readers divides these, or only one above the lanes.
        &[1],
        &[6],
        &[720, 721],
        &[2],
        // The greatest numbers: an odd one, which 4 does not divide, and two that 20 and 16 divide.
        &[(1 << 53) - 1],
        &[((1 << 53) - 1) / 20 * 20],
        &[((1 << 53) - 1) / 508 * 508],
    ] {
        script.ask([suggest(1, 4, multiples)]);
    }
    // Lanes that row groups, the limit of a reader, and the most lanes keep low; and readers of every kind.
    for (group_rows, readers, multiples) in [
        (8_000, 4, &[1 << 20, 240][..]),
        (1 << 20, 4, &[1 << 20]),
        (1 << 20, 3, &[1 << 20]),
        (1, 1, &[37]),
        (1, 1, &[31 * 29]),
        (1, 1, &[64 * 63 * 61, 61 * 7]),
        (1, 63, &[63 * 64]),
        (1, 1 << 15, &[1 << 20]),
        (1, 1 << 16, &[1 << 20, 1 << 16]),
        (1, 1 << 16, &[1 << 15]),
        (0, 4, &[8]),
        (1, 0, &[8]),
        (1, (1 << 16) + 1, &[8]),
    ] {
        script.ask([suggest(group_rows, readers, multiples)]);
    }
    cases.push(script.case("lanes that divide numbers"));
    // The window gets larger and the variance grows if the lanes of a reader become fewer.
    let options = ReadOptions { batch_size: Some(300), ..ReadOptions::default() };
    let mut script = Script::new(&[1 << 30], &options);
    for multiple in (100..=132).map(|own| 7 * own).chain([7, 49, 7 * 127 * 131]) {
        script.ask([suggest(1, 7, &[multiple])]);
    }
    cases.push(script.case("lanes that divide numbers, with other windows"));
    cases
}

fn suggest(group_rows: u64, readers: u32, multiples: &[u64]) -> ReadCall {
    let multiples = multiples.iter().copied().map(U64).collect();
    ReadCall::SuggestedLanes { group_rows: U64(group_rows), readers, multiples }
}
