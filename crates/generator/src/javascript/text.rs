//! Comments of TypeScript, made of the comments of the WIT.

use std::collections::BTreeSet;

use super::facades::{self, name_of};
use crate::facade::{self, Cause, grouped};
use crate::wit::{Signature, Wit};
use crate::words::{BOUND, WIDTH, camel, filled, hanging, reworded, spelled};

/// Rewrites a text of the WIT with the names and values of JavaScript.
pub struct Text<'a> {
    wit: Wit<'a>,
    /// The JavaScript value for none: `null` or `undefined`.
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

    /// The paragraphs of a comment that has no errors.
    pub fn of(&self, docs: &str) -> Vec<String> {
        facade::paragraphs(docs).iter().map(|paragraph| self.spelled(paragraph)).collect()
    }

    /// The paragraphs of a function's comment, and an `@throws` entry for each kind of error, in the order of their
    /// first mention.
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

    /// A text about fields of a failure. They have the names of options, in camel case.
    pub fn spelled_fields(&self, text: &str) -> String {
        const NAMES: [&str; 3] = ["blend-exact", "locality-aware", "size-aware"];
        let name = |name: &str| if NAMES.contains(&name) { name.to_owned() } else { camel(&self.code(name)) };
        self.prose(&spelled(text, str::to_owned, |code| format!("`{}`", name(code))))
    }

    fn spelled(&self, text: &str) -> String {
        self.prose(&spelled(text, str::to_owned, |code| format!("`{}`", self.code(code))))
    }

    /// A text outside backticks, with the words of JavaScript for none and for 64-bit numbers.
    fn prose(&self, text: &str) -> String {
        let none = format!("`{}`", self.none);
        let text = text.replace("None if", &format!("{none} if")).replace("is none", &format!("is {none}"));
        let text = text.replace(" (64-bit)", "").replace(", 64-bit", "; a `bigint` where it is beyond 2^53 - 1");
        // `*/` would end the comment.
        text.replace("*/", "*\\/")
    }

    /// Code in backticks, with the names of JavaScript for words with `-` or `_` and for paths to functions.
    fn code(&self, code: &str) -> String {
        if code.contains('=') {
            return code.to_owned();
        }
        // The interface in a path is dropped: users import all names from one module.
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
        // A word with `_` is a member of a recipe, which is an option in camel case.
        if self.values.contains(word) || word.contains('_') { camel(word) } else { word.to_owned() }
    }
}

/// A comment with these paragraphs, indented. There is no empty line between items of a list or between `@throws`
/// entries.
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
        // No line ends within a term such as 2^53 - 1.
        let bound = paragraph.replace(" - 1", &format!("{BOUND}-{BOUND}1"));
        let hang = if paragraph.starts_with("- ") || paragraph.starts_with('@') { "  " } else { "" };
        let room = WIDTH - indent - 3 - hang.len();
        lines.extend(hanging(filled(&bound, room, room), hang));
    }
    let lines: String = lines.iter().map(|line| format!("{}\n", format!("{space} * {line}").trim_end())).collect();
    format!("{space}/**\n{lines}{space} */\n")
}
