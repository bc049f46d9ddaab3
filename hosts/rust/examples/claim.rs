//! One reader of a ledger in a folder, which readers in Python and Node can share:
//! `claim FOLDER READER SAMPLES BLOCK_SIZE LEASE SECONDS`. The lease, and the work on each sample, are in seconds. The
//! program prints the runs that it committed.

use std::error::Error;
use std::thread;
use std::time::Duration;

use samedeal::Sampler;
use samedeal::ledger::{FolderLog, Ledger};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, reader, samples, block_size, lease, seconds] = arguments.as_slice() else {
        return Err("usage: claim FOLDER READER SAMPLES BLOCK_SIZE LEASE SECONDS".into());
    };
    let sampler = Sampler::builder(samples.parse()?).seed(5).build()?;
    let lease = Duration::try_from_secs_f64(lease.parse()?)?;
    let work = Duration::try_from_secs_f64(seconds.parse()?)?;
    let builder = Ledger::builder(reader.parse()?).block_size(block_size.parse()?).lease(lease);
    let ledger = builder.open(&sampler, FolderLog::new(folder))?;
    while let Some(mut claim) = ledger.claim()? {
        let (start, count) = (claim.start(), claim.count());
        thread::sleep(work * count);
        match claim.commit_rest() {
            Ok(()) => println!("{start} {count}"),
            // The lease was too short: others read the rest of this claim.
            Err(error) if error.failure().is_some_and(|failure| failure.field == "claim") => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
