//! Splits: they assign samples to training, validation or test, or to folds.

use serde_json::{Value, json};

use crate::engine::{MOST_MEMORY, Object, splits};
use crate::generated::{MAX_COUNT, MAX_PARTS, SplitValues};
use crate::recipe::Draft;
use crate::setters::setters;
use crate::{Error, Failure, Share};

/// Assigns samples to training, validation or test, or to folds. The result is the same in every language, and no file
/// with lists of samples is needed.
///
/// A split puts every *id* into one of its *parts*. An id is a sample index, or the number of a group whose samples
/// have to stay together. A text, such as a file name or the key of a group, is hashed to an id. A split never changes,
/// and threads may share it.
///
/// ```
/// use samedeal::{Order, Sampler, Split};
///
/// // The part of an id stays the same if data are added. List `test` first: see `by_weight`.
/// let split = Split::by_weight([("test", 10), ("validation", 10), ("training", 80)]).seed(42).build()?;
/// let training = split.indices("training", 1_000)?;
/// assert_eq!(split.indices("training", 2_000)?[..training.len()], training);
///
/// // Train on this part.
/// let sampler = Sampler::from_order(Order::new("feistel", 1_000).subset(training)).world_size(8).build()?;
/// assert!((750..850).contains(&sampler.epoch_length()));
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Split {
    pub(crate) object: Object<splits::Split>,
    pub(crate) values: SplitValues,
}

/// A part of a [`Split`]: its name, or its number, which is its place in [`Split::parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// A name.
    Name(&'a str),
    /// A number, from 0 on.
    Number(u32),
}

impl<'a> From<&'a str> for Part<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for Part<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<u32> for Part<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl Split {
    /// Parts with these weights. The share of a part in the ids is approximately its share in the weights. The part of
    /// an id follows from a hash of the seed and the id, so it stays the same if data are added.
    ///
    /// If weight moves from a part to the part before it in the list, ids move only between these two parts, in the
    /// same direction. So list `test` first, then `validation`, then `training`: if `test` or `validation` grow, none
    /// of their ids gets into `training`.
    pub fn by_weight<N: Into<String>, W: Into<Share>>(parts: impl IntoIterator<Item = (N, W)>) -> SplitBuilder {
        SplitBuilder::of(None)
            .parts(parts.into_iter().map(|(name, weight)| (name, Into::<Share>::into(weight))), "weight")
    }

    /// Parts of exactly these sizes. The ids are 0 to n - 1, where n is the sum of the sizes. If data are added, make a
    /// new split of the new ids. For exact numbers of other ids, or of texts, see [`exact_sizes`](Self::exact_sizes).
    ///
    /// ```
    /// use samedeal::Split;
    /// let split = Split::by_size([("test", 100), ("training", 900)]).seed(42).build()?;
    /// assert_eq!(split.counts(1_000)?, [100, 900]);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn by_size<N: Into<String>>(sizes: impl IntoIterator<Item = (N, u64)>) -> SplitBuilder {
        SplitBuilder::of(None).parts(sizes, "size")
    }

    /// The folds of a cross-validation: parts of equal weight, with the names `0`, `1` and so on. Range: 1 to 2^16. To
    /// divide a part of another split into folds, use another seed: with the same seed, the folds of this part would
    /// differ in size.
    ///
    /// ```
    /// use samedeal::Split;
    /// let folds = Split::folds(5).seed(42).build()?;
    /// for fold in 0..5_u32 {
    ///     let (validation, training) = (folds.indices(fold, 1_000)?, folds.others(fold, 1_000)?);
    ///     assert_eq!(validation.len() + training.len(), 1_000);
    /// }
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn folds(folds: u32) -> SplitBuilder {
        let mut builder = SplitBuilder::of(None)
            .parts((0..folds.min(MAX_PARTS as u32)).map(|fold| (fold.to_string(), 1_u64)), "weight");
        builder.folds = folds;
        builder
    }

    /// The split of a recipe. An option that is set afterwards replaces the option of the recipe. SPEC.md, section 16,
    /// has the grammar.
    ///
    /// ```
    /// use samedeal::Split;
    /// let recipe = r#"{"split": {"seed": 42, "parts": [{"name": "test", "weight": 1}, {"name": "training", "weight": 9}]}}"#;
    /// let split = Split::from_recipe(recipe).build()?;
    /// assert_eq!(split.parts(), ["test", "training"]);
    /// assert_eq!(Split::from_recipe(split.recipe()?).build()?.recipe_fingerprint()?, split.recipe_fingerprint()?);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>) -> SplitBuilder {
        SplitBuilder::of(Some(recipe.into()))
    }

    /// The name of a part by its number.
    ///
    /// # Errors
    ///
    /// Out of range (`part`).
    pub fn name_of(&self, part: u32) -> Result<&str, Error> {
        let name = self.parts().get(part as usize).map(String::as_str);
        name.ok_or_else(|| Failure::not_below("part", part, self.parts().len() as u64).into())
    }

    /// The number of a part.
    ///
    /// # Errors
    ///
    /// [`UnknownName`](crate::FailureKind::UnknownName) or out of range (`part`).
    pub fn number_of<'a>(&self, part: impl Into<Part<'a>>) -> Result<u32, Error> {
        match part.into() {
            Part::Number(number) => self.name_of(number).map(|_| number),
            Part::Name(name) => {
                let number = self.parts().iter().position(|other| other == name);
                let known = || self.parts().iter().map(String::as_str).collect::<Vec<_>>();
                let number = number.ok_or_else(|| Failure::unknown_name("part", name, &known()))?;
                Ok(number as u32)
            }
        }
    }

    /// The number of the part of each id. Ids are below 2^53 - 1; of a split by sizes, below the sum of the sizes.
    ///
    /// ```
    /// use samedeal::Split;
    /// // All rows of a patient are in the same part: the ids are the numbers of patients.
    /// let split = Split::by_weight([("test", 20), ("training", 80)]).build()?;
    /// let patients = [7, 7, 7, 12, 12, 4];
    /// let parts = split.part_of(&patients)?;
    /// assert_eq!((parts[0], parts[3]), (parts[2], parts[4]));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Out of range (`ids`: the first one that is too large), out of memory.
    pub fn part_of(&self, ids: &[u64]) -> Result<Vec<u32>, Error> {
        let mut parts = Vec::new();
        for some in ids.chunks(self.window(size_of::<u64>())) {
            parts.extend(self.part_of_window(some)?);
        }
        Ok(parts)
    }

    /// [`part_of`](Self::part_of) in one call of the component.
    ///
    /// # Errors
    ///
    /// Out of range (`ids`: more than 2^20; the first one that is too large), out of memory.
    pub fn part_of_window(&self, ids: &[u64]) -> Result<Vec<u32>, Error> {
        self.object.check_room("ids", ids.len(), size_of_val(ids))?;
        self.raw_part_of(ids)
    }

    /// The number of the part of each text. A text is, for example, a file name, or the key of a group whose samples
    /// have to stay together.
    ///
    /// ```
    /// use samedeal::Split;
    /// let split = Split::by_weight([("test", 20), ("training", 80)]).build()?;
    /// let parts = split.part_of_keys(&["speaker-17", "speaker-4", "speaker-17"])?;
    /// assert_eq!(parts[0], parts[2]);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`sizes`: the parts have sizes, and texts have no number), out of memory.
    pub fn part_of_keys<K: AsRef<str>>(&self, keys: &[K]) -> Result<Vec<u32>, Error> {
        let most = self.window(size_of::<u32>());
        let (mut parts, mut first, mut bytes) = (Vec::new(), 0, 0);
        for (number, key) in keys.iter().enumerate() {
            let length = key.as_ref().len();
            if number - first == most || bytes + length > self.object.room() / 2 {
                parts.extend(self.part_of_keys_window(&keys[first..number])?);
                (first, bytes) = (number, 0);
            }
            bytes += length;
        }
        // This call is made even without keys, so that the component can refuse a split by sizes.
        parts.extend(self.part_of_keys_window(&keys[first..])?);
        Ok(parts)
    }

    /// [`part_of_keys`](Self::part_of_keys) in one call of the component.
    ///
    /// # Errors
    ///
    /// Contradiction (`sizes`), out of range (`keys`: more than 2^20), out of memory.
    pub fn part_of_keys_window<K: AsRef<str>>(&self, keys: &[K]) -> Result<Vec<u32>, Error> {
        let (text, ends) = laid(keys, self.object.room())?;
        self.raw_part_of_keys(&text, &ends)
    }

    /// All sample indices below `samples` that are in a part, in ascending order. [`Order::subset`](crate::Order::subset) takes them. The
    /// part is named by its name or its number.
    ///
    /// # Errors
    ///
    /// Unknown name or out of range (`part`), out of range (`start`, `count`: `samples` is above the sum of the sizes), out of memory.
    pub fn indices<'a>(&self, part: impl Into<Part<'a>>, samples: u64) -> Result<Vec<u64>, Error> {
        let part = self.number_of(part)?;
        let mut found = Vec::new();
        for (start, count) in windows(samples) {
            found.extend(self.members(part, start, count)?);
        }
        Ok(found)
    }

    /// All sample indices below `samples` that are in another part, in ascending order: the training side of a fold.
    ///
    /// # Errors
    ///
    /// The errors of [`indices`](Self::indices).
    pub fn others<'a>(&self, part: impl Into<Part<'a>>, samples: u64) -> Result<Vec<u64>, Error> {
        let part = self.number_of(part)?;
        let mut found = Vec::new();
        for (start, count) in windows(samples) {
            let parts = (start..).zip(self.part_of_run(start, count)?);
            found.extend(parts.filter(|(_, other)| *other != part).map(|(id, _)| id));
        }
        Ok(found)
    }

    /// Number of the ids below `samples` in each part.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count`: `samples` is above the sum of the sizes), out of memory.
    pub fn counts(&self, samples: u64) -> Result<Vec<u64>, Error> {
        let mut counts = vec![0; self.parts().len()];
        for (start, count) in windows(samples) {
            for part in self.part_of_run(start, count)? {
                counts[part as usize] += 1;
            }
        }
        Ok(counts)
    }

    /// Begins to find the split of which each part has exactly so many of given keys as its size in this split says.
    ///
    /// # Errors
    ///
    /// Contradiction (`weights`: the parts have no sizes), out of memory.
    pub fn exact_sizes(&self) -> Result<ExactSizes, Error> {
        // It has an instance of its own, whose memory is freed with it.
        Ok(ExactSizes { object: Self::from_recipe(self.recipe()?).build()?.object.exact_sizes()? })
    }

    /// Number of items that are passed in one call. An item has `bytes` bytes.
    fn window(&self, bytes: usize) -> usize {
        // Half of the free memory is for the answer.
        (self.object.room() / 2 / bytes).clamp(1, MAX_COUNT)
    }
}

/// Texts end to end, and where each ends.
fn laid<K: AsRef<str>>(keys: &[K], room: usize) -> Result<(String, Vec<u32>), Failure> {
    let bytes = keys.iter().map(|key| key.as_ref().len()).sum::<usize>();
    if bytes + size_of_val(keys) > room || bytes > u32::MAX as usize {
        return Err(Failure::out_of_memory("keys", keys.len(), "fewer or shorter ones at a time"));
    }
    let (mut text, mut ends) = (String::with_capacity(bytes), Vec::with_capacity(keys.len()));
    for key in keys {
        text.push_str(key.as_ref());
        ends.push(text.len() as u32);
    }
    Ok((text, ends))
}

/// Finds the split of which each part has an exact number of keys: a sample of an exact size, by the key of each row or
/// of each group. [`Split::exact_sizes`] makes it.
///
/// Keys are texts or ids, of which equal ones count once. Their order changes nothing. A larger part has the keys of the
/// smaller one, if the parts before it stay the same. The memory depends on the sizes, not on the number of keys: add
/// the keys in pieces.
///
/// ```
/// use samedeal::Split;
/// let names = (0..1_000).map(|number| format!("{number}.txt")).collect::<Vec<_>>();
/// let sizes = Split::by_size([("test", 100)]).seed(42).build()?.exact_sizes()?;
/// for some in names.chunks(300) {
///     sizes.add_keys(some)?;
/// }
/// let split = sizes.split("training")?;
/// assert_eq!(split.part_of_keys(&names)?.iter().filter(|part| **part == 0).count(), 100);
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct ExactSizes {
    object: Object<splits::ExactSizes>,
}

impl ExactSizes {
    /// Adds texts.
    ///
    /// # Errors
    ///
    /// Out of range (`keys`: more than 2^20 in one call; then none is added), out of memory (`keys`; the keys are lost).
    pub fn add_keys<K: AsRef<str>>(&self, keys: &[K]) -> Result<(), Error> {
        let (text, ends) = laid(keys, self.object.room())?;
        self.object.add_keys(&text, &ends)
    }

    /// Adds ids, which are below 2^53 - 1.
    ///
    /// # Errors
    ///
    /// Out of range (`ids`: more than 2^20 in one call; the first one that is too large; then none is added), out of
    /// memory (`ids`: too many for one call; `keys`: the keys are lost).
    pub fn add_ids(&self, ids: &[u64]) -> Result<(), Error> {
        self.object.check_room("ids", ids.len(), size_of_val(ids))?;
        self.object.add_ids(ids)
    }

    /// The split by weights of which each part has exactly as many of the added keys as its size says. One more part,
    /// `rest`, has all other keys. No key changes its part if data are added; to have exact sizes again, add all keys to
    /// a new object: then keys move to later parts only.
    ///
    /// # Errors
    ///
    /// Out of range (`size`: there are fewer different keys; `name`: the length of `rest`; `parts`: with the rest, more
    /// than 2^16), contradiction (`name`: a part has the name `rest`; `size`: the last key of a part and the next key are
    /// texts with the same id, which happens to one sample in a billion with 10^7 texts), out of memory.
    pub fn split(&self, rest: &str) -> Result<Split, Error> {
        self.object.check_room("rest", 1, rest.len())?;
        Split::from_recipe(self.object.recipe(rest)?).build()
    }
}

/// The ids below `samples`, in windows.
fn windows(samples: u64) -> impl Iterator<Item = (u64, u32)> {
    // There is one window even without samples, so that the component checks the part.
    let starts = (0..samples.max(1)).step_by(MAX_COUNT);
    starts.map(move |start| (start, (samples - start).min(MAX_COUNT as u64) as u32))
}

/// The options of a new [`Split`]; see [`Split::by_weight`], [`Split::by_size`], [`Split::folds`] and [`Split::from_recipe`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct SplitBuilder {
    pub(crate) draft: Draft,
    /// The number of folds that [`Split::folds`] got; 0 for other splits.
    folds: u32,
    memory_limit: usize,
}

impl SplitBuilder {
    fn of(recipe: Option<String>) -> Self {
        Self { draft: Draft::new(recipe), folds: 0, memory_limit: MOST_MEMORY }
    }

    setters!(memory_limit);

    fn parts<N: Into<String>, S: Into<Value>>(mut self, parts: impl IntoIterator<Item = (N, S)>, share: &str) -> Self {
        let part = |(name, share_of): (N, S)| json!({ "name": name.into(), share: share_of.into() });
        self.draft.set("split", "parts", parts.into_iter().map(part).collect::<Value>());
        self
    }

    /// Makes the split, in O(parts log parts).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`parts`: more than 2^16; `name`: the length of a name; `weight`,
    /// `size`: all together 0, or above 2^53 - 1; `recipe`: more than 2^24 bytes; `memory_limit`),
    /// [`Missing`](crate::FailureKind::Missing) (`split`, `parts`, `name`, `weight`, `size`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`name`: two parts have it; `weight`, `size`: parts of both
    /// kinds; `samples`), [`OutOfMemory`](crate::FailureKind::OutOfMemory); of a recipe also
    /// [`WrongType`](crate::FailureKind::WrongType) and [`UnknownMember`](crate::FailureKind::UnknownMember) (any
    /// member), and contradiction (a member that is there twice, or belongs to another kind of recipe).
    pub fn build(self) -> Result<Split, Error> {
        let Self { draft, folds, memory_limit } = self;
        if folds > MAX_PARTS as u32 {
            let allowed = format!("1 to {MAX_PARTS}");
            let failure = Failure::out_of_range("parts", format!("{folds} objects"), allowed);
            return Err(failure.within(Some(1), Some(MAX_PARTS as u64)).into());
        }
        let object = draft.make(memory_limit, |instance, recipe, _| Object::<splits::Split>::new(instance, recipe))?;
        Ok(Split { values: SplitValues::ask(&object)?, object })
    }
}
