//! The process that makes random cases and asks the native core. If the core overflows the stack or loops forever, only
//! this process ends, and the file `CURRENT` has the case.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use matrix::format::Case;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use fuzz::ask::{ask, group, text_of};
use fuzz::corpus::{Corpus, Seed};
use fuzz::mutate;

/// Bytes of memory for the process: more than any answer to a random case needs.
const MEMORY: u64 = 3 << 30;
/// The largest time of the core for a case of the second implementation, because plain Python takes a thousand times as
/// long.
const FOR_REFERENCE: Duration = Duration::from_micros(400);
/// The file with the current case.
pub const CURRENT: &str = "current.json";
/// The folder of the cases for the second implementation. The folders for hosts have the hosts' names.
pub const REFERENCE: &str = "reference";

/// A request of the parent for a round.
#[derive(Serialize, Deserialize)]
pub struct Order {
    pub round: u64,
    pub cases: usize,
    /// The share of all cases for each host. The shares sum to 1, so that every case gets a host.
    pub hosts: BTreeMap<String, f64>,
    /// The share of all cases that the second implementation gets in addition.
    pub reference: f64,
    pub bound_ms: f64,
}

/// The result of a round of generation.
#[derive(Default, Serialize, Deserialize)]
pub struct Made {
    pub calls: u64,
    pub errors: BTreeMap<String, u64>,
    pub slowest_ms: f64,
    pub sorts: usize,
    /// Faults of the native core: the error, and the case without answers.
    pub wrong: Vec<(String, String)>,
}

/// Answers the requests of the parent, each in a line, until its input ends.
pub fn serve(seed: u64, folder: &Path, vectors: &Path) -> io::Result<()> {
    setrlimit(Resource::As, Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) })?;
    fuzz::ask::watch_panics();
    let mut corpus = Corpus::read(vectors);
    let mut rng = Rng::with_seed(seed);
    let current = File::create(folder.join(CURRENT))?;
    for line in io::stdin().lock().lines() {
        let order: Order = serde_json::from_str(&line?)?;
        let made = make(&order, seed, &mut rng, &mut corpus, &current, folder)?;
        println!("{}", serde_json::to_string(&made)?);
    }
    Ok(())
}

fn make(
    order: &Order,
    seed: u64,
    rng: &mut Rng,
    corpus: &mut Corpus,
    current: &File,
    folder: &Path,
) -> io::Result<Made> {
    let mut made = Made::default();
    let mut groups: BTreeMap<&'static str, Vec<(Case, bool)>> = BTreeMap::new();
    let mut number = 0;
    while number < order.cases {
        let case = mutate::case(rng, corpus);
        let name = format!("fuzz {seed}-{}-{number}", order.round);
        let Some(text) = text_of(&case, &name) else { continue };
        current.write_all_at(text.as_bytes(), 0)?;
        current.set_len(text.len() as u64)?;
        let Some(answered) = ask(&text) else { continue };
        number += 1;
        made.calls += answered.calls();
        let milliseconds = answered.time.as_secs_f64() * 1e3;
        made.slowest_ms = made.slowest_ms.max(milliseconds);
        for kind in answered.failures() {
            *made.errors.entry(kind.to_owned()).or_default() += 1;
        }
        if let Some(why) = &answered.panic {
            made.wrong.push((why.clone(), text));
            continue;
        }
        if milliseconds > order.bound_ms {
            made.wrong.push((format!("the core took {milliseconds:.0} ms of processor time"), text));
            continue;
        }
        let keep = || Seed {
            calls: case.calls.clone(),
            texts: answered.texts(),
            kind: case.kind.clone(),
            subject: case.subject.clone(),
        };
        corpus.offer(keep, answered.sorts(&case.kind));
        groups.entry(group(&case, &text)).or_default().push((answered.case, answered.time < FOR_REFERENCE));
    }
    made.sorts = corpus.sorts();
    let round = folder.join(format!("round-{}", order.round));
    let mut from = 0.0;
    for (host, part) in &order.hosts {
        write(&round.join(host), &groups, from, from + part, |_| true)?;
        from += part;
    }
    // The share of the second implementation moves from round to round, so that it does not always get the cases of one
    // host.
    let from = (order.round as f64 * 0.37) % 1.0 * (1.0 - order.reference);
    write(&round.join(REFERENCE), &groups, from, from + order.reference, |quick| quick)?;
    Ok(made)
}

/// Writes the same share of every group.
fn write(
    folder: &Path,
    groups: &BTreeMap<&'static str, Vec<(Case, bool)>>,
    from: f64,
    to: f64,
    fits: impl Fn(bool) -> bool,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (group, cases) in groups {
        let place = |part: f64| ((part * cases.len() as f64).round() as usize).min(cases.len());
        let chosen: Vec<&Case> =
            cases[place(from)..place(to)].iter().filter(|case| fits(case.1)).map(|case| &case.0).collect();
        if !chosen.is_empty() {
            write_group(folder, group, &chosen)?;
        }
    }
    Ok(())
}

/// Writes cases as a file of golden cases.
pub fn write_group(folder: &Path, group: &str, cases: &[&Case]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(folder.join(format!("{group}.json")))?);
    write!(out, "{{\"version\":1,\"group\":\"{group}\",\"cases\":")?;
    serde_json::to_writer(&mut out, cases)?;
    out.write_all(b"}")?;
    out.flush()
}
