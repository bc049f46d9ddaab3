//! Comments of TypeScript from those of the WIT.

use std::collections::BTreeSet;

use wit_parser::{Function, Interface, PackageId, Resolve, TypeDefKind};

use super::camel;
use super::facades::{FACADES, RECORDS, name_of};
use crate::facade::{self, Cause};

/// The longest line.
pub const WIDTH: usize = 120;

/// The words of an interface as they are in JavaScript.
pub struct Text<'a> {
    resolve: &'a Resolve,
    package: PackageId,
    /// What stands for none.
    none: &'a str,
    /// Names of fields, parameters, functions and interfaces.
    values: BTreeSet<&'a str>,
}

impl<'a> Text<'a> {
    pub fn new(resolve: &'a Resolve, package: PackageId, none: &'a str) -> Self {
        let mut values = BTreeSet::new();
        for (name, &id) in &resolve.packages[package].interfaces {
            values.insert(name.as_str());
            for function in resolve.interfaces[id].functions.values() {
                values.insert(function.item_name());
                values.extend(function.params.iter().map(|parameter| parameter.name.as_str()));
            }
            for &id in resolve.interfaces[id].types.values() {
                if let TypeDefKind::Record(record) = &resolve.types[id].kind {
                    values.extend(record.fields.iter().map(|field| field.name.as_str()));
                }
            }
        }
        Self { resolve, package, none, values }
    }

    /// Paragraphs of a comment that says nothing of errors.
    pub fn of(&self, docs: &str) -> Vec<String> {
        facade::paragraphs(docs).iter().map(|paragraph| self.spelled(paragraph)).collect()
    }

    /// Paragraphs, and an entry for each kind of error, in the order of their first mention.
    pub fn of_function(&self, function: &Function, interface: &Interface) -> Vec<String> {
        let text =
            facade::Text::of(function.docs.contents.as_deref().unwrap_or_default()).resolved(function, interface);
        let mut paragraphs: Vec<_> = text.paragraphs.iter().map(|paragraph| self.spelled(paragraph)).collect();
        let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
        for cause in &text.errors {
            let Cause::Kind(kind, about) = cause else { continue };
            let at = kinds.iter().position(|(own, _)| own == kind).unwrap_or_else(|| {
                kinds.push((kind, Vec::new()));
                kinds.len() - 1
            });
            let all = &mut kinds[at].1;
            if !about.is_empty() && !all.contains(&about.as_str()) {
                all.push(about);
            }
        }
        for (kind, about) in kinds {
            let about = self.spelled_fields(&about.join("; "));
            let about = if about.is_empty() { about } else { format!(" ({about})") };
            paragraphs.push(format!("@throws SamedealError `{kind}`{about}."));
        }
        paragraphs
    }

    /// What errors are about: fields, which have the names of options.
    pub fn spelled_fields(&self, text: &str) -> String {
        const NAMES: [&str; 3] = ["blend-exact", "locality-aware", "size-aware"];
        let parts = text.split('`').enumerate().map(|(i, part)| {
            if i % 2 == 0 || NAMES.contains(&part) { part.to_owned() } else { camel(&self.code(part)) }
        });
        self.prose(&parts.collect::<Vec<_>>().join("`"))
    }

    fn spelled(&self, text: &str) -> String {
        let parts = text.split('`').enumerate().map(|(i, part)| if i % 2 == 0 { part.into() } else { self.code(part) });
        self.prose(&parts.collect::<Vec<_>>().join("`"))
    }

    /// What is true of numbers and of nothing in JavaScript.
    fn prose(&self, text: &str) -> String {
        let none = format!("`{}`", self.none);
        let text = text.replace("None if", &format!("{none} if")).replace("is none", &format!("is {none}"));
        let text = text.replace(" (64-bit)", "").replace(", 64-bit", "; a `bigint` where it is beyond 2^53 - 1");
        // A comment ends there.
        text.replace("*/", "*\\/")
    }

    /// Code in backticks: words with `-` or `_` between them that name something, and paths to functions.
    fn code(&self, code: &str) -> String {
        if code.contains('=') {
            return code.to_owned();
        }
        let mut parts: Vec<&str> = code.split('.').collect();
        let is_path = parts.len() > 1 && parts.iter().all(|part| is_name(part));
        if is_path && self.resolve.packages[self.package].interfaces.contains_key(parts[0]) {
            parts.remove(0);
        }
        if is_path {
            let class = FACADES.iter().find(|facade| facade.resource == parts[0]).map(|facade| facade.class);
            let function = parts[1..].iter().map(|part| name_of(parts[0], part));
            let first = class.map_or_else(|| self.word(parts[0]), str::to_owned);
            return [first].into_iter().chain(function).collect::<Vec<_>>().join(".");
        }
        let mut spelled = String::new();
        let mut rest = code;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let (word, after) = rest.split_at(end.max(if end == 0 { first } else { 0 }));
            spelled += &self.word(word);
            rest = after;
        }
        spelled
    }

    fn word(&self, word: &str) -> String {
        if let Some(facade) = FACADES.iter().find(|facade| facade.resource == word && word.contains('-')) {
            return facade.class.to_owned();
        }
        if let Some((.., class)) = RECORDS.iter().find(|(_, record, _)| *record == word && word.contains('-')) {
            return (*class).to_owned();
        }
        // Members of recipes are options.
        if self.values.contains(word) || word.contains('_') { camel(&word.replace('_', "-")) } else { word.to_owned() }
    }
}

fn is_part(character: char) -> bool {
    character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-' || character == '_'
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.chars().all(is_part)
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
    let mut text = format!("{space}/**\n");
    for (i, paragraph) in paragraphs.iter().enumerate() {
        let together = |start: &str| i > 0 && paragraph.starts_with(start) && paragraphs[i - 1].starts_with(start);
        if i > 0 && !together("- ") && !together("@throws") {
            text += &format!("{space} *\n");
        }
        for (i, line) in filled(paragraph, WIDTH - indent - 3).iter().enumerate() {
            let hanging = if i > 0 && (paragraph.starts_with("- ") || paragraph.starts_with('@')) { "  " } else { "" };
            text += &format!("{space} * {hanging}{line}\n");
        }
    }
    text + &format!("{space} */\n")
}

/// Lines of at most so many characters, two fewer in an item of a list.
fn filled(text: &str, width: usize) -> Vec<String> {
    let width = if text.starts_with("- ") || text.starts_with('@') { width - 2 } else { width };
    let mut lines = vec![String::new()];
    // A power stays in one line with what is taken from it.
    for word in text.replace(" - 1", "\u{a0}-\u{a0}1").split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.replace('\u{a0}', " "));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word.replace('\u{a0}', " "));
        }
    }
    lines
}
