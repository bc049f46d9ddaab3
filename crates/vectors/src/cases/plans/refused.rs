//! Plans and calls that are refused.

use crate::cases::forms::{Locality, Plan};
use matrix::format::{Call, Case};

use super::{MAX_COUNT, MAX_EXACT, MAX_READERS, balance, case, list, loads, numbers, plan, rows_of, steps};

/// Calls that fail, with others between them that must still work.
pub fn calls() -> Vec<Case> {
    let calls = [
        Call::NumShards { rank: 2, worker: 0 },
        Call::NumShards { rank: 2, worker: 3 },
        Call::NumShards { rank: 0, worker: 3 },
        Call::NumShards { rank: u32::MAX, worker: u32::MAX },
        list(2, 3, 9, 9),
        list(1, 3, 9, 9),
        list(0, 0, 3, 0),
        list(0, 0, 2, 0),
        list(0, 0, 2, 1),
        list(0, 0, 0, 3),
        list(0, 0, u32::MAX, u32::MAX),
        list(0, 0, 0, MAX_COUNT + 1),
        list(0, 0, 1, 1),
        loads("ranks", 3, 0),
        loads("ranks", 2, 0),
        loads("ranks", 2, 1),
        loads("ranks", 0, 3),
        loads("workers", 5, 2),
        loads("workers", 7, 0),
        loads("workers", u32::MAX, u32::MAX),
        loads("workers", 4, 2),
        balance("ranks", "bytes"),
        balance("workers", "bytes"),
        steps(0, false),
        steps(0, true),
        steps(u32::MAX, false),
        steps(u32::MAX, true),
        list(0, 0, 0, 2),
    ];
    let nothing =
        [loads("ranks", 0, 2), balance("ranks", "bytes"), steps(1, false), list(0, 0, 0, 0), rows_of(0, 0, 0)];
    vec![
        case("calls that fail", plan(&[5; 8], 2, 3), calls),
        case("calls of a plan without shards", plan(&[], 2, 1), nothing),
    ]
}

/// Constructors that fail. Where several rules are broken, the first one decides.
pub fn plans() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut refuse = |name: &str, plan: Plan| cases.push(case(name, plan, []));
    for (world, workers) in [
        (0, 0),
        (0, 1),
        (1, 0),
        (MAX_READERS + 1, 0),
        (MAX_READERS + 1, 1),
        (1, MAX_READERS + 1),
        (MAX_READERS, 2),
        (3, MAX_READERS / 3 + 1),
        (u32::MAX, u32::MAX),
    ] {
        refuse(&format!("{world} ranks of {workers} workers"), plan(&[MAX_EXACT, 1], world, workers));
    }
    for sizes in [&[MAX_EXACT, 1][..], &[MAX_EXACT + 1], &[u64::MAX], &[u64::MAX, 1], &[u64::MAX; 5]] {
        refuse(&format!("sizes {sizes:?}"), Plan { bytes: numbers(&[1; 9]), ..plan(sizes, 1, 1) });
    }
    let by_bytes = |bytes: &[u64]| Plan { bytes: numbers(bytes), weight: "bytes".into(), ..plan(&[1, 2, 3], 1, 1) };
    refuse("no bytes to weigh", by_bytes(&[]));
    refuse("too few bytes", by_bytes(&[1, 2]));
    refuse("too many bytes", by_bytes(&[1, 2, 3, u64::MAX]));
    refuse("too few bytes, which nobody weighs", Plan { bytes: numbers(&[7]), ..plan(&[1, 2, 3], 1, 1) });
    refuse("bytes too large together", by_bytes(&[MAX_EXACT, 0, 1]));
    refuse("bytes too large together, by far", by_bytes(&[u64::MAX; 3]));
    let near = |locality| Plan { policy: "locality-aware".into(), locality, ..plan(&[4, 5], 2, 1) };
    let raw = |offsets: &[u32], holders: &[u32], nodes: &[u32]| {
        Some(Locality {
            holder_offsets: offsets.to_vec(),
            holders: holders.to_vec(),
            rank_nodes: nodes.to_vec(),
            tolerance: 50,
        })
    };
    refuse("near, without a locality", near(None));
    refuse("no holder-offsets", near(raw(&[], &[], &[0, 1])));
    refuse("holder-offsets that do not begin at 0", near(raw(&[1, 1, 2], &[0, 1], &[])));
    refuse("too few holder-offsets", near(raw(&[0, 2], &[0, 1], &[0, 1])));
    refuse("too many holder-offsets", near(raw(&[0, 1, 2, 2], &[0, 1], &[0, 1])));
    refuse("holder-offsets that descend", near(raw(&[0, 3, 2], &[0, 1], &[0, 1])));
    refuse("holder-offsets that end early", near(raw(&[0, 1, 1], &[0, 1], &[0, 1])));
    refuse("holder-offsets that end late", near(raw(&[0, 1, 3], &[0, 1], &[0, 1])));
    refuse("too few ranks", near(raw(&[0, 1, 2], &[0, 1], &[0])));
    refuse("too many ranks", near(raw(&[0, 0, 2], &[0, 1], &[0, 1, 2])));
    refuse("a shard that is nowhere", near(raw(&[0, 2, 2], &[0, 1], &[0, 1])));
    refuse("shards that are nowhere", near(raw(&[0, 0, 0], &[], &[0, 1])));
    cases
}
