//! `--recipe`: reads a recipe, and sets the options that the recipe decides.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use samedeal::{Builder, Error, Failure, FailureKind, Sampler};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::args::dataset::Dataset;
use crate::args::deal::{EpochArgs, SHARDED, is_plain, lists};
use crate::generated::LISTS;
use crate::read::numbers::whole;
use crate::write::{Problem, counted, grouped};

/// The most bytes that are read of a recipe. The library's own limit is lower.
const MOST: u64 = 1 << 26;

impl EpochArgs {
    /// Reads the recipe, if one is named, and sets the options that it decides. `by_length`: whether `--lengths` is
    /// given.
    pub fn read_recipe(&mut self, by_length: bool) -> Result<(), Problem> {
        let Some(path) = &self.deal.recipe else { return Ok(()) };
        let path = path.clone();
        let [(order, mut members), deal] = self.deal.sections();
        members.extend(self.dataset.samples.map(|samples| ("samples".to_owned(), samples.into())));
        let text = with(text(&path)?, [(order, members), deal]);
        if by_length {
            // A text that is no recipe is refused later, when the library has the lengths.
            let recipe: Value = serde_json::from_str(&text).unwrap_or_default();
            self.deal.order.replace(&recipe["order"]);
            self.deal.deal.replace(&recipe["deal"]);
            self.deal.by_length = Some(text);
            return Ok(());
        }
        let has_no_lists = self.deal.list.is_empty();
        let sampler = self.decide(&text, &path, |error| explained(error, has_no_lists))?;
        let recipe: Value = serde_json::from_str(&sampler.recipe()?).unwrap_or_default();
        self.deal.deal.replace(&recipe["deal"]);
        Ok(())
    }

    /// Sets the options and the dataset that the recipe of a sampler decides, except the deal. Problems name the file
    /// `path`.
    pub fn decide(
        &mut self,
        text: &str,
        path: &Path,
        explained: impl Fn(&Error) -> String,
    ) -> Result<Sampler, Problem> {
        let files = if self.dataset.paths.is_empty() { None } else { Some(Dataset::new(&self.dataset)?) };
        let (builder, sampler) = sampler(text, lists(&self.deal.list)?, files.as_ref())
            .map_err(|error| Problem::of(path, explained(&error)))?;
        let (samples, sizes) = (sampler.dataset_size(), sampler.sizes()?);
        let dataset = files.unwrap_or_else(|| Dataset { samples, files: Vec::new(), sizes });
        check_samples(samples, &dataset).map_err(|why| Problem::of(path, why))?;
        let recipe: Value = serde_json::from_str(&sampler.recipe()?).unwrap_or_default();
        self.deal.order.replace(&recipe["order"]);
        (self.deal.decided, self.deal.is_composed) = (Some(builder), !is_plain(sampler.order())?);
        if self.dataset.paths.is_empty() {
            self.dataset.samples = Some(samples);
        }
        self.dataset.known = Some(dataset);
        Ok(sampler)
    }
}

/// The recipe with these members in place of its own. The members are the options beside `--recipe`. A text that is no
/// recipe stays as it is, and the library refuses it.
pub fn with<'a>(text: String, sections: impl IntoIterator<Item = (&'a str, Map<String, Value>)>) -> String {
    let mut changes = sections.into_iter().filter(|(_, members)| !members.is_empty()).peekable();
    let recipe = if changes.peek().is_some() { serde_json::from_str(&text).ok() } else { None };
    let Some(Value::Object(mut recipe)) = recipe else { return text };
    for (section, members) in changes {
        let own = recipe.entry(section).or_insert_with(|| Map::new().into());
        own.as_object_mut().into_iter().for_each(|own| own.extend(members.clone()));
    }
    Value::Object(recipe).to_string()
}

/// A recipe without a member of a section.
pub fn without(text: String, section: &str, member: &str) -> String {
    let Ok(Value::Object(mut recipe)) = serde_json::from_str(&text) else { return text };
    recipe.get_mut(section).and_then(Value::as_object_mut).map(|own| own.remove(member));
    Value::Object(recipe).to_string()
}

/// The order of a canonical recipe in words, for people.
pub fn order_of(recipe: &str) -> String {
    let recipe: Value = serde_json::from_str(recipe).unwrap_or_default();
    let order = &recipe["order"];
    // An order without a seed has the seed of its inner order (`of`). A plan of whole shards has its seed in `shards`.
    let own = std::iter::successors(Some(order), |order| order.get("of")).chain([&recipe["shards"]]);
    let seed = own.filter_map(|order| whole::<i64>(&order["seed"])).next().unwrap_or(0);
    format!("order {}, seed {seed}", order["name"].as_str().unwrap_or(SHARDED))
}

/// Refuses files that have another number of samples than a recipe.
pub fn check_samples(samples: u64, dataset: &Dataset) -> Result<(), String> {
    let own = counted(samples, "sample", "samples");
    match dataset.samples == samples {
        true => Ok(()),
        false => {
            Err(format!("the recipe is of {own}, and the files have {}; name the files of the run", dataset.samples))
        }
    }
}

/// The text of a recipe.
pub fn text(path: &Path) -> Result<String, Problem> {
    let failed = |error: io::Error| Problem::of(path, error);
    let file: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path).map_err(failed)?) };
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST {
        return Err(Problem::of(path, format!("is no recipe: it has more than {} bytes", grouped(MOST))));
    }
    let text = String::from_utf8(bytes).map_err(|_| Problem::of(path, "is no recipe: it is not UTF-8"))?;
    match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) if error.is_eof() && !text.trim().is_empty() => {
            Err(Problem::of(path, format!("is no recipe: its end is missing ({error}); copy or write it again")))
        }
        Err(error) => Err(Problem::of(path, format!("is no recipe: it is no JSON ({error})"))),
    }
}

/// The sampler of a recipe, and the builder that made it. The sizes of `files` are given to the order, unless it takes
/// none.
fn sampler(text: &str, lists: Vec<(String, Vec<u64>)>, files: Option<&Dataset>) -> Result<(Builder, Sampler), Error> {
    let builder = lists.into_iter().fold(Sampler::from_recipe(text), |it, (path, list)| it.list(path, list));
    let made = |builder: Builder| builder.clone().build().map(|sampler| (builder, sampler));
    let make = |sizes: Option<Vec<u64>>| made(sizes.into_iter().fold(builder.clone(), Builder::sizes));
    with_sizes(files.and_then(Dataset::sizes), make, |(_, sampler)| sampler.lanes().is_some())
}

/// Makes an object with the sizes of files, or without them if its order takes no sizes. `has_sizes`: whether the order
/// of the object takes sizes.
pub fn with_sizes<T>(
    sizes: Option<Vec<u64>>,
    make: impl Fn(Option<Vec<u64>>) -> Result<T, Error>,
    has_sizes: impl Fn(&T) -> bool,
) -> Result<T, Error> {
    if sizes.is_none() {
        return make(None);
    }
    let error = match make(sizes) {
        Ok(made) => return Ok(made),
        Err(error) => error,
    };
    if !["sizes", "lists"].iter().any(|field| is_of(&error, FailureKind::Contradiction, field)) {
        return Err(error);
    }
    match make(None) {
        Ok(made) if !has_sizes(&made) => Ok(made),
        // The order takes no sizes, so the failure without sizes is returned.
        Err(other) if !is_of(&other, FailureKind::Missing, "sizes") => Err(other),
        _ => Err(error),
    }
}

fn is_of(error: &Error, kind: FailureKind, field: &str) -> bool {
    error.failure().is_some_and(|failure| failure.kind == kind && failure.field == field)
}

/// The list of an order that is missing, if the failure says that one is. Stages of a blend have `weights` too, which are no
/// list that can stand beside a recipe.
fn missing_list(failure: &Failure) -> Option<&str> {
    let is_list = LISTS.contains(&failure.field.as_str()) && !failure.path.contains("stages[");
    (failure.kind == FailureKind::Missing && is_list).then_some(&failure.field)
}

/// The advice for a list of an order of which a recipe or a state has only a hash, if the error says that one is missing.
pub fn naming_list(error: &Error) -> Option<String> {
    let field = missing_list(error.failure()?)?;
    Some(format!(
        "name the numbers with --list PATH=FILE, where PATH is {field}, or leads to it through the orders of the recipe, such as \
         of/{field} or sources/NAME/{field}"
    ))
}

/// The error, and what to do on the command line.
pub fn explained(error: &Error, has_no_lists: bool) -> String {
    // The list `sizes` follows from the files, which are easier to name.
    if is_of(error, FailureKind::Missing, "sizes") {
        return format!("{error}. Name the files of the run or their directories");
    }
    if let Some(advice) = naming_list(error).filter(|_| has_no_lists) {
        return format!("{error}; {advice}");
    }
    let is_other = |field: &str| is_of(error, FailureKind::Contradiction, field);
    let of_batches = "the recipe is of batches of samples of different length; batches, locate, step, explain and recipe take it with \
                      --lengths and the files that tell lengths";
    match () {
        () if is_other("sizes") => {
            format!("{error}. The files are not those of the recipe: name the files of the run, in their order")
        }
        () if is_other("batch") => of_batches.to_owned(),
        () if is_other("steps") => "the recipe is of steps over epochs; `samedeal steps` takes it".to_owned(),
        () if is_other("split") => "the recipe is of a split; `samedeal split` takes it".to_owned(),
        () => error.to_string(),
    }
}
