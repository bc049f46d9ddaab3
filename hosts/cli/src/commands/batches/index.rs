//! `samedeal index`: how many steps each window of an epoch has.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clap::Args;
use samedeal::join_indices;

use crate::args::by_length::{ByLengthArgs, worded};
use crate::args::deal::{AllRanks, EpochArgs};
use crate::args::format::TextOutput;
use crate::args::values::within;
use crate::write::{Problem, progress, write_text};

/// The most parts of an index for each thread. Threads take parts one after the other, so with many parts, all threads
/// end at about the same time.
const PARTS: u64 = 16;

#[derive(Args)]
pub struct IndexArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    ranks: AllRanks,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    /// How many threads plan; the index is the same for any number [default: as many as there are processors]
    #[arg(long, value_name = "COUNT", value_parser = within(1_u32, 1 << 10))]
    threads: Option<u32>,
    #[command(flatten)]
    output: TextOutput,
}

/// `samedeal index`
pub fn run(args: &IndexArgs) -> Result<(), Problem> {
    let (epoch, by_length) = (&args.epoch, &args.by_length);
    if by_length.lengths.is_none() {
        return Err(Problem::message(
            "--lengths is missing; needed: the lengths of the samples, of whose batches the index is",
        ));
    }
    if epoch.saved.is_some() {
        return Err(Problem::message("--resume has no meaning here: an index is of a whole epoch; leave it out"));
    }
    by_length.without_index()?;
    let lengths = by_length.read(epoch)?;
    let bar = progress::bar("planning", lengths.values.len() as u64);
    let given = lengths.given(&bar);
    let deal = &epoch.deal;
    let batcher = || by_length.batcher(deal, 0, given.clone());
    let windows = batcher()?.num_windows();
    let threads =
        args.threads.map_or_else(|| thread::available_parallelism().map_or(1, |count| count.get() as u64), u64::from);
    let each = windows.div_ceil(threads * PARTS).max(1);
    let next = AtomicU64::new(0);
    // Each thread plans with a batcher of its own.
    let plan = || -> Result<Vec<String>, Problem> {
        let own = batcher()?;
        let starts =
            std::iter::from_fn(|| Some(next.fetch_add(each, Ordering::Relaxed)).filter(|&first| first < windows));
        starts.map(|first| own.index(first, each.min(windows - first)).map_err(worded)).collect()
    };
    let parts = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(windows)).map(|_| scope.spawn(plan)).collect();
        let own = plan();
        let others =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(others).collect::<Result<Vec<_>, _>>()
    })?;
    bar.finish_and_clear();
    write_text(args.output.output.as_deref(), &join_indices(parts.concat())?)
}
