//! From the documentation of the WIT to that of Rust: names as Rust writes them, with links, and a section for errors.

use std::collections::BTreeSet;

use wit_parser::{Function, Interface, PackageId, Resolve, TypeDefKind};

use super::facades::{FACADES, FREE, Facade, Form};
use crate::facade::{Cause, Text, paragraphs};

/// The longest line.
const WIDTH: usize = 120;

/// Where a text stands: a link is made to what is there, and none to what the text is of.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub interface: &'a str,
    /// The facade whose method it is.
    pub facade: Option<&'a Facade>,
    /// The function and its parameters, or the fields of a record.
    pub own: &'a [&'a str],
    /// Whether a value of it may be `None`.
    pub has_none: bool,
}

pub struct Docs<'a> {
    resolve: &'a Resolve,
    package: PackageId,
    /// Names of functions, parameters and fields. Other names with `-`, such as those of policies, stay.
    names: BTreeSet<&'a str>,
}

impl<'a> Docs<'a> {
    pub fn new(resolve: &'a Resolve, package: PackageId) -> Self {
        let mut names = BTreeSet::new();
        for &id in resolve.packages[package].interfaces.values() {
            let interface = &resolve.interfaces[id];
            for function in interface.functions.values() {
                names.insert(function.item_name());
                names.extend(function.params.iter().map(|parameter| parameter.name.as_str()));
            }
            for id in interface.types.values() {
                if let TypeDefKind::Record(record) = &resolve.types[*id].kind {
                    names.extend(record.fields.iter().map(|field| field.name.as_str()));
                }
            }
        }
        Self { resolve, package, names }
    }

    /// The documentation of a function. `fails` says whether it can fail by its arguments; none, that it cannot fail at all.
    pub fn function(&self, function: &Function, place: Place<'_>, fails: Option<bool>, indent: usize) -> String {
        let comment = function.docs.contents.as_deref().unwrap_or_default();
        let text = Text::of(comment).resolved(function, self.interface(place.interface));
        let mut lines = self.lines(&text.paragraphs, place, indent, true);
        if let Some(fails) = fails {
            lines.extend([String::new(), "# Errors".to_owned(), String::new()]);
            let causes = self.causes(&text.errors, place);
            if causes.is_empty() {
                let whole = if fails { "Those of which [`Self`] tells." } else { "Only those of the engine." };
                lines.push(whole.to_owned());
            }
            for (kind, about) in causes {
                let about = if about.is_empty() { String::new() } else { format!(": {}", about.join("; ")) };
                lines.extend(wrapped(&format!("- {kind}{about}"), indent));
            }
        }
        comments(&lines, indent)
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

    /// The kinds of failure, as links, and what each is about; or the errors of another class, which has no kind.
    fn causes(&self, errors: &[Cause], place: Place<'_>) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        self.add(&mut found, errors, place);
        found
    }

    fn add(&self, found: &mut Vec<(String, Vec<String>)>, errors: &[Cause], place: Place<'_>) {
        for error in errors {
            let (kind, about) = match error {
                // A text such as "those of the constructor", which users of Rust do not call.
                Cause::Same(of) if !of.contains('`') => {
                    let constructor = place.facade.map(|facade| format!("[constructor]{}", facade.resource));
                    let constructor = constructor.and_then(|name| self.interface(place.interface).functions.get(&name));
                    let comment = constructor.and_then(|function| function.docs.contents.as_deref());
                    self.add(found, &Text::of(comment.unwrap_or_default()).errors, place);
                    continue;
                }
                Cause::Kind(kind, about) => {
                    let kind = super::pascal(kind);
                    (format!("[`{kind}`](crate::FailureKind::{kind})"), self.spelled(about, place))
                }
                Cause::Same(of) => (self.spelled(of, place), String::new()),
            };
            let at = found.iter().position(|(other, _)| *other == kind).unwrap_or_else(|| {
                found.push((kind, Vec::new()));
                found.len() - 1
            });
            if !about.is_empty() && !found[at].1.contains(&about) {
                found[at].1.push(about);
            }
        }
    }

    fn interface(&self, name: &str) -> &Interface {
        &self.resolve.interfaces[self.resolve.packages[self.package].interfaces[name]]
    }

    /// A text in the words of Rust.
    fn spelled(&self, text: &str, place: Place<'_>) -> String {
        let mut spelled = String::new();
        for (i, part) in text.split('`').enumerate() {
            spelled += &if i % 2 == 1 { self.name(part, place) } else { plain(part, place.has_none) };
        }
        spelled
    }

    /// A name between backticks: as a link, if it is of this class or of another one.
    fn name(&self, name: &str, place: Place<'_>) -> String {
        let rust = if self.names.contains(name) { super::snake(name) } else { name.to_owned() };
        if place.own.contains(&name) {
            return format!("`{rust}`");
        }
        if let Some(own) = place.facade.and_then(|facade| self.method(facade, name)) {
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
        let facade = FACADES.iter().find(|facade| facade.interface == interface && facade.resource == resource);
        match (facade, method) {
            (Some(facade), Some(method)) if let Some(method) = self.method(facade, method) => {
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
    fn method(&self, facade: &Facade, name: &str) -> Option<String> {
        let interface = self.resolve.packages[self.package].interfaces.get(facade.interface)?;
        let known = &self.resolve.interfaces[*interface].functions;
        known.get(&format!("[method]{}.{name}", facade.resource))?;
        match facade.form(name) {
            Form::Absent => None,
            Form::As(name) => Some(name.to_owned()),
            Form::Plain | Form::ByHand => Some(super::snake(name)),
        }
    }
}

/// What stands between names: without what the types of Rust say.
fn plain(text: &str, has_none: bool) -> String {
    let text = text.replace(" (64-bit)", "").replace(", 64-bit", "");
    if !has_none {
        return text;
    }
    text.replace("None if", "`None` if").replace(" none if", " `None` if").replace("is none", "is `None`")
}

/// Where the first sentence ends: at a full stop before a capital letter or a name.
fn first_sentence(text: &str) -> usize {
    let begins = |rest: &str| rest.starts_with('`') || rest.starts_with(|first: char| first.is_ascii_uppercase());
    let end = text.match_indices(". ").find(|(at, _)| begins(&text[at + 2..]));
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Lines that are no longer than the longest one, without `///`. Further lines of an item stand further in.
pub fn wrapped(text: &str, indent: usize) -> Vec<String> {
    let room = WIDTH - indent - "/// ".len();
    let hang = if text.starts_with("- ") { "  " } else { "" };
    let mut lines = vec![String::new()];
    let mut spans = 0;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        // A link may have spaces in its text, but none here has.
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room && spans % 2 == 0 {
            lines.push(format!("{hang}{word}"));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        spans += word.matches('`').count();
    }
    lines
}

pub fn comments(lines: &[String], indent: usize) -> String {
    let space = " ".repeat(indent);
    let line = |line: &String| format!("{space}///{}{line}\n", if line.is_empty() { "" } else { " " });
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(test: impl Fn(&Docs<'_>)) {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit")).unwrap();
        test(&Docs::new(&resolve, package));
    }

    #[test]
    fn names_become_links_to_what_there_is() {
        let facade = FACADES.iter().find(|facade| facade.class == "Sampler");
        let place = Place { interface: "sampling", facade, own: &["taken", "state"], has_none: true };
        docs(|docs| {
            for (wit, rust) in [
                ("`world-size`", "[`world_size`](Self::world_size)"),
                ("`taken` of `state`", "`taken` of `state`"),
                ("`blend-exact`, `shuffle_window`", "`blend-exact`, `shuffle_window`"),
                ("`indices32`, 64-bit", "`indices32`"),
                ("`steps.schedule.step-of-state`", "[`Schedule::resume`](crate::Schedule::resume)"),
                ("None if it is dropped", "`None` if it is dropped"),
                ("up to `max-count`", "up to [`max_count`](crate::Sampler::max_count)"),
            ] {
                assert_eq!(docs.spelled(wit, place), rust);
            }
        });
    }

    #[test]
    fn errors_of_another_function_are_told_in_place() {
        let facade = FACADES.iter().find(|facade| facade.class == "Reading");
        let place =
            Place { interface: "readings", facade, own: &["batch", "rank", "worker", "number"], has_none: false };
        docs(|docs| {
            let function = &docs.interface("readings").functions["[method]reading.num-padding"];
            let text = docs.function(function, place, Some(true), 0);
            let (_, errors) = text.split_once("/// # Errors\n///\n").unwrap();
            assert_eq!(
                errors,
                "/// - [`OutOfRange`](crate::FailureKind::OutOfRange): `rank`: not below [`world_size`](Self::world_size); `worker`: not\n\
                 ///   below [`workers`](Self::workers)\n\
                 /// - [`OutOfMemory`](crate::FailureKind::OutOfMemory)\n"
            );
        });
    }
}
