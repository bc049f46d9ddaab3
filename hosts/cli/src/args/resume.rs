//! `--resume`: what a state decides, and what is wrong with a state.

use std::fmt::Display;

use samedeal::{Batcher, Error, Failure, FailureKind, Sampler};
use serde_json::Value;

use crate::args::dataset::Dataset;
use crate::args::deal::{EpochArgs, lists};
use crate::read::checkpoint::{self, Kind, Saved};
use crate::write::problem::Problem;

/// What to do if a state has too many files to name their sizes.
pub const NAME_FILES: &str = "the state has a hash of the sizes of the files, not the sizes; name the files";

impl EpochArgs {
    /// Reads the recipe, and the state that is to be resumed, if there is one. `by_length` is whether batches have samples of different length.
    pub fn settle(&mut self, by_length: bool) -> Result<(), Problem> {
        if let Some(epochs) = self.deal.epochs.filter(|epochs| epochs.is_range) {
            return Err(Problem::message(format!(
                "--epoch is {epochs}; allowed here: one epoch; locate takes several"
            )));
        }
        self.settle_epochs(by_length)
    }

    /// The same where several epochs may be asked for.
    pub fn settle_epochs(&mut self, by_length: bool) -> Result<(), Problem> {
        self.deal.epoch = self.deal.epochs.map_or(0, |epochs| epochs.first);
        self.read_recipe(by_length)?;
        let Some(path) = &self.deal.resume else { return Ok(()) };
        let saved = checkpoint::only(path)?;
        self.take_over(saved, by_length)
    }

    /// Sets what a state decides, such as order and seed. Refuses options that contradict it.
    pub fn take_over(&mut self, saved: Saved, by_length: bool) -> Result<(), Problem> {
        let why = match (saved.kind(), by_length) {
            (Kind::Worker, _) => "only the StatefulDataLoader of torchdata resumes it",
            (Kind::Steps, _) => "`samedeal steps --resume` continues it",
            (Kind::Recipe(_), _) => "it does not say how far anything was read; give it with --recipe",
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
        if saved.kind() == Kind::Sampler && (self.deal.composed.is_some() || saved.is_composed()?) {
            return self.take_over_composed(saved);
        }
        if saved.kind() == Kind::Batcher && saved.is_composed()? {
            if self.deal.by_length.is_none() {
                let what = format!("the state has the order {}, which is made of others", saved.order());
                return Err(saved.refused(format!("{what}; give the recipe of the run with --recipe")));
            }
            // The recipe may have more than the state had: the library compares them.
            self.saved = Some(saved);
            return Ok(());
        }
        let (deal, dataset) = (&mut self.deal, &mut self.dataset);
        let order = saved.order().to_owned();
        let is_reading = saved.kind() == Kind::Reading;
        let number = |given: Option<u32>| given.map(|number| number.to_string());
        // A seed beyond 2^53 is a text.
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let own = |name: &str| saved.field(name).map(shown);
        for (option, given, own) in [
            ("order", deal.order.clone(), Some(order.clone()).filter(|order| !order.is_empty())),
            ("seed", deal.seed.map(|seed| seed.to_string()), own("seed")),
            ("samples", dataset.samples.map(|samples| samples.to_string()), own("samples")),
            ("lanes", number(deal.lanes), own("lanes")),
            ("shuffle-window", number(deal.shuffle_window), own("shuffle_window")),
            ("layout", deal.layout.filter(|_| is_reading).map(|it| it.to_string()), Some("strided".to_owned())),
            ("unit", number(deal.unit.filter(|_| is_reading)), Some("1".to_owned())),
        ] {
            if let (Some(given), Some(own)) = (given, own)
                && given != own
            {
                return Err(saved.refused(match deal.recipe {
                    None => contradiction(option, given, own),
                    Some(_) => format!("{option} is {own}, and {given} in the recipe; give the recipe of the run"),
                }));
            }
        }
        // What is no state says nothing, and the library says so.
        if let Some(seed) = saved.seed().filter(|_| deal.by_length.is_none()) {
            (deal.seed, deal.order) = (Some(seed), Some(order));
            (deal.lanes, deal.shuffle_window) = (saved.small("lanes"), saved.small("shuffle_window"));
        }
        if dataset.paths.is_empty() && dataset.known.is_none() && !by_length {
            let sizes = saved.numbers("sizes");
            if sizes.is_none() && saved.field("sizes").is_some() {
                return Err(saved.refused(NAME_FILES));
            }
            dataset.known = saved.number("samples").map(|samples| Dataset { samples, files: Vec::new(), sizes });
        }
        self.saved = Some(saved);
        Ok(())
    }

    /// The same of an order that is made of others. A recipe may have more than the state had: the library compares them.
    fn take_over_composed(&mut self, saved: Saved) -> Result<(), Problem> {
        let (deal, dataset) = (&mut self.deal, &mut self.dataset);
        if deal.composed.is_none() && deal.recipe.is_none() {
            for (option, is_given) in [
                ("samples", dataset.samples.is_some()),
                ("order", deal.order.is_some()),
                ("seed", deal.seed.is_some()),
                ("lanes", deal.lanes.is_some()),
                ("shuffle-window", deal.shuffle_window.is_some()),
            ] {
                if is_given {
                    let what =
                        format!("--{option} has no effect: the state has the order {}; leave it out", saved.order());
                    return Err(saved.refused(what));
                }
            }
            let made = saved.composed(lists(&deal.list)?).map_err(|error| saved.refused(without_lists(&error)))?;
            let Some((builder, sampler)) = made else { return Err(saved.refused(saved.described())) };
            (deal.seed, deal.order) = (Some(sampler.seed()), Some(sampler.order().to_owned()));
            if dataset.paths.is_empty() {
                dataset.known = Some(Dataset { samples: sampler.samples(), ..Dataset::default() });
            }
            deal.composed = Some(builder);
        }
        self.saved = Some(saved);
        Ok(())
    }

    /// The state of a dataset in files, if it is one that is resumed.
    pub fn reading(&self) -> Option<&Saved> {
        self.saved.as_ref().filter(|saved| saved.kind() == Kind::Reading)
    }

    /// Moves a sampler to where the state was taken, if there is one.
    pub fn resumed(&self, mut sampler: Sampler) -> Result<Sampler, Problem> {
        self.apply(|state| sampler.resume(state))?;
        Ok(sampler)
    }

    /// Moves a batcher there.
    pub fn resumed_batcher(&self, mut batcher: Batcher) -> Result<Batcher, Problem> {
        self.apply(|state| batcher.resume(state))?;
        Ok(batcher)
    }

    fn apply(&self, resume: impl FnOnce(&str) -> Result<(), Error>) -> Result<(), Problem> {
        let Some(saved) = &self.saved else { return Ok(()) };
        resume(&saved.text).map_err(|error| match self.deal.composed {
            // No option has what differs.
            Some(_) => saved.refused(error),
            None => saved.refused(differing(error)),
        })
    }
}

/// What is wrong with an order that is made of a state alone.
fn without_lists(error: &Error) -> String {
    match error.failure() {
        Some(Failure { kind: FailureKind::Missing, field, .. }) => format!(
            "the state has only a hash of {field}; name the numbers with --list PATH=FILE, or give the recipe of the run too"
        ),
        _ => error.to_string(),
    }
}

/// What differs from the state. It names options, since a fingerprint means nothing to people.
pub fn differing(error: Error) -> String {
    let Some(Failure { kind: FailureKind::Contradiction, field, value, allowed, .. }) = error.failure() else {
        return error.to_string();
    };
    let own = match field.as_str() {
        "samples" => return format!("there are {value} samples; allowed: {allowed}"),
        "sizes" | "shards" => {
            "the state is of other files: their numbers of rows differ. Name the files of the run, in their order"
        }
        "lengths" => "the state is of other lengths. Name the lengths of the run, in their order",
        field => return format!("--{field} is {value}; allowed: {allowed}"),
    };
    own.to_owned()
}

/// An option that is not what the state says.
pub fn contradiction(option: &str, given: impl Display, state: impl Display) -> String {
    format!("--{option} is {given}; allowed: {state}, as in the state, or leave --{option} out")
}
