//! Comments of TypeScript from those of the WIT.

use std::collections::BTreeSet;

use super::facades::{self, name_of};
use crate::facade::{self, Cause, grouped};
use crate::wit::{Signature, Wit};
use crate::words::{BOUND, WIDTH, camel, filled, hanging, reworded, spelled};

/// The words of an interface as they are in JavaScript.
pub struct Text<'a> {
    wit: Wit<'a>,
    /// The value for none.
    none: &'a str,
    /// Names of fields, parameters, functions and interfaces.
    values: BTreeSet<&'a str>,
}

impl<'a> Text<'a> {
    pub fn new(wit: Wit<'a>, none: &'a str) -> Self {
        let mut values = wit.names(|_| true);
        values.extend(wit.interfaces().map(|(name, _)| name));
        Self { wit, none, values }
    }

    /// Paragraphs of a comment that says nothing of errors.
    pub fn of(&self, docs: &str) -> Vec<String> {
        facade::paragraphs(docs).iter().map(|paragraph| self.spelled(paragraph)).collect()
    }

    /// Paragraphs, and an entry for each kind of error, in the order of their first mention.
    pub fn of_function(&self, signature: &Signature<'_>) -> Vec<String> {
        let text = facade::Text::of_function(signature, self.wit);
        let mut paragraphs: Vec<_> = text.paragraphs.iter().map(|paragraph| self.spelled(paragraph)).collect();
        let kinds = text.errors.into_iter().filter_map(|cause| match cause {
            Cause::Kind(kind, about) => Some((kind, about)),
            Cause::Same(_) => None,
        });
        for (kind, about) in grouped(kinds) {
            let about = self.spelled_fields(&about.join("; "));
            let about = if about.is_empty() { about } else { format!(" ({about})") };
            paragraphs.push(format!("@throws SamedealError `{kind}`{about}."));
        }
        paragraphs
    }

    /// What errors are about: fields, which have the names of options.
    pub fn spelled_fields(&self, text: &str) -> String {
        const NAMES: [&str; 3] = ["blend-exact", "locality-aware", "size-aware"];
        let name = |name: &str| if NAMES.contains(&name) { name.to_owned() } else { camel(&self.code(name)) };
        self.prose(&spelled(text, str::to_owned, |code| format!("`{}`", name(code))))
    }

    fn spelled(&self, text: &str) -> String {
        self.prose(&spelled(text, str::to_owned, |code| format!("`{}`", self.code(code))))
    }

    /// What is true of numbers and of nothing in JavaScript.
    fn prose(&self, text: &str) -> String {
        let none = format!("`{}`", self.none);
        let text = text.replace("None if", &format!("{none} if")).replace("is none", &format!("is {none}"));
        let text = text.replace(" (64-bit)", "").replace(", 64-bit", "; a `bigint` where it is beyond 2^53 - 1");
        // A comment ends there.
        text.replace("*/", "*\\/")
    }

    /// Code in backticks in the names of JavaScript: words that `-` or `_` joins, and paths to functions.
    fn code(&self, code: &str) -> String {
        if code.contains('=') {
            return code.to_owned();
        }
        // Users find all names in one module.
        let inner = code.split_once('.').filter(|(first, _)| self.wit.interfaces().any(|(name, _)| name == *first));
        let path = inner.map_or(code, |(_, inner)| inner);
        if let Some((resource, function)) = path.split_once('.')
            && facade::has_class(resource)
        {
            return format!("{}.{}", facade::class_of(resource), name_of(resource, function));
        }
        reworded(path, |word| self.word(word))
    }

    fn word(&self, word: &str) -> String {
        if word.contains('-') && (facade::has_class(word) || facades::has_record(word)) {
            return facades::class_of_record(word);
        }
        // Members of recipes are options.
        if self.values.contains(word) || word.contains('_') { camel(word) } else { word.to_owned() }
    }
}

/// A comment of these paragraphs, its lines indented. The items of a list, and its errors, follow each other.
pub fn comment(paragraphs: &[String], indent: usize) -> String {
    let space = " ".repeat(indent);
    if let [only] = paragraphs
        && indent + only.chars().count() + 7 <= WIDTH
        && !only.starts_with('@')
    {
        return format!("{space}/** {only} */\n");
    }
    if paragraphs.is_empty() {
        return String::new();
    }
    let mut lines = Vec::new();
    for (i, paragraph) in paragraphs.iter().enumerate() {
        let is_both = |start: &str| i > 0 && paragraph.starts_with(start) && paragraphs[i - 1].starts_with(start);
        if i > 0 && !is_both("- ") && !is_both("@throws") {
            lines.push(String::new());
        }
        // A power stays in one line with what is taken from it.
        let bound = paragraph.replace(" - 1", &format!("{BOUND}-{BOUND}1"));
        let hang = if paragraph.starts_with("- ") || paragraph.starts_with('@') { "  " } else { "" };
        let room = WIDTH - indent - 3 - hang.len();
        lines.extend(hanging(filled(&bound, room, room), hang));
    }
    let lines: String = lines.iter().map(|line| format!("{}\n", format!("{space} * {line}").trim_end())).collect();
    format!("{space}/**\n{lines}{space} */\n")
}
