//! Ledgers: processes and threads of unequal speed share a log, and one of them is killed; logs with an incomplete end,
//! and files that are no log.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::failing;
use samedeal::ledger::{
    Attempt, CHECKPOINT, Claim, FileLog, FolderLog, Ledger, Lines, Log, MemoryLog, RawLedger, Replay,
};
use samedeal::{Error, FailureKind, Layout, Sampler};

const SAMPLES: u64 = 3_000;

fn sampler() -> Sampler {
    Sampler::builder(SAMPLES).seed(-7).epoch(2).rank(1).world_size(3).layout(Layout::Contiguous).build().unwrap()
}

/// The samples of the epoch from position `consumed` on.
fn epoch(consumed: u64) -> Vec<u64> {
    let whole = Sampler::builder(SAMPLES).seed(-7).epoch(2).consumed(consumed).build().unwrap();
    whole.indices(..).unwrap()
}

/// A path that no other test has.
fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("samedeal-ledger-{}-{name}.log", std::process::id()));
    let _ = fs::remove_file(&path);
    let _ = fs::remove_dir_all(&path);
    path
}

/// The log of a path, in a file or in a folder.
fn log_of(kind: &str, path: &Path) -> Box<dyn Log> {
    if kind == "file" { Box::new(FileLog::open(path).unwrap()) } else { Box::new(FolderLog::new(path)) }
}

/// The files of a folder, by their names.
fn files_of(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())).collect()
}

/// The first line of a log, with its line end.
fn first_line(path: &Path) -> String {
    fs::read_to_string(path).unwrap().split_inclusive('\n').next().unwrap().to_owned()
}

fn contradiction(field: &str) -> (FailureKind, String) {
    (FailureKind::Contradiction, field.to_owned())
}

/// Starts a reader in a process of its own. The process is this program again, which runs the test `a_reader` with
/// environment variables for it.
fn spawn(kind: &str, path: &Path, reader: u32, pause: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ledger::a_reader", "--nocapture", "--include-ignored"]);
    command
        .env("LEDGER_KIND", kind)
        .env("LEDGER_LOG", path)
        .env("LEDGER_READER", reader.to_string())
        .env("LEDGER_PAUSE", pause.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// The work of a process that `spawn` started. It waits for the other processes, reads and commits claims in parts, and
/// prints the samples of each part.
#[test]
#[ignore = "a part of the test below"]
fn a_reader() {
    let Ok(path) = std::env::var("LEDGER_LOG") else { return };
    let number = |name| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let log = log_of(&std::env::var("LEDGER_KIND").unwrap(), Path::new(&path));
    let ledger = Ledger::builder(number("LEDGER_READER") as u32).block_size(50).lease(Duration::from_secs(5));
    let ledger = ledger.open(&sampler(), log).unwrap();
    println!("ready");
    io::stdin().read_line(&mut String::new()).unwrap();
    while let Some(mut claim) = ledger.claim().unwrap() {
        while claim.committed() < claim.count() {
            thread::sleep(Duration::from_millis(number("LEDGER_PAUSE")));
            let part = 10.min(claim.count() - claim.committed());
            let from = u64::from(claim.committed());
            let samples: Vec<u64> = claim.samples(from..from + u64::from(part)).unwrap();
            claim.commit(part).unwrap();
            println!("took {samples:?}");
        }
    }
    println!("finished");
}

/// The parts that a process prints, and whether it finished. It is killed after `most` parts.
fn told(child: &mut Child, lines: impl Iterator<Item = io::Result<String>>, most: usize) -> (Vec<Vec<u64>>, bool) {
    let (mut parts, mut finished) = (Vec::new(), false);
    for line in lines {
        let line = line.unwrap();
        finished |= line == "finished";
        let Some(list) = line.strip_prefix("took [") else { continue };
        parts.push(list.trim_end_matches(']').split(", ").map(|number| number.parse().unwrap()).collect());
        if parts.len() == most {
            child.kill().unwrap();
            break;
        }
    }
    (parts, finished)
}

#[test]
fn processes_of_unequal_speed_one_of_them_killed() {
    processes_share("file");
}

#[test]
fn processes_that_share_a_folder() {
    let path = processes_share("folder");
    let files = files_of(&path);
    // The killed process may have left a temporary file.
    let entries: Vec<_> = files.iter().filter(|(name, _)| !name.starts_with('.')).collect();
    for (number, (name, text)) in (0..).zip(&entries) {
        assert_eq!((**name).clone(), format!("{number:016}.json"));
        assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
    }
    fs::remove_dir_all(&path).unwrap();
}

/// Three processes share a log: the second one dies, the last one is slow. Returns the path of the log of a folder.
fn processes_share(kind: &str) -> PathBuf {
    let path = path(&format!("processes-{kind}"));
    let mut children: Vec<_> = (0..).zip([6, 6, 24]).map(|(reader, pause)| spawn(kind, &path, reader, pause)).collect();
    let mut outputs = Vec::new();
    for child in &mut children {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("ready")));
        outputs.push(lines);
    }
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
    }
    let threads: Vec<_> = (0..)
        .zip(children.into_iter().zip(outputs))
        .map(|(reader, (mut child, lines))| {
            thread::spawn(move || {
                let found = told(&mut child, lines, if reader == 1 { 12 } else { usize::MAX });
                child.wait().unwrap();
                found
            })
        })
        .collect();
    let found: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(found.iter().map(|(_, finished)| *finished).collect::<Vec<_>>(), [true, false, true]);

    let opened = || Replay::of_log(log_of(kind, &path)).unwrap();
    // The log shows that every sample was committed once. Each reader has printed everything that it committed; only
    // the killed one may have printed less.
    let replay = opened();
    let mut all = replay.samples(&sampler()).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..SAMPLES));
    let mut counts = Vec::new();
    for (reader, (parts, finished)) in (0..).zip(&found) {
        let of_reader = opened().of(reader, 3).unwrap().samples(&sampler()).unwrap();
        let committed = of_reader.collect::<Result<Vec<_>, _>>().unwrap();
        let told = parts.concat();
        assert!(committed.starts_with(&told) && (committed.len() == told.len() || !finished), "reader {reader}");
        counts.push(committed.len());
    }
    // The reader that is four times as slow does less work, and the others did not wait for it.
    assert!((1..counts[0]).contains(&counts[2]), "{counts:?}");
    let mut replay = opened();
    assert!(!replay.progress().unwrap().is_finished());
    assert_eq!(replay.by_ref().map(|event| u64::from(event.unwrap().count)).sum::<u64>(), SAMPLES);
    let progress = replay.progress().unwrap();
    assert!(progress.is_finished() && progress.claimed == 0 && replay.next().is_none());
    // With another number of readers, the replay has the same samples, divided differently.
    let mut halves = Vec::new();
    for reader in [0, 1] {
        let half = opened().of(reader, 2).unwrap().samples(&sampler()).unwrap();
        halves.extend(half.collect::<Result<Vec<_>, _>>().unwrap());
    }
    halves.sort_unstable();
    assert_eq!(halves, all);
    if kind == "file" {
        assert_eq!(Replay::open(&path).unwrap().count(), opened().count());
        fs::remove_file(&path).unwrap();
    }
    path
}

#[test]
fn threads_commit_every_sample_once() {
    let log = MemoryLog::new();
    let threads: Vec<_> = (0..4)
        .map(|reader| {
            let log = log.clone();
            thread::spawn(move || {
                let ledger = Ledger::builder(reader).block_size(7).open(&sampler(), log).unwrap();
                let mut samples = Vec::new();
                while let Some(mut claim) = ledger.claim().unwrap() {
                    samples.extend(claim.samples::<u32>(..).unwrap());
                    if claim.start() % 5 == 0 && claim.committed() == 0 {
                        // Commits a part of the claim, and releases the rest for any reader.
                        let part = claim.count() / 2;
                        samples.truncate(samples.len() - (claim.count() - part) as usize);
                        claim.commit(part).unwrap();
                        claim.release().unwrap();
                    } else {
                        claim.commit_rest().unwrap();
                        claim.commit_rest().unwrap();
                    }
                }
                samples
            })
        })
        .collect();
    let mut all: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    all.sort_unstable();
    assert!(all.iter().map(|&sample| u64::from(sample)).eq(0..SAMPLES));
}

#[test]
fn a_silent_reader_loses_its_claim_and_is_told() {
    let log = MemoryLog::new();
    let open = |reader| {
        let builder = Ledger::builder(reader).block_size(SAMPLES as u32).lease(Duration::from_secs(3));
        builder.open(&sampler(), log.clone()).unwrap()
    };
    let (one, other) = (open(1), open(2));
    let mut claim = one.claim().unwrap().unwrap();
    claim.commit(1_000).unwrap();
    let Attempt::Wait(time) = other.try_claim().unwrap() else { panic!("nothing is free") };
    assert!(matches!(one.try_claim().unwrap(), Attempt::Held));
    assert!(time > Duration::ZERO && time <= Duration::from_secs(3), "{time:?}");
    claim.renew().unwrap();
    assert_eq!(claim.committed(), 1_000);
    // The other reader waits for the end of the lease, which counts from the renewal.
    let begun = Instant::now();
    let mut rest = other.claim().unwrap().unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(2500), "{:?}", begun.elapsed());
    assert_eq!((rest.start(), rest.count()), (1_000, 2_000));
    for lost in [claim.commit(1), claim.commit_rest(), claim.renew()] {
        let error = lost.unwrap_err();
        assert!(error.to_string().contains("taken over after a silence"), "{error}");
        assert_eq!(failing::<()>(Err(error)), contradiction("claim"));
    }
    assert_eq!(failing(claim.release()), contradiction("claim"));
    assert_eq!(failing(rest.commit(2_001)), (FailureKind::OutOfRange, "count".into()));
    assert_eq!(rest.samples::<u64>(..).unwrap(), epoch(0)[1_000..]);
    assert_eq!(rest.samples::<u64>(5..9).unwrap(), epoch(0)[1_005..1_009]);
    assert_eq!(failing(rest.samples::<u64>(..2_001)), (FailureKind::OutOfRange, "count".into()));
    // A reader that holds all remaining positions would wait for itself, so it gets an error.
    let error = other.claim().unwrap_err();
    assert_eq!(
        error.to_string(),
        "claim is reader 2; allowed: a reader that commits or releases what it holds: nothing else can be claimed now"
    );
    rest.commit_rest().unwrap();
    assert!(other.claim().unwrap().is_none() && matches!(one.try_claim().unwrap(), Attempt::Finished));
    rest.renew().unwrap();
    let progress = one.progress().unwrap();
    assert_eq!((progress.positions, progress.committed, progress.claimed), (SAMPLES, SAMPLES, 0));
}

#[test]
fn a_claim_that_was_lost_is_another_one_than_that_of_the_same_run() {
    let log = MemoryLog::new();
    let open = |reader| {
        let builder = Ledger::builder(reader).block_size(SAMPLES as u32).lease(Duration::from_millis(50));
        builder.open(&sampler(), log.clone()).unwrap()
    };
    let (one, other) = (open(1), open(2));
    let mut lost = one.claim().unwrap().unwrap();
    other.claim().unwrap().unwrap().release().unwrap();
    let mut again = one.claim().unwrap().unwrap();
    assert_eq!((lost.start(), lost.count()), (again.start(), again.count()));
    assert!(lost.number() < again.number());
    for refused in [lost.commit(3), lost.commit_rest(), lost.renew()] {
        assert_eq!(failing(refused), contradiction("claim"));
    }
    assert_eq!(failing(lost.release()), contradiction("claim"));
    again.commit(3).unwrap();
    again.commit_rest().unwrap();
    let text = log.text();
    let runs = Replay::new(text.as_bytes()).unwrap().map(|run| run.map(|run| (run.claim, run.count)));
    let expected = [(again.number(), 3), (again.number(), SAMPLES as u32 - 3)];
    assert_eq!(runs.collect::<Result<Vec<_>, _>>().unwrap(), expected);
}

#[test]
fn any_entry_of_a_reader_is_a_sign_of_life_for_all_that_it_holds() {
    let log = MemoryLog::new();
    let open = |reader| {
        let builder = Ledger::builder(reader).block_size(SAMPLES as u32 / 2).lease(Duration::from_secs(4));
        builder.open(&sampler(), log.clone()).unwrap()
    };
    let (one, other) = (open(1), open(2));
    let mut claims = [one.claim().unwrap().unwrap(), one.claim().unwrap().unwrap()];
    for _ in 0..4 {
        thread::sleep(Duration::from_millis(1200));
        claims[0].renew().unwrap();
    }
    assert!(matches!(other.try_claim().unwrap(), Attempt::Wait(_)));
    claims.iter_mut().for_each(|claim| claim.commit_rest().unwrap());
    assert!(other.claim().unwrap().is_none());
}

#[test]
fn who_comes_back_gives_back_what_it_held() {
    let path = path("back");
    let open = || Ledger::builder(9).block_size(100).open(&sampler(), FileLog::open(&path).unwrap()).unwrap();
    let first = open();
    let mut claims: Vec<_> = (0..3).map(|_| first.claim().unwrap().unwrap()).collect();
    claims[1].commit(40).unwrap();
    let again = open();
    assert_eq!(again.progress().unwrap().claimed, 0);
    let claim = again.claim().unwrap().unwrap();
    assert_eq!((claim.start(), claim.count(), again.reader()), (0, 100, 9));
    let rest = again.claim().unwrap().unwrap();
    assert_eq!((rest.start(), rest.count()), (140, 60));
    assert_eq!(failing(claims[2].commit(1)), contradiction("claim"));
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_torn_line_is_cut_off_and_other_files_are_left_alone() {
    let path = path("torn");
    let ledger = || Ledger::builder(0).block_size(1_000);
    let open = || ledger().open(&sampler(), FileLog::open(&path).unwrap());
    drop(open().unwrap());
    let header = first_line(&path);
    let appended =
        |text: &str| OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();

    // A writer died in the middle of the first entry. Below, it dies in the middle of later entries.
    for torn in ["{", "{\"samedeal\":1,\"kind\":\"ledger\",\"or"] {
        fs::write(&path, torn).unwrap();
        open().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&header) && text.lines().count() == 2, "{text}");
    }
    fs::write(&path, &header).unwrap();
    let reader = open().unwrap();
    appended("{\"event\":\"claim\",\"rea");
    let mut claim = reader.claim().unwrap().unwrap();
    appended("{\"ev");
    assert_eq!(reader.progress().unwrap().entries, 3);
    assert_eq!(Replay::open(&path).unwrap().count(), 0);
    claim.commit_rest().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().count() == 4 && text.ends_with("\"count\":1000}\n"), "{text}");

    // A file that is no log stays unchanged.
    let state = sampler().state(0).unwrap();
    for (other, field) in [
        (format!("{state}\n"), Some("state")),
        ("notes\n".into(), Some("state")),
        (format!("{header}\n"), Some("entry")),
        (format!("{header}{{\"event\":\"commit\",\"reader\":0,\"start\":0,\"count\":1}}\n"), Some("entry")),
        (state, None),
        ("notes".into(), None),
        ("x".repeat((1 << 24) + 1), None),
        (format!("{}\n", "x".repeat((1 << 24) + 1)), None),
    ] {
        fs::write(&path, &other).unwrap();
        let error = open().unwrap_err();
        match field {
            Some(field) => assert_eq!(error.failure().unwrap().field, field, "{error}"),
            None => {
                assert!(matches!(&error, Error::Log(log) if log.io().kind() == io::ErrorKind::InvalidData), "{error}")
            }
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), other);
    }
    fs::write(&path, b"\xff\n").unwrap();
    assert!(open().unwrap_err().to_string().contains("line 1 is not UTF-8"));
    // A log that was truncated while it was in use is an error.
    fs::write(&path, &text).unwrap();
    let reader = open().unwrap();
    fs::write(&path, &header).unwrap();
    let error = reader.try_claim().unwrap_err();
    assert!(error.to_string().contains(&*path.to_string_lossy()) && error.to_string().contains("shorter"), "{error}");
    fs::remove_file(&path).unwrap();
    assert!(FileLog::open(path.join("no")).is_err());
}

#[test]
fn zeros_that_a_loss_of_power_left_are_cut_off() {
    let path = path("zeros");
    let open = || Ledger::builder(0).block_size(1_000).open(&sampler(), FileLog::open(&path).unwrap());
    drop(open().unwrap());
    let header = first_line(&path);
    for torn in ["", "{\"ev", "{\"event\":\"claim\",\"rea"] {
        // The file ends with a short or a long run of zero bytes.
        for zeros in [1, 100, 1 << 20] {
            fs::write(&path, [header.as_bytes(), torn.as_bytes(), &vec![0; zeros]].concat()).unwrap();
            assert_eq!(Replay::open(&path).unwrap().count(), 0);
            let ledger = open().unwrap();
            assert_eq!(ledger.claim().unwrap().unwrap().start(), 0);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with(&header) && !text.contains('\0'), "{text}");
            assert_eq!(text.lines().count(), 3);
        }
    }
    // No byte of this log was written: it has only zeros.
    fs::write(&path, [0; 100]).unwrap();
    drop(open().unwrap());
    assert_eq!(first_line(&path), header);
    // Files with other bytes after the zeros stay unchanged.
    for end in [b'x', b'{'] {
        let other = [&vec![0; 1 << 20][..], &[end]].concat();
        fs::write(&path, &other).unwrap();
        assert!(open().is_err());
        assert!(fs::read(&path).unwrap() == other);
    }
    fs::remove_file(&path).unwrap();
}

#[test]
#[cfg(unix)]
fn a_log_that_was_replaced_is_another_one() {
    let path = path("replaced");
    let open =
        |reader| Ledger::builder(reader).block_size(1_000).open(&sampler(), FileLog::open(&path).unwrap()).unwrap();
    for anew in [true, false] {
        let old = open(0);
        let mut claim = old.claim().unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        let new = anew.then(|| {
            let ledger = open(1);
            let held = ledger.claim().unwrap().unwrap();
            (ledger, held)
        });
        let before = fs::read(&path).ok();
        for error in [claim.commit_rest().unwrap_err(), old.try_claim().unwrap_err(), old.progress().unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains("replaced or deleted") && text.contains(&*path.to_string_lossy()), "{text}");
        }
        assert_eq!(fs::read(&path).ok(), before);
        if let Some((ledger, mut held)) = new {
            // The new log still works, because the old reader wrote nothing to it.
            held.commit_rest().unwrap();
            while let Some(mut claim) = ledger.claim().unwrap() {
                claim.commit_rest().unwrap();
            }
            assert!(ledger.progress().unwrap().is_finished());
        }
        let _ = fs::remove_file(&path);
    }
}

#[test]
fn a_folder_that_was_replaced_is_another_log() {
    for how in ["begun anew", "gone", "cut"] {
        let path = path("replaced-folder");
        let open = || Ledger::builder(0).block_size(1_000).open(&sampler(), FolderLog::new(&path)).unwrap();
        let old = open();
        let mut claim = old.claim().unwrap().unwrap();
        if how == "cut" {
            fs::remove_file(path.join("0000000000000002.json")).unwrap();
        } else {
            fs::remove_dir_all(&path).unwrap();
        }
        let new = (how == "begun anew").then(&open);
        // The last entry of the new log is the same text as in the old log.
        let held = new.as_ref().map(|new| new.claim().unwrap().unwrap());
        let before = files_of(&path);
        for error in [claim.commit_rest().unwrap_err(), old.try_claim().unwrap_err(), old.progress().unwrap_err()] {
            let text = error.to_string();
            assert!(
                matches!(&error, Error::Log(log) if log.io().kind() == io::ErrorKind::InvalidData),
                "{how}: {text}"
            );
            assert!(text.contains("replaced or deleted") && text.contains(&*path.to_string_lossy()), "{text}");
        }
        assert_eq!(files_of(&path), before, "{how}");
        if let (Some(new), Some(mut held)) = (new, held) {
            held.commit_rest().unwrap();
            while let Some(mut claim) = new.claim().unwrap() {
                claim.commit_rest().unwrap();
            }
            assert!(new.progress().unwrap().is_finished());
        }
        let _ = fs::remove_dir_all(&path);
    }
}

#[test]
fn entries_of_a_folder_are_files_of_one_line() {
    let path = path("folder");
    let (mut one, mut other) = (FolderLog::new(&path), FolderLog::new(&path));
    assert_eq!(one.path(), path);
    // The folder is not made before the first entry.
    assert!(one.read(0).unwrap().is_empty() && one.last_checkpoint().unwrap().is_none() && !path.exists());
    assert!(one.append(0, "one").unwrap() && !other.append(0, "two").unwrap());
    assert!(!one.append(2, "three").unwrap() && other.append(1, "two").unwrap());
    for kind in ["two\nlines", "two\rlines"] {
        assert_eq!(one.append(2, kind).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
    assert_eq!(one.read(0).unwrap(), ["one", "two"]);
    assert_eq!(one.read(1).unwrap(), ["two"]);
    assert!(one.read(2).unwrap().is_empty());
    let names = ["0000000000000000.json", "0000000000000001.json"].map(String::from);
    assert!(files_of(&path).into_iter().eq(names.clone().into_iter().zip(["one\n", "two\n"].map(String::from))));
    // The last checkpoint is found, and files with other names do not count.
    let checkpoint = format!("{CHECKPOINT}2,");
    for (number, entry) in [(2, checkpoint.as_str()), (3, "three")] {
        assert!(one.append(number, entry).unwrap());
    }
    for name in ["9.json", ".0000000000000009.json", "0000000000000009.tmp", "+000000000000009.json"] {
        fs::write(path.join(name), format!("{CHECKPOINT}9,\n")).unwrap();
    }
    assert_eq!(other.last_checkpoint().unwrap(), Some(checkpoint));
    // `read` returns a long log in parts, and `Lines` all of its lines.
    for number in 4..150 {
        assert!(one.append(number, &number.to_string()).unwrap());
    }
    let first = other.read(0).unwrap();
    assert!(first.len() < 150 && other.read(149).unwrap() == ["149"]);
    let lines: Vec<_> = Lines::new(other).lines().map(Result::unwrap).collect();
    assert!(lines.len() == 150 && lines.starts_with(&first));

    let file = path.join("0000000000000003.json");
    for (bad, told) in [
        (&b"two\nlines\n"[..], "one line of at most 2^24 bytes"),
        (&vec![b'x'; (1 << 24) + 1], "one line of at most 2^24 bytes"),
        (b"\xff\n", "not UTF-8"),
    ] {
        fs::write(&file, bad).unwrap();
        let error = FolderLog::new(&path).read(0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let text = error.to_string();
        assert!(text.contains(told) && text.contains("0000000000000003.json"), "{text}");
    }
    fs::remove_dir_all(&path).unwrap();
    // These paths cannot be a log: the parent is missing, or the path is a file.
    let error = FolderLog::new(path.join("no")).append(0, "one").unwrap_err();
    assert!(error.kind() == io::ErrorKind::NotFound && error.to_string().contains("no: "), "{error}");
    fs::write(&path, "a file").unwrap();
    let mut log = FolderLog::new(&path);
    assert!(log.append(0, "one").is_err() && log.append(1, "one").is_err());
    assert!(log.read(0).is_err() && log.last_checkpoint().is_err());
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_log_is_of_one_epoch() {
    let log = MemoryLog::new();
    let open = |builder: samedeal::Builder, block_size| {
        Ledger::builder(0).block_size(block_size).open(&builder.build().unwrap(), log.clone())
    };
    let builder = || Sampler::builder(100).seed(1).epoch(4).consumed(20);
    let ledger = open(builder().world_size(5), 8).unwrap();
    assert_eq!(ledger.progress().unwrap().positions, 80);
    let other = Ledger::builder(1).open(&builder().rank(2).world_size(3).build().unwrap(), log.clone()).unwrap();
    assert_eq!(other.progress().unwrap().positions, 80);
    assert_eq!(failing(open(builder().seed(2), 8)), contradiction("seed"));
    assert_eq!(failing(open(builder().epoch(5), 8)), contradiction("epoch"));
    assert_eq!(failing(open(builder().consumed(0), 8)), contradiction("consumed"));
    assert_eq!(failing(open(builder().order("torch"), 8)), contradiction("name"));
    assert_eq!(failing(open(Sampler::builder(101), 8)), contradiction("samples"));
    assert_eq!(failing(open(builder(), 9)), contradiction("block_size"));
    assert_eq!(failing(open(builder(), 0)), (FailureKind::OutOfRange, "block_size".into()));
    let none = Ledger::builder(0).block_size(8).lease(Duration::ZERO).open(&builder().build().unwrap(), log.clone());
    assert_eq!(failing(none), (FailureKind::OutOfRange, "lease_ms".into()));
    let forever = Ledger::builder(0).block_size(8).lease(Duration::MAX).open(&builder().build().unwrap(), log.clone());
    assert_eq!(failing(forever), (FailureKind::OutOfRange, "lease_ms".into()));
    let mut claim = ledger.claim().unwrap().unwrap();
    assert_eq!(claim.samples::<u64>(..).unwrap(), builder().build().unwrap().indices::<u64>(..8).unwrap());
    claim.commit_rest().unwrap();

    let text = log.text();
    let replay = || Replay::new(text.as_bytes()).unwrap();
    assert_eq!(failing(replay().samples(&Sampler::new(100).unwrap())), contradiction("seed"));
    assert_eq!(failing(replay().of(2, 2)), (FailureKind::OutOfRange, "reader".into()));
    assert_eq!(failing(replay().of(0, 0)), (FailureKind::OutOfRange, "readers".into()));
    assert_eq!(failing(Replay::new(&b""[..])), (FailureKind::Missing, "entry".into()));
    let bad = text.replace("\"commit\"", "\"claim\"");
    let mut events = Replay::new(bad.as_bytes()).unwrap();
    let error = events.next().unwrap().unwrap_err();
    assert!(error.to_string().contains("(line 5 of the log)") && events.next().is_none(), "{error}");
    assert_eq!(failing(Replay::new(&b"{}\n"[..])), (FailureKind::WrongType, "state".into()));
    // The runs that were committed before an invalid entry are returned. `next_event` returns all kinds of events.
    let worse = format!("{text}{{\"event\":\"claim\",\"reader\":0,\"start\":20,\"count\":8}}\n");
    let mut runs = Replay::new(worse.as_bytes()).unwrap();
    let run = runs.next().unwrap().unwrap();
    assert_eq!((run.number, run.reader, run.start, run.count, run.claim), (4, 0, 20, 8, claim.number()));
    assert!(runs.next().unwrap().is_err() && runs.next().is_none());
    let mut kinds = Vec::new();
    let mut events = Replay::new(text.as_bytes()).unwrap();
    while let Some(event) = events.next_event().unwrap() {
        kinds.push(event.kind);
    }
    assert_eq!(kinds, ["join", "join", "claim", "commit"]);
}

/// A store in which other readers add their entries first: `append` then adds the other entry and returns false. If it
/// is broken, `append` always returns false.
struct Contended {
    entries: Vec<String>,
    others: BTreeMap<u64, String>,
    broken: bool,
}

impl Log for Contended {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        // This store returns one entry at a time.
        Ok(self.entries.iter().skip(from as usize).take(1).cloned().collect())
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        if self.broken {
            return Ok(false);
        }
        if let Some(other) = self.others.remove(&number) {
            self.entries.push(other);
            return Ok(false);
        }
        assert_eq!(number, self.entries.len() as u64);
        self.entries.push(entry.to_owned());
        Ok(true)
    }
}

#[test]
fn somebody_is_faster() {
    let header = samedeal::ledger::header(&sampler().state(0).unwrap(), 100, 60_000).unwrap();
    let event =
        |kind: &str, start: u64| format!("{{\"event\":\"{kind}\",\"reader\":5,\"start\":{start},\"count\":100}}");
    let others = [(0, header.clone()), (1, event("claim", 0)), (4, event("commit", 0)), (6, event("claim", 200))];
    let log = Contended { entries: Vec::new(), others: others.into(), broken: false };
    let ledger = Ledger::builder(0).block_size(100).open(&sampler(), log).unwrap();
    let mut claim = ledger.claim().unwrap().unwrap();
    assert_eq!(claim.start(), 100);
    claim.commit_rest().unwrap();
    assert_eq!(ledger.claim().unwrap().unwrap().start(), 300);
    assert_eq!(ledger.progress().unwrap().entries, 8);

    let log = Contended { entries: vec![header.clone()], others: BTreeMap::new(), broken: true };
    let error = Ledger::builder(0).block_size(100).open(&sampler(), log).unwrap_err();
    assert!(error.to_string().contains("none when it is read"), "{error}");
    assert_eq!(failing::<()>(Err(error)), contradiction("log"));

    // The entries have the greatest length, or more.
    let raw = RawLedger::new(&header).unwrap();
    for long in [1 << 24, (1 << 24) + 1, 1 << 27] {
        let (kind, field) = failing(raw.apply(&" ".repeat(long)));
        assert!(matches!(kind, FailureKind::OutOfRange | FailureKind::WrongType), "{kind:?} {field}");
    }
    raw.apply(&header).unwrap();
    assert_eq!(failing(raw.apply(&format!("{header}\n"))), (FailureKind::WrongType, "entry".into()));
    for long in [1 << 24, (1 << 24) + 1, 1 << 27] {
        let text = "\u{1F0A1}".repeat(long / 4);
        assert_eq!(failing(raw.apply(&text)), (FailureKind::WrongType, "entry".into()));
        assert_eq!(failing(raw.replay(&[text], 0, 1)), (FailureKind::WrongType, "entry".into()));
    }
}

/// A log that adds some entries but returns an error, as if a connection had broken before the answer.
struct Unsure {
    entries: Vec<String>,
    silent: Vec<u64>,
}

impl Log for Unsure {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        Ok(self.entries.iter().skip(from as usize).cloned().collect())
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        if number < self.entries.len() as u64 {
            return Ok(false);
        }
        self.entries.push(entry.to_owned());
        match self.silent.contains(&number) {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(true),
        }
    }
}

#[test]
fn what_a_log_did_not_say_that_it_appended_is_known_later() {
    let log = Unsure { entries: Vec::new(), silent: vec![2, 4, 6, 9] };
    let ledger = Ledger::builder(0).block_size(SAMPLES as u32 / 2).open(&sampler(), log).unwrap();
    let entries = |expected| assert_eq!(ledger.progress().unwrap().entries, expected);
    assert!(matches!(ledger.try_claim(), Err(Error::Log(_))));
    let mut claim = ledger.claim().unwrap().unwrap();
    assert_eq!((claim.start(), claim.count(), claim.number()), (0, 1_500, 2));
    claim.commit(10).unwrap();
    entries(4);
    assert!(matches!(claim.commit(10), Err(Error::Log(_))));
    // `progress` reads the log and finds the commit. Then the same commit adds nothing when it is repeated.
    assert_eq!((ledger.progress().unwrap().committed, claim.committed()), (20, 10));
    claim.commit(10).unwrap();
    assert_eq!(claim.committed(), 20);
    entries(5);
    claim.commit(20).unwrap();
    assert_eq!(claim.committed(), 40);
    entries(6);
    assert!(matches!(claim.commit_rest(), Err(Error::Log(_))));
    assert_eq!(claim.committed(), 40);
    claim.commit_rest().unwrap();
    claim.commit_rest().unwrap();
    assert_eq!(claim.committed(), 1_500);
    entries(7);
    let second = ledger.claim().unwrap().unwrap();
    assert_eq!(second.start(), 1_500);
    second.renew().unwrap();
    let error = second.release().unwrap_err();
    assert!(matches!(&error, Error::Log(_)) && std::error::Error::source(&error).is_some());
    assert_eq!(error, error.clone());
    let third = ledger.claim().unwrap().unwrap();
    assert_eq!((third.start(), third.number()), (1_500, 10));
    entries(11);
}

#[test]
fn of_two_processes_with_one_number_the_second_takes_over() {
    let log = MemoryLog::new();
    let open = || Ledger::builder(0).block_size(1_000).open(&sampler(), log.clone()).unwrap();
    let old = open();
    let mut claims = [old.claim().unwrap().unwrap(), old.claim().unwrap().unwrap()];
    assert_eq!(claims.each_ref().map(Claim::start), [0, 1_000]);
    let new = open();
    for claim in &mut claims {
        assert_eq!(failing(claim.commit(1)), contradiction("claim"));
        assert_eq!(failing(claim.renew()), contradiction("claim"));
    }
    // The old process is refused even before it has read about the new one.
    drop(claims);
    for refused in [failing(old.try_claim()), failing(old.claim()), failing(old.set_lease(Duration::from_secs(1)))] {
        assert_eq!(refused, contradiction("reader"));
    }
    let mut claims = [new.claim().unwrap().unwrap(), new.claim().unwrap().unwrap()];
    assert_eq!(claims.each_ref().map(Claim::start), [0, 1_000]);
    assert_eq!(failing(old.try_claim()), contradiction("reader"));
    claims[0].commit_rest().unwrap();
    assert_eq!(old.progress().unwrap(), new.progress().unwrap());
    assert_eq!(new.progress().unwrap().committed, 1_000);
}

/// A log whose `append` of entry number `fails` fails before it writes.
struct Failing {
    log: MemoryLog,
    fails: u64,
}

impl Log for Failing {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        self.log.read(from)
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        if number == self.fails { Err(io::ErrorKind::ConnectionReset.into()) } else { self.log.append(number, entry) }
    }
}

/// The second process writes the same claim, with the same entry number, that the first process failed to write.
#[test]
fn of_two_processes_with_one_number_none_has_the_claim_of_the_other() {
    let log = MemoryLog::new();
    let open = |log| Ledger::builder(0).block_size(1_000).open(&sampler(), log).unwrap();
    let old = open(Box::new(Failing { log: log.clone(), fails: 2 }) as Box<dyn Log>);
    assert!(matches!(old.try_claim(), Err(Error::Log(_))));
    let new = open(Box::new(log.clone()));
    let mut claim = new.claim().unwrap().unwrap();
    assert_eq!(failing(old.try_claim()), contradiction("reader"));
    claim.commit_rest().unwrap();
    assert_eq!(new.progress().unwrap().committed, 1_000);
}

#[test]
fn a_lease_is_set_and_changed() {
    let log = MemoryLog::new();
    let builder = |reader| Ledger::builder(reader).block_size(SAMPLES as u32);
    let seconds = Duration::from_secs;
    let one = builder(1).open(&sampler(), log.clone()).unwrap();
    assert_eq!(one.lease().unwrap(), seconds(60));
    let other = builder(2).lease(seconds(3_600)).open(&sampler(), log.clone()).unwrap();
    assert_eq!(one.lease().unwrap(), seconds(3_600));
    let mut claim = one.claim().unwrap().unwrap();
    assert!(matches!(other.try_claim().unwrap(), Attempt::Wait(time) if time > seconds(3_000)));
    // The change of the lease also renews the lease.
    one.set_lease(seconds(1_000)).unwrap();
    assert!(matches!(other.try_claim().unwrap(), Attempt::Wait(time) if time <= seconds(1_000)));
    other.set_lease(Duration::from_millis(1)).unwrap();
    assert_eq!(builder(3).open(&sampler(), log.clone()).unwrap().lease().unwrap(), Duration::from_millis(1));
    assert_eq!(other.claim().unwrap().unwrap().start(), 0);
    assert_eq!(failing(claim.commit_rest()), contradiction("claim"));
    for wrong in [Duration::ZERO, Duration::MAX] {
        assert_eq!(failing(other.set_lease(wrong)), (FailureKind::OutOfRange, "lease_ms".into()));
    }
}

/// A log that counts how many entries were read.
struct Counted {
    log: FileLog,
    read: Arc<AtomicUsize>,
}

impl Log for Counted {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        let entries = self.log.read(from)?;
        // The first read returns a whole window, of which the reader uses only entry 0, so it counts as one.
        self.read.fetch_add(if from == 0 { 1 } else { entries.len() }, Ordering::Relaxed);
        Ok(entries)
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        self.log.append(number, entry)
    }

    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        self.log.last_checkpoint()
    }
}

#[test]
fn a_long_log_is_read_from_its_last_checkpoint_on() {
    let path = path("checkpoints");
    let builder = |reader| Ledger::builder(reader).block_size(1).checkpoint_interval(1_500);
    let ledger = builder(0).open(&sampler(), FileLog::open(&path).unwrap()).unwrap();
    let held = ledger.claim().unwrap().unwrap();
    let number = held.number();
    for _ in 0..2_500 {
        ledger.claim().unwrap().unwrap().commit_rest().unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let places: Vec<_> = (0..lines.len()).filter(|&at| lines[at].starts_with(CHECKPOINT)).collect();
    assert_eq!(places.len(), lines.len() / 1_500, "{places:?}");
    // An incomplete checkpoint at the end is ignored.
    let torn = format!("{text}{}", &lines[places[0]][..60]);
    fs::write(&path, torn).unwrap();

    let read = Arc::new(AtomicUsize::new(0));
    let log = Counted { log: FileLog::open(&path).unwrap(), read: Arc::clone(&read) };
    let other = builder(1).open(&sampler(), log).unwrap();
    let behind = lines.len() - places[places.len() - 1] - 1;
    assert_eq!(read.load(Ordering::Relaxed), 1 + behind);
    let progress = other.progress().unwrap();
    assert_eq!((progress.committed, progress.claimed, progress.entries), (2_500, 1, lines.len() as u64 + 1));
    while let Some(mut claim) = match other.try_claim().unwrap() {
        Attempt::Claimed(claim) => Some(claim),
        _ => None,
    } {
        assert_eq!(claim.samples::<u64>(..).unwrap(), [epoch(0)[claim.start() as usize]]);
        claim.commit_rest().unwrap();
    }
    // A claim from before the checkpoint can be committed after it.
    let mut held = held;
    assert_eq!(held.number(), number);
    held.commit_rest().unwrap();
    assert!(other.progress().unwrap().is_finished() && other.claim().unwrap().is_none());
    // A replay of the whole log gives the same progress.
    let mut replay = Replay::open(&path).unwrap();
    assert_eq!(replay.by_ref().map(|event| u64::from(event.unwrap().count)).sum::<u64>(), SAMPLES);
    assert_eq!(replay.progress().unwrap(), other.progress().unwrap());
    fs::remove_file(&path).unwrap();
}

#[test]
fn what_was_dropped_is_claimed_again() {
    let ledger = Ledger::builder(0).block_size(100).open(&sampler(), MemoryLog::new()).unwrap();
    let mut claim = ledger.claim().unwrap().unwrap();
    let number = claim.number();
    claim.commit(30).unwrap();
    drop(claim);
    let mut rest = ledger.claim().unwrap().unwrap();
    assert_eq!((rest.number(), rest.start(), rest.count(), rest.committed()), (number, 30, 70, 0));
    assert_eq!(rest.samples::<u64>(..).unwrap(), epoch(0)[30..100]);
    rest.renew().unwrap();
    rest.commit(20).unwrap();
    rest.commit_rest().unwrap();
    assert_eq!(ledger.progress().unwrap().committed, 100);
    drop(rest);
    assert_eq!(ledger.claim().unwrap().unwrap().start(), 100);
}

#[test]
fn a_log_takes_an_entry_at_its_end_and_nowhere_else() {
    let (file, folder) = (path("end-file"), path("end-folder"));
    let logs: [Box<dyn Log>; 3] =
        [Box::new(MemoryLog::new()), Box::new(FileLog::open(&file).unwrap()), Box::new(FolderLog::new(&folder))];
    for mut log in logs {
        assert!(!log.append(1, "b").unwrap() && log.append(0, "a").unwrap());
        assert!(!log.append(0, "b").unwrap() && !log.append(2, "b").unwrap() && !log.append(9, "b").unwrap());
        assert_eq!(log.read(0).unwrap(), ["a"]);
    }
    fs::remove_file(&file).unwrap();
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_log_counts_its_entries() {
    let path = path("counts");
    let mut log = FileLog::open(&path).unwrap();
    assert_eq!(log.read(0).unwrap(), [""; 0]);
    assert!(log.append(0, "a").unwrap() && log.append(1, "b").unwrap());
    let mut other = FileLog::open(&path).unwrap();
    assert!(!other.append(0, "c").unwrap() && !other.append(1, "c").unwrap());
    assert!(other.append(2, "c").unwrap() && !log.append(2, "d").unwrap());
    for lines in ["d\ne", "d\r"] {
        assert_eq!(log.append(3, lines).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
    assert_eq!((log.read(2).unwrap(), log.read(3).unwrap()), (vec!["c".to_owned()], vec![]));
    assert_eq!(log.read(1).unwrap(), ["b", "c"]);
    // A log with more entries than one `read` returns.
    let mut file = File::create(&path).unwrap();
    for number in 0..10_000 {
        writeln!(file, "{number}").unwrap();
    }
    let mut log = FileLog::open(&path).unwrap();
    let mut read = Vec::new();
    loop {
        let new = log.read(read.len() as u64).unwrap();
        if new.is_empty() {
            break;
        }
        read.extend(new);
    }
    assert!(read.iter().map(|entry| entry.parse::<u64>().unwrap()).eq(0..10_000));
    assert_eq!(log.read(9_998).unwrap(), ["9998", "9999"]);
    assert_eq!(log.path(), path);
    fs::remove_file(&path).unwrap();
}
