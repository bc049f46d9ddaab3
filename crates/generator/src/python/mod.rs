//! A Python module for each interface, which uses the runtime of the Python host (`engine/abi.py`, `engine/core.py`).
//!
//! First come the definitions that programs use: names of enums, records as named tuples, resources as classes, and
//! functions, which take the instance in which they are called. Then come the layouts of types and the calls, as data
//! for the runtime.

mod docs;
mod facades;
mod names;
mod options;
mod orders;
mod types;

use std::collections::BTreeSet;

use samedeal_core::LIMITS;
use wit_parser::abi::AbiVariant;
use wit_parser::{EnumCase, InterfaceId, Type, TypeDefKind, TypeId};

use self::names::{Known, TUPLE_METHODS, passed, snake, upper};
use crate::Files;
use crate::facade::Text;
use crate::wit::{self, Shape, Signature, Wit};
use crate::words::{WIDTH, pascal, words_of};

const MADE: &str = "Written by `cargo xtask build` from the WIT. Changes here are lost.";

/// The name of the constant in `typing` that is true for type checkers.
const CHECKING: &str = "TYPE_CHECKING";

/// The modules of all interfaces of a package, and the `__init__.py` that lists them, by the names of their files.
pub fn modules(wit: Wit<'_>) -> Result<Files, String> {
    let passed = passed(wit);
    let mut files = Files::new();
    let names: Vec<_> = wit.interfaces().map(|(name, _)| format!("\"{}\"", snake(name))).collect();
    let listed = spread("INTERFACES = (", &names, ")");
    files.insert(
        "__init__.py".to_owned(),
        format!("\"\"\"The interfaces of the component.\n\n{MADE}\n\"\"\"\n\n{listed}\n\"\"\"A module each.\"\"\"\n"),
    );
    for (name, id) in wit.interfaces() {
        let module = Module { wit, id, known: &Known::of(wit, id), passed: &passed };
        let text = module.text().map_err(|error| format!("interface {name}: {error}"))?;
        files.insert(format!("{}.py", snake(name)), text);
    }
    files.insert("limits.py".to_owned(), limits());
    if let Some((_, sampling)) = wit.interfaces().find(|(name, _)| *name == "sampling") {
        files.insert("orders.py".to_owned(), orders::module(&Known::of(wit, sampling))?);
    }
    Ok(files)
}

/// The module `limits.py`: limits of the core. Hosts check some of them, and divide long calls by others.
fn limits() -> String {
    let mut text = format!("\"\"\"Limits of the component. Hosts need some of them.\n\n{MADE}\n\"\"\"\n\n");
    for limit in LIMITS {
        text += &format!("{} = {}\n\"\"\"{}\"\"\"\n", limit.name, limit.most, limit.text);
    }
    text
}

struct Module<'a> {
    wit: Wit<'a>,
    id: InterfaceId,
    known: &'a Known,
    /// Records that callers pass as arguments, and records within them.
    passed: &'a BTreeSet<TypeId>,
}

impl Module<'_> {
    fn text(&self) -> Result<String, String> {
        let own: Vec<_> = self.wit.types(self.id).collect();
        let mut body = self.aliases();
        for (name, id) in &own {
            body += &self.declaration(name, *id)?;
        }
        for signature in self.wit.signatures(self.id, None) {
            body += &self.function(&signature)?;
        }
        body += "\n";
        // wit-parser numbers a type after the types that it contains. Python needs this order: a layout is an
        // expression that uses the layouts of the contained types.
        let mut sorted = own;
        sorted.sort_by_key(|(_, id)| id.index());
        for (name, id) in sorted {
            body += &self.layout(name, id)?;
        }
        for signature in self.wit.functions(self.id) {
            body += &self.call(&signature)?;
        }
        for (name, _) in self.wit.resources(self.id) {
            body += &spread(
                &format!("call_{}_drop = abi.Function(", snake(name)),
                &[format!("f\"{{_INTERFACE}}#[dtor]{name}\""), "abi.NOTHING".into(), "{\"self\": abi.U32}".into()],
                ")\n",
            );
        }
        let name = self.wit.resolve.id_of(self.id).ok_or("it has no name")?;
        Ok(format!("{}\n_INTERFACE = \"{name}\"\n\n{body}", self.head(&body)))
    }

    /// The documentation of a module, and the imports of all names that its code uses.
    fn head(&self, body: &str) -> String {
        let about = self.wit.interface(self.id).docs.contents.as_deref().unwrap_or("An interface.");
        let docs = self.known.docstring(Text::of(&format!("{about}\n\n{MADE}")), &[], 0);
        let code: String = body.split("\"\"\"").step_by(2).collect();
        let words = words_of(&code);
        let import = |from: &str, names: &[&str]| {
            let is_used = |name: &str| words.contains(name.rsplit(' ').next().unwrap_or_default());
            let used: Vec<_> = names.iter().copied().filter(|name| is_used(name) || *name == CHECKING).collect();
            if used.is_empty() { String::new() } else { format!("from {from} import {}\n", used.join(", ")) }
        };
        let is_used = |name: &String| [" ", "(", "["].iter().any(|before| code.contains(&format!("{before}{name}.")));
        let interfaces = self.wit.interfaces().filter(|(_, id)| *id != self.id).map(|(name, _)| snake(name));
        let interfaces: String = interfaces.filter(is_used).map(|name| format!("from . import {name}\n")).collect();
        let numpy = if words.contains("np") { "import numpy as np\n" } else { "" };
        let types = [
            import("collections.abc", &["Iterable", "Mapping", "Sequence"]),
            numpy.to_owned() + &import("numpy.typing", &["ArrayLike", "NDArray"]),
            import("..compose.order", &["Order"])
                + &import("..engine.core", &["Core"])
                + &import("..engine.sources", &["Source"]),
        ];
        let indented = |group: &String| group.lines().map(|line| format!("    {line}\n")).collect::<String>() + "\n";
        let mut types: String = types.iter().filter(|group| !group.is_empty()).map(indented).collect();
        let mut typing = vec!["Any", "Literal", "NamedTuple", "SupportsIndex"];
        if !types.is_empty() {
            types = format!("\nif {CHECKING}:\n{types}");
            typing.insert(0, CHECKING);
        }
        [
            docs,
            "\nfrom __future__ import annotations\n\n".to_owned(),
            import("types", &["SimpleNamespace"]),
            import("typing", &typing) + "\n",
            import("..", &["recipe as recipes"]),
            import("..engine", &["abi"]),
            import("..engine", &["arguments as check"]),
            import("..engine.instance", &["Answered", "Self"]),
            interfaces,
            types,
        ]
        .concat()
    }

    /// Type aliases for numbers and other plain types, such as `position`. They only document: each one is `int`.
    fn aliases(&self) -> String {
        let mut text = String::new();
        for (name, &id) in &self.wit.interface(self.id).types {
            let def = &self.wit.resolve.types[id];
            // A type that is imported from another interface has no documentation here. It gets no alias.
            if let (TypeDefKind::Type(_), Some(contents)) = (&def.kind, &def.docs.contents)
                && matches!(self.wit.shape(&Type::Id(id)), Shape::Plain(_))
            {
                text += &format!("{} = int\n{}\n", pascal(name), self.known.note(contents, 0));
            }
        }
        text
    }

    fn declaration(&self, name: &str, id: TypeId) -> Result<String, String> {
        let class = pascal(name);
        let about = match self.wit.docs(id) {
            "" => format!("`{name}` of the interface."),
            docs => docs.to_owned(),
        };
        let docs = self.known.docstring(Text::of(&about), &[], 4);
        match self.wit.shape(&Type::Id(id)) {
            Shape::Record(_, record) => {
                let mut text = format!("\nclass {class}(NamedTuple):\n{docs}\n");
                for field in &record.fields {
                    let is_passed = self.is_wide_list(&field.ty) || self.passed.contains(&id);
                    let (name, annotation) = (snake(&field.name), self.annotation(&field.ty, is_passed)?);
                    let hides = match TUPLE_METHODS.contains(&&*name) {
                        true => "  # type: ignore[assignment]  # A tuple has it, too.",
                        false => "",
                    };
                    text += &format!("    {name}: {annotation}{hides}\n{}", self.known.note(wit::text(&field.docs), 4));
                }
                Ok(text + "\n")
            }
            Shape::Enum(_, kinds) => {
                let quoted: Vec<_> = kinds.cases.iter().map(|case| format!("\"{}\"", case.name)).collect();
                let case = |case: &EnumCase| Some(format!("\n\n\"{}\": {}", case.name, case.docs.contents.as_deref()?));
                let cases: String = kinds.cases.iter().filter_map(case).collect();
                let close = if quoted.len() == 1 { ",)\n\n" } else { ")\n\n" };
                let names = spread(&format!("{}_NAMES: tuple[{class}, ...] = (", upper(name)), &quoted, close);
                let class = spread(&format!("{class} = Literal["), &quoted, "]\n");
                Ok(class + &self.known.note(&(about + &cases), 0) + &names)
            }
            Shape::Resource => {
                let mut text = format!("\nclass {class}(abi.Handle):\n{docs}\n");
                for signature in self.wit.functions_of(id) {
                    text += &self.function(&signature)?;
                }
                text += "    def drop(self) -> None:\n        \"\"\"Frees it in the instance. Do not use it after this.\"\"\"\n";
                text += &format!("        call_{}_drop(self.core, self.handle)\n\n", snake(name));
                Ok(text + &self.facade(id, name)?)
            }
            _ => self.wit.refused(&Type::Id(id), "Python").map_err(|error| format!("{name}: {error}")),
        }
    }

    /// The Python function or method for a function of the WIT.
    fn function(&self, signature: &Signature<'_>) -> Result<String, String> {
        let is_free = signature.resource.is_none();
        let name = if signature.is_constructor { "__init__".to_owned() } else { snake(signature.name) };
        let (first, before): (&[&str], &[&str]) = match () {
            () if signature.is_constructor => (&["self", "core: Core"], &["core"]),
            () if signature.is_method => (&["self"], &["self.core", "self.handle"]),
            () if is_free => (&["core: Core"], &["core"]),
            () => return Err(format!("{}: a static function has no form in Python yet", signature.function.name)),
        };
        let mut parameters: Vec<_> = first.iter().map(|&first| first.to_owned()).collect();
        let mut arguments: Vec<_> = before.iter().map(|&before| before.to_owned()).collect();
        for (name, ty) in &signature.parameters {
            parameters.push(format!("{}: {}", snake(name), self.annotation(ty, true)?));
            arguments.push(snake(name));
        }
        let returned = match signature.value {
            Some(ty) if !signature.is_constructor => self.annotation(&ty, false)?,
            _ => "None".to_owned(),
        };
        let (indent, between) = if is_free { (0, "\n") } else { (4, "") };
        let space = " ".repeat(indent);
        let head = spread(&format!("{space}def {name}("), &parameters, &format!(") -> {returned}:\n"));
        // A method that the facade repeats gets only the first sentence as its docstring. Users read the facade, which
        // has the whole text.
        let docs = match self.is_plain(signature) {
            true => self.known.summary(self.text_of(signature), indent + 4),
            false => self.known.docstring(self.text_of(signature), &[], indent + 4),
        };
        let body = match &*returned {
            _ if signature.is_constructor => format!("{space}    self.core = core\n{space}    self.handle = "),
            "None" => format!("{space}    "),
            _ => format!("{space}    return "),
        };
        let call = spread(&format!("{body}{}(", self.call_name(signature)), &arguments, ")\n");
        Ok(format!("{between}{head}{docs}{call}\n"))
    }

    /// The documentation of a function. References to the errors of other functions are replaced with these errors. A
    /// function without a comment gets a sentence with its name.
    fn text_of(&self, signature: &Signature<'_>) -> Text {
        let mut text = Text::of_function(signature, self.wit);
        if text.paragraphs.is_empty() {
            text.paragraphs.push(format!("`{}` of the interface.", signature.name));
        }
        text
    }

    /// The layout of a type, as data for the runtime.
    fn layout(&self, name: &str, id: TypeId) -> Result<String, String> {
        let (own, class) = (names::layout(name), pascal(name));
        Ok(match self.wit.shape(&Type::Id(id)) {
            Shape::Record(_, record) => {
                let fields = record.fields.iter().map(|field| {
                    let is_wide = self.is_wide_list(&field.ty);
                    let held = if is_wide { "abi.WIDE_U64S".to_owned() } else { self.abi(&field.ty)? };
                    Ok(format!("\"{}\": {held}", field.name))
                });
                let fields = fields.collect::<Result<Vec<_>, String>>()?;
                let line = format!("{own} = abi.record({class}, {{{}}})\n", fields.join(", "));
                match line.trim_end().chars().count() <= WIDTH {
                    true => line,
                    false => {
                        let fields: String = fields.iter().map(|field| format!("        {field},\n")).collect();
                        format!("{own} = abi.record(\n    {class},\n    {{\n{fields}    }},\n)\n")
                    }
                }
            }
            Shape::Enum(..) => format!("{own} = abi.enum({}_NAMES)\n", upper(name)),
            _ => format!("{own} = abi.handle({class})\n"),
        })
    }

    /// The call of a function, as data for the runtime.
    fn call(&self, signature: &Signature<'_>) -> Result<String, String> {
        let function = signature.function;
        let value = match signature.value {
            // A constructor returns only the handle: the Python object already exists.
            Some(_) if signature.is_constructor => "abi.U32".to_owned(),
            Some(ty) => self.abi(&ty)?,
            None if signature.fails => "abi.UNIT".to_owned(),
            None => "abi.NOTHING".to_owned(),
        };
        let lift = match function.result.map(|ty| self.wit.shape(&ty)) {
            None => value,
            Some(Shape::Result(_, Some(error))) => format!("abi.fallible({value}, {})", self.abi(&error)?),
            Some(Shape::Result(_, None)) => return Err(format!("{}: a result without an error", function.name)),
            Some(_) if self.wit.resolve.wasm_signature(AbiVariant::GuestExport, function).retptr => {
                format!("abi.returned({value})")
            }
            Some(_) => format!("abi.scalar({value})"),
        };
        let own = signature.is_method.then(|| "\"self\": abi.U32".to_owned());
        let mut parameters: Vec<_> = own.into_iter().collect();
        for (name, ty) in &signature.parameters {
            parameters.push(format!("\"{name}\": {}", self.abi(ty)?));
        }
        let mut given = format!("{{{}}}", parameters.join(", "));
        if given.chars().count() + 5 > WIDTH {
            given = format!("{{\n        {},\n    }}", parameters.join(",\n        "));
        }
        let items = [format!("f\"{{_INTERFACE}}#{}\"", function.name), lift, given];
        Ok(spread(&format!("{} = abi.Function(", self.call_name(signature)), &items, ")\n"))
    }

    fn call_name(&self, signature: &Signature<'_>) -> String {
        let resource = signature.resource.map(|id| format!("{}_", self.wit.name(id)));
        crate::words::snake(&format!("call_{}{}", resource.unwrap_or_default(), signature.name))
    }
}

/// Items between brackets: in one line or, if that is too long, one line for each item.
fn spread(open: &str, items: &[String], close: &str) -> String {
    crate::words::spread(open, items, close, 4)
}
