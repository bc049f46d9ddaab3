//! Checkpoints: the facts in their states, and the status of samples and steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use samedeal::{Batcher, Reading, Sampler, Tail};
use serde_json::{Value, json as value};

use crate::files::{self, Dataset};
use crate::{failing, json, one_step, refuses, text};

/// The path of a checkpoint that `tests/data/make.py` wrote. Most checkpoints have the state after 40 samples on each
/// of 8 ranks.
fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

fn sampler(rank: u32, world_size: u32) -> Sampler {
    let builder = Sampler::builder(1003).seed(7).epoch(3).order("torch");
    builder.rank(rank).world_size(world_size).build().unwrap()
}

#[test]
fn states_are_found_in_every_format() {
    let names = ["state.json", "trainer_state.json", "zip.pt", "legacy.pt"].map(str::to_owned);
    for name in names.into_iter().chain((0..6).map(|protocol| format!("protocol-{protocol}.pkl"))) {
        let found = json(&format!("explain {} --json", data(&name)));
        let [state] = &found["states"].as_array().unwrap()[..] else { panic!("{name}: {found}") };
        let told =
            ["kind", "order", "seed", "epoch", "dataset_size", "consumed", "left"].map(|field| state[field].clone());
        let expected = value!(["sampler", "torch", 7, 3, 1003, 320, 683]);
        assert_eq!(Value::from(told.to_vec()), expected, "{name}");
        assert_eq!(state["batch_size"], if name == "trainer_state.json" { 4.into() } else { Value::Null });
        // The run can be resumed from each of these files.
        let rest = text(&format!("indices --resume {} --world-size 5 --rank 1 --count 3 --format text", data(&name)));
        let mut resumed = sampler(1, 5);
        resumed.resume(state["state"].as_str().unwrap()).unwrap();
        let wanted = resumed.indices::<u64>(..3).unwrap();
        assert_eq!(rest.lines().map(|line| line.parse::<u64>().unwrap()).collect::<Vec<_>>(), wanted, "{name}");
    }
    let shown = text(&format!("explain {}", data("zip.pt")));
    for words in ["data.loaders.0.samedeal", "┆ torch ", "320 (31.90 %)", "not in the state"] {
        assert!(shown.contains(words), "{shown}");
    }
}

/// A checkpoint that names the ranks of its state needs no options, and refuses options that contradict it.
#[test]
fn what_a_checkpoint_says_of_its_ranks_is_used() {
    let state = fs::read_to_string(data("state.json")).unwrap();
    let path = files::folder("explain-taken-by").join("saved.json");
    let write = |from: u64| {
        let by = value!({ "world_size": 8, "from": from, "batch_size": 4 });
        fs::write(&path, value!({ "loader": { "samedeal": state.trim(), "taken_by": by } }).to_string()).unwrap();
        path.display().to_string()
    };
    let checkpoint = write(0);
    let found = json(&format!("explain {checkpoint} --json"));
    assert_eq!(found["states"][0]["taken_by"], value!({ "world_size": 8, "from": 0 }));
    assert_eq!(found["states"][0]["batch_size"], 4);
    let step = format!("explain {checkpoint} --step 9");
    let given = format!("{step} --world-size 8 --batch-size 4 --json");
    assert_eq!(one_step(&format!("{step} --json")), one_step(&given));
    assert!(!text(&step).contains("This assumes"));
    for (option, allowed) in [("--world-size 5", "allowed: 8, as in"), ("--batch-size 8", "allowed: 4, as in")] {
        assert!(failing(&format!("{step} {option}")).1.contains(allowed), "{option}");
    }
    // The ranks of another epoch may be others.
    one_step(&format!("explain {checkpoint} --step 9 --epoch 4 --world-size 5 --json"));
    let resumed = write(160);
    assert!(text(&format!("explain {resumed}")).contains("160 positions, by ranks that it does not name"));
    assert!(failing(&format!("explain {resumed} --step 9")).1.contains("took the first 160 positions of the epoch"));
    let samples = json(&format!("explain {resumed} --sample 5 --json"));
    assert!(samples["samples"][0]["places"][0].get("rank").is_none());
}

/// A state may be a text, a dictionary or an object, within dictionaries, lists or objects.
#[test]
fn states_in_objects_are_found() {
    let mut sampler = sampler(1, 5);
    let text = fs::read_to_string(data("state.json")).unwrap();
    sampler.resume(text.trim()).unwrap();
    let expected = sampler.indices::<u64>(..3).unwrap();
    for protocol in [0, 2, 5] {
        let path = data(&format!("objects-{protocol}.pkl"));
        let found = json(&format!("explain {path} --json"));
        let states = found["states"].as_array().unwrap();
        let places = states.iter().map(|state| state["place"].as_str().unwrap()).collect::<Vec<_>>();
        let named = ["text.loader.state", "dictionary.loader.state", "ordered.0", "objects.loader.state"];
        assert_eq!(places, named, "{protocol}");
        for state in states {
            let told = ["kind", "order", "seed", "consumed", "left"].map(|field| state[field].clone());
            assert_eq!(Value::from(told.to_vec()), value!(["sampler", "torch", 7, 320, 683]), "{protocol}");
            // The state in the output can be resumed.
            let own = files::folder("explain-objects").join("state.json");
            fs::write(&own, state["state"].as_str().unwrap()).unwrap();
            let rest = json(&format!("indices --resume {} --world-size 5 --rank 1 --count 3 --json", own.display()));
            assert_eq!(rest["indices"], Value::from(expected.clone()), "{protocol}");
        }
    }
    // A state that is JSON within JSON keeps all its members, even seeds of 64 bits.
    let path = files::folder("explain-json").join("saved.json");
    let state = text.replace("\"seed\":7", "\"seed\":\"-9223372036854775807\"");
    fs::write(&path, format!("{{\"run\":[{{\"loader\":{state}}}],\"samedeal\":\"0.1.0\"}}")).unwrap();
    let found = json(&format!("explain {} --json", path.display()));
    let [one] = &found["states"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&one["place"], &one["seed"]), (&"run.0.loader".into(), &"-9223372036854775807".into()));
    assert_eq!(one["state"], state.trim());
    assert_eq!(json(&format!("indices --resume {} --json", path.display()))["consumed"], 320);
}

/// A reading of the dataset in `lightning.ckpt`, in the epoch of its state, by these readers.
fn readers(world: u32, workers: u32, batch: u32) -> Reading {
    let builder = Reading::builder([100, 903]).seed(7).world_size(world).workers(workers).batch_size(batch);
    builder.build().unwrap().at_epoch(3).unwrap()
}

#[test]
fn the_state_of_readers_says_what_is_left() {
    let path = data("lightning.ckpt");
    let found = json(&format!("explain {path} --json"))["states"][0].clone();
    let state = readers(2, 3, 4).state(2).unwrap();
    assert_eq!((&found["kind"], &found["state"], &found["batches"]), (&"reading".into(), &state.into(), &17.into()));
    let past = value!([{ "world_size": 2, "workers": 3, "batch_size": 4, "drop_last": false, "steps": 2 }]);
    assert_eq!((&found["history"], &found["recipe"]["order"]["lanes"]), (&past, &64.into()));
    let told = ["seed", "epoch", "dataset_size", "consumed", "left"].map(|field| found[field].clone());
    assert_eq!(Value::from(told.to_vec()), value!([7, 3, 1003, 16, 987]));
    let shown = text(&format!("explain {path}"));
    for words in
        ["2 steps by 2 ranks with 3 workers each, batches of 4", "16 (1.60 %)", "the state of a dataset in files"]
    {
        assert!(shown.contains(words), "{shown}");
    }
    // After 2 steps, workers 0 and 1 of both ranks have given one batch each.
    let whole = readers(2, 3, 4);
    let readers = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let seen = readers.iter().flat_map(|&(rank, worker)| whole.indices(rank, worker, ..4).unwrap());
    let seen = seen.collect::<BTreeSet<_>>();
    let asked = (0..1003).map(|sample| sample.to_string()).collect::<Vec<_>>().join(",");
    let statuses = json(&format!("explain {path} --json --sample {asked}"))["samples"].clone();
    for answer in statuses.as_array().unwrap() {
        let status = if seen.contains(&answer["sample"].as_u64().unwrap()) { "seen" } else { "upcoming" };
        assert_eq!(answer["status"], status, "{answer}");
    }
    let failed = [
        (format!("explain {path} --sample 1003"), "1003"),
        (format!("explain {path} --step 1 --world-size 3"), "did not read all of the epoch so far"),
        (format!("batches {path} --lengths --max-tokens 4 --resume {path}"), "leave --lengths out"),
        (format!("state --resume {path} --taken 4"), "name them with --steps"),
        ("state --samples 9 --steps 4".to_owned(), "--batch-size is missing"),
        ("state --samples 9 --batch-size 4 --steps 4".to_owned(), "--steps is 4; allowed: 0 to 3"),
        (format!("indices --resume {path} --layout contiguous"), "--layout is contiguous; allowed: strided"),
        (format!("replay --resume {path} --batch-size 4"), "PATH is missing"),
        (format!("indices --resume {path} --seed 8"), "--seed is 8; allowed: 7, as in the state"),
        (format!("indices --resume {path} --lanes 8"), "--lanes is 8; allowed: 64, as in the state"),
        (format!("indices --resume {path} --order feistel"), "--order is feistel"),
        (format!("indices --resume {path} --samples 9"), "--samples is 9; allowed: 1003"),
        (format!("indices --resume {path} --workers 2 --worker 2"), "--worker is 2; allowed: 0 to 1"),
        ("indices --samples 9 --batch-size 2".to_owned(), "--batch-size has no effect here"),
    ];
    for (arguments, why) in failed {
        refuses(&arguments, why);
    }
}

#[test]
fn readers_go_on_from_a_state() {
    let path = data("lightning.ckpt");
    let state = readers(2, 3, 4).state(2).unwrap();
    // The state is resumed by the readers that took it, with its batch size, and by other readers.
    for (world, workers, batch, option) in [(2, 3, 4, ""), (3, 2, 5, "--batch-size 5"), (1, 1, 4, "--batch-size 4")] {
        let rest = readers(world, workers, batch).resume(&state).unwrap();
        for rank in 0..world {
            for worker in 0..workers {
                let reader =
                    format!("--world-size {world} --rank {rank} --workers {workers} --worker {worker} {option}");
                let found = json(&format!("indices --resume {path} {reader} --json"));
                assert_eq!(found["indices"], Value::from(rest.indices(rank, worker, ..).unwrap()), "{reader}");
                assert_eq!(found["reader"]["batch_size"], batch);
                let plain = text(&format!("indices --resume {path} {reader} --count 3 --format text"));
                let plain = plain.lines().map(|line| line.parse::<u64>().unwrap()).collect::<Vec<_>>();
                assert_eq!(plain, rest.indices(rank, worker, ..3).unwrap());
            }
        }
    }
    let shown = text(&format!("indices --resume {path} --world-size 2 --workers 3 --worker 2 --count 2"));
    assert!(shown.contains("worker 2 of 3 in rank 0 of 2"), "{shown}");
}

#[test]
fn replay_reads_what_a_state_of_readers_leaves() {
    let dataset = Dataset::write("replay-readers");
    let folder = dataset.folder.display();
    // The file with 0 rows is empty.
    let sizes = [3, 40, 1, 0, 57, 20, 9];
    assert_eq!(sizes.iter().sum::<u64>(), dataset.rows.len() as u64);
    for deal in ["samples", "shards"] {
        let build = |workers| {
            let builder = Reading::builder(sizes).seed(5).deal(deal.parse().unwrap()).workers(workers).batch_size(4);
            builder.build().unwrap()
        };
        let path = files::folder("replay-readers-state").join(format!("{deal}.json"));
        fs::write(&path, build(2).state(3).unwrap()).unwrap();
        for workers in [2, 3] {
            let rest = build(workers).resume(&build(2).state(3).unwrap()).unwrap();
            for worker in 0..workers {
                let options = format!("--workers {workers} --worker {worker} --batch-size 4 --format json");
                let found = json(&format!("replay {folder} --resume {} {options}", path.display()));
                let wanted = rest.indices(0, worker, ..).unwrap();
                let (count, batches) = (wanted.len(), wanted.len().div_ceil(4));
                assert_eq!((&found["samples"], &found["batches"]), (&count.into(), &batches.into()));
                assert_eq!(found["first"], Value::from(&wanted[..count.min(5)]));
                assert_eq!(found["last"], Value::from(&wanted[count - count.min(5)..]));
            }
        }
        // The state belongs to other files, so it is refused.
        let other = Reading::builder([1, 2]).deal(deal.parse().unwrap()).build().unwrap().state(1).unwrap();
        fs::write(&path, other).unwrap();
        let (code, said) = failing(&format!("replay {folder} --resume {} --batch-size 4", path.display()));
        assert!(code == 2 && said.contains(&format!("{deal}.json: ")) && said.contains("state"), "{said}");
    }
}

/// The status of every sample equals what the samplers of all ranks deal.
#[test]
fn samples_are_seen_or_to_come_or_padding_or_dropped() {
    let path = data("state.json");
    let mut seen = BTreeSet::new();
    for rank in 0..8 {
        seen.extend(sampler(rank, 8).indices::<u64>(..40).unwrap());
    }
    let all = (0..1003).map(|sample| format!("--sample {sample}")).collect::<Vec<_>>().join(" ");
    let state = fs::read_to_string(&path).unwrap();
    // 683 samples are left. 5 ranks add 2 samples of padding; 4 ranks drop 3 samples.
    for (deal, world) in [("--world-size 5", 5), ("--world-size 4 --remainder drop", 4)] {
        let found = json(&format!("locate --resume {path} {deal} --batch-size 8 {all} --json"));
        let found = found["samples"].as_array().unwrap();
        assert_eq!(found.len(), 1003);
        let mut counts = BTreeMap::<&str, u32>::new();
        for (sample, found) in (0_u64..).zip(found) {
            let status = found["status"].as_str().unwrap();
            *counts.entry(status).or_default() += 1;
            assert_eq!(status == "seen", seen.contains(&sample), "{found}");
            let mut reader = sampler(0, world);
            reader.resume(state.trim()).unwrap();
            for place in found["places"].as_array().unwrap() {
                *counts.entry("padding").or_default() += u32::from(place["status"] == "padding");
                let position = place["position"].as_u64().unwrap();
                match place["status"].as_str().unwrap() {
                    "seen" => assert!(position < 320 && place["rank"].is_null() && place["batch"].is_null()),
                    "upcoming" => assert!((320..1003).contains(&position)),
                    status => assert!(status == "padding" && position >= 1003),
                }
                if let Some(rank) = place["rank"].as_u64() {
                    reader.set_rank(rank as u32).unwrap();
                    let index = place["index_in_reader"].as_u64().unwrap();
                    assert_eq!(reader.window::<u64>(index, 1).unwrap(), [sample]);
                }
            }
        }
        let expected: &[_] = match world {
            5 => &[("padding", 2), ("seen", 320), ("upcoming", 683)],
            _ => &[("dropped", 3), ("padding", 0), ("seen", 320), ("upcoming", 680)],
        };
        let counts = counts.into_iter().filter(|(name, count)| *name != "padding" || *count > 0 || world == 4);
        assert_eq!(
            counts.collect::<Vec<_>>(),
            expected.iter().filter(|it| it.1 > 0 || world == 4).copied().collect::<Vec<_>>()
        );
    }
    let first = sampler(0, 1).sample_at(0).unwrap();
    let shown = text(&format!("locate --resume {path} --world-size 5 --sample {first}"));
    assert!(shown.contains("┆ seen ") && shown.contains("┆ padding "), "{shown}");
    let lines = text(&format!("locate --resume {path} --world-size 5 --sample {first} --format text"));
    assert!(lines.starts_with(&format!("{first}\tseen\t0\t\t")), "{lines}");
    assert!(lines.contains(&format!("\n{first}\tpadding\t1003\t")), "{lines}");
}

#[test]
fn a_checkpoint_says_what_became_of_a_sample_and_a_step() {
    let path = data("trainer_state.json");
    // The file has the batch size, but no world size.
    let (code, said) = failing(&format!("explain {path} --step 3"));
    assert!(code == 2 && said.ends_with("does not say how many ranks took it; add --world-size"), "{said}");
    let (_, said) = failing(&format!("explain {path} --step 3 --world-size 8 --batch-size 5"));
    assert!(said.contains("--batch-size is 5; allowed: 4, as in the state"), "{said}");
    let (_, said) = failing(&format!("explain {} --step 3 --world-size 8", data("zip.pt")));
    assert!(said.ends_with("add --batch-size"), "{said}");
    for (zero, others) in [
        ("world-size", "--batch-size 4"),
        ("workers", "--world-size 8 --batch-size 4"),
        ("batch-size", "--world-size 8"),
    ] {
        for asked in ["--step 3", "--sample 3"] {
            let (code, said) = failing(&format!("explain {} {asked} {others} --{zero} 0", data("zip.pt")));
            assert!(code == 2 && said.ends_with(&format!("--{zero} is 0; allowed: 1 to 4294967295")), "{said}");
        }
    }
    let (_, said) = failing(&format!("explain {path} --step 3 --world-size 7"));
    assert!(said.contains("320 samples were consumed, which is no multiple of 28"), "{said}");
    for (step, status) in [(0, "seen"), (9, "seen"), (10, "upcoming"), (30, "upcoming")] {
        let found = one_step(&format!("explain {path} --step {step} --world-size 8 --json"));
        assert_eq!((&found["step"], &found["status"]), (&step.into(), &status.into()));
        for (rank, part) in (0..).zip(found["ranks"].as_array().unwrap()) {
            let batch = sampler(rank, 8).batch::<u64>(step, 4).unwrap();
            assert_eq!(part["samples"], Value::from(batch.clone()));
            let found = json(&format!("explain {path} --sample {} --world-size 8 --json", batch[1]));
            let place = &found["samples"][0]["places"][0];
            let told = ["status", "rank", "batch", "index_in_batch"].map(|name| place[name].clone());
            assert_eq!(Value::from(told.to_vec()), value!([status, rank, step, 1]));
        }
    }
    // Without a world size, only positions and status are shown.
    let [seen, later] = [319, 320].map(|position| sampler(0, 1).sample_at(position).unwrap());
    let found = json(&format!("explain {path} --sample {seen} --sample {later} --json"));
    let statuses = [0, 1].map(|number| found["samples"][number]["status"].clone());
    assert_eq!(statuses, ["seen", "upcoming"]);
    assert_eq!(found["samples"][0]["places"], value!([{ "position": 319, "status": "seen" }]));
    assert!(
        text(&format!("explain {path} --sample {seen}"))
            .contains("--world-size and --batch-size add rank, step and padding")
    );
}

#[test]
fn a_checkpoint_says_what_became_of_steps_and_of_other_epochs() {
    let path = data("trainer_state.json");
    let asked = format!("explain {path} --world-size 8");
    // The state was taken after 10 steps of epoch 3.
    let found = json(&format!("{asked} --step 8..12 --json"))["steps"].clone();
    let told = |name: &str| found.as_array().unwrap().iter().map(|it| it[name].clone()).collect::<Value>();
    assert_eq!((told("step"), told("epoch")), (value!([8, 9, 10, 11]), value!([3, 3, 3, 3])));
    assert_eq!(told("status"), value!(["seen", "seen", "upcoming", "upcoming"]));
    let single = one_step(&format!("{asked} --step 10 --json"));
    assert_eq!(found[2], single);
    assert_eq!(found[2]["ranks"][1]["samples"], Value::from(sampler(1, 8).batch::<u64>(10, 4).unwrap()));
    let shown = text(&format!("{asked} --step 8..=11"));
    assert!(
        shown.contains("steps 8 to 11 of the 32 of epoch 3 (seen before step 10, then upcoming), counted"),
        "{shown}"
    );
    let lines = text(&format!("{asked} --step 11..13 --format text"));
    assert!(lines.starts_with("11\t0\t0\t") && lines.lines().count() == 2 * 8 * 4, "{lines}");
    // Epochs before the epoch of the state were read; later ones were not.
    for (epoch, status) in [(2, "seen"), (4, "upcoming")] {
        let found = one_step(&format!("{asked} --step 3 --epoch {epoch} --json"));
        assert_eq!((&found["epoch"], &found["status"]), (&epoch.into(), &status.into()));
        let batch = sampler(5, 8).at_epoch(epoch).unwrap().batch::<u64>(3, 4).unwrap();
        assert_eq!(found["ranks"][5]["samples"], Value::from(batch));
    }
    for sample in [0, 501, 1002] {
        let positions = [2, 3, 4].map(|epoch| sampler(0, 1).at_epoch(epoch).unwrap().locate(sample, 1).unwrap());
        let positions = positions.map(|place| place.unwrap().position);
        let own = if positions[1] < 320 { "seen" } else { "upcoming" };
        for world in ["", "--world-size 8"] {
            let found = json(&format!("explain {path} {world} --sample {sample} --epoch 2..=4 --json"));
            for (number, status) in ["seen", own, "upcoming"].into_iter().enumerate() {
                let answer = &found["samples"][number];
                let place = &answer["places"][0];
                assert_eq!((&answer["epoch"], &place["status"]), (&(number + 2).into(), &status.into()), "{world}");
                assert_eq!(place["position"], positions[number]);
            }
        }
    }
    // A dataset in files, whose state was taken after 2 steps.
    let readers_of = format!("explain {} --world-size 2", data("lightning.ckpt"));
    let found = json(&format!("{readers_of} --step 1..=2 --json"))["steps"].clone();
    assert_eq!((&found[0]["status"], &found[1]["status"]), (&"seen".into(), &"upcoming".into()));
    let found = one_step(&format!("{readers_of} --step 1 --epoch 4 --json"));
    assert_eq!((&found["epoch"], &found["status"]), (&4.into(), &"upcoming".into()));
    let other = readers(2, 3, 4).at_epoch(4).unwrap();
    assert_eq!(found["ranks"][1]["samples"], Value::from(other.indices(1, 1, ..4).unwrap()));
    let seen = readers(2, 3, 4).indices(0, 0, ..1).unwrap()[0];
    let lines = text(&format!("{readers_of} --sample {seen} --epoch 2..5 --format text"));
    assert_eq!(lines, format!("2\t{seen}\tseen\n3\t{seen}\tseen\n4\t{seen}\tupcoming\n"));
    for (arguments, words) in [
        ("--step 1 --epoch 2..4", "--epoch is 2..=3; allowed with --step: one epoch"),
        ("--epoch 2", "--epoch 2 has no effect: it is for --sample or --step"),
        ("--step 30..33", "--step is 32; allowed: 0 to 31 in epoch 3"),
    ] {
        refuses(&format!("{asked} {arguments}"), words);
    }
}

#[test]
fn batches_know_their_worlds() {
    let folder = files::folder("explain-batches");
    let lengths = (0..600).map(|number| number * 37 % 90 + 1).collect::<Vec<u32>>();
    let file = folder.join("lengths.json");
    fs::write(&file, serde_json::to_string(&lengths).unwrap()).unwrap();
    let build = |world| {
        Batcher::builder(lengths.clone()).max_tokens(300).seed(3).epoch(2).world_size(world).tail(Tail::Duplicate)
    };
    let (first, mut second, mut rest) =
        (build(4).build().unwrap(), build(3).build().unwrap(), build(2).build().unwrap());
    let state = first.state(5).unwrap();
    second.resume(&state).unwrap();
    let state = second.state(4).unwrap();
    rest.resume(&state).unwrap();
    let path = folder.join("saved.json");
    fs::write(&path, serde_json::to_string(&value!({ "loop": [{ "samedeal": state }] })).unwrap()).unwrap();
    let (path, file) = (path.display(), file.display());
    let options = "--lengths --max-tokens 300 --tail duplicate";
    let found = json(&format!("explain {path} --json"))["states"][0].clone();
    assert_eq!(found["history"][1]["world_size"], 3);
    assert_eq!((&found["kind"], &found["order"], &found["seed"]), (&"batcher".into(), &"feistel".into(), &3.into()));
    assert_eq!((&found["dataset_size"], &found["recipe"]["batch"]["max_tokens"]), (&600.into(), &300.into()));
    let shown = text(&format!("explain {path}"));
    for words in ["max tokens ", " 300 ", "duplicate", "feistel", "5 steps by 4 ranks"] {
        assert!(shown.contains(words), "{shown}");
    }
    assert_eq!((&found["history"][0]["steps"], &found["place"]), (&5.into(), &"loop.0.samedeal".into()));
    // By step: the ranks of the history took the first steps. The last of these groups also takes the rest, unless
    // another world size is named.
    for (step, batcher, own, world) in [(4, &first, 4, 4), (5, &second, 0, 3), (8, &second, 3, 3), (9, &rest, 0, 2)] {
        let more = if step == 9 { "--world-size 2" } else { "" };
        let found = one_step(&format!("explain {path} {file} {options} {more} --step {step} --json"));
        assert_eq!(found["ranks"].as_array().unwrap().len(), world);
        assert_eq!(found["status"], if step < 9 { "seen" } else { "upcoming" });
        assert_eq!(found["step"], step);
        for (rank, part) in (0..).zip(found["ranks"].as_array().unwrap()) {
            assert_eq!(part["samples"], Value::from(batcher.batch_of(rank, own).unwrap().samples));
        }
    }
    // Several steps are shown together if the same ranks read them.
    let asked = format!("explain {path} {file} {options}");
    let found = json(&format!("{asked} --step 6..9 --json"))["steps"].clone();
    assert_eq!(found[2], one_step(&format!("{asked} --step 8 --json")));
    let (_, said) = failing(&format!("{asked} --step 6..=9"));
    assert!(said.contains("--step is 6..=9; allowed: 6..9, or from 9 on: the run had other ranks"), "{said}");
    let lines = text(&format!("{asked} --step 9..=10 --world-size 2 --format text"));
    assert!(lines.starts_with("9\t0\t0\t") && lines.contains("\n10\t1\t"), "{lines}");
    // Steps of other epochs are shown for the ranks that continue.
    for (epoch, status) in [(1, "seen"), (3, "upcoming")] {
        let batcher = build(2).epoch(epoch).build().unwrap();
        let found = one_step(&format!("{asked} --world-size 2 --step 7 --epoch {epoch} --json"));
        assert_eq!((&found["status"], &found["step"]), (&status.into(), &7.into()));
        assert_eq!(found["ranks"][1]["samples"], Value::from(batcher.batch_of(1, 7).unwrap().samples));
        let found = json(&format!("{asked} --world-size 2 --sample 5 --epoch 1..=3 --json"))["samples"].clone();
        let place = &found[epoch as usize - 1]["places"][0];
        let own = batcher.locate(5).unwrap()[0];
        assert_eq!((&place["status"], &place["step"]), (&status.into(), &own.step.into()));
        assert_eq!(found[1], json(&format!("{asked} --world-size 2 --sample 5 --json"))["samples"][0]);
    }
    // By sample: every sample has exactly one place that is not padding.
    let all = (0..600).map(|sample| format!("--sample {sample}")).collect::<Vec<_>>().join(" ");
    let found = json(&format!("locate {file} {options} --resume {path} --world-size 2 {all} --json"));
    let mut worlds = BTreeMap::<u64, u32>::new();
    for (sample, found) in (0_u64..).zip(found["samples"].as_array().unwrap()) {
        let places = found["places"].as_array().unwrap();
        let real = places.iter().filter(|place| place["status"] != "padding").collect::<Vec<_>>();
        let [place] = real[..] else { panic!("{found}") };
        let number = |name: &str| place[name].as_u64().unwrap();
        *worlds.entry(number("world_size")).or_default() += 1;
        let (status, from) = if number("world_size") == 2 { ("upcoming", "state") } else { ("seen", "epoch") };
        assert_eq!((&found["status"], &place["counted_from"]), (&status.into(), &from.into()));
        let (batcher, own) = match number("world_size") {
            4 => (&first, number("step")),
            3 => (&second, number("step") - 5),
            _ => (&rest, number("step")),
        };
        let batch = batcher.batch_of(number("rank") as u32, own).unwrap();
        assert_eq!(batch.rows().nth(number("row") as usize).unwrap()[number("index_in_row") as usize], sample);
    }
    assert_eq!((worlds.len(), worlds.values().sum::<u32>()), (3, 600));
    // `explain` counts all steps from the beginning of the epoch, even those that are still to come.
    let own = rest.batch_of(1, 2).unwrap().samples[0];
    let found = json(&format!("explain {path} {file} {options} --world-size 2 --sample {own} --json"));
    let place = &found["samples"][0]["places"][0];
    let told = ["status", "step", "rank", "counted_from"].map(|name| place[name].clone());
    assert_eq!(Value::from(told.to_vec()), value!(["upcoming", 5 + 4 + 2, 1, "epoch"]));
    let shown = text(&format!("explain {path} {file} {options} --world-size 2 --sample {own}"));
    assert!(shown.contains("all steps are counted from the beginning of the epoch"), "{shown}");
    // The message names the option that differs, and not a hash.
    let (code, said) =
        failing(&format!("explain {path} {file} --lengths --max-tokens 301 --tail duplicate --sample 1"));
    assert!(code == 2 && said.contains("--max-tokens is 301; allowed: 300"), "{said}");
    let (_, said) = failing(&format!("explain {path} --sample 1"));
    assert!(said.contains("--lengths"), "{said}");
    let (_, said) = failing(&format!("indices --samples 600 --resume {path}"));
    assert!(said.contains("add --lengths"), "{said}");
}

#[test]
fn a_state_of_other_files_says_what_may_differ() {
    let dataset = Dataset::write("explain-files");
    let folder = dataset.folder.display();
    let path = dataset.folder.join("state.json");
    let state = text(&format!("state {folder} --order sharded --lanes 8 --seed 5 --world-size 2 --taken 20"));
    fs::write(&path, &state).unwrap();
    let resume = format!("--resume {}", path.display());
    // The order comes from the state, with its lanes. The files may be named.
    let found = json(&format!("indices {resume} --json"));
    assert_eq!(found["recipe"]["order"], json(&format!("recipe {folder} --order sharded --lanes 8 --seed 5"))["order"]);
    assert_eq!(found["indices"].as_array().unwrap().len(), 90);
    assert_eq!(json(&format!("indices {folder} --lanes 8 {resume} --json")), found);
    for (options, why) in [
        ("--lanes 16", "--lanes is 16; allowed: 8, as in the state"),
        ("--shuffle-window 16", "--shuffle-window is 16; allowed: 256, as in the state"),
        ("--samples 129", "--samples is 129; allowed: 130, as in the state"),
    ] {
        refuses(&format!("indices {options} {resume}"), why);
    }
    let (_, said) = failing(&format!("indices {folder}/a.parquet {resume}"));
    assert!(said.contains("the state is of other files: their numbers of rows differ"), "{said}");
    // The files are in another order, but have the same number of samples.
    let (_, said) = failing(&format!(
        "indices {folder}/b {folder}/a {folder}/Z.parquet {folder}/a.parquet {folder}/a0.parquet {resume}"
    ));
    assert!(said.contains("name the files of the run, in their order") || said.contains("Name the files"), "{said}");
    assert_eq!(json(&format!("explain {} --sample 129 --json", path.display()))["samples"][0]["row"], Value::Null);
    // The answer has the file and the row of a sample.
    let found = json(&format!("explain {} {folder} --sample 129 --json", path.display()))["samples"][0].clone();
    assert_eq!(found["row"], 8);
    assert!(found["file"].as_str().unwrap().ends_with("b/d.parquet"), "{found}");
    let found = json(&format!("locate {folder} --sample 129 --json"))["samples"][0].clone();
    assert_eq!(found["row"], 8);
    // Replay and verify take workers, too. The rest and the consumed samples are all samples.
    let found = json(&format!("verify {folder} --lanes 8 --world-size 2 --workers 2 --batch-size 4 {resume} --json"));
    assert_eq!((&found["passed"], &found["consumed"], &found["seen"]), (&true.into(), &40.into(), &90.into()));
    let deal = format!("{folder} --order sharded --world-size 2 --rank 1 --workers 2 --worker 1 --batch-size 4");
    let read = json(&format!("replay {deal} --json"));
    let own = json(&format!("batches {deal} --json"));
    let first = own["batches"].as_array().unwrap().iter().flat_map(|batch| batch.as_array().unwrap()).take(5);
    assert_eq!(read["first"], first.cloned().collect::<Value>());
}

#[test]
fn a_recipe_beside_a_state_is_no_other_state() {
    let path = files::folder("explain-beside").join("saved.json");
    let recipe = text("recipe --samples 100 --world-size 2").trim().to_owned();
    let state = text("state --samples 100 --world-size 2 --taken 10").trim().to_owned();
    fs::write(&path, value!({ "recipe": recipe, "loader": { "state": state } }).to_string()).unwrap();
    let path = path.display();
    // Without --sample or --step, the recipe and the state are both shown.
    assert_eq!(json(&format!("explain {path} --json"))["states"].as_array().unwrap().len(), 2);
    for (at, status) in [(19, "seen"), (20, "upcoming")] {
        let sample = Sampler::new(100).unwrap().sample_at(at).unwrap();
        let found = json(&format!("explain {path} --sample {sample} --world-size 2 --batch-size 5 --json"));
        assert_eq!(found["samples"][0]["status"], status);
    }
    assert_eq!(json(&format!("indices --resume {path} --json"))["consumed"], 20);
    let (_, said) = failing(&format!("explain {path} --place recipe --sample 1"));
    assert!(said.contains("it does not say how far anything was read"), "{said}");
}

#[test]
fn several_states_are_told_apart() {
    let folder = files::folder("explain-several");
    let path = folder.join("saved.json");
    let [one, other] =
        ["10", "20"].map(|taken| text(&format!("state --samples 100 --taken {taken}")).trim().to_owned());
    fs::write(&path, value!({ "a": { "samedeal": one }, "b": { "samedeal": other } }).to_string()).unwrap();
    let path = path.display();
    let places = "a.samedeal (the state of a sampler), b.samedeal (the state of a sampler)";
    assert_eq!(json(&format!("explain {path} --json"))["states"].as_array().unwrap().len(), 2);
    for arguments in [format!("explain {path} --sample 1"), format!("indices --resume {path}")] {
        let (code, said) = failing(&arguments);
        assert!(code == 2 && said.contains("several states that differ") && said.contains(places));
    }
    let sample = Sampler::new(100).unwrap().sample_at(15).unwrap();
    for (place, status) in [("a", "upcoming"), ("b", "seen")] {
        let found = json(&format!("explain {path} --place {place}.samedeal --sample {sample} --json"));
        assert_eq!(found["samples"][0]["status"], status);
    }
    assert!(failing(&format!("explain {path} --place c --sample 1")).1.contains("known: a.samedeal (the state of"));
    for (contents, said) in [("{}", "holds no state of samedeal"), ("PK\u{3}\u{4}", "is cut off at its end")] {
        let broken = folder.join("broken");
        fs::write(&broken, contents).unwrap();
        let (code, found) = failing(&format!("explain {}", broken.display()));
        assert!(code == 2 && found.contains(said), "{found}");
    }
    // If the path is a directory, the message names the file with a state in it or in its subdirectories.
    fs::create_dir_all(folder.join("step-10/deep/deeper")).unwrap();
    fs::write(folder.join("step-10/deep/deeper/state.json"), &one).unwrap();
    fs::write(folder.join("step-10/rng.pth"), "PK\u{3}\u{4}").unwrap();
    fs::write(folder.join("step-10/weights.safetensors"), &one).unwrap();
    let named = |directory: &Path| failing(&format!("explain {}", directory.display())).1;
    assert!(named(&folder.join("step-10")).ends_with("is a directory; name the file in it that holds the state"));
    fs::copy(data("trainer_state.json"), folder.join("step-10/trainer_state.json")).unwrap();
    let (here, there) = (path.to_string(), folder.join("step-10/trainer_state.json").display().to_string());
    let said = named(&folder.join("step-10"));
    assert!(said.ends_with(&format!("is a directory; name the file in it that holds the state: {there}")), "{said}");
    let said = named(&folder);
    assert!(said.ends_with(&format!("name one of the files in it that hold states: {here}, {there}")), "{said}");
    assert_eq!(failing(&format!("indices --resume {}", folder.display())).1, said);
    assert!(failing("explain no-such-file").1.contains("no-such-file"));
    // A second checkpoint is refused. The message has a command that compares both.
    let (code, said) = failing(&format!("explain {path} {}", data("state.json")));
    let diff = said.split_once("To compare two checkpoints: diff ").unwrap().1;
    assert!(code == 2 && diff.contains(&format!("samedeal explain {path} --format text")), "{said}");
    assert!(diff.contains(&format!("samedeal explain {} --format text", data("state.json"))), "{said}");
}

#[test]
fn a_recipe_says_what_it_is_of() {
    let folder = crate::files::folder("explain-recipes");
    let path = folder.join("recipe.json");
    let sampler = samedeal::Sampler::builder(1_000).seed(5).unit(2).world_size(4).build().unwrap().recipe().unwrap();
    let blend = samedeal::Order::blend([samedeal::Source::new("web", 900, 7), samedeal::Source::new("books", 100, 3)]);
    let schedule = samedeal::Schedule::from_order(blend, 64).stages([(1_000, 128)]).build().unwrap().recipe().unwrap();
    let split =
        samedeal::Split::by_weight([("test", 10), ("training", 90)]).seed(42).build().unwrap().recipe().unwrap();
    let batches = samedeal::Batcher::builder([1, 2, 3]).max_tokens(64).build().unwrap().recipe().unwrap();
    let plan = samedeal::ShardPlan::builder([3, 4]).build().unwrap().recipe().unwrap();
    let reading = samedeal::Reading::builder([3, 4]).batch_size(2).workers(2).build().unwrap().recipe().unwrap();
    let chunks = samedeal::ChunkStream::new(0, 2).unwrap().recipe().unwrap();
    for (recipe, of, described, more) in [
        (sampler, "sampler", "the recipe of a sampler", vec!["feistel", "unit", "world size"]),
        (schedule, "schedule", "the recipe of steps over epochs", vec!["128 from step 1,000 on", "web 7, books 3"]),
        (split, "split", "the recipe of a split", vec!["training, weight 90", "42"]),
        (batches, "batcher", "the recipe of batches of samples of different length", vec!["max tokens"]),
        (plan, "plan", "the recipe of a plan, which deals whole files", vec!["whole shards"]),
        (reading, "reading", "the recipe of a reading", vec!["workers"]),
        (chunks, "chunk-stream", "the recipe of a stream of chunks", vec!["readers"]),
    ] {
        fs::write(&path, &recipe).unwrap();
        let shown = text(&format!("explain {}", path.display()));
        for words in more.into_iter().chain([described, "read by"]) {
            assert!(shown.contains(words), "{of}: {words}: {shown}");
        }
        assert!(!shown.contains("resumed by") && !shown.contains("unknown kind"), "{shown}");
        let found = json(&format!("explain {} --json", path.display()));
        let found = &found["states"][0];
        assert_eq!((&found["kind"], &found["recipe_of"]), (&"recipe".into(), &of.into()));
        // A recipe is not taken as a state.
        let (code, said) = failing(&format!("indices --samples 1000 --resume {}", path.display()));
        assert!(code == 2 && said.contains(described) && said.ends_with("give it with --recipe"), "{said}");
        let (_, said) = failing(&format!("explain {} --sample 1", path.display()));
        assert!(said.ends_with("give it with --recipe"), "{said}");
    }
}

#[test]
fn an_index_is_told_from_a_state() {
    let path = crate::files::folder("explain-index").join("epoch.index");
    let batches = samedeal::Batcher::builder([3, 1, 2, 4, 5, 6]).max_tokens(8).build().unwrap();
    let index = batches.index(0, 1).unwrap();
    fs::write(&path, index).unwrap();
    let shown = text(&format!("explain {}", path.display()));
    for words in
        ["the index says", "an index of batches, which is no state", "windows of the epoch", "read by", "--index"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("resumed by") && !shown.contains("world size"), "{shown}");
    assert_eq!(json(&format!("explain {} --json", path.display()))["states"][0]["kind"], "index");
    for command in
        ["indices --samples 1000 --resume", "batches --lengths --max-tokens 8 --resume", "explain --sample 1"]
    {
        let (code, said) = failing(&format!("{command} {}", path.display()));
        assert!(code == 2 && said.contains("an index of batches, which is no state"), "{said}");
        assert!(said.ends_with("give it with --index"), "{said}");
    }
}

#[test]
fn a_state_of_steps_is_explained() {
    let path = crate::files::folder("explain-steps").join("state.json");
    let schedule = samedeal::Schedule::builder(1_000, 64).stages([(5, 128)]).seed(9).build().unwrap();
    fs::write(&path, schedule.state(20).unwrap()).unwrap();
    let shown = text(&format!("explain {}", path.display()));
    for words in ["the state of steps over epochs", "128 from step 5 on", "step", "samedeal steps --resume", "24.00 %"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let found = json(&format!("explain {} --json", path.display()));
    let found = &found["states"][0];
    assert_eq!((&found["kind"], &found["step"], &found["epoch"]), (&"schedule".into(), &20.into(), &2.into()));
    assert_eq!((&found["consumed"], &found["left"]), (&240.into(), &760.into()));
    let (_, said) = failing(&format!("explain {} --step 3 --world-size 2 --batch-size 4", path.display()));
    assert!(said.ends_with("`samedeal steps --resume` continues it"), "{said}");
}
