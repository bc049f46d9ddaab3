//! Runs the programs of one step. Their output goes to a log, and signs of life to the terminal.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::project;

/// Without a terminal, a step reports that it is running after this time, and then every `HEARTBEAT`.
const PATIENCE: Duration = Duration::from_secs(2);
const HEARTBEAT: Duration = Duration::from_secs(30);
/// The number of lines at the beginning and at the end of a long log that are shown when a step fails.
const HEAD: usize = 12;
const TAIL: usize = 48;
/// The number of lines of a log that are repeated below the summary, and the number of characters of each.
const POINTS: usize = 12;
const POINT_WIDTH: usize = 200;
/// Marks by which a line that names a failure is found: test runners and compilers write them.
const SIGNS: [&str; 7] = ["FAILED", "panicked at", "not ok ", "\u{2716} ", "\u{2718} ", "error:", "Error: "];
/// The number of lines after an error that are repeated too. They say where it was, what was expected and what came.
const BELOW: usize = 5;

/// The number of columns of the status line on a terminal, which is overwritten again and again.
const WIDTH: usize = 110;

/// The running steps, for the status line: the label of each, and what it is doing.
static RUNNING: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// One step that is running.
pub struct Progress {
    label: String,
    log: PathBuf,
    started: Instant,
    next_sign: Cell<Duration>,
    /// The processor time of the programs that have ended, with that of the child processes that they waited for.
    busy: Cell<Duration>,
}

/// Prints whole lines above the status line.
pub fn print(lines: &str) {
    change(lines, |_| ());
}

/// Prints whole lines, changes the running steps, and shows the status line again.
fn change(lines: &str, changed: impl FnOnce(&mut Vec<(String, String)>)) {
    let mut running = RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    changed(&mut running);
    let mut out = io::stdout().lock();
    let mut text = lines.to_string();
    if io::stdout().is_terminal() {
        let width = (WIDTH / running.len().max(1)).saturating_sub(3);
        let parts: Vec<String> = running.iter().map(|(_, text)| text.chars().take(width).collect()).collect();
        text = format!("\r\x1b[K{text}{}", parts.join(" | "));
    }
    // A step does not fail because its output cannot be printed.
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
}

impl Progress {
    /// Begins a step. The name of its log is made of `name`.
    pub fn begin(label: String, name: &str) -> io::Result<Progress> {
        let file: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let log = project::path("target/xtask").join(file.to_lowercase() + ".log");
        fs::create_dir_all(project::path("target/xtask"))?;
        File::create(&log)?;
        change("", |running| running.push((label.clone(), label.clone())));
        Ok(Progress { label, log, started: Instant::now(), next_sign: Cell::new(PATIENCE), busy: Cell::default() })
    }

    /// The time since the step began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The processor time of the programs of the step. It is 0 on systems without /proc.
    pub fn busy(&self) -> Duration {
        self.busy.get()
    }

    /// The path of the log, from the root of the project.
    pub fn log_name(&self) -> String {
        self.log.strip_prefix(project::path("")).unwrap_or(&self.log).display().to_string()
    }

    /// Everything that the programs of the step have printed so far.
    pub fn log_text(&self) -> String {
        fs::read(&self.log).map(|bytes| lasting(&String::from_utf8_lossy(&bytes))).unwrap_or_default()
    }

    /// Runs a program to its end, with all its output in the log. If it fails, the error names it.
    pub fn run(&self, command: &mut Command) -> Result<(), String> {
        let log = self.open_log(command)?;
        let output = log.try_clone().map_err(|error| self.cannot_write(&error))?;
        self.wait(command.stdout(output).stderr(log))
    }

    /// Runs a program with its standard output in the file `output`, which is replaced. The file has all output even if
    /// the program fails.
    pub fn run_into(&self, command: &mut Command, output: &Path) -> Result<(), String> {
        let log = self.open_log(command)?;
        let file = File::create(output).map_err(|error| format!("cannot write {}: {error}", output.display()))?;
        self.wait(command.stdout(file).stderr(log))
    }

    /// The log, indented for people. For a long log, only its beginning and its end.
    pub fn excerpt(&self) -> String {
        let text = self.log_text();
        let lines: Vec<&str> = text.lines().collect();
        let left_out = lines.len().saturating_sub(HEAD + TAIL);
        let indent = |lines: &[&str]| lines.iter().map(|line| format!("      | {line}\n")).collect::<String>();
        if left_out == 0 {
            return indent(&lines);
        }
        let (head, tail) = (&lines[..HEAD], &lines[HEAD + left_out..]);
        format!("{}      | ... {left_out} lines ...\n{}", indent(head), indent(tail))
    }

    /// The lines of the log that name the failure. If there are none, the last lines.
    pub fn points(&self) -> Vec<String> {
        points(&self.log_text())
    }

    /// Ends the step and prints lines that stay.
    pub fn finish(&self, lines: &str) {
        change(lines, |running| running.retain(|(label, _)| *label != self.label));
    }

    fn open_log(&self, command: &Command) -> Result<File, String> {
        let mut log = OpenOptions::new().append(true).open(&self.log).map_err(|error| self.cannot_write(&error))?;
        writeln!(log, "$ {}", describe(command)).map_err(|error| self.cannot_write(&error))?;
        Ok(log)
    }

    fn cannot_write(&self, error: &io::Error) -> String {
        format!("cannot write {}: {error}", self.log_name())
    }

    fn wait(&self, command: &mut Command) -> Result<(), String> {
        let name = describe(command);
        self.sign(&name);
        let mut child =
            command.stdin(Stdio::null()).spawn().map_err(|error| format!("cannot run `{name}`: {error}"))?;
        let mut pause = Duration::from_millis(5);
        let mut time = Duration::ZERO;
        let status: ExitStatus = loop {
            // The processor time is read before `try_wait`, because that removes the entry of an ended program from
            // /proc. `try_wait` is not called for a program that is still running.
            let (used, has_ended) = processor_time(child.id()).unwrap_or((time, true));
            time = used;
            if has_ended
                && let Some(status) = child.try_wait().map_err(|error| format!("cannot wait for `{name}`: {error}"))?
            {
                break status;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
            self.sign(&name);
        };
        self.busy.set(self.busy.get() + time);
        if status.success() { Ok(()) } else { Err(format!("`{name}` failed ({status})")) }
    }

    /// Shows a sign of life: the status line on a terminal, otherwise a lasting line now and then.
    fn sign(&self, command: &str) {
        let elapsed = self.elapsed();
        if io::stdout().is_terminal() {
            let text = format!("{}  {}s  {}", self.label, elapsed.as_secs(), self.last_line(command));
            change("", |running| {
                if let Some((_, shown)) = running.iter_mut().find(|(label, _)| *label == self.label) {
                    *shown = text;
                }
            });
        } else if elapsed >= self.next_sign.get() {
            let first = self.next_sign.get() == PATIENCE;
            let what = if first {
                format!("running {}", command.chars().take(WIDTH).collect::<String>())
            } else {
                self.last_line(command)
            };
            print(&format!("{}  {}s  {what}\n", self.label, elapsed.as_secs()));
            self.next_sign.set(elapsed + HEARTBEAT);
        }
    }

    /// The last line in the log, or `otherwise`.
    fn last_line(&self, otherwise: &str) -> String {
        let mut end = Vec::new();
        let read = File::open(&self.log).and_then(|mut log| {
            let length = log.metadata()?.len();
            log.seek(SeekFrom::Start(length.saturating_sub(2000)))?;
            log.read_to_end(&mut end)
        });
        let text = String::from_utf8_lossy(&end);
        let line = text.rsplit(['\n', '\r']).map(str::trim).find(|line| !line.is_empty()).unwrap_or(otherwise);
        let line: String = line.chars().filter(|character| !character.is_control()).take(100).collect();
        if read.is_ok() { line } else { otherwise.into() }
    }
}

/// The processor time of a process and of the child processes that it waited for, and whether it has ended. Read from
/// /proc of Linux; none elsewhere.
fn processor_time(process: u32) -> Option<(Duration, bool)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses, and may contain any character.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    // Linux counts this time in hundredths of a second on every machine.
    Some((Duration::from_millis(10 * ticks), fields[0] == "Z"))
}

/// The text as a terminal would show it in the end: without the progress bars of cargo, each of which ends at a
/// carriage return.
fn lasting(text: &str) -> String {
    text.split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line).rsplit('\r').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A program and its arguments, as a user would type them at the root of the project.
pub fn describe(command: &Command) -> String {
    let root = format!("{}/", project::path("").display()).replace("//", "/");
    let program = Path::new(command.get_program());
    let mut words = vec![match program.strip_prefix(project::path("")) {
        Ok(own) => own.display().to_string(),
        Err(_) => program.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    }];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().replace(&root, "")));
    words.join(" ")
}

fn points(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut below = 0;
    let named = |line: &&str| {
        below = if line.contains("Error: ") { BELOW + 1 } else { below.saturating_sub(1) };
        below > 0 || SIGNS.iter().any(|sign| line.contains(sign))
    };
    let mut found: Vec<&str> = lines.iter().copied().filter(named).take(POINTS).collect();
    if found.is_empty() {
        found = lines[lines.len().saturating_sub(POINTS)..].to_vec();
    }
    found.iter().map(|line| line.trim().chars().take(POINT_WIDTH).collect()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{lasting, points, processor_time};

    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_of_a_program_has_that_of_what_it_waited_for() {
        let loops = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let mut child = Command::new("sh").args(["-c", &format!("sh -c '{loops}'; exit 3")]).spawn().unwrap();
        let started = Instant::now();
        while !matches!(processor_time(child.id()), Some((_, true))) {
            assert!(started.elapsed() < Duration::from_secs(60), "the program does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        let (time, _) = processor_time(child.id()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert!(time > Duration::ZERO && time < Duration::from_secs(60), "{time:?}");
        assert_eq!(processor_time(child.id()), None);
    }

    #[test]
    fn bars_do_not_last() {
        let log =
            "$ cargo build\n\r  Building [=>  ] 1/2: core\r\u{1b}[K   Compiling core\n\r  Building [==>] 2/2\rok\r\n";
        assert_eq!(lasting(log), "$ cargo build\n\u{1b}[K   Compiling core\nok\n");
    }

    #[test]
    fn what_failed_is_found_in_a_log() {
        let pytest =
            "....F\n\n=== FAILURES ===\nE  assert 1 == 2\nFAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed\n";
        assert_eq!(points(pytest), ["FAILED tests/test_a.py::test_b - assert 1 == 2"]);
        let cargo = "test a ... ok\ntest b ... FAILED\nthread 'b' panicked at src/b.rs:3:5:\n";
        assert_eq!(points(cargo), ["test b ... FAILED", "thread 'b' panicked at src/b.rs:3:5:"]);
        let browser = "  \u{2713} 1 a.spec.ts \u{203a} b\n  \u{2718} 2 a.spec.ts \u{203a} c\n\n  Error: expect(locator).toHaveText() failed\n\n  \
                       Locator: p\n  Expected: 1\n  Received: 2\n";
        assert_eq!(points(browser)[0], "\u{2718} 2 a.spec.ts \u{203a} c");
        assert_eq!(points(browser)[2..], ["Locator: p", "Expected: 1", "Received: 2"]);
        assert_eq!(points("$ node a.mjs\n\nkilled\n"), ["$ node a.mjs", "killed"]);
        assert_eq!(points(""), [""; 0]);
    }
}
