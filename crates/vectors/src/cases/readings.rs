//! Readings of all loader workers: whole epochs, the rest after torn turns, chains of groups, states, and every
//! failure.

use crate::cases::forms::{Native, ReadOptions, Reading, Subject};
use matrix::format::{Call, Case, ReadCall, S64, U64};

use super::{EPOCHS, MAX_COUNT, MAX_EXACT, SEEDS, asked, numbers};

mod batches;
mod dense;
mod large;
mod refused;
mod rest;
mod texts;

const REMAINDERS: [&str; 3] = ["pad", "drop", "uneven"];

pub fn cases() -> Vec<Case> {
    [
        shapes(),
        defaults(),
        epochs(),
        rest::same_group(),
        rest::other_groups(),
        rest::chains(),
        dense::chains(),
        rest::weights(),
        texts::cases(),
        large::cases(),
        batches::cases(),
        refused::options(),
        refused::calls(),
        refused::states(),
    ]
    .concat()
}

/// Datasets of several shapes for groups of several sizes, with both deals.
fn shapes() -> Vec<Case> {
    let datasets: [(&str, &[u64]); 6] = [
        ("shards of several sizes", &[13, 5, 0, 21, 9, 16]),
        ("equal shards", &[8; 6]),
        ("one shard", &[50]),
        ("fewer samples than readers", &[1, 2]),
        ("empty shards alone", &[0, 0, 0]),
        ("no shards", &[]),
    ];
    let mut cases = Vec::new();
    for (shape, sizes) in datasets {
        for (nth, (world, workers, batch)) in [(1, 1, 4), (2, 2, 3), (3, 1, 16), (2, 4, 1)].into_iter().enumerate() {
            for (of, options) in [by_samples(), stored(), by_shards()].into_iter().enumerate() {
                let remainder = REMAINDERS[(nth + of) % 3];
                let dealt_samples = !options.of_shards;
                let options = ReadOptions {
                    remainder: dealt_samples.then(|| remainder.into()),
                    drop_last: Some(nth % 2 == 1),
                    ..grouped(options, (world, workers, batch))
                };
                let mut script = Script::new(sizes, &options);
                script.everything();
                cases.push(script.case(&format!("{shape}: {}", name(&options))));
            }
        }
    }
    cases
}

/// Readings without options, and with single options.
fn defaults() -> Vec<Case> {
    let all = [
        ("no option at all", ReadOptions::default()),
        ("whole shards and no other option", ReadOptions { of_shards: true, ..ReadOptions::default() }),
        ("stored order and no other option", ReadOptions { shuffle: Some(false), ..ReadOptions::default() }),
        ("a window alone", ReadOptions { window: Some(2), ..ReadOptions::default() }),
        ("lanes alone", ReadOptions { lanes: Some(2), ..ReadOptions::default() }),
    ];
    let mut cases = Vec::new();
    for (name, options) in all {
        let mut script = Script::new(&[7, 0, 11], &options);
        script.everything();
        script.ask([ReadCall::State { steps: U64(0) }, ReadCall::State { steps: U64(1) }]);
        cases.push(script.case(name));
    }
    for (rows, reshuffle, shuffle) in
        [(true, false, false), (false, false, true), (true, true, true), (false, true, false), (false, true, true)]
    {
        let options = ReadOptions {
            shuffle: Some(shuffle),
            shuffle_rows: Some(rows),
            reshuffle: Some(reshuffle),
            ..grouped(by_shards(), (2, 1, 4))
        };
        let mut script = Script::new(&[7, 3, 11, 6, 2, 9], &options);
        script.everything();
        cases.push(script.case(&format!("shuffle {shuffle}, rows {rows}, reshuffle {reshuffle}")));
    }
    for policy in ["size-aware", "round-robin"] {
        for worker_policy in ["size-aware", "round-robin"] {
            let options = ReadOptions {
                policy: Some(policy.into()),
                worker_policy: Some(worker_policy.into()),
                ..grouped(by_shards(), (2, 2, 4))
            };
            let mut script = Script::new(&[7, 3, 11, 6, 2, 9, 1, 30], &options);
            script.everything();
            cases.push(script.case(&format!("{policy} to ranks, {worker_policy} to workers")));
        }
    }
    cases
}

/// Seeds and epochs.
fn epochs() -> Vec<Case> {
    let mut cases = Vec::new();
    for (nth, seed) in SEEDS.into_iter().enumerate() {
        for options in [by_samples(), by_shards(), stored()] {
            let options = ReadOptions { seed: Some(S64(seed)), ..grouped(options, (2, 1, 5)) };
            let mut script = Script::new(&[12, 3, 9, 8], &options);
            for epoch in [EPOCHS[nth % 4], EPOCHS[(nth + 1) % 4]] {
                script.ask([ReadCall::AtEpoch { epoch: U64(epoch) }, ReadCall::Epoch]);
                script.readers([(0, 0), (1, 0)]);
                script.ask([ReadCall::State { steps: U64(1) }]);
            }
            cases.push(script.case(&format!("seed {seed}: {}", name(&options))));
        }
    }
    cases
}

/// A case that is written call by call, with an engine that has answered the calls so far.
struct Script {
    subject: Subject,
    engine: Native,
    group: (u32, u32),
    of_shards: bool,
    calls: Vec<Call>,
}

impl Script {
    fn new(sizes: &[u64], options: &ReadOptions) -> Self {
        let subject = subject(sizes, options);
        let engine = Native::create(&subject).expect("a reading");
        let group = (options.world_size.unwrap_or(1), options.workers.unwrap_or(1));
        let of_shards = options.of_shards;
        Self { subject, engine, group, of_shards, calls: Vec::new() }
    }

    fn ask(&mut self, calls: impl IntoIterator<Item = ReadCall>) {
        for call in calls {
            let call = Call::Reading(call);
            // A call that fails leaves the reading as it was.
            drop(self.engine.call(&call));
            self.calls.push(call);
        }
    }

    fn answer(&mut self, call: ReadCall) -> serde_json::Value {
        let answer = self.engine.call(&Call::Reading(call.clone())).expect("an answer");
        self.calls.push(Call::Reading(call));
        answer
    }

    fn number(&mut self, call: ReadCall) -> u64 {
        let answer = self.answer(call);
        answer.as_str().and_then(|text| text.parse().ok()).expect("a number")
    }

    /// The largest number of steps of a rank.
    fn most(&mut self) -> u64 {
        let steps = self.engine.call(&Call::Reading(ReadCall::StepBounds)).expect("the steps");
        steps["max"].as_str().and_then(|text| text.parse().ok()).expect("a number")
    }

    /// Asks everything about every reader of a small group.
    fn everything(&mut self) {
        let (world, workers) = self.group;
        self.ask([ReadCall::Epoch, ReadCall::IsRest, ReadCall::StepBounds, ReadCall::NumIdleReaders]);
        self.ask((0..world).map(|rank| ReadCall::NumSteps { rank }));
        self.readers((0..world).flat_map(|rank| (0..workers).map(move |worker| (rank, worker))));
    }

    /// Asks everything about these readers.
    fn readers(&mut self, readers: impl IntoIterator<Item = (u32, u32)>) {
        for (rank, worker) in readers {
            let count = self.number(ReadCall::NumSamples { rank, worker });
            self.ask([
                ReadCall::NumPadding { rank, worker },
                ReadCall::Indices { rank, worker, start: U64(0), count: count as u32 },
            ]);
            if count > 4 {
                self.ask([ReadCall::Indices { rank, worker, start: U64(count / 2), count: (count / 3) as u32 }]);
            }
            let rounds = self.number(ReadCall::NumRounds { rank, worker });
            self.ask((0..rounds).map(|number| ReadCall::Round { rank, worker, number: U64(number) }));
            let mut indices = vec![0, count / 2, count.saturating_sub(1)];
            indices.dedup();
            indices.retain(|&index| index < count);
            self.ask(indices.into_iter().map(|index| ReadCall::RoundOf { rank, worker, index: U64(index) }));
            if self.of_shards {
                self.ask([ReadCall::Shards { rank, worker }]);
            }
        }
    }

    fn case(self, name: &str) -> Case {
        asked(name, self.subject, self.calls)
    }
}

fn subject(sizes: &[u64], options: &ReadOptions) -> Subject {
    Subject::Reading(Reading { sizes: numbers(sizes), options: options.clone() })
}

/// Options of a reading that deals samples, shuffled in a few lanes.
fn by_samples() -> ReadOptions {
    ReadOptions { seed: Some(S64(7)), lanes: Some(4), window: Some(4), ..ReadOptions::default() }
}

/// Options of a reading that deals samples as they are stored.
fn stored() -> ReadOptions {
    ReadOptions { shuffle: Some(false), ..ReadOptions::default() }
}

fn by_shards() -> ReadOptions {
    ReadOptions { seed: Some(S64(7)), of_shards: true, ..ReadOptions::default() }
}

/// These options, with a world size, workers for each rank, and a batch size.
fn grouped(options: ReadOptions, (world_size, workers, batch_size): (u32, u32, u32)) -> ReadOptions {
    ReadOptions { world_size: Some(world_size), workers: Some(workers), batch_size: Some(batch_size), ..options }
}

fn name(options: &ReadOptions) -> String {
    let ReadOptions { of_shards, shuffle, remainder, world_size, workers, batch_size, drop_last, .. } = options;
    let deal = if *of_shards { "shards" } else { "samples" };
    let order = if shuffle.unwrap_or(true) { "shuffled" } else { "stored" };
    let remainder = remainder.as_deref().map_or(String::new(), |remainder| format!(" {remainder}"));
    let drop_last = if drop_last.unwrap_or(false) { ", full batches" } else { "" };
    let [world, workers, batch] = [world_size, workers, batch_size].map(|number| number.unwrap_or(1));
    format!("{deal} {order}{remainder}, {world} ranks of {workers} workers, batches of {batch}{drop_last}")
}

/// The state after a group has taken its steps.
fn state(engine: &mut Native, steps: u64) -> String {
    let text = engine.call(&Call::Reading(ReadCall::State { steps: U64(steps) })).expect("a state");
    text.as_str().map(String::from).expect("a text")
}

/// The state after several groups have taken their steps, one group after the other.
fn chain(sizes: &[u64], options: &ReadOptions, epoch: u64, groups: &[((u32, u32, u32), u64)]) -> String {
    let mut last: Option<String> = None;
    for &(group, steps) in groups {
        let mut engine = Native::create(&subject(sizes, &grouped(options.clone(), group))).expect("a reading");
        let call = match last {
            None => ReadCall::AtEpoch { epoch: U64(epoch) },
            Some(state) => ReadCall::Resume { state },
        };
        engine.call(&Call::Reading(call)).expect("a state of this reading");
        last = Some(state(&mut engine, steps));
    }
    last.expect("a state")
}
