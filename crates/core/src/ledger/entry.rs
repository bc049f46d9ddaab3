//! Entries of a log as texts: JSON, one line each.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{EventKind, Lease};
use crate::base::MAX_EXACT;
use crate::base::memory::has_room;
use crate::document::{EntryFields, of_digits};

/// An entry of the log, other than the first one.
pub(super) enum Entry {
    /// A claim, a commit or a release of a run of positions.
    Run(Run),
    /// A process begins as a reader, with the number of its session. All runs that the reader held in another session become
    /// free.
    Join { reader: u32, session: u64 },
    /// A reader sets for how long readers may be silent from now on, in milliseconds.
    Lease { reader: u32, lease_ms: u64 },
    /// The result of all entries before it.
    Checkpoint(Checkpoint),
}

/// An event of a run of positions: a claim, a commit or a release.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub kind: EventKind,
    pub reader: u32,
    pub start: u64,
    pub count: u32,
}

/// A checkpoint: the parts of a ledger that later entries need.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// The number of the checkpoint among the entries.
    pub number: u64,
    pub next: u64,
    pub committed: u64,
    pub lease_ms: u64,
    /// Free runs, ascending: start and count.
    pub free: Vec<(u64, u32)>,
    /// Held runs, ascending by start.
    pub held: Vec<Lease>,
}

/// How many numbers a held run has in a checkpoint.
const HELD: usize = 5;

/// Reads an entry of one event. None if a field is missing or has no value of this event.
type Read = fn(&EntryFields<'_>) -> Option<Entry>;

/// All events of a log: the name, the number of fields in an entry, and the function that reads the entry.
const EVENTS: [(&str, usize, Read); 6] = [
    (EventKind::Claim.name(), 4, |fields| Run::read(EventKind::Claim, fields)),
    (EventKind::Commit.name(), 4, |fields| Run::read(EventKind::Commit, fields)),
    (EventKind::Release.name(), 4, |fields| Run::read(EventKind::Release, fields)),
    (EventKind::Join.name(), 3, |fields| {
        Some(Entry::Join { reader: reader(fields)?, session: of_digits(fields.session.as_ref()?)? })
    }),
    ("lease", 3, |fields| {
        let lease_ms = exact(fields.lease_ms?).filter(|&lease_ms| lease_ms > 0)?;
        Some(Entry::Lease { reader: reader(fields)?, lease_ms })
    }),
    ("checkpoint", 7, |fields| Some(Entry::Checkpoint(Checkpoint::read(fields)?))),
];

impl Run {
    fn read(kind: EventKind, fields: &EntryFields<'_>) -> Option<Entry> {
        let (start, count) = (exact(fields.start?)?, fields.count?.try_into().ok()?);
        Some(Entry::Run(Self { kind, reader: reader(fields)?, start, count }))
    }

    pub fn write(&self) -> String {
        let Self { kind, reader, start, count } = self;
        format!("{{\"event\":\"{}\",\"reader\":{reader},\"start\":{start},\"count\":{count}}}", kind.name())
    }
}

pub(super) fn join(reader: u32, session: u64) -> String {
    format!("{{\"event\":\"join\",\"reader\":{reader},\"session\":\"{session:016x}\"}}")
}

pub(super) fn lease(reader: u32, lease_ms: u64) -> String {
    format!("{{\"event\":\"lease\",\"reader\":{reader},\"lease_ms\":{lease_ms}}}")
}

impl Checkpoint {
    pub fn write(&self) -> String {
        let Self { number, next, committed, lease_ms, free, held } = self;
        let mut text = format!(
            "{{\"event\":\"checkpoint\",\"number\":{number},\"next\":{next},\"committed\":{committed},\"lease_ms\":{lease_ms},\
             \"free\":["
        );
        for (at, (start, count)) in free.iter().enumerate() {
            text += &format!("{}{start},{count}", comma(at));
        }
        text += "],\"held\":[";
        for (at, run) in held.iter().enumerate() {
            let Lease { claim, reader, count, .. } = run;
            text += &format!("{}{claim},{reader},{},{count},{}", comma(at), run.first(), run.done());
        }
        text += "]}";
        text
    }

    fn read(fields: &EntryFields) -> Option<Self> {
        let (free, held) = (fields.free.as_ref()?, fields.held.as_ref()?);
        let ((free, []), (held, [])) = (free.as_chunks::<2>(), held.as_chunks::<HELD>()) else { return None };
        let (mut free_runs, mut held_runs) = (Vec::new(), Vec::new());
        if !has_room(&mut free_runs, free.len()) || !has_room(&mut held_runs, held.len()) {
            return None;
        }
        for &[start, count] in free {
            free_runs.push((exact(start)?, count.try_into().ok()?));
        }
        for &[claim, reader, first, count, done] in held {
            let (count, done): (u32, u32) = (count.try_into().ok()?, done.try_into().ok()?);
            held_runs.push(Lease {
                start: exact(exact(first)? + u64::from(done))?,
                left: count.checked_sub(done)?,
                reader: reader.try_into().ok()?,
                claim: exact(claim)?,
                count,
            });
        }
        Some(Self {
            number: exact(fields.number?)?,
            next: exact(fields.next?)?,
            committed: exact(fields.committed?)?,
            lease_ms: exact(fields.lease_ms?).filter(|&lease_ms| lease_ms > 0)?,
            free: free_runs,
            held: held_runs,
        })
    }
}

impl Entry {
    /// Reads the text of an entry; none if the text is no entry.
    pub fn read(text: &str) -> Option<Self> {
        let fields = EntryFields::read(text)?;
        let &(_, needed, read) = EVENTS.iter().find(|&&(name, ..)| name == fields.event)?;
        // `read` fails if a field that the entry needs is missing. Then an entry with as many fields as it needs has no
        // others.
        let entry = read(&fields)?;
        (fields.len == needed).then_some(entry)
    }
}

/// The names of all events of a log.
pub(super) fn events() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().map(|&(name, ..)| name)
}

fn reader(fields: &EntryFields<'_>) -> Option<u32> {
    fields.reader?.try_into().ok()
}

fn exact(number: u64) -> Option<u64> {
    (number <= MAX_EXACT).then_some(number)
}

fn comma(at: usize) -> &'static str {
    if at == 0 { "" } else { "," }
}
