use clap::Args;
use indicatif::ProgressBar;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::args::deal::{EpochArgs, ReaderArgs};
use crate::args::format::{Format, Output};
use crate::commands::readers::Reader;
use crate::generated::ORDERS;
use crate::write::{Head, Items, Problem, hexadecimal, progress, show};

#[derive(Args)]
pub struct FingerprintArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    pub reader: ReaderArgs,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct OrdersArgs {
    #[command(flatten)]
    pub output: Output,
}

/// The fingerprints of a reader.
#[derive(Serialize, JsonSchema)]
pub struct Fingerprints<'a> {
    #[serde(flatten)]
    head: Head,
    /// SHA-256 of the samples of this reader, in their order.
    fingerprint: &'a str,
    /// SHA-256 of the configuration, which is the same on all ranks. Not there for the rest of a dataset in files.
    #[serde(skip_serializing_if = "Option::is_none")]
    config_fingerprint: Option<&'a str>,
}

/// The names of the orders.
#[derive(Serialize, JsonSchema)]
pub struct Orders<'a> {
    orders: &'a [&'a str],
}

/// `samedeal fingerprint`
pub fn fingerprint(args: &FingerprintArgs) -> Result<(), Problem> {
    args.epoch.without_batches()?;
    let (_, mut readers) = args.epoch.open()?;
    let reader = readers.reader(args.reader.rank, args.reader.worker.unwrap_or(0))?;
    let bar = progress::bar("hashing", reader.samples);
    let (fingerprint, of) = (hashed(&reader, &bar)?, format!("indices of {}", reader.who()));
    bar.finish_and_clear();
    let head = reader.head()?;
    // A reading has a recipe, and no configuration.
    let config_fingerprint = readers.sampler().map(|sampler| sampler.config_fingerprint()).transpose()?;
    let format = args.output.format();
    let items = || {
        let mut items = Items::new(if format == Format::Table { ["of", "SHA-256"] } else { ["name", "sha256"] });
        let config = config_fingerprint.as_ref();
        let config = config.map(|it| ("config_fingerprint", "configuration, the same on all ranks", it));
        for (name, of, print) in [("fingerprint", of.as_str(), &fingerprint)].into_iter().chain(config) {
            items.push([if format == Format::Table { of } else { name }.into(), print.as_str().into()]);
        }
        items
    };
    let answer =
        || Ok(Fingerprints { head, fingerprint: &fingerprint, config_fingerprint: config_fingerprint.as_deref() });
    show(format, items, || Ok(COMPARED.to_owned()), answer)
}

/// The note that says which fingerprint to compare.
const COMPARED: &str = "\
Between ranks of a job, compare the second one: it is the same on all ranks in an epoch.
Between hosts, compare the first one: it is of the samples that this rank gets in this epoch.";

/// The fingerprint of a reader, as the samplers of all languages compute it. It is computed in windows, so that a bar
/// can show the progress.
fn hashed(reader: &Reader<'_>, bar: &ProgressBar) -> Result<String, Problem> {
    let mut hash = Sha256::new();
    for window in reader.windows(0, reader.samples) {
        let (_, window) = window?;
        window.iter().for_each(|index| hash.update(index.to_le_bytes()));
        bar.inc(window.len() as u64);
    }
    Ok(hexadecimal(&hash.finalize()))
}

/// `samedeal orders`
pub fn orders(args: &OrdersArgs) -> Result<(), Problem> {
    let names: Vec<_> = ORDERS.iter().map(|(name, _)| *name).collect();
    let mut items = Items::new(["order", "what it is"]);
    for (name, meaning) in ORDERS {
        items.push([(*name).into(), meaning.replace('`', "").into()]);
    }
    let told =
        "Recipes (--recipe) may also have orders that are made of others, such as those that `samedeal blend` writes.";
    show(args.output.format(), || items, || Ok(told.to_owned()), || Ok(Orders { orders: &names }))
}
