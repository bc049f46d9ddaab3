//! The questions of the golden cases. Each file of cases has a module here or is made in `sampling`.

mod batch_recipes;
mod batching;
mod clients;
mod composed;
mod formats;
mod forms;
mod launches;
mod ledgers;
mod limits;
mod meshes;
mod onlookers;
mod plans;
mod rare;
mod readings;
mod readings_composed;
mod recipes;
mod recipes_shards;
mod sampling;
mod schedules;
mod sharded;
mod short_epochs;
mod splits;
mod states;
mod streams;
mod texts;
mod units;
mod verify;

use forms::Config;
use matrix::Engine;
use matrix::format::{Body, Call, Case, File, Outcome, S64, Step, U64};
use matrix::native::Native;

const SEEDS: [i64; 7] = [0, 1, 42, -7, i64::MAX, i64::MIN, 4_294_967_296];
const EPOCHS: [u64; 4] = [0, 1, 4_294_967_296, u64::MAX];
const MAX_EXACT: u64 = (1 << 53) - 1;
const MAX_COUNT: u32 = 1 << 20;

pub fn files() -> Vec<File> {
    let mut files = sampling::files();
    files.push(group("order-sharded", [sharded::cases(), rare::sharded()].concat()));
    files.push(group("orders-composed", [composed::cases(), units::groups(), short_epochs::of_composed()].concat()));
    files.push(group("short-epochs", short_epochs::cases()));
    files.push(group("deal-unit", units::cases()));
    files.push(group("splits", splits::cases()));
    files.push(group("steps", schedules::cases()));
    files.push(group("state", states::samplers()));
    files.push(group("shards-plan", plans::cases()));
    files.push(group("shards-stream", [streams::cases(), rare::streams()].concat()));
    files.push(group("shards-verify", verify::cases()));
    files.push(group("ledger", ledgers::cases()));
    files.push(group("ledger-client", clients::cases()));
    files.push(group("mesh", meshes::cases()));
    files.push(group("readings", readings::cases()));
    files.push(group("readings-composed", readings_composed::cases()));
    files.push(group("recipes", recipes::cases()));
    files.push(group("recipes-shards", recipes_shards::cases()));
    files.push(group("recipes-batch", batch_recipes::cases()));
    files.push(group("launch", launches::cases()));
    files.push(group("texts", texts::cases()));
    files.extend(batching::files());
    for file in &mut files {
        file.cases.extend(limits::of(&file.group));
        file.cases.extend(formats::of(&file.group));
    }
    files
}

/// `count` random cases of composed orders. A seed always gives the same cases.
pub fn random(count: usize, seed: u64) -> File {
    group("orders-composed", composed::random(count, seed))
}

fn group(name: &str, cases: Vec<Case>) -> File {
    File { version: 1, group: name.into(), cases }
}

/// A case with the answers of the core.
fn asked(name: &str, subject: impl Into<forms::Subject>, calls: impl IntoIterator<Item = Call>) -> Case {
    let (subject, before) = subject.into().form();
    let body = match Native::create(&subject) {
        Err(failure) => Body::Fails(failure),
        Ok(mut engine) => Body::Calls(
            before
                .into_iter()
                .chain(calls)
                .map(|call| {
                    let outcome = match engine.call(&call) {
                        Ok(value) => Outcome::Returns(value),
                        Err(failure) => Outcome::Fails(failure),
                    };
                    Step { call, outcome }
                })
                .collect(),
        ),
    };
    Case { name: name.into(), slow: false, subject, body }
}

fn base(order: &str, samples: u64) -> Config {
    Config {
        samples: U64(samples),
        seed: S64(0),
        epoch: U64(0),
        order: order.into(),
        rank: 0,
        world: 1,
        remainder: "pad".into(),
        layout: "strided".into(),
        consumed: U64(0),
    }
}

fn config_name(config: &Config) -> String {
    let Config { samples, seed, epoch, order, rank, world, remainder, layout, consumed: _ } = config;
    format!("{order} {} seed {} epoch {}, rank {rank} of {world}, {remainder} {layout}", samples.0, seed.0, epoch.0)
}

/// The answer of the core to a call, if it is a number.
fn count(subject: &matrix::format::Subject, call: &Call) -> Option<u64> {
    let answer = <Native as Engine>::create(subject).ok()?.call(call).ok()?;
    answer.as_str().and_then(|digits| digits.parse().ok())
}

fn indices(start: u64, count: u32) -> Call {
    Call::Indices { start: U64(start), count }
}

fn numbers(numbers: &[u64]) -> Vec<U64> {
    numbers.iter().copied().map(U64).collect()
}
