//! The calls of the interface over each engine: a method for each function of a resource, and a function for each other one. What calls
//! them is the same for both engines.

use std::fmt::Write as _;

use wit_parser::{FunctionKind, Handle, InterfaceId, Type, TypeDefKind, TypeId};

use super::interface::{Signature, Wit};
use super::{MADE, formatted, pascal, snake};

/// What answers calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The component, in an instance of wasmtime.
    Component,
    /// The core, linked.
    Native,
}

impl Engine {
    /// The name of its module.
    pub fn name(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Native => "native",
        }
    }
}

/// The module of an engine.
pub fn module(wit: Wit<'_>, engine: Engine) -> Result<String, String> {
    let what = match engine {
        Engine::Component => "over the component",
        Engine::Native => "over the core, which is linked",
    };
    let mut text = format!("{MADE}//! The calls of the interface, {what}.\n\n");
    for (name, id) in wit.interfaces() {
        text += &Calls { wit, engine, name, id }.module()?;
    }
    formatted(&text)
}

struct Calls<'a> {
    wit: Wit<'a>,
    engine: Engine,
    name: &'a str,
    id: InterfaceId,
}

impl Calls<'_> {
    fn module(&self) -> Result<String, String> {
        let name = snake(self.name);
        let from = match self.engine {
            Engine::Component => format!("crate::engine::exports::{name}"),
            Engine::Native => format!("samedeal_interface::bindings::{name}"),
        };
        let mut text = String::new();
        for (name, resource) in self.wit.resources(self.id) {
            let class = pascal(name);
            match self.engine {
                Engine::Component => _ = writeln!(text, "/// A `{name}` in an instance.\npub enum {class} {{}}\n"),
                // In place of the one that only wraps it.
                Engine::Native => _ = writeln!(text, "pub use samedeal_interface::{}::{class};\n", snake(self.name)),
            }
            let _ = writeln!(text, "impl Object<{class}> {{");
            for signature in self.wit.signatures(self.id, Some(resource)) {
                text += &self.of_resource(&signature, name)?;
                text.push('\n');
            }
            text += "}\n\n";
        }
        for signature in self.wit.signatures(self.id, None) {
            text += &self.free(&signature)?;
            text.push('\n');
        }
        // The traits of resources are what the core has beside values.
        let has_any = self.engine == Engine::Native || self.wit.values(self.id).next().is_some();
        let mut uses = if has_any { format!("pub use {from}::*;\n") } else { String::new() };
        let used: Vec<_> = ["Instance", "Object"].into_iter().filter(|name| text.contains(name)).collect();
        if !used.is_empty() {
            uses += &format!("use crate::Error;\nuse crate::engine::{{{}}};\n", used.join(", "));
        }
        Ok(format!("pub mod {name} {{\n{uses}\n{text}}}\n\n"))
    }

    /// A method or a constructor. What is made of an object lives where that is.
    fn of_resource(&self, signature: &Signature<'_>, resource: &str) -> Result<String, String> {
        let Signature { function, name, value, fails, .. } = signature;
        let is_constructor = matches!(function.kind, FunctionKind::Constructor(_));
        let (lent, parameters) = self.parameters(signature)?;
        if !is_constructor && (lent.is_some() || !matches!(function.kind, FunctionKind::Method(_))) {
            return Err(format!("{}: no method of one object has a form in Rust yet", function.name));
        }
        let class = pascal(resource);
        let first = match (is_constructor, &lent) {
            (true, Some(_)) => None,
            (true, None) => Some("instance: Instance"),
            (false, _) => Some("&self"),
        };
        let made = value.and_then(|ty| match self.wit.handle(&ty) {
            Some(Handle::Own(id)) => Some(id),
            _ => None,
        });
        let (returned, ask) = match (made, fails) {
            (Some(id), _) => (self.object(id)?, if is_constructor && lent.is_none() { "make" } else { "another" }),
            (None, fails) => (self.value(value)?, if *fails { "ask" } else { "call" }),
        };
        let (on, names) = match (is_constructor, &lent) {
            (true, Some(lent)) => (lent.clone(), lent.clone()),
            (true, None) => ("Self::make".to_owned(), String::new()),
            (false, _) => ("self".to_owned(), "own".to_owned()),
        };
        let all = first.into_iter().map(str::to_owned).chain(parameters).collect::<Vec<_>>().join(", ");
        let call = match self.engine {
            Engine::Component => {
                let names = if names.is_empty() { names } else { format!(", {names}") };
                let called = if is_constructor { "call_constructor".to_owned() } else { format!("call_{name}") };
                let own = if is_constructor { "" } else { ", own" };
                let interface = format!("exports.samedeal_deal_{}().{}()", snake(self.name), snake(resource));
                // What cannot fail by its arguments comes in the same form.
                let call = format!("{interface}.{called}(store{own}{})", self.arguments(signature));
                let call = if made.is_some() && !fails { format!("{call}.map(Ok)") } else { call };
                format!("|exports, store{names}| {call}")
            }
            Engine::Native => {
                let arguments = self.arguments(signature);
                let arguments = arguments.trim_start_matches(", ");
                let call = if is_constructor {
                    format!("{class}::new({arguments})")
                } else {
                    format!("own.{name}({arguments})")
                };
                let call = match (made.is_some(), is_constructor, fails) {
                    (true, true, false) => format!("Ok({call})"),
                    (true, false, true) => format!("Ok({call}?.0)"),
                    (true, false, false) => format!("Ok({call}.0)"),
                    _ => call,
                };
                format!("|{names}| {call}")
            }
        };
        let asked = match ask {
            "make" => format!("{on}(instance, {call})"),
            ask => format!("{on}.{ask}({call})"),
        };
        let returned = if returned == format!("Object<{class}>") { "Self".to_owned() } else { returned };
        Ok(format!("    pub fn {name}({all}) -> Result<{returned}, Error> {{\n        {asked}\n    }}\n"))
    }

    fn free(&self, signature: &Signature<'_>) -> Result<String, String> {
        let Signature { name, value, fails, .. } = signature;
        let (_, parameters) = self.parameters(signature)?;
        let all = ["instance: &mut Instance".to_owned()].into_iter().chain(parameters).collect::<Vec<_>>().join(", ");
        let ask = if *fails { "ask" } else { "call" };
        let arguments = self.arguments(signature);
        let call = match self.engine {
            Engine::Component => {
                format!("|exports, store| exports.samedeal_deal_{}().call_{name}(store{arguments})", snake(self.name))
            }
            Engine::Native if arguments.is_empty() => format!("samedeal_interface::Component::{name}"),
            Engine::Native => {
                format!("|| samedeal_interface::Component::{name}({})", arguments.trim_start_matches(", "))
            }
        };
        Ok(format!(
            "pub fn {name}({all}) -> Result<{}, Error> {{\n    instance.{ask}({call})\n}}\n",
            self.value(value)?
        ))
    }

    /// The parameters, and the name of the object that is lent to a constructor.
    fn parameters(&self, signature: &Signature<'_>) -> Result<(Option<String>, Vec<String>), String> {
        let (mut lent, mut parameters) = (None, Vec::new());
        for (name, ty) in &signature.parameters {
            if let Some(Handle::Borrow(id)) = self.wit.handle(ty) {
                parameters.push(format!("{name}: &{}", self.object(id)?));
                if lent.replace(name.clone()).is_some() {
                    return Err(format!("{}: objects of two instances do not meet", signature.name));
                }
            } else {
                parameters.push(format!("{name}: {}", self.passed(ty)?));
            }
        }
        Ok((lent, parameters))
    }

    /// What is passed on, after a comma.
    fn arguments(&self, signature: &Signature<'_>) -> String {
        let argument = |(name, ty): &(String, Type)| match (self.engine, self.wit.handle(ty)) {
            (Engine::Component, _) => format!(", {name}"),
            (Engine::Native, Some(handle)) => {
                let (Handle::Own(id) | Handle::Borrow(id)) = handle;
                format!(", {}Borrow({name})", self.class(id))
            }
            (Engine::Native, None) => match self.length(ty) {
                Length::Short => format!(", {name}"),
                Length::Long => format!(", {name}.into()"),
                Length::MaybeLong => format!(", {name}.map(Into::into)"),
            },
        };
        signature.parameters.iter().map(argument).collect()
    }

    fn length(&self, ty: &Type) -> Length {
        let id = match ty {
            Type::String => return Length::Long,
            Type::Id(id) => *id,
            _ => return Length::Short,
        };
        match &self.wit.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.length(ty),
            TypeDefKind::List(_) => Length::Long,
            TypeDefKind::Option(ty) if self.length(ty) != Length::Short => Length::MaybeLong,
            _ => Length::Short,
        }
    }

    /// The type of an argument.
    fn passed(&self, ty: &Type) -> Result<String, String> {
        let id = match ty {
            Type::String => return Ok("&str".to_owned()),
            Type::Id(id) => *id,
            ty => return super::plain(ty),
        };
        match &self.wit.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.passed(ty),
            TypeDefKind::List(ty) => Ok(format!("&[{}]", self.wit.owned(ty, self.id)?)),
            TypeDefKind::Option(ty) => Ok(format!("Option<{}>", self.passed(ty)?)),
            _ => self.wit.owned(ty, self.id),
        }
    }

    fn value(&self, value: &Option<Type>) -> Result<String, String> {
        value.map_or_else(|| Ok("()".to_owned()), |ty| self.wit.owned(&ty, self.id))
    }

    fn class(&self, resource: TypeId) -> String {
        pascal(self.wit.resolve.types[resource].name.as_deref().unwrap_or_default())
    }

    fn object(&self, resource: TypeId) -> Result<String, String> {
        Ok(format!("Object<{}>", self.wit.path(resource, self.id)?))
    }
}

/// Whether values are texts and lists, which are passed by reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Short,
    Long,
    MaybeLong,
}
