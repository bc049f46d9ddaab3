//! Batches: every strategy with every counting, tail and treatment of long samples, on lengths of every kind.

mod collation;
mod composed;
mod config;
mod dense;
mod grid;
mod indices;
mod mismatches;
mod ratios;
mod refused;
pub mod sets;
mod states;
mod stream;
mod windows;

use config::{BatchConfig, Buckets, batcher};
use matrix::Engine;
use matrix::format::{AllRanks, Call, Case, File, S64, Subject, U64, Window};
use matrix::native::Native;

use super::{asked, group};

const WORLDS: [u32; 5] = [1, 2, 3, 8, 64];
const TAILS: [&str; 4] = ["keep", "drop", "even-split", "duplicate"];
const TOO_LONG: [&str; 5] = ["error", "truncate", "drop", "split", "single"];
const COUNTINGS: [&str; 3] = ["padded", "unpadded", "weighted"];

pub fn files() -> Vec<File> {
    vec![
        group("batches-padded", [grid::padded(), refused::batchers(), refused::calls(), dense::padded()].concat()),
        group("batches-bucket", [grid::bucket(), dense::bucket()].concat()),
        group("batches-budget", [grid::budget(), dense::budget()].concat()),
        group("batches-pack", [grid::pack(), dense::pack(), dense::packings()].concat()),
        group("batches-default", [grid::defaults(), grid::narrow(), ratios::batchers()].concat()),
        group("batches-window", windows::cases()),
        group("batches-state", [states::cases(), mismatches::cases(), dense::states()].concat()),
        group("batches-index", indices::cases()),
        group("batches-composed", composed::cases()),
        group("batches-stream", [stream::cases(), ratios::streams(), refused::streams()].concat()),
        group("collation", collation::cases()),
    ]
}

/// The options that cases start from: lengths up to 64, in batches of up to four rows, or with `budget`, of up to 128
/// tokens.
fn base(strategy: &str, lengths: &[u32], world: u32) -> BatchConfig {
    BatchConfig {
        lengths: lengths.to_vec(),
        seed: S64(0),
        epoch: U64(0),
        order: "feistel".into(),
        world_size: world,
        strategy: strategy.into(),
        max_batch_size: if strategy == "budget" { 0 } else { 4 },
        max_length: sets::LONGEST,
        budget: U64(if strategy == "budget" { 128 } else { 0 }),
        counting: "padded".into(),
        linear: 0,
        quadratic: 0,
        multiple: 1,
        capacity: if strategy == "pack" { sets::LONGEST } else { 0 },
        packing: "fast".into(),
        buckets: (strategy == "bucket").then(|| Buckets::Boundaries(vec![8, 16, 32])),
        window: Some(8_192),
        keep_order: false,
        too_long: "error".into(),
        tail: "keep".into(),
        separate: false,
        pad_to_bucket: false,
        mean_length: None,
    }
}

/// The metrics of a plan, all batches of the first and the last rank, single steps of all ranks, and a hash over the
/// batches of all ranks.
fn whole(name: &str, config: BatchConfig) -> Case {
    let last = config.world_size - 1;
    let subject = batcher(config);
    let Ok(steps) = Native::create(&subject).map(|mut plan| num_steps(&mut plan)) else {
        return asked(name, subject, []);
    };
    let ranks = if last == 0 { vec![0] } else { vec![0, last] };
    let runs = ranks.into_iter().map(|rank| take(rank, 0, steps));
    let middle = [step(u64::from(steps / 2), 0, last + 1), step(steps.into(), 0, 1), step(0, last, 2)];
    asked(name, subject, [Call::Metrics].into_iter().chain(runs).chain(middle).chain([Call::Fingerprint]))
}

/// The number of steps; 0 if the steps cannot be planned.
fn num_steps(plan: &mut Native) -> u32 {
    let Ok(steps) = plan.call(&Call::NumSteps) else { return 0 };
    steps.as_str().and_then(|steps| steps.parse().ok()).expect("a small number of steps")
}

/// The state after several groups of ranks, one after the other. `past` has the world size and the steps of each group.
fn state_of(past: &[(u32, u64)], subject: impl Fn(u32) -> Subject) -> String {
    let mut state = None;
    for &(world, steps) in past {
        let mut batcher = Native::create(&subject(world)).expect("a plan");
        if let Some(state) = state.take() {
            batcher.call(&Call::Resume { state }).expect("a state of this batcher");
        }
        let steps = u64::from(num_steps(&mut batcher)).min(steps);
        let text = batcher.call(&state_after(steps)).expect("a state");
        state = text.as_str().map(String::from);
    }
    state.expect("a past")
}

fn state_after(steps: u64) -> Call {
    Call::State { taken: None, steps: Some(U64(steps)) }
}

fn step(step: u64, first: u32, count: u32) -> Call {
    Call::Step(AllRanks::Batcher { step: U64(step), first, count })
}

fn take(rank: u32, start: u64, count: u32) -> Call {
    Call::Take { steps: Some(Window { rank, start: U64(start), count }) }
}

/// The name of a case, with all options in which the cases of a set differ.
fn config_name(set: &str, config: &BatchConfig) -> String {
    let BatchConfig { strategy, world_size: world, counting, tail, too_long, window, max_batch_size, .. } = config;
    let BatchConfig { max_length, multiple, packing, seed, epoch, .. } = config;
    let window = match window {
        Some(window) => format!("window {window}"),
        None if config.keep_order => "keep_order".into(),
        None => "window by default".into(),
    };
    let mut name = format!("{strategy} {set}, {world} ranks of {max_batch_size}, {counting}, {window}");
    name += &format!(", {too_long} above {max_length}, {tail}, multiple {multiple}, {packing}");
    name + &format!(", seed {} epoch {}", seed.0, epoch.0)
}
