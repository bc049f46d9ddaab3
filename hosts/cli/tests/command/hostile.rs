//! Checkpoints that somebody made to harm the reader. Each is refused or explained, with bounded memory, time and
//! output.
//!
//! The limits are only set on Linux, because only Linux can limit the memory that a process really uses. Times are
//! processor times.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::files::folder;

/// The largest processor time in seconds. The slowest file takes a few seconds, and more in a build without
/// optimisation.
const SECONDS: u32 = 60;
/// The largest size of the heap in kB, for files of 64 MB and the values in them. It is more than a gigabyte, because a
/// build of the engine with checks needs more.
const KILOBYTES: u32 = 1_500_000;
/// The largest number of bytes that may be printed.
const PRINTED: usize = 1 << 26;

/// Explains a file in a process with limits. Returns the exit code, standard output and standard error.
#[track_caller]
fn explained(path: &Path, options: &str) -> (i32, String, String) {
    let mut command = Command::new("sh");
    let limits = if cfg!(target_os = "linux") { format!("ulimit -d {KILOBYTES}; ") } else { String::new() };
    let script = format!("{limits}ulimit -t {SECONDS}; exec \"$0\" explain \"$1\" {options}");
    let output = command.args(["-c", &script, env!("CARGO_BIN_EXE_samedeal")]).arg(path).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let code = output.status.code();
    let code = code.unwrap_or_else(|| panic!("{} {options}: {}: {said}", path.display(), output.status));
    assert!(matches!(code, 0 | 2) && !said.contains("panicked"), "{code}: {said}");
    assert!(output.stdout.len() <= PRINTED && said.len() < 1 << 14, "{} and {}", output.stdout.len(), said.len());
    (code, String::from_utf8(output.stdout).unwrap(), said)
}

/// Writes a file, explains it, and checks the exit code and the output.
#[track_caller]
fn check(name: &str, bytes: &[u8], code: i32, words: &str) {
    let path = written(name, bytes);
    // A refused file prints nothing, so one format is enough.
    let formats = if code == 0 { &["--json", "--format text", ""][..] } else { &["--json"] };
    for options in formats {
        let (found, printed, said) = explained(&path, options);
        let told = if code == 0 { printed } else { said };
        let short = told.chars().take(2_000).collect::<String>();
        assert!(found == code && told.contains(words), "{name} {options}: {found}: {short}");
    }
    fs::remove_file(path).unwrap();
}

fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder(&format!("hostile-{name}")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn state(consumed: u64) -> String {
    state_of(r#"{"name":"feistel","samples":1000,"seed":1}"#, &consumed.to_string())
}

fn state_of(order: &str, consumed: &str) -> String {
    format!(r#"{{"samedeal":1,"kind":"sampler","recipe":{{"order":{order}}},"epoch":0,"consumed":{consumed}}}"#)
}

/// A text in a pickle.
fn text(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [&[&b"\x80\x04"[..]], parts, &[b"."]].concat().concat()
}

/// A dictionary that is a state. The instructions in `recipe` make its recipe.
fn state_as_values(recipe: &[u8], epoch: u8) -> Vec<u8> {
    let (version, kind) = ([text("samedeal"), b"K\x01".to_vec()].concat(), [text("kind"), text("sampler")].concat());
    let epoch = [text("epoch"), vec![b'K', epoch], text("consumed"), b"K\x05".to_vec()].concat();
    [b"}(", &version[..], &kind, &text("recipe"), recipe, &epoch, b"u"].concat()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive
            .start_file(*name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated))
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The places in an archive at which its list of files begins, and at which its last record begins.
fn directory(archive: &[u8]) -> (usize, usize) {
    let end = archive.len() - 22;
    let number = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
    (number(end + 16), end)
}

/// A copy of an archive. Its list has the only file under each of these names, which have equal lengths.
fn overlapping(archive: &[u8], names: &[String]) -> Vec<u8> {
    let (start, end) = directory(archive);
    let entry = &archive[start..end];
    let mut bytes = archive[..start].to_vec();
    for name in names {
        let mut copy = entry.to_vec();
        copy[46..46 + name.len()].copy_from_slice(name.as_bytes());
        bytes.extend(copy);
    }
    let mut last = archive[end..].to_vec();
    let count = (names.len() as u16).to_le_bytes();
    last[8..10].copy_from_slice(&count);
    last[10..12].copy_from_slice(&count);
    last[12..16].copy_from_slice(&((entry.len() * names.len()) as u32).to_le_bytes());
    [bytes, last].concat()
}

#[test]
fn many_states() {
    let texts = |count: u64| (0..count).map(|number| text(&state(number % 1000))).collect::<Vec<_>>().concat();
    check("as-many-as-allowed", &pickle(&[b"](", &texts(1_024), b"e"]), 0, "feistel");
    check("more", &pickle(&[b"](", &texts(1_025), b"e"]), 2, "more states than any checkpoint");
    check("in-json", format!("[{}0]", "{\"samedeal\":1,\"kind\":\"a\"},".repeat(5_000)).as_bytes(), 2, "more states");
    // Each state is in a dictionary within the dictionary of the one before, under a long key.
    for levels in [900, 2_000] {
        let keys = [text(&"k".repeat(64)), b"q\x000".to_vec(), text("s"), b"q\x010".to_vec()].concat();
        let level = |number: u64| [b"}(h\x01", &text(&state(number % 1000))[..], b"h\x00"].concat();
        let values = (0..levels).map(level).collect::<Vec<_>>().concat();
        let end = b"u".repeat(levels as usize);
        check("nested", &pickle(&[&keys, &values, b"N", &end]), 2, "show one of them with --place");
    }
    // A long text comes many times, and then a short one.
    let sizes = vec!["1"; 50_000].join(",");
    let long = state_of(&format!(r#"{{"name":"feistel","samples":1000,"seed":1,"other":[{sizes}]}}"#), "5");
    check("repeated", &pickle(&[b"](", &text(&long).repeat(600), b"e"]), 2, "show one of them with --place");
    check("repeated-short", &pickle(&[b"](", &text(&state(5)).repeat(1_000), b"e"]), 0, "feistel");
}

#[test]
fn many_values() {
    // Millions of values from one short opcode each: some copy the last value, others need none before them.
    let chunk = [b"(N", &b"2".repeat(4_000_000)[..], b"e"].concat();
    check("twice", &pickle(&[b"]]", &chunk.repeat(15)]), 2, "too many");
    check("memo", &pickle(&[b"N", &b"\x94".repeat(60_000_000)]), 2, "too many");
    check("marks", &pickle(&[b"N", &b"(".repeat(60_000_000)]), 2, "too many");
    check("lists", &pickle(&[&b"]0".repeat(30_000_000), b"N"]), 2, "too many");
    check("stack", &pickle(&[&b"]".repeat(60_000_000)]), 2, "too many");
    check("texts", &pickle(&[&b"U\x01a0".repeat(15_000_000), b"N"]), 2, "too many");
    check("json", format!("[{}0]", "[],".repeat(20_000_000)).as_bytes(), 2, "too many");
    check("json-maps", format!("[{}0]", "{\"\\n\":0},".repeat(6_000_000)).as_bytes(), 2, "too many");
    check("declared", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", 2, "cut off");
    check("declared-number", b"\x80\x04\x8b\xff\xff\xff\x7f", 2, "cut off");
}

#[test]
fn values_that_hold_one_another() {
    // Each of forty lists contains the list before it twice. Written out, they would be 2^40 values.
    let laughs = [&b"]q\x00"[..], &b"0]q\x01(h\x00h\x00e0h\x01q\x00".repeat(40)].concat();
    check("laughs", &pickle(&[&laughs]), 2, "holds no state");
    check("laughs-in-a-state", &pickle(&[&state_as_values(&laughs, 0)]), 2, "holds");
    // Many states share a long list. Equal states are read once, and the number of different states is limited.
    let list = [b"](", &b"K\x01".repeat(1_000_000)[..], b"eq\x05"].concat();
    let first = state_as_values(&list, 0);
    let more = (0..50_000_u32).map(|number| state_as_values(b"h\x05", number as u8)).collect::<Vec<_>>().concat();
    check("shared", &pickle(&[b"](", &first, &more, b"e"]), 2, "holds");
    // These values contain themselves.
    check("itself", &pickle(&[b"]q\x00h\x00a"]), 2, "holds no state");
    check(
        "state-itself",
        &pickle(&[b"}q\x00(", &text("samedeal"), b"K\x01", &text("kind"), b"h\x00u"]),
        2,
        "holds no state",
    );
    // Values are searched as deep as Python writes them, and no deeper.
    check("deep", &pickle(&[&b"]".repeat(2_000_000), &text(&state(5)), &b"a".repeat(2_000_000)]), 2, "holds no state");
    check("less-deep", &pickle(&[&b"]".repeat(900), &text(&state(5)), &b"a".repeat(900)]), 0, "feistel");
    check("deep-json", "[".repeat(60_000_000).as_bytes(), 2, "no JSON");
}

#[test]
fn archives() {
    let whole = pickle(&[&text(&state(5))]);
    let file = archive(&[("a/data.pkl", &whole)]);
    check("sound", &file, 0, "feistel");
    // An archive has one file under twenty names. The pickle in it has as many values as are allowed.
    let large = pickle(&[&b"N0".repeat(8_000_000), b"N"]);
    let names = (0..20).map(|number| format!("{number:02}.pkl")).collect::<Vec<_>>();
    check("overlapping", &overlapping(&archive(&[("00.pkl", &large)]), &names), 2, "which is more than any");
    let names = (0..60_000).map(|number| format!("{number:05}.pkl")).collect::<Vec<_>>();
    check("many-names", &overlapping(&archive(&[("00000.pkl", &whole)]), &names), 2, "more than 1,024 pickles");
    check("bomb", &archive(&[("a/data.pkl", &vec![0x80; 300 << 20])]), 2, "more than 67,108,864 bytes");
    let (start, end) = directory(&file);
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    // Each of these archives has one fault: a wrong checksum, wrong sizes, a wrong place of the file, a wrong number of
    // files, or a wrong place or size of the list.
    check("checksum", &changed(start + 16, &[1, 2, 3, 4]), 2, "data.pkl");
    for (name, at, bytes) in [
        ("packed-size", start + 20, [0xfe, 0xff, 0xff, 0xff]),
        ("size", start + 24, [0xfe, 0xff, 0xff, 0xff]),
        ("offset", start + 42, [0xfe, 0xff, 0xff, 0x7f]),
        ("count", end + 8, [0xfe, 0xff, 0xfe, 0xff]),
        ("directory-size", end + 12, [0xfe, 0xff, 0xff, 0xff]),
        ("directory-offset", end + 16, [0xfe, 0xff, 0xff, 0x7f]),
    ] {
        explained(&written(name, &changed(at, &bytes)), "");
    }
    for cut in [1, 10, 22, 60, file.len() / 2] {
        check("cut", &file[..file.len() - cut], 2, "cut off at its end");
    }
    // The records for large archives claim 2^63 files, or a list of 2^63 bytes.
    for (name, count, size) in
        [("zip64-count", 1 << 63, 64), ("zip64-size", 1, 1 << 63), ("zip64-both", u64::MAX, u64::MAX)]
    {
        explained(&written(name, &zip64(&file[..end], count, size, start)), "");
    }
}

/// An archive with the records that archives above 4 GB have.
fn zip64(begin: &[u8], count: u64, size: u64, start: usize) -> Vec<u8> {
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let record = [b"PK\x06\x06", &numbers(&[44])[..], &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    let record = [record, numbers(&[count, count, size, start as u64])].concat();
    let locator = [b"PK\x06\x07\0\0\0\0", &numbers(&[begin.len() as u64])[..], b"\x01\0\0\0"].concat();
    let last = [&b"PK\x05\x06\0\0\0\0"[..], &[0xff; 12], &[0, 0]].concat();
    [begin, &record, &locator, &last].concat()
}

/// States of orders that need long tables, or that consist of many other orders.
#[test]
fn orders_that_cost() {
    for order in [
        r#"{"name":"torch","samples":9007199254740991,"seed":1}"#,
        r#"{"name":"fisher-yates","samples":600000000,"seed":1}"#,
        r#"{"name":"blend","samples":1000,"seed":0,"sources":[{"name":"a","weight":1,"order":{"name":"torch","samples":500000000,"seed":1}},{"name":"b","weight":1,"order":{"name":"fisher-yates","samples":500000000,"seed":1}}]}"#,
        r#"{"name":"sharded","samples":4294967295,"seed":1,"lanes":4294967295,"shuffle_window":4294967295,"shards":1,"sizes":[4294967295]}"#,
    ] {
        let (_, _, said) = explained(&written("order", state_of(order, "5").as_bytes()), "");
        assert!(!said.contains("memory"), "{order}: {said}");
    }
    let source = |number: u32| {
        format!(r#"{{"name":"s{number}","weight":1,"order":{{"name":"feistel","samples":10,"seed":{number}}}}}"#)
    };
    let sources = (0..4_000).map(source).collect::<Vec<_>>().join(",");
    let blend = state_of(&format!(r#"{{"name":"blend","samples":1000,"seed":0,"sources":[{sources}]}}"#), "5");
    check("blends", &pickle(&[b"](", &text(&blend).repeat(30), b"e"]), 0, "blend");
}

#[test]
fn states_that_cannot_be() {
    for consumed in ["1001", "18446744073709551615", "-1", "1.5", "null", "\"5\"", "[]"] {
        check(
            "consumed",
            state_of(r#"{"name":"feistel","samples":1000,"seed":1}"#, consumed).as_bytes(),
            2,
            "allowed: 0 to 1000",
        );
    }
    let two = format!("[{:?},{:?}]", state(5), state(1001));
    check("second", two.as_bytes(), 2, "1: the state of a sampler, but consumed is 1001; allowed: 0 to 1000");
    // The valid state is shown if its place is named.
    let path = written("named", two.as_bytes());
    assert_eq!(explained(&path, "--place 0").0, 0);
    assert_eq!(explained(&path, "--place 1").0, 2);
    let reading = |consumed: u64, steps: u64| {
        let order =
            r#"{"name":"sharded","samples":300,"seed":1,"lanes":64,"shuffle_window":256,"shards":2,"sizes":[100,200]}"#;
        let past = format!(r#"{{"world_size":2,"workers":2,"batch_size":4,"drop_last":false,"steps":{steps}}}"#);
        format!(
            r#"{{"samedeal":1,"kind":"reading","recipe":{{"order":{order}}},"epoch":0,"consumed":{consumed},"history":[{past}]}}"#
        )
    };
    check("reading", reading(8, 2).as_bytes(), 0, "sharded");
    check("reading", reading(301, 2).as_bytes(), 2, "consumed is 301; allowed: 0 to 300");
    check("reading", reading(0, 1 << 40).as_bytes(), 2, "the state of a dataset in files, but");
}
