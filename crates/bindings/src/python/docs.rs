//! From the documentation of the WIT to docstrings.

use super::names::{self, Known};

/// The longest line.
pub const WIDTH: usize = 120;
const ERRORS: &str = "Errors: ";

/// A docstring, its lines indented. The first sentence stands alone; what is said of errors becomes a section.
pub fn docstring(text: &str, indent: usize, known: &Known) -> String {
    let (text, errors) = split_errors(text);
    let mut paragraphs = paragraphs(&text);
    if let Some(first) = paragraphs.first_mut() {
        let end = first_sentence(first);
        let rest = first[end..].trim().to_owned();
        first.truncate(end);
        if !rest.is_empty() {
            paragraphs.insert(1, rest);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for paragraph in &paragraphs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        // The quotes stand before the first line.
        lines.extend(wrapped(&spelled(paragraph, known), indent, if lines.is_empty() { 3 } else { 0 }));
    }
    if let Some(errors) = errors {
        lines.extend([String::new(), "Raises:".to_owned()]);
        let text = format!("SamedealError: {}", spelled(&errors, known));
        lines.extend(hanging(&text, indent));
    }
    quoted(&lines, indent)
}

/// The documentation of a field or a constant: paragraphs alone.
pub fn note(text: &str, indent: usize, known: &Known) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in paragraphs(text) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(wrapped(&spelled(&paragraph, known), indent, if lines.is_empty() { 3 } else { 0 }));
    }
    quoted(&lines, indent)
}

fn quoted(lines: &[String], indent: usize) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let space = " ".repeat(indent);
    let mut text = lines
        .iter()
        .enumerate()
        .map(|(i, line)| if i == 0 || line.is_empty() { line.clone() } else { format!("{space}{line}") })
        .collect::<Vec<_>>()
        .join("\n");
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

/// Paragraphs, each in one line. An item of a list is a paragraph of its own.
fn paragraphs(text: &str) -> Vec<String> {
    let words = |lines: &str| lines.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("\n- ", "\n\n- ").split("\n\n").map(words).filter(|paragraph| !paragraph.is_empty()).collect()
}

/// What is said before the errors, and what is said of them, which comes last in the WIT.
fn split_errors(text: &str) -> (String, Option<String>) {
    let text = paragraphs(text).join("\n\n");
    let begins = |at: &usize| *at == 0 || text[..*at].ends_with(". ") || text[..*at].ends_with('\n');
    match text.find(ERRORS).filter(begins) {
        Some(at) => (text[..at].trim().to_owned(), Some(text[at + ERRORS.len()..].replace("\n\n", " "))),
        None => (text, None),
    }
}

/// Where the first sentence ends: at a full stop before a capital letter or a name.
fn first_sentence(text: &str) -> usize {
    let ends = text.match_indices(". ").find(|(at, _)| {
        let next = text[at + 2..].trim_start_matches(['`', '*', '(', '"']);
        let named = text[at + 2..].starts_with('`');
        named || next.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit())
    });
    ends.map_or(text.len(), |(at, _)| at + 1)
}

/// Lines that are no longer than the longest one. The further lines of an item of a list stand further in than its first.
fn wrapped(text: &str, indent: usize, before: usize) -> Vec<String> {
    if text.starts_with("- ") {
        let lines = filled(text, indent + 2, before);
        return lines
            .into_iter()
            .enumerate()
            .map(|(i, line)| if i == 0 { line } else { format!("  {line}") })
            .collect();
    }
    filled(text, indent, before)
}

fn filled(text: &str, indent: usize, before: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut room = WIDTH - indent - before;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
            room = WIDTH - indent;
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// An entry of a section: its further lines stand further in than its first.
fn hanging(text: &str, indent: usize) -> Vec<String> {
    let lines = wrapped(text, indent + 8, 0);
    lines.iter().enumerate().map(|(i, line)| format!("{}{line}", " ".repeat(if i == 0 { 4 } else { 8 }))).collect()
}

/// The same text with the names that things have in Python.
fn spelled(text: &str, known: &Known) -> String {
    let mut out = String::new();
    // Every second part stands in backticks.
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 0 {
            out += &powers(part);
        } else if is_kebab(part) && !known.values.contains(part) && !known.classes.contains(part) {
            // The name of a case, which is a string in Python.
            out += &format!("\"{part}\"");
        } else {
            out += &format!("`{}`", powers(&named(part, known)));
        }
    }
    out.replace('\\', "\\\\")
}

fn is_kebab(text: &str) -> bool {
    text.contains('-') && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn named(code: &str, known: &Known) -> String {
    let mut out = String::new();
    let mut rest = code;
    while !rest.is_empty() {
        let end =
            rest.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')).unwrap_or(rest.len());
        let (word, after) =
            if end == 0 { rest.split_at(rest.chars().next().map_or(0, char::len_utf8)) } else { rest.split_at(end) };
        if !is_kebab(word) {
            out += word;
        } else if known.values.contains(word) {
            out += &names::snake(word);
        } else if known.classes.contains(word) {
            out += &names::pascal(word);
        } else {
            out += word;
        }
        rest = after;
    }
    out
}

/// `2^53` as Python has it.
fn powers(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let digit = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(char::is_ascii_digit);
    let mut out = String::new();
    for (i, &c) in characters.iter().enumerate() {
        if c == '^' && digit(i.checked_sub(1)) && digit(Some(i + 1)) { out += "**" } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let mut known = Known::default();
        known.values.extend(["batch-size".to_owned(), "num-batches".to_owned()]);
        known.classes.insert("batch-stream".to_owned());
        known
    }

    #[test]
    fn a_docstring_has_a_first_line_and_a_section_of_errors() {
        let text = "How many batches of\n`batch-size` there are: up to 2^53 - 1. See `batch-stream`.\nErrors: `out-of-range` (`batch-size` is 0).";
        let expected = concat!(
            "    \"\"\"How many batches of `batch_size` there are: up to 2**53 - 1.\n\n",
            "    See `BatchStream`.\n\n",
            "    Raises:\n",
            "        SamedealError: \"out-of-range\" (`batch_size` is 0).\n",
            "    \"\"\"\n"
        );
        assert_eq!(docstring(text, 4, &known()), expected);
    }

    #[test]
    fn one_sentence_takes_one_line() {
        assert_eq!(docstring("The names.", 0, &known()), "\"\"\"The names.\"\"\"\n");
        assert_eq!(note("", 0, &known()), "");
        assert_eq!(note("`a-b`", 0, &known()), "\"\"\" \"a-b\" \"\"\"\n");
    }

    #[test]
    fn items_of_a_list_stay_apart() {
        let text = format!("Names:\n\n- `a`: one;\n  more.\n- `b`: {}", "word ".repeat(40));
        let made = note(&text, 0, &known());
        assert!(made.starts_with("\"\"\"Names:\n\n- `a`: one; more.\n\n- `b`: word word"), "{made}");
        assert!(made.contains("word\n  word"), "{made}");
        assert!(made.lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn long_lines_are_wrapped() {
        let text = "word ".repeat(100);
        assert!(docstring(&text, 8, &known()).lines().all(|line| line.len() <= WIDTH));
    }
}
