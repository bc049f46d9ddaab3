//! Lengths, from files of every format that has them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::files::{self, Dataset};
use crate::{columns, failing, json};

/// Options for a single batch of all samples.
const ALL: &str = "--strategy pad-to-max --max-batch-size 100000 --json";

/// The lengths that the command reads. `of` are its first arguments.
#[track_caller]
fn lengths(of: &str) -> Vec<u64> {
    let found = json(&format!("batches {of} {ALL}"));
    let batch = &found["batches"][0];
    let numbers =
        |name: &str| batch[name].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect::<Vec<_>>();
    // The batch is sorted, because it is the last one of the epoch.
    let mut lengths = numbers("samples").into_iter().zip(numbers("lengths")).collect::<Vec<_>>();
    lengths.sort_unstable();
    assert!(lengths.iter().map(|&(sample, _)| sample).eq(0..lengths.len() as u64), "{lengths:?}");
    assert_eq!(found["recipe"]["order"]["samples"], Value::from(lengths.len()));
    lengths.into_iter().map(|(_, length)| length).collect()
}

/// The message of a command that refuses lengths.
#[track_caller]
fn refused(of: &str) -> String {
    let (code, said) = failing(&format!("batches {of} {ALL}"));
    assert_eq!(code, 2, "{said}");
    said
}

/// A file in a folder of its own.
fn file(name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let folder = files::folder(&format!("lengths-{}", name.replace('.', "-")));
    let path = folder.join(name);
    fs::write(&path, contents).unwrap();
    path
}

#[test]
fn parquet_columns_of_every_kind_tell_lengths() {
    let path = files::folder("lengths-columns").join("all.parquet");
    columns::write(&path);
    let path = path.display();
    for (column, expected) in [
        ("int", [3, 0, 2_147_483_647]),
        ("small", [1, 200, 255]),
        ("half", [1, 2, 65_535]),
        ("wide", [5, 6, 4_294_967_295]),
        ("unsigned", [5, 6, 7]),
        ("full", [7, 8, 9]),
        ("text --length-unit words", [2, 0, 3]),
        ("text --length-unit characters", [9, 0, 16]),
        ("text --length-unit bytes", [9, 0, 19]),
        ("bytes", [4, 9, 0]),
        ("bytes --length-unit bytes", [4, 9, 0]),
        ("latin --length-unit bytes", [2, 2, 0]),
        ("legacy", [2, 0, 1]),
        ("tokens", [3, 0, 1]),
        ("tokens --length-unit items", [3, 0, 1]),
        ("tokens.list.element", [3, 0, 1]),
        ("nested", [3, 0, 1]),
        ("meta.length", [11, 12, 13]),
    ] {
        assert_eq!(lengths(&format!("{path} --lengths {column}")), [expected, expected].concat(), "{column}");
    }
}

#[test]
fn parquet_columns_that_tell_no_lengths_are_refused() {
    let path = files::folder("lengths-refused").join("all.parquet");
    columns::write(&path);
    let path = path.display();
    let whole = "allowed: whole numbers from 0 to 4294967295";
    for (column, said) in [
        ("beyond", format!("row 1: column \"beyond\" is 18446744073709551615; {whole}")),
        ("negative", format!("row 2: column \"negative\" is -7; {whole}")),
        ("holes", "row 1: column \"holes\" has no value; leave such samples out".to_owned()),
        ("missing", "row 1: column \"missing\" has no value".to_owned()),
        ("latin --length-unit words", "row 1: column \"latin\" is text, but not UTF-8".to_owned()),
        (
            "double",
            "\"double\" holds values of the type DOUBLE; allowed: whole numbers, text, bytes, or lists".to_owned(),
        ),
        ("time", "\"time\" holds values of the type INT64 (Timestamp); allowed: ".to_owned()),
        ("meta", "\"meta\" is a group; name one with --lengths: meta.length, meta.name".to_owned()),
        ("length", "has no column \"length\"; name one with --lengths: int, small, half, wide, ".to_owned()),
        ("", "has columns; name one with --lengths: int, small, ".to_owned()),
        (
            "int --length-unit words",
            "column \"int\" holds a number, which is a length by itself; leave --length-unit words out".to_owned(),
        ),
        (
            "bytes --length-unit words",
            "holds bytes that are not marked as text; allowed: --length-unit bytes".to_owned(),
        ),
        ("text --length-unit items", "holds text; allowed: --length-unit words, characters or bytes".to_owned()),
        // A text has a length in words, in characters and in bytes, and none of them is the default.
        (
            "text",
            "row 0: column \"text\" holds text; say what to count of it: --length-unit words, characters or bytes"
                .to_owned(),
        ),
        ("tokens --length-unit words", "holds a list; allowed: --length-unit items".to_owned()),
    ] {
        let found = refused(&format!("{path} --lengths {column}"));
        assert!(found.contains("all.parquet: ") && found.contains(&said), "{found}, not {said}");
    }
    let found = refused(&format!("{path} --lengths length"));
    assert!(found.ends_with("legacy, tokens, nested, missing, meta.length, meta.name"), "{found}");
}

#[test]
fn folders_are_read_as_other_commands_read_them() {
    let dataset = Dataset::write("lengths-folder");
    let folder = dataset.folder.display();
    let words = dataset.rows.iter().map(|(_, _, text)| text.split_whitespace().count() as u64).collect::<Vec<_>>();
    assert_eq!(lengths(&format!("{folder} --lengths text --length-unit words")), words);
    assert_eq!(lengths(&format!("{folder} --lengths words")), vec![1; 130]);
    let found = refused(&format!("{folder} {folder}/a0.parquet --lengths text --length-unit words"));
    assert!(found.contains("the same file as"), "{found}");
    let found = refused(&format!("{folder} --lengths note --length-unit bytes"));
    assert!(found.contains("Z.parquet: row 1: column \"note\" has no value"), "{found}");
    fs::write(dataset.folder.join("b/broken.parquet"), b"PAR1 and no more").unwrap();
    assert!(
        refused(&format!("{folder} --lengths text --length-unit words"))
            .contains("broken.parquet: cannot be read as Parquet")
    );
}

#[test]
fn arrays_of_numpy_are_read() {
    let npy = |kind: &str, shape: &str, values: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), values].concat()
    };
    let path = file("little.npy", npy("<i4", "3,", &[1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]));
    assert_eq!(lengths(&format!("{} --lengths", path.display())), [1, 0, 256]);
    // The first bytes of a file decide its format.
    let big = file("big.array", npy(">u2", "3,", &[0, 1, 1, 0, 255, 255]));
    assert_eq!(lengths(&format!("{} --lengths", big.display())), [1, 256, 65_535]);
    assert_eq!(lengths(&format!("{} {} --lengths", path.display(), big.display())), [1, 0, 256, 1, 256, 65_535]);
    let found = refused(&format!("{} --lengths tokens", path.display()));
    assert!(found.ends_with("is a NumPy array, without columns; leave \"tokens\" out after --lengths"), "{found}");
    let path = file("float.npy", npy("<f8", "1,", &[0; 8]));
    assert!(refused(&format!("{} --lengths", path.display())).contains("holds values of the type \"<f8\""));
    let path = file("square.npy", npy("|u1", "2, 2", &[0; 4]));
    assert!(refused(&format!("{} --lengths", path.display())).contains("of the shape (2, 2); allowed: one dimension"));
    let path = file("named.npy", "no array");
    assert!(refused(&format!("{} --lengths", path.display())).contains("not a NumPy file, or cut off"));
}

#[test]
fn json_is_read_at_once_and_line_by_line() {
    for (name, contents, column, expected) in [
        ("numbers.json", "[3, 0, 4294967295]", "", [3, 0, 4_294_967_295]),
        ("texts.json", r#" ["a b", "", "c"]"#, "--length-unit words", [2, 0, 1]),
        ("texts-2.json", r#"["a b", "", "é"]"#, "--length-unit characters", [3, 0, 1]),
        ("lists.json", "[[1, 2], [], [\"x\"]]", "", [2, 0, 1]),
        ("objects.json", r#"[{"n": 3, "m": 1.5}, {"n": 0}, {"m": null, "n": 7}]"#, "n", [3, 0, 7]),
        ("object-lists.json", r#"[{"ids": [1, 2]}, {"ids": []}, {"ids": [3]}]"#, "ids", [2, 0, 1]),
        ("lines.jsonl", "{\"n\": 3}\n\n{\"n\": 0}\r\n{\"n\": 7}", "n", [3, 0, 7]),
        (
            "named-json.json",
            "{\"text\": \"a b c\"}\n{\"text\": \"\"}\n{\"text\": \"x\"}\n",
            "text --length-unit words",
            [3, 0, 1],
        ),
        ("columns.json", "{\n  \"about\": \"three\",\n  \"n\": [3, 0, 7]\n}\n", "n", [3, 0, 7]),
        ("texts-3.json", r#"{"n": [1], "text": ["a b", "", "c"]}"#, "text --length-unit words", [2, 0, 1]),
        ("numbers.ndjson", "3\n0\n7\n", "", [3, 0, 7]),
        ("lists.ndjson", "[1, 2]\n[]\n[3]\n", "", [2, 0, 1]),
    ] {
        let path = file(name, contents);
        assert_eq!(lengths(&format!("{} --lengths {column}", path.display())), expected, "{name}");
    }
    for (name, contents, column, said) in [
        ("negative.json", "[1, -3]", "", "item 1 is -3; allowed: whole numbers from 0 to 4294967295"),
        ("fraction.json", "[1.5]", "", "item 0 is 1.5; allowed: whole numbers"),
        ("large.json", "[4294967296]", "", "item 0 is 4294967296; allowed: whole numbers"),
        (
            "nan.json",
            "[1, NaN]",
            "",
            "cannot be read as JSON: expected value at line 1 column 5; allowed: whole numbers, or objects",
        ),
        ("null.json", "[1, null]", "", "item 1 has no value"),
        ("bool.json", "[true]", "", "item 0 is true or false; allowed: whole numbers, text, or lists"),
        ("cut.json", "[1, 2", "", "cannot be read as JSON: EOF"),
        ("rest.json", "[1] 2", "", "cannot be read as JSON: trailing"),
        ("no-field.json", r#"[{"n": 1, "m": 2}]"#, "k", "item 0 has no field \"k\"; name one with --lengths: "),
        ("unnamed.json", r#"[{"n": 1}]"#, "", "item 0 is an object; name a field with --lengths: n"),
        ("unasked.json", "[1]", "n", "item 0 is a number, and no object with the field \"n\"; leave it out"),
        ("null-field.jsonl", "{\"n\": 1}\n{\"n\": null}", "n", "line 2: its \"n\" has no value"),
        ("broken.jsonl", "{\"n\": 1}\n{\"n\"", "n", "line 2 is no JSON at its column 4; allowed: "),
        (
            "object.json",
            "{\"about\": \"words\", \"n\": [1, 2], \"m\": []}",
            "",
            "is an object with the members about, n, m; name a list of it after the file, as in FILE --lengths NAME, where NAME is one of: n, m",
        ),
        ("object-1.json", "{\"n\": 1}", "", "is an object with the members n, and none of them is a list of lengths"),
        ("object-2.json", "{\"n\": [1, 2]}", "m", "has no field \"m\"; name one with --lengths: n"),
        ("object-3.json", "{\"n\": \"a\"}", "n", "its \"n\" is text; allowed: a list with the length of each sample"),
        ("object-4.json", "{\"n\": [1, -2]}", "n", "item 1 of \"n\" is -2; allowed: whole numbers"),
        ("sequence.json", "{\"n\": 1}\n{\"n\": 2} {\"n\": -3}", "n", "item 2: its \"n\" is -3; allowed: whole numbers"),
        ("sequence-2.json", "{\"n\": 1}\n{\"n\"", "n", "cannot be read as JSON: EOF while parsing an object at line 2"),
        ("mixed.json", "[1, [2]]", "", "item 1 has a length in items, where those before it are in tokens"),
        (
            "asked.json",
            "[\"a b\"]",
            "",
            "item 0 holds text; say what to count of it: --length-unit words, characters or bytes",
        ),
        ("counted.json", "[1]", "--length-unit bytes", "item 0 holds a number, which is a length by itself"),
        ("none.json", "[]", "", "holds no samples; name another file"),
        ("empty.json", "", "", "holds no samples; name another file"),
    ] {
        let path = file(name, contents);
        let found = refused(&format!("{} --lengths {column}", path.display()));
        assert!(found.contains(&format!("{name}: {said}")), "{found}, not {said}");
    }
}

#[test]
fn a_file_may_follow_the_option() {
    let (list, object) = (file("after.json", "[3, 0, 7]"), file("after-object.json", "{\"n\": [3, 0, 7]}"));
    assert_eq!(lengths(&format!("--lengths {}", list.display())), [3, 0, 7]);
    let said = refused(&format!("--lengths {}", object.display()));
    assert!(said.contains("after-object.json: is an object with the members n; name a list"), "{said}");
    let gone = "no-such.json: there is no such file, and no PATH with such a column";
    for (arguments, what) in [("--lengths", "PATH is missing"), ("--lengths no-such.json", gone)] {
        let needed = "needed: the file with the lengths, such as lengths.json --lengths, or table.csv --lengths COLUMN";
        assert!(refused(arguments).ends_with(&format!("{what}; {needed}")), "{arguments}");
    }
}

#[test]
fn text_and_tables_are_read() {
    for (name, contents, column, expected) in [
        ("plain.txt", "3\n0\n4294967295\n", "", [3, 0, 4_294_967_295]),
        ("windows.txt", "\u{feff}3\r\n 0 \r\n7", "", [3, 0, 7]),
        ("no-extension", "3\n0\n7", "", [3, 0, 7]),
        ("words.txt", "a b\n\nc\n", "--length-unit words", [2, 0, 1]),
        ("bytes.txt", "a é\n\nc\n", "--length-unit bytes", [4, 0, 1]),
        ("table.csv", "id,n\nx,3\n\"y, z\",0\n\"a\nb\",7\n", "n", [3, 0, 7]),
        ("text.csv", "n,text\n1,a b\n2,\n3,\"c\nd e\"", "text --length-unit words", [2, 0, 3]),
        ("table.tsv", "id\tn\nx\t3\ny\t0\nz\t7\n", "n", [3, 0, 7]),
    ] {
        let path = file(name, contents);
        assert_eq!(lengths(&format!("{} --lengths {column}", path.display())), expected, "{name}");
    }
    for (name, contents, column, said) in [
        ("negative.txt", "1\n-3\n", "", "line 2 is -3; allowed: whole numbers from 0 to 4294967295"),
        ("large.txt", "4294967296", "", "line 1 is 4294967296; allowed: whole numbers"),
        (
            "nan.txt",
            "1\nNaN\n",
            "",
            "line 2 is \"NaN\"; allowed: whole numbers from 0 to 4294967295; or say what to count",
        ),
        ("fraction.txt", "1.0", "", "line 1 is \"1.0\"; allowed: whole numbers"),
        ("blank.txt", "1\n\n2\n", "", "line 2 has no value"),
        (
            "asked.txt",
            "1\n",
            "n",
            "is a file with a sample in each line, without columns; leave \"n\" out after --lengths",
        ),
        ("empty.txt", "", "", "holds no samples; name another file"),
        (
            "packed.gz",
            "\x1f\u{8b}\x08\0\0",
            "",
            "is no text; allowed: Parquet, .npy, .json, .jsonl, .csv, .tsv, or text",
        ),
        ("column.csv", "id,n\nx,3\n", "m", "has no column \"m\"; name one with --lengths: id, n"),
        ("unnamed.csv", "id,n\nx,3\n", "", "has columns; name one with --lengths: id, n"),
        ("twice.csv", "n,n\n1,2\n", "n", "has several columns \"n\"; give each a name of its own"),
        ("short.csv", "id,n\nx\n", "n", "cannot be read as a table: "),
        ("hole.csv", "id,n\nx,3\ny,\n", "n", "line 3: column \"n\" has no value"),
        ("negative.csv", "id,n\nx,-3\n", "n", "line 2: column \"n\" is -3; allowed: whole numbers"),
        ("header.csv", "id,n\n", "n", "holds no samples; name another file"),
    ] {
        let path = file(name, contents);
        let found = refused(&format!("{} --lengths {column}", path.display()));
        assert!(found.contains(&format!("{name}: {said}")), "{found}, not {said}");
    }
    let said = refused("no/such/file.txt --lengths");
    assert!(said.contains("no/such/file.txt: ") && said.contains("No such file"), "{said}");
}
