//! Deals in units of neighbours: every layout and remainder, rests, states, and what is refused.

use matrix::Engine;
use matrix::format::{Call, Case, Made, Sampler, Subject, U64};
use matrix::native::Native;

use super::{asked, count, indices};

const LAYOUTS: [&str; 3] = ["strided", "contiguous", "rotated"];
const REMAINDERS: [&str; 3] = ["pad", "drop", "uneven"];

pub fn cases() -> Vec<Case> {
    [grid(), resumed(), large(), refused()].concat()
}

fn subject(order: &str, deal: &str, rank: u32) -> Subject {
    let recipe = format!("{{\"order\":{order},\"deal\":{{{deal}}}}}");
    Subject::Sampler(Sampler { made: Made { recipe, lists: Default::default(), epoch: U64(1) }, rank })
}

fn state(taken: u64) -> Call {
    Call::State { taken: Some(U64(taken)), steps: None }
}

/// All questions about a deal, for some ranks.
fn look(order: &str, deal: &str, samples: u64, world: u32, unit: u64) -> Vec<Call> {
    let mut calls = vec![Call::Recipe, Call::Unit, Call::MaxNumSamples, Call::NumPositions, Call::NumDropped];
    for rank in [0, 1, world / 2, world - 1] {
        if rank >= world {
            continue;
        }
        let own = count(&subject(order, deal, rank), &Call::NumSamples).unwrap_or(0);
        calls.extend([Call::AtRank { rank }, Call::NumSamples, Call::NumPadding, indices(0, own.min(60) as u32)]);
        calls.push(Call::Batch { batch: U64(1), batch_size: 3, drop_last: false });
        for taken in [0, 1, unit, own.saturating_sub(1), own, own + 1] {
            calls.push(state(taken));
        }
    }
    let positions = count(&subject(order, deal, 0), &Call::NumPositions).unwrap_or(0);
    for position in [0, 1, unit, positions.saturating_sub(1), positions] {
        calls.push(Call::PlaceOf { position: U64(position), batch_size: 4 });
    }
    for sample in [0, samples / 2, samples.saturating_sub(1)] {
        calls.push(Call::Locate { sample: U64(sample), batch_size: Some(4) });
    }
    calls.extend([Call::Fingerprint, Call::ConfigFingerprint]);
    for consumed in [unit * u64::from(world), unit, 1, samples] {
        calls.extend([Call::Rest { consumed: U64(consumed) }, Call::NumSamples, Call::NumPadding, Call::NumDropped]);
        calls.extend([Call::Fingerprint, state(unit), state(1), Call::Rest { consumed: U64(0) }]);
    }
    calls
}

fn grid() -> Vec<Case> {
    let mut cases = Vec::new();
    for layout in LAYOUTS {
        for remainder in REMAINDERS {
            for (samples, world, unit) in [
                (24, 3, 4),
                (23, 3, 4),
                (5, 3, 4),
                (26, 1, 8),
                (2, 5, 4),
                (0, 2, 3),
                (61, 5, 2),
                (24, 4, 1),
                (7, 3, 1 << 20),
            ] {
                let order = format!("{{\"samples\":{samples},\"seed\":5}}");
                let deal = format!(
                    "\"world_size\":{world},\"remainder\":\"{remainder}\",\"layout\":\"{layout}\",\"unit\":{unit}"
                );
                let name = format!("{samples} samples to {world} ranks, units of {unit}, {layout}, {remainder}");
                cases.push(asked(&name, subject(&order, &deal, 0), look(&order, &deal, samples, world, unit)));
            }
        }
    }
    cases
}

/// Composed orders whose copies of a sample stay together.
pub fn groups() -> Vec<Case> {
    let orders = [
        "{\"name\":\"copies\",\"copies\":4,\"of\":{\"samples\":11,\"seed\":3}}",
        "{\"name\":\"copies\",\"copies\":4,\"of\":{\"name\":\"blend\",\"seed\":8,\"sources\":[{\"name\":\"a\",\"samples\":6,\"weight\":2},\
         {\"name\":\"b\",\"samples\":5}]}}",
    ];
    let mut cases = Vec::new();
    for (at, order) in orders.into_iter().enumerate() {
        for remainder in REMAINDERS {
            let deal = format!("\"world_size\":3,\"unit\":4,\"remainder\":\"{remainder}\"");
            let name = format!("copies of order {at} that stay together, {remainder}");
            cases.push(asked(&name, subject(order, &deal, 0), look(order, &deal, 11, 3, 4)));
        }
    }
    cases
}

/// States that are resumed with another world size.
fn resumed() -> Vec<Case> {
    let mut cases = Vec::new();
    for layout in ["strided", "rotated"] {
        for remainder in REMAINDERS {
            let deal = |world: u32| {
                format!("\"world_size\":{world},\"unit\":4,\"remainder\":\"{remainder}\",\"layout\":\"{layout}\"")
            };
            let order = "{\"samples\":75,\"seed\":9}";
            let mut saved = Native::create(&subject(order, &deal(3), 0)).expect("a sampler");
            for (taken, world) in [(8, 2), (8, 5), (4, 1)] {
                let text = saved.call(&state(taken)).expect("a state of whole units");
                let resume = Call::Resume { state: text.as_str().expect("a text").into() };
                let mut calls = vec![resume.clone(), Call::Consumed, Call::NumSamples, Call::NumPadding];
                for rank in 0..world {
                    calls.extend([Call::AtRank { rank }, Call::Fingerprint, indices(0, 4)]);
                }
                let here = subject(order, &deal(world), 0);
                cases.push(asked(
                    &format!("units, {layout}, {remainder}, after {taken}, on {world} ranks"),
                    here.clone(),
                    calls,
                ));
                saved = Native::create(&here).expect("a sampler");
                saved.call(&resume).expect("the same order");
            }
        }
    }
    // A state that lies within a unit.
    let mut saved = Native::create(&subject("{\"samples\":75,\"seed\":9}", "\"world_size\":3", 0)).expect("a sampler");
    let text = saved.call(&state(3)).expect("a state");
    let resume = Call::Resume { state: text.as_str().expect("a text").into() };
    for unit in [2, 3, 4] {
        let here = subject("{\"samples\":75,\"seed\":9}", &format!("\"world_size\":2,\"unit\":{unit}"), 0);
        cases.push(asked(
            &format!("a state within units of {unit}"),
            here,
            [resume.clone(), Call::Consumed, Call::Fingerprint],
        ));
    }
    cases
}

fn large() -> Vec<Case> {
    let mut cases = Vec::new();
    for layout in LAYOUTS {
        let deal = format!("\"world_size\":1024,\"unit\":16,\"remainder\":\"uneven\",\"layout\":\"{layout}\"");
        let here = subject("{\"samples\":9007199254740991,\"seed\":1}", &deal, 1023);
        let mut calls =
            vec![Call::NumSamples, Call::NumPadding, indices(1 << 40, 40), state(1 << 40), state((1 << 40) + 1)];
        calls.push(Call::PlaceOf { position: U64(9_007_199_254_740_990), batch_size: 7 });
        calls.push(Call::Locate { sample: U64(1 << 52), batch_size: Some(7) });
        cases.push(asked(&format!("as many samples as there can be, {layout}"), here, calls));
    }
    cases.push(asked(
        "shards",
        subject(
            "{\"name\":\"sharded\",\"sizes\":[40,50],\"lanes\":2,\"shuffle_window\":4}",
            "\"unit\":2,\"world_size\":3",
            1,
        ),
        [
            Call::NumRounds,
            Call::Round { number: U64(0) },
            Call::Round { number: U64(99) },
            Call::ShardOf { sample: U64(41) },
            indices(0, 30),
        ],
    ));
    let shards = "{\"name\":\"sharded\",\"sizes\":[40,50],\"lanes\":2,\"shuffle_window\":4}";
    let rotated = subject(shards, "\"layout\":\"rotated\",\"world_size\":3,\"unit\":2", 1);
    cases.push(asked("shards, rotated", rotated, [Call::NumRounds, Call::Round { number: U64(0) }, indices(0, 30)]));
    let copies = subject("{\"samples\":1}", "\"world_size\":4294967295,\"unit\":1048576", 1);
    let places = [0, 4_500_000_000_000_000].map(|position| Call::PlaceOf { position: U64(position), batch_size: 4 });
    cases.push(asked("more copies than can be counted", copies, [Call::NumPositions].into_iter().chain(places)));
    cases
}

fn refused() -> Vec<Case> {
    let mut cases = Vec::new();
    for deal in [
        "\"unit\":0",
        "\"unit\":1048577",
        "\"unit\":18446744073709551616",
        "\"unit\":-1",
        "\"unit\":\"4\"",
        "\"unit\":4,\"unit\":4",
        "\"unit\":1048576,\"world_size\":4294967295",
        "\"layout\":\"other\",\"unit\":0",
        "\"unit\":1",
    ] {
        cases.push(asked(
            &format!("refused: {deal}"),
            subject("{\"samples\":9007199254740991}", deal, 0),
            [Call::Recipe],
        ));
    }
    cases
}
