//! States of datasets in files, which every subcommand resumes: for the readers that took the state, and for others.

use std::collections::BTreeSet;
use std::fs;

use samedeal::{Reading, ReadingBuilder, Remainder};
use serde_json::{Value, json as value};
use sha2::{Digest, Sha256};

use crate::{failing, files, json, one_step, refuses, run, text};

const SIZES: [u64; 4] = [30, 0, 41, 26];
/// A group of readers: the number of ranks, and of workers per rank.
type Group = (u32, u32);

fn builder(deal: &str) -> ReadingBuilder {
    let builder = Reading::builder(SIZES).seed(9).deal(deal.parse().unwrap());
    if deal == "samples" { builder.lanes(8).shuffle_window(4) } else { builder }
}

/// A reading of the whole epoch 2, in batches of 4.
fn whole(deal: &str, (world, workers): Group) -> Reading {
    let builder = builder(deal).world_size(world).workers(workers).batch_size(4);
    builder.build().unwrap().at_epoch(2).unwrap()
}

/// The samples of all readers, by rank and worker.
fn all(reading: &Reading, (world, workers): Group) -> Vec<Vec<Vec<u64>>> {
    let of = |rank, worker| reading.indices(rank, worker, ..).unwrap();
    (0..world).map(|rank| (0..workers).map(|worker| of(rank, worker)).collect()).collect()
}

/// The batches of all ranks in a step. They are read as the first batches after a resume just before the step.
fn step(reading: &Reading, (world, workers): Group, number: u64) -> Vec<Vec<u64>> {
    let next = reading.resume(&reading.state(number).unwrap()).unwrap();
    let batch = |rank| {
        let own = (0..workers).map(|worker| next.indices(rank, worker, ..).unwrap()).find(|own| !own.is_empty());
        own.map_or(Vec::new(), |own| own[..own.len().min(4)].to_vec())
    };
    (0..world).map(batch).collect()
}

fn samples(found: &Value) -> Vec<Vec<u64>> {
    let ranks = found["ranks"].as_array().unwrap().iter();
    ranks.map(|rank| serde_json::from_value(rank["samples"].clone()).unwrap()).collect()
}

/// Calls `check` for each deal and each group of readers. The group resumes a state that 2 ranks with 3 workers took in
/// the middle of a turn. `check` gets the deal, the options of the group, the group, and the rest of the epoch.
fn each(test: &str, check: impl Fn(&str, &str, Group, &Reading)) {
    let path = files::folder(&format!("readings-{test}")).join("state.json");
    for deal in ["samples", "shards"] {
        let state = whole(deal, (2, 3)).state(4).unwrap();
        fs::write(&path, &state).unwrap();
        for group in [(2, 3), (3, 2), (1, 1)] {
            let options = format!("--resume {} --world-size {} --workers {}", path.display(), group.0, group.1);
            check(deal, &options, group, &whole(deal, group).resume(&state).unwrap());
        }
    }
}

#[test]
fn steps_and_batches_are_those_of_the_library() {
    each("steps", |deal, options, group, rest| {
        let most = rest.steps().unwrap().max;
        for number in [0, 1, 2, most - 1] {
            let found = one_step(&format!("step {number} {options} --json"));
            assert_eq!(samples(&found), step(rest, group, number), "{deal} {options} {number}");
            assert_eq!((&found["epoch"], &found["num_steps"]), (&2.into(), &most.into()));
        }
        assert!(
            failing(&format!("step {most} {options}")).1.contains(&format!("allowed: 0 to {} in epoch 2", most - 1))
        );
        let worker = group.1 - 1;
        let own = rest.indices(0, worker, ..).unwrap();
        let found = json(&format!("batches {options} --worker {worker} --json"));
        assert_eq!(found["batches"], own.chunks(4).map(Value::from).collect::<Value>());
        assert_eq!(found["recipe"], serde_json::from_str::<Value>(&rest.recipe().unwrap()).unwrap());
        // With another batch size, the rest is dealt again.
        let path = options.split(' ').nth(1).unwrap();
        let other = builder(deal).batch_size(5).build().unwrap().resume(&fs::read_to_string(path).unwrap()).unwrap();
        let found = json(&format!("batches --resume {path} --batch-size 5 --drop-last --json"));
        let full = other.indices(0, 0, ..).unwrap();
        assert_eq!(found["batches"], full.chunks_exact(5).map(Value::from).collect::<Value>());
    });
}

#[test]
fn samples_are_located_among_the_readers() {
    each("locate", |deal, options, group, rest| {
        let readers = all(rest, group);
        let left = readers.iter().flatten().flatten().copied().collect::<BTreeSet<_>>();
        let asked = (0..97).map(|sample| sample.to_string()).collect::<Vec<_>>().join(",");
        let found = json(&format!("locate {options} --sample {asked} --json"));
        let mut places = 0;
        for (sample, found) in (0..97).zip(found["samples"].as_array().unwrap()) {
            let mut real = 0;
            for place in found["places"].as_array().unwrap().iter().filter(|place| !place["rank"].is_null()) {
                let [rank, worker, index, inner] = ["rank", "worker", "index_in_reader", "index_in_batch"]
                    .map(|name| place[name].as_u64().unwrap() as usize);
                let own = &readers[rank][worker];
                assert_eq!((own[index], index % 4), (sample, inner), "{deal} {options} {place}");
                let padded = own.len() - rest.num_padding(rank as u32, worker as u32).unwrap() as usize;
                assert_eq!(place["status"], if index < padded { "upcoming" } else { "padding" });
                assert_eq!((&place["worker_batch"], &place["counted_from"]), (&(index / 4).into(), &"state".into()));
                real += u32::from(index < padded);
                places += 1;
            }
            let is_left = real == 1;
            assert_eq!(found["status"], if is_left { "upcoming" } else { "seen" }, "{deal} {options} {found}");
            assert!(!is_left || left.contains(&sample));
        }
        assert_eq!(places, readers.iter().flatten().map(Vec::len).sum::<usize>());
        // The number of a batch equals the step of its rank.
        for number in [0, 3] {
            let (rank, batch) = (group.0 - 1, &step(rest, group, number)[group.0 as usize - 1]);
            let found = json(&format!("locate {options} --sample {} --json", batch[0]));
            let is_it =
                |place: &&Value| place["rank"] == rank && place["batch"] == number && place["index_in_batch"] == 0;
            assert_eq!(found["samples"][0]["places"].as_array().unwrap().iter().filter(is_it).count(), 1, "{found}");
        }
        let lines = text(&format!("locate {options} --sample {asked} --format text"));
        for sample in 0..97 {
            // The last column counts how many more times the sample comes.
            let cells = lines.lines().map(|line| line.split('\t').collect::<Vec<_>>());
            let own = cells.filter(|cells| cells[0] == format!("{sample}") && !cells[3].is_empty()).collect::<Vec<_>>();
            let copies = own.iter().map(|cells| cells.last().unwrap().parse::<usize>().unwrap());
            assert!(copies.eq((0..own.len()).rev()), "{own:?}");
        }
        let shown = text(&format!("locate {options} --sample 0,1,2,3,4,5,6,7"));
        assert!(shown.contains("┆ worker ┆") && shown.contains("counted from the state on"), "{shown}");
        assert_eq!(failing(&format!("locate {options} --sample 97")).1, "error: --sample is 97; allowed: 0 to 96");
    });
}

#[test]
fn readers_together_have_what_is_left() {
    each("verify", |deal, options, group, rest| {
        let output = run(&format!("verify {options} --json"));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let readers = (0..group.0).flat_map(|rank| (0..group.1).map(move |worker| (rank, worker)));
        let padding = readers.map(|(rank, worker)| rest.num_padding(rank, worker).unwrap()).sum::<u64>();
        // The state has 4 steps of 2 ranks, with batches of 4.
        assert_eq!(
            (&found["consumed"], &found["seen"], &found["num_padding"]),
            (&32.into(), &65.into(), &padding.into())
        );
        let samedeal::Steps { min, max, .. } = rest.steps().unwrap();
        assert_eq!(found["steps"], value!([min, max]), "{deal} {options}");
        // Ranks that read whole files have different numbers of steps. Their numbers of samples are not checked.
        let checks = found["checks"].as_array().unwrap();
        let failed = checks.iter().filter(|check| check["passed"] == false).map(|check| check["name"].clone());
        let expected = if min == max { vec![] } else { vec![Value::from("equal steps")] };
        assert_eq!(failed.collect::<Vec<_>>(), expected, "{deal} {options}: {found}");
        assert_eq!(
            (output.status.code(), checks[3]["passed"].is_null()),
            (Some(i32::from(min < max)), deal == "shards")
        );
        if deal == "samples" {
            let found = json(&format!("verify {options} --remainder drop --json"));
            let count = u64::from(group.0 * group.1);
            assert!(found["dropped"].as_u64().unwrap() < count && found["num_padding"] == 0, "{found}");
        }
    });
}

#[test]
fn states_and_fingerprints_go_on() {
    each("states", |deal, options, group, rest| {
        let state = text(&format!("state {options} --steps 2"));
        assert_eq!(state.trim(), rest.state(2).unwrap(), "{deal} {options}");
        let most = rest.steps().unwrap().max;
        assert!(failing(&format!("state {options} --steps {}", most + 1)).1.contains(&format!("0 to {most}")));
        let mut hash = Sha256::new();
        let (rank, worker) = (group.0 - 1, group.1 - 1);
        rest.indices(rank, worker, ..).unwrap().iter().for_each(|sample| hash.update(sample.to_le_bytes()));
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let found = text(&format!("fingerprint {options} --rank {rank} --worker {worker} --format text"));
        assert_eq!(found, format!("fingerprint\t{sha256}\n"), "{deal} {options}");
    });
}

#[test]
fn a_state_says_what_a_step_held() {
    each("explain", |deal, options, group, _| {
        let path = options.split(' ').nth(1).unwrap();
        if group == (2, 3) {
            let whole = whole(deal, group);
            for (number, status) in [(0, "seen"), (3, "seen"), (4, "upcoming"), (7, "upcoming")] {
                let found = one_step(&format!("explain {path} --step {number} --json"));
                assert_eq!(
                    (samples(&found), &found["status"]),
                    (step(&whole, group, number), &status.into()),
                    "{deal}"
                );
                assert_eq!(found["step"], number);
            }
            assert!(text(&format!("explain {path} --step 4")).contains("counted from the beginning of the epoch"));
        } else {
            let readers = format!("--world-size {} --workers {}", group.0, group.1);
            refuses(
                &format!("explain {path} --step 0 {readers}"),
                "`samedeal step --resume` shows the steps from the state on",
            );
        }
    });
    // Readers that drop the remainder continue to drop it after a resume.
    let path = files::folder("readings-drop").join("state.json");
    let build =
        || Reading::builder(SIZES).world_size(2).workers(2).batch_size(4).remainder(Remainder::Drop).build().unwrap();
    let state = build().state(3).unwrap();
    fs::write(&path, &state).unwrap();
    let found = json(&format!("indices --resume {} --world-size 2 --workers 2 --worker 1 --json", path.display()));
    assert_eq!(found["indices"], Value::from(build().resume(&state).unwrap().indices(0, 1, ..).unwrap()));
}

#[test]
fn a_state_after_steps_from_the_beginning_is_that_of_the_library() {
    let dataset = files::Dataset::write("from-the-beginning");
    let files = dataset.folder.display();
    let deal = "--order sharded --lanes 8 --seed 5 --epoch 2 --world-size 2 --batch-size 4";
    let sizes = [3, 40, 1, 0, 57, 20, 9];
    let reading = Reading::builder(sizes).lanes(8).seed(5).world_size(2).workers(3).batch_size(4).build().unwrap();
    let reading = reading.at_epoch(2).unwrap();
    for steps in [0, 1, 7] {
        let state = text(&format!("state {files} {deal} --workers 3 --steps {steps}"));
        assert_eq!(state.trim_end(), reading.state(steps).unwrap());
        // Without workers, samplers count samples.
        let of_sampler = text(&format!("state {files} {deal} --steps {steps}"));
        assert_eq!(
            of_sampler,
            text(&format!("state {files} {} --taken {}", deal.replace("--batch-size 4", ""), 4 * steps))
        );
    }
}
