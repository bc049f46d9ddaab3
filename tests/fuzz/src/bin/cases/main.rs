//! Random and hostile cases in the form of the golden ones: the native core answers them, and every host and the second
//! implementation must give the same answers. A failing case is shrunk and printed, ready for the golden cases.

mod engines;
mod failing;
mod generate;
mod shrink;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, fs, io, process, thread};

use engines::{ENGINES, Found};
use failing::Failing;
use fuzz::ask;
use fuzz::program;
use fuzz::report::{Options, Report};
use fuzz::usage;
use generate::{CURRENT, Made, Order};

/// The processor time of the core for a case, in milliseconds on a usual machine.
const BOUND_MS: f64 = 1000.0;
/// The processor time of a host for a case. A host answers each call in two ways, through generated code that it may
/// have to compile first.
const HOST_BOUND_MS: f64 = 4000.0;
/// Number of cases in a round. The rounds of a seed are always the same, however long they take.
const ROUND: usize = 24_000;
/// Number of cases that each engine answers in a second of processor time, as a guess for the first round. Later rounds
/// use measured speeds, so that all engines get the same time.
const SPEEDS: [f64; ENGINES.len()] = [1000.0, 400.0, 1000.0, 500.0];
/// The processor time after which a case of the core counts as hung.
const HANGS: Duration = Duration::from_secs(60);
/// The processor time that an engine may take for a round.
const PATIENCE: Duration = Duration::from_secs(240);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [word, seed, folder] = arguments.as_slice()
        && word == "generate"
    {
        let seed = seed.parse().expect("the parent gives a number");
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
        return match generate::serve(seed, Path::new(folder), &vectors) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    program::run_in_folder("cases", run)
}

fn run(options: &Options, root: &Path, folder: &Path) -> io::Result<Report> {
    ask::watch_panics();
    let mut report = Report::new("cases");
    let slowness = usage::slowness();
    let (bound_ms, host_bound_ms) = (BOUND_MS * slowness, HOST_BOUND_MS * slowness);
    let mut failing = Failing::new(root, folder, host_bound_ms, bound_ms);
    let mut generator = Generator::start(options.seed, folder)?;
    let wanted = options.calls.map(|cases| cases as usize);
    let (mut cases, mut round, mut slowest) = (0_usize, 0, 0_f64);
    let mut passed: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut speeds = SPEEDS;
    let order = |round: u64, speeds: [f64; ENGINES.len()], cases: usize| {
        let hosts = ENGINES.len() - 1;
        let all: f64 = speeds[..hosts].iter().sum();
        Order {
            round,
            cases: wanted.map_or(ROUND, |wanted| ROUND.min(wanted - cases.min(wanted))),
            hosts: (0..hosts).map(|at| (ENGINES[at].part.to_owned(), speeds[at] / all)).collect(),
            reference: (speeds[hosts] / all).min(1.0),
            bound_ms,
        }
    };
    let mut next = order(0, speeds, 0);
    generator.ask(&next)?;
    let mut growth = (0.0, 0.0);
    while next.cases > 0 {
        let Some(made) = generator.answer()? else {
            failing.died(&generator.current(), &generator.end()?);
            break;
        };
        cases += next.cases;
        report.calls += made.calls;
        slowest = slowest.max(made.slowest_ms);
        for (kind, count) in &made.errors {
            *report.errors.entry(kind.clone()).or_default() += count;
        }
        growth.1 = generator.memory_mb();
        if round == 0 {
            growth.0 = growth.1;
        }
        // The generator makes the next round while the engines answer this one.
        let is_last = wanted
            .map_or(report.elapsed() + report.elapsed() / (round as u32 + 2) > options.time, |wanted| cases >= wanted);
        let asked = std::mem::replace(&mut next, order(round + 1, speeds, cases));
        if is_last {
            next.cases = 0;
        } else {
            generator.ask(&next)?;
        }
        let place = folder.join(format!("round-{round}"));
        let found = ask_engines(root, &place, host_bound_ms);
        let mut told = String::new();
        for (at, (engine, found)) in ENGINES.iter().zip(found).enumerate() {
            let found = found?;
            let seconds = found.time.as_secs_f64();
            let part = asked.hosts.get(engine.part).copied().unwrap_or(asked.reference);
            // The second implementation leaves out slow cases; Node runs some cases on several builds.
            let count = ((part * asked.cases as f64).round() as u64).min(found.passed + found.wrong.len() as u64);
            // The mean of two rounds, because rounds differ: a few cases take an engine very long.
            speeds[at] = f64::midpoint(speeds[at], (count as f64 / seconds.max(0.1)).max(10.0));
            *passed.entry(engine.name).or_default() += count.saturating_sub(found.wrong.len() as u64);
            told += &format!(", {} {count} in {seconds:.1} s", engine.name);
            failing.add(engine, &place, found)?;
        }
        made.wrong.into_iter().for_each(|(why, case)| failing.of_core(why, &case));
        println!("round {round}: {cases} cases, {} sorts of answers, {} failures{told}", made.sorts, failing.count());
        report.more.insert("sorts_of_answers", made.sorts.into());
        fs::remove_dir_all(&place)?;
        round += 1;
    }
    report.slowest_ms = (slowest * 10.0).round() / 10.0;
    report.memory_growth_mb = (growth.1 - growth.0).round();
    report.more.insert("cases", cases.into());
    report.more.insert("bound_ms", bound_ms.round().into());
    report.more.insert("passed", serde_json::to_value(&passed)?);
    report.failures = failing.finish(options.seed)?;
    Ok(report)
}

/// The results of each engine for a round.
fn ask_engines(root: &Path, place: &Path, bound_ms: f64) -> Vec<io::Result<Found>> {
    thread::scope(|scope| {
        let run = |engine: &'static engines::Engine| {
            scope.spawn(move || engine.run(root, &place.join(engine.part), bound_ms, PATIENCE))
        };
        let running: Vec<_> = ENGINES.iter().map(run).collect();
        running.into_iter().map(|engine| engine.join().expect("it does not panic")).collect()
    })
}

/// The process that makes cases.
struct Generator {
    child: Child,
    answers: BufReader<process::ChildStdout>,
    folder: PathBuf,
}

impl Generator {
    fn start(seed: u64, folder: &Path) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.arg("generate").arg(seed.to_string()).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Ok(Self { child, answers, folder: folder.to_owned() })
    }

    fn ask(&mut self, order: &Order) -> io::Result<()> {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{}", serde_json::to_string(order)?)
    }

    /// The generated cases; None if the process died. A process that hangs is killed: its current case does not change.
    fn answer(&mut self) -> io::Result<Option<Made>> {
        let id = self.child.id();
        let pid = rustix::process::Pid::from_child(&self.child);
        let current = self.folder.join(CURRENT);
        let (done, is_done) = mpsc::channel::<()>();
        let answers = &mut self.answers;
        thread::scope(|scope| {
            scope.spawn(move || {
                let changed = || fs::metadata(&current).and_then(|about| about.modified()).ok();
                let mut last = (changed(), usage::time_of(id));
                while is_done.recv_timeout(Duration::from_secs(5)) == Err(RecvTimeoutError::Timeout) {
                    let now = (changed(), usage::time_of(id));
                    if now.0 != last.0 {
                        last = now;
                    } else if now.1 > last.1 + HANGS {
                        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    }
                }
            });
            let mut line = String::new();
            answers.read_line(&mut line)?;
            drop(done);
            if line.is_empty() { Ok(None) } else { Ok(Some(serde_json::from_str(&line)?)) }
        })
    }

    fn end(&mut self) -> io::Result<String> {
        Ok(format!("the core ended the process that asked it: {}", self.child.wait()?))
    }

    /// The current case of the process, or the last one.
    fn current(&self) -> String {
        fs::read_to_string(self.folder.join(CURRENT)).unwrap_or_default()
    }

    fn memory_mb(&self) -> f64 {
        usage::memory_mb_of(self.child.id())
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
