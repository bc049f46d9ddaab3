//! Clients of ledgers that only watch: the entry that each of them would write, after entries that others wrote.

use matrix::Engine;
use matrix::format::{Call, Case, ClientCall, Ledger, LedgerClient, Subject, U64};
use matrix::native::Native;

use super::MAX_EXACT;
use super::clients::{Driven, Fate, of};
use super::ledgers::{entry, header};

pub fn cases() -> Vec<Case> {
    [silences(), free_runs(), set_leases(), edges()].concat()
}

/// An event in a log that readers watch. It comes at a time of their clock.
enum Seen {
    /// An entry, which all readers read.
    Entry(String),
    /// This reader would claim; what it wants to append is not appended.
    Claim(u32),
}

/// Readers that only watch: the entry that each of them would append, or the time that it would wait. They take the
/// block size and the lease from the log.
fn onlookers(name: &str, header: &str, readers: &[u32], script: Vec<(u64, Seen)>) -> Vec<Case> {
    let mut ledger = Native::create(&Subject::Ledger(Ledger { header: header.into() })).expect("a ledger");
    let state: String = ledger.call(&Call::InitialState).expect("a state").as_str().expect("a text").into();
    let mut log = vec![header.to_owned()];
    let mut drivers: Vec<_> = readers
        .iter()
        .map(|&reader| {
            let given = LedgerClient { state: state.clone(), block_size: None, lease_ms: None, ..of(0, reader, 1) };
            (reader, Driven::new(given))
        })
        .collect();
    for (_, driven) in &mut drivers {
        driven.run(ClientCall::Open { now_ms: U64(0) }, &mut log, &[]);
    }
    for (now_ms, seen) in script {
        match seen {
            Seen::Entry(entry) => {
                log.push(entry);
                for (_, driven) in &mut drivers {
                    driven.now_ms = now_ms;
                    driven.catch_up(&mut log);
                }
            }
            Seen::Claim(asking) => {
                let (_, driven) = drivers.iter_mut().find(|(reader, _)| *reader == asking).expect("a reader");
                driven.now_ms = now_ms;
                driven.run(ClientCall::Claim { waits: false, now_ms: U64(now_ms) }, &mut log, &[Fate::Failed]);
            }
        }
    }
    drivers.into_iter().map(|(reader, driven)| driven.case(&format!("{name}, as reader {reader} sees it"))).collect()
}

/// Silent readers lose their claims to readers that ask.
fn silences() -> Vec<Case> {
    let claim = |reader, now_ms| (now_ms, Seen::Claim(reader));
    let append = |entry, now_ms| (now_ms, Seen::Entry(entry));
    let script = vec![
        append(entry("claim", 1, 0, 6), 0),
        append(entry("claim", 2, 6, 4), 10),
        claim(3, 10),
        claim(1, 10),
        claim(2, 10),
        // A clock that goes back counts as one that stands still.
        claim(2, 0),
        append(entry("commit", 1, 0, 2), 50),
        claim(2, 109),
        claim(3, 109),
        claim(3, 110),
        claim(2, 150),
        append(entry("commit", 2, 6, 0), 149),
        claim(3, 150),
        append(entry("release", 1, 2, 4), 150),
        claim(1, 150),
        append(entry("claim", 1, 2, 4), 150),
        // A run that was released is claimed again: the lease of this claim begins anew.
        claim(3, 248),
        claim(3, 249),
        append(entry("commit", 1, 2, 1), 260),
        claim(2, u64::MAX),
        claim(3, u64::MAX),
        // If several runs were last seen at the same time, the first of them is released.
        append(entry("commit", 2, 6, 0), 300),
        append(entry("commit", 1, 3, 0), 300),
        claim(3, 399),
        claim(3, 400),
        append(entry("commit", 1, 3, 3), 401),
        claim(3, 401),
        append(entry("commit", 2, 6, 4), 402),
        claim(3, 402),
    ];
    let released = vec![
        append(entry("claim", 1, 0, 4), 0),
        append(entry("claim", 1, 4, 4), 0),
        // No sign of life: another reader may have written it.
        append(entry("release", 1, 0, 4), 50),
        append(entry("claim", 2, 0, 4), 60),
        claim(3, 99),
        claim(3, 100),
    ];
    let mut cases = onlookers("silent readers", &header(10, 0, 6), &[1, 2, 3], script);
    cases.extend(onlookers("a release of a silent reader", &header(8, 0, 4), &[3], released));
    cases
}

/// Free runs are claimed first, from the lowest position on; then positions that nobody has claimed.
fn free_runs() -> Vec<Case> {
    let mut script = Vec::new();
    for line in [
        entry("claim", 5, 2, 4),
        entry("claim", 6, 6, 4),
        entry("claim", 5, 10, 4),
        entry("claim", 6, 14, 1),
        entry("release", 5, 10, 4),
        entry("commit", 6, 6, 3),
        entry("release", 6, 9, 1),
        entry("claim", 5, 9, 1),
        "{\"event\":\"join\",\"reader\":5,\"session\":\"0000000000000007\"}".into(),
        entry("claim", 5, 2, 4),
        entry("claim", 5, 9, 1),
        entry("claim", 5, 10, 4),
        "{\"event\":\"join\",\"reader\":6,\"session\":\"0000000000000007\"}".into(),
    ] {
        script.push((0, Seen::Entry(line)));
        script.push((0, Seen::Claim(7)));
    }
    onlookers("runs that are free", &header(15, 2, 4), &[7], script)
}

/// The lease of the log, and leases that other readers set.
fn set_leases() -> Vec<Case> {
    let set = |reader: u32, lease_ms: u64| {
        Seen::Entry(format!("{{\"event\":\"lease\",\"reader\":{reader},\"lease_ms\":{lease_ms}}}"))
    };
    let claim = |now_ms| (now_ms, Seen::Claim(2));
    let script = vec![
        (0, Seen::Entry(entry("claim", 1, 0, 4))),
        claim(10),
        claim(30),
        (5, set(1, 50)),
        claim(10),
        claim(55),
        (6, set(1, MAX_EXACT)),
        claim(u64::MAX / 2),
        claim(6),
        (6, set(1, 1)),
        claim(6),
        claim(7),
        // An entry of reader 3 is no sign of life of reader 1.
        (7, set(3, 2)),
        claim(7),
        claim(8),
    ];
    let first = header(4, 0, 4).replace("\"lease_ms\":100", "\"lease_ms\":30");
    onlookers("a lease that changes", &first, &[2], script)
}

/// Positions and blocks of the largest allowed numbers.
fn edges() -> Vec<Case> {
    let (end, block_size) = (MAX_EXACT, u32::MAX);
    let start = end - 5_000_000_000;
    let rest = start + u64::from(block_size);
    let script = vec![
        (0, Seen::Claim(u32::MAX)),
        (u64::MAX, Seen::Entry(entry("claim", u32::MAX, start, block_size))),
        (u64::MAX, Seen::Claim(0)),
        (u64::MAX, Seen::Entry(entry("claim", 0, rest, (end - rest) as u32))),
        (0, Seen::Entry(entry("commit", u32::MAX, start, block_size - 1))),
        (99, Seen::Claim(0)),
        (100, Seen::Claim(0)),
        (0, Seen::Claim(u32::MAX)),
    ];
    onlookers("as large as numbers get", &header(end, start, block_size), &[0, u32::MAX], script)
}
