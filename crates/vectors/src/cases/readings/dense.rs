//! Pseudorandom chains of groups: cases for single branches of the core that the other cases do not reach. Each case
//! asks little more than what is left for each reader. `cargo xtask mutants` shows which branches these are.

use matrix::format::{Call, Case, ReadCall, S64, U64};

use super::super::plans::sizes;
use crate::cases::forms::{Native, ReadOptions};

use super::{REMAINDERS, Script, by_samples, grouped, state, stored, subject};

/// Numbers of the pseudorandom chains that are cases.
const CHAINS: [u64; 4] = [92, 141, 156, 8_752];

pub fn chains() -> Vec<Case> {
    CHAINS.into_iter().map(chain).collect()
}

/// Three to five groups, one after the other.
fn chain(number: u64) -> Case {
    let mut drawn = sizes(64, 1_000 + number, 1 << 20).into_iter();
    let mut below = |bound: u64| drawn.next().expect("enough numbers") % bound;
    let few = below(3) == 0;
    let shards: Vec<u64> = (0..=below(4)).map(|_| below(if few { 6 } else { 40 })).collect();
    let options = ReadOptions {
        remainder: Some(REMAINDERS[below(3) as usize].into()),
        ..if below(4) == 0 {
            stored()
        } else {
            ReadOptions { seed: Some(S64(number as i64)), lanes: Some(1 + below(4) as u32), ..by_samples() }
        }
    };
    let mut group = || (1 + below(4) as u32, 1 + below(4) as u32, 1 + below(12) as u32);
    let groups = [(); 5].map(|()| group());
    let count = 2 + below(4) as usize;
    let mut text: Option<String> = None;
    let mut script = Script::new(&shards, &grouped(options.clone(), groups[0]));
    for group in &groups[..count] {
        let options = grouped(options.clone(), *group);
        let mut engine = Native::create(&subject(&shards, &options)).expect("a reading");
        script = Script::new(&shards, &options);
        if let Some(state) = text {
            let resumed = Call::Reading(ReadCall::Resume { state: state.clone() });
            engine.call(&resumed).expect("a state of this reading");
            script.ask([ReadCall::Resume { state }]);
        }
        let most = script.most();
        text = Some(state(&mut engine, if most == 0 { 0 } else { below(most + 1) }));
    }
    script.ask([ReadCall::StepBounds, ReadCall::NumIdleReaders]);
    let (world, workers) = script.group;
    for (rank, worker) in (0..world).flat_map(|rank| (0..workers).map(move |worker| (rank, worker))) {
        let count = script.number(ReadCall::NumSamples { rank, worker });
        script.ask([ReadCall::Indices { rank, worker, start: U64(0), count: count as u32 }]);
        let rounds = script.number(ReadCall::NumRounds { rank, worker });
        script.ask((0..rounds).map(|number| ReadCall::Round { rank, worker, number: U64(number) }));
    }
    let most = script.most();
    let mut steps = vec![1, most / 3, most / 2, most.saturating_sub(1)];
    steps.dedup();
    script.ask(steps.into_iter().filter(|&steps| steps <= most).map(|steps| ReadCall::State { steps: U64(steps) }));
    if most > 1 {
        // The last group itself resumes in the middle of a turn. What it took must not come again behind the end.
        let state = script.answer(ReadCall::State { steps: U64(1) });
        script.ask([ReadCall::Resume { state: state.as_str().map(String::from).expect("a text") }]);
        for (rank, worker) in (0..world).flat_map(|rank| (0..workers).map(move |worker| (rank, worker))) {
            let count = script.number(ReadCall::NumSamples { rank, worker });
            script.ask([ReadCall::Indices { rank, worker, start: U64(count), count: 1 }]);
        }
    }
    script.case(&format!("chain number {number}"))
}
