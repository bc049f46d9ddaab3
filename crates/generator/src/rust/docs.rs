//! Documentation of Rust, made of the documentation of the WIT: names are spelled as in Rust and become links, and
//! errors become a section.

use std::collections::BTreeSet;

use super::examples;
use super::facades::{FACADES, FREE, Facade, Form};
use crate::facade::{Cause, Text, grouped, name_of, paragraphs};
use crate::wit::{Signature, Wit};
use crate::words::{BOUND, WIDTH, filled, first_sentence, hanging, pascal, snake, spelled};

/// The item that a text documents. It decides the targets of links; names of the item itself are no links.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub interface: &'a str,
    /// The facade, if the text is of one of its methods.
    pub facade: Option<&'a Facade>,
    /// Names that are no links: the function and its parameters, or the fields of the record.
    pub own: &'a [&'a str],
}

pub struct Docs<'a> {
    wit: Wit<'a>,
    /// Names of functions, parameters and fields, which are spelled with `_` in Rust. Other names with `-`, such as
    /// names of policies, stay as they are.
    names: BTreeSet<&'a str>,
}

impl<'a> Docs<'a> {
    pub fn new(wit: Wit<'a>) -> Self {
        Self { wit, names: wit.names(|_| true) }
    }

    /// The documentation of a method. `fails` is whether its arguments can make it fail. None: the method cannot fail
    /// at all, and gets no section for errors.
    pub fn method(&self, signature: &Signature<'_>, place: Place<'_>, fails: Option<bool>) -> String {
        let text = Text::of_function(signature, self.wit);
        let mut lines = self.lines(&text.paragraphs, place, 4, true);
        if let Some(facade) = place.facade {
            lines.extend(examples::lines(facade.resource, signature.name));
        }
        if let Some(fails) = fails {
            lines.extend([String::new(), "# Errors".to_owned(), String::new()]);
            let causes = grouped(self.causes(text.errors, place));
            if causes.is_empty() {
                let whole = if fails { "Those of which [`Self`] tells." } else { "Only those of the engine." };
                lines.push(whole.to_owned());
            }
            for (kind, about) in causes {
                let about = if about.is_empty() { String::new() } else { format!(": {}", about.join("; ")) };
                lines.extend(wrapped(&format!("- {kind}{about}"), 4));
            }
        }
        comments(&lines, 4)
    }

    /// The documentation of a record or a field.
    pub fn note(&self, comment: &str, place: Place<'_>, indent: usize) -> String {
        comments(&self.lines(&paragraphs(comment), place, indent, false), indent)
    }

    fn lines(&self, paragraphs: &[String], place: Place<'_>, indent: usize, is_split: bool) -> Vec<String> {
        let mut all = paragraphs.to_vec();
        if let Some(first) = all.first_mut().filter(|_| is_split) {
            let end = first_sentence(first);
            let rest = first.split_off(end).trim().to_owned();
            if !rest.is_empty() {
                all.insert(1, rest);
            }
        }
        let mut lines: Vec<String> = Vec::new();
        let mut is_list = false;
        for paragraph in &all {
            let is_item = paragraph.starts_with("- ");
            if !(lines.is_empty() || is_item && is_list) {
                lines.push(String::new());
            }
            is_list = is_item;
            lines.extend(wrapped(&self.spelled(paragraph, place), indent));
        }
        lines
    }

    /// The kinds of failure, as links, each with its reason. A reference to the errors of another class is an entry
    /// without a reason.
    fn causes(&self, errors: Vec<Cause>, place: Place<'_>) -> Vec<(String, String)> {
        let told = |error| match error {
            // A text such as "those of the constructor". Its errors are listed here, because users of Rust do not call
            // the constructor.
            Cause::Same(of) if !of.contains('`') => self.causes(self.of_constructor(place).unwrap_or_default(), place),
            Cause::Same(of) => vec![(self.spelled(&of, place), String::new())],
            Cause::Kind(kind, about) => {
                let kind = pascal(&kind);
                vec![(format!("[`{kind}`](crate::FailureKind::{kind})"), self.spelled(&about, place))]
            }
        };
        errors.into_iter().flat_map(told).collect()
    }

    fn of_constructor(&self, place: Place<'_>) -> Option<Vec<Cause>> {
        let resource = self.wit.resource(place.facade?.resource)?;
        Some(Text::of(self.wit.function(resource, "constructor")?.docs).errors)
    }

    /// A text of the WIT with the names of Rust, as links.
    fn spelled(&self, text: &str, place: Place<'_>) -> String {
        spelled(text, plain, |name| self.name(name, place))
    }

    /// A name between backticks. It becomes a link if it is a method of a class, a class, or a free function.
    fn name(&self, name: &str, place: Place<'_>) -> String {
        let rust = if self.names.contains(name) { snake(name) } else { name.to_owned() };
        if place.own.contains(&name) {
            return format!("`{rust}`");
        }
        if let Some(own) = place.facade.and_then(|facade| self.linked(facade, name)) {
            return format!("[`{own}`](Self::{own})");
        }
        if let Some((_, path)) = FREE.iter().find(|(free, _)| *free == name) {
            return format!("[`{}`](crate::{path})", path.rsplit("::").next().unwrap_or(path));
        }
        let parts: Vec<_> = name.split('.').collect();
        let (interface, resource, method) = match parts[..] {
            [interface, resource, method] => (interface, resource, Some(method)),
            [resource, method] => (place.interface, resource, Some(method)),
            _ => (place.interface, name, None),
        };
        let is_there = self.wit.resource(resource).is_some_and(|id| self.wit.owner_name(id) == interface);
        let facade = FACADES.iter().find(|facade| is_there && facade.resource == resource);
        match (facade, method) {
            (Some(facade), Some(method)) if let Some(method) = self.linked(facade, method) => {
                let class = facade.class;
                format!("[`{class}::{method}`](crate::{}{class}::{method})", facade.module)
            }
            (Some(facade), None) if place.facade.is_none_or(|own| own.resource != resource) => {
                format!("[`{0}`](crate::{1}{0})", facade.class, facade.module)
            }
            _ => format!("`{rust}`"),
        }
    }

    /// The name of a method of a facade in Rust, if it has one.
    fn linked(&self, facade: &Facade, name: &str) -> Option<String> {
        let resource = self.wit.resource(facade.resource)?;
        self.wit.function(resource, name).filter(|signature| signature.is_method)?;
        match facade.form(name) {
            Form::Absent => None,
            Form::As(name) => Some(name.to_owned()),
            Form::Plain | Form::ByHand => Some(snake(name_of(facade.resource, name))),
        }
    }
}

/// The text between names, without the facts that the types of Rust already express.
fn plain(text: &str) -> String {
    let text = text.replace(" (64-bit)", "").replace(", 64-bit", "");
    text.replace("None if", "`None` if").replace(" none if", " `None` if").replace("is none", "is `None`")
}

/// A text in lines of at most `WIDTH` characters, to which `///` is added later. The second and later lines of an item
/// of a list are indented.
pub fn wrapped(text: &str, indent: usize) -> Vec<String> {
    let bound = spelled(text, str::to_owned, |code| format!("`{}`", code.replace(' ', &BOUND.to_string())));
    // A line that begins with a minus would be an item of a list.
    let bound = bound.replace(" - ", &format!("{BOUND}- "));
    let room = WIDTH - indent - "/// ".len();
    let hang = if text.starts_with("- ") { "  " } else { "" };
    hanging(filled(&bound, room, room - hang.len()), hang)
}

pub fn comments(lines: &[String], indent: usize) -> String {
    let space = " ".repeat(indent);
    let line = |line: &String| format!("{space}///{}{line}\n", if line.is_empty() { "" } else { " " });
    lines.iter().map(line).collect()
}
