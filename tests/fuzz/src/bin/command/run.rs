//! One run of the command, and the check of its result.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use fuzz::usage;

/// The largest processor time of a run, after which it is killed. A dataset of some thousand samples takes
/// milliseconds.
const MOST_TIME: Duration = Duration::from_secs(120);
/// The largest processor time of a run that may read a very large epoch. It is then killed, which counts as no failure.
const MOST_TIME_OF_LARGE: Duration = Duration::from_secs(5);
/// The largest memory that a run may use at once, in megabytes.
const MOST_MB: f64 = 1500.0;
/// The largest number of bytes of output that are read, before the pipe is closed.
const READ: usize = 64 << 10;
/// Words that no user should see.
const FORBIDDEN: [&str; 7] =
    ["panicked", "wasm trap", "RUST_BACKTRACE", "unreachable", "stack overflow", "Utf8Error", "memory allocation of"];

pub struct Ran {
    pub ended: String,
    pub time: Duration,
    pub memory_mb: f64,
    pub was_stopped: bool,
    pub wrong: Option<String>,
}

pub fn run(rng: &mut Rng, program: &Path, place: &Path, words: &[String]) -> io::Result<Ran> {
    let before = files(place)?;
    let errors = place.with_extension("err");
    let mut command = Command::new(program);
    command.args(words).current_dir(place).stderr(File::create(&errors)?).stdout(Stdio::piped());
    // The command answers for this process, so the variables of a launcher are removed.
    command.env_remove("RANK").env_remove("WORLD_SIZE");
    let input = ["epoch.log", "recipe.json", "lengths.json"][rng.usize(..3)];
    if rng.bool() {
        command.stdin(File::open(place.join(input))?);
    } else {
        command.stdin(Stdio::null());
    }
    let mut child = command.spawn()?;
    let mut out = child.stdout.take().expect("a pipe");
    // Some readers close the pipe at once, as `head` does.
    let reads = if rng.u8(0..8) == 0 { 0 } else { READ };
    let reader = std::thread::spawn(move || {
        let mut some = Vec::new();
        let _ = out.by_ref().take(reads as u64).read_to_end(&mut some);
        some
    });
    let id = child.id();
    let is_large = words.iter().any(|word| may_be_large(word));
    let most = if is_large { MOST_TIME_OF_LARGE } else { MOST_TIME };
    let (mut time, mut memory_mb, mut was_stopped) = (Duration::ZERO, 0.0_f64, false);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        time = time.max(usage::time_of(id));
        memory_mb = memory_mb.max(usage::memory_mb_of(id));
        if time > most || memory_mb > MOST_MB {
            was_stopped = true;
            child.kill()?;
        }
        sleep(Duration::from_millis(2));
    };
    let printed = reader.join().unwrap_or_default();
    let told = String::from_utf8_lossy(&fs::read(&errors)?).into_owned();
    let after = files(place)?;
    let made: Vec<&String> = after.difference(&before).collect();
    let ended = status.code().map_or_else(|| format!("{status}"), |code| format!("exit {code}"));
    let texts = [&*told, &*String::from_utf8_lossy(&printed)].map(str::to_owned);
    let forbidden =
        FORBIDDEN.iter().find(|word| texts[0].contains(**word) && !words.iter().any(|own| own.contains(**word)));
    let wrong = if memory_mb > MOST_MB {
        Some(format!("it took {memory_mb:.0} MB of memory"))
    } else if was_stopped {
        (!is_large).then(|| format!("it did not end within {MOST_TIME:?} of processor time"))
    } else if !matches!(status.code(), Some(0..=2)) {
        Some(format!("it ended with {status}: {}", told.chars().take(600).collect::<String>()))
    } else if let Some(word) = forbidden {
        Some(format!("it says {word}: {}", told.chars().take(600).collect::<String>()))
    } else if !status.success() && told.trim().is_empty() && printed.is_empty() && reads > 0 {
        Some(format!("{ended} without a message"))
    } else if !status.success() && !made.is_empty() && status.code() != Some(1) {
        Some(format!("{ended}, and it left {made:?}"))
    } else {
        made.iter().find(|name| !name.starts_with("made-")).and_then(|name| {
            // A run may only leave files that an argument names.
            (!words.iter().any(|word| word.contains(name.as_str()))).then(|| format!("{ended}, and it left {name}"))
        })
    };
    Ok(Ran { ended: if was_stopped { "stopped".into() } else { ended }, time, memory_mb, was_stopped, wrong })
}

/// Whether a word may have a number of 10^5 or more. `--samples=1e8` has one, too.
fn may_be_large(word: &str) -> bool {
    let value = word.rsplit('=').next().unwrap_or(word);
    let is_long = word.len() > 5 && word.contains(|c: char| c.is_ascii_digit());
    is_long || value.parse::<f64>().is_ok_and(|number| number.abs() >= 1e5)
}

/// The names of the files in a folder and below it.
fn files(place: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for folder in [place.to_owned(), place.join("shards")] {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            names.insert(path.strip_prefix(place).unwrap_or(&path).display().to_string());
        }
    }
    Ok(names)
}
