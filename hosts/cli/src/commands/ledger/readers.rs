//! What each reader of a ledger did, and which reader went on with what another one had claimed.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use samedeal::ledger::Event;
use serde_json::Value;

/// What a reader has done.
#[derive(Debug, Default, PartialEq)]
pub struct Done {
    pub claims: u64,
    pub commits: u64,
    pub samples: u64,
    /// What it gave back, and what others took after its lease ended: the log does not tell them apart.
    pub released: u64,
    /// What it still held when another process joined with its number.
    pub freed: u64,
    /// Which readers claimed these positions next, and how many of them.
    pub next: BTreeMap<u32, u64>,
}

/// The entries `join` among the first `entries` of a log: their numbers and their readers. Events do not have them, and a join frees all runs of
/// its reader.
pub fn joins(log: impl BufRead, entries: u64) -> io::Result<Vec<(u64, u32)>> {
    let mut joins = Vec::new();
    // The log was checked before. What was appended in the meantime is not told.
    for (number, line) in (0..entries).zip(log.lines()) {
        let line = line?;
        if !line.contains("\"join\"") {
            continue;
        }
        let entry = serde_json::from_str::<Value>(&line).unwrap_or_default();
        let reader = entry["reader"].as_u64().and_then(|reader| u32::try_from(reader).ok());
        joins.extend(reader.filter(|_| entry["event"] == "join").map(|reader| (number, reader)));
    }
    Ok(joins)
}

/// What is left of a claim, from one position to before another.
struct Held {
    reader: u32,
    start: u64,
    end: u64,
}

/// A log on the way from entry to entry.
#[derive(Default)]
struct Log {
    readers: BTreeMap<u32, Done>,
    /// By the number of the claim.
    held: BTreeMap<u64, Held>,
    /// What is free again, by its first position: the reader that had it. A claim takes all of such a run, or what nobody had.
    free: BTreeMap<u64, u32>,
}

/// What readers did, by the events of a log and its joins.
pub fn follow(events: &[Event], joins: &[(u64, u32)]) -> BTreeMap<u32, Done> {
    let (mut log, mut joins) = (Log::default(), joins.iter().peekable());
    for event in events {
        while let Some((_, reader)) = joins.next_if(|(number, _)| *number < event.number) {
            log.join(*reader);
        }
        log.add(event);
    }
    joins.for_each(|(_, reader)| log.join(*reader));
    log.readers
}

impl Log {
    fn add(&mut self, event: &Event) {
        let Event { reader, start, count, claim, .. } = *event;
        let (count, end) = (u64::from(count), start + u64::from(count));
        let done = self.readers.entry(reader).or_default();
        match event.kind.as_str() {
            "claim" => {
                done.claims += 1;
                self.held.insert(claim, Held { reader, start, end });
                if let Some(of) = self.free.remove(&start) {
                    *self.readers.entry(of).or_default().next.entry(reader).or_default() += count;
                }
            }
            "commit" => {
                done.commits += 1;
                done.samples += count;
                if let Some(held) = self.held.get_mut(&claim).filter(|_| count > 0) {
                    held.start = end;
                }
            }
            "release" => {
                done.released += count;
                self.held.remove(&claim);
                self.free.insert(start, reader);
            }
            _ => {}
        }
    }

    /// What an earlier process with this number held is free.
    fn join(&mut self, reader: u32) {
        let done = self.readers.entry(reader).or_default();
        for held in self.held.extract_if(.., |_, held| held.reader == reader).map(|(_, held)| held) {
            if held.start < held.end {
                done.freed += held.end - held.start;
                self.free.insert(held.start, reader);
            }
        }
    }
}
