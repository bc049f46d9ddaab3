//! The lengths of the samples: a list, or lengths that a host gives when it is asked. In the second case, memory does
//! not grow with the dataset.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{OnceCell, RefCell};

use crate::base::Failure;
use crate::base::failure::only;
use crate::base::memory::collect;
use crate::document::numbers::{self, Numbers};
use crate::order::{Order, OrderId};

/// The size of the sample of lengths, from which the default window and the buckets follow. Smaller datasets give all
/// lengths.
const SAMPLED: u64 = 1 << 14;
/// The sample of lengths has runs of this many neighbours, so that a host that reads lengths from storage reads in few
/// places.
const NEIGHBOURS: u64 = 16;

/// The lengths of all samples.
pub(super) struct Lengths {
    samples: u64,
    /// All lengths, if they are few or were given as a list.
    held: OnceCell<Rc<Vec<u32>>>,
    /// The lengths of the samples of [`Lengths::sampled`], once they are given.
    sample: OnceCell<Rc<Vec<u32>>>,
    /// The hash in the text of the recipe, which the sample of lengths must have.
    expected: Option<String>,
    /// The canonical text of the lengths, once it was asked for.
    text: OnceCell<String>,
}

impl Lengths {
    /// Lengths that are all given now. Failures: `out-of-memory`.
    pub(super) fn of(lengths: Vec<u32>) -> Result<Self, Failure> {
        let here = Self::asked(lengths.len() as u64, None);
        here.hold(lengths)?;
        Ok(here)
    }

    /// Lengths of `samples` samples, for which a host is asked when a plan needs them.
    pub(super) fn asked(samples: u64, expected: Option<String>) -> Self {
        Self { samples, held: OnceCell::new(), sample: OnceCell::new(), expected, text: OnceCell::new() }
    }

    /// The source of the lengths: a list in the text; or a host, which is asked later, and whose lengths must match the
    /// list or the hash in the text, if there is one. None if samples come one by one. Failures: `lengths`, `samples`,
    /// `out-of-memory`.
    pub(super) fn chosen(
        of_text: Option<&Numbers>,
        count: Option<u64>,
        samples: Option<u64>,
    ) -> Result<Option<Self>, Failure> {
        let here = match (of_text, count) {
            (Some(Numbers::All(list)), count) => {
                let here = Self::of(numbers::narrow("lengths", list)?)?;
                match count {
                    None => here,
                    Some(count) if count == here.samples => Self::asked(count, Some(hash(here.sample()?))),
                    Some(count) => return Err(others(count)),
                }
            }
            (None, Some(count)) => Self::asked(count, None),
            (Some(Numbers::Hash(hash)), count) => match count.or(samples) {
                Some(count) => Self::asked(count, Some(String::from(&**hash))),
                None => return Err(Failure::missing("samples", "the number of samples in the dataset")),
            },
            (None, None) => match samples {
                Some(samples) => Self::asked(samples, None),
                None => return Ok(None),
            },
        };
        if let Some(samples) = samples
            && here.samples != samples
        {
            let allowed = format!("{}, the number of lengths", here.samples);
            return Err(Failure::contradiction("samples", samples, allowed));
        }
        // If there are no samples, no host is asked for lengths, so the (empty) lengths are given here.
        if here.samples == 0 {
            here.supply(Vec::new())?;
        }
        Ok(Some(here))
    }

    /// Takes all lengths, one for each sample. Failures: as `supply`.
    pub(super) fn hold(&self, lengths: Vec<u32>) -> Result<(), Failure> {
        check_count(lengths.len(), self.samples)?;
        let wanted = self.wanted()?;
        let sample = wanted.iter().map(|&index| lengths[index as usize]);
        self.supply(collect("lengths", wanted.len(), sample)?)?;
        let _ = self.held.set(Rc::new(lengths));
        Ok(())
    }

    pub(super) fn samples(&self) -> u64 {
        self.samples
    }

    /// The samples whose lengths stand for all, ascending. They are runs of neighbours: of all such runs, the first
    /// ones in a random order.
    fn sampled(&self) -> Result<Vec<u64>, Failure> {
        let count = self.samples.min(SAMPLED) as usize;
        if self.samples <= SAMPLED {
            return collect("lengths", count, 0..self.samples);
        }
        let mut runs = [0; (SAMPLED / NEIGHBOURS) as usize];
        Order::new(OrderId::Feistel, self.samples / NEIGHBOURS, 0, 0)?.fill(0, 1, &mut runs)?;
        samedeal_bulk::numbers(&mut runs);
        collect("lengths", count, runs.iter().flat_map(|run| run * NEIGHBOURS..(run + 1) * NEIGHBOURS))
    }

    /// The samples whose lengths must be given first. Empty once they are given. Failures: `out-of-memory`.
    pub(super) fn wanted(&self) -> Result<Vec<u64>, Failure> {
        if self.sample.get().is_some() { Ok(Vec::new()) } else { self.sampled() }
    }

    /// Takes the lengths of the samples of `wanted`. Failures: `lengths` (another number of them, or another hash than
    /// in the recipe); `out-of-memory`.
    pub(super) fn supply(&self, lengths: Vec<u32>) -> Result<(), Failure> {
        if self.sample.get().is_some() {
            return check_count(lengths.len(), 0);
        }
        check_count(lengths.len(), self.samples.min(SAMPLED))?;
        if self.expected.as_ref().is_some_and(|expected| hash(&lengths) != *expected) {
            return Err(others(lengths.len() as u64));
        }
        let lengths = Rc::new(lengths);
        if self.samples <= SAMPLED {
            let _ = self.held.set(Rc::clone(&lengths));
        }
        let _ = self.sample.set(lengths);
        Ok(())
    }

    /// The lengths that stand for all. Failures: `lengths` (not given).
    pub(super) fn sample(&self) -> Result<&Rc<Vec<u32>>, Failure> {
        self.sample.get().ok_or_else(missing)
    }

    /// The value of the member `lengths` in a canonical text: the lengths that stand for all (`sample`), as a list if
    /// they are few, else as a hash. None if neither these lengths nor their hash are known.
    pub(super) fn text(&self) -> Option<String> {
        let Some(sample) = self.sample.get() else {
            return self.expected.as_ref().map(|hash| format!("\"{hash}\""));
        };
        let write = || numbers::text(sample.iter().map(|&length| length.into()));
        Some(self.text.get_or_init(write).clone())
    }
}

/// The last request for lengths: it waits for the host, or the host has answered it and the plan has not used it yet.
#[derive(Default)]
pub(super) struct LengthRequests(RefCell<Option<Asked>>);

/// A request for lengths: the first position and the number of positions, the samples there, and their lengths once
/// they are given.
struct Asked {
    positions: (u64, u64),
    samples: Vec<u64>,
    lengths: Option<Vec<u32>>,
}

impl LengthRequests {
    /// The samples at `count` positions from `start` on, and their lengths. Failures: `lengths` (`wanted`: the host
    /// must give the lengths of the samples of [`LengthRequests::wanted`], and make the call again), `out-of-memory`.
    pub(super) fn take(
        &self,
        lengths: &Lengths,
        order: &Order,
        (start, count): (u64, u64),
    ) -> Result<(Vec<u64>, Vec<u32>), Failure> {
        let mut asked = self.0.borrow_mut();
        if let Some(Asked { positions, samples, lengths: Some(lengths) }) = asked.take()
            && positions == (start, count)
        {
            return Ok((samples, lengths));
        }
        let Some(room) = usize::try_from(count).ok().filter(|&count| count < u32::MAX as usize) else {
            return Err(Failure::out_of_memory("batch_window", count, "a smaller window"));
        };
        let mut samples = collect("batch_window", room, core::iter::repeat_n(0, room))?;
        order.fill(start, 1, &mut samples)?;
        if let Some(held) = lengths.held.get() {
            let own = collect("batch_window", room, samples.iter().map(|&sample| held[sample as usize]))?;
            return Ok((samples, own));
        }
        *asked = Some(Asked { positions: (start, count), samples, lengths: None });
        Err(Failure::wanted("lengths", format!("those of {count} samples")))
    }

    /// The samples whose lengths the last call waits for. Failures: `out-of-memory`.
    pub(super) fn wanted(&self) -> Result<Vec<u64>, Failure> {
        match &*self.0.borrow() {
            Some(Asked { samples, lengths: None, .. }) => {
                collect("batch_window", samples.len(), samples.iter().copied())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Takes the lengths of the samples of [`LengthRequests::wanted`]. Failures: `lengths`, if there is not exactly one
    /// for each sample.
    pub(super) fn supply(&self, lengths: Vec<u32>) -> Result<(), Failure> {
        let mut asked = self.0.borrow_mut();
        let waits = asked.as_mut().filter(|asked| asked.lengths.is_none());
        check_count(lengths.len(), waits.as_ref().map_or(0, |asked| asked.samples.len() as u64))?;
        if let Some(asked) = waits {
            asked.lengths = Some(lengths);
        }
        Ok(())
    }
}

/// Checks the number of lengths. Failures: `lengths`.
fn check_count(here: usize, wanted: u64) -> Result<(), Failure> {
    if here as u64 == wanted {
        return Ok(());
    }
    Err(Failure::contradiction(
        "lengths",
        format!("{here} of them"),
        only(wanted).and(", one for each sample that is wanted"),
    ))
}

fn hash(lengths: &[u32]) -> String {
    numbers::hash(lengths.iter().map(|&length| length.into()))
}

fn others(count: u64) -> Failure {
    Failure::contradiction(
        "lengths",
        format!("{count} numbers that are others"),
        "the numbers that the recipe was made with",
    )
}

/// The failure of a recipe that has no lengths.
pub(super) fn missing() -> Failure {
    Failure::missing(
        "lengths",
        "the number of tokens of each sample; without a list of them, also an order, which says how many samples there are",
    )
}
