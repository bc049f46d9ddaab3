//! Short epochs of a rank, several of them in one call: every order and remainder, the limits, and where the epochs
//! end.

use matrix::format::{Call, Case, S64, U64};

use super::forms::{Config, Subject};
use super::{MAX_COUNT, MAX_EXACT, asked, base, composed, config_name, indices};

fn short(epoch: u64, count: u32, most: u32) -> Call {
    Call::ShortEpochs { epoch: U64(epoch), count, most }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in ["feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet"] {
        for remainder in ["drop", "pad", "uneven"] {
            for (samples, rank, world) in [(0, 0, 1), (1, 1, 2), (10, 2, 3), (100, 7, 8)] {
                let config = Config { rank, world, remainder: remainder.into(), seed: S64(9), ..base(order, samples) };
                let calls = [short(0, 3, 1_024), short(5, 2, samples as u32), short(7, 1, 9), Call::Epoch];
                cases.push(asked(&config_name(&config), Subject::Config(config), calls));
            }
        }
    }
    // The last words of a generator's buffer, and the first of the next one.
    for (samples, count) in [(227, 1), (228, 1), (454, 1), (455, 1), (624, 1), (625, 2)] {
        let config = Config { seed: S64(-3), ..base("torch", samples) };
        cases.push(asked(&config_name(&config), Subject::Config(config), [short(2, count, 2_000)]));
    }
    // The limits; the sampler works on afterwards.
    for (samples, world) in [(10, 1), (10, 3), (MAX_EXACT - 9, 2)] {
        let config = Config { world, ..base("feistel", samples) };
        let calls = [
            short(0, 0, 10),
            short(0, MAX_COUNT + 1, 10),
            short(0, 1, MAX_COUNT + 1),
            short(0, 0, u32::MAX),
            short(0, MAX_COUNT, 0),
            short(0, MAX_COUNT, 9),
            short(0, MAX_COUNT, 10),
            short(0, MAX_COUNT, 29),
            short(0, MAX_COUNT, 30),
            short(u64::MAX, 4, 100),
            short(u64::MAX - 1, 4, 100),
            indices(0, 3),
        ];
        cases.push(asked(&config_name(&config), Subject::Config(config), calls));
    }
    // A sampler that has only the rest of an epoch returns whole epochs here.
    let config = Config { consumed: U64(4), ..base("feistel", 10) };
    let calls = [short(0, 2, 20), Call::Consumed, indices(0, 6)];
    cases.push(asked(&config_name(&config), Subject::Config(config), calls));
    for (order, deal, epochs) in [
        ("{\"name\":\"sharded\",\"sizes\":[3,0,4],\"lanes\":2,\"shuffle_window\":2}", "", &[0, 7][..]),
        ("{\"name\":\"sharded\",\"sizes\":[3,0,4]}", "{\"world_size\":2,\"layout\":\"contiguous\"}", &[1]),
        // With units of 8, a rank has more samples than the epoch has positions.
        ("{\"samples\":3}", "{\"world_size\":2,\"unit\":8}", &[0]),
    ] {
        cases.push(epochs_of(order, deal, epochs));
    }
    cases
}

/// Short epochs of composed orders. The light build has no such orders, so that these cases belong to another group.
pub fn of_composed() -> Vec<Case> {
    let mut cases = Vec::new();
    for (order, deal, epochs) in [
        // Epochs of different length.
        ("{\"name\":\"grown\",\"samples\":5,\"growth\":[{\"epoch\":1,\"consumed\":2,\"samples\":9}]}", "", &[0, 1][..]),
        (
            "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":4},{\"name\":\"b\",\"samples\":3}]}",
            "",
            &[0, 2],
        ),
        // The last epoch of the order is 900,719,925,474,098.
        ("{\"name\":\"copies\",\"copies\":2,\"of\":{\"samples\":5}}", "", &[900_719_925_474_096, 900_719_925_474_099]),
    ] {
        cases.push(epochs_of(order, deal, epochs));
    }
    cases
}

fn epochs_of(order: &str, deal: &str, epochs: &[u64]) -> Case {
    let calls = epochs.iter().flat_map(|&epoch| [short(epoch, 5, 40), short(epoch, 2, 7)]);
    asked(&format!("order: {order}, deal: {deal}"), composed::subject(order, deal, &[], 0), calls)
}
