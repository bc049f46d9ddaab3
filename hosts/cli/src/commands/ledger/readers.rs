//! What each reader of a ledger did, and which reader went on with what another one had claimed.

use std::collections::BTreeMap;

use samedeal::ledger::Event;

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

/// A log on the way from entry to entry.
#[derive(Default)]
pub struct Log {
    pub readers: BTreeMap<u32, Done>,
    /// The claims that are not over, by their numbers: the reader, and how many positions are not committed.
    held: BTreeMap<u64, (u32, u64)>,
    /// The readers of claims that left something.
    left: BTreeMap<u64, u32>,
}

impl Log {
    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        let Event { reader, claim, taken_from, .. } = *event;
        let count = u64::from(event.count);
        let done = self.readers.entry(reader).or_default();
        match event.kind.as_str() {
            "claim" => {
                done.claims += 1;
                self.held.insert(claim, (reader, count));
                if let Some(of) = taken_from.and_then(|of| self.left.remove(&of)) {
                    *self.readers.entry(of).or_default().next.entry(reader).or_default() += count;
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
