//! `--resume`: reads a state, sets the options that the state decides, and refuses options that contradict it.

use std::fmt::Display;

use samedeal::{Batcher, Error, Failure, FailureKind, Sampler};
use serde_json::{Value, json};

use crate::args::dataset::Dataset;
use crate::args::deal::EpochArgs;
use crate::args::recipe::{naming_list, with};
use crate::read::checkpoint::{self, Kind, Saved};
use crate::write::{Problem, option_of};

/// Advice if a state has too many files to hold their sizes.
pub const NAME_FILES: &str = "the state has a hash of the sizes of the files, not the sizes; name the files";

impl EpochArgs {
    /// Reads the recipe and the state, if they are named, and sets the options that they decide. Refuses several
    /// epochs. `by_length`: whether `--lengths` is given.
    pub fn settle(&mut self, by_length: bool) -> Result<(), Problem> {
        if let Some(epochs) = self.deal.epochs.filter(|epochs| epochs.is_range) {
            return Err(Problem::message(format!(
                "--epoch is {epochs}; allowed here: one epoch; locate takes several"
            )));
        }
        self.settle_epochs(by_length)
    }

    /// [`Self::settle`] for a subcommand that takes several epochs.
    pub fn settle_epochs(&mut self, by_length: bool) -> Result<(), Problem> {
        self.deal.epoch = self.deal.epochs.map_or(0, |epochs| epochs.first);
        self.read_recipe(by_length)?;
        let Some(path) = &self.deal.resume else { return Ok(()) };
        let saved = checkpoint::only(path)?;
        self.take_over(saved, by_length)
    }

    /// Sets the options that a state decides, such as order and seed. Refuses options that contradict the state.
    pub fn take_over(&mut self, saved: Saved, by_length: bool) -> Result<(), Problem> {
        let why = match (saved.kind(), by_length) {
            (Kind::Worker, _) => "only the StatefulDataLoader of torchdata resumes it",
            (Kind::Steps, _) => "`samedeal steps --resume` continues it",
            (Kind::Recipe, _) => "it does not say how far anything was read; give it with --recipe",
            (Kind::Index, _) => "it does not say how far anything was read; give it with --index",
            (Kind::Log | Kind::Other, _) => {
                "this version resumes states of version 1: of samplers, of batches and of datasets in files"
            }
            (Kind::Batcher, false) => "add --lengths, and the recipe or the options that the batches were made with",
            (Kind::Sampler | Kind::Reading, true) => "leave --lengths out",
            (Kind::Sampler | Kind::Reading, false) | (Kind::Batcher, true) => "",
        };
        if !why.is_empty() {
            return Err(saved.refused(format!("{}; {why}", saved.described())));
        }
        let is_composed = saved.is_composed()?;
        if saved.kind() == Kind::Batcher && is_composed && self.deal.by_length.is_none() {
            let what = format!("the state has the order {}, which is made of others", saved.order());
            return Err(saved.refused(format!("{what}; give the recipe of the run with --recipe")));
        }
        // A recipe may extend the composed order of the state: the library compares the two.
        if !is_composed || self.deal.recipe.is_none() {
            self.compare(&saved)?;
        }
        match saved.kind() {
            Kind::Sampler if self.deal.recipe.is_none() => self.decide_by(&saved)?,
            Kind::Batcher if self.deal.by_length.is_none() => {
                self.deal.order.replace(&saved.section("order"));
                let mut batch = saved.batch().cloned().unwrap_or_default();
                batch.remove("lengths");
                let (order, deal) = (self.deal.order.members(), self.deal.deal.members());
                self.deal.by_length = Some(json!({ "order": order, "deal": deal, "batch": batch }).to_string());
            }
            Kind::Reading if self.dataset.paths.is_empty() && self.dataset.known.is_none() => {
                let sizes = saved.numbers("sizes");
                // A composed order has no member `sizes`, and needs none.
                if sizes.is_none() && saved.field("sizes").is_some() {
                    return Err(saved.refused(NAME_FILES));
                }
                self.dataset.known =
                    saved.number("samples").map(|samples| Dataset { samples, files: Vec::new(), sizes });
            }
            _ => {}
        }
        self.saved = Some(saved);
        Ok(())
    }

    /// Refuses options that contradict a state.
    fn compare(&self, saved: &Saved) -> Result<(), Problem> {
        let (deal, is_reading) = (&self.deal, saved.kind() == Kind::Reading);
        let order = deal.order.options().map(|(option, name, given)| {
            let own = if name == "name" { Some(saved.order().into()) } else { saved.field(name).cloned() };
            (option, given.clone(), own.filter(|own| *own != ""))
        });
        let samples = self.dataset.samples.map(|it| ("samples", it.into(), saved.field("samples").cloned()));
        // Readers of files always have the layout `strided` and the unit 1.
        let of_reading = deal.deal.options().filter(|_| is_reading).filter_map(|(option, name, given)| match name {
            "layout" => Some((option, given.clone(), Some("strided".into()))),
            "unit" => Some((option, given.clone(), Some(1.into()))),
            _ => None,
        });
        // A seed beyond 2^53 is a string in JSON; it is shown without quotes.
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for (option, given, own) in order.chain(samples).chain(of_reading) {
            let Some(own) = own.filter(|own| *own != given) else { continue };
            let (given, own) = (shown(&given), shown(&own));
            return Err(saved.refused(match deal.recipe {
                None => contradiction(option, given, own),
                Some(_) => format!("{option} is {own}, and {given} in the recipe; give the recipe of the run"),
            }));
        }
        Ok(())
    }

    /// Sets the options that the state of a sampler decides. The state has the whole order, but only hashes of long
    /// lists.
    fn decide_by(&mut self, saved: &Saved) -> Result<(), Problem> {
        let text = with(json!({ "order": saved.section("order") }).to_string(), self.deal.sections());
        self.decide(&text, &saved.path, |error| match error.failure() {
            Some(Failure { kind: FailureKind::Missing, field, .. }) if field == "sizes" => NAME_FILES.to_owned(),
            Some(Failure { kind: FailureKind::Missing, field, .. }) => {
                let advice = naming_list(error).unwrap_or_else(|| "give the recipe of the run too".to_owned());
                format!("the state has only a hash of {field}; {advice}")
            }
            Some(Failure { kind: FailureKind::Contradiction, .. }) => differing(error),
            // All other failures are about options.
            _ => Problem::from(error.clone()).to_string(),
        })?;
        Ok(())
    }

    /// The state that is resumed, if it is the state of a dataset in files.
    pub fn reading(&self) -> Option<&Saved> {
        self.saved.as_ref().filter(|saved| saved.kind() == Kind::Reading)
    }

    /// Resumes a sampler from the state of `--resume`, if there is one.
    pub fn resumed(&self, mut sampler: Sampler) -> Result<Sampler, Problem> {
        self.apply(|state| sampler.resume(state))?;
        Ok(sampler)
    }

    /// Resumes a batcher from the state of `--resume`, if there is one. `anew`: plan the rest with the given options,
    /// which may differ from the state.
    pub fn resumed_batcher(&self, mut batcher: Batcher, anew: bool) -> Result<Batcher, Problem> {
        self.apply(|state| if anew { batcher.replan(state) } else { batcher.resume(state) })?;
        Ok(batcher)
    }

    fn apply(&self, resume: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), Problem> {
        let Some(saved) = &self.saved else { return Ok(()) };
        resume(&saved.text).map_err(|error| match saved.is_composed().ok() {
            // No options stand for the parts of a composed order, so the message of the library is shown as it is.
            Some(true) => saved.refused(error),
            _ => saved.refused(differing(&error)),
        })
    }
}

/// The difference from the state in words. The words name options, since a fingerprint means nothing to people.
pub fn differing(error: &Error) -> String {
    let Some(failure @ Failure { kind: FailureKind::Contradiction, field, value, allowed, .. }) = error.failure()
    else {
        return error.to_string();
    };
    let own = match field.as_str() {
        "samples" => return format!("there are {value} samples; allowed: {allowed}"),
        "sizes" | "shards" => {
            "the state is of other files: their numbers of rows differ. Name the files of the run, in their order"
        }
        "lengths" => "the state is of other lengths. Name the lengths of the run, in their order",
        _ => return format!("--{} is {value}; allowed: {allowed}", option_of(failure)),
    };
    own.to_owned()
}

/// The message for an option that contradicts the state.
pub fn contradiction(option: &str, given: impl Display, state: impl Display) -> String {
    format!("--{option} is {given}; allowed: {state}, as in the state, or leave --{option} out")
}
