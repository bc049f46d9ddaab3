//! Texts of states: the segments that they keep, and how many sizes they list.

use crate::cases::forms::ReadOptions;
use matrix::format::{Case, ReadCall, U64};

use super::{Script, by_samples, by_shards, chain, grouped, stored};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, options) in [("samples", by_samples()), ("stored samples", stored()), ("shards", by_shards())] {
        let options = grouped(options, (2, 3, 2));
        let mut script = Script::new(&[9, 30, 0, 17], &options);
        let most = script.most();
        // Whole turns, torn ones, the end, and beyond it.
        script.ask((0..=most + 1).map(|steps| ReadCall::State { steps: U64(steps) }));
        script.ask([ReadCall::State { steps: U64(u64::MAX) }]);
        let text = chain(&[9, 30, 0, 17], &options, u64::MAX, &[((2, 3, 2), 2)]);
        let spaced = text.replace(':', " : ").replace(',', ",\n\t");
        script.ask([ReadCall::Resume { state: format!(" {spaced}\n") }, ReadCall::Epoch]);
        script.ask((0..=most).map(|steps| ReadCall::State { steps: U64(steps) }));
        cases.push(script.case(&format!("texts of {name}")));
    }
    for (count, size) in [(255, 1), (256, 1), (257, 1), (300, 3)] {
        for options in [by_samples(), by_shards()] {
            let sizes: Vec<u64> = (0..count).map(|shard| size + shard % 2).collect();
            let options = grouped(options, (2, 2, 8));
            let mut script = Script::new(&sizes, &options);
            script.ask([0, 3].map(|steps| ReadCall::State { steps: U64(steps) }));
            script.ask([ReadCall::Resume { state: chain(&sizes, &options, 0, &[((2, 2, 8), 3)]) }]);
            script.ask([ReadCall::StepBounds, ReadCall::NumSamples { rank: 1, worker: 1 }]);
            let mut other = sizes.clone();
            other.swap(0, 1);
            script.ask([ReadCall::Resume { state: chain(&other, &options, 0, &[((2, 2, 8), 3)]) }]);
            let kind = if options.of_shards { "shards" } else { "samples" };
            cases.push(script.case(&format!("{count} shards in the text, {kind} dealt")));
        }
    }
    let bytes: Vec<U64> = (0..300).map(|shard| U64(shard * 1_000)).collect();
    let options = ReadOptions { weight: Some("bytes".into()), bytes: Some(bytes), ..grouped(by_shards(), (3, 1, 2)) };
    let mut script = Script::new(&[2; 300], &options);
    let text = chain(&[2; 300], &options, 0, &[((3, 1, 2), 1)]);
    let mut other = options.clone();
    other.bytes.as_mut().expect("bytes").swap(4, 5);
    let of_others = chain(&[2; 300], &other, 0, &[((3, 1, 2), 1)]);
    script.ask([ReadCall::State { steps: U64(1) }, ReadCall::Resume { state: text }]);
    script.ask([ReadCall::Resume { state: of_others }, ReadCall::StepBounds]);
    cases.push(script.case("300 shards in the text, with their bytes"));
    cases
}
