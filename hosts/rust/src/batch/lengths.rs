//! The lengths of samples: one list, a list for each source of a blend, or a function that is called when lengths are
//! needed.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::recipe::Draft;
use crate::{Builder, Error, Failure, LengthsError, Sampler};

const ONLY_BLENDS: &str = "a list, or a blend as the order, with the index space joined: only its sources have names";

/// The lengths of all samples, in tokens. [`Batcher::builder`](crate::Batcher::builder) takes a list of numbers, a list
/// for each source of a blend, or a function. A batcher asks for the lengths of some samples when it is built, and for
/// the lengths of a window when it plans the window.
#[derive(Clone)]
pub struct Lengths(Given);

#[derive(Clone)]
enum Given {
    All(Source),
    BySource(Vec<(String, Vec<u32>)>),
}

/// A number of samples, and a function that returns the lengths of some of them.
#[derive(Clone)]
pub(crate) struct Source {
    /// The number of samples.
    pub(crate) count: u64,
    of: Arc<Ask>,
}

type Ask = dyn Fn(&[u64]) -> Result<Vec<u32>, Error> + Send + Sync;

impl Source {
    fn list(lengths: Vec<u32>) -> Self {
        let count = lengths.len() as u64;
        // The index cannot be out of bounds: the component asks only for samples below `count`.
        let of = move |samples: &[u64]| Ok(samples.iter().map(|&sample| lengths[sample as usize]).collect());
        Self { count, of: Arc::new(of) }
    }

    /// The lengths of these samples, one for each; an error if the function returned another number of them.
    pub(crate) fn ask(&self, samples: &[u64]) -> Result<Vec<u32>, Error> {
        let lengths = (self.of)(samples)?;
        if lengths.len() == samples.len() {
            return Ok(lengths);
        }
        let value = format!("{} of them", lengths.len());
        Err(Failure::contradiction("lengths", value, format!("{}, one for each sample", samples.len())).into())
    }
}

impl<T: Into<Vec<u32>>> From<T> for Lengths {
    fn from(lengths: T) -> Self {
        Self(Given::All(Source::list(lengths.into())))
    }
}

impl Lengths {
    /// Lengths of `count` samples that a function returns: it gets sample indices, and returns the length of each, in
    /// the same order. The function may read a file that is larger than the memory. Several threads may call it at the
    /// same time.
    ///
    /// ```
    /// use samedeal::{Batcher, Lengths};
    /// // A billion samples: the first batch takes milliseconds.
    /// let lengths = Lengths::from_fn(1_000_000_000, |samples| Ok(samples.iter().map(|sample| 1 + (sample % 500) as u32).collect()));
    /// let batcher = Batcher::builder(lengths).max_tokens(8_192).world_size(8).build()?;
    /// assert!(batcher.batch(0)?.samples.len() >= 16);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_fn(
        count: u64,
        lengths: impl Fn(&[u64]) -> Result<Vec<u32>, Box<dyn std::error::Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Self {
        let of = move |samples: &[u64]| lengths(samples).map_err(|error| Error::Lengths(LengthsError::new(error)));
        Self(Given::All(Source { count, of: Arc::new(of) }))
    }

    /// The lengths of the samples of each source of a blend, by the name of the source, in any order. Every source must
    /// be given. The sources must have sample indices of their own ([`IndexSpace::Joined`](crate::IndexSpace::Joined)).
    ///
    /// ```
    /// use samedeal::{Batcher, Lengths, Order, Source};
    /// let blend = Order::blend([Source::new("web", 3, 70), Source::new("books", 2, 30)]).samples(10);
    /// let lengths = Lengths::by_source([("books", vec![40, 50]), ("web", vec![10, 20, 30])]);
    /// let batcher = Batcher::builder(lengths).order(blend).max_tokens(100).build()?;
    /// let batch = batcher.batch(0)?;
    /// assert!(batch.samples.iter().zip(&batch.lengths).all(|(&sample, &length)| u64::from(length) == 10 * (sample + 1)));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn by_source<N: Into<String>, L: Into<Vec<u32>>>(sources: impl IntoIterator<Item = (N, L)>) -> Self {
        Self(Given::BySource(sources.into_iter().map(|(name, lengths)| (name.into(), lengths.into())).collect()))
    }

    /// One source of lengths for all sample indices. `draft` has the order, which gives the names and sizes of the
    /// sources.
    pub(super) fn joined(self, draft: &Draft, memory_limit: usize) -> Result<Source, Error> {
        let parts = match self.0 {
            Given::All(lengths) => return Ok(lengths),
            Given::BySource(parts) => parts,
        };
        let order = draft.of_order()?;
        let names = parts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        if !order.is_joined_blend()? {
            let given = if names.is_empty() { "of no source".to_owned() } else { names.join(", ") };
            let value = given.chars().take(64).collect::<String>();
            return Err(Failure::contradiction("lengths", value, ONLY_BLENDS).into());
        }
        let blend = Builder::of(order).memory_limit(memory_limit).build()?;
        let sources = blend.sources()?;
        let expected = sources.iter().map(String::as_str).collect::<Vec<_>>();
        let known = expected.iter().copied().collect::<HashSet<_>>();
        let mut given = HashSet::new();
        for &name in &names {
            if !known.contains(name) {
                return Err(Failure::unknown_name("lengths", name, &expected).into());
            }
            if !given.insert(name) {
                return Err(Failure::contradiction("lengths", name, "each source once").into());
            }
        }
        if let Some(name) = expected.iter().find(|&&name| !given.contains(name)) {
            return Err(Failure::missing("lengths", format!("the lengths of each source, those of {name} too")).into());
        }
        let mut parts = parts.into_iter().collect::<HashMap<_, _>>();
        let (mut all, mut first) = (Vec::new(), 0);
        for (number, name) in (0..).zip(&sources) {
            let end = end_of(&blend, number, first)?;
            let own = parts.remove(name).unwrap_or_default();
            if own.len() as u64 != end - first {
                let value = format!("{} of the source {name}", own.len());
                let allowed = format!("{}, as many as the source has samples", end - first);
                return Err(Failure::contradiction("lengths", value, allowed).into());
            }
            all.push((first, own));
            first = end;
        }
        let of = move |samples: &[u64]| {
            let length = |&sample: &u64| {
                let (begin, own) = &all[all.partition_point(|(begin, _)| *begin <= sample) - 1];
                own[(sample - begin) as usize]
            };
            Ok(samples.iter().map(length).collect())
        };
        Ok(Source { count: first, of: Arc::new(of) })
    }
}

impl fmt::Debug for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Given::All(lengths) => write!(f, "Lengths({} of them)", lengths.count),
            Given::BySource(parts) => write!(f, "Lengths(of {} sources)", parts.len()),
        }
    }
}

/// The end of the sample indices of a source, which begin at `first`: one more than its last sample index.
fn end_of(blend: &Sampler, source: u32, first: u64) -> Result<u64, Error> {
    // Binary search: the number of the source ascends with the sample index.
    let (mut least, mut most) = (first, blend.dataset_size());
    while least < most {
        let middle = least + (most - least) / 2;
        if blend.source_of(middle)?.source > source { most = middle } else { least = middle + 1 }
    }
    Ok(least)
}
