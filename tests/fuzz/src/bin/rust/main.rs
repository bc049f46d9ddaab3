//! Every public function of the Rust host with random and hostile arguments: only documented errors are allowed, no
//! panic, no error of the engine, and bounded time and memory.

mod asked;
mod batching;
mod dealing;
mod ledgers;
mod reading;

use std::path::Path;
use std::process::ExitCode;
use std::{io, panic};

use asked::Asked;
use fuzz::ask::watch_panics;
use fuzz::corpus::Corpus;
use fuzz::program;
use fuzz::report::{Options, Report};
use fuzz::usage;
use samedeal::{Reading, Sampler};

/// The processor time for one call, in milliseconds on a usual machine. The engine is not optimised in this build.
const BOUND_MS: f64 = 3000.0;
/// Megabytes by which this process may grow after its first programs.
const GROWTH_MB: f64 = 300.0;
/// Number of programs after which memory counts, because caches are full then.
const WARM: u64 = 300;

fn main() -> ExitCode {
    program::run(fuzz)
}

/// Compiles the component, whole and without the planning of readers, before the first call is timed: that takes
/// seconds after a new build, and is no cost of a call.
fn compile() -> Result<(), samedeal::Error> {
    Sampler::new(1)?;
    Reading::builder(vec![1]).build()?;
    Ok(())
}

fn fuzz(options: &Options) -> io::Result<Report> {
    watch_panics();
    compile().map_err(io::Error::other)?;
    let corpus = Corpus::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors"));
    let bound_ms = BOUND_MS * usage::slowness();
    let mut report = Report::new("rust");
    let mut asked = Asked::new(options.seed, &corpus, bound_ms);
    let programs: [fn(&mut Asked); 12] = [
        dealing::samplers,
        dealing::orders,
        dealing::schedules,
        dealing::splits,
        dealing::functions,
        reading::readings,
        reading::plans,
        reading::streams,
        batching::batchers,
        batching::batch_streams,
        batching::collation,
        ledgers::ledgers,
    ];
    let (mut count, mut warm) = (0, 0.0);
    while options.calls.map_or(report.elapsed() < options.time, |calls| asked.calls < calls) {
        let program = programs[asked.rng.usize(..programs.len())];
        asked.begin_program();
        if panic::catch_unwind(panic::AssertUnwindSafe(|| program(&mut asked))).is_err() {
            asked.panicked();
        }
        count += 1;
        if count == WARM {
            warm = usage::memory_mb();
        }
    }
    report.memory_growth_mb = if count > WARM { (usage::memory_mb() - warm).round() } else { 0.0 };
    if report.memory_growth_mb > GROWTH_MB {
        asked.failures.push(format!("memory grew by {} MB", report.memory_growth_mb));
    }
    report.calls = asked.calls;
    report.errors = asked.errors;
    report.slowest_ms = asked.slowest_ms.round();
    report.failures = asked.failures;
    report.more.insert("slowest", asked.slowest.into());
    report.more.insert("functions", asked.names.len().into());
    Ok(report)
}
