//! Ledgers: every position is committed once, whoever dies, and whatever readers know of each other.

use std::collections::BTreeMap;

use proptest::prelude::*;
use samedeal_core::{Config, EventKind, Kind, Ledger, Proposal, Sampler};

const LEASE: u64 = 100;

fn header(samples: u64, consumed: u64, block: u32) -> String {
    let sampler = Sampler::new(Config { consumed, ..Config::new(samples) }).unwrap();
    Ledger::header(&sampler.state(0).unwrap(), block).unwrap()
}

fn begun(header: &str) -> Ledger {
    let mut ledger = Ledger::new(header, LEASE).unwrap();
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
    holds: Option<(u64, u32)>,
    silent_until: u64,
}

impl Reader {
    fn new(id: u32, header: &str, offset: u64) -> Self {
        let ledger = Ledger::new(header, LEASE).unwrap();
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
        if let Some((start, count)) = self.holds {
            let done = part.min(count);
            match self.ledger.commit(self.id, start, done) {
                Ok(entry) => {
                    log.push(entry);
                    self.holds = (done < count).then_some((start + u64::from(done), count - done));
                }
                // It was silent too long.
                Err(failure) => {
                    assert_eq!((failure.kind, failure.field), (Kind::Contradiction, "start"));
                    self.holds = None;
                }
            }
            return false;
        }
        match self.ledger.claim(self.id, now + self.offset).unwrap() {
            Proposal::Entry(entry) => {
                self.ledger.apply(&entry, now + self.offset).unwrap();
                log.push(entry);
                self.applied = log.len();
                let held = self.ledger.held_by(self.id).unwrap();
                self.holds = held.first().map(|&start| (start, held[1] as u32));
                false
            }
            Proposal::Wait(time) => {
                assert!((1..=LEASE).contains(&time));
                false
            }
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

#[test]
fn who_is_silent_loses_what_was_not_committed() {
    let header = header(10, 0, 6);
    let mut ledger = begun(&header);
    let apply = |ledger: &mut Ledger, entry: Proposal, now| match entry {
        Proposal::Entry(entry) => ledger.apply(&entry, now).unwrap().unwrap(),
        other => panic!("{other:?}"),
    };
    let claim = ledger.claim(1, 0).unwrap();
    apply(&mut ledger, claim, 0);
    let claim = ledger.claim(2, 0).unwrap();
    assert_eq!(apply(&mut ledger, claim, 0).count, 4);
    let commit = ledger.commit(1, 0, 2).unwrap();
    ledger.apply(&commit, 50).unwrap();
    // Reader 2 holds 6 to 9 since 0, reader 1 holds 2 to 5 since 50.
    assert_eq!(ledger.claim(3, 60).unwrap(), Proposal::Wait(40));
    assert_eq!(ledger.claim(2, 60).unwrap(), Proposal::Wait(90));
    // A commit of nothing is a sign of life.
    let commit = ledger.commit(2, 6, 0).unwrap();
    ledger.apply(&commit, 99).unwrap();
    assert_eq!(ledger.claim(3, 100).unwrap(), Proposal::Wait(50));
    let release = ledger.claim(3, 150).unwrap();
    let event = apply(&mut ledger, release, 150);
    assert_eq!((event.kind, event.reader, event.start, event.count), (EventKind::Release, 1, 2, 4));
    assert_eq!(ledger.commit(1, 2, 1).unwrap_err().field, "start");
    let claim = ledger.claim(3, 150).unwrap();
    let event = apply(&mut ledger, claim, 150);
    assert_eq!((event.kind, event.reader, event.start, event.count), (EventKind::Claim, 3, 2, 4));
    assert_eq!(ledger.held_by(3).unwrap(), [2, 4]);
    // It gives back what it does not want.
    let release = ledger.release(3, 2).unwrap();
    ledger.apply(&release, 160).unwrap();
    assert_eq!(ledger.held_by(3).unwrap(), []);
    assert_eq!((ledger.progress().committed, ledger.progress().claimed), (2, 4));
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
        (own.replace("ledger", "sampler"), "state"),
        (own.replace("\"consumed\":2", "\"consumed\":11"), "state"),
        (own.replace("\"fingerprint\":\"", "\"fingerprint\":\"0"), "state"),
        (String::new(), "state"),
    ] {
        assert_ne!(own, found);
        let mut ledger = Ledger::new(&own, LEASE).unwrap();
        assert_eq!(ledger.apply(&found, 0).unwrap_err().field, field, "{found}");
        assert_eq!(ledger.claim(0, 0).unwrap_err().field, "entry");
        ledger.apply(&own.replace(',', " ,\n"), 0).unwrap();
    }
    assert_eq!(Ledger::new(&own, 0).err().unwrap().field, "lease");
    assert_eq!(Ledger::new(&own, 1 << 53).err().unwrap().field, "lease");
    let ledger = begun(&own);
    let mut sampler = Sampler::new(Config::new(10)).unwrap();
    sampler.resume(&ledger.sampler_state()).unwrap();
    assert_eq!(sampler.config().consumed, 2);
    assert_eq!(Ledger::header(&own, 4).unwrap_err().field, "state");
    assert_eq!(Ledger::header(&ledger.sampler_state(), 0).unwrap_err().field, "block");
    assert_eq!(Ledger::header(&ledger.sampler_state(), 4).unwrap(), own);
}
