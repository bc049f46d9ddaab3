//! Ledgers: claims over a log in memory, the client below a ledger, and damaged logs.

use std::time::Duration;

use fuzz::hostile;
use samedeal::Sampler;
use samedeal::ledger::{
    Attempt, Client, ClientOptions, FileLog, FolderLog, Ledger, Log, MemoryLog, RawLedger, Replay, header,
};

use crate::asked::{Asked, ask, look, made};

pub fn ledgers(a: &mut Asked) {
    match a.rng.u8(0..5) {
        0 => claims(a),
        1 => clients(a),
        2 => raw(a),
        3 => logs(a),
        _ => folders(a),
    }
}

fn claims(a: &mut Asked) {
    let Ok(sampler) = Sampler::builder(a.rng.u64(0..200)).seed(3).build() else { return };
    let log = MemoryLog::new();
    let mut builder = Ledger::builder(a.narrow());
    crate::asked::set!(a, 1 in 2, builder, block_size(a.narrow()), lease(Duration::from_millis(a.wide())), checkpoint_interval(a.wide()));
    let Some(ledger) = made!(a, "open", builder.open(&sampler, log.clone())) else { return };
    look!(a, ledger, reader());
    for _ in 0..a.rng.u8(1..6) {
        ask!(a, 1 in 2, ledger, progress(), lease());
        ask!(a, 1 in 9, ledger, set_lease(Duration::from_secs(a.rng.u64(1..100))));
        let Some(Attempt::Claimed(mut claim)) = made!(a, "try_claim", ledger.try_claim()) else { continue };
        look!(a, claim, number(), start(), count(), committed());
        ask!(a, 1 in 2, claim, samples::<u64>(a.range()), commit(a.narrow()), renew());
        if a.rng.bool() {
            let _ = made!(a, "commit_rest", claim.commit_rest());
        } else {
            let _ = made!(a, "release", claim.release());
        }
    }
    // The log can be replayed; a damaged copy is refused.
    let text = log.text();
    look!(a, log, text());
    let damaged = hostile::damaged_bytes(&mut a.rng, text.as_bytes());
    for bytes in [text.into_bytes(), damaged] {
        let Some(replay) = made!(a, "Replay::new", Replay::new(&bytes[..])) else { continue };
        let Some(mut replay) = made!(a, "of", replay.of(a.rng.u32(0..3), a.rng.u32(0..4))) else { continue };
        ask!(a, 1 in 2, replay, progress(), initial_state(), next_event());
        if let Some(samples) = made!(a, "samples", replay.samples(&sampler)) {
            a.begin("samples: next");
            let some = samples.take(9).try_fold((), |(), sample| sample.map(|_| ()));
            a.end(&some);
        }
    }
}

fn clients(a: &mut Asked) {
    let mut options = ClientOptions::new(a.known("state"), a.narrow(), a.wide());
    options.block_size = a.rng.bool().then(|| a.narrow());
    options.lease_ms = a.rng.bool().then(|| a.wide());
    options.checkpoint_interval = a.rng.bool().then(|| a.wide());
    let Some(client) = made!(a, "Client::new", Client::new(&options)) else { return };
    for _ in 0..a.rng.u8(1..30) {
        let checkpoint = a.rng.bool().then(|| a.known("checkpoint"));
        let entries: Vec<String> = (0..a.rng.u8(0..5)).map(|_| a.known("entries")).collect();
        let count = a.rng.bool().then(|| a.narrow());
        ask!(a, 1 in 6, client,
            open(a.wide()), claim(a.wide()), try_claim(a.wide()), commit(a.wide(), count, a.wide()), renew(a.wide(), a.wide()),
            release(a.wide(), a.wide()), change_lease(a.wide(), a.wide()), catch_up(a.wide()), tell_checkpoint(checkpoint.as_deref(), a.wide()),
            tell_entries(a.wide(), &entries, a.wide()), tell_appended(a.wide()), tell_refused(a.wide()), claimed(a.wide()), is_lost(a.wide()),
            forget(a.wide()), progress(), block_size(), lease_ms());
    }
}

fn raw(a: &mut Asked) {
    let (state, block_size, lease_ms) = (a.known("state"), a.narrow(), a.wide());
    let text = made!(a, "header", header(&state, block_size, lease_ms)).unwrap_or_else(|| a.known("header"));
    let Some(ledger) = made!(a, "RawLedger::new", RawLedger::new(&text)) else { return };
    for _ in 0..a.rng.u8(1..9) {
        let entries: Vec<String> = (0..a.rng.u8(0..5)).map(|_| a.known("entries")).collect();
        ask!(a, 1 in 2, ledger,
            apply(&a.known("entry")), replay(&entries, a.narrow(), a.narrow()), progress(), initial_state());
    }
    if let Ok(progress) = ledger.progress() {
        look!(a, progress, is_finished());
    }
}

/// Logs in files, damaged.
fn logs(a: &mut Asked) {
    let path = std::env::temp_dir().join(format!("samedeal-fuzz-{}.log", std::process::id()));
    let lines: Vec<String> = (0..a.rng.u8(0..5)).map(|_| a.known("entries") + "\n").collect();
    let bytes = hostile::damaged_bytes(&mut a.rng, lines.concat().as_bytes());
    std::fs::write(&path, bytes).expect("a folder for temporary files");
    a.begin("FileLog::open");
    let opened = FileLog::open(&path);
    a.end_plain();
    if let Ok(mut log) = opened {
        look!(a, log, path(), read(a.wide()), append(a.wide(), &a.known("entry")));
        let Ok(sampler) = Sampler::builder(9).build() else { return };
        let _ = made!(a, "open", Ledger::builder(0).open(&sampler, log));
    }
    let _ = made!(a, "Replay::open", Replay::open(&path));
    let _ = std::fs::remove_file(&path);
}

/// Logs in folders, damaged.
fn folders(a: &mut Asked) {
    let path = std::env::temp_dir().join(format!("samedeal-fuzz-{}.folder", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir(&path).expect("a folder for temporary files");
    for number in 0..a.rng.u8(0..5) {
        let line = a.known("entries") + "\n";
        let bytes = hostile::damaged_bytes(&mut a.rng, line.as_bytes());
        std::fs::write(path.join(format!("{number:016}.json")), bytes).expect("a file in it");
    }
    let mut log = FolderLog::new(&path);
    look!(a, log, path(), read(a.wide()), append(a.wide(), &a.known("entry")), last_checkpoint());
    let _ = made!(a, "Replay::of_log", Replay::of_log(log.clone()));
    if let Ok(sampler) = Sampler::builder(9).build() {
        let _ = made!(a, "open", Ledger::builder(0).open(&sampler, log));
    }
    let _ = std::fs::remove_dir_all(&path);
}
