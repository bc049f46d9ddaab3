//! Measurements in other languages: a program that answers each line with a line.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;

/// A running `python.py` or `node.mjs`. It ends with its standard input.
pub struct Worker {
    name: String,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a script of this folder. Its standard error is passed on.
    pub fn start(program: &Path, script: &str) -> Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
        let mut child =
            Command::new(program).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| {
                format!("cannot run {}: {error} (`cargo xtask bench` sets it up)", program.display())
            })?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Self { name: script.into(), child, requests, answers })
    }

    /// Asks for one measurement and waits for its numbers.
    pub fn ask(&mut self, request: &str) -> Result<Vec<f64>> {
        let answer = self.ask_text(request)?;
        let numbers: std::result::Result<Vec<f64>, _> = answer.split_whitespace().map(str::parse).collect();
        numbers.map_err(|_| format!("{} answered `{request}` by: {answer}", self.name).into())
    }

    /// Asks for a line of text.
    pub fn ask_text(&mut self, request: &str) -> Result<String> {
        if let Some(requests) = &mut self.requests {
            writeln!(requests, "{request}")?;
        }
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            return Err(format!("{} failed at `{request}`; why stands above", self.name).into());
        }
        Ok(answer.trim_end().into())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None;
        self.child.wait().ok();
    }
}
