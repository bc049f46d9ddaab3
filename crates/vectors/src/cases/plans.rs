//! Whole shards to readers.

use matrix::format::{Call, Case, Plan, S64, Subject, U64};

use super::{asked, numbers};

pub fn cases() -> Vec<Case> {
    vec![asked(
        "100 shards",
        Subject::Plan(plan(&[1; 100], 8, 4)),
        [Call::NumShards { rank: 0, worker: 0 }, Call::Shards { rank: 0, worker: 0, start: 0, count: 4 }],
    )]
}

fn plan(samples: &[u64], world: u32, workers: u32) -> Plan {
    Plan {
        samples: numbers(samples),
        bytes: vec![],
        world,
        workers,
        policy: "round-robin".into(),
        worker_policy: "round-robin".into(),
        weight: "samples".into(),
        locality: None,
        shuffle: false,
        reshuffle: false,
        seed: S64(0),
        epoch: U64(0),
    }
}
