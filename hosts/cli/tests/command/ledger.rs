//! Logs of ledgers: their progress, and the samples that readers replay.

use std::time::Duration;
use std::{fs, thread};

use samedeal::Sampler;
use samedeal::ledger::{FileLog, FolderLog, Ledger};
use serde_json::Value;

use crate::files::{self, Dataset};
use crate::{failing, json, refuses, text};

#[test]
fn what_readers_did_and_its_samples() {
    let path = files::folder("ledger").join("epoch.log");
    let sampler = Sampler::builder(100).seed(-5).epoch(1).order("torch").consumed(10).build().unwrap();
    let open = |reader| Ledger::builder(reader).block_size(20).open(&sampler, FileLog::open(&path).unwrap()).unwrap();
    let (one, other) = (open(1), open(4));
    let mut claim = one.claim().unwrap().unwrap();
    claim.commit(5).unwrap();
    let mut rest = other.claim().unwrap().unwrap();
    rest.commit_rest().unwrap();
    claim.release().unwrap();
    let log = path.display();
    assert_eq!(text(&format!("ledger {log} --format text")), "1\t1\t1\t5\t15\t0\t\n4\t1\t1\t20\t0\t0\t\n");
    let found = json(&format!("ledger {log} --json"));
    assert_eq!(
        (&found["state"]["recipe"]["order"]["name"], &found["state"]["consumed"]),
        (&"torch".into(), &10.into())
    );
    assert_eq!(found["progress"]["committed"], 25);
    assert_eq!((&found["progress"]["finished"], &found["progress"]["entries"]), (&false.into(), &8.into()));
    let shown = text(&format!("ledger {log}"));
    assert!(shown.ends_with("25 of 90 samples committed, in 8 entries; order torch, seed -5, epoch 1\n"), "{shown}");

    let all: Vec<u64> = sampler.indices(..).unwrap();
    let lines = |samples: &[u64]| samples.iter().map(|sample| format!("{sample}\n")).collect::<String>();
    let replay = |reader, more: &str| format!("ledger {log} --reader {reader} --readers 3 {more}");
    assert_eq!(text(&replay(1, "--format text")), lines(&[&all[..5], &all[20..40]].concat()));
    assert_eq!(text(&replay(0, "--format text")), "");
    let found = json(&replay(1, "--json"));
    assert_eq!((&found["samples"][5], &found["progress"]["claimed"]), (&Value::from(all[20]), &0.into()));
    let shown = text(&replay(1, ""));
    assert_eq!(shown.lines().count(), 3 + 20 + 1 + 1);
    assert!(shown.contains("20 of the 25 samples of reader 1 of 3; --all shows more; the epoch is not finished"));
    assert_eq!(text(&replay(1, "--all")).lines().count(), 3 + 25 + 1 + 1);

    let told = |arguments: &str| failing(arguments).1;
    assert_eq!(told(&format!("ledger {log} --reader 3 --readers 3")), "error: --reader is 3; allowed: 0 to 2");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{good}{{\"event\":\"claim\"")).unwrap();
    assert_eq!(json(&format!("ledger {log} --json"))["progress"]["entries"], 8);
    fs::write(&path, good.replace("\"release\"", "\"claim\"")).unwrap();
    for more in ["", "--reader 0 --readers 1"] {
        let told = told(&format!("ledger {log} {more}"));
        assert!(
            told.contains("epoch.log: entry is {\"event\":\"claim\"") && told.contains("(line 8 of the log)"),
            "{told}"
        );
    }
    fs::write(&path, "").unwrap();
    assert!(told(&format!("ledger {log}")).ends_with("the first line of the log of a ledger"));
    assert_eq!(told(&format!("ledger {log}.no")).matches("epoch.log.no: ").count(), 1);
    // The message about a file that is no log must not speak of a state.
    for text in ["name,tokens", &sampler.state(0).unwrap()] {
        fs::write(&path, format!("{text}\n")).unwrap();
        let told = told(&format!("ledger {log}"));
        let begins = text.chars().take(9).collect::<String>();
        assert!(told.contains(&format!("epoch.log: is no log of a ledger: it begins with {begins}")), "{told}");
        assert!(!told.contains("state is"), "{told}");
    }
}

#[test]
fn a_log_may_be_a_folder_with_a_file_for_each_entry() {
    let folder = files::folder("ledger-folder");
    let (path, log) = (folder.join("epoch.log"), folder.join("epoch"));
    let sampler = Sampler::builder(100).seed(3).build().unwrap();
    let ledger = Ledger::builder(1).block_size(10).open(&sampler, FolderLog::new(&log)).unwrap();
    while let Some(mut claim) = ledger.claim().unwrap() {
        claim.commit_rest().unwrap();
    }
    let mut names: Vec<_> = fs::read_dir(&log).unwrap().map(|file| file.unwrap().path()).collect();
    names.sort_unstable();
    fs::write(&path, names.iter().map(|name| fs::read_to_string(name).unwrap()).collect::<String>()).unwrap();
    assert!(names.len() > 12);
    fs::write(log.join(".13.tmp"), "half an entr").unwrap();
    for more in ["", "--json", "--reader 0 --readers 1 --format text"] {
        let of = |log: &std::path::Path| text(&format!("ledger {} {more}", log.display()));
        assert_eq!(of(&log), of(&path), "{more}");
    }
    let refused = |folder: &std::path::Path, words| refuses(&format!("ledger {}", folder.display()), words);
    refused(&folder, "ledger-folder: is no log of a ledger: it has no file 0000000000000000.json");
    let file = log.join("0000000000000004.json");
    fs::write(&file, "{}\n{}\n").unwrap();
    refused(&log, "0000000000000004.json: is no entry of a log: an entry is one line of at most 2^24 bytes");
    fs::remove_file(&file).unwrap();
    refused(&log, "has no file 0000000000000004.json, but has 0000000000000005.json");
}

/// The log does not tell whether a run was given back or taken over, so the table has one column for both.
#[test]
fn runs_that_were_taken_over() {
    let path = files::folder("ledger-taken").join("epoch.log");
    let sampler = Sampler::builder(100).build().unwrap();
    let open = |reader| {
        let builder = Ledger::builder(reader).block_size(60).lease(Duration::from_millis(1));
        builder.open(&sampler, FileLog::open(&path).unwrap()).unwrap()
    };
    let (one, other) = (open(1), open(4));
    let claim = one.claim().unwrap().unwrap();
    let mut taken = 0;
    while taken < 60 {
        let mut claim = other.claim().unwrap().unwrap();
        claim.commit_rest().unwrap();
        taken += if claim.start() < 60 { claim.count() } else { 0 };
    }
    assert!(claim.renew().is_err());
    let log = path.display();
    assert_eq!(text(&format!("ledger {log} --format text")), "1\t1\t0\t0\t60\t0\t4:60\n4\t2\t2\t100\t0\t0\t\n");
    assert_eq!(json(&format!("ledger {log} --json"))["readers"][0]["released"], 60);
    let shown = text(&format!("ledger {log}"));
    assert!(shown.contains("given back or taken over"), "{shown}");
}

#[test]
fn claims_that_a_join_freed() {
    let path = files::folder("ledger-joined").join("epoch.log");
    let sampler = Sampler::builder(100).build().unwrap();
    let open = |reader| Ledger::builder(reader).block_size(30).open(&sampler, FileLog::open(&path).unwrap()).unwrap();
    let log = path.display();
    let (first, other) = (open(1), open(4));
    let mut claims = [first.claim().unwrap().unwrap(), first.claim().unwrap().unwrap()];
    claims[0].commit(10).unwrap();
    // Another process joins with the number of the reader. So 20 positions of one claim and 30 of the next one are
    // free, and nobody has claimed them yet.
    let again = open(1);
    let (found, shown) = (json(&format!("ledger {log} --json")), text(&format!("ledger {log}")));
    assert_eq!(found["readers"][0]["freed"], 50);
    assert_eq!(found["readers"][0]["claimed_next_by"], serde_json::json!([]));
    assert_eq!(found["progress"]["claimed"], 0);
    assert!(shown.contains("freed by a join"), "{shown}");
    other.claim().unwrap().unwrap().commit_rest().unwrap();
    again.claim().unwrap().unwrap().commit_rest().unwrap();
    let found = json(&format!("ledger {log} --json"));
    let next = serde_json::json!([{ "reader": 1, "samples": 30 }, { "reader": 4, "samples": 20 }]);
    assert_eq!(
        (&found["readers"][0]["claimed_next_by"], &found["readers"][0]["released"], &found["readers"][1]["freed"]),
        (&next, &0.into(), &0.into())
    );
    assert!(text(&format!("ledger {log}")).contains("┆ reader 1: 30, reader 4: 20 │"));
    let lines = text(&format!("ledger {log} --format text"));
    assert_eq!(lines, "1\t3\t2\t40\t0\t50\t1:30, 4:20\n4\t1\t1\t20\t0\t0\t\n");
}

#[test]
fn the_rows_of_files() {
    let dataset = Dataset::write("ledger-files");
    let sizes = [3, 40, 1, 0, 57, 20, 9];
    let sampler = Sampler::sharded(sizes).lanes(4).shuffle_window(8).seed(3).build().unwrap();
    let path = dataset.folder.join("epoch.log");
    let ledger = Ledger::builder(0).block_size(32).open(&sampler, FileLog::open(&path).unwrap()).unwrap();
    while let Some(mut claim) = ledger.claim().unwrap() {
        claim.commit_rest().unwrap();
    }
    let all: Vec<u64> = sampler.indices(..).unwrap();
    let replay = format!("ledger {} --reader 0 --readers 1", path.display());
    let here = format!("{replay} {}", dataset.folder.display());
    assert!(text(&format!("{here} --format text")).lines().eq(all.iter().map(u64::to_string)));
    let shown = text(&format!("{here} --all"));
    let (file, row, _) = &dataset.rows[all[0] as usize];
    let first = shown.lines().nth(3).unwrap();
    assert!(first.contains(file) && first.contains(&format!(" {row} ")), "{first}");
    assert!(shown.ends_with("130 of the 130 samples of reader 0 of 1\n"), "{shown}");
    // For a few files, the log has their sizes.
    assert_eq!(text(&format!("{replay} --format text")), text(&format!("{here} --format text")));
    let (_, told) = failing(&format!("{here}/b"));
    assert!(told.contains("name the files of the run, in their order"), "{told}");
    // For many files, the log has only a hash of their sizes.
    let sampler = Sampler::sharded([1; 300]).build().unwrap();
    let path = dataset.folder.join("many.log");
    drop(Ledger::builder(0).open(&sampler, FileLog::open(&path).unwrap()).unwrap());
    let (_, told) = failing(&format!("ledger {} --reader 0 --readers 1", path.display()));
    assert!(told.contains("name the files"), "{told}");
}

#[test]
fn the_end_of_an_epoch_is_waited_for() {
    let path = files::folder("ledger-watch").join("epoch.log");
    let sampler = Sampler::builder(40).build().unwrap();
    let ledger = Ledger::builder(1).block_size(10).open(&sampler, FileLog::open(&path).unwrap()).unwrap();
    ledger.claim().unwrap().unwrap().commit_rest().unwrap();
    let writer = thread::spawn(move || {
        // The command may read the log before or after these commits, and must be right in both cases.
        thread::sleep(Duration::from_millis(300));
        while let Some(mut claim) = ledger.claim().unwrap() {
            claim.commit_rest().unwrap();
        }
    });
    let found = json(&format!("ledger {} --watch 1 --json", path.display()));
    assert_eq!((&found["progress"]["committed"], &found["progress"]["finished"]), (&40.into(), &true.into()));
    writer.join().unwrap();
    assert!(failing(&format!("ledger {} --watch 0", path.display())).1.contains("1..=3600"));
    assert!(failing(&format!("ledger {}.gone --watch", path.display())).1.contains("No such file"));
}
