//! Spelling of names in different languages, and formatting of texts.

use std::collections::BTreeSet;

/// The longest line in generated files.
pub const WIDTH: usize = 120;

pub fn snake(name: &str) -> String {
    name.replace('-', "_")
}

pub fn camel(name: &str) -> String {
    let (first, rest) = name.split_once(['-', '_']).unwrap_or((name, ""));
    first.to_owned() + &pascal(rest)
}

pub fn pascal(name: &str) -> String {
    name.split(['-', '_']).map(capital).collect()
}

/// A text with a capital letter in front.
pub fn capital(text: &str) -> String {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text[..first].to_uppercase() + &text[first..]
}

/// A text with a small letter in front, for a sentence after a colon.
pub fn small(text: &str) -> String {
    let first = text.chars().next().map_or(0, char::len_utf8);
    text[..first].to_lowercase() + &text[first..]
}

/// Names as a list in a sentence: `a, b or c`.
pub fn either<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<_> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// A text in which `code` replaces each part between backticks, together with the backticks, and `plain` replaces all
/// other parts.
pub fn spelled(text: &str, plain: impl Fn(&str) -> String, code: impl Fn(&str) -> String) -> String {
    text.split('`').enumerate().map(|(i, part)| if i % 2 == 1 { code(part) } else { plain(part) }).collect()
}

/// A text in which `word` replaces each word of the WIT: lowercase letters and digits, joined by `-` or `_`.
pub fn reworded(text: &str, word: impl Fn(&str) -> String) -> String {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        out += &rest[..start];
        out += &word(&rest[start..end]);
        rest = &rest[end..];
    }
    out + rest
}

/// The identifiers in code.
pub fn words_of(code: &str) -> BTreeSet<&str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// The index after the first sentence, which ends at a full stop before a capital letter, a digit or a name in
/// backticks.
pub fn first_sentence(text: &str) -> usize {
    let begins = |rest: &str| {
        let next = rest.trim_start_matches(['*', '(', '"']);
        next.starts_with(|first: char| first == '`' || first.is_uppercase() || first.is_ascii_digit())
    };
    let end = text.match_indices(". ").find(|(at, _)| begins(&text[at + 2..]));
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// A text in lines of at most `width` characters; the first line has at most `first`. Each [`BOUND`] becomes a normal
/// space afterwards.
pub fn filled(text: &str, first: usize, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let room = if lines.len() == 1 { first } else { width };
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.iter().map(|line| line.replace(BOUND, " ")).collect()
}

/// A space at which `filled` does not break a line.
pub const BOUND: char = '\u{a0}';

/// The lines, with `before` in front of all lines except the first.
pub fn hanging(lines: Vec<String>, before: &str) -> Vec<String> {
    lines.into_iter().enumerate().map(|(i, line)| if i == 0 { line } else { format!("{before}{line}") }).collect()
}

/// A list between brackets: in one line or, if that is too long, one line for each item. The closing bracket is
/// indented like the first line.
pub fn spread(open: &str, items: &[String], close: &str, step: usize) -> String {
    let line = format!("{open}{}{close}", items.join(", "));
    if line.trim_end().chars().count() <= WIDTH {
        return line;
    }
    let space = " ".repeat(open.len() - open.trim_start_matches(' ').len());
    let items: String = items.iter().map(|item| format!("{space}{:step$}{item},\n", "")).collect();
    format!("{open}\n{items}{space}{close}")
}
