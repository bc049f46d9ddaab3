//! Records the calls of a machine and its answers, as a transcript that a short program can replay on another engine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use crc32fast::Hasher;

use super::{Machine, Word};

/// The transcript of a group of cases. Its format is described in `tests/engines/README.md`.
#[derive(Default)]
pub struct Tape {
    /// The lines of the transcript, if it was requested.
    lines: Option<String>,
    /// The component of the last line.
    component: String,
    functions: BTreeMap<String, usize>,
    /// The fingerprint of all answers of the engine.
    answers: Hasher,
}

impl Tape {
    /// The beginning of a transcript. Lines are only stored if `keeps_lines`.
    pub fn begin(group: &str, keeps_lines: bool) -> Self {
        Self { lines: keeps_lines.then(|| format!("group {group}\n")), ..Self::default() }
    }

    /// Begins another case.
    pub fn case(&mut self) {
        self.line(|lines| lines.push_str("case\n"));
    }

    /// The fingerprint of all answers, and the lines.
    pub fn end(self) -> (u32, Option<String>) {
        (self.answers.finalize(), self.lines)
    }

    fn line(&mut self, write: impl FnOnce(&mut String)) {
        if let Some(lines) = &mut self.lines {
            write(lines);
        }
    }

    /// Changes the component to which later lines belong.
    fn about(&mut self, component: &str) {
        if self.component != component {
            component.clone_into(&mut self.component);
            self.line(|lines| writeln!(lines, "use {component}").expect("a string takes all"));
        }
    }

    fn call(&mut self, function: &str, arguments: &[Word], result: Option<Word>) {
        let known = self.functions.len();
        let id = *self.functions.entry(function.to_owned()).or_insert(known);
        if let Some(result) = result {
            self.answers.update(&result.bits().to_le_bytes());
        }
        self.line(|lines| {
            let kind = |word: &Word| if matches!(word, Word::I32(_)) { 'i' } else { 'I' };
            if id == known {
                let parameters: String = arguments.iter().map(kind).collect();
                let result = result.as_ref().map_or('-', kind);
                // The letters of the result and of the parameters form one word. A missing result is `-`, so the word
                // is never empty, and every line has the same number of words.
                writeln!(lines, "function {id} {result}{parameters} {function}").expect("a string takes all");
            }
            write!(lines, "call {id} ").expect("a string takes all");
            match result {
                Some(word) => write!(lines, "{}", word.bits()).expect("a string takes all"),
                None => lines.push('-'),
            }
            for word in arguments {
                write!(lines, " {}", word.bits()).expect("a string takes all");
            }
            lines.push('\n');
        });
    }

    fn bytes(&mut self, verb: &str, address: u32, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.line(|lines| {
            write!(lines, "{verb} {address} ").expect("a string takes all");
            lines.extend(
                bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| DIGITS[digit as usize] as char),
            );
            lines.push('\n');
        });
    }
}

/// A machine whose calls are all recorded.
pub struct Recorded<M> {
    machine: M,
    component: String,
    tape: Rc<RefCell<Tape>>,
}

impl<M: Machine> Recorded<M> {
    /// A new instance of a component.
    pub fn open(machine: M, component: &str, tape: &Rc<RefCell<Tape>>) -> Self {
        let mut now = tape.borrow_mut();
        component.clone_into(&mut now.component);
        now.line(|lines| writeln!(lines, "open {component}").expect("a string takes all"));
        Self { machine, component: component.to_owned(), tape: Rc::clone(tape) }
    }

    /// Ends the instance, and records a hash of its memory.
    pub fn close(self) {
        let memory = self.machine.memory();
        let hash = crc32fast::hash(memory);
        let mut tape = self.tape.borrow_mut();
        tape.about(&self.component);
        tape.answers.update(&hash.to_le_bytes());
        tape.line(|lines| writeln!(lines, "close {} {hash}", memory.len()).expect("a string takes all"));
        tape.component.clear();
    }
}

impl<M: Machine> Machine for Recorded<M> {
    fn has(&mut self, function: &str) -> bool {
        self.machine.has(function)
    }

    fn call(&mut self, function: &str, arguments: &[Word]) -> Option<Word> {
        let result = self.machine.call(function, arguments);
        let mut tape = self.tape.borrow_mut();
        tape.about(&self.component);
        tape.call(function, arguments, result);
        result
    }

    fn read(&mut self, address: u32, length: u32) -> Vec<u8> {
        let bytes = self.machine.read(address, length);
        if !bytes.is_empty() {
            let mut tape = self.tape.borrow_mut();
            tape.about(&self.component);
            tape.answers.update(&bytes);
            tape.bytes("read", address, &bytes);
        }
        bytes
    }

    fn write(&mut self, address: u32, bytes: &[u8]) {
        self.machine.write(address, bytes);
        let mut tape = self.tape.borrow_mut();
        tape.about(&self.component);
        tape.bytes("write", address, bytes);
    }

    fn memory(&self) -> &[u8] {
        self.machine.memory()
    }
}
