//! Ledgers: every position is committed once, whoever dies, and whatever readers know of each other.

use std::collections::BTreeMap;

use proptest::prelude::*;
use samedeal_core::{Config, Event, EventKind, Kind, Ledger, Proposal, Sampler};

const LEASE: u64 = 100;

fn header(samples: u64, consumed: u64, block: u32) -> String {
    let sampler = Sampler::new(Config { consumed, ..Config::new(samples) }).unwrap();
    Ledger::header(&sampler.state(0).unwrap(), block, LEASE).unwrap()
}

fn begun(header: &str) -> Ledger {
    let mut ledger = Ledger::new(header).unwrap();
    ledger.apply(header, 0).unwrap();
    ledger
}

/// A reader with a copy of the ledger and a clock of its own.
struct Reader {
    id: u32,
    ledger: Ledger,
    applied: usize,
    /// How far its clock is off.
    offset: u64,
    /// Claim, how many are committed, how many there are.
    holds: Option<(u64, u32, u32)>,
    silent_until: u64,
}

impl Reader {
    fn new(id: u32, header: &str, offset: u64) -> Self {
        let ledger = Ledger::new(header).unwrap();
        Self { id, ledger, applied: 0, offset, holds: None, silent_until: 0 }
    }

    fn catch_up(&mut self, log: &[String], now: u64) {
        for entry in &log[self.applied..] {
            self.ledger.apply(entry, now + self.offset).unwrap();
        }
        self.applied = log.len();
    }

    /// One turn: commits a part of what it holds, or claims. Whether all is done.
    fn turn(&mut self, log: &mut Vec<String>, now: u64, part: u32) -> bool {
        self.catch_up(log, now);
        if let Some((claim, done, count)) = self.holds {
            let done = (done + part).min(count);
            match self.ledger.commit(claim, done) {
                Ok(entry) => {
                    log.push(entry);
                    self.holds = (done < count).then_some((claim, done, count));
                }
                // It was silent too long.
                Err(failure) => {
                    assert_eq!((failure.kind, failure.field), (Kind::Contradiction, "claim"));
                    self.holds = None;
                }
            }
            return false;
        }
        match self.ledger.claim(self.id, now + self.offset).unwrap() {
            Proposal::Entry(entry) => {
                let event = self.ledger.apply(&entry, now + self.offset).unwrap().unwrap();
                log.push(entry);
                self.applied = log.len();
                if event.kind == EventKind::Claim {
                    self.holds = Some((event.claim, 0, event.count));
                }
                false
            }
            Proposal::Wait(time) => {
                assert!((1..=LEASE).contains(&time));
                false
            }
            Proposal::Held => unreachable!("a reader commits what it holds first"),
            Proposal::Finished => true,
        }
    }
}

proptest! {
    /// Readers with clocks that differ, who fall silent for a while or for ever; one stays.
    #[test]
    fn every_position_is_committed_once(
        samples in 0_u64..200,
        part in 0.0..1.0_f64,
        block in 1_u32..40,
        offsets in prop::collection::vec(0_u64..1_000_000, 1..6),
        turns in prop::collection::vec((0_usize..6, 0_u32..20, 0_u64..60, 0_u8..40), 0..400),
    ) {
        let consumed = (samples as f64 * part) as u64;
        let header = header(samples, consumed, block);
        let mut log = vec![header.clone()];
        let mut readers: Vec<_> =
            offsets.iter().zip([4, 0, u32::MAX, 9, 1]).map(|(&offset, id)| Reader::new(id, &header, offset)).collect();
        let mut now = 0;
        for (which, part, time, fate) in turns {
            now += time;
            let which = which % readers.len();
            if fate == 0 {
                readers[which].silent_until = now + 3 * LEASE;
            } else if fate == 1 && which > 0 {
                readers[which].silent_until = u64::MAX;
            }
            if now >= readers[which].silent_until {
                readers[which].turn(&mut log, now, part);
            }
        }
        // One of them does the rest.
        let mut turns = 0;
        while !readers[0].turn(&mut log, now, block) {
            now += 60;
            turns += 1;
            prop_assert!(turns < 10_000, "no end");
        }
        // What the log says, to whoever reads it: every position was committed once, by a reader that held it.
        let mut replayed = begun(&header);
        let (mut committed, mut claimed) = (BTreeMap::new(), 0);
        for entry in &log[1..] {
            let event = replayed.apply(entry, 0).unwrap().unwrap();
            match event.kind {
                EventKind::Commit => for position in event.start..event.start + u64::from(event.count) {
                    prop_assert!(committed.insert(position, event.reader).is_none());
                },
                EventKind::Claim => claimed += u64::from(event.count),
                EventKind::Release => claimed -= u64::from(event.count),
            }
            let progress = replayed.progress();
            prop_assert_eq!(progress.committed, committed.len() as u64);
            prop_assert_eq!(progress.committed + progress.claimed, claimed);
        }
        prop_assert!(committed.keys().copied().eq(consumed..samples));
        prop_assert_eq!(claimed, samples - consumed);
        prop_assert_eq!(replayed.claim(3, 0).unwrap(), Proposal::Finished);
        prop_assert_eq!(replayed.progress().entries, log.len() as u64);
    }

    /// A log from anywhere is refused where it does not follow, and changes nothing then.
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
            let before = (ledger.progress(), (0..3).map(|id| ledger.held_by(id).unwrap()).collect::<Vec<_>>());
            match ledger.apply(&entry, 0) {
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
                    let after = (ledger.progress(), (0..3).map(|id| ledger.held_by(id).unwrap()).collect::<Vec<_>>());
                    prop_assert_eq!(before, after);
                }
            }
        }
    }
}

fn apply(ledger: &mut Ledger, entry: Proposal, now: u64) -> Event {
    match entry {
        Proposal::Entry(entry) => ledger.apply(&entry, now).unwrap().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn claimed(ledger: &mut Ledger, reader: u32, now: u64) -> Event {
    let proposal = ledger.claim(reader, now).unwrap();
    apply(ledger, proposal, now)
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
    let event = ledger.apply(&commit, 50).unwrap().unwrap();
    assert_eq!((event.number, event.claim, event.start, event.count), (3, 1, 0, 2));
    // Reader 2 was heard of at 0, reader 1 at 50.
    assert_eq!(ledger.claim(3, 60).unwrap(), Proposal::Wait(40));
    assert_eq!(ledger.claim(2, 60).unwrap(), Proposal::Wait(90));
    // As many as before are a sign of life.
    let commit = ledger.commit(two.claim, 0).unwrap();
    ledger.apply(&commit, 99).unwrap();
    assert_eq!(ledger.claim(3, 100).unwrap(), Proposal::Wait(50));
    let event = claimed(&mut ledger, 3, 150);
    assert_eq!((event.kind, event.reader, event.start, event.count), (EventKind::Release, 1, 2, 4));
    assert_eq!((event.claim, ledger.commit(one.claim, 3).unwrap_err().field), (one.claim, "claim"));
    let event = claimed(&mut ledger, 3, 150);
    assert_eq!((event.kind, event.reader, event.start, event.count), (EventKind::Claim, 3, 2, 4));
    assert_eq!(ledger.held_by(3).unwrap(), [6, 2, 4, 0]);
    // It gives back what it does not want.
    let release = ledger.release(event.claim).unwrap();
    ledger.apply(&release, 160).unwrap();
    assert_eq!(ledger.held_by(3).unwrap(), []);
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
    // What was appended, but nobody knew it, is not committed twice.
    for done in [2, 2, 4] {
        let commit = ledger.commit(again.claim, done).unwrap();
        ledger.apply(&commit, LEASE).unwrap();
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
    ledger.apply(&commit, 90).unwrap();
    claimed(&mut ledger, 2, 90);
    assert_eq!(ledger.claim(2, 120).unwrap(), Proposal::Wait(70));
    assert_eq!(ledger.commit(3, 9).unwrap_err().field, "claim");
    assert_eq!(ledger.commit(2, 5).unwrap_err().field, "done");
    assert_eq!(begun(&header(4, 0, 4)).claim(1, 0).unwrap(), ledger_claim_text());
    let mut alone = begun(&header(4, 0, 4));
    claimed(&mut alone, 1, 0);
    assert_eq!(alone.claim(1, 1_000).unwrap(), Proposal::Held);
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
    assert_eq!(ledger.claim(7, 10).unwrap(), Proposal::Wait(90));
    let entry = format!("{{\"event\":\"claim\",\"reader\":1,\"start\":{},\"count\":1}}", 1 << 16);
    assert_eq!(ledger.apply(&entry, 0).unwrap_err().field, "entry");
    assert_eq!(ledger.held_by(0).unwrap().len(), 4 * (65_536_usize).div_ceil(7));
    let release = ledger.claim(7, LEASE).unwrap();
    assert_eq!(apply(&mut ledger, release, LEASE).start, 0);
    assert_eq!(claimed(&mut ledger, 7, LEASE).start, 0);
}

#[test]
fn ledgers_of_something_else_are_refused() {
    let own = header(10, 2, 4);
    for (found, field) in [
        (own.replace("\"samples\":10", "\"samples\":11"), "samples"),
        (own.replace("\"seed\":0", "\"seed\":1"), "seed"),
        (own.replace("\"epoch\":0", "\"epoch\":1"), "epoch"),
        (own.replace("feistel", "torch"), "order"),
        (own.replace("\"consumed\":2", "\"consumed\":3"), "consumed"),
        (own.replace("\"block\":4", "\"block\":5"), "block"),
        (own.replace("\"block\":4", "\"block\":0"), "block"),
        (own.replace("\"block\":4", "\"block\":4294967296"), "block"),
        (own.replace(",\"block\":4", ""), "state"),
        (own.replace("\"lease\":100", "\"lease\":0"), "lease"),
        (own.replace("\"lease\":100", "\"lease\":9007199254740992"), "lease"),
        (own.replace(",\"lease\":100", ""), "state"),
        (format!("{own}\n"), "entry"),
        (own.replace(',', ",\r"), "entry"),
        (own.replace("ledger", "sampler"), "state"),
        (own.replace("\"consumed\":2", "\"consumed\":11"), "consumed"),
        (own.replace(",\"seed\":0", ""), "seed"),
        (own.replace(",\"samples\":10", ""), "state"),
        (own.replace("\"recipe\":{", "\"recipe\":{\"deal\":{},"), "state"),
        (String::new(), "state"),
    ] {
        assert_ne!(own, found);
        let mut ledger = Ledger::new(&own).unwrap();
        assert_eq!(ledger.apply(&found, 0).unwrap_err().field, field, "{found}");
        assert_eq!(ledger.claim(0, 0).unwrap_err().field, "entry");
        ledger.apply(&own.replace(',', " ,\t"), 0).unwrap();
    }
    // A lease may change.
    Ledger::new(&own).unwrap().apply(&own.replace("\"lease\":100", "\"lease\":101"), 0).unwrap();
    let ledger = begun(&own);
    let rest = Sampler::new(Config::new(10)).unwrap().resume(&ledger.initial_state()).unwrap();
    assert_eq!(rest.config().consumed, 2);
    assert_eq!(Ledger::header(&own, 4, LEASE).unwrap_err().field, "state");
    assert_eq!(Ledger::header(&ledger.initial_state(), 0, LEASE).unwrap_err().field, "block");
    assert_eq!(Ledger::header(&ledger.initial_state(), 4, LEASE).unwrap(), own);
}

/// The first entry of any state that `header` takes is the first entry of a ledger.
#[test]
fn a_header_is_one_that_a_ledger_takes() {
    let state = Sampler::new(Config::new(10)).unwrap().state(0).unwrap();
    let (mut made, mut refused) = (0, 0);
    for bytes in (1 << 14) - 60..=1 << 14 {
        let text = state.replace("feistel", &"x".repeat(bytes - state.len() + "feistel".len()));
        assert_eq!(text.len(), bytes);
        match Ledger::header(&text, u32::MAX, 60_000) {
            Ok(header) => {
                let mut ledger = Ledger::new(&header).unwrap();
                ledger.apply(&header, 0).unwrap();
                assert_eq!(ledger.initial_state(), text);
                made += 1;
            }
            Err(failure) => {
                assert_eq!((failure.field, &*failure.value), ("state", &*format!("of {bytes} bytes")));
                refused += 1;
            }
        }
    }
    assert!(made > 0 && refused > 0);
}
