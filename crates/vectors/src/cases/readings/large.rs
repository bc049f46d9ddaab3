//! Large groups and datasets. A case asks only for a part of them.

use crate::cases::forms::ReadOptions;
use matrix::format::{Case, ReadCall, U64};

use super::{MAX_EXACT, Script, by_samples, by_shards, chain, grouped, stored};
use crate::cases::plans::sizes;

pub fn cases() -> Vec<Case> {
    [many_ranks(), many_samples(), rounds(), vec![large_windows()]].concat()
}

fn many_ranks() -> Vec<Case> {
    let mut cases = Vec::new();
    let few = sizes(40, 3, 200);
    let many = sizes(3_000, 4, 60);
    for (name, options, sizes) in [
        ("samples", ReadOptions { lanes: Some(1_024), ..by_samples() }, &few),
        ("stored samples", stored(), &few),
        ("shards", by_shards(), &many),
        ("fewer shards than ranks", by_shards(), &few),
    ] {
        let text = chain(sizes, &options, 2, &[((1_024, 2, 1), 1), ((512, 3, 1), 2)]);
        let mut script = Script::new(sizes, &grouped(options, (1_024, 2, 1)));
        for resumed in [false, true] {
            script.ask(resumed.then(|| ReadCall::Resume { state: text.clone() }));
            script.ask([ReadCall::StepBounds, ReadCall::NumIdleReaders, ReadCall::NumSteps { rank: 1_023 }]);
            script.readers([(0, 0), (1_023, 0), (511, 1), (1_023, 1)]);
            script.ask([ReadCall::State { steps: U64(1) }]);
        }
        cases.push(script.case(&format!("1,024 ranks: {name}")));
    }
    let options = grouped(by_shards(), (1 << 22, 1, 1));
    let mut script = Script::new(&[3, 1], &options);
    script.ask([ReadCall::NumSteps { rank: 0 }, ReadCall::NumSamples { rank: (1 << 22) - 1, worker: 0 }]);
    cases.push(script.case("as many ranks as there may be"));
    let mut script = Script::new(&[3, 1], &grouped(by_samples(), (64, 1 << 16, u32::MAX)));
    script.ask([ReadCall::StepBounds, ReadCall::NumSamples { rank: 63, worker: (1 << 16) - 1 }]);
    script.ask([ReadCall::NumPadding { rank: 63, worker: (1 << 16) - 1 }]);
    cases.push(script.case("as many workers as there may be"));
    cases
}

fn many_samples() -> Vec<Case> {
    let halves = [MAX_EXACT / 2, MAX_EXACT / 2 + 1];
    let mut cases = Vec::new();
    let uneven = |options| ReadOptions { remainder: Some("uneven".into()), ..options };
    for (name, options) in
        [("samples", uneven(by_samples())), ("stored samples", uneven(stored())), ("shards", by_shards())]
    {
        let first = ((4, 2, u32::MAX), 3);
        let steps = [first, ((2, 3, 1_000), 1_000_001)];
        let text = chain(&halves, &options, u64::MAX, if options.of_shards { &steps[..1] } else { &steps });
        let mut script = Script::new(&halves, &grouped(options, (2, 2, 1_000)));
        for resumed in [false, true] {
            script.ask(resumed.then(|| ReadCall::Resume { state: text.clone() }));
            script.ask([ReadCall::StepBounds, ReadCall::NumIdleReaders]);
            for (rank, worker) in [(0, 0), (1, 1)] {
                let count = script.number(ReadCall::NumSamples { rank, worker });
                script.ask([
                    ReadCall::NumPadding { rank, worker },
                    ReadCall::Indices { rank, worker, start: U64(0), count: 5.min(count) as u32 },
                ]);
                script.ask(
                    [0, 1_000_000, 1 << 40]
                        .into_iter()
                        .filter(|&start| start + 5 < count)
                        .map(|start| ReadCall::Indices { rank, worker, start: U64(start), count: 5 }),
                );
                let rounds = script.number(ReadCall::NumRounds { rank, worker });
                // A round of samples as they are stored is long: it has a span for each sample.
                let mut numbers = vec![0, 1, rounds / 2, rounds.saturating_sub(1)];
                numbers.drain(..if name == "stored samples" { 3 } else { 0 });
                script.ask(numbers.into_iter().map(|number| ReadCall::Round { rank, worker, number: U64(number) }));
                let indices = [0, count / 2, count.saturating_sub(1), count];
                script.ask(indices.map(|index| ReadCall::RoundOf { rank, worker, index: U64(index) }));
            }
            script.ask([ReadCall::State { steps: U64(1) }]);
        }
        cases.push(script.case(&format!("2^53 - 1 {name}")));
    }
    cases
}

/// Rounds of a torn turn: a window of every lane would be 2^21 samples, and a round has 2^20 of them at most.
fn large_windows() -> Case {
    let sizes = [1 << 23];
    let options = ReadOptions { lanes: Some(2), window: Some(1 << 20), ..by_samples() };
    let text = chain(&sizes, &options, 0, &[((1, 2, 1 << 21), 1)]);
    let mut script = Script::new(&sizes, &grouped(options, (1, 1, 1)));
    let indices = [0, (1 << 20) - 1, 1 << 20, 1 << 21, (1 << 22) - 1];
    script.ask([ReadCall::Resume { state: text }, ReadCall::NumRounds { rank: 0, worker: 0 }]);
    script.ask(indices.map(|index| ReadCall::RoundOf { rank: 0, worker: 0, index: U64(index) }));
    script.case("rounds of a torn turn in windows of 2^20")
}

/// Rounds after a torn turn: of samples as they are stored, 1,024 at a time, and of windows.
fn rounds() -> Vec<Case> {
    let sizes = [3_000, 10, 4_000];
    let mut cases = Vec::new();
    for (name, options) in [
        ("stored samples", stored()),
        ("windows of 16 lanes", ReadOptions { lanes: Some(16), window: Some(32), ..by_samples() }),
        ("lanes that the readers do not divide", ReadOptions { lanes: Some(5), window: Some(32), ..by_samples() }),
    ] {
        let text = chain(&sizes, &options, 0, &[((1, 3, 900), 2)]);
        let mut script = Script::new(&sizes, &grouped(options, (1, 2, 16)));
        script.ask([ReadCall::Resume { state: text }]);
        for worker in [0, 1] {
            let count = script.number(ReadCall::NumSamples { rank: 0, worker });
            let rounds = script.number(ReadCall::NumRounds { rank: 0, worker });
            let mut at = vec![0, 1, 2, rounds / 2, rounds - 1];
            at.drain(..if name == "stored samples" { 4 - worker as usize } else { 0 });
            script.ask(at.into_iter().map(|number| ReadCall::Round { rank: 0, worker, number: U64(number) }));
            let indices = (0..count).step_by(397).chain([count - 1]);
            script.ask(indices.map(|index| ReadCall::RoundOf { rank: 0, worker, index: U64(index) }));
            script.ask([0, 440, count - 8].map(|start| ReadCall::Indices {
                rank: 0,
                worker,
                start: U64(start),
                count: 8,
            }));
        }
        cases.push(script.case(&format!("rounds after a torn turn: {name}")));
    }
    cases
}
