//! The order `sharded`.

use matrix::format::{Call, Case, Config, Sharding, Subject, U64};

use super::{asked, base, indices, numbers};

pub fn cases() -> Vec<Case> {
    vec![case(base("sharded", 20), &[13, 0, 7], 2, 4, [indices(0, 20), Call::Round { number: U64(0) }])]
}

fn case(config: Config, sizes: &[u64], lanes: u32, window: u32, calls: impl IntoIterator<Item = Call>) -> Case {
    let name = format!("{} shards", sizes.len());
    asked(&name, Subject::Sharded { config, sharding: Sharding { sizes: numbers(sizes), lanes, window } }, calls)
}
