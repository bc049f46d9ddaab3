//! Blends and other composed orders: reports, and recipes that every subcommand takes.

use std::collections::BTreeMap;
use std::fs;

use samedeal::{Order, Sampler, Source};
use serde_json::Value;

use crate::files::{self, Dataset};
use crate::{failing, json, one_step, run, text};

const THREE: &str = "--source web:700:70 --source books:50:20 --source code:90:10 --samples 1000";

fn numbers<'a>(rows: &'a Value, member: &'a str) -> Vec<&'a Value> {
    rows["sources"].as_array().unwrap().iter().map(|row| &row[member]).collect()
}

#[test]
fn a_report_counts_what_sources_give() {
    let report = json(&format!("blend {THREE} --json"));
    assert_eq!(numbers(&report, "count"), [700, 200, 100]);
    assert_eq!(numbers(&report, "share_asked"), [0.7, 0.2, 0.1]);
    assert_eq!(numbers(&report, "deviation"), [0.0; 3]);
    assert_eq!(numbers(&report, "to_pass"), [1, 4, 1]);
    assert_eq!(numbers(&report, "to_position"), [0, 0, 10]);
    // Books make four passes, so three quarters of the draws are repeats.
    assert_eq!(numbers(&report, "repeats"), [0, 150, 10]);
    let table = text(&format!("blend {THREE}"));
    assert!(table.contains("│ books  ┆     20 ┆     20.00 % ┆   200 ┆   20.00 % ┆"), "{table}");
    assert!(
        table.contains("┆            1 ┆          10 ┆      10 │") && table.ends_with("order blend, seed 0\n"),
        "{table}"
    );
    let lines = text(&format!("blend {THREE} --start 50 --end 150 --exact --format text"));
    assert!(lines.starts_with("web\t70\t0.700000\t70\t0.700000\t0.000000\t"), "{lines}");
    let rare = text("blend --source web:700:0.999999 --source rare:50:0.000001 --samples 1000");
    assert!(rare.contains("1.0e-4 %") && !rare.contains(" 0.0e"), "{rare}");
    // The next epoch continues the passes, so all its draws of web are repeats.
    let next = json(&format!("blend {THREE} --epoch 1 --json"));
    assert_eq!(numbers(&next, "repeats"), [700, 200, 100]);
    assert_eq!(numbers(&next, "from_pass"), [1, 4, 1]);
}

#[test]
fn deviations_are_those_of_the_samples_and_within_the_bound() {
    let order = Order::blend([Source::new("a", 40, 5), Source::new("b", 30, 3), Source::new("c", 20, 1)]).samples(90);
    let sampler = Sampler::from_order(order.stage(95, [1, 1, 7])).epoch(1).build().unwrap();
    let all: Vec<u64> = sampler.indices(..).unwrap();
    let options = "--source a:40:5 --source b:30:3 --source c:20:1 --samples 90 --stage 95:1,1,7 --epoch 1";
    for (start, end) in [(0, 90), (0, 1), (3, 20), (17, 17), (40, 83)] {
        let report = json(&format!("blend {options} --start {start} --end {end} --json"));
        for (source, row) in report["sources"].as_array().unwrap().iter().enumerate() {
            let count = all[start..end].iter().filter(|&&it| sampler.source_of(it).unwrap().source == source as u32);
            assert_eq!(row["count"], count.count());
            let weight = |at: usize| if at < 5 { [5, 3, 1][source] } else { [1, 1, 7][source] };
            let asked = (start..end).map(|at| f64::from(weight(at)) / 9.0).sum::<f64>();
            let deviation = row["deviation"].as_f64().unwrap();
            assert!((row["count"].as_f64().unwrap() - asked - deviation).abs() < 1e-5, "{report}");
            assert!(deviation.abs() <= row["bound"].as_f64().unwrap() + 1e-5, "{report}");
        }
    }
    assert_eq!(numbers(&json(&format!("blend {options} --json")), "weights")[0], &Value::from([5, 1]));
}

#[test]
fn a_plot_shows_the_drift_between_its_bounds() {
    let plot = text(&format!("blend {THREE} --plot"));
    let lines = plot.lines().filter(|line| line.contains("farthest")).collect::<Vec<_>>();
    assert_eq!(lines.len(), 3, "{plot}");
    assert!(lines.iter().all(|line| line.chars().filter(|it| ('▁'..='█').contains(it)).count() == 64), "{plot}");
    let drift = json(&format!("blend {THREE} --plot --epoch 3 --json"));
    for line in drift["drift"].as_array().unwrap() {
        let (bound, values) = (line["bound"].as_f64().unwrap(), line["values"].as_array().unwrap());
        let farthest = values.iter().map(|value| value.as_f64().unwrap().abs()).fold(0.0, f64::max);
        assert!(values.len() == 64 && 0.25 < farthest && farthest <= bound + 1e-5, "{line}");
    }
    // If there are few positions, each has a column of its own.
    let short = json(&format!("blend {THREE} --plot --start 2 --end 5 --json"));
    assert_eq!(short["drift"][0]["values"].as_array().unwrap().len(), 3);
}

#[test]
fn a_rank_is_counted_by_its_samples() {
    let all = |rank: u32, more: &str| json(&format!("blend {THREE} --world-size 4 --rank {rank} {more} --json"));
    let counts = |report: &Value| numbers(report, "count").iter().map(|it| it.as_u64().unwrap()).collect::<Vec<_>>();
    let ranks = (0..4).map(|rank| counts(&all(rank, ""))).collect::<Vec<_>>();
    assert_eq!((0..3).map(|source| ranks.iter().map(|it| it[source]).sum()).collect::<Vec<u64>>(), [700, 200, 100]);
    let order = Order::blend([Source::new("web", 700, 70), Source::new("books", 50, 20), Source::new("code", 90, 10)]);
    let sampler = Sampler::from_order(order.samples(1_000)).rank(2).world_size(4).build().unwrap();
    let window: Vec<u64> = sampler.indices(10..60).unwrap();
    let web = window.iter().filter(|&&sample| sample < 700).count() as u64;
    let part = all(2, "--start 10 --end 60");
    assert_eq!((counts(&part)[0], &part["sources"][0]["bound"]), (web, &Value::Null));
    assert!(text(&format!("blend {THREE} --world-size 4 --rank 2")).contains("of rank 2 of 4"));
    let (_, said) = failing(&format!("blend {THREE} --world-size 4 --rank 4"));
    assert_eq!(said, "error: rank is 4; allowed: 0 to 3");
}

#[test]
fn every_subcommand_takes_the_recipe() {
    let folder = files::folder("blends");
    let path = folder.join("run.json");
    let options = format!("{THREE} --seed 42 --world-size 3");
    assert_eq!(text(&format!("blend {options} --recipe-out {}", path.display())), "");
    let order = Order::blend([Source::new("web", 700, 70), Source::new("books", 50, 20), Source::new("code", 90, 10)]);
    let sampler = Sampler::from_order(order.samples(1_000).seed(42)).world_size(3).build().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), sampler.recipe().unwrap() + "\n");
    assert_eq!(text(&format!("blend {options} --recipe-out -")), sampler.recipe().unwrap() + "\n");
    // If the report fails, no recipe is written.
    let (_, said) =
        failing(&format!("blend {options} --report --end 2000 --recipe-out {}", folder.join("not.json").display()));
    assert_eq!(said, "error: --end is 2000; allowed: 0 to 1000");
    assert!(!folder.join("not.json").exists());
    let recipe = format!("--recipe {}", path.display());
    assert_eq!(text(&format!("blend {recipe} --json")), text(&format!("blend {options} --json")));
    assert_eq!(text(&format!("recipe {recipe}")), sampler.recipe().unwrap() + "\n");

    let rank = sampler.at_epoch(2).unwrap().at_rank(1).unwrap();
    let indices = json(&format!("indices {recipe} --epoch 2 --rank 1 --all --json"));
    assert_eq!(indices["indices"], Value::from(rank.indices::<u64>(..).unwrap()));
    let batches = json(&format!("batches {recipe} --epoch 2 --rank 1 --batch-size 8 --start 3 --count 1 --json"));
    assert_eq!(batches["batches"][0], Value::from(rank.batch::<u64>(3, 8).unwrap()));
    let step = one_step(&format!("step 3 {recipe} --epoch 2 --batch-size 8 --json"));
    assert_eq!(step["ranks"][1]["samples"], batches["batches"][0]);
    let print = json(&format!("fingerprint {recipe} --epoch 2 --rank 1 --json"));
    assert_eq!(print["fingerprint"], rank.fingerprint().unwrap());
    let verified = json(&format!("verify {recipe} --batch-size 8 --json"));
    assert_eq!(
        (&verified["passed"], &verified["seen"], &verified["num_padding"]),
        (&true.into(), &1_000.into(), &2.into())
    );
}

#[test]
fn locate_and_explain_show_every_place() {
    let folder = files::folder("blend-places");
    let (path, state) = (folder.join("run.json"), folder.join("epoch.json"));
    text(&format!("blend {THREE} --world-size 3 --recipe-out {}", path.display()));
    let recipe = format!("--recipe {}", path.display());
    let found = json(&format!("locate {recipe} --sample 720,0 --batch-size 8 --json"));
    let books = found["samples"][0]["places"].as_array().unwrap();
    let sampler = Sampler::from_recipe(fs::read_to_string(&path).unwrap()).build().unwrap();
    assert!(books.len() >= 4 && found["samples"][1]["places"].as_array().unwrap().len() <= 2);
    for place in books {
        let position = place["position"].as_u64().unwrap();
        assert_eq!(sampler.at_rank(place["rank"].as_u64().unwrap() as u32).unwrap().sample_at(position).unwrap(), 720);
    }
    assert!(text(&format!("locate {recipe} --sample 720 --batch-size 8")).lines().count() >= 8);
    // The state is in the middle of the epoch, so some places of the sample were seen, and others were not.
    fs::write(&state, text(&format!("state {recipe} --taken 160"))).unwrap();
    let resume = format!("--resume {}", state.display());
    for deal in [format!("{recipe} {resume}"), format!("{resume} --world-size 3")] {
        let rest = json(&format!("locate {deal} --sample 720 --batch-size 8 --json"));
        let all = books.iter().map(|place| &place["position"]);
        let places = rest["samples"][0]["places"].as_array().unwrap();
        assert!(places.iter().map(|place| &place["position"]).take(4).eq(all.take(4)), "{rest}");
        for place in places {
            let is_seen = place["position"].as_u64().unwrap() < 480;
            assert_eq!((place["status"] == "seen", place["rank"].is_null()), (is_seen, is_seen), "{rest}");
        }
        assert_eq!(json(&format!("verify {deal} --batch-size 1 --json"))["passed"], true);
    }
    let explained = text(&format!("explain {}", state.display()));
    for part in ["blend", "web 70, books 20, code 10", "480 (48.00 %)", "840", "every library, and --resume"] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    let statuses = json(&format!("explain {} --sample 720 --json", state.display()));
    let places = statuses["samples"][0]["places"].as_array().unwrap();
    assert!(places.iter().any(|it| it["status"] == "seen") && places.iter().any(|it| it["status"] == "upcoming"));
    let ranked = format!("explain {} --sample 720 --world-size 3 --batch-size 8 --json", state.display());
    assert_eq!(json(&ranked)["samples"][0]["places"][0]["rank"], books[0]["rank"]);
}

#[test]
fn a_state_goes_on_with_another_recipe() {
    let folder = files::folder("blend-stages");
    let path = |name: &str| folder.join(name).display().to_string();
    let sources = "--source a:500:1 --source b:500:1 --samples 600";
    text(&format!("blend {sources} --recipe-out {}", path("first.json")));
    text(&format!("blend {sources} --stage 300:1,5 --recipe-out {}", path("second.json")));
    text(&format!("blend {sources} --stage 299:1,5 --recipe-out {}", path("early.json")));
    fs::write(path("state"), text(&format!("state --recipe {} --taken 300", path("first.json")))).unwrap();
    let rest = |recipe: &str| format!("indices --recipe {} --resume {} --all --json", path(recipe), path("state"));
    let second = json(&rest("second.json"));
    let given = second["indices"].as_array().unwrap();
    assert_eq!((given.len(), given.iter().filter(|it| it.as_u64() >= Some(500)).count()), (300, 250));
    let (_, said) = failing(&rest("early.json"));
    assert!(said.contains("stages is ") || said.contains("from is "), "{said}");
    let (_, said) = failing(&format!("indices --resume {} --lanes 4", path("state")));
    assert!(said.contains("--lanes is 4; allowed: none with the order blend"), "{said}");
}

#[test]
fn long_lists_come_from_files() {
    let folder = files::folder("blend-lists");
    let path = |name: &str| folder.join(name).display().to_string();
    let kept = (0..400).map(|number| 7 * number).collect::<Vec<u64>>();
    let sampler = Sampler::from_order(Order::new("feistel", 5_000).subset(kept.clone()).copies(2)).build().unwrap();
    fs::write(path("run.json"), sampler.recipe().unwrap()).unwrap();
    fs::write(path("kept.json"), Value::from(kept.clone()).to_string()).unwrap();
    let lines = kept.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    fs::write(path("kept.txt"), &lines).unwrap();
    let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (400,), }";
    let values = kept.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let start = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), &values].concat();
    fs::write(path("kept.npy"), start).unwrap();
    let recipe = format!("--recipe {}", path("run.json"));
    let all = Value::from(sampler.indices::<u64>(..).unwrap());
    for name in ["kept.json", "kept.txt", "kept.npy"] {
        let list = format!("--list of/indices={}", path(name));
        assert_eq!(json(&format!("indices {recipe} {list} --all --json"))["indices"], all, "{name}");
    }
    let list = format!("--list of/indices={}", path("kept.npy"));
    assert_eq!(json(&format!("verify {recipe} {list} --batch-size 1 --json"))["passed"], true);
    let found = json(&format!("locate {recipe} {list} --sample 7,8 --json"));
    assert_eq!(found["samples"][0]["places"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&found["samples"][1]["status"], &found["samples"][1]["places"]),
        (&"absent".into(), &Value::Array(vec![]))
    );
    let (_, said) = failing(&format!("indices {recipe}"));
    assert!(
        said.contains("indices is missing") && said.ends_with("such as of/indices or sources/NAME/indices"),
        "{said}"
    );
    let (_, said) = failing(&format!("indices {recipe} --list of/indices={}", path("none")));
    assert!(said.contains("blend-lists/none: "), "{said}");
    // The state, like the recipe, has only a hash of the list.
    fs::write(path("state"), text(&format!("state {recipe} {list} --taken 10"))).unwrap();
    let (_, said) = failing(&format!("indices --resume {}", path("state")));
    assert!(said.contains("the state has only a hash of indices; name the numbers with --list PATH=FILE"), "{said}");
    let rest = json(&format!("indices --resume {} {list} --all --json", path("state")));
    assert_eq!(rest["indices"].as_array().unwrap()[..], all.as_array().unwrap()[10..]);
    assert!(text(&format!("explain {}", path("state"))).contains("made of"));
}

#[test]
fn files_are_the_samples_of_a_view() {
    let dataset = Dataset::write("blend-files");
    let (folder, path) = (dataset.folder.display(), dataset.folder.join("run.recipe"));
    let sampler = Sampler::from_order(Order::new("feistel", 130).exclude([3, 5])).build().unwrap();
    fs::write(&path, sampler.recipe().unwrap()).unwrap();
    let lines = text(&format!("indices {folder} --recipe {} --all --format json", path.display()));
    assert_eq!(serde_json::from_str::<Value>(&lines).unwrap()["indices"].as_array().unwrap().len(), 128);
    assert!(text(&format!("indices {folder} --recipe {}", path.display())).contains(".parquet"));
}

#[test]
fn a_blend_that_cannot_be_is_an_error() {
    let refused = BTreeMap::from([
        ("--source a:5", "NAME:SAMPLES:WEIGHT"),
        ("--source a:5:-0.5", "allowed: a number that is not negative, such as 70 or 0.7"),
        ("--source a:5:many", "allowed: a number that is not negative"),
        ("--source a:5:1e-30 --source b:5:1", "sources[0].weight is 1e-30; allowed: 0, or at least 10^-15"),
        ("--source a:5:1 --source a:5:1", "sources[1].name is a twice; allowed: each name once"),
        ("--source a:5:0", "sources[].weight is 0"),
        ("--source a:5:1 --stage 7", "FROM:W,W,..."),
        ("--source a:5:1 --stage 7:1,2", "weights is 2 numbers"),
        ("--source a:5:1 --max-passes 2", "max_passes is 2"),
        ("--source a:5:1 --run-length 3 --samples 5", "a multiple of 3, which is run_length"),
        ("--source a:5:1 --exhaustion fail --samples 6", "samples is 6; allowed: 0 to 5"),
        ("--source a:5:1 --end 6", "--end is 6; allowed: 0 to 5"),
        ("--source a:5:1 --start 3 --end 2", "--start is 3; allowed: 0 to 2"),
        ("--source a:5:1 --exhaustion renormalize --plot", "--plot is not for --exhaustion renormalize"),
        ("--source a:5:1 --index-space shared --rank 0", "index_space is shared"),
        ("--source a:5:1 --plot --rank 0", "cannot be used with"),
        ("", "--source"),
    ]);
    for (options, part) in refused {
        let output = run(&format!("blend {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(part), "{options}: {said}");
    }
    let folder = files::folder("blend-none");
    let path = folder.join("run.json");
    fs::write(&path, r#"{"order": {"samples": 7}}"#).unwrap();
    let (_, said) = failing(&format!("blend --recipe {}", path.display()));
    assert_eq!(said, "error: order is feistel; allowed: blend or blend-exact, where sources are asked for");
}

#[test]
fn programs_get_numbers_and_people_get_a_table_that_fits() {
    let options = "--source a:40:5 --source b:30:3 --samples 90 --stage 45:1,7";
    let rows = text(&format!("blend {options} --format jsonl"));
    let first: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(first["weight"], serde_json::json!([5, 1]));
    assert!(first["whole_passes"].is_u64() && first["of_the_next"].is_u64(), "{first}");
    let one = text("blend --source a:40:5 --source b:30:3 --samples 90 --format csv");
    assert!(one.lines().nth(1).unwrap().starts_with("a,5,0.625,"), "{one}");
}
