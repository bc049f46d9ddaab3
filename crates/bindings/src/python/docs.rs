//! From the documentation of the WIT to docstrings.

use super::names::{self, Known};
use crate::facade::{Cause, Text, paragraphs};

/// The longest line.
pub const WIDTH: usize = 120;

/// A docstring, its lines indented. The first sentence stands alone; what is said of errors becomes a section.
pub fn docstring(text: &Text, indent: usize, known: &Known) -> String {
    let mut paragraphs = text.paragraphs.clone();
    if let Some(first) = paragraphs.first_mut() {
        let (sentence, rest) = opening(first, indent, known);
        *first = sentence;
        if !rest.is_empty() {
            paragraphs.insert(1, rest);
        }
    }
    let mut lines = all_wrapped(&paragraphs, indent, known);
    lines.extend(errors(text, indent, known));
    quoted(&lines, indent)
}

/// A docstring with a section of parameters.
pub fn of_parameters(text: &Text, parameters: &[(String, String)], indent: usize, known: &Known) -> String {
    let whole = docstring(&Text { paragraphs: text.paragraphs.clone(), errors: Vec::new() }, indent, known);
    let mut lines: Vec<String> =
        whole.trim().trim_matches('"').trim_end().lines().map(|line| line.trim().to_owned()).collect();
    lines.extend([String::new(), "Args:".to_owned()]);
    for (name, about) in parameters {
        lines.extend(hanging(&format!("{name}: {}", spelled(about, known)), indent));
    }
    lines.extend(errors(text, indent, known));
    quoted(&lines, indent)
}

/// The section of errors.
fn errors(text: &Text, indent: usize, known: &Known) -> Vec<String> {
    let mut lines = Vec::new();
    if !text.errors.is_empty() {
        lines.extend([String::new(), "Raises:".to_owned()]);
        for (class, about) in raised(&text.errors) {
            lines.extend(hanging(&format!("{class}: {}", spelled(&about, known)), indent));
        }
    }
    lines
}

/// The first sentence of a docstring.
pub fn summary(text: &Text, indent: usize, known: &Known) -> String {
    let first = text.paragraphs.first().map(|first| opening(first, indent, known).0);
    docstring(&Text { paragraphs: first.into_iter().collect(), errors: Vec::new() }, indent, known)
}

/// The documentation of a field or a constant: paragraphs alone.
pub fn note(text: &str, indent: usize, known: &Known) -> String {
    quoted(&all_wrapped(&paragraphs(text), indent, known), indent)
}

/// The exceptions of these errors, each class once, and when they are raised.
fn raised(errors: &[Cause]) -> Vec<(String, String)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for error in errors {
        let (class, about) = match error {
            Cause::Kind(kind, about) => (names::pascal(kind) + "Error", about),
            Cause::Same(of) => ("SamedealError".to_owned(), of),
        };
        match found.iter_mut().find(|(other, _)| *other == class) {
            Some((_, all)) if all.contains(&about.as_str()) => {}
            Some((_, all)) => all.push(about),
            None => found.push((class, vec![about])),
        }
    }
    let sentence = |(class, about): (String, Vec<&str>)| {
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
    found.into_iter().map(sentence).collect()
}

/// The same with a capital letter in front.
pub fn capital(text: &str) -> String {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text[..first].to_uppercase() + &text[first..]
}

/// Lines of all paragraphs, with an empty one between them.
fn all_wrapped(paragraphs: &[String], indent: usize, known: &Known) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in paragraphs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        // The quotes stand before the first line.
        lines.extend(wrapped(&spelled(paragraph, known), indent, if lines.is_empty() { 3 } else { 0 }));
    }
    lines
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

/// The first sentence, and the rest. One that is too long for a line ends at its colon or semicolon, if it has one there.
fn opening(text: &str, indent: usize, known: &Known) -> (String, String) {
    let end = first_sentence(text);
    let (sentence, rest) = (&text[..end], text[end..].trim());
    let room = WIDTH - indent - 6;
    if spelled(sentence, known).chars().count() > room {
        let mut ends = sentence.match_indices([':', ';']).filter(|(at, _)| sentence[at + 1..].starts_with(' '));
        if let Some((at, _)) = ends.rfind(|(at, _)| spelled(&sentence[..*at], known).chars().count() < room) {
            let more = format!("{} {rest}", capital(sentence[at + 1..].trim()));
            return (format!("{}.", &sentence[..at]), more.trim().to_owned());
        }
    }
    (sentence.to_owned(), rest.to_owned())
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
            out += &plain(part);
        } else if is_word(part) && !known.values.contains(part) && !known.classes.contains(part) {
            // A name or a member of a recipe, which is a string in Python.
            out += &format!("\"{part}\"");
        } else {
            out += &format!("`{}`", powers(&named(without_interface(part, known), known)));
        }
    }
    out.replace('\\', "\\\\")
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Users find all names in one module: `sampling.sampler.layout` is `sampler.layout` to them.
fn without_interface<'a>(code: &'a str, known: &Known) -> &'a str {
    match code.split_once('.') {
        Some((interface, inner)) if known.interfaces.contains(interface) => inner,
        _ => code,
    }
}

fn named(code: &str, known: &Known) -> String {
    let mut out = String::new();
    let mut rest = code;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_')));
        let end = end.unwrap_or(rest.len());
        let (word, after) =
            if end == 0 { rest.split_at(rest.chars().next().map_or(0, char::len_utf8)) } else { rest.split_at(end) };
        if known.values.contains(word) {
            out += &word.replace('-', "_");
        } else if known.classes.contains(word) {
            out += &names::pascal(word);
        } else {
            out += word;
        }
        rest = after;
    }
    out
}

/// Text between names. In Python, a number may have any number of bits, and what is not there is None.
fn plain(text: &str) -> String {
    powers(text).replace(", 64-bit", "").replace(" (64-bit)", "").replace(" is none", " is None")
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
        let text = "How many batches of\n`batch-size` there are: up to 2^53 - 1. See `batch-stream`.\nErrors: `out-of-range` (`batch-size` is 0), \
                    `contradiction` (`layout`: `none-such`), `out-of-range` (`num-batches`), `out-of-memory`.";
        let expected = concat!(
            "    \"\"\"How many batches of `batch_size` there are: up to 2**53 - 1.\n\n",
            "    See `BatchStream`.\n\n",
            "    Raises:\n",
            "        OutOfRangeError: `batch_size` is 0; `num_batches`.\n",
            "        ContradictionError: \"layout\": \"none-such\".\n",
            "        OutOfMemoryError: There is not enough memory.\n",
            "    \"\"\"\n"
        );
        assert_eq!(docstring(&Text::of(text), 4, &known()), expected);
    }

    #[test]
    fn one_sentence_takes_one_line() {
        assert_eq!(docstring(&Text::of("The names."), 0, &known()), "\"\"\"The names.\"\"\"\n");
        assert_eq!(note("", 0, &known()), "");
        assert_eq!(note("`a-b`", 0, &known()), "\"\"\" \"a-b\" \"\"\"\n");
    }

    #[test]
    fn items_of_a_list_stay_apart() {
        let text = format!("Names:\n\n- `a`: one;\n  more.\n- `b`: {}", "word ".repeat(40));
        let made = note(&text, 0, &known());
        assert!(made.starts_with("\"\"\"Names:\n\n- \"a\": one; more.\n\n- \"b\": word word"), "{made}");
        assert!(made.contains("word\n  word"), "{made}");
        assert!(made.lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn long_lines_are_wrapped() {
        let text = "word ".repeat(100);
        assert!(docstring(&Text::of(&text), 8, &known()).lines().all(|line| line.len() <= WIDTH));
    }
}
