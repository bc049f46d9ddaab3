//! Tests that run the command as a process, on numbers and on Parquet files that they write.

mod answers;
mod batches;
mod blends;
mod columns;
mod explain;
mod files;
mod folders;
mod formats;
mod hostile;
mod index;
mod ledger;
mod lengths;
mod over_epochs;
mod plans;
mod readings;
mod recipes;
mod schemas;
mod signals;
mod splits;
mod states;
mod steps;
mod units;
mod workers;

use std::path::Path;
use std::process::{Command, Output};

use files::Dataset;
use samedeal::{BatchSize, Sampler};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_samedeal"));
    command.args(arguments.split_whitespace()).env_remove("COLUMNS");
    command
}

fn run(arguments: &str) -> Output {
    command(arguments).output().unwrap()
}

#[track_caller]
fn text(arguments: &str) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn json(arguments: &str) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

/// The answer for a single step.
#[track_caller]
fn one_step(arguments: &str) -> Value {
    let found = json(arguments)["steps"].take();
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{arguments}: {found}");
    found[0].clone()
}

/// The exit code and the first line of the message of a command that fails.
#[track_caller]
fn failing(arguments: &str) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{arguments}: {}", String::from_utf8_lossy(&output.stdout));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
    (output.status.code().unwrap(), said.lines().next().unwrap_or_default().to_owned())
}

/// Checks that a command fails with exit code 2, as for wrong arguments, and that the first line of its message has
/// these words.
#[track_caller]
fn refuses(arguments: &str, words: &str) {
    let (code, said) = failing(arguments);
    assert!(code == 2 && said.contains(words), "{arguments}: {said}");
}

#[test]
fn numbers_are_those_of_the_library() {
    let sampler = Sampler::builder(100_000).seed(-3).epoch(2).order("torch").rank(1).world_size(3).build().unwrap();
    let deal = "--samples 1e5 --seed -3 --epoch 2 --order torch --rank 1 --world-size 3";
    let all: Vec<u64> = sampler.indices(..).unwrap();
    let lines = text(&format!("indices {deal} --all --format text"));
    assert!(lines.lines().map(|line| line.parse::<u64>().unwrap()).eq(all.iter().copied()));
    assert_eq!(json(&format!("indices {deal} --start 7 --count 3 --format json"))["indices"], Value::from(&all[7..10]));
    let batches = json(&format!("batches {deal} --batch-size 32 --start 5 --count 2 --format json"));
    assert_eq!(batches["batches"], Value::from([&all[160..192], &all[192..224]].map(Value::from).to_vec()));
    let print = json(&format!("fingerprint {deal} --json"));
    assert_eq!(print["fingerprint"], sampler.fingerprint().unwrap());
    assert_eq!(print["config_fingerprint"], sampler.config_fingerprint().unwrap());
    assert_eq!(print["recipe"]["order"]["seed"], -3);
    let place = sampler.locate(all[40], 32).unwrap().unwrap();
    let found = json(&format!("locate {deal} --batch-size 32 --sample {} --json", all[40]).replace("--rank 1", ""));
    assert_eq!(found["samples"][0]["places"][0]["position"], place.position);
    assert_eq!(
        (&found["samples"][0]["places"][0]["batch"], &found["samples"][0]["places"][0]["index_in_batch"]),
        (&1.into(), &8.into())
    );
}

#[test]
fn a_table_shows_a_window_and_how_to_see_more() {
    let shown = text("indices --samples 1e12");
    assert_eq!(shown.lines().count(), 3 + 20 + 1 + 1);
    assert!(shown.contains("20 of the 1,000,000,000,000 samples") && shown.contains("--all"));
    let padded = text("indices --samples 5 --world-size 4 --rank 3");
    assert!(padded.contains("(padding)") && !padded.contains("--all"));
}

#[test]
fn verify_accepts_every_deal() {
    for remainder in ["drop", "pad", "uneven"] {
        for layout in ["strided", "contiguous"] {
            for (samples, world) in [(0, 3), (1, 1), (3, 8), (1000, 7), (70_000, 4)] {
                let deal =
                    format!("--samples {samples} --world-size {world} --remainder {remainder} --layout {layout}");
                let found = json(&format!("verify {deal} --json"));
                // Without a batch size, steps are not checked.
                assert_eq!(found["passed"], Value::Null, "{deal}: {found}");
                let dropped = if remainder == "drop" { samples % world } else { 0 };
                assert_eq!(found["dropped"], dropped, "{deal}");
                assert_eq!(found["seen"], samples - dropped, "{deal}");
                let padding = if remainder == "pad" { (world - samples % world) % world } else { 0 };
                assert_eq!(found["num_padding"], padding, "{deal}");
            }
        }
    }
}

#[test]
fn verify_fails_on_unequal_steps() {
    let output = run("verify --samples 9 --world-size 2 --remainder uneven --batch-size 4");
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("FAILED") && shown.contains("1 rank with 1 batch, 1 rank with 2 batches"), "{shown}");
    assert_eq!(
        json("verify --samples 9 --world-size 2 --remainder uneven --batch-size 4 --drop-last --json")["passed"],
        true
    );
}

#[test]
fn verify_counts_what_the_full_batches_hold() {
    for deal in [
        "--samples 1000 --world-size 8 --batch-size 32",
        "--samples 1001 --world-size 8 --batch-size 32 --remainder drop",
        "--samples 1001 --world-size 8 --batch-size 21",
        "--samples 9 --world-size 2 --batch-size 4 --remainder uneven",
        "--samples 5 --world-size 2 --batch-size 10",
        // Here, some samples are left out at their first place, and then seen as padding.
        "--samples 17 --world-size 8 --batch-size 2 --layout contiguous",
    ] {
        let world: u32 = deal.split(' ').nth(3).unwrap().parse().unwrap();
        let mut seen = Vec::new();
        for rank in 0..world {
            let found = json(&format!("batches {deal} --drop-last --rank {rank} --all --json"));
            let batches = found["batches"].as_array().unwrap();
            seen.extend(batches.iter().flat_map(|batch| batch.as_array().unwrap()).map(|it| it.as_u64().unwrap()));
        }
        let held = seen.len() as u64;
        seen.sort_unstable();
        seen.dedup();
        let found = json(&format!("verify {deal} --drop-last --json"));
        let number = |name: &str| found[name].as_u64().unwrap();
        assert_eq!(found["passed"], true, "{deal}: {found}");
        assert_eq!((number("seen"), number("num_padding")), (seen.len() as u64, held - seen.len() as u64), "{deal}");
        assert_eq!(number("seen") + number("dropped") + number("left_out"), number("dataset_size"), "{deal}");
        // The exit code does not matter, because it also tells whether the steps are equal.
        let all: Value = serde_json::from_slice(&run(&format!("verify {deal} --json")).stdout).unwrap();
        assert_eq!(all["left_out"], 0, "{deal}");
    }
    let said = "covering    ┆ ok     ┆ 768 of 1,000 samples seen; 0 dropped, expected 0; 232 left out by --drop-last ";
    let asked = "verify --samples 1000 --world-size 8 --batch-size 32 --drop-last";
    assert!(text(asked).contains(said), "{}", text(asked));
    let found =
        serde_json::json!({ "seen": 768, "of": 1000, "dropped": 0, "expected_dropped": [0, 0], "left_out": 232 });
    assert_eq!(
        json(&format!("{asked} --json"))["checks"][1],
        serde_json::json!({ "name": "covering", "passed": true, "found": found })
    );
    assert!(text(&format!("{asked} --format text")).contains(&format!("\ncovering\tok\t{found}\n")));
}

#[test]
fn verify_says_what_it_did_not_check() {
    let found = text("verify --samples 9 --world-size 2 --format text");
    assert!(found.ends_with("\nequal steps\tnot checked\tnull\n"), "{found}");
    assert!(text("verify --samples 9 --world-size 2").contains("not checked ┆ --batch-size N checks them"));
    let found = json("verify --samples 9 --world-size 2 --json");
    assert_eq!((&found["passed"], &found["steps"]), (&Value::Null, &Value::Null));
    let passed = found["checks"].as_array().unwrap().iter().map(|check| check["passed"].clone()).collect::<Value>();
    assert_eq!(passed, serde_json::json!([true, true, true, true, null]));
    // In JSON, these facts are numbers and not sentences.
    let found = json("verify --samples 9000 --world-size 2 --batch-size 4 --json");
    assert_eq!(found["checks"][3]["found"], serde_json::json!({ "ranks": [{ "count": 2, "samples": 4500 }] }));
    assert_eq!(found["checks"][4]["found"], serde_json::json!({ "ranks": [{ "count": 2, "batches": 1125 }] }));
    assert_eq!(found["passed"], true);
}

#[test]
fn locate_knows_what_no_batch_holds() {
    let deal = "--samples 11 --world-size 2 --remainder uneven --order sequential --batch-size 3 --sample 8,9,10";
    let batches = |found: Value| {
        let places = found["samples"].as_array().unwrap().iter().map(|sample| sample["places"][0].clone());
        places.map(|place| (place["batch"].as_u64(), place["index_in_batch"].as_u64())).collect::<Vec<_>>()
    };
    let all = [(Some(1), Some(1)), (Some(1), Some(1)), (Some(1), Some(2))];
    assert_eq!(batches(json(&format!("locate {deal} --json"))), all);
    // Rank 0 has two full batches; rank 1 has a full one and a partial one.
    let full = [all[0], (None, None), all[2]];
    assert_eq!(batches(json(&format!("locate {deal} --drop-last --json"))), full);
    let found = text(&format!("locate {deal} --drop-last --format text"));
    assert_eq!(found.lines().nth(1), Some("9\tdropped\t9\t1\t4\tleft out\t\t0"));
    assert!(text(&format!("locate {deal} --drop-last")).contains("left out: in no batch"));
}

#[test]
fn locate_names_what_it_assumed() {
    let last = |arguments: &str| text(arguments).lines().last().unwrap_or_default().to_owned();
    let of = "2 ranks, 1,100 samples, order";
    assert_eq!(last("locate --samples 1100 --world-size 2 --sample 8"), format!("epoch 0, {of} feistel, seed 0"));
    let deal = "--samples 1100 --world-size 2 --order torch --seed 5 --sample 8 --epoch 1..3";
    assert_eq!(last(&format!("locate {deal}")), format!("epochs 1 to 2, {of} torch, seed 5"));
    let dataset = Dataset::write("located");
    let folder = dataset.folder.display();
    assert!(last(&format!("locate {folder} --sample 8")).contains("add --order sharded, its --seed"));
    let shown = last(&format!("locate {folder} --order sharded --seed 3 --sample 8"));
    assert_eq!(shown, "epoch 0, 1 rank, 130 samples, order sharded, seed 3");
}

#[test]
fn files_are_laid_end_to_end_in_the_order_of_their_paths() {
    let dataset = Dataset::write("laid");
    let path = dataset.folder.display();
    let shown = text(&format!("indices {path} --order sequential --all"));
    let rows = shown.lines().filter(|line| line.contains(".parquet")).map(|line| {
        let cells = line.trim_matches('│').split('┆').map(str::trim).collect::<Vec<_>>();
        (Path::new(cells[2]).strip_prefix(&dataset.folder).unwrap().to_str().unwrap().to_owned(), cells[3].to_owned())
    });
    let expected = dataset.rows.iter().map(|(file, row, _)| (file.clone(), row.to_string()));
    assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let found = json(&format!("verify {path} --world-size 3 --batch-size 1 --json"));
    assert_eq!((&found["passed"], &found["dataset_size"]), (&true.into(), &dataset.rows.len().into()));
}

#[test]
fn replay_reads_what_is_dealt() {
    let dataset = Dataset::write("replay");
    let path = dataset.folder.display();
    for (rank, drop_last) in [(0, false), (2, false), (2, true)] {
        let flag = if drop_last { "--drop-last" } else { "" };
        let found =
            json(&format!("replay {path} --seed 5 --rank {rank} --world-size 3 --batch-size 8 {flag} --format json"));
        let sampler = Sampler::builder(dataset.rows.len() as u64).seed(5).rank(rank).world_size(3).build().unwrap();
        let batches =
            sampler.batches(BatchSize::new(8).drop_last(drop_last)).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
        let order = batches.concat();
        let mut hash = Sha256::new();
        for &sample in &order {
            let text = &dataset.rows[sample as usize].2;
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(found["sha256"], sha256);
        assert_eq!((&found["samples"], &found["batches"]), (&order.len().into(), &batches.len().into()));
        assert_eq!(found["first"], Value::from(&order[..5]));
        assert_eq!(found["last"], Value::from(&order[order.len() - 5..]));
        assert_eq!(found["engine"], format!("rust ({})", samedeal::ENGINE));
    }
}

#[test]
fn replay_goes_on_after_a_sample_without_a_value() {
    let dataset = Dataset::write("nulls");
    let asked = format!("replay {} --batch-size 4 --order sequential --column note", dataset.folder.display());
    let found = json(&format!("{asked} --json"));
    let (mut hash, mut nulls) = (Sha256::new(), 0);
    // A null is not the same as an empty text.
    for (_, row, text) in &dataset.rows {
        let is_null = row % 16 % 2 == 1;
        nulls += u64::from(is_null);
        hash.update(if is_null { u64::MAX } else { text.len() as u64 }.to_le_bytes());
        hash.update(if is_null { "" } else { text });
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!((&found["sha256"], &found["nulls"]), (&sha256.into(), &nulls.into()));
    assert!(text(&asked).contains(&format!(", {nulls} without a value, ")));
}

#[test]
fn replay_for_people_shows_both_ends() {
    let dataset = Dataset::write("people");
    let shown = text(&format!("replay {} --order sequential --batch-size 32", dataset.folder.display()));
    // Each text in the files begins with the names of its file and its row.
    for (sample, is_shown) in [(0, true), (4, true), (5, false), (124, false), (125, true), (129, true)] {
        let (file, row, _) = &dataset.rows[sample];
        assert_eq!(shown.contains(&format!(" {file} {row} ")), is_shown, "sample {sample} of {shown}");
    }
    assert!(shown.contains("130 samples in 5 batches of 32") && shown.contains("sha256 "), "{shown}");
}

#[test]
fn bad_files_are_named() {
    let dataset = Dataset::write("bad");
    let folder = dataset.folder.display().to_string();
    let (code, said) = failing(&format!("replay {folder} --batch-size 4 --column body"));
    assert!(
        code == 2 && said.contains("Z.parquet") && said.contains("text, number, words.list.element, note"),
        "{said}"
    );
    for column in ["number", "words.list.element"] {
        let (_, said) = failing(&format!("replay {folder} --batch-size 4 --column {column}"));
        assert!(said.contains("does not hold strings"), "{said}");
    }
    std::fs::write(dataset.folder.join("b/broken.parquet"), b"PAR1 and no more").unwrap();
    let (code, said) = failing(&format!("indices {folder}"));
    assert!(code == 2 && said.contains("broken.parquet: cannot be read as Parquet"), "{said}");
    assert!(said.ends_with("take it out of the folder or write it again"), "{said}");
    let empty = files::folder("empty");
    assert!(failing(&format!("verify {}", empty.display())).1.contains("holds no *.parquet files"));
    assert!(failing("indices no/such/file.parquet").1.contains("no/such/file.parquet"));
}

#[test]
fn refusals_say_which_value_and_what_is_allowed() {
    for (arguments, said) in [
        ("indices --samples 10 --rank 4 --world-size 4", "error: --rank is 4; allowed: 0 to 3"),
        ("indices --samples 10 --world-size 0", "error: --world-size is 0; allowed: 1 to 4294967295"),
        ("indices --samples 10 --start 11", "error: --start is 11; allowed: 0 to 10"),
        ("indices --samples 10 --count 11", "error: --count is 11; allowed: 0 to 10 from 0, or --all"),
        ("batches --samples 10 --batch-size 0", "error: --batch-size is 0; allowed: 1 to 4294967295"),
        ("verify --samples 10 --batch-size 0", "error: --batch-size is 0; allowed: 1 to 4294967295"),
        ("locate --samples 10 --sample 10", "error: --sample is 10; allowed: 0 to 9"),
        (
            "batches --samples 2e6 --batch-size 2000000",
            "error: --batch-size is 2000000; allowed: 1 to 1048576 in one piece",
        ),
    ] {
        assert_eq!(failing(arguments), (2, said.to_owned()));
    }
    let (_, said) = failing("indices --samples 9007199254740992");
    assert!(said.starts_with("error: --samples is 9007199254740992; allowed: 0 to 9007199254740991"), "{said}");
    assert!(failing("indices --samples 10 --order deal").1.starts_with("error: --order is \"deal\"; known: feistel, "));
    // Only the component has a memory limit. A command with the linked core has none.
    if cfg!(feature = "component") {
        let (code, said) = failing("indices --samples 6e8 --order fisher-yates");
        assert!(code == 2 && said.starts_with("error: no memory for --samples 600000000; allowed: "), "{said}");
    }
    assert!(failing("verify --samples 9e15").1.contains("1,125,000,000,000,000 bytes"));
    for (arguments, words) in [
        ("indices --samples 10 --rank -1", "'--rank <RANK>': allowed: 0 to 4294967295"),
        ("indices --samples 10 --world-size x", "'--world-size <N>': allowed: 1 to 2^32 - 1"),
        ("indices --samples -1", "'--samples <N>': allowed: 0 to 9007199254740991 (2^53 - 1), such as"),
        ("verify --samples 10 --rank 3", "the answer is for all ranks; leave --rank out"),
        ("locate --samples 10 --sample 1 --rank 3", "the answer is for all ranks; leave --rank out"),
    ] {
        refuses(arguments, words);
    }
    let said = String::from_utf8(run("verify").stderr).unwrap();
    assert!(said.contains("PATH") && said.contains("--samples <N>") && said.contains("--resume <FILE>"), "{said}");
    for arguments in [
        "indices",
        "indices --samples -1",
        "indices --samples 1.7",
        "indices --samples NaN",
        "indices --samples 18446744073709551616",
        "indices --samples 10 data",
        "indices --samples 10 --rank -1",
        "indices --samples 10 --rank 4294967296",
        "indices --samples 10 --seed 9223372036854775808",
        "indices --samples 10 --remainder keep",
        "indices --samples 10 --layout diagonal",
        "locate --samples 10",
        "batches --samples 10",
        "verify --samples 10 --drop-last",
        "locate --samples 10 --sample 1 --drop-last",
    ] {
        assert_eq!(failing(arguments).0, 2, "{arguments}");
    }
}

/// Each member of a recipe is an option, with the same text and names: both come from the table of members.
#[test]
fn members_of_recipes_are_options() {
    let schema: Value = serde_json::from_str(include_str!("../../../../docs/recipe.schema.json")).unwrap();
    for (subcommand, of, section) in [
        ("batches", "batcher", "batch"),
        ("indices", "sampler", "deal"),
        ("steps", "schedule", "deal"),
        ("shards", "plan", "deal"),
    ] {
        let help = text(&format!("{subcommand} --help")).split_whitespace().collect::<Vec<_>>().join(" ");
        let members = schema["$defs"][of]["properties"][section]["properties"].as_object().unwrap();
        for (name, member) in members.iter().filter(|(name, _)| *name != "lengths") {
            let value = if member["type"] == "boolean" { "" } else { "<" };
            assert!(help.contains(&format!(" --{} {value}", name.replace('_', "-"))), "{subcommand} {name}");
            let said = member["description"].as_str().unwrap();
            assert!(said.contains('`') || help.contains(said.trim_end_matches('.')), "{subcommand} {name}: {said}");
            for value in member["enum"].as_array().into_iter().flatten() {
                assert!(help.contains(&format!("- {}: ", value.as_str().unwrap())), "{subcommand} {name} {value}");
            }
        }
    }
}

#[test]
fn every_subcommand_has_help_with_examples() {
    let all = text("--help");
    let list = all.lines().skip_while(|&line| line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let names = names.filter(|&name| name != "help").collect::<Vec<_>>();
    assert_eq!(names.len(), 23, "{names:?}");
    for subcommand in names {
        let help = text(&format!("{subcommand} --help"));
        // `orders` has no options, so it has no examples.
        let command = format!("samedeal {subcommand} ");
        assert!(subcommand == "orders" || help.contains("Examples:") && help.contains(&command), "{help}");
        // No line of the help is longer than a terminal is wide, except for command lines to copy.
        let long = help.lines().find(|line| line.chars().count() > 110 && !line.trim_start().starts_with("samedeal "));
        assert_eq!(long, None, "{subcommand}");
    }
}

#[test]
fn every_order_is_listed() {
    let shown = text("orders");
    for order in samedeal::plain_orders().unwrap() {
        assert!(shown.lines().any(|line| line.trim_start_matches('│').trim_start().starts_with(&order)), "{shown}");
    }
}
