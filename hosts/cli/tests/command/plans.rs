//! Plans of whole files, meshes and ranks, and the order `sharded`.

use std::fs;

use samedeal::{Axis, Mesh, Policy, Sampler, ShardPlan, WorkerPolicy};
use serde_json::{Value, json as value};

use crate::files::{self, Dataset};
use crate::{command, failing, json, refuses, run, text};

/// The sizes of the files of a [`Dataset`], in their order.
pub const SIZES: [u64; 7] = [3, 40, 1, 0, 57, 20, 9];

pub fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The output of a command with this exit code.
#[track_caller]
fn verdict(arguments: &str, code: i32) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn files_are_dealt_as_the_library_deals_them() {
    let dataset = Dataset::write("plan-lists");
    let path = dataset.folder.display();
    for (options, policy, shuffle) in [
        ("--policy round-robin --worker-policy round-robin --no-shuffle", Policy::RoundRobin, false),
        ("--worker-policy round-robin --no-shuffle", Policy::SizeAware, false),
        ("--seed -3 --epoch 2", Policy::SizeAware, true),
    ] {
        let builder = ShardPlan::builder(SIZES).world_size(2).workers(2).policy(policy).shuffle(shuffle);
        let worker_policy = if shuffle { WorkerPolicy::SizeAware } else { WorkerPolicy::RoundRobin };
        let plan = builder.worker_policy(worker_policy).seed(-3).epoch(2).build().unwrap();
        let deal = format!("shards {path} --world-size 2 --workers 2 {options}");
        let found = json(&format!("{deal} --rank 1 --json"));
        for worker in 0..2 {
            let shards = plan.shards(1, worker).unwrap();
            let reader = &found["readers"][worker as usize];
            assert_eq!((&reader["worker"], &reader["shards"]), (&worker.into(), &value!(shards)));
            let lines = text(&format!("{deal} --rank 1 --worker {worker} --format text"));
            let of_line = |line: &str| line.split('\t').nth(2).unwrap().parse::<u32>().unwrap();
            assert_eq!(lines.lines().map(of_line).collect::<Vec<_>>(), shards, "{deal}");
        }
        let sum = |name| numbers(&found["workers"].as_array().unwrap().iter().map(|it| it[name].clone()).collect());
        let totals = (found["samples"].as_u64(), found["shards"].as_u64(), found["bytes"].as_u64());
        let sums = ["samples", "shards", "bytes"].map(|name| Some(sum(name).iter().sum::<u64>()));
        assert_eq!(totals, (sums[0], sums[1], sums[2]));
        assert_eq!((totals.0, totals.1, &found["empty"]), (Some(130), Some(7), &1.into()));
    }
}

#[test]
fn bytes_are_those_of_the_row_groups() {
    let dataset = Dataset::write("plan-bytes");
    let found = json(&format!("shards {} --json", dataset.folder.display()));
    for (file, samples) in found["files"].as_array().unwrap().iter().zip(SIZES) {
        let on_disk = fs::metadata(file["path"].as_str().unwrap()).unwrap().len();
        let bytes = file["bytes"].as_u64().unwrap();
        // The bytes of the rows are less than the file, which also has a footer.
        assert!(bytes < on_disk && (bytes > 0) == (samples > 0), "{file}, {on_disk} bytes");
        assert_eq!(file["samples"], samples);
    }
}

#[test]
fn unequal_steps_are_said_aloud() {
    let dataset = Dataset::write("plan-steps");
    let path = dataset.folder.display();
    let deal = format!("shards {path} --no-shuffle --policy round-robin --worker-policy round-robin");
    let shown = text(&format!("{deal} --world-size 2 --batch-size 8"));
    assert!(shown.contains("WARNING: ranks end at different steps, 8 to 9 in batches of 8"), "{shown}");
    assert!(shown.contains("7 files, 130 samples, ") && shown.contains("; 1 without samples"), "{shown}");
    assert!(shown.contains("heaviest rank by the mean: 1.077 in samples"), "{shown}");
    let steps = json(&format!("{deal} --world-size 2 --batch-size 8 --json"))["steps"].clone();
    let expected = value!({"batch_size": 8, "drop_last": false, "min": 8, "max": 9, "equal": false});
    assert_eq!(steps, expected);
    let shown = text(&format!("shards {path} --world-size 2 --batch-size 70"));
    assert!(shown.contains("every rank takes 1 step, in batches of 70") && !shown.contains("WARNING"), "{shown}");
    assert!(text(&format!("shards {path}")).contains("--batch-size tells the steps"));
    let shown = text(&format!("{deal} --world-size 9 --workers 2"));
    assert!(shown.contains("; 2 have nothing to read") && shown.contains("; 11 have nothing to read"), "{shown}");
    assert!(text(&format!("shards {path} --world-size 8")).contains("; 1 has nothing to read"));
    assert!(text(&format!("shards {path}/b/c.parquet")).contains("\n1 file, 20 samples, "));
}

#[test]
fn programs_are_told_of_the_steps_too() {
    let dataset = Dataset::write("plan-steps-text");
    let deal = format!("shards {} --world-size 2 --format text", dataset.folder.display());
    let in_turn = " --policy round-robin --no-shuffle";
    for more in ["", " --rank 1"] {
        let output = run(&format!("{deal}{in_turn}{more} --batch-size 8"));
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && shown.ends_with("\nsteps\t8\t8\t9\tunequal\n"), "{shown}");
        let warned = String::from_utf8(output.stderr).unwrap();
        assert!(warned.starts_with("warning: ranks end at different steps, 8 to 9 in batches of 8; "), "{warned}");
    }
    assert!(text(&format!("{deal} --batch-size 70")).ends_with("\nsteps\t70\t1\t1\tequal\n"));
}

#[test]
fn a_plan_verifies() {
    let dataset = Dataset::write("plan-verify");
    let path = dataset.folder.display();
    let checks = text(&format!("shards {path} --world-size 3 --workers 2 --verify --format text"));
    let loads = text(&format!("shards {path} --world-size 3 --workers 2 --format text"));
    assert_eq!(loads.lines().count(), 9);
    let verified =
        "overlaps\tok\t{\"too_many\":0}\ngaps\tok\t{\"missed\":0,\"of\":7}\nequal steps\tnot checked\tnull\n";
    assert_eq!(checks, loads + verified);
    let shown = text(&format!("shards {path} --world-size 3 --verify"));
    let [loads, totals, checks] =
        ["│ rank ┆ files ", "7 files, 130 samples, ", "│ overlaps    ┆ ok "].map(|it| shown.find(it));
    assert!(loads.is_some() && loads < totals && totals < checks, "{shown}");
    let found = json(&format!("shards {path} --world-size 3 --verify --json"));
    let unchecked = value!({"passed": null, "equal_steps": null, "overlaps": [], "gaps": []});
    assert_eq!(found["verification"], unchecked);
    assert_eq!(found["ranks"].as_array().unwrap().len(), 3);
    assert_eq!(json(&format!("shards {path} --json"))["verification"], Value::Null);
}

#[test]
fn a_plan_whose_ranks_end_at_different_steps_does_not_verify() {
    let dataset = Dataset::write("plan-unequal");
    let deal = format!("shards {} --world-size 3 --no-shuffle --policy round-robin --verify", dataset.folder.display());
    for (size, code) in [(1, 1), (1_000, 0)] {
        let equal = Value::from(code == 0);
        let output = run(&format!("{deal} --batch-size {size} --json"));
        assert_eq!(output.status.code(), Some(code));
        let found = serde_json::from_slice::<Value>(&output.stdout).unwrap();
        let checked = &found["verification"];
        assert_eq!([&checked["passed"], &checked["equal_steps"], &found["steps"]["equal"]], [&equal; 3]);
        let shown = run(&format!("{deal} --batch-size {size}"));
        let table = String::from_utf8(shown.stdout).unwrap();
        let words = if code == 0 { "│ equal steps ┆ ok " } else { "│ equal steps ┆ FAILED ┆ ranks take " };
        assert!(shown.status.code() == Some(code) && table.contains(words), "{table}");
    }
    // A list of the files that a run read has no steps, so none are checked.
    let read = dataset.folder.join("read.json");
    std::fs::write(&read, "[[0,1,2,3,4,5,6]]").unwrap();
    let found = json(&format!("{deal}={} --batch-size 1 --json", read.display()))["verification"].clone();
    assert_eq!((&found["passed"], &found["equal_steps"]), (&true.into(), &Value::Null));
}

#[test]
fn what_was_really_read_is_held_against_the_files() {
    let dataset = Dataset::write("plan-read");
    let path = dataset.folder.display();
    let file = files::folder("plan-read-lists").join("read.json");
    let write = |lists: Value| fs::write(&file, lists.to_string()).unwrap();
    let verify = format!("shards {path} --verify={}", file.display());
    // A file may be named by its number or by its path, even if the path is written in another way.
    let by_path = format!("{path}/../plan-read/a0.parquet");
    write(value!([[6, 0, 1], [], [3, by_path, 2, 5]]));
    assert!(text(&verify).contains("0 readings too many"));
    write(value!([[6, 0, 1], [1, 5, 5]]));
    let shown = verdict(&verify, 1);
    assert!(shown.contains("a.parquet: read by reader 0, and again by reader 1\n"), "{shown}");
    assert!(shown.contains("3 of 7 files read by no reader") && shown.contains("FAILED"), "{shown}");
    let gap = shown.lines().find(|line| line.ends_with("read by no reader")).unwrap();
    assert!(gap.contains(".parquet to ") && gap.contains(", 3 files: read by no reader"), "{gap}");
    let found: Value = serde_json::from_str(&verdict(&format!("{verify} --json"), 1)).unwrap();
    let found = &found["verification"];
    assert_eq!(found["passed"], false);
    let pairs = |list: &Value, name| numbers(&list.as_array().unwrap().iter().map(|it| it[name].clone()).collect());
    assert_eq!(
        (pairs(&found["overlaps"], "shard"), pairs(&found["overlaps"], "other_reader")),
        (vec![1, 5], vec![1, 1])
    );
    assert_eq!((pairs(&found["gaps"], "first_shard"), pairs(&found["gaps"], "num_shards")), (vec![2], vec![3]));
    assert!(found["gaps"][0]["last_path"].as_str().unwrap().ends_with(".parquet"), "{found}");
    let lines = verdict(&format!("{verify} --format text"), 1);
    assert!(lines.lines().any(|line| line.starts_with("gap\t2\t3\t") && line.split('\t').count() == 5), "{lines}");
    // This gap has only one file.
    write(value!([[6, 0, 1, 3, 4, 5]]));
    assert!(!verdict(&verify, 1).contains("1 file: "));
    assert!(verdict(&format!("{verify} --format text"), 1).contains("\ngap\t2\t1\t"));
    for (lists, words) in [
        (value!([[7]]), "read.json: shard 7; allowed: 0 to 6"),
        (value!([["no/such/file"]]), "no/such/file is none of the files that are dealt"),
        (value!([[-1]]), "read.json: -1; needed: a JSON list, for each reader"),
        (value!([[{}]]), "needed: a JSON list"),
        (value!({"a": 1}), "needed: a JSON list"),
    ] {
        write(lists);
        refuses(&verify, words);
    }
    fs::write(&file, "[[0").unwrap();
    assert!(failing(&verify).1.contains("needed: a JSON list"));
    assert!(failing(&format!("shards {path} --verify=no/such.json")).1.contains("no/such.json: "));
}

/// A list of the files that a run read is never ignored, whatever the other arguments are.
#[test]
fn a_list_is_no_dataset() {
    let dataset = Dataset::write("plan-list-path");
    let path = dataset.folder.display();
    let folder = files::folder("plan-list-path-lists");
    let [list, other] = ["read.json", "read.txt"].map(|name| folder.join(name).display().to_string());
    for file in [&list, &other] {
        fs::write(file, "[[0, 1, 2]]").unwrap();
    }
    for options in ["--verify", "--skip-unreadable --verify", ""] {
        let (code, said) = failing(&format!("shards {path} {options} {list}"));
        assert_eq!((code, said), (2, format!("error: {list}: is no Parquet file; did you mean --verify={list}?")));
    }
    let (code, said) = failing(&format!("shards {path} --verify {other} --skip-unreadable"));
    assert!(code == 2 && said.contains("read.txt: ") && said.ends_with("; did you mean --verify=FILE?"), "{said}");
    let (code, said) = failing(&format!("shards {path} {other} --skip-unreadable"));
    assert!(code == 2 && said.contains("read.txt: ") && !said.contains("--"), "{said}");
}

#[test]
fn broken_files_are_named_and_may_be_left_out() {
    let dataset = Dataset::write("plan-broken");
    let path = dataset.folder.display();
    let whole = fs::read(dataset.folder.join("a0.parquet")).unwrap();
    let [cut, rows, zeros] = ["cut.parquet", "not.parquet", "zero.parquet"].map(|name| dataset.folder.join(name));
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    fs::write(&rows, b"rows, but not of Parquet").unwrap();
    fs::write(&zeros, b"").unwrap();
    // The length of the footer stands just before the last four bytes. Here it points outside the file.
    let mut long = whole.clone();
    let at = long.len() - 8;
    long[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(dataset.folder.join("long.parquet"), long).unwrap();
    let (code, said) = failing(&format!("shards {path}"));
    assert!(code == 2 && said.contains("cut.parquet: cannot be read as Parquet"), "{said}");
    assert!(said.ends_with("--skip-unreadable leaves it out"), "{said}");
    let output = run(&format!("shards {path} no/such/file.parquet --skip-unreadable --json"));
    assert!(output.status.success());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["samples"], &found["shards"]), (&130.into(), &7.into()));
    let left_out = found["left_out"].as_array().unwrap();
    let warnings = String::from_utf8(output.stderr).unwrap();
    for (i, name) in ["cut", "long", "not", "zero", "no/such/file"].iter().enumerate() {
        assert!(left_out[i].as_str().unwrap().ends_with(&format!("{name}.parquet")), "{left_out:?}");
        assert!(warnings.lines().nth(i).unwrap().contains(&format!("{name}.parquet: ")), "{warnings}");
    }
    let (_, said) = failing("shards no/such/file.parquet");
    assert!(said.contains("no/such/file.parquet: ") && !said.contains("--skip-unreadable"), "{said}");
    let (code, said) = failing(&format!("shards {} {} --skip-unreadable", cut.display(), rows.display()));
    assert!(code == 2 && said.ends_with("no file can be read"), "{said}");
}

/// A file in which only two numbers of the footer contradict each other.
#[test]
fn a_footer_that_contradicts_itself_is_not_believed() {
    let dataset = Dataset::write("plan-contradiction");
    let path = dataset.folder.join("b/d.parquet");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // In Thrift's compact protocol, field 3 of the file (an i64) has the number of rows: 9, which zigzag coding writes
    // as 18.
    let footer = &mut bytes[at - length..at];
    let number = footer.windows(2).position(|pair| pair == [0x16, 18]).unwrap();
    footer[number + 1] = 20;
    fs::write(&path, bytes).unwrap();
    let (code, said) = failing(&format!("shards {}", path.display()));
    assert!(code == 2 && said.contains("d.parquet: says that it has"), "{said}");
    assert!(said.contains("10 rows, and 9 in its row groups"), "{said}");
}

#[test]
fn the_same_file_is_dealt_once() {
    let dataset = Dataset::write("plan-twice");
    let path = dataset.folder.display();
    for again in [format!("{path}/a.parquet"), format!("{path}/../plan-twice/b")] {
        for command in [
            "shards",
            "indices",
            "batches --batch-size 2",
            "locate --sample 1",
            "fingerprint --order sharded",
            "verify",
            "replay --batch-size 2",
        ] {
            let (code, said) = failing(&format!("{command} {path} {again}"));
            assert!(code == 2 && said.contains("the same file as ") && said.contains("leave one out"), "{said}");
            assert!(said.contains(".parquet"), "{said}");
        }
    }
    // A folder and a file beside it are different files, so both may be given. Samples are numbered in the order of the
    // given paths.
    let found = json(&format!("shards {path}/b {path}/a {path}/Z.parquet --json"));
    let sizes = found["files"].as_array().unwrap().iter().map(|file| file["samples"].clone());
    assert_eq!(sizes.collect::<Vec<_>>(), [20, 9, 1, 0, 3]);
}

#[test]
fn formats_of_shards() {
    let dataset = Dataset::write("plan-formats");
    let path = dataset.folder.display();
    for (arguments, lines) in [
        (format!("shards {path} --world-size 3"), 3),
        (format!("shards {path} --world-size 3 --workers 2"), 9),
        (format!("shards {path} --world-size 3 --rank 0 --policy round-robin --no-shuffle"), 3),
        (format!("shards {path} --verify"), 4),
    ] {
        assert!(text(&arguments).starts_with('┌'));
        let bare = text(&format!("{arguments} --format text"));
        assert!(bare.lines().count() == lines && !bare.contains('│'), "{bare}");
        assert_eq!(json(&format!("{arguments} --json")), json(&format!("{arguments} --format json")));
    }
    let shown = text(&format!("shards {path} --world-size 100"));
    assert!(shown.contains("and 36 more, which --format text and json show"), "{shown}");
    assert_eq!(text(&format!("shards {path} --world-size 100 --format text")).lines().count(), 100);
}

#[test]
fn refusals_of_plans() {
    let dataset = Dataset::write("plan-refusals");
    let path = dataset.folder.display();
    for (options, said) in [
        ("--rank 2 --world-size 2", "error: --rank is 2; allowed: 0 to 1"),
        ("--rank 4294967295", "error: --rank is 4294967295; allowed: 0 to 0, as --world-size is 1"),
        ("--rank 0 --worker 2 --workers 2", "error: --worker is 2; allowed: 0 to 1"),
        ("--rank 0 --worker 4294967295", "error: --worker is 4294967295; allowed: 0 to 0, as --workers is 1"),
        ("--batch-size 0", "error: --batch-size is 0; allowed: 1 to 4294967295"),
        ("--world-size 0", "error: --world-size is 0; allowed: 1 to 4194304"),
        ("--world-size x", "error: invalid value 'x' for '--world-size <N>': allowed: 1 to 2^22"),
    ] {
        assert_eq!(failing(&format!("shards {path} {options}")), (2, said.to_owned()));
    }
    for (options, field) in [("--world-size 0", "--world-size is 0"), ("--workers 5000000", "--workers is 5000000")] {
        assert!(failing(&format!("shards {path} {options}")).1.starts_with(&format!("error: {field}; allowed: ")));
    }
    for options in [
        "--policy locality-aware",
        "--worker 1",
        "--drop-last",
        "--verify --rank 0",
        "--balance-by rows",
        "--world-size -1",
    ] {
        assert_eq!(failing(&format!("shards {path} {options}")).0, 2, "{options}");
    }
    assert_eq!(failing("shards").0, 2);
}

#[test]
fn the_order_sharded_over_files() {
    let dataset = Dataset::write("plan-sharded");
    let path = dataset.folder.display();
    let deal = format!("{path} --order sharded --lanes 4 --shuffle-window 8 --seed 6 --epoch 1");
    let sampler =
        Sampler::sharded(SIZES).lanes(4).shuffle_window(8).seed(6).epoch(1).rank(1).world_size(2).build().unwrap();
    let all: Vec<u64> = sampler.indices(..).unwrap();
    let found = json(&format!("indices {deal} --rank 1 --world-size 2 --all --json"));
    assert_eq!(numbers(&found["indices"]), all);
    let order = |found: &Value| ["sizes", "lanes", "shuffle_window"].map(|name| found["recipe"]["order"][name].clone());
    assert_eq!(order(&found), [value!(SIZES), 4.into(), 8.into()]);
    let batches = json(&format!("batches {deal} --rank 1 --world-size 2 --batch-size 16 --all --json"));
    assert_eq!(numbers(&batches["batches"][1]), all[16..32]);
    let print = json(&format!("fingerprint {deal} --rank 1 --world-size 2 --json"));
    assert_eq!(print["fingerprint"], sampler.fingerprint().unwrap());
    let found = json(&format!("locate {deal} --world-size 2 --sample {} --json", all[5]));
    assert_eq!(
        (&found["samples"][0]["places"][0]["rank"], &found["samples"][0]["places"][0]["index_in_reader"]),
        (&1.into(), &5.into())
    );
    let found = json(&format!("verify {deal} --world-size 4 --batch-size 8 --json"));
    assert_eq!((&found["passed"], &found["seen"]), (&true.into(), &130.into()));
    let seen = json(&format!("replay {deal} --rank 1 --world-size 2 --batch-size 16 --json"));
    assert_eq!(numbers(&seen["first"]), all[..5]);
    // The order has its own defaults.
    let found = json(&format!("indices {path} --order sharded --json"));
    assert_eq!(order(&found), [value!(SIZES), 64.into(), 256.into()]);
    for (arguments, words) in [
        ("--samples 10 --order sharded".to_owned(), "error: --order sharded needs samples that are stored in files"),
        (format!("{path} --lanes 4"), "error: --lanes is "),
        (format!("{path} --order sharded --lanes 70000"), "error: --lanes is 70000; allowed: 1 to 65536"),
        (
            format!("{path} --order sharded --shuffle-window 2000000"),
            "error: --shuffle-window is 2000000; allowed: 1 to 1048576",
        ),
    ] {
        let (code, said) = failing(&format!("indices {arguments}"));
        assert!(code == 2 && said.starts_with(words), "{said}");
    }
    assert!(text("orders --format text").contains("\nsharded\t"));
    assert!(failing(&format!("indices {path} --order shraded")).1.ends_with(", dotnet, sharded"));
    assert!(failing("indices --samples 5 --order shraded").1.ends_with(", dotnet, and for files sharded"));
    assert!(failing("indices --samples 5 --order blend").1.contains("allowed: --recipe FILE"));
}

#[test]
fn meshes_are_those_of_the_library() {
    let axes = [Axis::replicate("pp", 2), Axis::shard("dp", 3), Axis::shard("sp", 2), Axis::replicate("tp", 2)];
    let mesh = Mesh::new(24, axes).unwrap();
    let arguments = "mesh pp=2 dp=3 sp=2 tp=2 --world-size 24 --shard dp,sp";
    let found = json(&format!("{arguments} --json"));
    assert_eq!((&found["world_size"], &found["data_world_size"]), (&24.into(), &6.into()));
    assert_eq!(found["axes"][1], value!({"name": "dp", "size": 3, "role": "shard"}));
    let lines = text(&format!("{arguments} --format text"));
    for (rank, line) in (0..24).zip(lines.lines()) {
        let of_rank = &found["ranks"][rank as usize];
        let (coordinates, peers) = (mesh.coordinates(rank).unwrap(), mesh.peers(rank).unwrap());
        let named = value!({
            "pp": coordinates[0], "dp": coordinates[1], "sp": coordinates[2], "tp": coordinates[3],
        });
        let data_rank = mesh.data_rank(rank).unwrap();
        assert_eq!(*of_rank, value!({"rank": rank, "coordinates": named, "data_rank": data_rank, "peers": peers}));
        let parts = line.split('\t').collect::<Vec<_>>();
        assert_eq!((parts[0].parse(), parts[3].parse()), (Ok(rank), Ok(coordinates[2])));
        assert_eq!(parts[5..], [data_rank.to_string(), peers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")]);
        assert_eq!(json(&format!("{arguments} --rank {rank} --json"))["ranks"], value!([of_rank]));
    }
    assert!(text("mesh tp=4 --world-size 4").contains("every rank reads all of the data; --shard names"));
    assert!(text("mesh dp=100 --world-size 100 --shard dp").contains("64 of 100 ranks"));
}

#[test]
fn meshes_that_make_no_sense() {
    for (arguments, said) in [
        (
            "mesh dp=2 tp=2 --world-size 8",
            "error: axes is dp 2 x tp 2 = 4; allowed: sizes whose product is the world size, 8",
        ),
        ("mesh dp=2 --world-size 2 --shard tp", "error: --shard is \"tp\"; known: dp"),
        ("mesh dp=2 --world-size 2 --rank 2", "error: --rank is 2; allowed: 0 to 1"),
        ("mesh dp=2 --world-size 2 --rank 4294967295", "error: --rank is 4294967295; allowed: 0 to 1"),
        ("mesh dp=2 dp=2 --world-size 4", "error: axes is dp; allowed: each name once"),
    ] {
        assert_eq!(failing(arguments), (2, said.to_owned()));
    }
    for arguments in
        ["mesh --world-size 2", "mesh dp --world-size 2", "mesh dp=-1 --world-size 2", "mesh =2 --world-size 2"]
    {
        assert_eq!(failing(arguments).0, 2, "{arguments}");
    }
    let (_, said) = failing("mesh tp=4294967295 --world-size 4294967295 --json");
    assert!(said.contains("too many to show; name one with --rank"), "{said}");
    assert_eq!(
        json("mesh dp=4294967295 --world-size 4294967295 --shard dp --rank 7 --json")["ranks"][0]["data_rank"],
        7
    );
}

/// Runs the command with only these environment variables.
#[track_caller]
fn detect(arguments: &str, environment: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let output = command(arguments).env_clear().envs(environment.iter().copied()).output().unwrap();
    let [said, warned] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), said, warned)
}

#[test]
fn the_rank_of_this_process() {
    let torchrun = [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")];
    let (code, said, _) = detect("rank --format text", &torchrun);
    let expected =
        "rank\t3\nworld size\t8\nlocal rank\t1\nlocal world size\t\nlauncher\ttorchrun\nused\tRANK=3 WORLD_SIZE=8\n";
    assert_eq!((code, said.as_str()), (Some(0), expected));
    let (_, said, _) = detect("rank --rank 0 --world-size 2 --json", &torchrun);
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&found["rank"], &found["world_size"], &found["launcher"]), (&0.into(), &2.into(), &"explicit".into()));
    let slurm = [&torchrun[..], &[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2")]].concat();
    let (code, said, warned) = detect("rank", &slurm);
    assert!(code == Some(0) && said.starts_with('┌'));
    assert!(warned.starts_with("warning: slurm says SLURM_PROCID=1, SLURM_NTASKS=2; used: rank 3 of 8"), "{warned}");
    let (code, said, warned) = detect("rank", &[("LOCAL_RANK", "3")]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    assert!(warned.starts_with("error: RANK is missing; needed: RANK and WORLD_SIZE"), "{warned}");
    assert_eq!(detect("rank --rank 2 --world-size 2", &[]).0, Some(2));
    assert_eq!(detect("rank --json", &[]).0, Some(0));
}
