//! Generated code of the Rust host: for each class a module with an `impl` of the methods that only call the component,
//! and a module of records. Methods in the style of Rust, such as iterators, are in hand-written `impl`s. rustfmt
//! formats the code.

mod builders;
mod docs;
mod engines;
mod examples;
mod facades;
pub mod interface;
mod names;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use samedeal_core::{LIMITS, Limit};
use wit_parser::{Record, Type, TypeId};

use crate::Files;
use crate::facade::{asks, has_record, is_value, name_of};
use crate::wit::{self, Shape, Signature, Wit};
use crate::words::{pascal, snake, words_of};
use docs::{Docs, Place};
use engines::Engine;
use facades::{FACADES, Facade, Form, MORE_RECORDS};
use names::enumeration;

const MADE: &str = "// Written by `cargo xtask build` from the WIT. Changes here are lost.\n";
/// Values that are not cached, because they are long, take a while, or change.
const ASKED: [&str; 5] = ["recipe", "initial-state", "lanes-read-once", "mixing-advice", "num-known-windows"];
/// Values whose functions return a `result` in the WIT. They are cached nevertheless: if one of them fails, the object
/// is not created.
const CACHED: [&str; 3] = ["parts", "consumed", "num-windows"];

/// Names that a generated module may import: the path and the name.
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
    files.insert("order".to_owned(), builders::order());
    files.insert("records".to_owned(), rust.records()?);
    files.insert("names".to_owned(), names::module());
    files.insert("limits".to_owned(), limits());
    for name in files.keys() {
        let _ = writeln!(all, "mod {name};");
    }
    files.insert("component".to_owned(), engines::module(wit, Engine::Component)?);
    files.insert("native".to_owned(), engines::module(wit, Engine::Native)?);
    let engines =
        "#[cfg(feature = \"component\")] pub mod component; #[cfg(not(feature = \"component\"))] pub mod native;";
    files.insert(
        "mod".to_owned(),
        format!("{all}{engines}\n\n{values}pub(crate) use limits::*;\npub use names::*;\npub use records::*;\n"),
    );
    files.into_iter().map(|(name, text)| Ok((format!("{name}.rs"), formatted(&text)?))).collect()
}

/// The module `limits`: limits of the core. Hosts check some of them, and divide long calls by others.
fn limits() -> String {
    let mut text = format!("{MADE}//! Limits of the core. Hosts need some of them.\n#![allow(dead_code)]\n");
    for Limit { name, most, text: about } in LIMITS {
        let _ = write!(text, "\n/// {about}\npub(crate) const {name}: usize = {most};\n");
    }
    text
}

struct Rust<'a> {
    wit: Wit<'a>,
    docs: Docs<'a>,
}

impl<'a> Rust<'a> {
    fn facade(&self, facade: &Facade) -> Result<String, String> {
        let class = facade.class;
        let missing = || format!("there is no resource {}", facade.resource);
        let resource = self.wit.resource(facade.resource).ok_or_else(missing)?;
        // A hand-written method uses an object of another class.
        let is_other = |ty: &Type| matches!(self.wit.shape(ty), Shape::Own(id) if id != resource);
        let methods = self.wit.functions_of(resource).filter(|signature| signature.is_method);
        let methods: Vec<_> = methods.filter(|signature| !signature.value.as_ref().is_some_and(is_other)).collect();
        let mut text = String::new();
        if facade.is_constant {
            let known: Vec<_> = methods.iter().filter(|signature| is_known(facade, signature)).collect();
            let debug = if facade.has_debug { String::new() } else { debug(class, &known) };
            text += &self.values(class, &types::path(self.wit, resource), &known, &debug)?;
        }
        let _ = writeln!(text, "impl {class} {{");
        for signature in &methods {
            text += &match is_known(facade, signature) {
                true => self.getter(facade, signature)?,
                false => self.method(facade, signature)?,
            };
        }
        text += "}\n";
        Ok(format!("{MADE}{}\n{text}", self.uses(&text)))
    }

    /// The imports of the names that a module uses.
    fn uses(&self, text: &str) -> String {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let words = words_of(&code);
        let is_used = |name: &String| [" ", "<", "("].iter().any(|before| code.contains(&format!("{before}{name}::")));
        let interfaces = self.wit.interfaces().map(|(name, _)| snake(name)).filter(is_used);
        let interfaces = interfaces.map(|name| ("crate::engine".to_owned(), name));
        let named = USED.iter().map(|&(path, name)| (path.to_owned(), name.to_owned()));
        let classes = FACADES.iter().map(|facade| (format!("crate::{}", facade.module), facade.class.to_owned()));
        let types = self.wit.interfaces().flat_map(|(_, id)| self.wit.types(id)).filter(|(_, id)| self.has_class(*id));
        let records = types.map(|(name, _)| ("super::records".to_owned(), class_of_record(name)));
        let is_used = |name: &str| words.contains(name) && !code.contains(&format!("pub struct {name} "));
        let named = named.chain(classes).chain(records).filter(|(_, name)| is_used(name));
        let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, name) in interfaces.chain(named) {
            used.entry(path.trim_end_matches("::").to_owned()).or_default().insert(name);
        }
        let joined = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        used.iter().map(|(path, names)| format!("use {path}::{{{}}};\n", joined(names))).collect()
    }

    /// The structure of the cached values of an object, its `Debug`, and the function that reads all values.
    fn values(&self, class: &str, handle: &str, known: &[&Signature<'_>], shown: &str) -> Result<String, String> {
        let (mut fields, mut asked) = (String::new(), String::new());
        for signature in known {
            let (own, result) = (snake(signature.name), signature.value.ok_or("a value has no result")?);
            let _ = writeln!(fields, "pub(crate) {own}: {},", self.held(signature.name, &result)?);
            let call = format!("object.{own}()?");
            let value = match enumeration(signature.name) {
                Some(_) => format!("{call}.parse()?"),
                None => self.converted(&result).of(&call),
            };
            let _ = writeln!(asked, "{own}: {value},");
        }
        Ok(format!(
            "/// What the component says of [`{class}`], which never changes.
            pub(crate) struct {class}Values {{
                {fields}
            }}

            {shown}impl {class}Values {{
                pub(crate) fn ask(object: &Object<{handle}>) -> Result<Self, Error> {{
                    Ok(Self {{ {asked} }})
                }}
            }}\n\n"
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
            let _ =
                write!(parameters, ", {name}: {}", types::passed(self.wit, ty, &|id| Ok(types::path(self.wit, id)))?);
            // Long arguments are checked or cut here: an argument that does not fit into the component's memory would
            // trap, with no useful error.
            match name.as_str() {
                "state" => checks += "let state = checked_state(state, self.object.room())?;\n",
                "entry" => checks += "let entry = cut_entry(entry);\n",
                "checkpoint" => checks += "let checkpoint = checkpoint.map(cut_entry);\n",
                _ if !is_raw && self.wit.is_long(ty) => {
                    let _ =
                        writeln!(checks, "self.object.check_room(\"{wit_name}\", {name}.len(), size_of_val({name}))?;");
                }
                _ => {}
            }
            arguments.push(name);
        }
        let arguments = arguments.join(", ");
        let asked = match asks(signature) {
            // `waiting` supplies lengths if the call asks for them, and repeats the call.
            true => format!("self.waiting(|object| object.{own}({arguments}))"),
            false => format!("self.object.{own}({arguments})"),
        };
        let (returned, body) = match signature.value {
            None => ("()".to_owned(), asked),
            Some(ty) if matches!(self.wit.shape(&ty), Shape::Own(_)) => {
                ("Self".to_owned(), format!("self.another({asked}?)"))
            }
            Some(ty) => match (self.returned(&ty), self.converted(&ty)) {
                (Err(_), _) if is_raw => (types::owned(self.wit, &ty, &|id| Ok(types::path(self.wit, id)))?, asked),
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
        let own: Vec<_> = signature.parameters.iter().map(|(name, _)| *name).chain([signature.name]).collect();
        let interface = self.wit.interface(signature.interface).name.as_deref().unwrap_or_default();
        let place = Place { interface, facade: Some(facade), own: &own };
        self.docs.method(signature, place, fails)
    }

    /// The structures of all records that users get, each with a `From` for the component's type.
    fn records(&self) -> Result<String, String> {
        let mut text = String::new();
        for (_, id) in self.wit.interfaces().flat_map(|(_, id)| self.wit.types(id)) {
            match self.wit.shape(&Type::Id(id)) {
                Shape::Record(_, record) if self.has_class(id) => text += &self.record(id, record)?,
                _ => {}
            }
        }
        Ok(format!("{MADE}{}\n{text}", self.uses(&text)))
    }

    fn record(&self, id: TypeId, record: &Record) -> Result<String, String> {
        let own: Vec<_> = record.fields.iter().map(|field| field.name.as_str()).collect();
        let place = Place { interface: self.wit.owner_name(id), facade: None, own: &own };
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
        let copy = if record.fields.iter().any(|field| self.wit.is_long(&field.ty)) { "" } else { "Copy, " };
        let (class, wit) = (class_of_record(self.wit.name(id)), types::path(self.wit, id));
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

    /// The type of a cached value: an enum if the text is one of known names.
    fn held(&self, name: &str, ty: &Type) -> Result<String, String> {
        enumeration(name).map_or_else(|| self.returned(ty), Ok)
    }

    /// The conversion from a value of the component to a value of the facade.
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
}

/// A conversion: an expression with `@` for the value. None if the value stays as it is.
struct Conversion(Option<String>);

impl Conversion {
    fn of(&self, value: &str) -> String {
        self.0.as_ref().map_or_else(|| value.to_owned(), |with| with.replace('@', value))
    }

    /// The conversion as a function or closure, for `map`.
    fn function(&self) -> Option<String> {
        let with = self.0.as_ref()?;
        Some(with.strip_suffix("(@)").map_or_else(|| format!("|found| {}", self.of("found")), str::to_owned))
    }
}

/// The `Debug` of a class: it shows the cached values.
fn debug(class: &str, known: &[&Signature<'_>]) -> String {
    let fields = known.iter().map(|signature| snake(signature.name));
    let fields: String = fields.map(|own| format!(".field(\"{own}\", &self.values.{own})")).collect();
    format!(
        "impl std::fmt::Debug for {class} {{
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{
                f.debug_struct(\"{class}\"){fields}.finish_non_exhaustive()
            }}
        }}\n\n"
    )
}

/// Whether the generated class reads the value of a function once and caches it.
fn is_known(facade: &Facade, signature: &Signature<'_>) -> bool {
    facade.is_constant
        && is_value(signature)
        && facade.form(signature.name) == Form::Plain
        && !ASKED.contains(&signature.name)
        && (!signature.fails || CACHED.contains(&signature.name))
}

fn class_of_record(name: &str) -> String {
    if name == "step-bounds" { "Steps".to_owned() } else { pascal(name) }
}

/// The code, formatted by rustfmt in the style of the project.
fn formatted(text: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("rustfmt: {error}");
    let mut command = Command::new("rustfmt");
    command.args(["--edition=2024", "--config=max_width=120,use_small_heuristics=Max"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    // rustfmt reads all input before it writes: the pipes cannot block each other.
    child.stdin.take().ok_or("rustfmt reads nothing")?.write_all(text.as_bytes()).map_err(failed)?;
    let done = child.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        return Err(format!("rustfmt refused:\n{text}"));
    }
    String::from_utf8(done.stdout).map_err(|error| error.to_string())
}
