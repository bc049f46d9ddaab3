//! `samedeal steps`: steps over epochs.

use std::fs;

use samedeal::{Order, Schedule, Source};
use serde_json::{Value, json as value};

use crate::files::{Dataset, folder};
use crate::{failing, json, refuses, run, text};

const STEPS: &str = "--samples 1000 --seed 42 --world-size 4 --global-batch-size 32 --global-batch-size 64@10 --global-batch-size 16@20";

fn schedule() -> Schedule {
    Schedule::builder(1_000, 32).stages([(10, 64), (20, 16)]).seed(42).world_size(4).build().unwrap()
}

#[test]
fn steps_are_those_of_the_library() {
    let schedule = schedule();
    let found = json(&format!("steps {STEPS} --at 5 --at 100 --json"));
    assert_eq!(found["recipe"], serde_json::from_str::<Value>(&schedule.recipe().unwrap()).unwrap());
    assert_eq!(found["num_steps"], schedule.num_steps());
    let steps = found["steps"].as_array().unwrap();
    for row in steps {
        let step = row["step"].as_u64().unwrap();
        let place = schedule.place_of(step).unwrap();
        assert_eq!(row["global_batch_size"], schedule.global_batch_size(step).unwrap());
        assert_eq!(row["samples_consumed"], schedule.samples_consumed(step).unwrap());
        assert_eq!((&row["epoch"], &row["position"]), (&place.epoch.into(), &place.position.into()));
    }
    let shown = steps.iter().map(|row| row["step"].as_u64().unwrap()).collect::<Vec<_>>();
    let begins = |epoch| schedule.step_of(epoch, 0).unwrap();
    assert_eq!(shown, [0, 5, 10, 20, begins(1), begins(2), 100, begins(3)]);
    assert_eq!((&steps[2]["why"], &steps[2]["global_batch_size"]), (&value!(["global_batch_size"]), &64.into()));
    assert_eq!((&steps[4]["why"], &steps[4]["begins"]), (&value!(["epoch"]), &value!([1])));

    let taken = json(&format!("steps {STEPS} --step 17 --json"));
    for rank in 0..4 {
        let batch = schedule.at_rank(rank).unwrap().batch(17).unwrap();
        assert_eq!(taken["ranks"][rank as usize]["samples"], Value::from(batch));
    }
    let one = json(&format!("steps {STEPS} --step 17 --rank 2 --json"));
    assert_eq!(one["ranks"], value!([taken["ranks"][2]]));

    let (sample, mut step) = (77, 0);
    let places = json(&format!("steps {STEPS} --locate {sample} --times 3 --json"))["samples"][0]["places"].clone();
    assert_eq!(places.as_array().unwrap().len(), 3);
    for found in places.as_array().unwrap() {
        let place = schedule.locate(sample, step).unwrap().unwrap();
        let expected = value!({
            "samples_consumed": place.samples_consumed, "epoch": place.epoch, "position": place.position, "step": place.step,
            "rank": place.rank, "index_in_batch": place.index_in_batch,
        });
        assert_eq!(found, &expected);
        step = place.step + 1;
    }
}

#[test]
fn tables_and_lines() {
    let shown = text(&format!("steps {STEPS}"));
    assert!(shown.contains("the first step") && shown.contains("batch size 64"), "{shown}");
    assert!(shown.contains("4 ranks, 1,000 samples, order feistel, seed 42; up to "), "{shown}");
    let lines = text(&format!("steps {STEPS} --epochs 0 --format text"));
    assert_eq!(
        lines,
        "0\tthe first step\t32\t0\t0\t0\n10\tbatch size 64\t64\t320\t0\t320\n20\tbatch size 16\t16\t960\t0\t960\n"
    );
    let shown = text(&format!("steps {STEPS} --step 20"));
    assert!(shown.contains("step 20: 16 samples from position 960 of epoch 0 on; 4 ranks"), "{shown}");
    let lines = text(&format!("steps {STEPS} --step 20 --format text"));
    assert_eq!(lines.lines().count(), 16);
    assert!(lines.starts_with("0\t0\t"), "{lines}");
    let shown = text(&format!("steps {STEPS} --locate 5 --from 3"));
    assert!(
        shown.contains("index in batch")
            && shown.ends_with("from step 3 on; 4 ranks, 1,000 samples, order feistel, seed 42\n")
    );
    // Two epochs begin within a step.
    let shown = text("steps --samples 10 --global-batch-size 25 --format text");
    assert_eq!(shown.lines().next(), Some("0\tthe first step; epoch 1 begins; epoch 2 begins\t25\t0\t0\t0"));
}

#[test]
fn a_sample_that_no_epoch_has_is_never_seen() {
    let path = folder("steps-never").join("run.json");
    let order = Order::new("feistel", 100).exclude([7]);
    fs::write(&path, Schedule::from_order(order, 11).build().unwrap().recipe().unwrap()).unwrap();
    let found = json(&format!("steps --recipe {} --locate 7,8 --json", path.display()));
    assert_eq!(found["samples"][0]["places"], value!([]));
    assert_eq!(found["samples"][1]["places"].as_array().unwrap().len(), 1);
    assert!(text(&format!("steps --recipe {} --locate 7 --format text", path.display())).starts_with("7\tnever\t"));
}

#[test]
fn files_are_named() {
    let dataset = Dataset::write("steps-files");
    let path = dataset.folder.display();
    let found = json(&format!("steps {path} --global-batch-size 8 --seed 5 --step 40 --column text --json"));
    let rows = dataset.rows.len() as u64;
    let schedule = Schedule::builder(rows, 8).seed(5).build().unwrap();
    let batch = schedule.batch(40).unwrap();
    assert_eq!(found["ranks"][0]["samples"], Value::from(batch.clone()));
    let (file, row, _) = &dataset.rows[batch[0] as usize];
    let stored = &found["ranks"][0]["stored"][0];
    assert!(stored["file"].as_str().unwrap().ends_with(file) && stored["row"] == *row, "{stored}");
    assert!(found["ranks"][0]["contents"]["text"][0].as_str().unwrap().starts_with(file.as_str()));
    let shown = text(&format!("steps {path} --global-batch-size 8 --seed 5 --step 40 --column text"));
    assert!(shown.contains("naïve") && shown.contains(file), "{shown}");
    // The order `sharded` works in the same way, by options and by a recipe that has the sizes of the files.
    let deal = "--order sharded --lanes 4 --shuffle-window 16 --seed 5 --global-batch-size 8 --world-size 2";
    let recipe = dataset.folder.join("run.json");
    text(&format!("steps {path} {deal} --recipe-out {}", recipe.display()));
    let by_options = text(&format!("steps {path} {deal} --step 3 --format text"));
    assert_eq!(text(&format!("steps {path} --recipe {} --step 3 --format text", recipe.display())), by_options);
    let bare = text(&format!("steps --recipe {} --step 3 --format text", recipe.display()));
    assert!(by_options.lines().zip(bare.lines()).all(|(named, bare)| named.starts_with(bare)), "{bare}");
    let (_, said) = failing(&format!("steps {path}/b --recipe {}", recipe.display()));
    assert!(said.contains("run.json: sizes is "), "{said}");
    let (_, said) = failing(&format!("steps --samples 9 {deal}"));
    assert!(said.contains("needs samples that are stored in files"), "{said}");
}

#[test]
fn states_go_on() {
    let folder = folder("steps-states");
    let state = folder.join("state.json");
    text(&format!("steps {STEPS} --state 15 --output {}", state.display()));
    assert_eq!(fs::read_to_string(&state).unwrap().trim(), schedule().state(15).unwrap());
    assert_eq!(text(&format!("steps {STEPS} --state 15")).trim(), schedule().state(15).unwrap());
    let resume = format!("--resume {}", state.display());
    // A state is resumed alone, with the options of its run, with another number of ranks, and with other sizes of
    // later steps.
    let found = json(&format!("steps {resume} --world-size 2 --json"));
    assert_eq!((&found["resumed_at"], &found["steps"][0]["step"]), (&15.into(), &15.into()));
    assert_eq!(found["steps"][0]["why"], value!(["resumed"]));
    assert_eq!(found["steps"][1]["step"], 20);
    assert_eq!(json(&format!("steps {STEPS} {resume} --json"))["resumed_at"], 15);
    let later = json(&format!(
        "steps {resume} --global-batch-size 32 --global-batch-size 64@10 --global-batch-size 256@18 --json"
    ));
    assert_eq!((&later["steps"][1]["step"], &later["steps"][1]["global_batch_size"]), (&18.into(), &256.into()));
    let two = schedule().to_builder().unwrap().rank(1).world_size(2).build().unwrap();
    let taken = json(&format!("steps {resume} --world-size 2 --step 15 --json"));
    assert_eq!(taken["ranks"][1]["samples"], Value::from(two.batch(15).unwrap()));
    let place = json(&format!("steps {resume} --locate 3 --json"))["samples"][0]["places"][0].clone();
    assert!(place["step"].as_u64().unwrap() >= 15, "{place}");
    // Options that contradict the state are refused.
    refuses(&format!("steps {resume} --global-batch-size 16"), "state.json: --global-batch-size is 16; allowed: ");
    let (_, said) = failing(&format!("steps {} {resume}", STEPS.replace("42", "43")));
    assert!(said.contains("state.json: --seed is 43; allowed: "), "{said}");
    // Options that are not given do not ask for their defaults: with `--samples`, batch sizes and the seed still come
    // from the state.
    assert_eq!(text(&format!("steps {resume} --samples 1000 --order feistel")), text(&format!("steps {resume}")));
    for (option, allowed) in [
        ("--samples 999", "there are 999 samples; allowed: 1000, as in the state"),
        ("--order torch", "--order is torch; allowed: feistel, as in the state"),
        ("--samples 1000 --global-batch-size 16", "--global-batch-size is 16; allowed: 32, as in the state"),
    ] {
        refuses(&format!("steps {resume} {option}"), &format!("state.json: {allowed}"));
    }
    // Other commands refuse this state, and `steps` refuses states of any other kind.
    for other in ["indices --samples 1000", "verify --samples 1000", "indices"] {
        let (_, said) = failing(&format!("{other} {resume}"));
        assert!(said.ends_with("the state of steps over epochs; `samedeal steps --resume` continues it"), "{said}");
    }
    fs::write(&state, text("state --samples 1000 --taken 5")).unwrap();
    let (_, said) = failing(&format!("steps {resume}"));
    assert!(
        said.ends_with("the state of a sampler; `samedeal steps` resumes the states that its --state prints"),
        "{said}"
    );
}

#[test]
fn recipes_are_written_and_read() {
    let folder = folder("steps-recipes");
    let path = folder.join("run.json");
    assert_eq!(text(&format!("steps {STEPS} --recipe-out {}", path.display())), "");
    assert_eq!(fs::read_to_string(&path).unwrap().trim(), schedule().recipe().unwrap());
    assert_eq!(text(&format!("steps {STEPS} --recipe-out -")).trim(), schedule().recipe().unwrap());
    let recipe = format!("--recipe {}", path.display());
    assert_eq!(text(&format!("steps {recipe}")), text(&format!("steps {STEPS}")));
    // The list of this blend is so long that it comes beside the recipe.
    let kept = (0..300).map(|index| 3 * index).collect::<Vec<u64>>();
    let web = Order::new("feistel", 1_000).subset(kept.clone());
    let blend = Order::blend([Source::new("web", web, 7), Source::new("books", 50, 3)]).samples(400);
    let schedule = Schedule::from_order(blend, 40).build().unwrap();
    fs::write(&path, schedule.recipe().unwrap()).unwrap();
    let (_, said) = failing(&format!("steps {recipe}"));
    assert!(said.contains("indices is missing") && said.contains("name the numbers with --list PATH=FILE"), "{said}");
    let list = folder.join("kept.json");
    fs::write(&list, serde_json::to_string(&kept).unwrap()).unwrap();
    let found = json(&format!("steps {recipe} --list sources/web/indices={} --step 9 --json", list.display()));
    assert_eq!(found["ranks"][0]["samples"], Value::from(schedule.batch(9).unwrap()));
    // A recipe of a sampler has no steps, and a recipe of steps is only for this command.
    fs::write(&path, r#"{"order": {"samples": 9}}"#).unwrap();
    assert!(failing(&format!("steps {recipe}")).1.contains("run.json: steps is missing"));
    fs::write(&path, r#"{"order": {"samples": 9}, "steps": {"global_batch_size": 3}}"#).unwrap();
    let (_, said) = failing(&format!("indices {recipe}"));
    assert!(said.ends_with("the recipe is of steps over epochs; `samedeal steps` takes it"), "{said}");
}

#[test]
fn refusals_say_what_to_do_next() {
    for (arguments, words) in [
        ("steps --samples 9", "--global-batch-size is missing; needed: the samples that all ranks together take"),
        ("steps --samples 9 --global-batch-size 4@3", "--global-batch-size is missing"),
        (
            "steps --samples 9 --global-batch-size 4 --global-batch-size 8",
            "say from which step on, such as --global-batch-size 8@1000",
        ),
        (
            "steps --samples 9 --global-batch-size 4 --global-batch-size 8@5 --global-batch-size 4@5",
            "--global-batch-size SIZE@STEP: stages[1].from is 5",
        ),
        ("steps --samples 9 --global-batch-size 4 --world-size 3", "--global-batch-size is 4; allowed: "),
        ("steps --samples 9 --global-batch-size 4 --unit 3", "--global-batch-size is 4; allowed: "),
        ("steps --samples 9 --global-batch-size x", "such as 512@1000"),
        ("steps --samples 0 --global-batch-size 4", "--samples is 0; allowed: "),
        ("steps --global-batch-size 4", "the samples are missing; needed: a PATH"),
        (
            "steps --samples 9 --global-batch-size 4 --step 3 --rank 1",
            "--rank is 1; allowed: 0 to 0, as --world-size is 1",
        ),
        ("steps --samples 9 --global-batch-size 4 --step 9e15", "--step is 9000000000000000; allowed: 0 to "),
        ("steps --samples 9 --global-batch-size 4 --at 9e15", "--at is 9000000000000000; allowed: 0 to "),
        ("steps --samples 9 --global-batch-size 4 --state 9e15", "--step is 9000000000000000; allowed: 0 to "),
        ("steps --samples 9 --global-batch-size 4 --locate 9", "--locate is 9; allowed: 0 to 8"),
        (
            "steps --samples 9 --global-batch-size 4 --locate 1 --from 9e15",
            "--from is 9000000000000000; allowed: 0 to ",
        ),
        ("steps --samples 9 --global-batch-size 4 --rank 0", "--step <STEP>"),
        ("steps --samples 9 --global-batch-size 4 --step 1 --locate 1", "cannot be used with"),
        (
            "steps --samples 9 --global-batch-size 131072 --world-size 131072 --step 0",
            "too many ranks to show; name one with --rank",
        ),
        ("steps --samples 9 --global-batch-size 4 --order blend", "recipe"),
        (
            "steps --samples 9 --global-batch-size 4 --column text --step 0",
            "--column is for samples that are stored in files",
        ),
    ] {
        // The message of a missing argument names it in a later line.
        let output = run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments}: {said}");
    }
}
