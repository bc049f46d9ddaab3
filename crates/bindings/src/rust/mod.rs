//! The plain part of the classes of the Rust host: a module with a second `impl` for each of them, and one with records. What has the habits
//! of Rust is written by hand, beside them.

mod builders;
mod docs;
mod engines;
mod facades;
pub mod interface;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use wit_parser::{Function, FunctionKind, PackageId, Resolve, Type, TypeDefKind, TypeId, TypeOwner};

use crate::facade::{asks, is_value};
use docs::{Docs, Place};
use engines::Engine;
use facades::{ENUMS, FACADES, Facade, Form, RECORDS, Record};

const MADE: &str = "// Written by `cargo xtask build` from the WIT. Changes here are lost.\n";
const MADE_OF_MEMBERS: &str =
    "// Written by `cargo xtask build` from the tables of members in `samedeal-core`. Changes here are lost.\n";

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
pub fn modules(resolve: &Resolve, package: PackageId) -> Result<BTreeMap<String, String>, String> {
    let rust = Rust { resolve, package, docs: Docs::new(resolve, package) };
    let mut files = BTreeMap::new();
    let mut all =
        format!("{MADE}//! What is generated from the interface: the plain part of each class, and records.\n\n");
    for facade in FACADES {
        let name = snake(facade.resource);
        files.insert(format!("{name}.rs"), formatted(&rust.facade(facade)?)?);
        let _ = writeln!(all, "mod {name};");
    }
    for (name, text) in builders::modules() {
        files.insert(format!("{name}.rs"), formatted(&format!("{MADE_OF_MEMBERS}{text}"))?);
        let _ = writeln!(all, "mod {name};");
    }
    let _ = writeln!(all, "mod records;");
    let wit = interface::Wit { resolve, package };
    for (engine, when) in
        [(Engine::Component, "feature = \"component\""), (Engine::Native, "not(feature = \"component\")")]
    {
        let name = engine.name();
        files.insert(format!("{name}.rs"), engines::module(wit, engine)?);
        let _ = writeln!(all, "#[cfg({when})]\npub mod {name};");
    }
    all.push('\n');
    for facade in FACADES.iter().filter(|facade| facade.is_constant) {
        let _ = writeln!(all, "pub(crate) use {}::{}Values;", snake(facade.resource), facade.class);
    }
    let _ = writeln!(all, "pub use records::*;");
    files.insert("records.rs".to_owned(), formatted(&rust.records()?)?);
    files.insert("mod.rs".to_owned(), formatted(&all)?);
    Ok(files)
}

/// From an expression to another one.
type Conversion = Box<dyn Fn(&str) -> String>;

struct Rust<'a> {
    resolve: &'a Resolve,
    package: PackageId,
    docs: Docs<'a>,
}

impl<'a> Rust<'a> {
    fn facade(&self, facade: &Facade) -> Result<String, String> {
        let Facade { interface, resource, class, module, .. } = facade;
        let mut text = String::new();
        let functions = &self.resolve.interfaces[self.resolve.packages[self.package].interfaces[*interface]].functions;
        let methods: Vec<_> = functions
            .values()
            .filter(|function| matches!(function.kind, FunctionKind::Method(of) if self.named(of) == *resource))
            .collect();
        let known: Vec<_> = methods.iter().filter(|function| self.is_known(facade, function)).copied().collect();
        if facade.is_constant {
            text += &self.values(facade, &known)?;
        }
        let _ = writeln!(text, "impl {class} {{");
        for function in methods {
            text += &if self.is_known(facade, function) {
                self.getter(facade, function)?
            } else {
                self.method(facade, function)?
            };
            text.push('\n');
        }
        text += "}\n";
        let module =
            if module.is_empty() { "crate".to_owned() } else { format!("crate::{}", module.trim_end_matches("::")) };
        Ok(format!("{MADE}{}\n{text}", self.uses(&text, Some((&module, class)))))
    }

    /// What a module uses: that of a class has its path and its name, that of records has none.
    fn uses(&self, text: &str, class_of: Option<(&str, &str)>) -> String {
        let has = |name: &str| {
            let mut found = text.match_indices(name).filter(|(at, _)| {
                let around = [text[..*at].chars().next_back(), text[at + name.len()..].chars().next()];
                around.iter().flatten().all(|next| !next.is_alphanumeric() && !matches!(next, '_' | '[' | '`'))
            });
            // Not in a comment.
            found.any(|(at, _)| !text[..at].rsplit('\n').next().unwrap_or_default().trim_start().starts_with("//"))
        };
        let interfaces = self.resolve.packages[self.package].interfaces.keys().map(|name| snake(name));
        let is_used = |name: &String| [" ", "<", "("].iter().any(|before| text.contains(&format!("{before}{name}::")));
        let interfaces = interfaces.filter(is_used).map(|name| ("crate::engine", name));
        let named = USED.iter().map(|&(path, name)| (path, name.to_owned())).filter(|(_, name)| has(name));
        let records = RECORDS.iter().map(class).filter(|name| class_of.is_some() && has(name));
        let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        if let Some((path, class)) = class_of {
            used.entry(path).or_default().insert(class.to_owned());
        }
        for (path, name) in interfaces.chain(named).chain(records.map(|name| ("super::records", name))) {
            used.entry(path).or_default().insert(name);
        }
        used.iter()
            .map(|(path, names)| {
                format!("use {path}::{{{}}};\n", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
            })
            .collect()
    }

    /// Whether the value of a function is asked once.
    fn is_known(&self, facade: &Facade, function: &Function) -> bool {
        facade.is_constant
            && is_value(function)
            && facade.form(function.item_name()) == Form::Plain
            && !ASKED.contains(&function.item_name())
            && function.result.as_ref().is_some_and(|ty| self.fallible(ty).is_none())
    }

    /// What is known of an object: a structure, and the calls that fill it.
    fn values(&self, facade: &Facade, known: &[&Function]) -> Result<String, String> {
        let class = format!("{}Values", facade.class);
        let mut text = format!(
            "/// What the component says of [`{0}`], which never changes.\npub(crate) struct {class} {{\n",
            facade.class
        );
        let mut asked = String::new();
        for function in known {
            let (name, result) = (function.item_name(), function.result.as_ref().ok_or("a value has no result")?);
            let own = snake(name);
            let _ = writeln!(text, "    pub(crate) {own}: {},", self.held(name, result)?);
            let call = format!("object.{own}()?");
            let value = match (self.enumeration(name), self.converted(result)) {
                (Some(_), _) => format!("{call}.parse()?"),
                (None, Some(conversion)) => conversion(&call),
                (None, None) => call,
            };
            let _ = writeln!(asked, "                {own}: {value},");
        }
        text += "}\n\n";
        if !facade.has_debug {
            text += &debug(facade, known);
        }
        let _ = write!(
            text,
            "impl {class} {{\n    pub(crate) fn ask(object: &Object<{}>) -> Result<Self, Error> {{\n        Ok(Self {{\n{asked}        \
             }})\n    }}\n}}\n\n",
            handle(facade),
        );
        Ok(text)
    }

    fn getter(&self, facade: &Facade, function: &Function) -> Result<String, String> {
        let (name, result) = (function.item_name(), function.result.as_ref().ok_or("a value has no result")?);
        let own = snake(name);
        let held = self.held(name, result)?;
        let (shown, value) = match held.strip_prefix("Vec<") {
            _ if held == "String" => ("&str".to_owned(), format!("&self.values.{own}")),
            Some(item) => (format!("&[{}]", item.trim_end_matches('>')), format!("&self.values.{own}")),
            None => (held, format!("self.values.{own}")),
        };
        let docs = self.docs_of(facade, function, None);
        Ok(format!("{docs}    pub fn {own}(&self) -> {shown} {{\n        {value}\n    }}\n"))
    }

    fn method(&self, facade: &Facade, function: &Function) -> Result<String, String> {
        let name = function.item_name();
        let own = snake(name);
        let form = facade.form(name);
        let is_raw = matches!(form, Form::ByHand | Form::Absent);
        let (visible, rust) = match form {
            Form::Plain => ("pub", own.clone()),
            Form::As(name) => ("pub", name.to_owned()),
            Form::ByHand | Form::Absent => ("pub(crate)", format!("raw_{own}")),
        };
        let (mut parameters, mut arguments, mut checks) = (String::new(), Vec::new(), String::new());
        for parameter in function.params.iter().skip(1) {
            let name = snake(&parameter.name);
            let _ = write!(parameters, ", {name}: {}", self.passed(&parameter.ty)?);
            // What does not fit into the memory would stop the component before it can say so.
            match name.as_str() {
                "state" => checks += "        let state = checked_state(state, self.object.room())?;\n",
                "entry" => checks += "        let entry = cut_entry(entry);\n",
                "checkpoint" => checks += "        let checkpoint = checkpoint.map(cut_entry);\n",
                _ if !is_raw && self.is_long(&parameter.ty) => {
                    let _ = writeln!(
                        checks,
                        "        self.object.check_room(\"{}\", {name}.len(), size_of_val({name}))?;",
                        parameter.name
                    );
                }
                _ => {}
            }
            arguments.push(name);
        }
        let result = function.result.as_ref();
        let fallible = result.and_then(|ty| self.fallible(ty));
        let value = fallible.unwrap_or(result.copied());
        let is_own = value.is_some_and(|ty| self.is_resource(&ty));
        let asked = match asks(function) {
            // It goes through what gives the lengths.
            true => format!("self.waiting(|object| object.{own}({}))", arguments.join(", ")),
            false => format!("self.object.{own}({})", arguments.join(", ")),
        };
        let (returned, body) = match value {
            Some(_) if is_own => ("Self".to_owned(), format!("self.another({asked}?)")),
            Some(ty) if is_raw && self.returned(&ty).is_err() => (self.raw(&ty)?, asked),
            Some(ty) => match self.converted(&ty) {
                Some(conversion) => {
                    let body = format!("let found = {asked}?;\n        Ok({})", conversion("found"));
                    (self.returned(&ty)?, body)
                }
                None => (self.returned(&ty)?, asked),
            },
            None => ("()".to_owned(), asked),
        };
        let docs = if is_raw {
            format!("    /// `{name}` of the interface, as it is.\n")
        } else {
            self.docs_of(facade, function, Some(fallible.is_some()))
        };
        Ok(format!(
            "{docs}    {visible} fn {rust}(&self{parameters}) -> Result<{returned}, Error> {{\n{checks}        {body}\n    }}\n"
        ))
    }

    fn docs_of(&self, facade: &Facade, function: &Function, fails: Option<bool>) -> String {
        let own: Vec<_> =
            function.params.iter().map(|parameter| parameter.name.as_str()).chain([function.item_name()]).collect();
        let has_none =
            function.params.iter().map(|parameter| &parameter.ty).chain(&function.result).any(|ty| self.is_maybe(ty));
        let place = Place { interface: facade.interface, facade: Some(facade), own: &own, has_none };
        self.docs.function(function, place, fails, 4)
    }

    /// The structures of all records that users get, with what makes them of those of the component.
    fn records(&self) -> Result<String, String> {
        let mut text = String::new();
        for record in RECORDS {
            let interface = self.resolve.packages[self.package].interfaces[record.interface];
            let id = self.resolve.interfaces[interface].types[record.name];
            let TypeDefKind::Record(fields) = &self.resolve.types[id].kind else {
                return Err(format!("{} is no record", record.name));
            };
            let own: Vec<_> = fields.fields.iter().map(|field| field.name.as_str()).collect();
            let has_none = fields.fields.iter().any(|field| self.is_maybe(&field.ty));
            let place = Place { interface: record.interface, facade: None, own: &own, has_none };
            text += &self.docs.note(self.resolve.types[id].docs.contents.as_deref().unwrap_or_default(), place, 0);
            let class = class(record);
            let is_copy = !fields.fields.iter().any(|field| self.is_long(&field.ty));
            let _ = writeln!(
                text,
                "#[derive(Clone, {}Debug, PartialEq, Eq, Hash)]\n\
                 #[cfg_attr(feature = \"serde\", derive(serde::Deserialize, serde::Serialize))]\n#[non_exhaustive]\npub struct {class} {{",
                if is_copy { "Copy, " } else { "" },
            );
            let (mut names, mut from) = (Vec::new(), String::new());
            for field in &fields.fields {
                let name = snake(&field.name);
                text += &self.docs.note(field.docs.contents.as_deref().unwrap_or_default(), place, 4);
                let _ = writeln!(text, "    pub {name}: {},", self.returned(&field.ty)?);
                let _ = match self.converted(&field.ty) {
                    Some(conversion) => write!(from, "{name}: {}, ", conversion(&name)),
                    None => write!(from, "{name}, "),
                };
                names.push(name);
            }
            text += "}\n\n";
            let wit = format!("{}::{}", snake(record.interface), pascal(record.name));
            let names = names.join(", ");
            let _ = write!(
                text,
                "impl From<{wit}> for {class} {{\n    fn from(found: {wit}) -> Self {{\n        let {wit} {{ {names} }} = found;\n        \
                 Self {{ {from} }}\n    }}\n}}\n\n"
            );
        }
        Ok(format!("{MADE}{}\n{text}", self.uses(&text, None)))
    }

    /// The type of a result in the facade.
    fn returned(&self, ty: &Type) -> Result<String, String> {
        let id = match ty {
            Type::Id(id) => *id,
            ty => return plain(ty),
        };
        if let Some(record) = self.record(ty) {
            return Ok(class(record));
        }
        match &self.resolve.types[id].kind {
            _ if self.named(id) == "spans" => Ok("Vec<Span>".to_owned()),
            TypeDefKind::Type(ty) => self.returned(ty),
            TypeDefKind::List(ty) => Ok(format!("Vec<{}>", self.returned(ty)?)),
            TypeDefKind::Option(ty) => Ok(format!("Option<{}>", self.returned(ty)?)),
            other => Err(format!("{}: a {} has no form in Rust yet", self.named(id), other.as_str())),
        }
    }

    /// The type of a value that is kept: a text may have an enum.
    fn held(&self, name: &str, ty: &Type) -> Result<String, String> {
        self.enumeration(name).map_or_else(|| self.returned(ty), |name| Ok(name.to_owned()))
    }

    fn enumeration(&self, name: &str) -> Option<&'static str> {
        ENUMS.iter().find(|(own, _)| *own == name).map(|(_, class)| *class)
    }

    /// The type of a result as the component gives it.
    fn raw(&self, ty: &Type) -> Result<String, String> {
        let id = match ty {
            Type::Id(id) => *id,
            ty => return plain(ty),
        };
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.raw(ty),
            TypeDefKind::List(ty) => Ok(format!("Vec<{}>", self.raw(ty)?)),
            TypeDefKind::Option(ty) => Ok(format!("Option<{}>", self.raw(ty)?)),
            TypeDefKind::Record(_) => match self.resolve.types[id].owner {
                TypeOwner::Interface(owner) => {
                    let interface = self.resolve.interfaces[owner].name.as_deref().unwrap_or_default();
                    Ok(format!("{}::{}", snake(interface), pascal(self.named(id))))
                }
                _ => Err(format!("{} is of no interface", self.named(id))),
            },
            other => Err(format!("{}: a {} has no form in Rust yet", self.named(id), other.as_str())),
        }
    }

    /// The type of an argument.
    fn passed(&self, ty: &Type) -> Result<String, String> {
        let id = match ty {
            Type::String => return Ok("&str".to_owned()),
            Type::Id(id) => *id,
            ty => return plain(ty),
        };
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.passed(ty),
            TypeDefKind::List(ty) => Ok(format!("&[{}]", self.raw(ty)?)),
            TypeDefKind::Option(ty) => Ok(format!("Option<{}>", self.passed(ty)?)),
            other => Err(format!("{}: a {} has no form in Rust yet", self.named(id), other.as_str())),
        }
    }

    /// What makes a value of the facade of one of the component, if they differ.
    fn converted(&self, ty: &Type) -> Option<Conversion> {
        let &Type::Id(id) = ty else { return None };
        if let Some(record) = self.record(ty) {
            let class = class(record);
            return Some(Box::new(move |value| format!("{class}::from({value})")));
        }
        match &self.resolve.types[id].kind {
            _ if self.named(id) == "spans" => Some(Box::new(|value| format!("crate::place::spans({value})"))),
            TypeDefKind::Type(ty) => self.converted(ty),
            TypeDefKind::List(ty) => {
                let each = self.each(ty)?;
                Some(Box::new(move |value| format!("{value}.into_iter().map({each}).collect()")))
            }
            TypeDefKind::Option(ty) => {
                let each = self.each(ty)?;
                Some(Box::new(move |value| format!("{value}.map({each})")))
            }
            _ => None,
        }
    }

    /// The function that converts an item.
    fn each(&self, ty: &Type) -> Option<String> {
        match self.record(ty) {
            Some(record) => Some(format!("{}::from", class(record))),
            None => Some(format!("|found| {}", self.converted(ty)?("found"))),
        }
    }

    /// The record of the facade that a type is.
    fn record(&self, ty: &Type) -> Option<&'static Record> {
        let &Type::Id(id) = ty else { return None };
        let def = &self.resolve.types[id];
        if let TypeDefKind::Type(ty) = &def.kind {
            return self.record(ty);
        }
        let TypeOwner::Interface(owner) = def.owner else { return None };
        let interface = self.resolve.interfaces[owner].name.as_deref()?;
        RECORDS.iter().find(|record| record.interface == interface && Some(record.name) == def.name.as_deref())
    }

    /// Whether a type, or one within it, is of a kind.
    fn any(&self, ty: &Type, of: &dyn Fn(&Type) -> bool) -> bool {
        let within = |ty: &Type| match ty {
            Type::Id(id) => match &self.resolve.types[*id].kind {
                TypeDefKind::Type(ty) | TypeDefKind::List(ty) | TypeDefKind::Option(ty) => self.any(ty, of),
                TypeDefKind::Record(record) => record.fields.iter().any(|field| self.any(&field.ty, of)),
                TypeDefKind::Result(result) => result.ok.is_some_and(|ty| self.any(&ty, of)),
                _ => false,
            },
            _ => false,
        };
        of(ty) || within(ty)
    }

    /// Whether a type has texts or lists, which are no copies.
    fn is_long(&self, ty: &Type) -> bool {
        self.any(ty, &|ty| match ty {
            Type::String => true,
            Type::Id(id) => matches!(self.resolve.types[*id].kind, TypeDefKind::List(_)),
            _ => false,
        })
    }

    /// Whether a type has values that may be missing.
    fn is_maybe(&self, ty: &Type) -> bool {
        self.any(ty, &|ty| matches!(ty, Type::Id(id) if matches!(self.resolve.types[*id].kind, TypeDefKind::Option(_))))
    }

    /// What a call that can fail by its arguments gives, or that it cannot.
    fn fallible(&self, ty: &Type) -> Option<Option<Type>> {
        let &Type::Id(id) = ty else { return None };
        match &self.resolve.types[id].kind {
            TypeDefKind::Result(result) => Some(result.ok),
            _ => None,
        }
    }

    fn is_resource(&self, ty: &Type) -> bool {
        matches!(ty, Type::Id(id) if matches!(self.resolve.types[*id].kind, TypeDefKind::Handle(_)))
    }

    fn named(&self, id: TypeId) -> &'a str {
        self.resolve.types[id].name.as_deref().unwrap_or_default()
    }
}

fn plain(ty: &Type) -> Result<String, String> {
    Ok(match ty {
        Type::Bool => "bool",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S64 => "i64",
        Type::String => "String",
        other => return Err(format!("{other:?} has no form in Rust yet")),
    }
    .to_owned())
}

/// The type of what a class holds.
fn handle(facade: &Facade) -> String {
    format!("{}::{}", snake(facade.interface), pascal(facade.resource))
}

fn class(record: &Record) -> String {
    record.class.map_or_else(|| pascal(record.name), str::to_owned)
}

fn snake(name: &str) -> String {
    name.replace('-', "_")
}

fn pascal(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// What a class shows of itself for debugging: what is known of it.
fn debug(facade: &Facade, known: &[&Function]) -> String {
    let field = |function: &&Function| {
        let own = snake(function.item_name());
        format!(".field(\"{own}\", &self.values.{own})")
    };
    let fields: String = known.iter().map(field).collect();
    format!(
        "impl std::fmt::Debug for {0} {{\n    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{\n        \
         f.debug_struct(\"{0}\"){fields}.finish_non_exhaustive()\n    }}\n}}\n\n",
        facade.class,
    )
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
