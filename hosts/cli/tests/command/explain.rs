//! Checkpoints: what the states in them say, and what became of samples and steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use samedeal::{Batcher, Sampler, Tail};
use serde_json::{Value, json as value};

use crate::files::{self, Dataset};
use crate::{failing, json, text};

/// A checkpoint that `tests/data/make.py` wrote. All of them hold the state after 40 samples on each of 8 ranks.
fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

fn sampler(rank: u32, world: u32) -> Sampler {
    let builder = Sampler::builder(1003).seed(7).epoch(3).order("torch");
    builder.rank(rank).world(world).build().unwrap()
}

#[test]
fn states_are_found_in_every_format() {
    let names = ["state.json", "trainer_state.json", "zip.pt", "legacy.pt"].map(str::to_owned);
    for name in names.into_iter().chain((0..6).map(|protocol| format!("protocol-{protocol}.pkl"))) {
        let found = json(&format!("explain {} --json", data(&name)));
        let [state] = &found["states"].as_array().unwrap()[..] else { panic!("{name}: {found}") };
        let told = ["kind", "order", "seed", "epoch", "samples", "consumed", "left"].map(|field| state[field].clone());
        let expected = value!(["sampler", "torch", 7, 3, 1003, 320, 683]);
        assert_eq!(Value::from(told.to_vec()), expected, "{name}");
        assert_eq!(state["batch_size"], if name == "trainer_state.json" { 4.into() } else { Value::Null });
        assert_eq!(state["python_only"], false);
        // And whatever it is in, it is resumed.
        let rest = text(&format!("indices --resume {} --world 5 --rank 1 --count 3 --format text", data(&name)));
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

#[test]
fn what_python_alone_resumes_is_named_as_such() {
    let path = data("lightning.ckpt");
    let found = json(&format!("explain {path} --json"))["states"][0].clone();
    let past = value!([{ "world": 2, "workers": 3, "batch_size": 4, "drop_last": false, "steps": 2 }]);
    assert_eq!((&found["kind"], &found["history"], &found["batches"]), (&"sampler-history".into(), &past, &17.into()));
    assert_eq!((&found["python_only"], &found["left"]), (&true.into(), &Value::Null));
    let shown = text(&format!("explain {path}"));
    assert!(shown.contains("2 steps by 2 ranks with 3 workers each, batches of 4"), "{shown}");
    assert!(shown.contains("Python alone"), "{shown}");
    for arguments in [format!("explain {path} --sample 1"), format!("indices --resume {path}")] {
        let (code, said) = failing(&arguments);
        assert!(code == 2 && said.contains("lightning.ckpt: the state of a ShardedDataset within a turn"), "{said}");
        assert!(said.contains("Python alone"), "{said}");
    }
    let folder = files::folder("explain-plan");
    let path = folder.join("plan.json");
    let plan = r#"{"samedeal":1,"kind":"plan","samples":9,"seed":0,"shuffle_rows":true,"fingerprint":"","epoch":2,"consumed":0}"#;
    fs::write(&path, plan).unwrap();
    assert!(text(&format!("explain {}", path.display())).contains("deals whole files"));
}

/// What is seen, to come, padding and dropped, as the samplers of all ranks say.
#[test]
fn samples_are_seen_or_to_come_or_padding_or_dropped() {
    let path = data("state.json");
    let mut seen = BTreeSet::new();
    for rank in 0..8 {
        seen.extend(sampler(rank, 8).indices::<u64>(..40).unwrap());
    }
    let all = (0..1003).map(|sample| format!("--sample {sample}")).collect::<Vec<_>>().join(" ");
    let state = fs::read_to_string(&path).unwrap();
    // Of 683 that are left, 5 ranks leave 2 places, and 4 ranks drop 3.
    for (deal, world) in [("--world 5", 5), ("--world 4 --remainder drop", 4)] {
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
                    "to come" => assert!((320..1003).contains(&position)),
                    status => assert!(status == "padding" && position >= 1003),
                }
                if let Some(rank) = place["rank"].as_u64() {
                    reader.set_rank(rank as u32).unwrap();
                    let index = place["index"].as_u64().unwrap();
                    assert_eq!(reader.window::<u64>(index, 1).unwrap(), [sample]);
                }
            }
        }
        let expected: &[_] = match world {
            5 => &[("padding", 2), ("seen", 320), ("to come", 683)],
            _ => &[("dropped", 3), ("padding", 0), ("seen", 320), ("to come", 680)],
        };
        let counts = counts.into_iter().filter(|(name, count)| *name != "padding" || *count > 0 || world == 4);
        assert_eq!(
            counts.collect::<Vec<_>>(),
            expected.iter().filter(|it| it.1 > 0 || world == 4).copied().collect::<Vec<_>>()
        );
    }
    let first = sampler(0, 1).sample_at(0).unwrap();
    let shown = text(&format!("locate --resume {path} --world 5 --sample {first}"));
    assert!(shown.contains("┆ seen ") && shown.contains("┆ padding "), "{shown}");
    let lines = text(&format!("locate --resume {path} --world 5 --sample {first} --format text"));
    assert!(lines.starts_with(&format!("{first}\tseen\t0\t\t")), "{lines}");
    assert!(lines.contains(&format!("\n{first}\tpadding\t1003\t")), "{lines}");
}

#[test]
fn a_checkpoint_says_what_became_of_a_sample_and_a_step() {
    let path = data("trainer_state.json");
    // The batch size is in the file; the world is not.
    let (code, said) = failing(&format!("explain {path} --step 3"));
    assert!(code == 2 && said.ends_with("does not say how many ranks took it; add --world"), "{said}");
    let (_, said) = failing(&format!("explain {path} --step 3 --world 8 --batch-size 5"));
    assert!(said.contains("--batch-size is 5; allowed: 4, as in the state"), "{said}");
    let (_, said) = failing(&format!("explain {} --step 3 --world 8", data("zip.pt")));
    assert!(said.ends_with("add --batch-size"), "{said}");
    let (_, said) = failing(&format!("explain {path} --step 3 --world 7"));
    assert!(said.contains("320 samples are consumed, no multiple of 28"), "{said}");
    for (step, status) in [(0, "seen"), (9, "seen"), (10, "to come"), (30, "to come")] {
        let found = json(&format!("explain {path} --step {step} --world 8 --json"));
        assert_eq!((&found["step"], &found["status"]), (&step.into(), &status.into()));
        for (rank, part) in (0..).zip(found["ranks"].as_array().unwrap()) {
            let batch = sampler(rank, 8).batch::<u64>(step, 4, false).unwrap();
            assert_eq!(part["samples"], Value::from(batch.clone()));
            let found = json(&format!("explain {path} --sample {} --world 8 --json", batch[1]));
            let place = &found["samples"][0]["places"][0];
            let told = ["status", "rank", "batch", "slot"].map(|name| place[name].clone());
            assert_eq!(Value::from(told.to_vec()), value!([status, rank, step, 1]));
        }
    }
    // Without the world, only what is known is told.
    let [seen, later] = [319, 320].map(|position| sampler(0, 1).sample_at(position).unwrap());
    let found = json(&format!("explain {path} --sample {seen} --sample {later} --json"));
    let statuses = [0, 1].map(|number| found["samples"][number]["status"].clone());
    assert_eq!(statuses, ["seen", "to come"]);
    assert_eq!(found["samples"][0]["places"], value!([{ "position": 319, "status": "seen" }]));
    assert!(text(&format!("explain {path} --sample {seen}")).contains("--world and --batch-size add the step"));
}

#[test]
fn batches_know_their_worlds() {
    let folder = files::folder("explain-batches");
    let lengths = (0..600).map(|number| number * 37 % 90 + 1).collect::<Vec<u32>>();
    let file = folder.join("lengths.json");
    fs::write(&file, serde_json::to_string(&lengths).unwrap()).unwrap();
    let build =
        |world| Batcher::builder(lengths.clone()).budget(300).seed(3).epoch(2).world(world).tail(Tail::Duplicate);
    let (first, mut second, mut rest) =
        (build(4).build().unwrap(), build(3).build().unwrap(), build(2).build().unwrap());
    let state = first.state(5).unwrap();
    second.resume(&state).unwrap();
    let state = second.state(4).unwrap();
    rest.resume(&state).unwrap();
    let path = folder.join("saved.json");
    fs::write(&path, serde_json::to_string(&value!({ "loop": [{ "samedeal": state }] })).unwrap()).unwrap();
    let (path, file) = (path.display(), file.display());
    let options = "--lengths --budget 300 --tail duplicate";
    let found = json(&format!("explain {path} --json"))["states"][0].clone();
    assert_eq!(found["history"][1]["world"], 3);
    assert_eq!((&found["history"][0]["steps"], &found["place"]), (&5.into(), &"loop.0.samedeal".into()));
    // By step: those of each world, and what is left, which goes on with the last one unless another is named.
    for (step, batcher, own, world) in [(4, &first, 4, 4), (5, &second, 0, 3), (8, &second, 3, 3), (9, &rest, 0, 2)] {
        let more = if step == 9 { "--world 2" } else { "" };
        let found = json(&format!("explain {path} {file} {options} {more} --step {step} --json"));
        assert_eq!(found["ranks"].as_array().unwrap().len(), world);
        assert_eq!(found["status"], if step < 9 { "seen" } else { "to come" });
        assert_eq!(found["step"], step);
        for (rank, part) in (0..).zip(found["ranks"].as_array().unwrap()) {
            assert_eq!(part["samples"], Value::from(batcher.batch_of(rank, own).unwrap().samples));
        }
    }
    // By sample: every one is somewhere, once.
    let all = (0..600).map(|sample| format!("--sample {sample}")).collect::<Vec<_>>().join(" ");
    let found = json(&format!("locate {file} {options} --resume {path} --world 2 {all} --json"));
    let mut worlds = BTreeMap::<u64, u32>::new();
    for (sample, found) in (0_u64..).zip(found["samples"].as_array().unwrap()) {
        let places = found["places"].as_array().unwrap();
        let real = places.iter().filter(|place| place["status"] != "padding").collect::<Vec<_>>();
        let [place] = real[..] else { panic!("{found}") };
        let number = |name: &str| place[name].as_u64().unwrap();
        *worlds.entry(number("world")).or_default() += 1;
        assert_eq!(found["status"], if number("world") == 2 { "to come" } else { "seen" });
        let (batcher, own) = match number("world") {
            4 => (&first, number("step")),
            3 => (&second, number("step") - 5),
            _ => (&rest, number("step")),
        };
        let batch = batcher.batch_of(number("rank") as u32, own).unwrap();
        assert_eq!(batch.rows().nth(number("row") as usize).unwrap()[number("slot") as usize], sample);
    }
    assert_eq!((worlds.len(), worlds.values().sum::<u32>()), (3, 600));
    // Other options are named, and no hash is.
    let (code, said) = failing(&format!("explain {path} {file} --lengths --budget 301 --tail duplicate --sample 1"));
    assert!(code == 2 && said.contains("of other options of batches") && said.contains("--budget"), "{said}");
    let (_, said) = failing(&format!("explain {path} --sample 1"));
    assert!(said.contains("--lengths"), "{said}");
    let (_, said) = failing(&format!("indices --samples 600 --resume {path}"));
    assert!(said.contains("name them with --lengths"), "{said}");
}

#[test]
fn a_state_of_other_files_says_what_may_differ() {
    let dataset = Dataset::write("explain-files");
    let folder = dataset.folder.display();
    let path = dataset.folder.join("state.json");
    let state = text(&format!("state {folder} --order sharded --lanes 8 --seed 5 --world 2 --taken 20"));
    fs::write(&path, &state).unwrap();
    let resume = format!("--resume {}", path.display());
    // Order and seed are those of the state.
    let found = json(&format!("indices {folder} --lanes 8 {resume} --json"));
    assert_eq!((&found["config"]["order"], &found["config"]["seed"]), (&"sharded".into(), &5.into()));
    assert_eq!(found["indices"].as_array().unwrap().len(), 90);
    let (code, said) = failing(&format!("indices {folder} --lanes 16 {resume}"));
    assert!(code == 2 && said.contains("of other files, or of other --lanes or --window"), "{said}");
    let print = serde_json::from_str::<Value>(&state).unwrap()["fingerprint"].as_str().unwrap().to_owned();
    assert!(!said.contains(&print[..8]), "{said}");
    let (_, said) = failing(&format!("indices {folder}/a.parquet --lanes 8 {resume}"));
    assert!(said.contains("there are 40 samples; allowed: 130, as in the state"), "{said}");
    let (_, said) = failing(&format!("explain {} --sample 1", path.display()));
    assert!(said.contains("the order is sharded, which is made of the files"), "{said}");
    // The file and the row of a sample.
    let found =
        json(&format!("explain {} {folder} --lanes 8 --sample 129 --json", path.display()))["samples"][0].clone();
    assert_eq!(found["row"], 8);
    assert!(found["file"].as_str().unwrap().ends_with("b/d.parquet"), "{found}");
    let found = json(&format!("locate {folder} --sample 129 --json"))["samples"][0].clone();
    assert_eq!(found["row"], 8);
    // With workers: replay and verify take them too, and what is left together with what was consumed is all there is.
    let found = json(&format!("verify {folder} --lanes 8 --world 2 --workers 2 --batch-size 4 {resume} --json"));
    assert_eq!((&found["passed"], &found["consumed"], &found["seen"]), (&true.into(), &40.into(), &90.into()));
    let deal = format!("{folder} --order sharded --world 2 --rank 1 --workers 2 --worker 1 --batch-size 4");
    let read = json(&format!("replay {deal} --json"));
    let own = json(&format!("batches {deal} --json"));
    let first = own["batches"].as_array().unwrap().iter().flat_map(|batch| batch.as_array().unwrap()).take(5);
    assert_eq!(read["first"], first.cloned().collect::<Value>());
}

#[test]
fn several_states_are_told_apart() {
    let folder = files::folder("explain-several");
    let path = folder.join("saved.json");
    let [one, other] =
        ["10", "20"].map(|taken| text(&format!("state --samples 100 --taken {taken}")).trim().to_owned());
    fs::write(&path, value!({ "a": { "samedeal": one }, "b": { "samedeal": other } }).to_string()).unwrap();
    let path = path.display();
    assert_eq!(json(&format!("explain {path} --json"))["states"].as_array().unwrap().len(), 2);
    for arguments in [format!("explain {path} --sample 1"), format!("indices --resume {path}")] {
        let (code, said) = failing(&arguments);
        assert!(code == 2 && said.contains("several states that differ") && said.contains("a.samedeal, b.samedeal"));
    }
    let sample = Sampler::new(100).unwrap().sample_at(15).unwrap();
    for (place, status) in [("a", "to come"), ("b", "seen")] {
        let found = json(&format!("explain {path} --place {place}.samedeal --sample {sample} --json"));
        assert_eq!(found["samples"][0]["status"], status);
    }
    assert!(failing(&format!("explain {path} --place c --sample 1")).1.contains("known: a.samedeal, b.samedeal"));
    for (contents, said) in [("{}", "holds no state of samedeal"), ("PK\u{3}\u{4}", "cannot be read as the archive")] {
        let broken = folder.join("broken");
        fs::write(&broken, contents).unwrap();
        let (code, found) = failing(&format!("explain {}", broken.display()));
        assert!(code == 2 && found.contains(said), "{found}");
    }
    assert!(failing(&format!("explain {}", folder.display())).1.contains("is a directory"));
    assert!(failing("explain no-such-file").1.contains("no-such-file"));
}
