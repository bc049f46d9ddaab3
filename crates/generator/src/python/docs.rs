//! Docstrings of Python, made of the documentation of the WIT.

use super::names::Known;
use crate::facade::{Cause, Text, grouped, paragraphs};
use crate::words::{WIDTH, capital, filled, first_sentence, hanging, pascal, reworded, spelled};

impl Known {
    /// A docstring, indented. The first sentence is a paragraph of its own. Parameters and errors become the sections
    /// `Args` and `Raises`.
    pub fn docstring(&self, text: Text, parameters: &[(String, String)], indent: usize) -> String {
        let mut paragraphs = text.paragraphs;
        if let Some(first) = paragraphs.first_mut() {
            let (sentence, rest) = self.opening(first, indent);
            *first = sentence;
            if !rest.is_empty() {
                paragraphs.insert(1, rest);
            }
        }
        let mut lines = self.wrapped(&paragraphs, indent);
        for (title, entries) in [("Args:", parameters), ("Raises:", &raised(text.errors))] {
            if !entries.is_empty() {
                lines.extend([String::new(), title.to_owned()]);
            }
            for (name, about) in entries {
                let room = WIDTH - indent - 8;
                let entry = filled(&format!("{name}: {}", self.spelled(about)), room, room);
                lines.extend(hanging(entry, "    ").iter().map(|line| format!("    {line}")));
            }
        }
        quoted(&lines, indent)
    }

    /// A docstring of the first sentence alone.
    pub fn summary(&self, text: Text, indent: usize) -> String {
        let first = text.paragraphs.first().map(|first| self.opening(first, indent).0);
        self.docstring(Text { paragraphs: first.into_iter().collect(), errors: Vec::new() }, &[], indent)
    }

    /// The docstring of a field or a constant, which has no sections.
    pub fn note(&self, text: &str, indent: usize) -> String {
        quoted(&self.wrapped(&paragraphs(text), indent), indent)
    }

    /// The lines of all paragraphs, with an empty line between paragraphs.
    fn wrapped(&self, paragraphs: &[String], indent: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for paragraph in paragraphs {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let text = self.spelled(paragraph);
            // The second and later lines of an item of a list are indented.
            let hang = if text.starts_with("- ") { "  " } else { "" };
            let room = WIDTH - indent - hang.len();
            // The opening quotes take three characters of the first line.
            let first = if lines.is_empty() { room - 3 } else { room };
            lines.extend(hanging(filled(&text, first, room), hang));
        }
        lines
    }

    /// The first sentence, and the rest. If the sentence is too long for a line, it ends at its last colon or semicolon
    /// that fits into the line.
    fn opening(&self, text: &str, indent: usize) -> (String, String) {
        let (sentence, rest) = text.split_at(first_sentence(text));
        let room = WIDTH - indent - 6;
        let length = |text: &str| self.spelled(text).chars().count();
        if length(sentence) > room {
            let mut ends = sentence.match_indices([':', ';']).filter(|(at, _)| sentence[at + 1..].starts_with(' '));
            if let Some((at, _)) = ends.rfind(|(at, _)| length(&sentence[..*at]) < room) {
                let more = format!("{} {}", capital(sentence[at + 1..].trim()), rest.trim());
                return (format!("{}.", &sentence[..at]), more.trim().to_owned());
            }
        }
        (sentence.to_owned(), rest.trim().to_owned())
    }

    /// A text of the WIT with the names of Python. "64-bit" is removed, because an `int` has any number of bits; "none"
    /// becomes `None`.
    pub(super) fn spelled(&self, text: &str) -> String {
        let plain = |part: &str| part.replace(", 64-bit", "").replace(" (64-bit)", "").replace(" is none", " is None");
        spelled(text, plain, |code| self.code(code)).replace('^', "**").replace('\\', "\\\\")
    }

    fn code(&self, code: &str) -> String {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_word = code.starts_with(|c: char| c.is_ascii_lowercase()) && code.chars().all(is_name);
        if is_word && !self.values.contains(code) && !self.classes.contains(code) {
            // Any other word is a value such as the name of an order, or a member of a recipe: a string in Python.
            return format!("\"{code}\"");
        }
        // The interface in a path is dropped, because users import all names from one module: `sampling.sampler.layout`
        // becomes `sampler.layout`.
        let inner = code.split_once('.').filter(|(interface, _)| self.interfaces.contains(*interface));
        let word = |word: &str| match word {
            _ if self.values.contains(word) => word.replace('-', "_"),
            _ if self.classes.contains(word) => pascal(word),
            _ => word.to_owned(),
        };
        format!("`{}`", reworded(inner.map_or(code, |(_, inner)| inner), word))
    }
}

/// The exception classes for these errors, each once, and when each is raised.
fn raised(errors: Vec<Cause>) -> Vec<(String, String)> {
    let classes = errors.into_iter().map(|error| match error {
        Cause::Kind(kind, about) => (pascal(&kind) + "Error", about),
        Cause::Same(of) => ("SamedealError".to_owned(), of),
    });
    let sentence = |(class, about): (String, Vec<String>)| {
        let about = about.join("; ");
        let names = about.split([',', ';']).map(str::trim);
        let only_names = names.clone().all(|name| name.matches('`').count() == 2 && name.ends_with('`'));
        let about = match class.as_str() {
            _ if about.is_empty() => "There is not enough memory".to_owned(),
            "OutOfRangeError" if only_names => {
                format!("{} is outside its range", names.collect::<Vec<_>>().join(" or "))
            }
            _ => capital(&about),
        };
        (class, about + ".")
    };
    grouped(classes).into_iter().map(sentence).collect()
}

fn quoted(lines: &[String], indent: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let space = " ".repeat(indent);
    let lines: Vec<_> = hanging(lines.to_vec(), &space).iter().map(|line| line.trim_end().to_owned()).collect();
    let mut text = lines.join("\n");
    let one_line = lines.len() == 1 && indent + text.len() + 6 <= WIDTH;
    if text.starts_with('"') {
        text.insert(0, ' ');
    }
    if !one_line {
        text += &format!("\n{space}");
    } else if text.ends_with('"') {
        text.push(' ');
    }
    format!("{space}\"\"\"{text}\"\"\"\n")
}
