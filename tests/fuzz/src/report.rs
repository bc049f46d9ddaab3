//! The options and the report that all fuzzers have in common: `PROGRAM --minutes M --seed S`; the last line of standard output is one
//! JSON object.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

/// The options of a fuzzer.
pub struct Options {
    pub time: Duration,
    pub seed: u64,
    /// The largest number of calls, whatever the time: with it, a run is the same on every machine.
    pub calls: Option<u64>,
}

impl Options {
    /// Reads `--minutes M`, `--seed S` and `--calls N`.
    pub fn read(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { time: Duration::from_secs(60), seed: 0, calls: None };
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            let value = arguments.next().unwrap_or_default();
            let wrong =
                || format!("{name} {value}: allowed are --minutes M, --seed S and --calls N, each with a number");
            match name.as_str() {
                "--minutes" => {
                    let minutes: f64 = value.parse().map_err(|_| wrong())?;
                    options.time = Duration::try_from_secs_f64(minutes * 60.0).map_err(|_| wrong())?;
                }
                "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
                "--calls" => options.calls = Some(value.parse().map_err(|_| wrong())?),
                _ => return Err(wrong()),
            }
        }
        Ok(options)
    }
}

/// The result of a fuzzer.
#[derive(Serialize)]
pub struct Report {
    pub host: &'static str,
    pub calls: u64,
    pub seconds: f64,
    /// For each kind of failure: how often it was the answer.
    pub errors: BTreeMap<String, u64>,
    pub slowest_ms: f64,
    pub memory_growth_mb: f64,
    pub failures: Vec<String>,
    /// Further values of this fuzzer.
    #[serde(flatten)]
    pub more: BTreeMap<&'static str, Value>,
    #[serde(skip)]
    started: Instant,
}

impl Report {
    pub fn new(host: &'static str) -> Self {
        Self {
            host,
            calls: 0,
            seconds: 0.0,
            errors: BTreeMap::new(),
            slowest_ms: 0.0,
            memory_growth_mb: 0.0,
            failures: Vec::new(),
            more: BTreeMap::new(),
            started: Instant::now(),
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn took(&mut self, time: Duration) {
        self.slowest_ms = self.slowest_ms.max((time.as_secs_f64() * 1e4).round() / 10.0);
    }

    /// Prints the last line, and returns the exit code.
    pub fn finish(mut self) -> ExitCode {
        self.seconds = (self.started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        println!("{}", serde_json::to_string(&self).expect("plain data"));
        if self.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
