use clap::Args;
use indicatif::ProgressBar;
use samedeal::Sampler;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{DealArgs, RankArgs, SHARDED};
use crate::args::format::{Format, Output};
use crate::commands::numbers::WINDOW;
use crate::commands::state::ResumeArgs;
use crate::write::items::Items;
use crate::write::output::{hexadecimal, json_of, print};
use crate::write::problem::Problem;
use crate::write::progress;

#[derive(Args)]
pub struct FingerprintArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct OrdersArgs {
    #[command(flatten)]
    pub output: Output,
}

/// `samedeal fingerprint`
pub fn fingerprint(args: &FingerprintArgs) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    let sampler = args.resume.sampler(args.deal.sampler(&dataset, args.rank.rank)?)?;
    let bar = progress::bar("hashing", sampler.num_samples());
    let indices = hashed(&sampler, &bar)?;
    let config = sampler.config_fingerprint()?;
    bar.finish_and_clear();
    match args.output.format() {
        Format::Table => {
            let (rank, world) = (args.rank.rank, args.deal.world);
            let mut items = Items::new(["of", "SHA-256"]);
            items.push([format!("indices of rank {rank} of {world}").into(), indices.into()]);
            items.push(["configuration, the same on all ranks".into(), config.into()]);
            print(items.table())
        }
        Format::Text => print(format!("fingerprint\t{indices}\nconfig_fingerprint\t{config}")),
        Format::Json => {
            let mut object = json_of(&sampler);
            object.insert("fingerprint".to_owned(), indices.into());
            object.insert("config_fingerprint".to_owned(), config.into());
            print(Value::Object(object))
        }
    }
}

/// The fingerprint of [`Sampler::fingerprint`], window after window, since a single call of the component cannot say how far it
/// has come.
fn hashed(sampler: &Sampler, bar: &ProgressBar) -> Result<String, Problem> {
    let mut hash = Sha256::new();
    for start in (0..sampler.num_samples()).step_by(WINDOW as usize) {
        let window: Vec<u64> = sampler.window(start, (sampler.num_samples() - start).min(WINDOW) as u32)?;
        window.iter().for_each(|index| hash.update(index.to_le_bytes()));
        bar.inc(window.len() as u64);
    }
    Ok(hexadecimal(&hash.finalize()))
}

/// `samedeal orders`
pub fn orders(args: &OrdersArgs) -> Result<(), Problem> {
    let mut names = samedeal::orders()?;
    names.push(SHARDED.to_owned());
    let mut items = Items::new(["order", "what it is"]);
    for name in &names {
        items.push([name.as_str().into(), description(name).into()]);
    }
    match args.output.format() {
        Format::Table => print(items.table()),
        Format::Text => print(items.lines()),
        Format::Json => print(json!({ "orders": names })),
    }
}

fn description(order: &str) -> &'static str {
    match order {
        "feistel" => "pseudo-random, any number of samples without memory; the default",
        "fisher-yates" => {
            "unbiased: every order as likely as any other, up to the generator; 4 bytes of memory a sample"
        }
        "sequential" => "the samples in their own order",
        "torch" => "DistributedSampler and randperm of PyTorch 2.6 and later; 4 bytes a sample",
        "torch-2.5" => "the same of PyTorch up to 2.5; differs from 214,748,364 samples upwards",
        "python" => "random.Random(seed + epoch).shuffle of CPython; 4 bytes a sample",
        "dotnet" => "a shuffle with the seeded System.Random of .NET; 4 bytes a sample",
        SHARDED => "of datasets in files alone: shuffled windows of neighbouring samples; --lanes, --window",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use indicatif::ProgressBar;
    use samedeal::Sampler;

    #[test]
    fn hashing_tells_how_far_it_has_come_and_is_the_library_s() {
        let sampler = Sampler::builder(300_000).seed(5).rank(1).world(2).build().unwrap();
        let bar = ProgressBar::hidden();
        assert_eq!(super::hashed(&sampler, &bar).unwrap(), sampler.fingerprint().unwrap());
        assert_eq!(bar.position(), sampler.num_samples());
    }

    #[test]
    fn every_order_is_described() {
        for order in samedeal::orders().unwrap() {
            assert_ne!(super::description(&order), "", "{order}");
        }
    }
}
