//! How answers are given: the formats, where they go, and the exit code.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use samedeal::Sampler;
use serde_json::Value;

use crate::files::{self, Dataset};
use crate::{command, failing, json, run, text};

#[test]
fn arrays_are_numpy_files() {
    let folder = files::folder("arrays");
    let path = folder.join("indices.npy");
    let silent = text(&format!("indices --samples 70_000 --format npy --output {}", path.display()));
    assert_eq!(silent, "");
    let bytes = std::fs::read(&path).unwrap();
    let (header, values) = npy(&bytes);
    assert_eq!(header.trim_end(), "{'descr': '<i8', 'fortran_order': False, 'shape': (70000,), }");
    assert_eq!(values, Sampler::new(70_000).unwrap().indices::<u64>(..).unwrap());
    // Nothing else stays behind, and standard output will do when it is not a terminal.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(run("indices --samples 70_000 --format npy").stdout, bytes);
    let output = run("batches --samples 100 --batch-size 32 --drop-last --format npy");
    assert!(npy(&output.stdout).0.contains("'shape': (3,32,)"));
    let (code, said) = failing("batches --samples 100 --batch-size 32 --format npy");
    assert!(code == 2 && said.contains("--drop-last"), "{said}");
}

fn npy(bytes: &[u8]) -> (&str, Vec<u64>) {
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, values) = bytes[10..].split_at(length);
    assert_eq!((bytes.len() - values.len()) % 64, 0);
    let values = values.chunks_exact(8).map(|value| u64::from_le_bytes(value.try_into().unwrap()));
    (std::str::from_utf8(header).unwrap(), values.collect())
}

#[test]
fn a_failed_array_leaves_no_file() {
    let folder = files::folder("no-array");
    let output = format!("--format npy --output {}", folder.join("x.npy").display());
    assert_eq!(failing(&format!("batches --samples 100 --batch-size 32 {output}")).0, 2);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let (_, said) = failing("indices --samples 9 --format npy --output /nowhere/at/all.npy");
    assert!(said.contains("/nowhere/at/all.npy"), "{said}");
}

/// A pipe whose reader has gone away, before anything is written.
fn unheard() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn the_exit_code_is_the_verdict_even_if_nobody_reads() {
    for (arguments, code) in [
        ("verify --samples 9 --world 2", 0),
        ("verify --samples 9 --world 2 --remainder uneven --batch-size 4", 1),
        ("verify --samples 9 --world 2 --remainder uneven --batch-size 4 --format text", 1),
        ("verify --samples 9 --world 2 --remainder uneven --batch-size 4 --json", 1),
        ("verify --samples 9 --world 0", 2),
        ("verify --samples 9 --world two", 2),
        ("verify no/such/file.parquet", 2),
        ("orders", 0),
    ] {
        let status = command(arguments).stdout(unheard()).stderr(unheard()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{arguments}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_none() {
    let full = || std::fs::File::create("/dev/full").unwrap();
    for arguments in ["verify --samples 9", "verify --samples 9 --world 2 --remainder uneven --batch-size 4", "orders"]
    {
        let output = command(arguments).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write the answer: "));
    }
}

#[test]
fn formats_mean_the_same_in_every_subcommand() {
    let dataset = Dataset::write("formats");
    let path = dataset.folder.display();
    for subcommand in [
        format!("indices {path} --count 7"),
        format!("batches {path} --batch-size 16 --count 3"),
        format!("locate {path} --sample 1,2,3"),
        format!("fingerprint {path}"),
        format!("verify {path} --world 3"),
        "orders".to_owned(),
    ] {
        let table = text(&subcommand);
        assert!(table.starts_with('┌'), "{table}");
        assert_eq!(text(&format!("{subcommand} --format table")), table);
        let value = json(&format!("{subcommand} --json"));
        assert_eq!(json(&format!("{subcommand} --format json")), value);
        let bare = text(&format!("{subcommand} --format text"));
        assert!(!bare.contains(['│', '┆']) && bare.ends_with('\n'), "{bare}");
        // A line for every row of the table, but for its frame, its head and what is said below it.
        assert_eq!(bare.lines().count(), table.lines().filter(|line| line.starts_with('│')).count() - 1, "{bare}");
        assert_eq!(failing(&format!("{subcommand} --json --format text")).0, 2);
    }
    let replay = format!("replay {path} --batch-size 16");
    assert!(text(&replay).starts_with('┌') && text(&format!("{replay} --format table")).starts_with('┌'));
    let (value, bare) = (json(&format!("{replay} --json")), text(&format!("{replay} --format text")));
    let fields = bare.lines().map(|line| line.split_once('\t').unwrap()).collect::<Vec<_>>();
    assert_eq!(fields.len(), value.as_object().unwrap().len());
    for (name, parts) in fields {
        let expected = match &value[name] {
            Value::String(words) => words.clone(),
            Value::Array(numbers) => numbers.iter().map(Value::to_string).collect::<Vec<_>>().join("\t"),
            number => number.to_string(),
        };
        assert!(parts == expected || name == "seconds", "{name}: {parts}, {expected}");
    }
}

#[test]
fn text_is_bare() {
    assert_eq!(text("indices --samples 2000 --order sequential --start 1500 --count 2 --format text"), "1500\n1501\n");
    assert_eq!(
        text("batches --samples 1003 --order sequential --batch-size 2 --start 500 --format text"),
        "1000\t1001\n1002\n"
    );
    let deal = "--samples 5 --order sequential --batch-size 2 --format text";
    assert_eq!(
        text(&format!("locate {deal} --world 4 --sample 0,4")),
        "0\t0\t0\t0\t0\t0\t1\n0\t5\t1\t1\t0\t1\t0\n4\t4\t0\t1\t0\t1\t0\n"
    );
    assert_eq!(text(&format!("locate {deal} --world 2 --remainder drop --sample 4")), "4\tnot dealt\t\t\t\t\t\n");
    let checks = text("verify --samples 4000 --world 2 --format text");
    assert!(checks.starts_with("disjoint\tok\t0 samples dealt twice, 0 unknown\n"), "{checks}");
    let dataset = Dataset::write("bare");
    let (file, row, _) = &dataset.rows[129];
    let found = text(&format!("locate {} --order sequential --sample 129 --format text", dataset.folder.display()));
    assert_eq!(found, format!("129\t129\t0\t129\t129\t0\t0\t{}\t{row}\n", dataset.folder.join(file).display()));
    let sampler = Sampler::builder(9).seed(4).build().unwrap();
    let lines = [("fingerprint", sampler.fingerprint()), ("config_fingerprint", sampler.config_fingerprint())]
        .map(|(name, print)| format!("{name}\t{}\n", print.unwrap()));
    assert_eq!(text("fingerprint --samples 9 --seed 4 --format text"), lines.concat());
    assert!(text("orders --format text").starts_with("feistel\t"));
}

#[test]
fn numbers_of_64_bits_are_exact_in_json() {
    let (seed, epoch) = (i64::MIN + 1, u64::MAX - 1);
    for subcommand in ["indices", "fingerprint", "batches --batch-size 2"] {
        let found = json(&format!("{subcommand} --samples 5 --seed {seed} --epoch {epoch} --json"));
        assert_eq!((&found["config"]["seed"], &found["config"]["epoch"]), (&seed.into(), &epoch.into()));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command("indices --samples 1e7 --all --format text");
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success() && !line.is_empty());
}
