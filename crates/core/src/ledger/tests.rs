//! Tests: entries that readers write, and the state of the ledger after them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::propose::Proposal;
use super::{Event, EventKind, Ledger};
use crate::base::Kind;
use crate::deal::{Config, Sampler};

const LEASE: u64 = 100;

fn header(samples: u64, consumed: u64, block: u32) -> String {
    let sampler = Sampler::new(Config { consumed, ..Config::new(samples) }).unwrap();
    Ledger::header(&sampler.state(0).unwrap(), block, LEASE).unwrap()
}

fn begun(header: &str) -> Ledger {
    let mut ledger = Ledger::new(header).unwrap();
    ledger.apply(header).unwrap();
    ledger
}

/// Applies an entry at the time `now`. Returns its event.
fn taken(ledger: &mut Ledger, entry: &str, now_ms: u64) -> Event {
    match ledger.take(entry, now_ms).unwrap() {
        super::Applied::Run(event) => event,
        _ => panic!("{entry}"),
    }
}

/// The claims that a reader holds: for each claim its number, its first position, the number of its positions, and how
/// many positions are committed.
fn held(ledger: &Ledger, reader: u32) -> Vec<(u64, u64, u32, u32)> {
    let own = ledger.leases.iter().filter(|lease| lease.reader == reader);
    own.map(|lease| (lease.claim, lease.first(), lease.count, lease.done())).collect()
}

proptest! {
    /// Random entries: an entry that does not follow is refused, and changes nothing.
    #[test]
    fn no_entry_is_believed(
        entries in prop::collection::vec((0_usize..3, 0_u32..3, 0_u64..24, 0_u32..6), 0..60),
    ) {
        let header = header(20, 0, 4);
        let mut ledger = begun(&header);
        let mut committed = [false; 20];
        for (kind, reader, start, count) in entries {
            let kind = ["claim", "commit", "release"][kind];
            let entry = format!("{{\"event\":\"{kind}\",\"reader\":{reader},\"start\":{start},\"count\":{count}}}");
            let before = (ledger.progress(), ledger.checkpoint().unwrap());
            match ledger.apply(&entry) {
                Ok(event) => {
                    prop_assert_eq!(event.unwrap().start, start);
                    if kind == "commit" {
                        for done in &mut committed[start as usize..][..count as usize] {
                            prop_assert!(!core::mem::replace(done, true));
                        }
                    }
                }
                Err(failure) => {
                    prop_assert_eq!(failure.field, "entry");
                    let after = (ledger.progress(), ledger.checkpoint().unwrap());
                    prop_assert_eq!(before, after);
                }
            }
        }
    }
}

fn apply(ledger: &mut Ledger, entry: Proposal, now_ms: u64) -> Event {
    match entry {
        Proposal::Entry(entry) => taken(ledger, &entry, now_ms),
        other => panic!("{other:?}"),
    }
}

fn claimed(ledger: &mut Ledger, reader: u32, now_ms: u64) -> Event {
    let proposal = ledger.claim(reader, now_ms);
    apply(ledger, proposal, now_ms)
}

#[test]
fn who_is_silent_loses_what_was_not_committed() {
    let header = header(10, 0, 6);
    let mut ledger = begun(&header);
    let one = claimed(&mut ledger, 1, 0);
    assert_eq!((one.number, one.claim, one.start, one.count), (1, 1, 0, 6));
    let two = claimed(&mut ledger, 2, 0);
    assert_eq!((two.claim, two.count), (2, 4));
    let commit = ledger.commit(one.claim, 2).unwrap();
    let event = taken(&mut ledger, &commit, 50);
    assert_eq!((event.number, event.claim, event.start, event.count), (3, 1, 0, 2));
    // Reader 2 was seen at 0, reader 1 at 50.
    assert_eq!(ledger.claim(3, 60), Proposal::Wait(40));
    assert_eq!(ledger.claim(2, 60), Proposal::Wait(90));
    // A commit of 0 positions renews the lease.
    let commit = ledger.commit(two.claim, 0).unwrap();
    taken(&mut ledger, &commit, 99);
    assert_eq!(ledger.claim(3, 100), Proposal::Wait(50));
    let event = claimed(&mut ledger, 3, 150);
    assert_eq!((event.kind, event.reader, event.start, event.count), (EventKind::Release, 1, 2, 4));
    assert_eq!((event.claim, ledger.commit(one.claim, 3).unwrap_err().field), (one.claim, "claim"));
    let event = claimed(&mut ledger, 3, 150);
    assert_eq!((event.kind, event.reader, event.start, event.count), (EventKind::Claim, 3, 2, 4));
    assert_eq!(held(&ledger, 3), [(6, 2, 4, 0)]);
    // Reader 3 gives back its run.
    let release = ledger.release(event.claim).unwrap();
    taken(&mut ledger, &release, 160);
    assert_eq!(held(&ledger, 3), []);
    assert_eq!((ledger.progress().committed, ledger.progress().claimed), (2, 4));
}

#[test]
fn a_claim_that_was_lost_is_not_another_one_of_the_same_run() {
    let mut ledger = begun(&header(4, 0, 4));
    let lost = claimed(&mut ledger, 1, 0);
    let other = claimed(&mut ledger, 2, LEASE);
    assert_eq!((other.kind, other.claim), (EventKind::Release, lost.claim));
    let again = claimed(&mut ledger, 1, LEASE);
    assert_eq!((again.start, again.count), (lost.start, lost.count));
    assert_eq!(ledger.commit(lost.claim, 4).unwrap_err().kind, Kind::Contradiction);
    assert_eq!(ledger.release(lost.claim).unwrap_err().field, "claim");
    // A commit that is repeated, because its outcome was unknown, commits nothing twice.
    for done in [2, 2, 4] {
        let commit = ledger.commit(again.claim, done).unwrap();
        taken(&mut ledger, &commit, LEASE);
        assert_eq!(ledger.progress().committed, u64::from(done));
    }
    assert_eq!(ledger.commit(again.claim, 4).unwrap_err().field, "claim");
}

#[test]
fn any_entry_of_a_reader_is_a_sign_of_life_for_all_that_it_holds() {
    let mut ledger = begun(&header(12, 0, 4));
    let first = claimed(&mut ledger, 1, 0);
    claimed(&mut ledger, 1, 60);
    let commit = ledger.commit(first.claim, 4).unwrap();
    taken(&mut ledger, &commit, 90);
    claimed(&mut ledger, 2, 90);
    assert_eq!(ledger.claim(2, 120), Proposal::Wait(70));
    assert_eq!(ledger.commit(9, 4).unwrap_err().field, "claim");
    assert_eq!(begun(&header(4, 0, 4)).claim(1, 0), ledger_claim_text());
    let mut alone = begun(&header(4, 0, 4));
    claimed(&mut alone, 1, 0);
    assert_eq!(alone.claim(1, 1_000), Proposal::Held);
}

fn ledger_claim_text() -> Proposal {
    Proposal::Entry("{\"event\":\"claim\",\"reader\":1,\"start\":0,\"count\":4}".into())
}

#[test]
fn no_more_runs_are_held_than_there_is_room_for() {
    let mut ledger = begun(&header(1 << 20, 0, 1));
    for number in 0..1 << 16 {
        assert_eq!(claimed(&mut ledger, number % 7, 0).start, u64::from(number));
    }
    assert_eq!(ledger.claim(7, 10), Proposal::Wait(90));
    let entry = format!("{{\"event\":\"claim\",\"reader\":1,\"start\":{},\"count\":1}}", 1 << 16);
    assert_eq!(ledger.apply(&entry).unwrap_err().field, "entry");
    assert_eq!(held(&ledger, 0).len(), (65_536_usize).div_ceil(7));
    let release = ledger.claim(7, LEASE);
    assert_eq!(apply(&mut ledger, release, LEASE).start, 0);
    assert_eq!(claimed(&mut ledger, 7, LEASE).start, 0);
}
