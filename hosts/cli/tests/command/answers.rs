//! Answers: their formats, the files that they are written to, and the exit code.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use samedeal::Sampler;
use serde_json::Value;

use crate::files::{self, Dataset};
use crate::{command, failing, json, refuses, run, text};

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
    // No partial file stays behind. `npy` may also go to standard output, if this is no terminal.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(run("indices --samples 70_000 --format npy").stdout, bytes);
    let output = run("batches --samples 100 --batch-size 32 --drop-last --format npy");
    assert!(npy(&output.stdout).0.contains("'shape': (3,32,)"));
    refuses("batches --samples 100 --batch-size 32 --format npy", "--drop-last");
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

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_written_to() {
    use std::os::unix::fs::FileTypeExt;

    let folder = files::folder("pipe");
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read(pipe).unwrap())
    };
    text(&format!("indices --samples 9 --format npy --output {}", pipe.display()));
    assert_eq!(npy(&reader.join().unwrap()).1.len(), 9);
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

/// A pipe whose reader was closed before anything is written.
fn unheard() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn the_exit_code_is_the_verdict_even_if_nobody_reads() {
    for (arguments, code) in [
        ("verify --samples 9 --world-size 2", 0),
        ("verify --samples 9 --world-size 2 --remainder uneven --batch-size 4", 1),
        ("verify --samples 9 --world-size 2 --remainder uneven --batch-size 4 --format text", 1),
        ("verify --samples 9 --world-size 2 --remainder uneven --batch-size 4 --json", 1),
        ("verify --samples 9 --world-size 0", 2),
        ("verify --samples 9 --world-size two", 2),
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
    for arguments in
        ["verify --samples 9", "verify --samples 9 --world-size 2 --remainder uneven --batch-size 4", "orders"]
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
        format!("verify {path} --world-size 3"),
        "orders".to_owned(),
    ] {
        let table = text(&subcommand);
        assert!(table.starts_with('┌'), "{table}");
        assert_eq!(text(&format!("{subcommand} --format table")), table);
        let value = json(&format!("{subcommand} --json"));
        assert_eq!(json(&format!("{subcommand} --format json")), value);
        let bare = text(&format!("{subcommand} --format text"));
        assert!(!bare.contains(['│', '┆']) && bare.ends_with('\n'), "{bare}");
        // The bare output has a line for every row of the table, without the frame, the heading and the note.
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
        text(&format!("locate {deal} --world-size 4 --sample 0,4")),
        "0\tupcoming\t0\t0\t0\t0\t0\t1\n0\tpadding\t5\t1\t1\t0\t1\t0\n4\tupcoming\t4\t0\t1\t0\t1\t0\n"
    );
    assert_eq!(text(&format!("locate {deal} --world-size 2 --remainder drop --sample 4")), "4\tdropped\t\t\t\t\t\t\n");
    let checks = text("verify --samples 4000 --world-size 2 --format text");
    assert!(checks.starts_with("disjoint\tok\t{\"dealt_twice\":0,\"unknown\":0}\n"), "{checks}");
    let dataset = Dataset::write("bare");
    let (file, row, _) = &dataset.rows[129];
    let found = text(&format!("locate {} --order sequential --sample 129 --format text", dataset.folder.display()));
    assert_eq!(
        found,
        format!("129\tupcoming\t129\t0\t129\t129\t0\t0\t{}\t{row}\n", dataset.folder.join(file).display())
    );
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
        assert_eq!((&found["recipe"]["order"]["seed"], &found["epoch"]), (&seed.to_string().into(), &epoch.into()));
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

#[test]
fn programs_get_all_and_tables_say_how_much_they_show() {
    let sampler = Sampler::builder(14_822).seed(1).world_size(1).build().unwrap();
    let all: Vec<u64> = sampler.indices(..).unwrap();
    let found = json("indices --samples 14,822 --seed 1 --json");
    assert_eq!(found["indices"], Value::from(all.clone()));
    assert_eq!(text("indices --samples 14_822 --seed 1 --format text").lines().count(), 14_822);
    let found = json("batches --samples 14,822 --seed 1 --batch-size 1,000 --json");
    assert_eq!(found["batches"].as_array().unwrap().len(), 15);
    assert!(
        text("indices --samples 14,822")
            .contains("20 of the 14,822 samples of rank 0 of 1; --start, --count and --all")
    );
    assert!(
        text("batches --samples 14,822 --batch-size 2")
            .contains("5 of the 7,411 batches of rank 0 of 1; --start, --count")
    );
    // JSON has all repetitions of a sample; a table shows only some of them.
    let found = json("locate --samples 1 --world-size 1,000 --sample 0 --json");
    assert_eq!(found["samples"][0]["places"].as_array().unwrap().len(), 1000);
    assert_eq!(found["samples"][0]["num_padding"], 999);
    let shown = text("locate --samples 1 --world-size 1,000 --sample 0");
    assert!(
        shown.contains("sample 0 is dealt 991 more times, as padding (--format text and json show all)"),
        "{shown}"
    );
}

#[test]
fn what_is_printed_is_read() {
    // The text may be one grouped number or a list of samples. The size of the dataset decides.
    let asked = |samples: &str, sample: &str| {
        let found = json(&format!("locate --samples {samples} --sample {sample} --json"));
        let found = found["samples"].as_array().unwrap().iter().map(|found| found["sample"].as_u64().unwrap());
        found.collect::<Vec<_>>()
    };
    assert_eq!(asked("50_000", "31,337"), [31_337]);
    assert_eq!(asked("1,000", "31,337"), [31, 337]);
    assert_eq!(asked("1e3", "7,8,9"), [7, 8, 9]);
    assert_eq!(json("indices --samples 1e8 --start 99,999,990 --json")["indices"].as_array().unwrap().len(), 10);
    assert_eq!(json("mesh dp=1,024 --shard dp --rank 1,000 --json")["world_size"], 1024);
}

#[test]
fn every_answer_in_json_is_an_object() {
    for arguments in [
        "indices --samples 9",
        "batches --samples 9 --batch-size 2",
        "locate --samples 9 --sample 1",
        "step 0 --samples 9 --batch-size 2",
        "fingerprint --samples 9",
        "verify --samples 9",
        "mesh dp=2 tp=2",
        "rank --rank 0 --world-size 1",
        "state --samples 9 --taken 3",
        "orders",
    ] {
        assert!(json(&format!("{arguments} --json")).is_object(), "{arguments}");
    }
    assert_eq!(text("state --samples 9 --taken 3 --json"), text("state --samples 9 --taken 3"));
    // The world size of a mesh is the product of its axes, so an option with another world size is refused.
    assert_eq!(json("mesh dp=2 tp=3 --shard dp --json"), json("mesh dp=2 tp=3 --world-size 6 --shard dp --json"));
    assert_eq!(failing("mesh dp=2 tp=3 --world-size 5").0, 2);
    assert!(failing("mesh a=65536 b=65536").1.contains("multiply to more than 4294967295 ranks"));
}

#[test]
fn verify_ends() {
    refuses(
        "verify --samples 10 --world-size 4294967295",
        "--world-size is 4294967295; allowed here: 1 to 1048576 readers",
    );
}
