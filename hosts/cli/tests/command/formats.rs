//! Formats of rows, widths of tables, and other needs of terminals and shells.

use std::collections::BTreeSet;
use std::fs;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use samedeal::Sampler;
use samedeal::ledger::{FileLog, Ledger};
use serde_json::Value;

use crate::files::{self, Dataset};
use crate::{command, failing, json, refuses, run, text};

/// The rows that a command prints as JSON Lines.
fn lines(arguments: &str) -> Vec<Value> {
    text(&format!("{arguments} --format jsonl")).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A row of a Parquet file, as JSON.
fn object(row: &Row) -> Value {
    let value = |(name, field): (&String, &Field)| {
        let value = match field {
            Field::Null => Value::Null,
            Field::Long(number) => (*number).into(),
            Field::Double(number) => (*number).into(),
            Field::Str(words) => words.as_str().into(),
            other => panic!("{name}: {other}"),
        };
        (name.clone(), value)
    };
    Value::Object(row.get_column_iter().map(value).collect())
}

#[test]
fn rows_are_the_same_in_every_format() {
    let dataset = Dataset::write("rows-in-formats");
    let folder = dataset.folder.display();
    fs::write(dataset.folder.join("lengths.json"), "[3, 5, 8, 2, 9, 4]").unwrap();
    let lengths = format!("{folder}/lengths.json --lengths");
    for arguments in [
        format!("indices {folder} --world-size 4 --rank 3"),
        format!("batches {folder} --batch-size 8 --world-size 4 --rank 3"),
        format!("step 3 {folder} --batch-size 8 --world-size 4 --column text"),
        format!("locate {folder} --sample 7,129 --batch-size 8 --world-size 4"),
        format!("batches {lengths} --max-tokens 20"),
        format!("batches {lengths} --max-tokens 20 --compare"),
        format!("step 0 {lengths} --max-tokens 20"),
        format!("locate {lengths} --max-tokens 20 --sample 3"),
        format!("verify {folder} --batch-size 8"),
        format!("fingerprint {folder}"),
        format!("shards {folder} --world-size 3"),
        format!("shards {folder} --world-size 3 --rank 1"),
        format!("split {folder} --part a:1 --part b:2 --each"),
        format!("split {folder} --part a:1 --part b:2 --members a"),
        format!("split {folder} --part a:1 --part b:2"),
        "blend --source a:100:1 --source b:50:1".to_owned(),
        "steps --samples 100 --global-batch-size 8".to_owned(),
        "mesh dp=2 tp=2 --shard dp".to_owned(),
        "orders".to_owned(),
    ] {
        let rows = lines(&arguments);
        assert!(!rows.is_empty(), "{arguments}");
        let names = rows[0].as_object().unwrap().keys().collect::<Vec<_>>();
        let table = text(&format!("{arguments} --format csv"));
        let mut table = csv::Reader::from_reader(table.as_bytes());
        assert!(table.headers().unwrap().iter().eq(names.iter().copied()), "{arguments}");
        for (row, record) in rows.iter().zip(table.records()) {
            let record = record.unwrap();
            for (name, field) in names.iter().zip(&record) {
                let value = match &row[name.as_str()] {
                    Value::Null => String::new(),
                    Value::String(words) => words.clone(),
                    // Python writes some numbers with a point that Rust writes without one.
                    Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
                    value => value.to_string(),
                };
                assert_eq!(value, field, "{arguments}: {name}");
            }
        }
        let path = dataset.folder.join("rows.pq");
        fs::write(&path, run(&format!("{arguments} --format parquet")).stdout).unwrap();
        let reader = SerializedFileReader::try_from(path.as_path()).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().columns().iter().map(|it| it.name().to_owned());
        assert!(columns.eq(names.iter().map(|name| name.to_string())), "{arguments}");
        let read = reader.get_row_iter(None).unwrap().map(|row| object(&row.unwrap())).collect::<Vec<_>>();
        assert_eq!(read.len(), rows.len(), "{arguments}");
        for (read, row) in read.iter().zip(&rows) {
            for name in &names {
                let (read, row) = (&read[name.as_str()], &row[name.as_str()]);
                // A column with numbers and words is read as a column of words.
                let is_same = read == row || read.as_f64().is_some_and(|it| row.as_f64() == Some(it));
                assert!(is_same || read.as_str() == Some(&row.to_string()), "{arguments}: {name}: {read} {row}");
            }
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn rows_of_a_whole_epoch_are_written_in_parts() {
    let path = files::folder("parts").join("epoch.pq");
    let deal = "--samples 200_001 --world-size 2 --rank 1 --seed 3";
    text(&format!("indices {deal} --format parquet --output {}", path.display()));
    let reader = SerializedFileReader::try_from(path.as_path()).unwrap();
    assert_eq!((reader.num_row_groups(), reader.metadata().file_metadata().num_rows()), (2, 100_001));
    let sampler = Sampler::builder(200_001).seed(3).rank(1).world_size(2).build().unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| object(&row.unwrap())).collect::<Vec<_>>();
    let samples = rows.iter().map(|row| row["sample"].as_u64().unwrap());
    assert!(samples.eq(sampler.indices::<u64>(..).unwrap()));
    assert_eq!((&rows[0]["note"], &rows[100_000]["note"]), (&Value::Null, &"padding".into()));
}

#[test]
fn tables_and_help_follow_the_width() {
    let dataset = Dataset::write("width");
    let widest = |arguments: &str, width: usize| {
        let output = command(arguments).env("COLUMNS", width.to_string()).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        shown.lines().map(|line| line.chars().count()).max().unwrap()
    };
    let batches = "batches --samples 1e9 --batch-size 32 --quiet";
    assert_eq!(widest(batches, 60), 60);
    assert!(widest(batches, 200) > 90 && widest(batches, 200) == text(batches).lines().next().unwrap().chars().count());
    let files = format!("indices {} --quiet", dataset.folder.display());
    assert!(widest(&files, 50) <= 50);
    // A paragraph is one line in the source of the help, so only the width of the terminal breaks it.
    for subcommand in ["recipe", "locate", "steps"] {
        let output = command(&format!("{subcommand} --help")).env("COLUMNS", "70").output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let end = help.split("Examples:").nth(1).unwrap();
        for paragraph in end.split("\n\n").filter(|it| !it.starts_with('\n') && !it.contains("samedeal ")) {
            let lines = paragraph.trim_end().lines().collect::<Vec<_>>();
            let broken = lines[..lines.len() - 1].iter().filter(|line| !line.starts_with(' '));
            broken.for_each(|line| assert!((50..=70).contains(&line.chars().count()), "{subcommand}: {paragraph}"));
        }
    }
}

/// At 80 and 60 columns, tables are as wide as the terminal at most, and have every number and every short word of the
/// table without a limit in one piece.
#[test]
fn wide_tables_fit_and_break_no_number() {
    let folder = files::folder("narrow");
    let path = |name: &str| folder.join(name).display().to_string();
    let lengths = (0..2_000).map(|sample| format!("{}\n", sample * 7_919 % 500)).collect::<String>();
    fs::write(path("lengths"), lengths).unwrap();
    let sampler = Sampler::builder(1_000_000).seed(42).world_size(64).order("torch").build().unwrap();
    fs::write(path("state"), sampler.state(1_000).unwrap()).unwrap();
    for reader in [1, 4_294_967_295] {
        let log = FileLog::open(folder.join("log")).unwrap();
        let ledger = Ledger::builder(reader).block_size(1_000).open(&sampler, log).unwrap();
        ledger.claim().unwrap().unwrap().commit_rest().unwrap();
    }
    let [lengths, state, log] = ["lengths", "state", "log"].map(path);
    let lines = |text: &str| {
        text.lines().filter(|line| line.starts_with(['┌', '│', '├', '╞', '└'])).map(String::from).collect()
    };
    let words = |line: &String| {
        let cells = line.split(['│', '┆']).flat_map(str::split_whitespace).map(String::from);
        cells.filter(|word| word.chars().count() <= 12 || word.starts_with(char::is_numeric)).collect::<Vec<_>>()
    };
    for arguments in [
        "blend --source web:1e9:70 --source books:5e6:20 --source code:2e7:10 --samples 1e8".to_owned(),
        format!("batches --lengths {lengths} --max-tokens 4096 --compare"),
        format!("explain {state}"),
        format!("explain {state} --sample 5,70000 --world-size 64 --batch-size 10"),
        format!("ledger {log}"),
    ] {
        let whole: Vec<String> = lines(&text(&arguments));
        for width in [80, 60] {
            let output = command(&arguments).env("COLUMNS", width.to_string()).output().unwrap();
            let shown: Vec<String> = lines(&String::from_utf8(output.stdout).unwrap());
            let widths = shown.iter().map(|line| line.chars().count()).collect::<BTreeSet<_>>();
            assert!(
                widths.len() == 1 && widths.last() <= Some(&width),
                "{arguments}: {widths:?}\n{}",
                shown.join("\n")
            );
            let parts = shown.iter().flat_map(words).collect::<BTreeSet<_>>();
            let broken =
                whole.iter().filter(|line| line.starts_with('│')).flat_map(words).find(|word| !parts.contains(word));
            assert_eq!(broken, None, "{arguments}, {width} columns:\n{}", shown.join("\n"));
        }
    }
}

#[test]
fn quiet_prints_the_answer_alone() {
    let (all, alone) = ("locate --samples 100 --sample 7", "locate --samples 100 --sample 7 --quiet");
    assert!(text(all).ends_with("order feistel, seed 0\n") && text(alone).ends_with("┘\n"));
    assert!(text(all).starts_with(&text(alone)));
    assert_eq!(text("recipe --samples 9 -q"), text("recipe --samples 9"));
}

#[test]
fn numbers_are_whole_and_well_formed() {
    for (written, number) in [("5k", "5000"), ("1.5e3", "1500"), ("2M", "2000000"), ("1_000", "1000")] {
        assert_eq!(text(&format!("recipe --samples {written}")), text(&format!("recipe --samples {number}")));
    }
    for written in ["_5", "1__0", "5_", "1.7", "1.0005e3", "1.000"] {
        refuses(&format!("recipe --samples {written}"), "such as 50000, 50_000, 50,000, 5e4 or 50k");
    }
}

#[test]
fn a_recipe_within_an_answer_is_the_canonical_text() {
    let deal = "--samples 100 --seed 7 --world-size 2";
    let recipe = text(&format!("recipe {deal}"));
    for arguments in ["indices", "fingerprint", "batches --batch-size 8"] {
        let answer = text(&format!("{arguments} {deal} --json"));
        assert!(answer.contains(recipe.trim_end()), "{answer}");
    }
}

#[test]
fn what_differs_is_told_in_words() {
    let folder = files::folder("differing");
    let path = |name: &str| folder.join(name).display().to_string();
    let write = |name: &str, arguments: &str| fs::write(path(name), text(arguments)).unwrap();
    write("one", "recipe --samples 1000 --seed 5");
    write("other", "recipe --samples 1000 --seed 6 --world-size 2");
    write("state", "state --samples 1000 --seed 5 --taken 100");
    write("later", "state --samples 1000 --seed 5 --taken 150");
    fs::write(path("short"), r#"{"samedeal": 1, "order": {"seed": 5, "samples": 1000}}"#).unwrap();
    let differing = |one: &str, other: &str| run(&format!("diff {} {} --format text", path(one), path(other)));
    let told = |one, other| String::from_utf8(differing(one, other).stdout).unwrap();
    // "short" leaves out members that have their defaults, and "bare" also the version, as people do. Both are equal to
    // "one".
    fs::write(path("bare"), r#"{"order": {"samples": 1000, "seed": 5}}"#).unwrap();
    for same in ["one", "short", "bare"] {
        assert_eq!((differing("one", same).status.code(), told("one", same)), (Some(0), String::new()));
    }
    assert_eq!(differing("one", "other").status.code(), Some(1));
    let expected =
        "\torder.seed\t5\t6\twhich samples come when\n\tdeal.world_size\t1\t2\twhich rank or worker gets them\n";
    assert_eq!(told("one", "other"), expected);
    assert_eq!(told("state", "later"), "\tconsumed\t100\t150\thow far it was read\n");
    let found = run(&format!("diff {} {} --json", path("one"), path("other"))).stdout;
    let found: Value = serde_json::from_slice(&found).unwrap();
    assert_eq!((&found["equal"], &found["differing"][1]["other"]), (&false.into(), &2.into()));
    let rows = run(&format!("diff {} {} --format jsonl", path("one"), path("other"))).stdout;
    let row: Value = serde_json::from_slice(rows.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    assert_eq!((&row["member"], &row["one"], &row["other"]), (&"order.seed".into(), &5.into(), &6.into()));
    let explained = text(&format!("explain {}", path("bare")));
    assert!(explained.contains("the recipe of a sampler") && explained.contains("every library"), "{explained}");
    fs::write(path("none"), "{}").unwrap();
    let (code, said) = failing(&format!("diff {} {}", path("none"), path("none")));
    assert!(code == 2 && said.ends_with("none: holds no state and no recipe of samedeal"), "{said}");
}

#[test]
fn a_shell_gets_its_completions_and_its_manual() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&format!("completions {shell}"));
        assert!(script.contains("shuffle-window") && script.contains("fingerprint"), "{shell}");
    }
    assert!(text("man").starts_with(".ie") && text("man").contains("samedeal"));
    let folder = files::folder("man");
    // A process that has an earlier page open keeps it: the new page is written under another name, and then renamed.
    let [page, kept] = ["samedeal-locate.1", "kept"].map(|name| folder.join(name));
    fs::write(&page, "earlier").unwrap();
    fs::hard_link(&page, &kept).unwrap();
    text(&format!("man --output {}", folder.display()));
    assert!(fs::read_to_string(&page).unwrap().contains("sample"));
    assert_eq!(fs::read_to_string(kept).unwrap(), "earlier");
    let names = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let others = names.filter(|name| !name.starts_with("samedeal") || !name.ends_with(".1")).collect::<Vec<_>>();
    assert_eq!(others, ["kept"]);
    let new = folder.join("new/man");
    text(&format!("man --output {}", new.display()));
    assert!(new.join("samedeal.1").is_file());
    refuses(&format!("man --output {}", page.display()), "samedeal-locate.1: ");
    let version = text("--version");
    assert!(version.starts_with(&format!("samedeal {}\n", env!("CARGO_PKG_VERSION"))), "{version}");
    if cfg!(feature = "component") {
        let (_, after) = version.split_once("samedeal.wasm ").expect(&version);
        let (hash, kept) = after.split_once('\n').expect(&version);
        assert!(kept.starts_with("compiled code "), "{version}");
        assert_eq!(hash.len(), 64);
    } else {
        assert!(version.ends_with("\nengine native\n"), "{version}");
    }
}

#[test]
fn several_limits_are_a_row_each() {
    let path = files::folder("sweep").join("lengths.json");
    let lengths = (0..600_u32).map(|i| 1 + i * 7_919 % 97).collect::<Vec<_>>();
    fs::write(&path, serde_json::to_string(&lengths).unwrap()).unwrap();
    let asked = format!("batches {} --lengths --world-size 2", path.display());
    let found = json(&format!("{asked} --max-tokens 256 --max-tokens 1k --json"));
    let sweep = found["sweep"].as_array().unwrap();
    for (limit, row) in [256, 1000].iter().zip(sweep) {
        let alone = json(&format!("{asked} --max-tokens {limit} --json"));
        assert_eq!((&row["max_tokens"], &row["recipe"]), (&(*limit).into(), &alone["recipe"]));
        assert_eq!(row["metrics"], alone["metrics"]);
    }
    let rows = lines(&format!("{asked} --max-tokens 256 --max-tokens 1k"));
    assert_eq!(
        (rows.len(), &rows[1]["max_tokens"], &rows[1]["steps"]),
        (2, &1000.into(), &sweep[1]["metrics"]["steps"])
    );
    let step = asked.replacen("batches", "step 0", 1);
    assert!(
        failing(&format!("{step} --max-tokens 256 --max-tokens 1k")).1.contains("is 256 and 1000; allowed here: one")
    );
}
