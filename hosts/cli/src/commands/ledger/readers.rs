//! The work of each reader of a ledger, and the readers that claimed positions which another reader had left.

use std::collections::BTreeMap;

use samedeal::ledger::Event;
use schemars::JsonSchema;
use serde::Serialize;

/// The work of one reader.
#[derive(Default, Serialize, JsonSchema)]
pub struct ReaderOf {
    pub reader: u32,
    pub claims: u64,
    pub commits: u64,
    /// Samples that it committed.
    pub samples: u64,
    /// Samples that it gave back, or that others took over after its lease.
    pub released: u64,
    /// Samples that it still held when another process joined with its number.
    pub freed: u64,
    /// The readers that claimed these positions next.
    pub claimed_next_by: Vec<Next>,
}

#[derive(Serialize, JsonSchema)]
pub struct Next {
    pub reader: u32,
    pub samples: u64,
}

/// Counts of all readers, updated by each event of the log.
#[derive(Default)]
pub struct Log {
    pub readers: BTreeMap<u32, ReaderOf>,
    /// The open claims, by their numbers: the reader, and how many positions are not committed.
    held: BTreeMap<u64, (u32, u64)>,
    /// The readers of claims that ended with positions left, by the numbers of the claims.
    left: BTreeMap<u64, u32>,
}

impl Log {
    /// Counts the next event of the log.
    pub fn add(&mut self, event: &Event) {
        let Event { reader, claim, taken_from, .. } = *event;
        let count = u64::from(event.count);
        let done = self.readers.entry(reader).or_insert_with(|| ReaderOf { reader, ..ReaderOf::default() });
        match event.kind.as_str() {
            "claim" => {
                done.claims += 1;
                self.held.insert(claim, (reader, count));
                let left = taken_from.and_then(|of| self.left.remove(&of));
                if let Some(of) = left.and_then(|of| self.readers.get_mut(&of)) {
                    let next = &mut of.claimed_next_by;
                    match next.binary_search_by_key(&reader, |next| next.reader) {
                        Ok(place) => next[place].samples += count,
                        Err(place) => next.insert(place, Next { reader, samples: count }),
                    }
                }
            }
            "commit" => {
                done.commits += 1;
                done.samples += count;
                if let Some((_, left)) = self.held.get_mut(&claim) {
                    *left -= count;
                    if *left == 0 {
                        self.held.remove(&claim);
                    }
                }
            }
            "release" => {
                done.released += count;
                self.held.remove(&claim);
                self.left.insert(claim, reader);
            }
            "join" => {
                for (claim, (_, left)) in self.held.extract_if(.., |_, (own, _)| *own == reader) {
                    done.freed += left;
                    self.left.insert(claim, reader);
                }
            }
            _ => {}
        }
    }
}
