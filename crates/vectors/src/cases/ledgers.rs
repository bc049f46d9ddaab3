//! Ledgers: the outcome of logs, logs that are refused, and replays.

use matrix::Engine;
use matrix::format::{Call, Case, ClientCall, Ledger, LedgerClient, S64, Subject, U64};
use matrix::native::Native;

use super::forms::{self, Config, Sharding};
use super::{MAX_EXACT, asked, base};

const LEASE: u64 = 100;

pub fn cases() -> Vec<Case> {
    [
        headers(),
        runs(),
        logs(),
        silences(),
        refused(),
        other_headers(),
        edges(),
        sessions(),
        leases(),
        checkpoints(),
        replays(),
    ]
    .concat()
}

/// A ledger to which entries are applied, and the calls that it got.
struct Applied {
    subject: Subject,
    engine: Native,
    calls: Vec<Call>,
    /// The entries that the ledger accepted.
    log: Vec<String>,
}

impl Applied {
    fn new(header: &str) -> Self {
        let subject = ledger(header.into());
        let engine = Native::create(&subject).expect("a ledger");
        Self { subject, engine, calls: Vec::new(), log: Vec::new() }
    }

    /// A ledger whose first entry is applied.
    fn begun(header: &str) -> Self {
        let mut applied = Self::new(header);
        applied.apply(header);
        applied
    }

    fn apply(&mut self, entry: impl Into<String>) {
        let entry = entry.into();
        let call = Call::Apply { entry: entry.clone() };
        if self.engine.call(&call).is_ok() {
            self.log.push(entry);
        }
        self.calls.push(call);
    }

    fn progress(&mut self) {
        self.calls.push(Call::Progress);
    }

    /// Applies a checkpoint. The ledger accepts it only if it has the free runs and the claims that it should have.
    fn checkpoint(&mut self) {
        let entries = self.log.len();
        self.apply(checkpoint_after(&self.log));
        assert_eq!(self.log.len(), entries + 1, "a checkpoint of these entries follows");
    }

    fn case(self, name: &str) -> Case {
        asked(name, self.subject, self.calls)
    }
}

/// The checkpoint that a client would write after these entries.
fn checkpoint_after(log: &[String]) -> String {
    // The client joins as a reader that has no other entry in the log.
    const READER: u32 = 77;
    let mut ledger = Native::create(&ledger(log[0].clone())).expect("a ledger");
    let state = ledger.call(&Call::InitialState).expect("a state").as_str().expect("a text").into();
    let options = LedgerClient {
        state,
        reader: READER,
        session: U64(0),
        block_size: None,
        lease_ms: None,
        checkpoint_interval: Some(U64(1)),
    };
    let mut client = Native::create(&Subject::LedgerClient(options)).expect("a client");
    let now_ms = U64(0);
    let mut call = ClientCall::Claim { waits: false, now_ms };
    let mut rest = log.to_vec();
    loop {
        let step = client.call(&Call::Client(call)).expect("the log is good");
        let entry = step["entry"].as_str().expect("a text");
        call = match step["action"].as_str() {
            Some("checkpoint") => ClientCall::TellCheckpoint { checkpoint: None, now_ms },
            Some("read") => ClientCall::TellEntries { entries: std::mem::take(&mut rest), now_ms },
            Some("append") if entry.contains("join") => ClientCall::TellAppended { appended: true, now_ms },
            _ => {
                let [with_join, without] = [log.len() + 1, log.len()].map(|number| format!("\"number\":{number},"));
                assert!(entry.contains(&with_join), "{entry}");
                return entry.replace(&with_join, &without);
            }
        };
    }
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
        for (block_size, lease_ms) in
            [(1, 1), (4, 60_000), (u32::MAX, MAX_EXACT), (0, 0), (4, 0), (4, MAX_EXACT + 1), (4, u64::MAX)]
        {
            calls.push(Call::Header { state: state.clone(), block_size, lease_ms: U64(lease_ms) });
        }
    }
    let sharding = Sharding { sizes: [4, 0, 9].map(U64).to_vec(), lanes: 2, window: 3 };
    let sharded = state(forms::Subject::Sharded { config: base("sharded", 13), sharding });
    calls.push(Call::Header { state: sharded, block_size: 6, lease_ms: U64(LEASE) });
    let good = state(forms::Subject::Config(base("feistel", 10)));
    for text in [
        String::new(),
        "{}".into(),
        good.replace("sampler", "batcher"),
        good.replace("\"consumed\":0", "\"consumed\":11"),
        good.replace("\"samedeal\":1", "\"samedeal\":2"),
        format!("{good}x"),
        " ".repeat(100),
        header(10, 0, 3),
        good.replace("\"consumed\":0", "\"consumed\":0,\"block_size\":3"),
    ] {
        calls.push(Call::Header { state: text, block_size: 0, lease_ms: U64(0) });
    }
    // States of composed orders: they have the number of positions, and recipes with other orders in them.
    let composed = [
        "{\"samedeal\":1,\"kind\":\"sampler\",\"recipe\":{\"order\":{\"stages\":[]}},\"epoch\":0,\"consumed\":0,\"positions\":0}".into(),
        blend_state("2"),
        blend_state("2").replace(",\"positions\":12", ""),
        blend_state("13"),
    ];
    calls.extend(composed.map(|state| Call::Header { state, block_size: 4, lease_ms: U64(LEASE) }));
    vec![asked("first entries", Subject::Functions {}, calls), of_blend()]
}

/// The state of a blend in the middle of an epoch.
fn blend_state(consumed: &str) -> String {
    let leaf = "{\"name\":\"feistel\",\"samples\":6,\"seed\":1}";
    let sources = format!(
        "[{{\"name\":\"a\",\"weight\":1,\"order\":{{\"name\":\"subset\",\"of\":{leaf},\"indices\":[0,2,5]}}}},{{\"name\":\"b\",\"weight\":2,\"order\":{leaf}}}]"
    );
    format!(
        "{{\"samedeal\":1,\"kind\":\"sampler\",\"recipe\":{{\"order\":{{\"name\":\"blend\",\"samples\":12,\"seed\":0,\"exhaustion\":\"repeat\",\
         \"index_space\":\"joined\",\"sources\":{sources},\"stages\":[{{\"from\":6,\"weights\":[1,1]}}]}}}},\"epoch\":1,\"consumed\":{consumed},\"positions\":12}}"
    )
}

/// The log of a blend: claims end at the last position of the epoch.
fn of_blend() -> Case {
    let header = Call::Header { state: blend_state("2"), block_size: 7, lease_ms: U64(LEASE) };
    let header = Native::create(&Subject::Functions {}).expect("nothing to make").call(&header).expect("an entry");
    let header = header.as_str().expect("a text").to_owned();
    let claim = |start: u64, count: u32| Call::Apply {
        entry: format!("{{\"event\":\"claim\",\"reader\":1,\"start\":{start},\"count\":{count}}}"),
    };
    // The number of positions in an epoch of a blend is read from the log, not computed from the recipe.
    let longer = header.replace("\"positions\":12", "\"positions\":13");
    let other_block = longer.replace("\"block_size\":7", "\"block_size\":8");
    let [longer, other_block, first] = [longer, other_block, header.clone()].map(|entry| Call::Apply { entry });
    let calls = [
        longer,
        other_block,
        first,
        Call::Progress,
        claim(2, 7),
        claim(9, 7),
        claim(9, 3),
        Call::Progress,
        Call::InitialState,
    ];
    asked("claims of a blend", ledger(header), calls)
}

/// Whole epochs of readers with different speeds. All entries are applied.
fn runs() -> Vec<Case> {
    let mut cases = Vec::new();
    for (samples, consumed, block_size, readers) in EPOCHS {
        let mut ledger = Applied::new(&header(samples, consumed, block_size));
        ledger.calls.push(Call::InitialState);
        ledger.apply(header(samples, consumed, block_size));
        let mut next = consumed;
        // For each reader: the first position of its claim that is not committed, and how many are not.
        let mut held: Vec<Option<(u64, u32)>> = vec![None; readers as usize];
        for turn in 1.. {
            let Some(reader) = whose_turn(turn, readers) else { continue };
            let entry = match held[reader as usize] {
                Some((start, left)) => {
                    let part = left.min(3);
                    held[reader as usize] = (part < left).then_some((start + u64::from(part), left - part));
                    entry("commit", reader, start, part)
                }
                None if next < samples => {
                    let count = u64::from(block_size).min(samples - next) as u32;
                    held[reader as usize] = Some((next, count));
                    next += u64::from(count);
                    entry("claim", reader, next - u64::from(count), count)
                }
                None if held.iter().any(Option::is_some) => continue,
                None => break,
            };
            ledger.apply(entry);
            ledger.progress();
        }
        ledger.progress();
        ledger.checkpoint();
        cases.push(ledger.case(&format!("{readers} readers of {samples} from {consumed} on by {block_size}")));
    }
    cases
}

/// Epochs that readers of different speeds share: the number of samples, how many are consumed, the positions of a
/// claim, the number of readers.
pub const EPOCHS: [(u64, u64, u32, u32); 6] =
    [(10, 0, 3, 1), (10, 3, 4, 2), (100, 0, 7, 3), (5, 5, 2, 2), (6, 0, u32::MAX, 2), (3, 2, 1, 3)];

/// The reader whose turn it is: reader r has every 2^r-th turn, and the highest reader comes first.
pub fn whose_turn(turn: u32, readers: u32) -> Option<u32> {
    (0..readers).rev().find(|reader| turn.is_multiple_of(1 << reader))
}

/// Logs as a ledger reads them that did not see the entries come.
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
        entry("commit", 5, 12, 1),
        entry("claim", 5, 13, 1),
    ];
    with_and_without_checkpoints("a log", &header(13, 0, 4), &lines)
}

/// Two cases of a log: without checkpoints, and with a checkpoint after each entry. A ledger accepts a checkpoint only
/// if its own runs and claims are the same.
fn with_and_without_checkpoints(name: &str, header: &str, lines: &[String]) -> Vec<Case> {
    let [mut plain, mut checked] = [Applied::begun(header), Applied::begun(header)];
    for entry in lines {
        for ledger in [&mut plain, &mut checked] {
            ledger.apply(entry);
            ledger.progress();
        }
        checked.checkpoint();
    }
    vec![plain.case(name), checked.case(&format!("{name}, with checkpoints"))]
}

/// Silent readers: other readers release their claims.
fn silences() -> Vec<Case> {
    let lines = [
        entry("claim", 1, 0, 6),
        entry("claim", 2, 6, 4),
        entry("commit", 1, 0, 2),
        entry("commit", 2, 6, 0),
        entry("release", 1, 2, 4),
        // A run that was released is claimed again: this is a new claim.
        entry("claim", 1, 2, 4),
        entry("commit", 1, 2, 1),
    ];
    with_and_without_checkpoints("silent readers", &header(10, 0, 6), &lines)
}

/// Texts that are no entries, and entries that do not follow. None of them changes the ledger.
fn refused() -> Vec<Case> {
    let first = header(20, 0, 4);
    let good = entry("claim", 2, 4, 4);
    let texts = [
        String::new(),
        "null".into(),
        "[".repeat(300),
        " ".repeat(100),
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
    let mut ledger = Applied::new(&first);
    ledger.progress();
    ledger.apply(entry("claim", 1, 0, 4));
    ledger.apply(first);
    ledger.apply(entry("claim", 1, 0, 4));
    for text in texts {
        ledger.apply(text);
    }
    ledger.progress();
    ledger.checkpoint();
    ledger.apply(good);
    vec![ledger.case("entries that do not follow")]
}

/// First entries of other runs, and first entries that are not valid.
fn other_headers() -> Vec<Case> {
    let own = header(10, 2, 4);
    let texts = [
        own.replace("feistel", "torch").replace("\"samples\":10", "\"samples\":11"),
        own.replace("\"samples\":10", "\"samples\":11"),
        own.replace("\"seed\":0", "\"seed\":-1"),
        own.replace("\"epoch\":0", "\"epoch\":1"),
        own.replace("\"consumed\":2", "\"consumed\":3"),
        own.replace("\"block_size\":4", "\"block_size\":5"),
        own.replace("\"fingerprint\":\"", "\"fingerprint\":\"0"),
        own.replace("\"block_size\":4", "\"block_size\":0"),
        own.replace("\"block_size\":4", "\"block_size\":4294967296"),
        own.replace(",\"block_size\":4", ""),
        own.replace(",\"lease_ms\":100", ""),
        own.replace("\"lease_ms\":100", "\"lease_ms\":0"),
        own.replace("\"lease_ms\":100", "\"lease_ms\":9007199254740992"),
        own.replace("\"consumed\":2", "\"consumed\":11"),
        own.replace("ledger", "sampler"),
        own.replace("\"samedeal\":1", "\"samedeal\":3"),
        entry("claim", 0, 2, 4),
        " ".repeat(100),
    ];
    let mut cases =
        vec![asked("logs of something else", ledger(own.clone()), texts.clone().map(|entry| Call::Apply { entry }))];
    for (number, header) in texts.into_iter().skip(7).enumerate() {
        cases.push(asked(&format!("no first entry, {number}"), ledger(header), []));
    }
    cases
}

/// The largest positions, claims and reader numbers.
fn edges() -> Vec<Case> {
    let (end, block_size) = (MAX_EXACT, u32::MAX);
    let start = end - 5_000_000_000;
    let rest = start + u64::from(block_size);
    let lines = [
        entry("claim", u32::MAX, start, block_size),
        entry("claim", 0, rest, (end - rest) as u32),
        entry("commit", u32::MAX, start, block_size - 1),
    ];
    with_and_without_checkpoints("as large as numbers get", &header(end, start, block_size), &lines)
}

/// Readers that start again: the runs that they held become free.
fn sessions() -> Vec<Case> {
    let first = header(20, 0, 4);
    let join =
        |reader: u64, session: &str| format!("{{\"event\":\"join\",\"reader\":{reader},\"session\":\"{session}\"}}");
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
        format!(" {{ \"session\" : \"{}\", \"event\":\"join\",\"reader\": 4294967295 }}", "0123456789abcdef"),
        join(1, "00000000000000f"),
        join(1, "00000000000000fff"),
        join(1, "00000000000000FF"),
        join(1, "+0000000000000ff"),
        join(1, ""),
        join(4_294_967_296, "00000000000000ff"),
        good.replace("\"00000000000000ff\"", "255"),
        good.replace(",\"session\"", ",\"start\":0,\"session\""),
        good.replace("\"reader\":1,", ""),
        entry("claim", 1, 0, 4).replace("\"count\"", "\"session\":\"00000000000000ff\",\"count\""),
        entry("claim", 1, 0, 4),
    ];
    with_and_without_checkpoints("sessions of readers", &first, &lines)
}

/// Leases that are changed.
fn leases() -> Vec<Case> {
    let first = header(4, 0, 4);
    let set = |lease_ms: u64| format!("{{\"event\":\"lease\",\"reader\":1,\"lease_ms\":{lease_ms}}}");
    let mut ledger = Applied::new(&first);
    // The lease of the log counts, not that of the header with which the ledger is made.
    ledger.apply(first.replace("\"lease_ms\":100", "\"lease_ms\":30"));
    for line in [
        entry("claim", 1, 0, 4),
        set(50),
        set(MAX_EXACT),
        set(0),
        set(MAX_EXACT + 1),
        set(1).replace("\"reader\":1,", ""),
        set(1).replace("\"reader\"", "\"count\":0,\"reader\""),
        set(1).replace("\"lease_ms\":1", "\"lease_ms\":\"1\""),
        set(1),
        set(2).replace("\"reader\":1", "\"reader\":3"),
    ] {
        ledger.apply(line);
        // The checkpoint also has the lease.
        ledger.checkpoint();
    }
    ledger.progress();
    vec![ledger.case("leases")]
}

/// Checkpoints. A ledger accepts one if it agrees with what the ledger has.
fn checkpoints() -> Vec<Case> {
    let first = header(20, 0, 4);
    let checkpoint = |number: u64, next: u64, committed: u64, free: &str, held: &str| {
        format!(
            "{{\"event\":\"checkpoint\",\"number\":{number},\"next\":{next},\"committed\":{committed},\"lease_ms\":100,\
             \"free\":[{free}],\"held\":[{held}]}}"
        )
    };
    let mut ledger = Applied::new(&first);
    for line in [
        checkpoint(0, 0, 0, "", ""),
        first,
        checkpoint(0, 0, 0, "", ""),
        checkpoint(1, 0, 0, "", ""),
        checkpoint(1, 0, 0, "", ""),
        entry("claim", 5, 0, 4),
        entry("claim", 6, 4, 4),
        entry("claim", 5, 8, 4),
        entry("commit", 5, 8, 3),
        entry("release", 6, 4, 4),
    ] {
        ledger.apply(line);
    }
    ledger.progress();
    let good = checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,5,8,4,3");
    let bad = [
        checkpoint(6, 12, 3, "4,4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 16, 3, "4,4", "2,5,0,4,0,4,5,8,4,3"),
        checkpoint(7, 12, 4, "4,4", "2,5,0,4,0,4,5,8,4,3"),
        good.replace("\"lease_ms\":100", "\"lease_ms\":101"),
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
        // A run that begins beyond 2^53 - 1.
        checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,5,9007199254740991,4,1"),
        checkpoint(7, 12, 3, "4,4", "2,5,0,4,0,4,5,9007199254740990,4,1"),
        good.replace("\"free\":[4,4],", ""),
        good.replace("\"free\":[4,4]", "\"free\":{}"),
        good.replace("\"free\":[4,4]", "\"free\":[4,4],\"free\":[4,4]"),
        good.replace("\"number\"", "\"reader\":5,\"number\""),
    ];
    for text in bad {
        ledger.apply(text);
    }
    ledger.progress();
    ledger.apply(format!("\t{} ", good.replace(',', " , ").replace('[', " [ ")));
    ledger.progress();
    ledger.checkpoint();
    ledger.apply(entry("commit", 5, 11, 1));
    ledger.apply(entry("claim", 6, 4, 4));
    ledger.checkpoint();
    vec![ledger.case("checkpoints")]
}

/// Replays: the positions that each reader reads again, for several numbers of readers. The log comes in parts of
/// several sizes.
fn replays() -> Vec<Case> {
    let first = header(40, 2, 4);
    let mut source = Applied::begun(&first);
    for line in [
        "{\"event\":\"join\",\"reader\":5,\"session\":\"00000000000000ff\"}".into(),
        entry("claim", 5, 2, 4),
        entry("claim", u32::MAX, 6, 4),
        entry("claim", 0, 10, 4),
        // A commit of no positions is a sign of life.
        entry("commit", u32::MAX, 6, 0),
        entry("commit", 0, 10, 4),
        entry("commit", u32::MAX, 6, 3),
        entry("commit", 5, 2, 1),
        "{\"event\":\"lease\",\"reader\":5,\"lease_ms\":7}".into(),
        entry("release", 5, 3, 3),
        entry("claim", 4, 3, 3),
        entry("commit", u32::MAX, 9, 1),
        entry("commit", 4, 3, 2),
        entry("commit", 4, 5, 1),
        entry("claim", 6, 14, 4),
        entry("claim", 5, 18, 4),
        entry("commit", 5, 18, 4),
        entry("commit", 6, 14, 4),
    ] {
        source.apply(line);
        if source.log.len() == 9 {
            source.checkpoint();
        }
    }
    let log = source.log;
    let mut cases = Vec::new();
    for (readers, parts) in [(1, log.len()), (1, 1), (2, 5), (3, 2), (u32::MAX, 7)] {
        for reader in [0, 1, 2, 4, u32::MAX - 1].into_iter().filter(|&reader| reader < readers) {
            let mut calls = Vec::new();
            for part in log.chunks(parts) {
                calls.push(Call::Replay { entries: part.to_vec(), reader, readers });
            }
            calls.push(Call::Progress);
            let name = format!("a replay by reader {reader} of {readers}, by parts of {parts} entries");
            cases.push(asked(&name, ledger(first.clone()), calls));
        }
    }
    let replay = |entries: &[String], reader, readers| Call::Replay { entries: entries.to_vec(), reader, readers };
    let wrong = [&log[10..12], &[entry("commit", 5, 0, 1)], &log[12..]].concat();
    cases.push(asked(
        "replays that are refused",
        ledger(first.clone()),
        [
            replay(&[], 0, 0),
            replay(&[], 1, 0),
            replay(&[], 1, 1),
            replay(&log, 3, 3),
            replay(&log, u32::MAX, u32::MAX),
            Call::Progress,
            // No entry was applied before, and these calls apply none.
            replay(&[], 0, 1),
            replay(&log[1..], 0, 1),
            replay(&[header(40, 3, 4)], 0, 1),
            replay(&["x".into()], 0, 1),
            Call::Progress,
            replay(&log[..1], 0, 1),
            // A replay by another reader, then one entry that is applied without a replay.
            replay(&log[1..9], 0, 2),
            Call::Apply { entry: log[9].clone() },
            replay(&[], 0, 2),
            // The entries before the refused entry are applied.
            replay(&wrong, 1, 2),
            Call::Progress,
            replay(&["".into()], 1, 2),
            replay(&log[12..], 1, 2),
            Call::Progress,
        ],
    ));
    let (end, block_size) = (MAX_EXACT, u32::MAX);
    let start = end - u64::from(block_size);
    let large = [
        header(end, start, block_size),
        entry("claim", u32::MAX, start, block_size),
        entry("commit", u32::MAX, start, block_size),
    ];
    cases.push(asked("a replay of large numbers", ledger(large[0].clone()), [replay(&large, u32::MAX % 10, 10)]));
    cases
}

fn ledger(header: String) -> Subject {
    Subject::Ledger(Ledger { header })
}

pub fn entry(event: &str, reader: u32, start: u64, count: u32) -> String {
    format!("{{\"event\":\"{event}\",\"reader\":{reader},\"start\":{start},\"count\":{count}}}")
}

pub fn header(samples: u64, consumed: u64, block_size: u32) -> String {
    let state = sampler_state(samples, consumed);
    let mut functions = Native::create(&Subject::Functions {}).expect("nothing to make");
    functions
        .call(&Call::Header { state, block_size, lease_ms: U64(LEASE) })
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
