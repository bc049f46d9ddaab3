//! The rest of an epoch, after torn turns too, for the same group and for others.

use crate::cases::forms::ReadOptions;
use matrix::format::{Case, ReadCall, S64, U64};

use super::{REMAINDERS, Script, by_samples, by_shards, chain, grouped, name, stored};

/// Ranks, workers and batch size of a group, and the steps that it took.
type Taken = ((u32, u32, u32), u64);

const SIZES: [u64; 6] = [13, 5, 0, 21, 9, 16];

/// Options of both deals: with every remainder, with full batches only, and with other shuffles.
fn kinds() -> Vec<ReadOptions> {
    let mut kinds = Vec::new();
    for remainder in REMAINDERS {
        for options in [by_samples(), stored()] {
            kinds.push(ReadOptions { remainder: Some(remainder.into()), ..options });
        }
    }
    kinds.push(by_shards());
    kinds.push(ReadOptions { drop_last: Some(true), ..by_shards() });
    kinds.push(ReadOptions { shuffle: Some(false), ..by_shards() });
    kinds.push(ReadOptions { reshuffle: Some(true), shuffle_rows: Some(false), ..by_shards() });
    kinds
}

/// The group that took a state resumes it: after whole turns and torn ones, and at the end.
pub fn same_group() -> Vec<Case> {
    let mut cases = Vec::new();
    for options in kinds() {
        for group in [(1, 3, 4), (2, 2, 3), (2, 1, 5)] {
            let options = grouped(options.clone(), group);
            let mut script = Script::new(&SIZES, &options);
            let most = script.most();
            for steps in [1, most / 2, most - 1, most] {
                let text = chain(&SIZES, &options, 3, &[(group, steps)]);
                script.ask([ReadCall::Resume { state: text }]);
                script.everything();
                script.ask([0, 1].map(|steps| ReadCall::State { steps: U64(steps) }));
            }
            cases.push(script.case(&format!("goes on: {}", name(&options))));
        }
    }
    cases
}

/// Another group resumes a state.
pub fn other_groups() -> Vec<Case> {
    let mut cases = Vec::new();
    for options in kinds() {
        for (group, next, steps) in [
            ((1, 3, 4), (1, 2, 4), 4),
            ((2, 2, 3), (3, 1, 3), 3),
            ((2, 2, 3), (2, 2, 4), 5),
            ((2, 2, 4), (1, 1, 4), 4),
            ((4, 2, 2), (2, 3, 2), 1),
        ] {
            let text = chain(&SIZES, &options, 1, &[(group, steps)]);
            let options = grouped(options.clone(), next);
            let mut script = Script::new(&SIZES, &options);
            script.ask([ReadCall::Resume { state: text }]);
            script.everything();
            script.ask([0, 1, 2].map(|steps| ReadCall::State { steps: U64(steps) }));
            script.ask([ReadCall::AtEpoch { epoch: U64(2) }, ReadCall::IsRest, ReadCall::StepBounds]);
            cases.push(script.case(&format!("{steps} steps of {group:?}: {}", name(&options))));
        }
    }
    cases
}

/// Three groups or more, one after the other. The last group goes on after some of its own steps.
pub fn chains() -> Vec<Case> {
    let chains: [&[Taken]; 5] = [
        &[((2, 2, 2), 1), ((1, 3, 3), 1), ((3, 1, 2), 1)],
        &[((1, 3, 2), 2), ((2, 2, 2), 1), ((1, 2, 3), 1), ((1, 2, 3), 2)],
        &[((2, 3, 1), 2), ((2, 3, 2), 1), ((2, 3, 1), 1), ((1, 1, 1), 3), ((3, 2, 1), 1)],
        &[((1, 4, 2), 3), ((1, 4, 2), 2), ((1, 4, 2), 4), ((2, 2, 1), 3)],
        &[((4, 1, 2), 2), ((1, 4, 2), 3), ((2, 2, 2), 2)],
    ];
    let mut cases = Vec::new();
    for options in kinds() {
        for groups in chains {
            let text = chain(&SIZES, &options, 5, groups);
            for next in [groups[groups.len() - 1].0, (2, 1, 3)] {
                let options = grouped(options.clone(), next);
                let mut script = Script::new(&SIZES, &options);
                script.ask([ReadCall::Resume { state: text.clone() }]);
                script.everything();
                script.ask([0, 1, 3].map(|steps| ReadCall::State { steps: U64(steps) }));
                cases.push(script.case(&format!("after {groups:?}: {}", name(&options))));
            }
        }
    }
    cases
}

/// Whole shards, weighed by their bytes: a part of a shard has its share of the bytes, and a shard without samples
/// keeps its own.
pub fn weights() -> Vec<Case> {
    let mut cases = Vec::new();
    let (empty, part) = (([4, 0, 4, 4], [10, 90, 10, 10]), ([6, 7, 2, 8], [10, 6, 1, 7]));
    for (name, (sizes, bytes), group, next) in [
        ("a shard without samples", empty, (1, 1, 2), (2, 2, 2)),
        ("a shard without samples", empty, (3, 2, 1), (2, 1, 1)),
        ("a shard without samples", empty, (1, 1, 3), (3, 1, 2)),
        ("a part, rounded down", part, (1, 1, 2), (2, 1, 2)),
    ] {
        let options = ReadOptions {
            weight: Some("bytes".into()),
            bytes: Some(bytes.map(U64).to_vec()),
            shuffle: Some(false),
            ..by_shards()
        };
        let mut script = Script::new(&sizes, &grouped(options.clone(), next));
        script.ask([ReadCall::Resume { state: chain(&sizes, &options, 0, &[(group, 1)]) }]);
        script.everything();
        cases.push(script.case(&format!("bytes of {name}: {group:?}, then {next:?}")));
    }
    let bytes = [900, 0, 5, 100, 1 << 50, 33].map(U64).to_vec();
    for (policy, worker_policy) in [("size-aware", "size-aware"), ("size-aware", "round-robin")] {
        for (groups, next) in [
            (vec![((2, 1, 3), 2)], (3, 1, 3)),
            (vec![((2, 2, 3), 1), ((1, 2, 2), 3)], (2, 2, 2)),
            (vec![((1, 1, 7), 3)], (1, 1, 7)),
            (vec![], (2, 2, 4)),
        ] {
            let options = ReadOptions {
                weight: Some("bytes".into()),
                bytes: Some(bytes.clone()),
                policy: Some(policy.into()),
                worker_policy: Some(worker_policy.into()),
                seed: Some(S64(-9)),
                ..by_shards()
            };
            let mut script = Script::new(&SIZES, &grouped(options.clone(), next));
            if !groups.is_empty() {
                script.ask([ReadCall::Resume { state: chain(&SIZES, &options, 0, &groups) }]);
            }
            script.everything();
            script.ask([0, 1].map(|steps| ReadCall::State { steps: U64(steps) }));
            cases.push(script.case(&format!("bytes, {policy}, {worker_policy}: {groups:?}, then {next:?}")));
        }
    }
    cases
}
