//! Orders as values: the section `order` of a recipe, and the long lists beside it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::generated::MAX_NUMBERS;
use crate::members::{Shared, exact};

/// The description of an order, from which a [`Sampler`](crate::Sampler) is made: a plain order or a composed one.
///
/// Every function and method returns a new order, and none of them can fail: wrong values are refused when the sampler
/// is built. A composed order shares the lists of the orders in it. Lists of more than 256 numbers stay outside the
/// text of the recipe.
///
/// | Function | The order |
/// |---|---|
/// | [`new`](Self::new), [`sharded`](Self::sharded) | a dataset in one of the plain orders, or in files |
/// | [`blend`](Self::blend) | several datasets in proportion to weights |
/// | [`grown`](Self::grown), [`grow`](Self::grow) | a dataset that got more samples, also within an epoch |
/// | [`exclude`](Self::exclude), [`subset`](Self::subset), [`skip`](Self::skip) | an order without some samples or positions |
/// | [`copies`](Self::copies) | each sample several times in a row |
/// | [`windows`](Self::windows) | parts of episodes |
/// | [`balance`](Self::balance) | samples as often as their class says |
/// | [`weighted`](Self::weighted) | samples in proportion to their weights |
///
/// ```
/// use samedeal::{Order, Sampler, Source};
///
/// // Seven parts of web pages, three parts of books without two of them. Passes over the books go on from epoch to epoch.
/// let books = Order::new("feistel", 5_000).exclude([17, 404]);
/// let blend = Order::blend([Source::new("web", 1_000_000, 7), Source::new("books", books, 3)]).samples(100_000).seed(42);
/// let sampler = Sampler::from_order(blend).rank(1).world_size(4).build()?;
/// assert_eq!((sampler.order(), sampler.epoch_length(), sampler.num_samples()), ("blend", 100_000, 25_000));
/// assert_eq!(sampler.source_counts(..)?.count, [70_000, 30_000]);
/// # Ok::<(), samedeal::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Order {
    members: Map<String, Value>,
    lists: Vec<Shared>,
}

/// The argument of [`Builder::order`](crate::Builder::order): the name of an order, or an [`Order`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OrderOption {
    /// A name.
    Name(String),
    /// A whole order.
    Order(Order),
}

impl From<&str> for OrderOption {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for OrderOption {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<&String> for OrderOption {
    fn from(name: &String) -> Self {
        Self::Name(name.clone())
    }
}

impl From<Order> for OrderOption {
    fn from(order: Order) -> Self {
        Self::Order(order)
    }
}

impl From<&Order> for OrderOption {
    fn from(order: &Order) -> Self {
        Self::Order(order.clone())
    }
}

/// The samples of a [`Source`]: a number of them, which are shuffled, or an [`Order`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SourceOrder {
    /// This number of samples, in the order `feistel` with a seed of its own.
    Samples(u64),
    /// Any order with random access. An order without a seed gets a seed of its own.
    Order(Order),
}

impl From<u64> for SourceOrder {
    fn from(samples: u64) -> Self {
        Self::Samples(samples)
    }
}

impl From<Order> for SourceOrder {
    fn from(order: Order) -> Self {
        Self::Order(order)
    }
}

/// A weight of a source of a blend, or of a part of a split: a whole number, or a decimal fraction. 7 and 3 are the same
/// as 0.7 and 0.3. A recipe has whole numbers: fractions are converted by the rule of SPEC.md, section 14.
///
/// ```
/// use samedeal::{Order, Sampler, Source};
/// let blend = Order::blend([Source::new("web", 1_000, 0.7), Source::new("books", 500, 0.3)]).samples(100);
/// let sampler = Sampler::from_order(blend).build()?;
/// assert_eq!(sampler.source_counts(..)?.count, [70, 30]);
/// # Ok::<(), samedeal::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Share(Value);

macro_rules! weights {
    ($($number:ty),*) => {
        $(impl From<$number> for Share {
            fn from(weight: $number) -> Self {
                Self(weight.into())
            }
        })*
    };
}
weights!(u32, u64, usize, i32, i64, f64);

impl From<&u64> for Share {
    fn from(weight: &u64) -> Self {
        Self((*weight).into())
    }
}

impl From<Share> for Value {
    fn from(weight: Share) -> Self {
        weight.0
    }
}

/// A source of a blend: one of its datasets.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    name: String,
    of: SourceOrder,
    weight: Share,
}

impl Source {
    /// A dataset: its name, its number of samples or its order, and its weight. The name is part of the recipe: it has
    /// no slash, and differs from the names of the other sources. Weights are relative: 7 and 3 are the same as 70 and
    /// 30. A source of weight 0 gives no samples.
    pub fn new(name: impl Into<String>, of: impl Into<SourceOrder>, weight: impl Into<Share>) -> Self {
        Self { name: name.into(), of: of.into(), weight: weight.into() }
    }
}

impl Order {
    fn named(name: &str) -> Self {
        Self { members: Map::new(), lists: Vec::new() }.with("name", name)
    }

    /// A plain order of `samples` samples, with the seed 0. The name is one of [`plain_orders`](crate::plain_orders).
    pub fn new(name: impl AsRef<str>, samples: u64) -> Self {
        Self::named(name.as_ref()).with("samples", samples)
    }

    /// The order `sharded`, for a dataset in files of `sizes` samples: see [`Sampler::sharded`](crate::Sampler::sharded).
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let order = Order::sharded([300, 0, 500, 200]).lanes(4).shuffle_window(16).seed(42);
    /// assert_eq!(Sampler::from_order(order).world_size(2).build()?.num_rounds()?, 16);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn sharded(sizes: impl Into<Vec<u64>>) -> Self {
        Self::named("sharded").list("sizes", sizes.into())
    }

    /// Several datasets in proportion to weights: at any position, the count of each source is within a few samples of
    /// its share ([`source_bounds`](crate::Sampler::source_bounds)). Each source goes through all of its samples before
    /// it repeats one, independently of the other sources; each pass has another order. The sample indices of the
    /// sources follow one after the other ([`index_space`](Self::index_space)).
    ///
    /// Options: [`seed`](Self::seed), [`samples`](Self::samples), [`exact`](Self::exact),
    /// [`exhaustion`](Self::exhaustion), [`max_passes`](Self::max_passes), [`run_length`](Self::run_length),
    /// [`index_space`](Self::index_space), [`stage`](Self::stage), [`source`](Self::source). Limits: 2^16 sources times
    /// stages; the weights together are at most 2^53 - 1. Orders that need a table cannot be sources.
    pub fn blend(sources: impl IntoIterator<Item = Source>) -> Self {
        sources.into_iter().fold(Self::named("blend").with("sources", json!([])), Self::source)
    }

    /// A dataset that had `samples` samples at first and got more later. Each item of `growth` has an epoch, the number
    /// of positions of this epoch that were consumed before the growth, and the number of samples after it. Consumed
    /// positions stay as they were; the rest of the epoch has every other sample once, old and new.
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// // In epoch 3, after 400 of 1,000 samples, there were 1,500.
    /// let sampler = Sampler::from_order(Order::grown(1_000, [(3, 400, 1_500)]).seed(42)).epoch(3).build()?;
    /// let before = Sampler::builder(1_000).seed(42).epoch(3).build()?;
    /// assert_eq!(sampler.indices::<u64>(..400)?, before.indices::<u64>(..400)?);
    /// let mut all = sampler.indices::<u64>(..)?;
    /// all.sort_unstable();
    /// assert!(all.into_iter().eq(0..1_500));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn grown(samples: u64, growth: impl IntoIterator<Item = (u64, u64, u64)>) -> Self {
        let growth = growth.into_iter().map(growth_of).collect::<Value>();
        Self::named("grown").with("samples", samples).with("growth", growth)
    }

    /// Windows of `length` neighbouring samples of episodes, such as episodes of a robot: each sample of the order is
    /// the first sample of a window. Episodes have `sizes` samples and lie end to end. In each episode, a window begins
    /// every [`stride`](Self::stride) samples, and no window goes beyond the end of its episode.
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let windows = Order::windows([10, 3, 8], 4).stride(2);
    /// let mut firsts = Sampler::from_order(windows).build()?.indices::<u64>(..)?;
    /// firsts.sort_unstable();
    /// assert_eq!(firsts, [0, 2, 4, 6, 13, 15, 17]);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn windows(sizes: impl Into<Vec<u64>>, length: u64) -> Self {
        Self::named("windows").with("length", length).list("sizes", sizes.into())
    }

    /// Each sample as often as the factor of its class says: `classes` has the class of each sample, and `factors` has
    /// a factor for each class, in millionths: 1,000,000 is once in an epoch. Over several epochs, the number of times
    /// that a sample is seen differs from its factor times the number of epochs by at most one. With
    /// [`samples`](Self::samples), every epoch has that number of positions, and only the proportions of the factors
    /// count.
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// // Class 1 is rare: its samples are seen three times, those of class 0 in every second epoch.
    /// let classes = (0..1_000).map(|sample| u64::from(sample % 10 == 0)).collect::<Vec<_>>();
    /// let sampler = Sampler::from_order(Order::balance(classes, [500_000, 3_000_000])).build()?;
    /// assert_eq!(sampler.epoch_length(), 450 + 300);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn balance(classes: impl Into<Vec<u64>>, factors: impl IntoIterator<Item = u32>) -> Self {
        let factors = factors.into_iter().map(u64::from).collect();
        Self::named("balance").list("classes", classes.into()).list("factors", factors)
    }

    /// Samples in proportion to their weights: `weights` has the weight of each sample. In an epoch of n samples, a
    /// sample whose weight is the share s of all weights comes n * s times, rounded up or down. An epoch has as many
    /// positions as there are weights, or [`samples`](Self::samples). There may be as many different weights as samples.
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let order = Order::weighted([1, 1, 1, 3]).samples(12).seed(7);
    /// let mut indices = Sampler::from_order(order).build()?.indices::<u64>(..)?;
    /// indices.sort_unstable();
    /// assert_eq!(indices, [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3]);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn weighted(weights: impl Into<Vec<u64>>) -> Self {
        Self::named("weighted").list("weights", weights.into())
    }

    /// The order without the samples of a list, such as broken samples. The indices ascend, each once. The other
    /// samples keep their order; of the order `sharded`, lanes and windows are cut anew from them, so that each reader
    /// still has its own lanes. The list may have millions of indices. To exclude samples from a blend, exclude them
    /// from its sources.
    #[must_use]
    pub fn exclude(self, indices: impl Into<Vec<u64>>) -> Self {
        self.within("exclude").list("indices", indices.into())
    }

    /// The order with only the samples of a list. The indices ascend, each once. Samples keep their indices of the
    /// whole dataset. In a blend, take subsets of its sources.
    #[must_use]
    pub fn subset(self, indices: impl Into<Vec<u64>>) -> Self {
        self.within("subset").list("indices", indices.into())
    }

    /// The order without ranges of positions, such as the positions of a loss spike. Each range has an epoch, its first
    /// position and the number of positions. The ranges ascend and do not overlap.
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let whole = Order::new("feistel", 1_000).seed(42);
    /// let skipping = Sampler::from_order(whole.clone().skip([(3, 200, 50)])).epoch(3).build()?;
    /// let whole = Sampler::from_order(whole).epoch(3).build()?;
    /// assert_eq!(skipping.indices::<u64>(200..)?, whole.indices::<u64>(250..)?);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    #[must_use]
    pub fn skip(self, ranges: impl IntoIterator<Item = (u64, u64, u64)>) -> Self {
        let range = |(epoch, start, count)| json!({ "epoch": epoch, "start": start, "count": count });
        self.within("skip").with("ranges", ranges.into_iter().map(range).collect::<Value>())
    }

    /// Each sample `copies` times in a row, such as for several answers to one question.
    #[must_use]
    pub fn copies(self, copies: u32) -> Self {
        self.within("copies").with("copies", copies)
    }

    /// Adds a stage to a blend: other weights from a position on, which is counted over all epochs. Stages ascend, and
    /// a stage has a weight for each source. A state can be resumed with new stages if they begin at its position or
    /// later.
    #[must_use]
    pub fn stage(self, from: u64, weights: impl IntoIterator<Item = impl Into<Share>>) -> Self {
        let weights = weights.into_iter().map(|weight| weight.into().0).collect::<Value>();
        self.pushing("stages", json!({ "from": from, "weights": weights }))
    }

    /// Adds a source at the end of a blend, with weight 0 in the stages so far. To add a source to a run, give it
    /// weight 0, and add a [`stage`](Self::stage) in which its weight is higher.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        let Source { name, of, weight: Share(weight) } = source;
        for stage in self.members.get_mut("stages").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(weights) = stage["weights"].as_array_mut() {
                weights.push(0.into());
            }
        }
        let source = match of {
            SourceOrder::Samples(samples) => json!({ "name": name, "weight": weight, "samples": samples }),
            SourceOrder::Order(Self { members, lists }) => {
                let path = |(list, numbers)| (format!("sources/{name}/{list}"), numbers);
                self.lists.extend(lists.into_iter().map(path));
                json!({ "name": name, "weight": weight, "order": members })
            }
        };
        self.pushing("sources", source)
    }

    /// Adds growth to the order `feistel` or `grown`: the dataset has `samples` samples in all once `consumed`
    /// positions of `epoch` were consumed. See [`grown`](Self::grown). A state can be resumed with new growth that
    /// begins at its position or later.
    #[must_use]
    pub fn grow(mut self, epoch: u64, consumed: u64, samples: u64) -> Self {
        if self.members.get("name") == Some(&"feistel".into()) {
            self = self.with("name", "grown");
        }
        self.pushing("growth", growth_of((epoch, consumed, samples)))
    }

    /// Makes a blend keep every source within one sample of its share (the order `blend-exact`). The weights must be
    /// small: their sum, after division by their greatest common divisor, is at most 2^20.
    #[must_use]
    pub fn exact(self) -> Self {
        self.with("name", "blend-exact")
    }

    /// The section `order` of a recipe, in JSON: all members that were set, without defaults, and without lists of more
    /// than 256 numbers. [`Sampler::recipe`](crate::Sampler::recipe) returns the whole recipe.
    pub fn to_json(&self) -> String {
        Value::from(self.members.clone()).to_string()
    }

    pub(crate) fn into_parts(self) -> (Map<String, Value>, Vec<Shared>) {
        (self.members, self.lists)
    }

    /// Sets a member, in place of its old value.
    pub(crate) fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.members.insert(member.to_owned(), exact(value.into()));
        self
    }

    /// Sets a list: in the text, or beside it if it is long.
    fn list(mut self, name: &str, numbers: Vec<u64>) -> Self {
        if numbers.len() <= MAX_NUMBERS {
            return self.with(name, numbers);
        }
        self.lists.push((name.to_owned(), Arc::new(numbers)));
        self
    }

    /// Adds an object to a member that is a list of objects. The core refuses a member that the order does not use.
    fn pushing(mut self, member: &str, object: Value) -> Self {
        if let Some(objects) = self.members.entry(member).or_insert_with(|| json!([])).as_array_mut() {
            objects.push(exact(object));
        }
        self
    }

    /// The composed order `name` of this order. The paths of lists get the prefix `of/`.
    fn within(self, name: &str) -> Self {
        let Self { members, lists } = self;
        let lists = lists.into_iter().map(|(path, numbers)| (format!("of/{path}"), numbers));
        Self { lists: lists.collect(), ..Self::named(name).with("of", members) }
    }
}

fn growth_of((epoch, consumed, samples): (u64, u64, u64)) -> Value {
    json!({ "epoch": epoch, "consumed": consumed, "samples": samples })
}

/// Shows the text, and the length of each list beside it.
impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Order({}", self.to_json())?;
        for (path, numbers) in &self.lists {
            write!(f, ", {path}: {} numbers", numbers.len())?;
        }
        write!(f, ")")
    }
}
