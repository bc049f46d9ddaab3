//! Ledgers: readers that claim, fall silent and come back, and logs that no ledger believes.

use matrix::Engine;
use matrix::format::{Call, Case, Ledger, S64, Subject, U64};
use matrix::native::Native;
use serde_json::Value;

use super::forms::{self, Config, Sharding};
use super::{MAX_EXACT, asked, base};

const LEASE: u64 = 100;

pub fn cases() -> Vec<Case> {
    [headers(), runs(), logs(), silences(), refused(), other_headers(), edges(), lives(), leases(), checkpoints()]
        .concat()
}

/// The first entries of logs.
fn headers() -> Vec<Case> {
    let mut calls = Vec::new();
    for config in [
        base("feistel", 10),
        Config { seed: S64(-3), epoch: U64(u64::MAX), consumed: U64(7), ..base("torch", 10) },
        Config { seed: S64(i64::MIN), ..base("feistel", MAX_EXACT) },
        base("sequential", 0),
    ] {
        let state = state(forms::Subject::Config(config));
        for (block, lease) in
            [(1, 1), (4, 60_000), (u32::MAX, MAX_EXACT), (0, 0), (4, 0), (4, MAX_EXACT + 1), (4, u64::MAX)]
        {
            calls.push(Call::Header { state: state.clone(), block, lease: U64(lease) });
        }
    }
    let sharding = Sharding { sizes: [4, 0, 9].map(U64).to_vec(), lanes: 2, window: 3 };
    let sharded = state(forms::Subject::Sharded { config: base("sharded", 13), sharding });
    calls.push(Call::Header { state: sharded, block: 6, lease: U64(LEASE) });
    let good = state(forms::Subject::Config(base("feistel", 10)));
    for text in [
        String::new(),
        "{}".into(),
        good.replace("sampler", "batcher"),
        good.replace("\"consumed\":0", "\"consumed\":11"),
        good.replace("\"samedeal\":1", "\"samedeal\":2"),
        format!("{good}x"),
        " ".repeat((1 << 14) + 1),
        header(10, 0, 3),
        good.replace("\"consumed\":0", "\"consumed\":0,\"block\":3"),
    ] {
        calls.push(Call::Header { state: text, block: 0, lease: U64(0) });
    }
    vec![asked("first entries", Subject::Functions {}, calls), long()]
}

/// States as long as a state may be, whose first entries are as long as an entry may be, and longer. What is white space is not
/// written.
fn long() -> Case {
    let good = state(forms::Subject::Config(base("feistel", 10)));
    let more = r#","block":4,"lease":100"#.len() - "sampler".len() + "ledger".len();
    let of = |bytes: usize| good.replace("feistel", &"\u{e9}".repeat((bytes - good.len() + 7) / 2));
    let header = |state: String, block| Call::Header { state, block, lease: U64(LEASE) };
    let most = 1 << 14;
    let spaced = format!("{good}{}", " ".repeat(most - good.len()));
    let odd = (most - more - good.len() + 7) % 2;
    asked(
        "first entries of long states",
        Subject::Functions {},
        [
            header(spaced, 4),
            header(of(most), 4),
            header(of(most), 0),
            header(of(most - more - odd), 4),
            header(of(most - more - odd), 4_000),
            header(of(most + 2), 4),
        ],
    )
}

/// Whole epochs: readers of different speed, all of whose entries are applied.
fn runs() -> Vec<Case> {
    let mut cases = Vec::new();
    for (samples, consumed, block, readers) in
        [(10, 0, 3, 1), (10, 3, 4, 2), (100, 0, 7, 3), (5, 5, 2, 2), (6, 0, u32::MAX, 2), (3, 2, 1, 3)]
    {
        let header = header(samples, consumed, block);
        let subject = ledger(header.clone());
        let mut native = Native::create(&subject).expect("a ledger");
        let mut calls = vec![Call::InitialState, Call::Claim { reader: 0, now: U64(0) }];
        let mut take = |call: Call| -> Value {
            let answer = native.call(&call);
            calls.push(call);
            answer.unwrap_or(Value::Null)
        };
        take(Call::Apply { entry: header, now: U64(0) });
        // Claim, how many are committed, how many there are.
        let mut held: Vec<Option<(U64, u32, u32)>> = vec![None; readers as usize];
        for now in 1.. {
            // Reader r has every 2^r-th turn.
            let Some(reader) = (0..readers).rev().find(|reader| now % (1 << reader) == 0) else { continue };
            let entry = match held[reader as usize] {
                Some((claim, done, count)) => {
                    let done = (done + 3).min(count);
                    held[reader as usize] = (done < count).then_some((claim, done, count));
                    take(Call::Commit { claim, done })
                }
                None => {
                    let proposal = take(Call::Claim { reader, now: U64(now) });
                    if proposal == "finished" {
                        break;
                    }
                    proposal["entry"].clone()
                }
            };
            let Some(entry) = entry.as_str() else { continue };
            let event = take(Call::Apply { entry: entry.into(), now: U64(now) });
            if event["kind"] == "claim" {
                let claim = event["claim"].as_str().and_then(|claim| claim.parse().ok()).expect("a number");
                held[reader as usize] = Some((U64(claim), 0, event["count"].as_u64().expect("a number") as u32));
            }
            take(Call::Progress);
        }
        take(Call::Progress);
        let name = format!("{readers} readers of {samples} from {consumed} on by {block}");
        cases.push(asked(&name, subject, calls));
    }
    cases
}

/// Logs as they are read, by whoever was not there.
fn logs() -> Vec<Case> {
    let lines = [
        entry("claim", 5, 0, 4),
        entry("claim", 9, 4, 4),
        entry("commit", 5, 0, 1),
        entry("commit", 9, 4, 0),
        entry("release", 9, 4, 4),
        entry("release", 5, 1, 3),
        entry("claim", 9, 1, 3),
        entry("commit", 9, 1, 3),
        "\t{ \"count\" : 4 , \"start\":4,\t\"reader\":5,\"event\":\"claim\" } ".into(),
        entry("claim", 5, 8, 4),
        entry("claim", 5, 12, 1),
        entry("commit", 5, 8, 4),
        entry("commit", 5, 4, 4),
    ];
    let mut calls = vec![Call::Apply { entry: header(13, 0, 4), now: U64(7) }];
    for line in lines {
        calls.extend([Call::Apply { entry: line, now: U64(7) }, Call::Progress]);
        calls.extend([5, 9].map(|reader| Call::HeldBy { reader }));
    }
    calls.extend([
        Call::Claim { reader: 5, now: U64(7) },
        Call::Claim { reader: 1, now: U64(7) },
        Call::Apply { entry: entry("commit", 5, 12, 1), now: U64(7) },
        Call::Claim { reader: 5, now: U64(7) },
        Call::Apply { entry: entry("claim", 5, 13, 1), now: U64(7) },
    ]);
    vec![asked("a log", ledger(header(13, 0, 4)), calls)]
}

/// Who is silent loses what it holds, to who asks.
fn silences() -> Vec<Case> {
    let claim = |reader, now| Call::Claim { reader, now: U64(now) };
    let apply = |entry, now| Call::Apply { entry, now: U64(now) };
    let first = header(10, 0, 6);
    let calls = vec![
        apply(first.clone(), 0),
        apply(entry("claim", 1, 0, 6), 0),
        apply(entry("claim", 2, 6, 4), 10),
        claim(3, 10),
        claim(1, 10),
        claim(2, 10),
        // A clock that goes back stands still.
        claim(2, 0),
        apply(entry("commit", 1, 0, 2), 50),
        claim(2, 109),
        claim(3, 109),
        claim(3, 110),
        claim(2, 150),
        apply(entry("commit", 2, 6, 0), 149),
        claim(3, 150),
        Call::Commit { claim: U64(1), done: 3 },
        Call::Commit { claim: U64(1), done: 1 },
        Call::Commit { claim: U64(1), done: 2 },
        Call::Commit { claim: U64(1), done: 7 },
        apply(entry("release", 1, 2, 4), 150),
        Call::Commit { claim: U64(1), done: 3 },
        Call::Release { claim: U64(1) },
        claim(1, 150),
        apply(entry("claim", 1, 2, 4), 150),
        // The same run, and another claim.
        Call::Commit { claim: U64(1), done: 6 },
        Call::Commit { claim: U64(6), done: 4 },
        Call::Release { claim: U64(6) },
        claim(3, 248),
        claim(3, 249),
        Call::HeldBy { reader: 1 },
        apply(entry("commit", 1, 2, 1), 260),
        Call::Commit { claim: U64(6), done: 0 },
        Call::Commit { claim: U64(6), done: 4 },
        Call::Commit { claim: U64(2), done: 1 },
        Call::Commit { claim: U64(5), done: 0 },
        Call::Commit { claim: U64(u64::MAX), done: 0 },
        Call::Release { claim: U64(0) },
        Call::HeldBy { reader: 1 },
        Call::HeldBy { reader: 3 },
        claim(2, u64::MAX),
        claim(3, u64::MAX),
        Call::Progress,
    ];
    vec![asked("silent readers", ledger(first), calls)]
}

/// Texts that are no entry, and entries that do not follow. None of them changes anything.
fn refused() -> Vec<Case> {
    let first = header(20, 0, 4);
    let good = entry("claim", 2, 4, 4);
    let texts = [
        String::new(),
        "null".into(),
        "[".repeat(300),
        " ".repeat((1 << 14) + 1),
        "\u{1F0A1}".repeat(70),
        format!("{good}x"),
        format!("{good}\n"),
        good.replace(',', ",\r"),
        good.replace("claim", "grab"),
        good.replace("\"reader\":2", "\"reader\":4294967296"),
        good.replace("\"reader\":2", "\"reader\":-1"),
        good.replace("\"reader\":2", "\"reader\":2,\"reader\":2"),
        good.replace("\"reader\":2,", ""),
        good.replace("\"count\":4", "\"count\":4,\"more\":0"),
        good.replace("\"count\":4", "\"count\":4.0"),
        good.replace("\"count\":4", "\"count\":4294967296"),
        good.replace("\"start\":4", "\"start\":9007199254740992"),
        good.replace("\"start\":4", "\"start\":\"4\""),
        first.clone(),
        entry("claim", 2, 0, 4),
        entry("claim", 2, 8, 4),
        entry("claim", 2, 4, 3),
        entry("claim", 2, 4, 5),
        entry("commit", 1, 4, 1),
        entry("commit", 2, 0, 1),
        entry("commit", 1, 0, 5),
        entry("commit", 1, 1, 1),
        entry("release", 1, 0, 3),
        entry("release", 1, 0, 0),
        entry("release", 2, 0, 4),
    ];
    let mut calls = vec![
        Call::Progress,
        Call::HeldBy { reader: 1 },
        Call::Claim { reader: 1, now: U64(0) },
        Call::Commit { claim: U64(1), done: 1 },
        Call::Release { claim: U64(1) },
        Call::Apply { entry: entry("claim", 1, 0, 4), now: U64(0) },
        Call::Apply { entry: first.clone(), now: U64(0) },
        Call::Apply { entry: entry("claim", 1, 0, 4), now: U64(0) },
    ];
    calls.extend(texts.map(|entry| Call::Apply { entry, now: U64(0) }));
    calls.extend([Call::Progress, Call::HeldBy { reader: 1 }, Call::Apply { entry: good, now: U64(0) }]);
    vec![asked("entries that do not follow", ledger(first), calls)]
}

/// Logs of something else.
fn other_headers() -> Vec<Case> {
    let own = header(10, 2, 4);
    let texts = [
        own.replace("feistel", "torch").replace("\"samples\":10", "\"samples\":11"),
        own.replace("\"samples\":10", "\"samples\":11"),
        own.replace("\"seed\":0", "\"seed\":-1"),
        own.replace("\"epoch\":0", "\"epoch\":1"),
        own.replace("\"consumed\":2", "\"consumed\":3"),
        own.replace("\"block\":4", "\"block\":5"),
        own.replace("\"fingerprint\":\"", "\"fingerprint\":\"0"),
        own.replace("\"block\":4", "\"block\":0"),
        own.replace("\"block\":4", "\"block\":4294967296"),
        own.replace(",\"block\":4", ""),
        own.replace(",\"lease\":100", ""),
        own.replace("\"lease\":100", "\"lease\":0"),
        own.replace("\"lease\":100", "\"lease\":9007199254740992"),
        own.replace("\"consumed\":2", "\"consumed\":11"),
        own.replace("ledger", "sampler"),
        own.replace("\"samedeal\":1", "\"samedeal\":3"),
        entry("claim", 0, 2, 4),
    ];
    let mut cases = vec![asked(
        "logs of something else",
        ledger(own.clone()),
        texts.clone().map(|entry| Call::Apply { entry, now: U64(0) }),
    )];
    for (number, header) in texts.into_iter().skip(7).enumerate() {
        cases.push(asked(&format!("no first entry, {number}"), ledger(header), []));
    }
    cases
}

/// As large as numbers get.
fn edges() -> Vec<Case> {
    let (end, block) = (MAX_EXACT, u32::MAX);
    let first = header(end, end - 5_000_000_000, block);
    let start = end - 5_000_000_000;
    let rest = start + u64::from(block);
    let calls = vec![
        Call::Apply { entry: first.clone(), now: U64(u64::MAX) },
        Call::Claim { reader: u32::MAX, now: U64(0) },
        Call::Apply { entry: entry("claim", u32::MAX, start, block), now: U64(u64::MAX) },
        Call::Claim { reader: 0, now: U64(u64::MAX) },
        Call::Apply { entry: entry("claim", 0, rest, (end - rest) as u32), now: U64(u64::MAX) },
        Call::Commit { claim: U64(1), done: block },
        Call::Apply { entry: entry("commit", u32::MAX, start, block - 1), now: U64(0) },
        Call::Progress,
        Call::Claim { reader: 0, now: U64(99) },
        Call::Claim { reader: 0, now: U64(100) },
        Call::Claim { reader: u32::MAX, now: U64(0) },
    ];
    vec![asked("as large as numbers get", ledger(first), calls)]
}

/// Readers that begin anew: what they held is free.
fn lives() -> Vec<Case> {
    let first = header(20, 0, 4);
    let join = |reader: u64, life: &str| format!("{{\"event\":\"join\",\"reader\":{reader},\"life\":\"{life}\"}}");
    let good = join(1, "00000000000000ff");
    let lines = [
        good.clone(),
        entry("claim", 1, 0, 4),
        entry("claim", 2, 4, 4),
        entry("claim", 1, 8, 4),
        entry("commit", 1, 8, 1),
        join(1, "ffffffffffffffff"),
        entry("commit", 1, 0, 1),
        entry("release", 1, 0, 4),
        join(2, "00000000000000ff"),
        join(3, "0000000000000000"),
        format!(" {{ \"life\" : \"{}\", \"event\":\"join\",\"reader\": 4294967295 }}", "0123456789abcdef"),
        join(1, "00000000000000f"),
        join(1, "00000000000000fff"),
        join(1, "00000000000000FF"),
        join(1, "+0000000000000ff"),
        join(1, ""),
        join(4_294_967_296, "00000000000000ff"),
        good.replace("\"00000000000000ff\"", "255"),
        good.replace(",\"life\"", ",\"start\":0,\"life\""),
        good.replace("\"reader\":1,", ""),
        entry("claim", 1, 0, 4).replace("\"count\"", "\"life\":\"00000000000000ff\",\"count\""),
        entry("claim", 1, 0, 4),
    ];
    let mut calls = vec![Call::Apply { entry: first.clone(), now: U64(7) }];
    for entry in lines {
        calls.extend([Call::Apply { entry, now: U64(7) }, Call::Progress]);
        calls.extend([1, 2].map(|reader| Call::HeldBy { reader }));
    }
    calls.push(Call::Claim { reader: 2, now: U64(7) });
    vec![asked("lives of readers", ledger(first), calls)]
}

/// Leases that are changed.
fn leases() -> Vec<Case> {
    let first = header(4, 0, 4);
    let set = |lease: u64| format!("{{\"event\":\"lease\",\"reader\":1,\"lease\":{lease}}}");
    let claim = |now| Call::Claim { reader: 2, now: U64(now) };
    let apply = |entry, now| Call::Apply { entry, now: U64(now) };
    let calls = vec![
        // That of the log counts.
        apply(first.replace("\"lease\":100", "\"lease\":30"), 0),
        apply(entry("claim", 1, 0, 4), 0),
        claim(10),
        claim(30),
        apply(set(50), 5),
        claim(10),
        claim(55),
        apply(set(MAX_EXACT), 6),
        claim(u64::MAX / 2),
        claim(6),
        apply(set(0), 6),
        apply(set(MAX_EXACT + 1), 6),
        apply(set(1).replace("\"reader\":1,", ""), 6),
        apply(set(1).replace("\"reader\"", "\"count\":0,\"reader\""), 6),
        apply(set(1).replace("\"lease\":1", "\"lease\":\"1\""), 6),
        claim(6),
        apply(set(1), 6),
        claim(6),
        claim(7),
        // A sign of life of another one is none of this one.
        apply(set(2).replace("\"reader\":1", "\"reader\":3"), 7),
        claim(7),
        claim(8),
        Call::Progress,
    ];
    vec![asked("leases", ledger(first), calls)]
}

/// Checkpoints: they follow where they say what is.
fn checkpoints() -> Vec<Case> {
    let first = header(20, 0, 4);
    let apply = |entry: String| Call::Apply { entry, now: U64(7) };
    let checkpoint = |number: u64, next: u64, committed: u64, free: &str, held: &str| {
        format!(
            "{{\"event\":\"checkpoint\",\"number\":{number},\"next\":{next},\"committed\":{committed},\"lease\":100,\
             \"free\":[{free}],\"held\":[{held}]}}"
        )
    };
    let mut calls = vec![
        apply(checkpoint(0, 0, 0, "", "")),
        apply(first.clone()),
        apply(checkpoint(0, 0, 0, "", "")),
        apply(checkpoint(1, 0, 0, "", "")),
        apply(checkpoint(1, 0, 0, "", "")),
        apply(entry("claim", 5, 0, 4)),
        apply(entry("claim", 6, 4, 4)),
        apply(entry("claim", 5, 8, 4)),
        apply(entry("commit", 5, 8, 3)),
        apply(entry("release", 6, 4, 4)),
        Call::Progress,
    ];
    let good = checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,5,8,4,3");
    let bad = [
        checkpoint(6, 12, 3, "4,4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 16, 3, "4,4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 4, "4,4", "2,5,0,4,0,4,5,8,4,3"),
        good.replace("\"lease\":100", "\"lease\":101"),
        checkpoint(7, 12, 3, "", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "4,3", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "4,4", "2,5,0,4,0"),
        checkpoint(7, 12, 3, "4,4", "4,5,8,4,3,2,5,0,4,0"),
        checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,6,8,4,3"),
        checkpoint(7, 12, 3, "4,4", "3,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,5,9,3,2"),
        checkpoint(7, 12, 3, "4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "4,4", "2,5,0,4"),
        checkpoint(7, 12, 3, "4,4,", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "-4,4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "\"4\",4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,5,8,4,5"),
        good.replace("\"free\":[4,4],", ""),
        good.replace("\"free\":[4,4]", "\"free\":{}"),
        good.replace("\"free\":[4,4]", "\"free\":[4,4],\"free\":[4,4]"),
        good.replace("\"number\"", "\"reader\":5,\"number\""),
    ];
    calls.extend(bad.map(apply));
    calls.extend([
        Call::Progress,
        apply(format!("\t{} ", good.replace(',', " , ").replace('[', " [ "))),
        Call::Progress,
        Call::HeldBy { reader: 5 },
        Call::Commit { claim: U64(4), done: 4 },
        Call::Claim { reader: 6, now: U64(7) },
        apply(entry("claim", 6, 4, 4)),
    ]);
    vec![asked("checkpoints", ledger(first), calls)]
}

fn ledger(header: String) -> Subject {
    Subject::Ledger(Ledger { header })
}

pub fn entry(event: &str, reader: u32, start: u64, count: u32) -> String {
    format!("{{\"event\":\"{event}\",\"reader\":{reader},\"start\":{start},\"count\":{count}}}")
}

pub fn header(samples: u64, consumed: u64, block: u32) -> String {
    let state = sampler_state(samples, consumed);
    let mut functions = Native::create(&Subject::Functions {}).expect("nothing to make");
    functions
        .call(&Call::Header { state, block, lease: U64(LEASE) })
        .expect("a first entry")
        .as_str()
        .expect("a text")
        .into()
}

pub fn sampler_state(samples: u64, consumed: u64) -> String {
    state(forms::Subject::Config(Config { consumed: U64(consumed), ..base("feistel", samples) }))
}

fn state(subject: forms::Subject) -> String {
    let mut sampler = forms::Native::create(&subject).expect("a sampler");
    sampler.call(&Call::State { taken: Some(U64(0)), steps: None }).expect("a state").as_str().expect("a text").into()
}
