//! `samedeal split`

use std::fs;
use std::io::Write;
use std::process::Stdio;

use samedeal::Split;
use serde_json::Value;

use crate::files::{Dataset, folder};
use crate::{command, failing, json, refuses, run, text};

const PARTS: &str = "--part test:10 --part validation:10 --part training:80 --seed 42";

fn split() -> Split {
    Split::by_weight([("test", 10), ("validation", 10), ("training", 80)]).seed(42).build().unwrap()
}

#[test]
fn parts_are_those_of_the_library() {
    let split = split();
    let found = json(&format!("split --samples 5e5 {PARTS} --json"));
    let counts = found["parts"].as_array().unwrap().iter().map(|part| part["samples"].as_u64().unwrap());
    assert!(counts.eq(split.counts(500_000).unwrap()), "{found}");
    assert_eq!((&found["samples"], &found["parts"][2]["share_asked"]), (&500_000.into(), &0.8.into()));
    assert_eq!(found["recipe"], serde_json::from_str::<Value>(&split.recipe().unwrap()).unwrap());
    let lines = |arguments: &str| text(arguments).lines().map(str::to_owned).collect::<Vec<_>>();
    for part in split.parts() {
        let expected = split.indices(part, 5_000).unwrap().iter().map(u64::to_string).collect::<Vec<_>>();
        assert_eq!(lines(&format!("split --samples 5000 {PARTS} --members {part} --format text")), expected);
        let expected = split.others(part, 5_000).unwrap();
        let found = json(&format!("split --samples 5000 {PARTS} --others {part} --json"));
        assert_eq!((&found["indices"], &found["other_than"]), (&expected.into(), &part.as_str().into()));
    }
    let each = json(&format!("split --samples 5000 {PARTS} --each --start 100 --count 50 --json"));
    assert_eq!(each["part_of"], Value::from(split.part_of_run(100, 50).unwrap()));
    assert_eq!(each["names"], Value::from(split.parts()));
    let window = json(&format!("split --samples 5e5 {PARTS} --members test --start 20_000 --count 3 --json"));
    assert_eq!(window["indices"], Value::from(&split.indices("test", 500_000).unwrap()[20_000..20_003]));
}

#[test]
fn tables_are_for_people() {
    let shown = text(&format!("split --samples 1e6 {PARTS}"));
    assert!(shown.contains("share asked") && shown.contains("80.00 %"), "{shown}");
    assert!(shown.contains("1,000,000 samples, seed 42; --members PART shows"), "{shown}");
    let shown = text(&format!("split --samples 1e4 {PARTS} --members test"));
    assert_eq!(shown.lines().count(), 3 + 20 + 1 + 1);
    assert!(
        shown.contains("20 of the ") && shown.contains("samples of part test; --start, --count and --all"),
        "{shown}"
    );
    let shown = text(&format!("split --samples 3 {PARTS} --each"));
    assert!(shown.contains("training") && shown.ends_with("3 of the 3 samples\n"), "{shown}");
}

#[test]
fn sizes_and_folds() {
    let found = json("split --size test:100 --size training:900 --seed 1 --json");
    assert_eq!((&found["samples"], &found["parts"][0]["samples"]), (&1_000.into(), &100.into()));
    let (mut all, folds) = (Vec::new(), Split::folds(5).seed(3).build().unwrap());
    for fold in 0..5 {
        let found = json(&format!("split --samples 1000 --folds 5 --seed 3 --members {fold} --json"));
        assert_eq!(found["indices"], Value::from(folds.indices(fold, 1_000).unwrap()));
        all.extend(found["indices"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()));
    }
    all.sort_unstable();
    assert!(all.into_iter().eq(0..1_000));
}

#[test]
fn a_recipe_is_written_and_read() {
    let path = folder("split-recipe").join("split.json");
    assert_eq!(text(&format!("split {PARTS} --recipe-out {}", path.display())), "");
    assert_eq!(fs::read_to_string(&path).unwrap().trim(), split().recipe().unwrap());
    assert_eq!(text(&format!("split {PARTS} --recipe-out -")).trim(), split().recipe().unwrap());
    let recipe = format!("split --recipe {}", path.display());
    let list = "--samples 3000 --members test --format text";
    assert_eq!(text(&format!("{recipe} {list}")), text(&format!("split {PARTS} {list}")));
    // With a number of samples, the recipe is written and the report is printed.
    assert!(text(&format!("split --samples 30 {PARTS} --recipe-out {}", path.display())).contains("training"));
    // If the report fails, no recipe is written.
    let other = path.with_file_name("other.json");
    refuses(&format!("split --samples 30 {PARTS} --members none --recipe-out {}", other.display()), "known: ");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    fs::write(&path, r#"{"split": {"parts": [{"name": "a"}]}}"#).unwrap();
    refuses(&format!("{recipe} --samples 3"), "split.json: parts[0].weight is missing");
    // A recipe of another kind is refused, and `indices` refuses the recipe of a split.
    fs::write(&path, r#"{"order": {"samples": 9}}"#).unwrap();
    assert!(failing(&format!("{recipe} --samples 3")).1.contains("split.json: "));
    fs::write(&path, split().recipe().unwrap()).unwrap();
    let (_, said) = failing(&format!("indices --recipe {}", path.display()));
    assert!(said.contains("split.json: "), "{said}");
}

#[test]
fn rows_of_files_are_samples() {
    let dataset = Dataset::write("split-rows");
    let path = dataset.folder.display();
    let rows = dataset.rows.len() as u64;
    let found = json(&format!("split {path} {PARTS} --members training --json"));
    assert_eq!(found["indices"], Value::from(split().indices("training", rows).unwrap()));
    let shown = text(&format!("split {path} {PARTS} --members training"));
    let first = found["indices"][0].as_u64().unwrap() as usize;
    assert!(shown.contains("file") && shown.contains(&dataset.rows[first].0), "{shown}");
    // Samples can be split by a column of numbers, or by a column of texts.
    let ids = json(&format!("split {path} --column number {PARTS} --each --json"));
    let numbers = [3, 40, 1, 0, 57, 20, 9].into_iter().flat_map(|count| (0..count).map(|row| row % 16));
    assert_eq!(ids["part_of"], Value::from(split().part_of(&numbers.collect::<Vec<_>>()).unwrap()));
    let keys = json(&format!("split {path} --column text --keys {PARTS} --each --json"));
    let texts = dataset.rows.iter().map(|(_, _, text)| text).collect::<Vec<_>>();
    assert_eq!(keys["part_of"], Value::from(split().part_of_keys(&texts).unwrap()));
    let (_, said) = failing(&format!("split {path} --column text {PARTS}"));
    assert!(said.contains("Z.parquet") && said.contains("holds text; add --keys to split by text"), "{said}");
    let (_, said) = failing(&format!("split {path} --column body --keys {PARTS}"));
    assert!(said.contains("has no column \"body\"; name one with --column: text, number"), "{said}");
    let (_, said) = failing(&format!("split {path} --keys {PARTS}"));
    assert!(said.contains("has columns; name one with --column"), "{said}");
    let (_, said) = failing(&format!("split {path} --column words --keys {PARTS}"));
    assert!(said.contains("holds a list; allowed: whole numbers, or text with --keys"), "{said}");
    let (_, said) = failing(&format!("split {path} --size a:5"));
    assert!(said.contains("the files have 130 rows, and the sizes of the parts are 5 together"), "{said}");
    let (_, said) = failing(&format!("split {path} --column note --keys {PARTS}"));
    assert!(said.contains("has no value"), "{said}");
}

#[test]
fn files_tell_ids_and_keys() {
    let folder = folder("split-keys");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let table = file("rows.csv", "speaker,patient\nann,7\nbob,9\nann,7\ncid,1\n");
    let of_keys = |keys: &[&str]| Value::from(split().part_of_keys(keys).unwrap());
    let of_ids = |ids: &[u64]| Value::from(split().part_of(ids).unwrap());
    let each = |what: &str| json(&format!("split {what} {PARTS} --each --json"))["part_of"].clone();
    assert_eq!(each(&format!("{table} --column speaker --keys")), of_keys(&["ann", "bob", "ann", "cid"]));
    assert_eq!(each(&format!("{table} --column patient")), of_ids(&[7, 9, 7, 1]));
    // A number that is a key and the same number as an id may be in different parts.
    assert_eq!(each(&format!("{table} --column patient --keys")), of_keys(&["7", "9", "7", "1"]));
    assert_eq!(each(&file("ids.txt", "5\n3\n5\n")), of_ids(&[5, 3, 5]));
    assert_eq!(each(&format!("{} --keys", file("keys.txt", "a b\n\nä\n"))), of_keys(&["a b", "", "ä"]));
    assert_eq!(each(&file("ids.json", "[4, 9]")), of_ids(&[4, 9]));
    let lines = file("rows.jsonl", "{\"who\": \"x\"}\n{\"who\": \"y\"}\n");
    assert_eq!(each(&format!("{lines} --column who --keys")), of_keys(&["x", "y"]));
    // The list of members has the numbers of the rows.
    let found = json(&format!("split {table} --column speaker --keys --part all:1 --members all --json"));
    assert_eq!((&found["indices"], &found["samples"]), (&serde_json::json!([0, 1, 2, 3]), &4.into()));
    for (what, words) in [
        (table.clone(), "has columns; name one with --column: speaker, patient"),
        (format!("{table} --column name"), "has no column \"name\"; name one with --column"),
        (
            format!("{table} --column speaker"),
            "line 2: column \"speaker\" is \"ann\"; allowed: whole numbers, or add --keys",
        ),
        (file("negative.txt", "1\n-1\n"), "line 2 is -1; allowed: whole numbers from 0 up"),
        (file("large.txt", "9007199254740991\n"), "ids is 9007199254740991; allowed: "),
        (format!("{} --column x", file("plain.txt", "1\n")), "without columns; leave \"x\" out after --column"),
        (format!("{lines} --keys"), "name a field with --column: who"),
        ("no/such/file.csv --column a".to_owned(), "no/such/file.csv"),
    ] {
        refuses(&format!("split {what} {PARTS}"), words);
    }
}

#[test]
fn lines_come_from_standard_input() {
    let piped = |arguments: &str, input: &str| {
        let mut command = command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(if output.status.success() { output.stdout } else { output.stderr }).unwrap();
        (output.status.code(), said)
    };
    let names = split().part_of_keys(&["a.wav", "b.wav"]).unwrap();
    let names = names.into_iter().map(|part| split().name_of(part).unwrap().to_owned()).collect::<Vec<_>>();
    let (code, said) = piped(&format!("split - --keys {PARTS} --each --format text"), "a.wav\nb.wav\n");
    assert_eq!((code, said), (Some(0), format!("0\t{}\n1\t{}\n", names[0], names[1])));
    let (code, said) = piped(&format!("split - {PARTS}"), "a.wav\n");
    assert!(
        code == Some(2) && said.contains("-: line 1 is \"a.wav\"; allowed: whole numbers, or add --keys"),
        "{said}"
    );
    let (code, said) = piped(&format!("split - --column x {PARTS}"), "");
    assert!(code == Some(2) && said.contains("without columns"), "{said}");
    let (code, said) = piped(&format!("split - {PARTS} --json"), "");
    assert!(code == Some(0) && said.contains("\"samples\":0"), "{said}");
}

#[test]
fn arrays_are_written() {
    let path = folder("split-npy").join("training.npy");
    let output =
        run(&format!("split --samples 1000 {PARTS} --members training --format npy --output {}", path.display()));
    assert!(output.status.success() && output.stdout.is_empty());
    let bytes = fs::read(&path).unwrap();
    let expected = split().indices("training", 1_000).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY"));
    let values = &bytes[bytes.len() - 8 * expected.len()..];
    assert!(values.chunks_exact(8).map(|it| u64::from_le_bytes(it.try_into().unwrap())).eq(expected));
    let (_, said) = failing(&format!("split --samples 9 {PARTS} --format npy"));
    assert!(said.contains("are no array; add --members PART"), "{said}");
}

#[test]
fn refusals_say_what_to_do_next() {
    for (arguments, words) in [
        ("split --samples 9", "required"),
        ("split --part a:1", "the samples are missing; needed: a PATH or --samples <N>, or --recipe-out <FILE>"),
        ("split --samples 9 --part a:1 --size b:1", "cannot be used with"),
        ("split --samples 9 --folds 2 --part a:1", "cannot be used with"),
        ("split --samples 9 --folds 0", "--folds is 0; allowed: 1 to 65536"),
        ("split --samples 9 --folds 65537", "parts is 65537 objects; allowed: 1 to 65536"),
        ("split --samples 9 --part a", "allowed: a name and a weight, such as test:10 or test:0.1"),
        ("split --samples 9 --part a:0", "parts[].weight is 0; allowed: "),
        ("split --samples 9 --part a:1 --part a:2", "parts[1].name is a; allowed: "),
        ("split --samples 9 --part a:1 --members b", "part is \"b\"; known: a"),
        ("split --samples 9 --part a:1 --members a --each", "cannot be used with"),
        ("split --samples 9 --part a:1 --count 3", "--start, --count and --all are for --members, --others and --each"),
        ("split --samples 9 --part a:1 --members a --start 10", "--start is 10; allowed: 0 to 9"),
        ("split --samples 9 --size a:5", "--samples is 9; allowed: 0 to 5, the sum of the sizes"),
        ("split --keys --part a:1 --samples 9", "cannot be used with"),
        ("split --keys --part a:1", "PATH"),
    ] {
        // The message of a missing argument names it in a later line.
        let output = run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{arguments}: {said}");
    }
}

#[test]
fn sizes_are_exact_among_samples_and_keys() {
    let folder = folder("split-exact");
    let path = folder.join("rows.csv");
    let rows = (0..3_000).map(|row| format!("speaker {},{row}\n", row % 700)).collect::<String>();
    fs::write(&path, format!("speaker,row\n{rows}")).unwrap();
    let sized = "--size test:100 --size validation:50 --rest training --seed 42";
    let found = json(&format!("split {} --column speaker --keys {sized} --each --json", path.display()));
    let sizes = Split::by_size([("test", 100), ("validation", 50)]).seed(42).build().unwrap();
    let keys = (0..3_000).map(|row| format!("speaker {}", row % 700)).collect::<Vec<_>>();
    let exact = sizes.exact_sizes().unwrap();
    exact.add_keys(&keys).unwrap();
    let split = exact.split("training").unwrap();
    assert_eq!(found["part_of"], Value::from(split.part_of_keys(&keys).unwrap()));
    assert_eq!(found["recipe"], serde_json::from_str::<Value>(&split.recipe().unwrap()).unwrap());
    for samples in [&format!("{} --column row", path.display()), "--samples 3000"] {
        let found = json(&format!("split {samples} {sized} --json"));
        let counts = found["parts"].as_array().unwrap().iter().map(|part| part["samples"].as_u64().unwrap());
        assert_eq!(counts.collect::<Vec<_>>(), [100, 50, 2_850], "{samples}");
    }
    let dataset = Dataset::write("split-exact-rows");
    let found = json(&format!("split {} --size test:7 --rest training --json", dataset.folder.display()));
    assert_eq!((&found["parts"][0]["samples"], &found["samples"]), (&7.into(), &dataset.rows.len().into()));
    // The recipe has the weights, and needs the samples no more.
    let recipe = folder.join("split.json");
    text(&format!("split --samples 3000 {sized} --recipe-out {}", recipe.display()));
    let found = json(&format!("split --samples 3000 --recipe {} --members test --json", recipe.display()));
    assert_eq!(found["indices"].as_array().unwrap().len(), 100);
    for (arguments, words) in [
        ("split --samples 9 --size a:10 --rest b", "size is 10; allowed: 0 to 9, the number of different keys"),
        ("split --size a:1 --rest b", "the samples are missing; needed: a PATH or --samples <N>"),
        ("split - --keys --size a:1 --rest b", "standard input can be read once; write it into a file"),
        ("split --samples 9 --size a:1 --rest a", "name is a; allowed: "),
        ("split --samples 9 --part a:1 --rest b", "cannot be used with"),
    ] {
        refuses(arguments, words);
    }
}
