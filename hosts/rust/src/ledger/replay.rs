use std::fs::File;
use std::io::{BufRead, BufReader};
use std::iter::FusedIterator;
use std::path::Path;

use super::claims::{samples, whole};
use super::file::named;
use super::lines::{Lines, next_line};
use super::raw::in_line;
use super::{CommittedRun, Event, Log, Progress, RawLedger};
use crate::{Error, Failure, LogError, Sampler};

/// Number of samples that are read at a time.
const WINDOW: u64 = 1 << 16;

/// Replays a log: the runs that its readers committed, in the order of the log. Every entry is checked
/// against the entries before it. After an error, the iterator ends.
///
/// Reader r of n replays the commits of all readers whose number mod n is r. If the readers of the log had the numbers
/// 0 to n - 1, reader r replays exactly the commits of reader r. A last line without a line end is ignored.
#[derive(Debug)]
pub struct Replay<R> {
    source: R,
    ledger: RawLedger,
    line: u64,
    reader: u32,
    readers: u32,
    ended: bool,
}

impl Replay<BufReader<File>> {
    /// Replays the log in a file.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::new(BufReader::new(File::open(path).map_err(|error| LogError::from(named(path, error)))?))
    }
}

impl<L: Log> Replay<Lines<L>> {
    /// Replays a log, such as a [`FolderLog`](super::FolderLog).
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn of_log(log: L) -> Result<Self, Error> {
        Self::new(Lines::new(log))
    }
}

impl<R: BufRead> Replay<R> {
    /// Replays the log in the lines of a text, for one reader.
    ///
    /// # Errors
    ///
    /// [`Missing`](crate::FailureKind::Missing) (`entry`: there is no first one),
    /// [`WrongType`](crate::FailureKind::WrongType), [`OutOfRange`](crate::FailureKind::OutOfRange) (`state`,
    /// `consumed`, `block_size`, `lease_ms`: the text is no log), [`Error::Log`].
    pub fn new(mut source: R) -> Result<Self, Error> {
        let needed = "the first line of the log of a ledger";
        let header =
            next_line(&mut source, 1).map_err(LogError::from)?.ok_or_else(|| Failure::missing("entry", needed))?;
        let ledger = RawLedger::new(&header).map_err(|error| in_line(error, 1))?;
        ledger.apply(&header).map_err(|error| in_line(error, 1))?;
        Ok(Self { source, ledger, line: 1, reader: 0, readers: 1, ended: false })
    }

    /// Limits the replay to the runs of reader `reader` of `readers`.
    ///
    /// # Errors
    ///
    /// Out of range (`readers` is 0, `reader` is not below `readers`).
    pub fn of(mut self, reader: u32, readers: u32) -> Result<Self, Error> {
        self.ledger.replay::<&str>(&[], reader, readers)?;
        (self.reader, self.readers) = (reader, readers);
        Ok(self)
    }

    /// How much of the epoch is done, up to the entry that was read last.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn progress(&self) -> Result<Progress, Error> {
        self.ledger.progress()
    }

    /// The state of the sampler from which the log was made.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn initial_state(&self) -> Result<String, Error> {
        self.ledger.initial_state()
    }

    /// The next entry about runs, of any reader: claims, commits, releases and joins; none at the end.
    ///
    /// # Errors
    ///
    /// Contradiction, wrong type (`entry`, with its line), [`Error::Log`].
    pub fn next_event(&mut self) -> Result<Option<Event>, Error> {
        self.next_of(|ledger, entry| ledger.apply(entry))
    }

    /// Applies entries until `applied` returns a result, and returns this result; none at the end of the log.
    fn next_of<T>(
        &mut self,
        applied: impl Fn(&RawLedger, &str) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        if self.ended {
            return Ok(None);
        }
        self.ended = true;
        while let Some(entry) = next_line(&mut self.source, self.line + 1).map_err(LogError::from)? {
            self.line += 1;
            if let Some(found) = applied(&self.ledger, &entry).map_err(|error| in_line(error, self.line))? {
                self.ended = false;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Iterates over samples instead of positions. `sampler` has the same dataset, seed and order as the log; its epoch, rank and world
    /// size do not matter.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (the first member of the order that differs from the log).
    pub fn samples(self, sampler: &Sampler) -> Result<Samples<R>, Error> {
        let mut whole = whole(sampler)?;
        whole.resume(&self.initial_state()?)?;
        Ok(Samples { replay: self, whole, run: (0, 0), window: Vec::new().into_iter() })
    }
}

/// Iterates over the committed runs.
impl<R: BufRead> Iterator for Replay<R> {
    type Item = Result<CommittedRun, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (reader, readers) = (self.reader, self.readers);
        // Entries are applied one at a time, so that all runs that were committed before a refused entry are returned
        // first.
        self.next_of(|ledger, entry| Ok(ledger.replay(&[entry], reader, readers)?.pop())).transpose()
    }
}

impl<R: BufRead> FusedIterator for Replay<R> {}

/// The samples of a replay; see [`Replay::samples`]. After an error, the iterator ends.
#[derive(Debug)]
pub struct Samples<R> {
    replay: Replay<R>,
    whole: Sampler,
    /// The part of a run that was not read yet: its first position, and the number of positions.
    run: (u64, u32),
    window: std::vec::IntoIter<u64>,
}

impl<R: BufRead> Samples<R> {
    /// The replay that these samples come from.
    pub fn replay(&self) -> &Replay<R> {
        &self.replay
    }

    fn read(&mut self) -> Result<Option<u64>, Error> {
        while self.window.len() == 0 {
            let (start, count) = match self.run {
                (_, 0) => match self.replay.next().transpose()? {
                    Some(run) => (run.start, run.count),
                    None => return Ok(None),
                },
                run => run,
            };
            let read = WINDOW.min(count.into());
            self.run = (start + read, count - read as u32);
            self.window = samples(&self.whole, start, count, ..read)?.into_iter();
        }
        Ok(self.window.next())
    }
}

impl<R: BufRead> Iterator for Samples<R> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            (self.run, self.replay.ended) = ((0, 0), true);
        }
        read.transpose()
    }
}

impl<R: BufRead> FusedIterator for Samples<R> {}
