//! Clients of ledgers: their operations on a log to which others write too, and on a log that fails.

use matrix::Engine;
use matrix::format::{Call, Case, ClientCall, LedgerClient, Subject, U64};
use matrix::native::Native;
use serde_json::Value;

use super::ledgers::{EPOCHS, entry, header, sampler_state, whose_turn};
use super::{MAX_EXACT, asked, onlookers};

const LEASE: u64 = 100;

pub fn cases() -> Vec<Case> {
    [
        epochs(),
        shares(),
        others(),
        failures(),
        given_up(),
        sessions(),
        leases(),
        checkpoints(),
        claims(),
        onlookers::cases(),
        largest_claim(),
        options(),
        misuse(),
    ]
    .concat()
}

/// The fate of an entry that a client wants to append.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Fate {
    Appended,
    /// The log fails; the entry is there.
    Unsure,
    /// The log fails; the entry is not there.
    Failed,
}

/// A client that works on a log, and the calls that it got.
pub(super) struct Driven {
    subject: Subject,
    engine: Native,
    calls: Vec<Call>,
    pub(super) now_ms: u64,
}

impl Driven {
    pub(super) fn new(given: LedgerClient) -> Self {
        let subject = Subject::LedgerClient(given);
        let engine = Native::create(&subject).expect("a client");
        Self { subject, engine, calls: Vec::new(), now_ms: 0 }
    }

    fn ask(&mut self, call: ClientCall) -> Value {
        let call = Call::Client(call);
        let answer = self.engine.call(&call);
        self.calls.push(call);
        answer.unwrap_or(Value::Null)
    }

    /// Runs an operation to its end: each step of the client is answered from the log. Returns null if the log fails.
    pub(super) fn run(&mut self, begin: ClientCall, log: &mut Vec<String>, fates: &[Fate]) -> Value {
        let mut fates = fates.iter().copied();
        let mut step = self.ask(begin);
        loop {
            let now_ms = U64(self.now_ms);
            let call = match step["action"].as_str() {
                Some("checkpoint") => {
                    let found = log.iter().rev().find(|entry| entry.starts_with("{\"event\":\"checkpoint\""));
                    ClientCall::TellCheckpoint { checkpoint: found.cloned(), now_ms }
                }
                Some("read") => {
                    let from = number(&step) as usize;
                    // At most three entries at a time, so that a client has to read several times.
                    let entries = log.iter().skip(from).take(3).cloned().collect();
                    ClientCall::TellEntries { entries, now_ms }
                }
                Some("append") => {
                    let appended = number(&step) == log.len() as u64;
                    let fate = if appended { fates.next().unwrap_or(Fate::Appended) } else { Fate::Appended };
                    if appended && fate != Fate::Failed {
                        log.push(step["entry"].as_str().expect("a text").into());
                    }
                    if fate != Fate::Appended {
                        return Value::Null;
                    }
                    ClientCall::TellAppended { appended, now_ms }
                }
                _ => return step,
            };
            step = self.ask(call);
        }
    }

    fn claim(&mut self, log: &mut Vec<String>) -> Value {
        self.run(ClientCall::Claim { waits: false, now_ms: U64(self.now_ms) }, log, &[])
    }

    /// Claims a run of positions, which must succeed, and returns the handle of the claim.
    fn claimed(&mut self, log: &mut Vec<String>) -> U64 {
        let step = self.claim(log);
        assert_eq!(step["action"], "claimed");
        let handle = U64(number(&step));
        self.ask(ClientCall::Claimed { handle });
        handle
    }

    fn commit(&mut self, handle: U64, count: Option<u32>, log: &mut Vec<String>) -> Value {
        let done = self.run(ClientCall::Commit { handle, count, now_ms: U64(self.now_ms) }, log, &[]);
        self.ask(ClientCall::Claimed { handle });
        done
    }

    pub(super) fn catch_up(&mut self, log: &mut Vec<String>) {
        self.run(ClientCall::CatchUp { now_ms: U64(self.now_ms) }, log, &[]);
        self.ask(ClientCall::Progress);
    }

    pub(super) fn case(self, name: &str) -> Case {
        asked(name, self.subject, self.calls)
    }
}

fn number(step: &Value) -> u64 {
    step["number"].as_str().and_then(|number| number.parse().ok()).expect("a number")
}

pub(super) fn of(samples: u64, reader: u32, session: u64) -> LedgerClient {
    let state = sampler_state(samples, 0);
    LedgerClient {
        state,
        reader,
        session: U64(session),
        block_size: Some(4),
        lease_ms: Some(U64(LEASE)),
        checkpoint_interval: None,
    }
}

/// Whole epochs of two readers by turns, one of which reads more at a time.
fn epochs() -> Vec<Case> {
    let mut cases = Vec::new();
    for (samples, interval) in [(0, None), (3, None), (30, None), (30, Some(4)), (30, Some(1))] {
        let checkpoint_interval = interval.map(U64);
        let mut readers = [7, 9].map(|reader| {
            Driven::new(LedgerClient { checkpoint_interval, ..of(samples, reader, u64::from(reader) << 40) })
        });
        let mut log = Vec::new();
        let mut ended = [false; 2];
        while !ended.iter().all(|ended| *ended) {
            for ((reader, ended), part) in readers.iter_mut().zip(&mut ended).zip([3, 2]) {
                reader.now_ms += 1;
                let step = reader.claim(&mut log);
                if step["action"] == "finished" {
                    *ended = true;
                    continue;
                }
                let handle = U64(number(&step));
                reader.ask(ClientCall::Claimed { handle });
                reader.commit(handle, Some(part.min(samples as u32)), &mut log);
                reader.commit(handle, None, &mut log);
                reader.ask(ClientCall::Forget { handle });
            }
        }
        let interval = interval.map_or("the default".into(), |interval: u64| interval.to_string());
        for (name, mut reader) in ["first", "second"].into_iter().zip(readers) {
            reader.catch_up(&mut log);
            cases.push(reader.case(&format!("the {name} of two readers of {samples}, checkpoint interval {interval}")));
        }
    }
    cases
}

/// Whole epochs, of which a part may be consumed already. The readers have different speeds, and commit three positions
/// at a time.
fn shares() -> Vec<Case> {
    let mut cases = Vec::new();
    for (samples, consumed, block_size, readers) in EPOCHS {
        let state = sampler_state(samples, consumed);
        let mut drivers: Vec<_> = (0..readers)
            .map(|reader| {
                Driven::new(LedgerClient {
                    state: state.clone(),
                    block_size: Some(block_size),
                    ..of(samples, reader, reader.into())
                })
            })
            .collect();
        let mut log = Vec::new();
        let mut held: Vec<Option<(U64, u64)>> = vec![None; readers as usize];
        for turn in 1.. {
            let Some(reader) = whose_turn(turn, readers) else { continue };
            let (driven, held) = (&mut drivers[reader as usize], &mut held[reader as usize]);
            driven.now_ms = turn.into();
            match *held {
                Some((handle, left)) => {
                    let part = left.min(3);
                    driven.run(
                        ClientCall::Commit { handle, count: Some(part as u32), now_ms: U64(turn.into()) },
                        &mut log,
                        &[],
                    );
                    *held = (part < left).then_some((handle, left - part));
                }
                None => {
                    let step = driven.claim(&mut log);
                    if step["action"] == "finished" {
                        break;
                    }
                    if step["action"] == "claimed" {
                        let handle = U64(number(&step));
                        let run = driven.ask(ClientCall::Claimed { handle });
                        *held = Some((handle, run["count"].as_u64().expect("a number")));
                    }
                }
            }
        }
        for (reader, mut driven) in drivers.into_iter().enumerate() {
            driven.catch_up(&mut log);
            let name = format!("reader {reader} of {readers} that share {samples} from {consumed} on by {block_size}");
            cases.push(driven.case(&name));
        }
    }
    cases
}

/// The largest claim: 2^32 - 1 positions.
fn largest_claim() -> Vec<Case> {
    let (end, block_size) = (MAX_EXACT, u32::MAX);
    let state = sampler_state(end, end - 5_000_000_000);
    let mut reader = Driven::new(LedgerClient { state, block_size: Some(block_size), ..of(0, u32::MAX, u64::MAX) });
    let mut log = Vec::new();
    let handle = reader.claimed(&mut log);
    reader.commit(handle, Some(block_size - 1), &mut log);
    reader.commit(handle, None, &mut log);
    let handle = reader.claimed(&mut log);
    reader.commit(handle, Some(1), &mut log);
    reader.run(ClientCall::Release { handle, now_ms: U64(0) }, &mut log, &[]);
    reader.catch_up(&mut log);
    vec![reader.case("the largest claim")]
}

/// Other writers are faster: with the first entry, with other entries, and several times in a row.
fn others() -> Vec<Case> {
    let mut reader = Driven::new(of(40, 1, 2));
    let now_ms = U64(5);
    reader.ask(ClientCall::Open { now_ms });
    reader.ask(ClientCall::TellCheckpoint { checkpoint: None, now_ms });
    reader.ask(ClientCall::TellEntries { entries: Vec::new(), now_ms });
    reader.ask(ClientCall::TellAppended { appended: false, now_ms });
    // The log has no entry at the place where the append failed.
    reader.ask(ClientCall::TellEntries { entries: Vec::new(), now_ms });
    reader.ask(ClientCall::CatchUp { now_ms });
    reader.ask(ClientCall::TellEntries { entries: vec![header(40, 0, 4)], now_ms });
    reader.ask(ClientCall::TellEntries { entries: vec![entry("claim", 5, 0, 4)], now_ms });
    reader.ask(ClientCall::TellEntries { entries: Vec::new(), now_ms });
    reader.ask(ClientCall::TellAppended { appended: true, now_ms });
    reader.ask(ClientCall::Claim { waits: true, now_ms });
    reader.ask(ClientCall::TellEntries { entries: Vec::new(), now_ms });
    for at in 0..8 {
        reader.ask(ClientCall::TellAppended { appended: false, now_ms });
        let entries = vec![entry("commit", 5, 0, 0); at % 2 + 1];
        reader.ask(ClientCall::TellEntries { entries, now_ms });
        reader.ask(ClientCall::TellEntries { entries: Vec::new(), now_ms });
    }
    reader.ask(ClientCall::TellAppended { appended: true, now_ms });
    // The lost races do not slow down the next operation.
    reader.ask(ClientCall::Claim { waits: true, now_ms });
    reader.ask(ClientCall::TellEntries { entries: Vec::new(), now_ms });
    reader.ask(ClientCall::TellAppended { appended: false, now_ms });
    vec![reader.case("others are faster")]
}

/// A log that fails before or after it has appended an entry. Whatever is asked afterwards, nothing is lost and nothing
/// is done twice.
fn failures() -> Vec<Case> {
    let mut cases = Vec::new();
    for fate in [Fate::Unsure, Fate::Failed] {
        // `Some`: the reader reads the log before it asks again; with `true`, another reader has written to the log
        // meanwhile. `None`: the reader asks again at once.
        for other in [Some(false), Some(true), None] {
            let mut reader = Driven::new(of(20, 1, 2));
            let mut log = Vec::new();
            let now_ms = U64(0);
            // The log fails at the first entry, then at the join, then not at all.
            for fates in [&[fate][..], &[Fate::Appended, fate], &[]] {
                reader.run(ClientCall::Open { now_ms }, &mut log, fates);
            }
            // Entries of another reader between two operations.
            let meanwhile = |log: &mut Vec<String>, reader: &mut Driven| {
                if other == Some(true) {
                    log.push(format!("{{\"event\":\"join\",\"reader\":9,\"session\":\"{:016x}\"}}", log.len()));
                }
                if other.is_some() {
                    reader.catch_up(log);
                }
            };
            reader.run(ClientCall::Claim { waits: false, now_ms }, &mut log, &[fate]);
            meanwhile(&mut log, &mut reader);
            let handle = reader.claimed(&mut log);
            for count in [Some(1), Some(0), Some(2), None] {
                reader.run(ClientCall::Commit { handle, count, now_ms }, &mut log, &[fate]);
                meanwhile(&mut log, &mut reader);
                reader.commit(handle, count, &mut log);
            }
            reader.commit(handle, None, &mut log);
            let handle = reader.claimed(&mut log);
            reader.run(ClientCall::Renew { handle, now_ms }, &mut log, &[fate]);
            reader.run(ClientCall::Renew { handle, now_ms }, &mut log, &[]);
            // A commit of three positions fails. The next commit is another one: of one position.
            reader.run(ClientCall::Commit { handle, count: Some(3), now_ms }, &mut log, &[fate]);
            reader.commit(handle, Some(1), &mut log);
            reader.run(ClientCall::Release { handle, now_ms }, &mut log, &[fate]);
            meanwhile(&mut log, &mut reader);
            reader.run(ClientCall::Release { handle, now_ms }, &mut log, &[]);
            reader.ask(ClientCall::Claimed { handle });
            reader.commit(handle, None, &mut log);
            reader.ask(ClientCall::IsLost { handle });
            reader.run(ClientCall::ChangeLease { lease_ms: U64(7), now_ms }, &mut log, &[fate]);
            reader.run(ClientCall::ChangeLease { lease_ms: U64(7), now_ms }, &mut log, &[]);
            reader.ask(ClientCall::LeaseMs);
            reader.catch_up(&mut log);
            let fate = if fate == Fate::Unsure { "after" } else { "before" };
            let other = match other {
                Some(false) => "",
                Some(true) => ", and others go on",
                None => ", and the same at once",
            };
            cases.push(reader.case(&format!("a log that fails {fate} it appends{other}")));
        }
    }
    cases
}

/// A claim that was given up, but that is in the log, or arrives there after another operation has taken its place. It
/// becomes the next claim, and the epoch still ends.
fn given_up() -> Vec<Case> {
    let mut cases = Vec::new();
    let now_ms = U64(0);
    for late in [false, true] {
        for releases in [false, true] {
            let mut reader = Driven::new(of(10, 1, 2));
            let mut log = Vec::new();
            let first = reader.claimed(&mut log);
            let fate = if late { Fate::Failed } else { Fate::Unsure };
            reader.run(ClientCall::Claim { waits: false, now_ms }, &mut log, &[fate]);
            let other = if releases {
                ClientCall::Release { handle: first, now_ms }
            } else {
                ClientCall::Commit { handle: first, count: None, now_ms }
            };
            if late {
                let step = reader.ask(other.clone());
                assert_eq!(step["action"], "append");
                log.push(entry("claim", 1, 4, 4));
                reader.ask(ClientCall::TellAppended { appended: false, now_ms });
            }
            reader.run(other, &mut log, &[]);
            for _ in 0..3 {
                let step = reader.claim(&mut log);
                if step["action"] == "finished" {
                    break;
                }
                reader.commit(U64(number(&step)), None, &mut log);
            }
            let (what, when) = (if releases { "release" } else { "commit" }, if late { "late" } else { "there" });
            reader.catch_up(&mut log);
            cases.push(reader.case(&format!("a claim that was given up is {when}, and a {what} comes first")));
        }
    }
    cases
}

/// Two processes with the same reader number: the second process takes over.
fn sessions() -> Vec<Case> {
    let mut log = Vec::new();
    let [mut old, mut new] = [1, u64::MAX].map(|session| Driven::new(of(20, 3, session)));
    let now_ms = U64(0);
    let first = old.claimed(&mut log);
    let second = old.claimed(&mut log);
    old.commit(first, Some(1), &mut log);
    old.commit(second, None, &mut log);
    let mut other = Driven::new(of(20, 4, 1));
    other.claimed(&mut log);
    // A claim of the first process is in the log when the second process joins, but the first process does not know
    // that.
    old.run(ClientCall::Claim { waits: false, now_ms }, &mut log, &[Fate::Unsure]);
    let handle = new.claimed(&mut log);
    old.commit(first, Some(1), &mut log);
    old.ask(ClientCall::IsLost { handle: first });
    old.ask(ClientCall::IsLost { handle: second });
    for begin in [
        ClientCall::Renew { handle: first, now_ms },
        ClientCall::Release { handle: first, now_ms },
        ClientCall::Release { handle: second, now_ms },
        ClientCall::Claim { waits: false, now_ms },
        ClientCall::Claim { waits: true, now_ms },
        ClientCall::ChangeLease { lease_ms: U64(5), now_ms },
        ClientCall::Open { now_ms },
    ] {
        old.run(begin, &mut log, &[]);
    }
    old.catch_up(&mut log);
    new.commit(handle, None, &mut log);
    while new.claim(&mut log)["action"] == "claimed" {}
    new.catch_up(&mut log);
    // A third process. The log appends its join, but fails before it says so.
    let mut third = Driven::new(of(20, 3, 5));
    third.run(ClientCall::Open { now_ms }, &mut log, &[Fate::Unsure]);
    third.claim(&mut log);
    third.catch_up(&mut log);
    vec![
        old.case("the first session of a reader"),
        new.case("the second session of a reader"),
        third.case("a session whose join is not known to be there"),
    ]
}

/// Leases that are set, taken from the log, and changed.
fn leases() -> Vec<Case> {
    let mut log = Vec::new();
    let with = |reader, lease_ms: Option<u64>| {
        Driven::new(LedgerClient { lease_ms: lease_ms.map(U64), ..of(6, reader, reader.into()) })
    };
    let mut cases = Vec::new();
    let mut one = with(1, None);
    one.claimed(&mut log);
    one.ask(ClientCall::LeaseMs);
    let mut two = with(2, Some(500));
    two.claimed(&mut log);
    two.ask(ClientCall::LeaseMs);
    let mut three = with(3, None);
    three.claim(&mut log);
    three.ask(ClientCall::LeaseMs);
    for (lease_ms, now_ms) in [(60, 50), (MAX_EXACT, 70), (0, 80), (MAX_EXACT + 1, 80), (10, 90), (10, 90)] {
        two.now_ms = now_ms;
        two.run(ClientCall::ChangeLease { lease_ms: U64(lease_ms), now_ms: U64(now_ms) }, &mut log, &[]);
        three.now_ms = now_ms;
        for waits in [true, false] {
            three.run(ClientCall::Claim { waits, now_ms: U64(now_ms) }, &mut log, &[]);
        }
    }
    three.now_ms = 2_000;
    three.claim(&mut log);
    // The option `lease` has its effect when a client opens the log, and not later.
    two.claim(&mut log);
    two.ask(ClientCall::LeaseMs);
    let mut four = with(4, Some(10));
    four.claim(&mut log);
    for (name, reader) in [("in the log", one), ("that is set", two), ("that others set", three), ("as it is", four)] {
        cases.push(reader.case(&format!("a lease {name}")));
    }
    cases
}

/// Logs that are read from a checkpoint on, and texts that are no valid checkpoints.
fn checkpoints() -> Vec<Case> {
    let mut log = Vec::new();
    let interval = |reader, session| LedgerClient { checkpoint_interval: Some(U64(2)), ..of(40, reader, session) };
    let mut one = Driven::new(interval(1, 1));
    let mut handles = Vec::new();
    for _ in 0..4 {
        handles.push(one.claimed(&mut log));
    }
    one.commit(handles[2], Some(3), &mut log);
    one.run(ClientCall::Release { handle: handles[1], now_ms: U64(0) }, &mut log, &[]);
    one.commit(handles[0], None, &mut log);
    one.run(ClientCall::ChangeLease { lease_ms: U64(900), now_ms: U64(0) }, &mut log, &[]);
    one.claimed(&mut log);
    let at = log.iter().rposition(|entry| entry.contains("checkpoint")).expect("a checkpoint");
    let good = log[at].clone();
    let mut cases = Vec::new();

    // A second reader continues after the checkpoint, and knows from it what others hold.
    let mut two = Driven::new(interval(2, 2));
    two.now_ms = 3;
    two.claimed(&mut log);
    two.ask(ClientCall::Progress);
    two.ask(ClientCall::LeaseMs);
    one.commit(handles[3], None, &mut log);
    one.commit(handles[2], None, &mut log);
    two.catch_up(&mut log);
    while two.claim(&mut log)["action"] == "claimed" {}
    two.now_ms = 2_000;
    two.claim(&mut log);
    cases.push(one.case("a reader that writes checkpoints"));
    cases.push(two.case("a reader that goes on behind a checkpoint"));

    // Another process with the number of the first reader.
    let mut again = Driven::new(interval(1, 9));
    again.claim(&mut log);
    again.catch_up(&mut log);
    cases.push(again.case("another session behind a checkpoint"));

    let others = [
        good.replace("\"number\":", "\"number\":0,\"more\":"),
        format!("{good} "),
        good.replace("\"committed\":", "\"committed\":1"),
        good.replace("\"lease_ms\":900", "\"lease_ms\":0"),
        good.replace("\"free\":[", "\"free\":[1,"),
        good.replace("\"held\":[", "\"held\":[1,"),
        entry("claim", 1, 0, 4),
        header(40, 0, 4),
        String::new(),
        " ".repeat(100),
        checkpoint(0, 0, 0, "", ""),
        checkpoint(1, 41, 41, "", ""),
        checkpoint(9, 4, 4, "", ""),
        checkpoint(9, 40, 40, "", ""),
        checkpoint(9, 40, 39, "", ""),
        checkpoint(9, 8, 0, "0,4,4,4", ""),
        checkpoint(9, 8, 0, "4,4,0,4", ""),
        checkpoint(9, 8, 0, "0,4,3,4", ""),
        checkpoint(9, 8, 4, "4,0", ""),
        checkpoint(9, 8, 0, "0,4", "1,5,4,4,0"),
        checkpoint(9, 8, 0, "4,4", "1,5,0,4,0"),
        checkpoint(9, 8, 2, "4,4", "1,5,0,4,2"),
        checkpoint(9, 8, 0, "", "1,5,0,4,0,1,6,4,4,0"),
        checkpoint(9, 8, 0, "", "1,5,0,4,0,9,6,4,4,0"),
        checkpoint(9, 8, 0, "", "1,5,4,4,0,2,6,0,4,0"),
        checkpoint(9, 8, 8, "", "1,5,4,4,4"),
        checkpoint(9, 8, 9, "", "1,5,4,4,5"),
        checkpoint(9, 8, 0, "", "0,5,0,4,0,2,6,4,4,0"),
        checkpoint(9, 8, 0, "", "1,4294967296,0,4,0,2,6,4,4,0"),
        checkpoint(9, 8, 0, "", "1,4294967295,0,4,0,2,6,4,4,0"),
        checkpoint(9, 8, 4, "", "1,5,0,4294967296,0"),
        checkpoint(MAX_EXACT, 0, 0, "", ""),
        checkpoint(MAX_EXACT + 1, 0, 0, "", ""),
    ];
    for (at, text) in others.into_iter().enumerate() {
        let mut reader = Driven::new(interval(3, 3));
        let now_ms = U64(0);
        reader.ask(ClientCall::Claim { waits: false, now_ms });
        reader.ask(ClientCall::TellCheckpoint { checkpoint: Some(text), now_ms });
        reader.ask(ClientCall::TellEntries { entries: vec![header(40, 0, 4)], now_ms });
        reader.ask(ClientCall::Progress);
        // The next attempt ignores the checkpoint and reads all entries.
        reader.ask(ClientCall::CatchUp { now_ms });
        cases.push(reader.case(&format!("checkpoints from anywhere, {at}")));
    }
    // A claim that began before the first position of the ledger, and one that began there.
    for (at, held) in ["1,5,2,8,4", "1,5,4,6,2"].into_iter().enumerate() {
        let given = interval(3, 3);
        let state = given.state.replace("\"consumed\":0", "\"consumed\":4");
        let mut reader = Driven::new(LedgerClient { state, ..given });
        let now_ms = U64(0);
        reader.ask(ClientCall::Open { now_ms });
        reader.ask(ClientCall::TellCheckpoint { checkpoint: Some(checkpoint(9, 10, 2, "", held)), now_ms });
        reader.ask(ClientCall::TellEntries { entries: vec![header(40, 4, 4)], now_ms });
        reader.ask(ClientCall::Progress);
        cases.push(reader.case(&format!("checkpoints of the rest of an epoch, {at}")));
    }
    cases
}

fn checkpoint(number: u64, next: u64, committed: u64, free: &str, held: &str) -> String {
    format!(
        "{{\"event\":\"checkpoint\",\"number\":{number},\"next\":{next},\"committed\":{committed},\"lease_ms\":100,\
         \"free\":[{free}],\"held\":[{held}]}}"
    )
}

/// Claims that are given out, that are forgotten, and that are lost.
fn claims() -> Vec<Case> {
    let mut log = Vec::new();
    let now_ms = U64(0);
    let mut one = Driven::new(of(12, 1, 1));
    let mut two = Driven::new(LedgerClient { block_size: None, lease_ms: None, ..of(12, 2, 2) });
    two.ask(ClientCall::BlockSize);
    let handles = [one.claimed(&mut log), one.claimed(&mut log)];
    one.commit(handles[0], Some(1), &mut log);
    for count in [Some(4), Some(u32::MAX), Some(0)] {
        one.commit(handles[0], count, &mut log);
    }
    for handle in handles {
        one.ask(ClientCall::Forget { handle });
        one.ask(ClientCall::Claimed { handle });
        one.ask(ClientCall::IsLost { handle });
        one.run(ClientCall::Commit { handle, count: None, now_ms }, &mut log, &[]);
        one.run(ClientCall::Renew { handle, now_ms }, &mut log, &[]);
        one.run(ClientCall::Release { handle, now_ms }, &mut log, &[]);
    }
    let again = one.claimed(&mut log);
    one.commit(again, Some(1), &mut log);
    one.ask(ClientCall::Forget { handle: again });
    let again = one.claimed(&mut log);
    let other = two.claimed(&mut log);
    two.ask(ClientCall::BlockSize);
    let last = one.claimed(&mut log);
    for reader in [&mut one, &mut two] {
        for waits in [false, true] {
            reader.run(ClientCall::Claim { waits, now_ms }, &mut log, &[]);
        }
    }
    two.commit(other, None, &mut log);
    for waits in [false, true] {
        one.run(ClientCall::Claim { waits, now_ms }, &mut log, &[]);
    }
    // The first reader has been silent for longer than the lease.
    two.now_ms = LEASE + 1;
    let taken = two.claimed(&mut log);
    one.commit(again, Some(1), &mut log);
    for handle in [again, last] {
        one.ask(ClientCall::IsLost { handle });
        one.run(ClientCall::Renew { handle, now_ms }, &mut log, &[]);
        one.ask(ClientCall::Forget { handle });
    }
    let mine = one.claim(&mut log);
    two.commit(taken, None, &mut log);
    two.ask(ClientCall::Forget { handle: taken });
    two.ask(ClientCall::Forget { handle: taken });
    two.claim(&mut log);
    if mine["action"] == "claimed" {
        one.commit(U64(number(&mine)), None, &mut log);
    }
    two.claim(&mut log);
    one.claim(&mut log);
    vec![one.case("claims that are forgotten and lost"), two.case("claims of another reader")]
}

/// Options that are refused, and logs of other runs.
fn options() -> Vec<Case> {
    let good = of(10, 1, 2);
    let subject = |given: &LedgerClient| Subject::LedgerClient(given.clone());
    let mut cases = Vec::new();
    for (name, given) in [
        ("block 0", LedgerClient { block_size: Some(0), ..good.clone() }),
        ("lease 0", LedgerClient { lease_ms: Some(U64(0)), ..good.clone() }),
        ("lease 2^53", LedgerClient { lease_ms: Some(U64(MAX_EXACT + 1)), ..good.clone() }),
        ("checkpoint interval 0", LedgerClient { checkpoint_interval: Some(U64(0)), ..good.clone() }),
        ("checkpoint interval 2^53", LedgerClient { checkpoint_interval: Some(U64(MAX_EXACT + 1)), ..good.clone() }),
        ("no state", LedgerClient { state: "{}".into(), block_size: Some(0), ..good.clone() }),
        ("a long state", LedgerClient { state: " ".repeat(100), ..good.clone() }),
        ("a header", LedgerClient { state: header(10, 0, 4), ..good.clone() }),
    ] {
        cases.push(asked(&format!("clients that are refused: {name}"), subject(&given), []));
    }
    let own = header(10, 0, 4);
    for (at, (found, block_size)) in [
        (own.replace("\"samples\":10", "\"samples\":11"), Some(4)),
        (own.replace("\"block_size\":4", "\"block_size\":5"), Some(4)),
        (own.replace("\"block_size\":4", "\"block_size\":5"), None),
        (own.replace("\"block_size\":4", "\"block_size\":0"), None),
        (own.replace("\"lease_ms\":100", "\"lease_ms\":101"), Some(4)),
        (own.replace("\"seed\":0", "\"seed\":9").replace("\"block_size\":4", "\"block_size\":5"), None),
        (entry("claim", 1, 0, 4), None),
        (format!("{own}\n"), None),
        (" ".repeat(100), None),
    ]
    .into_iter()
    .enumerate()
    {
        let mut reader = Driven::new(LedgerClient { block_size, lease_ms: None, ..good.clone() });
        let now_ms = U64(0);
        reader.ask(ClientCall::Open { now_ms });
        reader.ask(ClientCall::TellCheckpoint { checkpoint: None, now_ms });
        reader.ask(ClientCall::TellEntries { entries: vec![found, entry("claim", 1, 1, 1)], now_ms });
        reader.ask(ClientCall::BlockSize);
        reader.ask(ClientCall::LeaseMs);
        reader.ask(ClientCall::Progress);
        reader.ask(ClientCall::CatchUp { now_ms });
        cases.push(reader.case(&format!("logs of something else, {at}")));
    }
    cases
}

/// A host that reports outcomes that the client did not ask for.
fn misuse() -> Vec<Case> {
    let now_ms = U64(0);
    let tell = [
        ClientCall::TellCheckpoint { checkpoint: None, now_ms },
        ClientCall::TellEntries { entries: Vec::new(), now_ms },
        ClientCall::TellAppended { appended: true, now_ms },
    ];
    let mut reader = Driven::new(of(10, 1, 2));
    let mut log = Vec::new();
    reader.ask(ClientCall::Claimed { handle: U64(1) });
    reader.ask(ClientCall::Commit { handle: U64(0), count: None, now_ms });
    reader.ask(ClientCall::Forget { handle: U64(u64::MAX) });
    reader.ask(ClientCall::Progress);
    for call in &tell {
        reader.ask(call.clone());
    }
    for asked in [0, 1, 2] {
        let mut fresh = reader.ask(ClientCall::Open { now_ms });
        while fresh["action"] != ["checkpoint", "read", "append"][asked] && !fresh.is_null() {
            fresh = match fresh["action"].as_str() {
                Some("checkpoint") => reader.ask(tell[0].clone()),
                Some("read") => reader.ask(tell[1].clone()),
                _ => break,
            };
        }
        for (at, call) in tell.iter().enumerate() {
            if at != asked {
                reader.ask(call.clone());
            }
        }
    }
    // The client still works after these calls.
    let handle = reader.claimed(&mut log);
    reader.commit(handle, None, &mut log);
    for call in &tell {
        reader.ask(call.clone());
    }
    vec![reader.case("outcomes that nobody asked for")]
}
