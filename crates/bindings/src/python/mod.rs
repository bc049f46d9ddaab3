//! A Python module for each interface, upon the runtime of the Python host (`engine/abi.py`, `engine/core.py`).
//!
//! First comes what a program uses: names of enums, records and variants as named tuples, resources as classes, functions
//! that take the instance they are called in. Below it stand the layouts and the calls, as data for the runtime.

mod docs;
mod facades;
mod names;
mod options;
mod types;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use wit_parser::abi::AbiVariant;
use wit_parser::{Function, FunctionKind, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId, TypeOwner};

use self::docs::{WIDTH, docstring, note, summary};
use self::names::{Known, TUPLE_METHODS, item, pascal, passed, snake, upper};
use crate::facade::Text;

const MADE: &str = "Written by `cargo xtask build` from the WIT. Changes here are lost.";

/// The modules of all interfaces of a package, and that of the package, by the names of their files.
pub fn modules(resolve: &Resolve, package: PackageId) -> Result<BTreeMap<String, String>, String> {
    let passed = passed(resolve, package);
    let interfaces = &resolve.packages[package].interfaces;
    let mut files = BTreeMap::new();
    let names: Vec<_> = interfaces.keys().map(|name| format!("\"{}\"", snake(name))).collect();
    let listed = spread("INTERFACES = (", &names, ")", 0);
    files.insert(
        "__init__.py".to_owned(),
        format!("\"\"\"The interfaces of the component.\n\n{MADE}\n\"\"\"\n\n{listed}\n\"\"\"A module each.\"\"\"\n"),
    );
    for (name, &id) in interfaces {
        let known = Known::of(resolve, package, id);
        let module = Module { resolve, id, known: &known, passed: &passed, uses: RefCell::default() };
        let text = module.text().map_err(|error| format!("interface {name}: {error}"))?;
        files.insert(format!("{}.py", snake(name)), text);
    }
    Ok(files)
}

/// What a module takes from elsewhere.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// A name of `typing`.
    Typing(&'static str),
    /// Another interface.
    Interface(String),
    Sequence,
    Core,
    Array,
    /// What a facade is made of.
    Answered,
    Check,
    Recipes,
    Namespace,
    Order,
    /// What gives the lengths of samples.
    Lengths,
    Iterable,
    Mapping,
    SupportsIndex,
}

struct Module<'a> {
    resolve: &'a Resolve,
    id: InterfaceId,
    known: &'a Known,
    /// The types that callers pass.
    passed: &'a BTreeSet<TypeId>,
    uses: RefCell<BTreeSet<Use>>,
}

impl Module<'_> {
    fn text(&self) -> Result<String, String> {
        let interface = &self.resolve.interfaces[self.id];
        let own: Vec<TypeId> = interface.types.values().copied().filter(|&id| self.is_own(id)).collect();
        let mut declared = String::new();
        for &id in &own {
            declared += &self.declaration(id)?;
        }
        for function in interface.functions.values().filter(|function| function.kind.resource().is_none()) {
            declared += &self.function(function)?;
        }
        let mut data = String::new();
        // A type comes after those that it holds.
        let mut sorted = own;
        sorted.sort_by_key(|id| id.index());
        for id in sorted {
            data += &self.layout(id)?;
        }
        for function in interface.functions.values() {
            data += &self.call(function)?;
        }
        for (name, &id) in &interface.types {
            if matches!(self.resolve.types[id].kind, TypeDefKind::Resource) && self.is_own(id) {
                data += &spread(
                    &format!("call_{}_drop = abi.Function(", snake(name)),
                    &[format!("f\"{{_INTERFACE}}#[dtor]{name}\""), "abi.NOTHING".into(), "{\"self\": abi.U32}".into()],
                    ")\n",
                    0,
                );
            }
        }
        let name = self.resolve.id_of(self.id).ok_or("it has no name")?;
        Ok(format!("{}\n_INTERFACE = \"{name}\"\n\n{}{declared}\n{data}", self.head(), self.aliases()))
    }

    fn head(&self) -> String {
        let text = self.resolve.interfaces[self.id].docs.contents.clone().unwrap_or_else(|| "An interface.".into());
        let mut head = docstring(&Text::of(&format!("{text}\n\n{MADE}")), 0, self.known);
        let uses = self.uses.borrow();
        let mut typing: Vec<&str> = vec!["TYPE_CHECKING"];
        typing.extend(uses.iter().filter_map(|used| if let Use::Typing(name) = used { Some(*name) } else { None }));
        if uses.contains(&Use::Mapping) {
            typing.push("Any");
        }
        if uses.contains(&Use::SupportsIndex) {
            typing.push("SupportsIndex");
        }
        typing.sort_by_key(|name| (*name != "TYPE_CHECKING", *name));
        head += "\nfrom __future__ import annotations\n\n";
        if uses.contains(&Use::Namespace) {
            head += "from types import SimpleNamespace\n";
        }
        head += &format!("from typing import {}\n\nfrom ..engine import abi\n", typing.join(", "));
        if uses.contains(&Use::Check) {
            head += "from ..engine import arguments as check\n";
        }
        if uses.contains(&Use::Answered) {
            let made = if uses.contains(&Use::Recipes) { ", Self" } else { "" };
            head += &format!("from ..engine.instance import Answered{made}\n");
        }
        if uses.contains(&Use::Recipes) {
            head = head
                .replace("from ..engine import abi\n", "from .. import recipe as recipes\nfrom ..engine import abi\n");
        }
        for used in uses.iter() {
            if let Use::Interface(name) = used {
                head += &format!("from . import {name}\n");
            }
        }
        let mut types = String::new();
        let containers: Vec<_> = [(Use::Iterable, "Iterable"), (Use::Mapping, "Mapping"), (Use::Sequence, "Sequence")]
            .iter()
            .filter_map(|(used, name)| uses.contains(used).then_some(*name))
            .collect();
        if !containers.is_empty() {
            types += &format!("    from collections.abc import {}\n\n", containers.join(", "));
        }
        if uses.contains(&Use::Array) {
            let like = if uses.contains(&Use::Iterable) { "ArrayLike, " } else { "" };
            types += &format!("    import numpy as np\n    from numpy.typing import {like}NDArray\n\n");
        }
        if uses.contains(&Use::Lengths) {
            types += "    from ..engine.sources import Source\n";
        }
        if uses.contains(&Use::Order) {
            types += "    from ..compose.order import Order\n";
        }
        if uses.contains(&Use::Core) {
            types += "    from ..engine.core import Core\n\n";
        }
        if types.is_empty() { head.replace("TYPE_CHECKING, ", "") } else { head + "\nif TYPE_CHECKING:\n" + &types }
    }

    /// Names of plain types, such as `position`, which only document.
    fn aliases(&self) -> String {
        let mut text = String::new();
        for (name, &id) in &self.resolve.interfaces[self.id].types {
            let def = &self.resolve.types[id];
            // A type of another interface has no documentation here.
            if let (TypeDefKind::Type(inner), Some(contents)) = (&def.kind, &def.docs.contents)
                && !matches!(self.plain(inner), Type::Id(_))
            {
                text += &format!("{} = int\n{}\n", pascal(name), note(contents, 0, self.known));
            }
        }
        text
    }

    /// Whether a type is of this interface, and not a name for another one.
    fn is_own(&self, id: TypeId) -> bool {
        let def = &self.resolve.types[id];
        def.owner == TypeOwner::Interface(self.id) && !matches!(def.kind, TypeDefKind::Type(_) | TypeDefKind::Handle(_))
    }

    fn declaration(&self, id: TypeId) -> Result<String, String> {
        let def = &self.resolve.types[id];
        let name = def.name.as_deref().ok_or("a type has no name")?;
        let class = pascal(name);
        let about = def.docs.contents.clone().unwrap_or_else(|| format!("`{name}` of the interface."));
        match &def.kind {
            TypeDefKind::Record(record) => {
                self.uses(Use::Typing("NamedTuple"));
                let mut text =
                    format!("\nclass {class}(NamedTuple):\n{}\n", docstring(&Text::of(&about), 4, self.known));
                for field in &record.fields {
                    let is_wide = self.is_wide_list(&field.ty);
                    let annotation = self.annotation(&field.ty, is_wide || self.passed.contains(&id))?;
                    text += &self.field(&field.name, &annotation, field.docs.contents.as_deref());
                }
                Ok(text + "\n")
            }
            TypeDefKind::Enum(kinds) => {
                self.uses(Use::Typing("Literal"));
                let cases: Vec<_> =
                    kinds.cases.iter().map(|case| (&*case.name, case.docs.contents.as_deref())).collect();
                let quoted = quoted(&cases);
                let mut text = spread(&format!("{class} = Literal["), &quoted, "]\n", 0);
                text += &note(&listed(&about, &cases), 0, self.known);
                let open = format!("{}_NAMES: tuple[{class}, ...] = (", upper(name));
                Ok(text + &spread(&open, &quoted, if quoted.len() == 1 { ",)\n\n" } else { ")\n\n" }, 0))
            }
            TypeDefKind::Variant(variant) => {
                self.uses(Use::Typing("NamedTuple"));
                self.uses(Use::Typing("Literal"));
                let cases: Vec<_> =
                    variant.cases.iter().map(|case| (&*case.name, case.docs.contents.as_deref())).collect();
                let mut held: Vec<String> = Vec::new();
                for case in &variant.cases {
                    let annotation = match &case.ty {
                        Some(ty) => self.annotation(ty, self.passed.contains(&id))?,
                        None => "None".to_owned(),
                    };
                    if !held.contains(&annotation) {
                        held.push(annotation);
                    }
                }
                let mut text =
                    format!("\nclass {class}(NamedTuple):\n{}\n", docstring(&Text::of(&about), 4, self.known));
                text += &spread("    kind: Literal[", &quoted(&cases), "]\n", 4);
                text += &note(&listed("", &cases), 4, self.known);
                text += &format!("    value: {}\n    \"\"\"What the case holds.\"\"\"\n\n", held.join(" | "));
                Ok(text)
            }
            TypeDefKind::Resource => self.resource(id, name, &about),
            other => Err(format!("{name}: a {} has no form in Python yet", other.as_str())),
        }
    }

    fn field(&self, name: &str, annotation: &str, about: Option<&str>) -> String {
        let name = snake(name);
        let hides =
            if TUPLE_METHODS.contains(&&*name) { "  # type: ignore[assignment]  # A tuple has it, too." } else { "" };
        let about = about.map(|about| note(about, 4, self.known)).unwrap_or_default();
        format!("    {name}: {annotation}{hides}\n{about}")
    }

    fn resource(&self, id: TypeId, name: &str, about: &str) -> Result<String, String> {
        let mut text =
            format!("\nclass {}(abi.Handle):\n{}\n", pascal(name), docstring(&Text::of(about), 4, self.known));
        let functions = self.resolve.interfaces[self.id].functions.values();
        for function in functions.filter(|function| function.kind.resource() == Some(id)) {
            text += &self.function(function)?;
        }
        text +=
            "    def drop(self) -> None:\n        \"\"\"Frees it in the instance. Do not use it after this.\"\"\"\n";
        text += &format!("        call_{}_drop(self.core, self.handle)\n\n", snake(name));
        Ok(text + &self.facade(id, name)?)
    }

    /// The Python function.
    fn function(&self, function: &Function) -> Result<String, String> {
        self.checked(function)?;
        self.uses(Use::Core);
        let name = snake(item(function));
        let bound = matches!(function.kind, FunctionKind::Method(_));
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for parameter in function.params.iter().skip(usize::from(bound)) {
            let own = snake(&parameter.name);
            parameters.push(format!("{own}: {}", self.annotation(&parameter.ty, true)?));
            arguments.push(own);
        }
        let returned = match &function.result {
            Some(ty) => self.annotation(&self.value(ty).unwrap_or(*ty), false),
            None => Ok("None".to_owned()),
        };
        let returned = if self.is_empty_result(function) { "None".to_owned() } else { returned? };
        let call = self.call_name(function);
        let (indent, decorator, head, first, before) = match function.kind {
            FunctionKind::Freestanding => (0, "", name, "core: Core", "core"),
            FunctionKind::Constructor(_) => (4, "", "__init__".to_owned(), "self, core: Core", "core"),
            FunctionKind::Static(_) => (4, "    @staticmethod\n", name, "core: Core", "core"),
            _ => (4, "", name, "self", "self.core, self.handle"),
        };
        let space = " ".repeat(indent);
        let makes = matches!(function.kind, FunctionKind::Constructor(_));
        parameters.splice(0..0, first.split(", ").map(str::to_owned));
        arguments.splice(0..0, before.split(", ").map(str::to_owned));
        let returned = if makes { "None" } else { &returned };
        let mut text = if indent == 0 { "\n".to_owned() } else { decorator.to_owned() };
        text += &spread(&format!("{space}def {head}("), &parameters, &format!(") -> {returned}:\n"), indent);
        // The facade has the whole text.
        let about = if self.is_plain(function) { summary } else { docstring };
        text += &about(&self.text_of(function), indent + 4, self.known);
        let body = match (makes, returned) {
            (true, _) => {
                text += &format!("{space}    self.core = core\n");
                "self.handle = "
            }
            (_, "None") => "",
            _ => "return ",
        };
        text += &spread(&format!("{space}    {body}{call}("), &arguments, ")\n", indent + 4);
        Ok(text + "\n")
    }

    /// The text of a function, with the errors of the functions that it refers to.
    fn text_of(&self, function: &Function) -> Text {
        match &function.docs.contents {
            Some(contents) => Text::of(contents).resolved(function, &self.resolve.interfaces[self.id]),
            None => Text { paragraphs: vec![format!("`{}` of the interface.", item(function))], errors: Vec::new() },
        }
    }

    fn checked(&self, function: &Function) -> Result<(), String> {
        match function.kind.is_async() {
            true => Err(format!("{}: asynchronous functions have no form in Python yet", function.name)),
            false => Ok(()),
        }
    }

    /// The data of a type for the runtime.
    fn layout(&self, id: TypeId) -> Result<String, String> {
        let def = &self.resolve.types[id];
        let name = def.name.as_deref().ok_or("a type has no name")?;
        let (own, class) = (names::layout(name), pascal(name));
        Ok(match &def.kind {
            TypeDefKind::Record(record) => {
                let fields = record.fields.iter().map(|field| {
                    let is_wide = self.is_wide_list(&field.ty);
                    let held = if is_wide { "abi.WIDE_U64S".to_owned() } else { self.abi(&field.ty)? };
                    Ok(format!("\"{}\": {held}", field.name))
                });
                let fields = fields.collect::<Result<Vec<_>, String>>()?;
                nested(&format!("{own} = abi.record("), &class, &fields)
            }
            TypeDefKind::Variant(variant) => {
                let cases = variant.cases.iter().map(|case| {
                    let held = case.ty.map_or_else(|| Ok("abi.UNIT".to_owned()), |ty| self.abi(&ty))?;
                    Ok(format!("\"{}\": {held}", case.name))
                });
                let cases = cases.collect::<Result<Vec<_>, String>>()?;
                nested(&format!("{own} = abi.variant("), &class, &cases)
            }
            TypeDefKind::Enum(_) => format!("{own} = abi.enum({}_NAMES)\n", upper(name)),
            TypeDefKind::Resource => format!("{own} = abi.handle({class})\n"),
            other => return Err(format!("{name}: a {} has no form in Python yet", other.as_str())),
        })
    }

    /// The call of a function for the runtime.
    fn call(&self, function: &Function) -> Result<String, String> {
        let signature = self.resolve.wasm_signature(AbiVariant::GuestExport, function);
        let makes = matches!(function.kind, FunctionKind::Constructor(_));
        let lift = match &function.result {
            None => "abi.NOTHING".to_owned(),
            Some(ty) => {
                let result = self.result(ty);
                let value = match result.map_or(Some(*ty), |(value, _)| value) {
                    // The object is there before its handle.
                    Some(_) if makes => "abi.U32".to_owned(),
                    Some(value) => self.abi(&value)?,
                    None => "abi.UNIT".to_owned(),
                };
                match result {
                    Some((_, Some(error))) => format!("abi.fallible({value}, {})", self.abi(&error)?),
                    Some((_, None)) => return Err(format!("{}: a result without an error", function.name)),
                    None if signature.retptr => format!("abi.returned({value})"),
                    None => format!("abi.scalar({value})"),
                }
            }
        };
        let bound = matches!(function.kind, FunctionKind::Method(_));
        let mut parameters = Vec::new();
        for (i, parameter) in function.params.iter().enumerate() {
            let kind = if bound && i == 0 { "abi.U32".to_owned() } else { self.abi(&parameter.ty)? };
            parameters.push(format!("\"{}\": {kind}", parameter.name));
        }
        let mut given = format!("{{{}}}", parameters.join(", "));
        if given.chars().count() + 5 > WIDTH {
            given = format!("{{\n        {},\n    }}", parameters.join(",\n        "));
        }
        let items = [format!("f\"{{_INTERFACE}}#{}\"", function.name), lift, given];
        Ok(spread(&format!("{} = abi.Function(", self.call_name(function)), &items, ")\n", 0))
    }

    fn call_name(&self, function: &Function) -> String {
        let own = item(function).replace('-', "_");
        match function.kind.resource().and_then(|id| self.resolve.types[id].name.as_deref()) {
            Some(resource) => format!("call_{}_{own}", resource.replace('-', "_")),
            None => format!("call_{own}"),
        }
    }

    fn uses(&self, used: Use) {
        self.uses.borrow_mut().insert(used);
    }
}

fn quoted(cases: &[(&str, Option<&str>)]) -> Vec<String> {
    cases.iter().map(|(name, _)| format!("\"{name}\"")).collect()
}

/// Documentation with a paragraph for each case.
fn listed(about: &str, cases: &[(&str, Option<&str>)]) -> String {
    let mut paragraphs = vec![about.trim().to_owned()];
    paragraphs.extend(cases.iter().filter_map(|(name, about)| about.map(|about| format!("\"{name}\": {about}"))));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n\n")
}

/// Items between brackets: in one line, or a line each where that is too long.
fn spread(open: &str, items: &[String], close: &str, indent: usize) -> String {
    let line = format!("{open}{}{close}", items.join(", "));
    if line.trim_end().chars().count() <= WIDTH {
        return line;
    }
    let space = " ".repeat(indent);
    let items: String = items.iter().map(|item| format!("{space}    {item},\n")).collect();
    format!("{open}\n{items}{space}{}", close.trim_start_matches(','))
}

/// A call whose last argument is a dictionary.
fn nested(open: &str, first: &str, entries: &[String]) -> String {
    let line = format!("{open}{first}, {{{}}})\n", entries.join(", "));
    if line.trim_end().chars().count() <= WIDTH {
        return line;
    }
    let entries: String = entries.iter().map(|entry| format!("        {entry},\n")).collect();
    format!("{open}\n    {first},\n    {{\n{entries}    }},\n)\n")
}
