//! The samples of a step on all ranks, and the places of samples in batches of different length.

use std::fs;
use std::path::PathBuf;

use samedeal::{Batcher, Sampler, Strategy, Tail, TooLong};
use serde_json::{Value, json as value};

use crate::files::{self, Dataset};
use crate::{columns, failing, json, one_step, text};

/// Lengths of 500 samples, and a file with these lengths.
fn lengths(test: &str) -> (Vec<u32>, PathBuf) {
    let lengths = (0..500_u32).map(|i| i * 7_919 % 101).collect::<Vec<_>>();
    let path = files::folder(&format!("steps-{test}")).join("lengths.json");
    fs::write(&path, serde_json::to_string(&lengths).unwrap()).unwrap();
    (lengths, path)
}

fn samples(found: &Value) -> Vec<Value> {
    found["ranks"].as_array().unwrap().iter().map(|rank| rank["samples"].clone()).collect()
}

#[test]
fn a_step_is_a_batch_of_every_rank() {
    let deal = "--samples 1000 --seed 7 --epoch 2 --world-size 3 --batch-size 32";
    let mut sampler = Sampler::builder(1000).seed(7).epoch(2).world_size(3).build().unwrap();
    for step in [0, 5, 10] {
        let found = one_step(&format!("step {step} {deal} --json"));
        assert_eq!((&found["epoch"], &found["step"], &found["num_steps"]), (&2.into(), &step.into(), &11.into()));
        for rank in 0..3 {
            sampler.set_rank(rank).unwrap();
            let batch = sampler.batch::<u64>(step, 32).unwrap();
            let padding = if step == 10 { sampler.num_padding() } else { 0 };
            let part = &found["ranks"][rank as usize];
            assert_eq!((&part["rank"], &part["num_padding"]), (&rank.into(), &padding.into()));
            assert_eq!(part["samples"], Value::from(batch));
        }
    }
    // Ranks 1 and 2 repeat a sample at the end of the epoch.
    let lines = text(&format!("step 10 {deal} --format text"));
    let last = lines.lines().filter(|line| line.ends_with("\tpadding")).collect::<Vec<_>>();
    assert_eq!(lines.lines().count(), 3 * 14);
    assert!(last.len() == 2 && last[0].starts_with("1\t13\t") && last[1].starts_with("2\t13\t"), "{lines}");
    assert!(text(&format!("step 10 {deal}")).contains("(the last is padding)"));
    assert!(text(&format!("step 10 {deal}")).contains("step 10 of the 11 of epoch 2, order"));
    let alone = one_step(&format!("step 5 {deal} --rank 1 --json"));
    assert_eq!(samples(&alone), samples(&one_step(&format!("step 5 {deal} --json")))[1..2]);
}

#[test]
fn a_step_and_places_of_its_samples_agree() {
    let dataset = Dataset::write("step-places");
    let path = dataset.folder.display();
    for deal in [
        "--order sharded --lanes 6 --shuffle-window 8 --world-size 3 --workers 2 --batch-size 4",
        "--world-size 3 --batch-size 4 --remainder uneven --layout contiguous",
        "--world-size 4 --batch-size 5 --remainder drop --drop-last",
    ] {
        let steps = one_step(&format!("step 0 {path} {deal} --json"))["num_steps"].as_u64().unwrap();
        // Each step takes a process, so only the first, the middle and the last step are tested.
        for step in [0, steps / 2, steps - 1] {
            let lines = text(&format!("step {step} {path} {deal} --format text"));
            let cells = lines.lines().map(|line| line.split('\t').collect::<Vec<_>>()).collect::<Vec<_>>();
            let worker = usize::from(deal.contains("--workers"));
            let asked = cells.iter().map(|cells| cells[2 + worker]).collect::<Vec<_>>().join(",");
            let found = json(&format!("locate {path} {deal} --sample {asked} --json"));
            for (cells, found) in cells.iter().zip(found["samples"].as_array().unwrap()) {
                let is_here = |place: &&Value| {
                    let told = [&place["rank"], &place["worker"], &place["batch"], &place["index_in_batch"]];
                    let own = if worker == 1 { Value::from(cells[1].parse::<u64>().unwrap()) } else { Value::Null };
                    let inner = cells[1 + worker].parse::<u64>().unwrap();
                    told == [&cells[0].parse::<u64>().unwrap().into(), &own, &step.into(), &inner.into()]
                };
                assert_eq!(found["places"].as_array().unwrap().iter().filter(is_here).count(), 1, "{deal}: {cells:?}");
            }
            assert!(!cells.is_empty(), "{deal}");
        }
        failing(&format!("step {steps} {path} {deal}"));
    }
}

/// A program gets the whole values in the files, with their types.
#[test]
fn columns_are_exact_and_typed() {
    let path = files::folder("step-columns").join("all.parquet");
    columns::write(&path);
    let deal = format!("{} --order sequential --batch-size 3", path.display());
    let expected = [
        ("int", value!([3, 0, i32::MAX])),
        ("beyond", value!([5, u64::MAX, 7])),
        ("negative", value!([5, 6, -7])),
        ("holes", value!([7, null, 9])),
        ("text", value!(["two words", "", " naïve\tdéjà  vu "])),
        ("bytes", value!([{ "base64": "AAAAAA==" }, { "base64": "////////////" }, { "base64": "" }])),
        ("double", value!([1.0, "NaN", 3.0])),
        ("time", value!(["1970-01-01T00:00:00.000001", "1970-01-01T00:00:01.500", "1969-12-31T23:59:59.999999"])),
        ("late", value!(["1970-01-01T00:00:00", "1970-01-02T00:00:00", i64::MAX])),
        ("legacy", value!([[1, 2], [], [3]])),
        ("tokens", value!([[1, null, 3], [], [null]])),
        ("nested", value!([[[1, 2], [], [3]], [], [[4, 5, 6, 7]]])),
        ("missing", value!([[1], null, [2]])),
        ("meta", value!([{ "length": 11, "name": "a" }, { "length": 12, "name": "b" }, { "length": 13, "name": "c" }])),
    ];
    let options = expected.iter().map(|(name, _)| format!("--column {name}")).collect::<Vec<_>>().join(" ");
    let held = one_step(&format!("step 0 {deal} {options} --json"))["ranks"][0]["contents"].clone();
    assert_eq!(held.as_object().unwrap().len(), expected.len());
    for (name, values) in &expected {
        assert_eq!(held[name], *values, "{name}");
    }
    // Text lines have the same values as JSON.
    let lines = text(&format!("step 0 {deal} {options} --format text"));
    for (row, line) in lines.lines().enumerate() {
        let cells = line.split('\t').skip(6).map(|cell| serde_json::from_str::<Value>(cell).unwrap());
        assert_eq!(
            cells.collect::<Vec<_>>(),
            expected.iter().map(|(_, values)| values[row].clone()).collect::<Vec<_>>()
        );
    }
    assert_eq!(lines.lines().count(), 3);
    // A table shows only the beginnings of values, and has a note that says so.
    let note = "Some values are shortened";
    assert!(text(&format!("step 0 {deal} --column text")).contains(note));
    assert!(!text(&format!("step 0 {deal} --column int")).contains(note));
    assert!(failing(&format!("step 0 {deal} --column old")).1.contains("holds what is not shown here"));
    assert!(failing(&format!("step 0 {deal} --column latin")).1.contains("cannot be read"));
}

#[test]
fn what_is_stored_is_shown() {
    let dataset = Dataset::write("step-stored");
    let path = dataset.folder.display();
    let deal = format!("{path} --world-size 2 --batch-size 3 --seed 5");
    let found = one_step(&format!("step 4 {deal} --column text --json"));
    let mut shown = 0;
    for rank in found["ranks"].as_array().unwrap() {
        for (inner, sample) in rank["samples"].as_array().unwrap().iter().enumerate() {
            let (file, row, text) = &dataset.rows[sample.as_u64().unwrap() as usize];
            assert!(rank["stored"][inner]["file"].as_str().unwrap().ends_with(file));
            assert_eq!(rank["stored"][inner]["row"], *row);
            assert_eq!(rank["contents"], value!({ "text": rank["contents"]["text"] }));
            assert_eq!(rank["contents"]["text"][inner], *text);
            shown += 1;
        }
    }
    assert_eq!(shown, 6);
    // These are columns of numbers and of lists, and missing values.
    let table = text(&format!("step 4 {deal} --column words"));
    assert!(table.contains("words") && table.contains("[\"") && table.contains("step 4 of the 22"), "{table}");
    let numbers = text(&format!("step 4 {deal} --column number --format text"));
    assert!(numbers.lines().all(|line| line.rsplit('\t').next().unwrap().parse::<u64>().is_ok()), "{numbers}");
    let notes = text(&format!("step 0 {path} --batch-size 2 --order sequential --column note --format text"));
    assert!(notes.lines().nth(1).unwrap().ends_with("\tnull"), "{notes}");
    assert!(failing(&format!("step 4 {deal} --column body")).1.contains("text, number, words, note"));
    assert!(failing("step 4 --samples 90 --batch-size 2 --column text").1.contains("--column is for samples"));
}

#[test]
fn steps_of_different_length_are_those_of_the_library_and_so_are_places() {
    let (lengths, path) = lengths("library");
    let builder = || Batcher::builder(lengths.clone()).seed(3).epoch(1).world_size(3).batch_window(64);
    for (options, batcher) in [
        ("--max-tokens 400", builder().max_tokens(400)),
        (
            "--strategy pack --capacity 60 --max-batch-size 4 --too-long split --tail duplicate",
            builder()
                .strategy(Strategy::Pack)
                .capacity(60)
                .max_batch_size(4)
                .too_long(TooLong::Split)
                .tail(Tail::Duplicate),
        ),
    ] {
        let batcher = batcher.build().unwrap();
        let asked =
            format!("{} --lengths --seed 3 --epoch 1 --world-size 3 --batch-window 64 {options}", path.display());
        let step = batcher.num_steps().unwrap() - 1;
        let found = one_step(&format!("step {step} {asked} --json"));
        let lines = text(&format!("step {step} {asked} --format text"));
        let (mut lines, mut here) = (lines.lines(), Vec::new());
        for rank in 0..3 {
            let batch = batcher.batch_of(rank, step).unwrap();
            let part = &found["ranks"][rank as usize];
            assert_eq!(
                (&part["samples"], &part["row_ends"]),
                (&batch.samples.clone().into(), &batch.row_ends.clone().into())
            );
            assert_eq!((&part["repeated"], &part["cost"]), (&batch.repeated.into(), &batch.cost.into()));
            for (row, samples) in batch.rows().enumerate() {
                for (inner, sample) in samples.iter().enumerate() {
                    let cells = lines.next().unwrap().split('\t').collect::<Vec<_>>();
                    let own = [rank.to_string(), row.to_string(), inner.to_string(), sample.to_string()];
                    assert_eq!(cells[..4], own.each_ref().map(String::as_str));
                    let is_repeated = row + batch.repeated as usize >= batch.row_ends.len();
                    assert_eq!(cells[6], if is_repeated { "repeated" } else { "" });
                    assert_eq!(cells[8], sample.to_string());
                    here.push((*sample, [step, rank.into(), row as u64, inner as u64]));
                }
            }
        }
        assert_eq!(lines.next(), None);
        // `locate` finds the same places.
        let asked_for = here.iter().map(|(sample, _)| sample.to_string()).collect::<Vec<_>>().join(",");
        let places = json(&format!("locate {asked} --sample {asked_for} --json"));
        for ((_, here), found) in here.iter().zip(places["samples"].as_array().unwrap()) {
            let told =
                |place: &Value| ["step", "rank", "row", "index_in_row"].map(|name| place[name].as_u64().unwrap());
            let places = found["places"].as_array().unwrap();
            assert_eq!(places.iter().filter(|place| told(place) == *here).count(), 1, "{found}");
        }
        let table = text(&format!("step {step} {asked}"));
        assert!(table.contains("padded length") && table.contains(&format!("step {step} of the")), "{table}");
    }
}

#[test]
fn places_in_batches_are_told_of_samples_that_have_none_too() {
    let (_, path) = lengths("places");
    let asked = format!("locate {} --lengths --max-tokens 400 --world-size 2", path.display());
    let dropped = format!("{asked} --max-length 50 --too-long drop --sample 1,2 --format text");
    let found = text(&dropped);
    let lines = found.lines().collect::<Vec<_>>();
    assert_eq!(lines.len(), 2);
    // The two samples have 41 and 83 tokens. One of them is dropped.
    assert!(!lines[0].contains("dropped") || !lines[1].contains("dropped"), "{found}");
    assert!(lines.iter().filter(|line| line.contains("\tdropped\t")).count() == 1, "{found}");
    assert!(lines.iter().all(|line| line.contains("lengths.json\t")), "{found}");
    assert!(text(&format!("{asked} --sample 1")).contains("epoch 0: "));
    assert_eq!(failing(&format!("{asked} --sample 500")).1, "error: --sample is 500; allowed: 0 to 499");
    assert!(failing(&format!("{asked} --sample 1 --batch-size 4")).1.contains("--max-batch-size 4"));
    assert!(failing(&format!("{asked} --sample 1 --workers 4")).1.contains("--workers has no meaning"));
}

#[test]
fn steps_are_counted_over_epochs_too() {
    // An epoch has 34 steps.
    let deal = "--samples 1000 --world-size 3 --batch-size 10 --seed 1";
    let global = one_step(&format!("step 173 {deal} --epoch 4 --global --json"));
    assert_eq!((&global["epoch"], &global["step"]), (&9.into(), &3.into()));
    assert_eq!(samples(&global), samples(&one_step(&format!("step 3 {deal} --epoch 9 --json"))));
    let (_, said) = failing(&format!("step 173 {deal} --epoch 4"));
    let told = "counted over epochs, it is step 3 of epoch 9: add --global";
    assert_eq!(said, format!("error: STEP is 173; allowed: 0 to 33 in epoch 4; {told}"));
    // The rest of the resumed epoch has fewer steps.
    let state = files::folder("step-states").join("state.json");
    fs::write(&state, text("state --samples 1000 --world-size 2 --seed 1 --epoch 4 --taken 350")).unwrap();
    let rest = format!("{deal} --resume {} --global --json", state.display());
    let found = one_step(&format!("step 9 {rest}"));
    assert_eq!((&found["epoch"], &found["num_steps"]), (&4.into(), &10.into()));
    let found = one_step(&format!("step 10 {rest}"));
    assert_eq!((&found["epoch"], &found["step"]), (&5.into(), &0.into()));
    assert_eq!(samples(&found), samples(&one_step(&format!("step 0 {deal} --epoch 5 --json"))));
    let shown = text(&rest.replace("--json", "").replace("--samples", "step 9 --samples"));
    assert!(shown.contains("step 9 of the 10 of what is left of epoch 4"), "{shown}");

    // If batches have different lengths, the numbers of steps of epochs differ.
    let (lengths, path) = lengths("global");
    let mut batcher = Batcher::builder(lengths).max_tokens(300).world_size(2).build().unwrap();
    let mut before = 0;
    for epoch in 0..3 {
        batcher.set_epoch(epoch).unwrap();
        let asked = format!("step {} {} --lengths --max-tokens 300 --world-size 2", before + 1, path.display());
        let found = one_step(&format!("{asked} --global --json"));
        assert_eq!((&found["epoch"], &found["step"]), (&epoch.into(), &1.into()));
        assert_eq!(samples(&found)[1], Value::from(batcher.batch_of(1, 1).unwrap().samples));
        before += batcher.num_steps().unwrap();
    }
}

#[test]
fn several_steps_are_those_one_by_one() {
    let dataset = Dataset::write("step-ranges");
    let (_, by_length) = lengths("ranges");
    let files = format!("{} --order sharded --workers 2 --world-size 2 --batch-size 3", dataset.folder.display());
    let by_length = format!("{} --lengths --max-tokens 300 --world-size 2", by_length.display());
    // An epoch of the first deal has 34 steps; epochs of the others have fewer than 100.
    let numbers = "--samples 1000 --world-size 3 --batch-size 10".to_owned();
    for deal in [&numbers, &files, &by_length] {
        for (range, steps, global) in [("3..6", 3..6, ""), ("5..=5", 5..6, ""), ("0..=99", 0..100, "--global")] {
            let deal = format!("{deal} {global}");
            let found = json(&format!("step {range} {deal} --json"));
            let one_by_one = steps.clone().map(|step| one_step(&format!("step {step} {deal} --json")));
            assert_eq!(found, serde_json::json!({ "steps": one_by_one.collect::<Vec<_>>() }), "{range} {deal}");
            // A line begins with the global step, or with the epoch and the step within it.
            let lines = steps.zip(found["steps"].as_array().unwrap()).flat_map(|(step, answer)| {
                let lead = match global {
                    "" => answer["step"].to_string(),
                    _ => format!("{}\t{}", answer["epoch"], answer["step"]),
                };
                let lines = text(&format!("step {step} {deal} --format text"));
                lines.lines().map(|line| format!("{lead}\t{line}\n")).collect::<Vec<_>>()
            });
            assert_eq!(text(&format!("step {range} {deal} --format text")), lines.collect::<String>());
        }
    }
    let table = text(&format!("step 3..=5 {numbers}"));
    assert!(table.contains("│ step ┆ rank ┆") && table.contains("steps 3 to 5 of the 34 of epoch 0, order"), "{table}");
    assert!(table.contains("90 samples on 3 ranks"), "{table}");
    let table = text(&format!("step 33..35 {numbers} --global"));
    assert!(table.contains("step 33 of epoch 0 to step 0 of epoch 1, order"), "{table}");
    for (range, said) in [
        ("6..6", "the range is empty; allowed: A..B for A to B - 1, or A..=B for A to B, such as 1200..1210"),
        ("6..=5", "the range is empty; allowed: A..B for A to B - 1, or A..=B for A to B, such as 1200..1210"),
        ("..5", "allowed: A..B for A to B - 1, or A..=B for A to B, such as 1200..1210"),
        ("0..1e6", "the range is too long; allowed: up to 65536 numbers at once"),
    ] {
        let (code, told) = failing(&format!("step {range} {numbers}"));
        assert_eq!((code, &*told), (2, &*format!("error: invalid value '{range}' for '<STEP|RANGE>': {said}")));
    }
    let hint = "counted over epochs, it is step 0 of epoch 1: add --global";
    let (_, said) = failing(&format!("step 30..35 {numbers}"));
    assert_eq!(said, format!("error: STEP is 34; allowed: 0 to 33 in epoch 0; {hint}"));
    let (_, said) = failing("step 0..10_000 --samples 1e9 --world-size 2 --batch-size 1000");
    let allowed = "allowed at once: 0..2097, or fewer ranks (--rank)";
    assert_eq!(said, format!("error: STEP is 0..=9999, more than 4,194,304 samples; {allowed}"));
}

#[test]
fn samples_are_found_in_several_epochs() {
    let (_, by_length) = lengths("locate-ranges");
    let by_length = format!("locate {} --lengths --max-tokens 300 --world-size 2 --sample 3,4", by_length.display());
    // In a contiguous layout, a sample is padding only in some epochs.
    let numbers = "locate --samples 1001 --world-size 8 --batch-size 32 --sample 9,31,7".to_owned();
    for asked in [&numbers, &by_length] {
        let found = json(&format!("{asked} --epoch 2..5 --json"));
        let one_by_one = (2..5).map(|epoch| json(&format!("{asked} --epoch {epoch} --json"))).collect::<Vec<_>>();
        let one_by_one = one_by_one.iter().map(|answer| answer["samples"].as_array().unwrap());
        assert!(one_by_one.clone().zip(2..).all(|(all, epoch)| all.iter().all(|one| one["epoch"] == epoch)));
        assert_eq!(found, serde_json::json!({ "samples": one_by_one.flatten().collect::<Vec<_>>() }), "{asked}");
        let lines = (2..5).flat_map(|epoch| {
            let lines = text(&format!("{asked} --epoch {epoch} --format text"));
            lines.lines().map(|line| format!("{epoch}\t{line}\n")).collect::<Vec<_>>()
        });
        assert_eq!(text(&format!("{asked} --epoch 2..=4 --format text")), lines.collect::<String>());
    }
    assert!(text(&format!("{numbers} --epoch 2..4")).contains("│ epoch ┆ sample ┆"));
    assert!(text(&format!("{by_length} --epoch 2..4")).contains("epoch 3: "));
    let (_, said) = failing(&format!("{numbers} --epoch 4..2"));
    assert!(said.contains("the range is empty"), "{said}");
    let (_, said) = failing("indices --samples 9 --epoch 0..2");
    assert_eq!(said, "error: --epoch is 0..=1; allowed here: one epoch; locate takes several");
}

#[test]
fn steps_that_are_not_there_are_refused() {
    for (arguments, said) in [
        ("step 1 --samples 10 --batch-size 5 --world-size 2 --rank 2", "error: --rank is 2; allowed: 0 to 1"),
        ("step 0 --samples 0 --batch-size 5", "error: STEP is 0; allowed: nothing, epoch 0 has no batches"),
        (
            "step 0 --samples 0 --batch-size 5 --global",
            "error: STEP is 0; the epochs 0 to 1 have fewer steps: name a later --epoch",
        ),
        (
            "step 9 --samples 10 --batch-size 5 --epoch 18446744073709551615",
            "error: STEP is 9; allowed: 0 to 1 in epoch 18446744073709551615",
        ),
        ("step 0 --samples 10 --batch-size 5 --world-size 0", "error: --world-size is 0; allowed: 1 to 4294967295"),
        (
            "step 0 --samples 10 --batch-size 5 --world-size 4294967295",
            "error: --world-size is 4294967295, too many ranks to show; name one with --rank",
        ),
    ] {
        assert_eq!(failing(arguments), (2, said.to_owned()));
    }
    let alone = one_step("step 0 --samples 10 --batch-size 5 --world-size 4294967295 --rank 4294967294 --json");
    assert_eq!(samples(&alone)[0].as_array().unwrap().len(), 1);
    assert!(failing("step x --samples 10 --batch-size 5").1.contains("'<STEP|RANGE>': allowed: 0 to"));
}

/// A recipe still deals the same samples after `jq .` or `JSON.parse` and `stringify` wrote it. These tools round
/// numbers beyond 2^53 - 1.
#[test]
fn a_recipe_that_a_tool_wrote_deals_the_same() {
    fn rounded(value: Value) -> Value {
        match value {
            Value::Number(number) => Value::from(number.as_f64().unwrap() as i64),
            Value::Array(items) => items.into_iter().map(rounded).collect(),
            Value::Object(members) => members.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
            value => value,
        }
    }
    let folder = files::folder("steps-tools");
    let [path, other] = ["recipe.json", "other.json"].map(|name| folder.join(name));
    for options in ["--samples 1000 --seed 9007199254740993", "--samples 1000 --seed -9223372036854775808"] {
        text(&format!("recipe {options} -o {}", path.display()));
        let recipe: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        fs::write(&other, serde_json::to_string_pretty(&rounded(recipe)).unwrap()).unwrap();
        let deals = [&path, &other].map(|path| text(&format!("indices --recipe {} --count 20", path.display())));
        assert_eq!(deals[0], deals[1]);
        // A number that a tool may have rounded is refused.
        let text = fs::read_to_string(&path).unwrap();
        let seed = options.rsplit(' ').next().unwrap();
        fs::write(&other, text.replace(&format!("\"{seed}\""), seed)).unwrap();
        let (code, told) = failing(&format!("indices --recipe {}", other.display()));
        assert!(code == 2 && told.contains("in quotes, because JSON tools round such numbers"), "{told}");
    }
}

#[test]
fn epochs_bound_a_schedule() {
    let found = json("steps --samples 1003 --global-batch-size 64 --max-epochs 1 --json");
    assert_eq!(found["num_steps"], 15, "{found}");
    let (_, told) = failing("steps --samples 1003 --global-batch-size 64 --max-epochs 1 --step 15");
    assert!(told.contains("15"), "{told}");
}
