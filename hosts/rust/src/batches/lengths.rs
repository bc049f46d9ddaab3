//! The lengths of samples, in one list or source by source.

use crate::recipe::Draft;
use crate::{Builder, Error, Failure, Sampler};

/// The lengths of all samples, in tokens. [`Batcher::builder`](crate::Batcher::builder) takes a list of numbers, or those of each source of a
/// blend.
#[derive(Clone, Debug)]
pub struct Lengths(Given);

#[derive(Clone, Debug)]
enum Given {
    All(Vec<u32>),
    BySource(Vec<(String, Vec<u32>)>),
}

impl<T: Into<Vec<u32>>> From<T> for Lengths {
    fn from(lengths: T) -> Self {
        Self(Given::All(lengths.into()))
    }
}

impl Lengths {
    /// The lengths of the samples of each source of a blend, by its name, in any order. Every source has to be there. The samples of the
    /// blend are those of its sources one after the other ([`IndexSpace::Joined`](crate::IndexSpace::Joined)), and so are the lengths.
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

    /// All of them, in the order of sample indices. `draft` has the order, which knows its sources, and `others` are the names of lists that are
    /// no part of it.
    pub(super) fn joined(self, draft: &Draft, others: &[&str], memory_limit: usize) -> Result<Vec<u32>, Error> {
        let parts = match self.0 {
            Given::All(lengths) => return Ok(lengths),
            Given::BySource(parts) => parts,
        };
        let blend = Builder::of(draft.of_order(others)?).memory_limit(memory_limit).build()?;
        let sources = blend.sources()?;
        let names = parts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        let expected = sources.iter().map(String::as_str).collect::<Vec<_>>();
        if sorted(&names) != sorted(&expected) {
            let allowed = format!("those of the sources {}", expected.join(", "));
            let value = if names.is_empty() { "of no source".to_owned() } else { names.join(", ") };
            return Err(Failure::contradiction("lengths", value, allowed).into());
        }
        let (mut all, mut first) = (Vec::new(), 0);
        for (number, name) in (0..).zip(&sources) {
            let end = end_of(&blend, number, first)?;
            let own = parts.iter().filter(|(other, _)| other == name).flat_map(|(_, lengths)| lengths);
            let before = all.len();
            all.extend(own);
            let count = (all.len() - before) as u64;
            if count != end - first {
                let failure = Failure::contradiction("lengths", format!("{count} of the source {name}"), end - first);
                return Err(failure.into());
            }
            first = end;
        }
        Ok(all)
    }
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

/// The sample after the last one of a source, whose first one is `first`.
fn end_of(blend: &Sampler, source: u32, first: u64) -> Result<u64, Error> {
    // Samples are joined in the order of the sources.
    let (mut least, mut most) = (first, blend.samples());
    while least < most {
        let middle = least + (most - least) / 2;
        if blend.source_of(middle)?.source > source { most = middle } else { least = middle + 1 }
    }
    Ok(least)
}
