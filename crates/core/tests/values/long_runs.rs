//! Long runs: they can be saved and resumed any number of times.

use std::rc::Rc;

#[cfg(feature = "composed")]
use samedeal_core::Recipe;
use samedeal_core::batch::{BatchRecipe, Batcher};
use samedeal_core::read::Reading;
use samedeal_core::{Client, ClientOptions, Config, Instruction, Kind, Ledger, Sampler};

/// How many times a run is resumed.
const LIVES: usize = 200;

#[cfg(feature = "composed")]
fn blend(sources: usize) -> Sampler {
    let sources: Vec<_> = (0..sources).map(|n| format!(r#"{{"name":"source {n}","samples":{}}}"#, n % 7 + 1)).collect();
    let recipe =
        format!(r#"{{"order":{{"name":"blend","seed":"-9223372036854775808","sources":[{}]}}}}"#, sources.join(","));
    Sampler::from_recipe(&Recipe::read(&recipe, &[]).unwrap(), 0, 0).unwrap()
}

#[cfg(feature = "composed")]
#[test]
fn a_blend_of_many_sources_goes_on() {
    for sources in [1_000, 10_600, 1 << 15] {
        let sampler = blend(sources);
        let state = sampler.state(1_000).unwrap();
        let rest = sampler.resume(&state).unwrap();
        assert_eq!(rest.indices::<u64>(0, 9).unwrap(), sampler.indices::<u64>(1_000, 9).unwrap());
        assert_eq!(rest.state(0).unwrap(), state);
        let header = Ledger::header(&state, 64, 1_000).unwrap();
        let mut ledger = Ledger::new(&header).unwrap();
        ledger.apply(&header).unwrap();
        assert_eq!(ledger.initial_state().unwrap(), state);
    }
}

#[test]
fn batches_go_on_through_many_worlds() {
    let lengths: Vec<u32> = (0..3_000).map(|sample| sample * 31 % 60 + 1).collect();
    let recipe = |world: u32, strategy: &str| {
        let text = format!(r#"{{"deal":{{"world_size":{world}}},"batch":{{{strategy},"batch_window":100}}}}"#);
        Rc::new(BatchRecipe::with_lengths(&text, lengths.clone(), &[]).unwrap())
    };
    for strategy in
        [r#""max_tokens":64"#, r#""strategy":"bucket","max_batch_size":2"#, r#""strategy":"pack","capacity":64"#]
    {
        let recipes = [1, 2, 3].map(|world| recipe(world, strategy));
        let (mut state, mut seen) = (None::<String>, Vec::new());
        for life in 0.. {
            let world = life % 3 + 1;
            let batcher = Batcher::new(&recipes[life % 3], 0).unwrap();
            let batcher = state.map(|state| batcher.resume(&state).unwrap()).unwrap_or(batcher);
            let all = batcher.num_steps().unwrap();
            let steps = if life < LIVES { all.min(1) } else { all };
            for rank in 0..world as u32 {
                seen.extend(batcher.take(rank, 0, steps as u32).unwrap().samples);
            }
            state = Some(batcher.state(steps).unwrap());
            if life >= LIVES || all == steps {
                assert!(life >= LIVES, "{strategy}: only {life} lives");
                break;
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..3_000).collect::<Vec<u64>>(), "{strategy}");
    }
}

#[test]
fn whole_shards_go_on_through_many_groups() {
    let sizes: Vec<String> = (0..40).map(|shard| (shard * 7 % 50 + 20).to_string()).collect();
    for order in ["\"shards\"", "\"order\""] {
        let reading = |workers: usize, world: usize| {
            let text = format!(
                r#"{{{order}:{{"sizes":[{}]}},"deal":{{"world_size":{world},"workers":{workers}{}}},"batch":{{"batch_size":1}}}}"#,
                sizes.join(","),
                if order == "\"order\"" { ",\"remainder\":\"uneven\"" } else { "" },
            );
            Reading::from_recipe(&text, &[], 0).unwrap()
        };
        let (mut state, mut seen) = (None::<String>, Vec::new());
        for life in 0.. {
            let (workers, world) = (life % 3 + 1, life % 2 + 1);
            let mut own = reading(workers, world);
            if let Some(state) = state {
                own = own.resume(&state).unwrap();
            }
            let (_, most) = own.steps().unwrap();
            let steps = if life < LIVES { most.min(2) } else { most };
            for rank in 0..world as u32 {
                for worker in 0..workers as u32 {
                    // Worker w gives the batches w, w + workers, ...
                    let given = (steps + workers as u64 - 1 - u64::from(worker)) / workers as u64;
                    let count = given.min(own.num_samples(rank, worker).unwrap());
                    seen.push((life, own.indices(rank, worker, 0, count as u32).unwrap()));
                }
            }
            state = Some(own.state(steps).unwrap());
            if most == steps {
                break;
            }
        }
        assert!(seen.last().unwrap().0 >= 64, "{order}: {}", seen.last().unwrap().0);
        let mut seen: Vec<u64> = seen.into_iter().flat_map(|(_, samples)| samples).collect();
        seen.sort_unstable();
        let all: u64 = (0..40).map(|shard| shard * 7 % 50 + 20).sum();
        assert_eq!(seen, (0..all).collect::<Vec<_>>(), "{order}");
    }
}

/// Carries out the instructions of a client on a log, until its operation is over. Returns the last instruction.
fn drive(client: &mut Client, log: &mut Vec<String>, mut step: Instruction) -> Instruction {
    loop {
        step = match step.action {
            "checkpoint" => {
                let found = log.iter().rev().find(|entry| entry.contains("\"event\":\"checkpoint\""));
                client.tell_checkpoint(found.cloned(), 0).unwrap()
            }
            "read" => client.tell_entries(&log[step.number as usize..], 0).unwrap(),
            "append" => {
                assert_eq!(step.number, log.len() as u64);
                log.push(step.entry);
                client.tell_appended(true, 0).unwrap()
            }
            _ => return step,
        }
    }
}

#[test]
fn a_log_of_many_readers_has_checkpoints() {
    let state = Sampler::new(Config::new(1 << 40)).unwrap().state(0).unwrap();
    let mut log = Vec::new();
    let mut readers = Vec::new();
    // The readers begin one after the other, each from the last checkpoint.
    for reader in 0..1_000 {
        let options = ClientOptions {
            block_size: Some(8),
            checkpoint_interval: Some(100),
            ..ClientOptions::new(state.clone(), reader, 1)
        };
        let mut client = Client::new(options).unwrap();
        let step = client.claim(false, 0).unwrap();
        assert_eq!(drive(&mut client, &mut log, step).action, "claimed");
        readers.push(client);
    }
    let checkpoints: Vec<_> = log.iter().filter(|entry| entry.contains("\"event\":\"checkpoint\"")).collect();
    assert!(checkpoints.len() > 10, "{}", checkpoints.len());
    assert!(checkpoints.last().unwrap().len() > 1 << 14);
    // All entries, applied one by one, give the same progress.
    let mut ledger = Ledger::new(&log[0]).unwrap();
    for entry in &log {
        ledger.apply(entry).unwrap();
    }
    let last = readers.last_mut().unwrap();
    let step = last.catch_up(0).unwrap();
    drive(last, &mut log, step);
    assert_eq!(last.progress(), ledger.progress());
}

#[test]
fn a_reader_with_as_many_claims_as_a_log_has_is_told_so() {
    let state = Sampler::new(Config::new(1 << 40)).unwrap().state(0).unwrap();
    let options = ClientOptions { block_size: Some(1), ..ClientOptions::new(state, 1, 1) };
    let (mut client, mut log) = (Client::new(options).unwrap(), Vec::new());
    let step = client.claim(false, 0).unwrap();
    assert_eq!(drive(&mut client, &mut log, step).action, "claimed");
    log.extend((1..1 << 16).map(|start| format!(r#"{{"event":"claim","reader":1,"start":{start},"count":1}}"#)));
    let step = client.claim(false, 0).unwrap();
    assert_eq!(drive(&mut client, &mut log, step).action, "held");
    assert_eq!(client.claim(true, 0).unwrap().action, "read");
    let failure = client.tell_entries(&[], 0).unwrap_err();
    assert_eq!((failure.kind, failure.field), (Kind::Contradiction, "claim"));
    assert!(failure.allowed.ends_with("nothing else can be claimed now"), "{failure}");
}
