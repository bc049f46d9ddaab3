//! Ledgers: every position is committed once, even if readers die, and whatever they know of each other.

use std::collections::BTreeMap;

use proptest::prelude::*;
use samedeal_core::{
    Client, ClientOptions, Config, Event, EventKind, Failure, Instruction, Kind, Ledger, Progress, Sampler,
};

const LEASE: u64 = 100;

fn state(samples: u64, consumed: u64) -> String {
    Sampler::new(Config { consumed, ..Config::new(samples) }).unwrap().state(0).unwrap()
}

fn header(samples: u64, consumed: u64, block: u32) -> String {
    Ledger::header(&state(samples, consumed), block, LEASE).unwrap()
}

fn begun(header: &str) -> Ledger {
    let mut ledger = Ledger::new(header).unwrap();
    ledger.apply(header).unwrap();
    ledger
}

/// A reader with a copy of the ledger and a clock of its own.
struct Reader {
    client: Client,
    /// The difference of its clock from the time of the test.
    offset: u64,
    /// The handle of the claim that the reader holds.
    holds: Option<u64>,
    silent_until: u64,
}

impl Reader {
    fn new(reader: u32, state: &str, block: u32, offset: u64) -> Self {
        let options = ClientOptions::new(state.into(), reader, u64::from(reader));
        let client = Client::new(ClientOptions { block_size: Some(block), lease_ms: Some(LEASE), ..options }).unwrap();
        Self { client, offset, holds: None, silent_until: 0 }
    }

    /// Runs an operation on the log to its end.
    fn run(
        &mut self,
        log: &mut Vec<String>,
        now: u64,
        begin: impl FnOnce(&mut Client, u64) -> Result<Instruction, Failure>,
    ) -> Result<Instruction, Failure> {
        let (client, now) = (&mut self.client, now + self.offset);
        let mut step = begin(client, now)?;
        loop {
            step = match step.action {
                "checkpoint" => client.tell_checkpoint(None, now)?,
                "read" => client.tell_entries(&log[step.number as usize..], now)?,
                "append" => {
                    assert_eq!(step.number, log.len() as u64, "nobody else writes meanwhile");
                    log.push(step.entry);
                    client.tell_appended(true, now)?
                }
                _ => return Ok(step),
            };
        }
    }

    /// One turn of the reader: it commits a part of its claim, or claims positions. Returns whether all positions are
    /// committed.
    fn turn(&mut self, log: &mut Vec<String>, now: u64, part: u32) -> bool {
        self.run(log, now, Client::catch_up).unwrap();
        if let Some(handle) = self.holds {
            let run = self.client.claimed(handle).unwrap();
            let count = part.min(run.count - run.committed);
            match self.run(log, now, |client, now| client.commit(handle, Some(count), now)) {
                Ok(_) => self.holds = (run.committed + count < run.count).then_some(handle),
                // The reader was silent too long.
                Err(failure) => {
                    assert_eq!((failure.kind, failure.field), (Kind::Contradiction, "claim"));
                    assert!(self.client.claimed(handle).unwrap().is_lost);
                    self.holds = None;
                }
            }
            if self.holds.is_none() {
                self.client.forget(handle);
            }
            return false;
        }
        let step = self.run(log, now, |client, now| client.claim(false, now)).unwrap();
        match step.action {
            "claimed" => self.holds = Some(step.number),
            "wait" => assert!((1..=LEASE).contains(&step.milliseconds)),
            "finished" => return true,
            other => unreachable!("{other}: a reader commits what it holds first"),
        }
        false
    }
}

proptest! {
    /// Readers with different clocks fall silent for a while or for ever, all but one. Then other readers replay the
    /// log.
    #[test]
    fn every_position_is_committed_once(
        samples in 0_u64..200,
        part in 0.0..1.0_f64,
        block in 1_u32..40,
        offsets in prop::collection::vec(0_u64..1_000_000, 1..6),
        turns in prop::collection::vec((0_usize..6, 0_u32..20, 0_u64..60, 0_u8..40), 0..400),
        again in 1_u32..7,
        parts in 1_usize..50,
    ) {
        let consumed = (samples as f64 * part) as u64;
        let (header, state) = (header(samples, consumed, block), state(samples, consumed));
        let mut log = Vec::new();
        let mut readers: Vec<_> = offsets
            .iter()
            .zip([4, 0, u32::MAX, 9, 1])
            .map(|(&offset, reader)| Reader::new(reader, &state, block, offset))
            .collect();
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
        // The first reader does the rest.
        let mut turns = 0;
        while !readers[0].turn(&mut log, now, block) {
            now += 60;
            turns += 1;
            prop_assert!(turns < 10_000, "no end");
        }
        // By the log alone, every position was committed once, by a reader that held it.
        prop_assert_eq!(&log[0], &header);
        let mut replayed = begun(&header);
        let (mut committed, mut claimed) = (BTreeMap::new(), 0);
        let (mut commits, mut left) = (Vec::new(), BTreeMap::new());
        for entry in &log[1..] {
            if let Some(event) = replayed.apply(entry).unwrap() {
                match event.kind {
                    EventKind::Commit => {
                        for position in event.start..event.start + u64::from(event.count) {
                            prop_assert!(committed.insert(position, event.reader).is_none());
                        }
                        commits.push(event);
                    }
                    EventKind::Claim => {
                        claimed += u64::from(event.count);
                        prop_assert_eq!(event.taken_from, left.remove(&event.start));
                    }
                    EventKind::Release => {
                        claimed -= u64::from(event.count);
                        left.insert(event.start, event.claim);
                    }
                    // Each reader joins once, when it holds nothing.
                    EventKind::Join => {}
                }
            }
            let progress = replayed.progress();
            prop_assert_eq!(progress.committed, committed.len() as u64);
            prop_assert_eq!(progress.committed + progress.claimed, claimed);
        }
        prop_assert!(committed.keys().copied().eq(consumed..samples));
        let positions = samples - consumed;
        let progress = Progress { positions, committed: positions, claimed: 0, entries: log.len() as u64 };
        prop_assert_eq!(replayed.progress(), progress);
        // In a replay, with parts of any size and any number of readers, each reader has its own commits in order.
        for reader in 0..again {
            let mut ledger = Ledger::new(&header).unwrap();
            let mut runs = Vec::<Event>::new();
            for part in log.chunks(parts) {
                runs.extend(ledger.replay::<Event>(part, reader, again).unwrap());
            }
            let own = commits.iter().filter(|event| event.count > 0 && event.reader % again == reader);
            prop_assert!(runs.iter().eq(own));
            prop_assert_eq!(ledger.progress(), progress);
        }
    }
}

#[test]
fn a_replay_says_where_it_is_refused() {
    let header = header(8, 0, 4);
    let [claim, commit] =
        ["claim", "commit"].map(|event| format!("{{\"event\":\"{event}\",\"reader\":5,\"start\":0,\"count\":4}}"));
    let log = [header.clone(), claim.clone(), commit, claim];
    let refused = |reader, readers| Ledger::new(&header).unwrap().replay::<Event>(&[], reader, readers).unwrap_err();
    assert_eq!((refused(0, 0).field, refused(3, 3).field), ("readers", "reader"));
    assert_eq!(refused(u32::MAX, u32::MAX).allowed, "0 to 4294967294");
    let mut ledger = Ledger::new(&header).unwrap();
    assert_eq!(ledger.replay::<Event>(&log, 0, 5).unwrap_err().field, "entry");
    // The entries before the refused one were applied.
    assert_eq!((ledger.progress().entries, ledger.progress().committed), (3, 4));
    let mut ledger = Ledger::new(&header).unwrap();
    let runs: Vec<Event> = ledger.replay(&log[..3], 0, 5).unwrap();
    assert_eq!((runs.len(), runs[0].number, runs[0].claim, runs[0].start, runs[0].count), (1, 2, 1, 0, 4));
}

#[test]
fn ledgers_of_something_else_are_refused() {
    let own = header(10, 2, 4);
    for (found, field) in [
        (own.replace("\"samples\":10", "\"samples\":11"), "samples"),
        (own.replace("\"seed\":0", "\"seed\":1"), "seed"),
        (own.replace("\"epoch\":0", "\"epoch\":1"), "epoch"),
        (own.replace("feistel", "torch"), "name"),
        (own.replace("\"consumed\":2", "\"consumed\":3"), "consumed"),
        (own.replace("\"block_size\":4", "\"block_size\":5"), "block_size"),
        (own.replace("\"block_size\":4", "\"block_size\":0"), "block_size"),
        (own.replace("\"block_size\":4", "\"block_size\":4294967296"), "block_size"),
        (own.replace(",\"block_size\":4", ""), "state"),
        (own.replace("\"lease_ms\":100", "\"lease_ms\":0"), "lease_ms"),
        (own.replace("\"lease_ms\":100", "\"lease_ms\":9007199254740992"), "lease_ms"),
        (own.replace(",\"lease_ms\":100", ""), "state"),
        (format!("{own}\n"), "entry"),
        (own.replace(',', ",\r"), "entry"),
        (own.replace("ledger", "sampler"), "state"),
        (own.replace("\"consumed\":2", "\"consumed\":11"), "consumed"),
        (own.replace(",\"seed\":0", ""), "seed"),
        (own.replace(",\"samples\":10", ""), "state"),
        (own.replace("\"recipe\":{", "\"recipe\":{\"deal\":{},"), "recipe"),
        (own.replace("\"samedeal\":1", "\"new\":[],\"samedeal\":2"), "samedeal"),
        (String::new(), "state"),
    ] {
        assert_ne!(own, found);
        let mut ledger = Ledger::new(&own).unwrap();
        assert_eq!(ledger.apply(&found).unwrap_err().field, field, "{found}");
        assert_eq!(ledger.progress().entries, 0);
        ledger.apply(&own.replace(',', " ,\t")).unwrap();
    }
    // A lease may change.
    Ledger::new(&own).unwrap().apply(&own.replace("\"lease_ms\":100", "\"lease_ms\":101")).unwrap();
    let ledger = begun(&own);
    let rest = Sampler::new(Config::new(10)).unwrap().resume(&ledger.initial_state().unwrap()).unwrap();
    assert_eq!(rest.config().consumed, 2);
    assert_eq!(Ledger::header(&own, 4, LEASE).unwrap_err().field, "state");
    assert_eq!(Ledger::header(&ledger.initial_state().unwrap(), 0, LEASE).unwrap_err().field, "block_size");
    assert_eq!(Ledger::header(&ledger.initial_state().unwrap(), 4, LEASE).unwrap(), own);
}

/// Every first entry that `header` returns is one that a ledger takes.
#[test]
fn a_header_is_one_that_a_ledger_takes() {
    let state = Sampler::new(Config::new(10)).unwrap().state(0).unwrap();
    let (mut made, mut refused) = (0, 0);
    for bytes in [1 << 15, (1 << 24) - 60, (1 << 24) - 37, (1 << 24) - 30, 1 << 24] {
        let text = state.replace("feistel", &"x".repeat(bytes - state.len() + "feistel".len()));
        assert_eq!(text.len(), bytes);
        match Ledger::header(&text, u32::MAX, 60_000) {
            Ok(header) => {
                let mut ledger = Ledger::new(&header).unwrap();
                ledger.apply(&header).unwrap();
                assert_eq!(ledger.initial_state().unwrap(), text);
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
