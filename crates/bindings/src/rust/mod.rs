//! The plain part of the classes of the Rust host: a module with a second `impl` for each of them, and one with records. What has the habits
//! of Rust is written by hand, beside them. rustfmt lays the text out.

mod builders;
mod docs;
mod engines;
mod facades;
pub mod interface;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use wit_parser::{Record, Type, TypeId};

use crate::Files;
use crate::facade::{asks, has_record, is_value, name_of};
use crate::wit::{self, Shape, Signature, Wit};
use crate::words::{pascal, snake, words_of};
use docs::{Docs, Place};
use engines::Engine;
use facades::{FACADES, Facade, Form, MORE_RECORDS, enumeration};

const MADE: &str = "// Written by `cargo xtask build` from the WIT. Changes here are lost.\n";
/// Values that are asked for each time: they are long, or take a while.
const ASKED: [&str; 5] = ["recipe", "initial-state", "lanes-read-once", "mixing-advice", "num-known-windows"];

/// What modules may use: where it is, and its name.
const USED: [(&str, &str); 7] = [
    ("crate", "Error"),
    ("crate", "Layout"),
    ("crate", "Remainder"),
    ("crate", "Span"),
    ("crate::engine", "Object"),
    ("crate::engine", "checked_state"),
    ("crate::engine", "cut_entry"),
];

/// The modules, by the names of their files.
pub fn modules(wit: Wit<'_>) -> Result<Files, String> {
    let rust = Rust { wit, docs: Docs::new(wit) };
    let mut files = BTreeMap::new();
    let mut all =
        format!("{MADE}//! What is generated from the interface: the plain part of each class, and records.\n\n");
    let mut values = String::new();
    for facade in FACADES {
        files.insert(snake(facade.resource), rust.facade(facade)?);
        if facade.is_constant {
            let _ = writeln!(values, "pub(crate) use {}::{}Values;", snake(facade.resource), facade.class);
        }
    }
    for (name, text) in builders::modules() {
        files.insert(name.to_owned(), text);
    }
    files.insert("records".to_owned(), rust.records()?);
    for name in files.keys() {
        let _ = writeln!(all, "mod {name};");
    }
    files.insert("component".to_owned(), engines::module(wit, Engine::Component)?);
    files.insert("native".to_owned(), engines::module(wit, Engine::Native)?);
    let engines =
        "#[cfg(feature = \"component\")] pub mod component; #[cfg(not(feature = \"component\"))] pub mod native;";
    files.insert("mod".to_owned(), format!("{all}{engines}\n\n{values}pub use records::*;\n"));
    files.into_iter().map(|(name, text)| Ok((format!("{name}.rs"), formatted(&text)?))).collect()
}

struct Rust<'a> {
    wit: Wit<'a>,
    docs: Docs<'a>,
}

impl<'a> Rust<'a> {
    fn facade(&self, facade: &Facade) -> Result<String, String> {
        let &Facade { class, module, .. } = facade;
        let (interface, id, resource) = self.wit.resource(facade.resource)?;
        let methods: Vec<_> = self.wit.signatures(id, Some(resource)).filter(|signature| signature.is_method).collect();
        let mut text = String::new();
        if facade.is_constant {
            let known: Vec<_> = methods.iter().filter(|signature| is_known(facade, signature)).collect();
            let handle = format!("{}::{}", snake(interface), pascal(facade.resource));
            text += &self.values(facade, &handle, &known)?;
        }
        let _ = writeln!(text, "impl {class} {{");
        for signature in &methods {
            text += &match is_known(facade, signature) {
                true => self.getter(facade, signature)?,
                false => self.method(facade, signature)?,
            };
        }
        text += "}\n";
        let module = format!("crate::{module}");
        Ok(format!("{MADE}{}\n{text}", self.uses(&text, Some((module.trim_end_matches("::"), class)))))
    }

    /// What a module uses: that of a class has its path and its name, that of records has none.
    fn uses(&self, text: &str, class_of: Option<(&str, &str)>) -> String {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let words = words_of(&code);
        let interfaces = self.wit.interfaces().map(|(name, _)| snake(name));
        let is_used = |name: &String| [" ", "<", "("].iter().any(|before| code.contains(&format!("{before}{name}::")));
        let interfaces = interfaces.filter(is_used).map(|name| ("crate::engine", name));
        let named = USED.iter().map(|&(path, name)| (path, name.to_owned()));
        let types = self.wit.interfaces().flat_map(|(_, id)| self.wit.types(id));
        let records = types.filter(|(_, id)| class_of.is_some() && self.has_class(*id));
        let records = records.map(|(name, _)| ("super::records", class_of_record(name)));
        let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let named = named.chain(records).filter(|(_, name)| words.contains(name.as_str()));
        for (path, name) in interfaces.chain(named).chain(class_of.map(|(path, class)| (path, class.to_owned()))) {
            used.entry(path).or_default().insert(name);
        }
        let line = |(path, names): (&&str, &BTreeSet<String>)| {
            format!("use {path}::{{{}}};\n", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
        };
        used.iter().map(line).collect()
    }

    /// What is known of an object: a structure, the calls that fill it, and what the class shows of itself for debugging.
    fn values(&self, facade: &Facade, handle: &str, known: &[&Signature<'_>]) -> Result<String, String> {
        let class = facade.class;
        let (mut fields, mut asked, mut shown) = (String::new(), String::new(), String::new());
        for signature in known {
            let (own, result) = (snake(signature.name), signature.value.ok_or("a value has no result")?);
            let _ = writeln!(fields, "pub(crate) {own}: {},", self.held(signature.name, &result)?);
            let call = format!("object.{own}()?");
            let value = match enumeration(signature.name) {
                Some(_) => format!("{call}.parse()?"),
                None => self.converted(&result).of(&call),
            };
            let _ = writeln!(asked, "{own}: {value},");
            let _ = write!(shown, ".field(\"{own}\", &self.values.{own})");
        }
        let debug = format!(
            "impl std::fmt::Debug for {class} {{
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{
                    f.debug_struct(\"{class}\"){shown}.finish_non_exhaustive()
                }}
            }}\n\n"
        );
        Ok(format!(
            "/// What the component says of [`{class}`], which never changes.
            pub(crate) struct {class}Values {{
                {fields}
            }}

            {}impl {class}Values {{
                pub(crate) fn ask(object: &Object<{handle}>) -> Result<Self, Error> {{
                    Ok(Self {{ {asked} }})
                }}
            }}\n\n",
            if facade.has_debug { "" } else { &debug },
        ))
    }

    fn getter(&self, facade: &Facade, signature: &Signature<'_>) -> Result<String, String> {
        let own = snake(signature.name);
        let held = self.held(signature.name, &signature.value.ok_or("a value has no result")?)?;
        let (shown, lent) = match held.strip_prefix("Vec<") {
            _ if held == "String" => ("&str".to_owned(), "&"),
            Some(item) => (format!("&[{}]", item.trim_end_matches('>')), "&"),
            None => (held, ""),
        };
        let docs = self.docs_of(facade, signature, None);
        Ok(format!("{docs}pub fn {own}(&self) -> {shown} {{ {lent}self.values.{own} }}\n\n"))
    }

    fn method(&self, facade: &Facade, signature: &Signature<'_>) -> Result<String, String> {
        let name = signature.name;
        let own = snake(name);
        let form = facade.form(name);
        let is_raw = matches!(form, Form::ByHand | Form::Absent);
        let (visible, rust) = match form {
            Form::Plain => ("pub", snake(name_of(facade.resource, name))),
            Form::As(name) => ("pub", name.to_owned()),
            Form::ByHand | Form::Absent => ("pub(crate)", format!("raw_{own}")),
        };
        let (mut parameters, mut arguments, mut checks) = (String::new(), Vec::new(), String::new());
        for (wit_name, ty) in &signature.parameters {
            let name = snake(wit_name);
            let _ = write!(parameters, ", {name}: {}", types::passed(self.wit, ty, &|id| types::path(self.wit, id))?);
            // What does not fit into the memory would stop the component before it can say so.
            match name.as_str() {
                "state" => checks += "let state = checked_state(state, self.object.room())?;\n",
                "entry" => checks += "let entry = cut_entry(entry);\n",
                "checkpoint" => checks += "let checkpoint = checkpoint.map(cut_entry);\n",
                _ if !is_raw && self.is_long(ty) => {
                    let _ =
                        writeln!(checks, "self.object.check_room(\"{wit_name}\", {name}.len(), size_of_val({name}))?;");
                }
                _ => {}
            }
            arguments.push(name);
        }
        let arguments = arguments.join(", ");
        let asked = match asks(signature) {
            // It goes through what gives the lengths.
            true => format!("self.waiting(|object| object.{own}({arguments}))"),
            false => format!("self.object.{own}({arguments})"),
        };
        let (returned, body) = match signature.value {
            None => ("()".to_owned(), asked),
            Some(ty) if matches!(self.wit.shape(&ty), Shape::Own(_)) => {
                ("Self".to_owned(), format!("self.another({asked}?)"))
            }
            Some(ty) => match (self.returned(&ty), self.converted(&ty)) {
                (Err(_), _) if is_raw => (types::owned(self.wit, &ty, &|id| types::path(self.wit, id))?, asked),
                (returned, Conversion(None)) => (returned?, asked),
                (returned, conversion) => (returned?, format!("let found = {asked}?;\nOk({})", conversion.of("found"))),
            },
        };
        let docs = match is_raw {
            true => format!("/// `{name}` of the interface, as it is.\n"),
            false => self.docs_of(facade, signature, Some(signature.fails)),
        };
        Ok(format!(
            "{docs}{visible} fn {rust}(&self{parameters}) -> Result<{returned}, Error> {{\n{checks}{body}\n}}\n\n"
        ))
    }

    fn docs_of(&self, facade: &Facade, signature: &Signature<'_>, fails: Option<bool>) -> String {
        let parameters = signature.parameters.iter();
        let own: Vec<_> = parameters.clone().map(|(name, _)| *name).chain([signature.name]).collect();
        let has_none = parameters.map(|(_, ty)| ty).chain(&signature.value).any(|ty| self.is_maybe(ty));
        let interface = self.wit.resource(facade.resource).map(|(name, ..)| name).unwrap_or_default();
        let place = Place { interface, facade: Some(facade), own: &own, has_none };
        self.docs.method(signature, place, fails)
    }

    /// The structures of all records that users get, with what makes them of those of the component.
    fn records(&self) -> Result<String, String> {
        let mut text = String::new();
        for (interface, id) in self.wit.interfaces() {
            for (_, own) in self.wit.types(id) {
                match self.wit.shape(&Type::Id(own)) {
                    Shape::Record(_, record) if self.has_class(own) => text += &self.record(interface, own, record)?,
                    _ => {}
                }
            }
        }
        Ok(format!("{MADE}{}\n{text}", self.uses(&text, None)))
    }

    fn record(&self, interface: &str, id: TypeId, record: &Record) -> Result<String, String> {
        let own: Vec<_> = record.fields.iter().map(|field| field.name.as_str()).collect();
        let has_none = record.fields.iter().any(|field| self.is_maybe(&field.ty));
        let place = Place { interface, facade: None, own: &own, has_none };
        let (mut fields, mut names, mut from) = (String::new(), Vec::new(), Vec::new());
        for field in &record.fields {
            let name = snake(&field.name);
            fields += &self.docs.note(wit::text(&field.docs), place, 4);
            let _ = writeln!(fields, "pub {name}: {},", self.returned(&field.ty)?);
            from.push(match self.converted(&field.ty) {
                Conversion(None) => name.clone(),
                conversion => format!("{name}: {}", conversion.of(&name)),
            });
            names.push(name);
        }
        let docs = self.docs.note(self.wit.docs(id), place, 0);
        let copy = if record.fields.iter().any(|field| self.is_long(&field.ty)) { "" } else { "Copy, " };
        let (class, wit) = (class_of_record(self.wit.name(id)), types::path(self.wit, id)?);
        let (names, from) = (names.join(", "), from.join(", "));
        Ok(format!(
            "{docs}#[derive(Clone, {copy}Debug, PartialEq, Eq, Hash)]
            #[cfg_attr(feature = \"serde\", derive(serde::Deserialize, serde::Serialize))]
            #[non_exhaustive]
            pub struct {class} {{
                {fields}
            }}

            impl From<{wit}> for {class} {{
                fn from(found: {wit}) -> Self {{
                    let {wit} {{ {names} }} = found;
                    Self {{ {from} }}
                }}
            }}\n\n"
        ))
    }

    /// The type of a result in the facade.
    fn returned(&self, ty: &Type) -> Result<String, String> {
        types::owned(self.wit, ty, &|id| match self.wit.name(id) {
            "spans" => Ok("Vec<Span>".to_owned()),
            name if self.has_class(id) => Ok(class_of_record(name)),
            name => Err(format!("{name} has no form in Rust yet")),
        })
    }

    /// The type of a value that is kept: a text may have an enum.
    fn held(&self, name: &str, ty: &Type) -> Result<String, String> {
        enumeration(name).map_or_else(|| self.returned(ty), Ok)
    }

    /// What makes a value of the facade of one of the component.
    fn converted(&self, ty: &Type) -> Conversion {
        Conversion(match self.wit.shape(ty) {
            Shape::Record(id, _) if self.wit.name(id) == "spans" => Some("crate::place::spans(@)".to_owned()),
            Shape::Record(id, _) if self.has_class(id) => {
                Some(format!("{}::from(@)", class_of_record(self.wit.name(id))))
            }
            Shape::List(ty) => {
                self.converted(&ty).function().map(|each| format!("@.into_iter().map({each}).collect()"))
            }
            Shape::Option(ty) => self.converted(&ty).function().map(|each| format!("@.map({each})")),
            _ => None,
        })
    }

    /// Whether a type is a record of the facade.
    fn has_class(&self, id: TypeId) -> bool {
        has_record(self.wit.name(id), &MORE_RECORDS)
    }

    /// Whether a type has texts or lists, which are no copies.
    fn is_long(&self, ty: &Type) -> bool {
        self.wit.any(ty, |shape| matches!(shape, Shape::Plain(Type::String) | Shape::List(_)))
    }

    /// Whether a type has values that may be missing.
    fn is_maybe(&self, ty: &Type) -> bool {
        self.wit.any(ty, |shape| matches!(shape, Shape::Option(_)))
    }
}

/// An expression with `@` for a value, or nothing, if the value stays as it is.
struct Conversion(Option<String>);

impl Conversion {
    fn of(&self, value: &str) -> String {
        self.0.as_ref().map_or_else(|| value.to_owned(), |with| with.replace('@', value))
    }

    /// The function that converts.
    fn function(&self) -> Option<String> {
        let with = self.0.as_ref()?;
        Some(with.strip_suffix("(@)").map_or_else(|| format!("|found| {}", self.of("found")), str::to_owned))
    }
}

/// Whether the value of a function is asked once.
fn is_known(facade: &Facade, signature: &Signature<'_>) -> bool {
    facade.is_constant
        && is_value(signature)
        && facade.form(signature.name) == Form::Plain
        && !ASKED.contains(&signature.name)
        && !signature.fails
}

fn class_of_record(name: &str) -> String {
    if name == "step-bounds" { "Steps".to_owned() } else { pascal(name) }
}

/// The text as rustfmt writes it, in the style of the project.
fn formatted(text: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("rustfmt: {error}");
    let mut command = Command::new("rustfmt");
    command.args(["--edition=2024", "--config=max_width=120,use_small_heuristics=Max"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    // It reads all before it writes.
    child.stdin.take().ok_or("rustfmt reads nothing")?.write_all(text.as_bytes()).map_err(failed)?;
    let done = child.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        return Err(format!("rustfmt refused:\n{text}"));
    }
    String::from_utf8(done.stdout).map_err(|error| error.to_string())
}
