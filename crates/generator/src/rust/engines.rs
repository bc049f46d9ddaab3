//! The calls of the interface for each engine: a method for each function of a resource, and a free function for each
//! other function. Both engines get the same signatures, so that their callers do not differ.

use std::fmt::Write as _;

use wit_parser::{InterfaceId, Type};

use super::{MADE, types};
use crate::wit::{Shape, Signature, Wit};
use crate::words::{pascal, snake};

/// The engine that answers calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The component, in an instance of wasmtime.
    Component,
    /// The core, linked.
    Native,
}
use Engine::{Component, Native};

/// The module of an engine.
pub fn module(wit: Wit<'_>, engine: Engine) -> Result<String, String> {
    let what = match engine {
        Component => "over the component",
        Native => "over the core, which is linked",
    };
    let mut text = format!("{MADE}//! The calls of the interface, {what}.\n\n");
    for (name, id) in wit.interfaces() {
        text += &Calls { wit, engine, name: &snake(name), id }.module()?;
    }
    Ok(text)
}

struct Calls<'a> {
    wit: Wit<'a>,
    engine: Engine,
    name: &'a str,
    id: InterfaceId,
}

impl Calls<'_> {
    fn module(&self) -> Result<String, String> {
        let Self { wit, engine, name, id } = *self;
        let from = match engine {
            Component => format!("crate::engine::exports::{name}"),
            Native => format!("samedeal_interface::bindings::{name}"),
        };
        let mut text = String::new();
        for (resource, own) in wit.resources(id) {
            let class = pascal(resource);
            let _ = match engine {
                Component => writeln!(text, "/// A `{resource}` in an instance.\npub enum {class} {{}}\n"),
                // This type replaces the wrapper of the same name in `bindings`.
                Native => writeln!(text, "pub use samedeal_interface::{name}::{class};\n"),
            };
            let calls = wit.signatures(id, Some(own)).map(|signature| self.call(&signature, resource));
            let _ = writeln!(text, "impl Object<{class}> {{ {} }}\n", calls.collect::<Result<String, _>>()?);
        }
        text += &wit.signatures(id, None).map(|signature| self.call(&signature, "")).collect::<Result<String, _>>()?;
        // With the core, the methods of resources are in traits, which are imported too.
        let has_any = engine == Native || wit.types(id).count() > wit.resources(id).count();
        let mut uses = if has_any { format!("pub use {from}::*;\n") } else { String::new() };
        let used: Vec<_> = ["Instance", "Object"].into_iter().filter(|name| text.contains(name)).collect();
        if !used.is_empty() {
            let _ = writeln!(uses, "use crate::Error;\nuse crate::engine::{{{}}};", used.join(", "));
        }
        Ok(format!("pub mod {name} {{\n{uses}\n{text}}}\n\n"))
    }

    /// A function of a resource, or a free one. A new object that is made from another object is in the same instance.
    fn call(&self, signature: &Signature<'_>, resource: &str) -> Result<String, String> {
        let lent = self.lent(signature)?;
        let made = match signature.value.map(|ty| self.wit.shape(&ty)) {
            Some(Shape::Own(id)) => Some(format!("Object<{}>", types::path_within(self.wit, id, self.id))),
            _ => None,
        };
        let ask = match &made {
            Some(_) => "another",
            None if signature.fails => "ask",
            None => "call",
        };
        let (first, asked, own) = match &lent {
            _ if signature.is_method => (Some("&self"), format!("self.{ask}("), "own"),
            Some(lent) => (None, format!("{lent}.another("), lent.as_str()),
            None if signature.is_constructor => (Some("instance: Instance"), "Self::make(instance, ".to_owned(), ""),
            None => (Some("instance: &mut Instance"), format!("instance.{ask}("), ""),
        };
        let mut parameters: Vec<_> = first.into_iter().map(str::to_owned).collect();
        for (name, ty) in &signature.parameters {
            parameters.push(format!("{}: {}", snake(name), self.passed(ty)?));
        }
        let call = match self.engine {
            Component => self.component(signature, resource, own, made.is_some()),
            Native => self.native(signature, resource, own, made.is_some()),
        };
        let returned = match (made, signature.value) {
            (Some(object), _) if object == format!("Object<{}>", pascal(resource)) => "Self".to_owned(),
            (Some(object), _) => object,
            (None, Some(ty)) => types::owned(self.wit, &ty, &|id| Ok(types::path_within(self.wit, id, self.id)))?,
            (None, None) => "()".to_owned(),
        };
        let name = if signature.is_constructor { "new".to_owned() } else { snake(signature.name) };
        let parameters = parameters.join(", ");
        Ok(format!("pub fn {name}({parameters}) -> Result<{returned}, Error> {{ {asked}{call}) }}\n\n"))
    }

    fn component(&self, signature: &Signature<'_>, resource: &str, own: &str, makes: bool) -> String {
        let on = if resource.is_empty() { String::new() } else { format!(".{}()", snake(resource)) };
        let names = if own.is_empty() { String::new() } else { format!(", {own}") };
        let passed = if signature.is_method { ", own" } else { "" };
        let arguments: String = signature.parameters.iter().map(|(name, _)| format!(", {}", snake(name))).collect();
        // `another` expects a result of a result, also of a function that cannot fail.
        let same = if makes && !signature.fails { ".map(Ok)" } else { "" };
        format!(
            "|exports, store{names}| exports.samedeal_deal_{}(){on}.call_{}(store{passed}{arguments}){same}",
            self.name,
            snake(signature.name)
        )
    }

    fn native(&self, signature: &Signature<'_>, resource: &str, own: &str, makes: bool) -> String {
        let function = match signature.is_constructor {
            true => format!("{}::new", pascal(resource)),
            false if signature.is_method => format!("own.{}", snake(signature.name)),
            false => format!("samedeal_interface::Component::{}", snake(signature.name)),
        };
        let arguments: Vec<_> = signature.parameters.iter().map(|(name, ty)| self.crossing(&snake(name), ty)).collect();
        if resource.is_empty() && arguments.is_empty() {
            return function;
        }
        let call = format!("{function}({})", arguments.join(", "));
        let call = match (makes, signature.is_constructor, signature.fails) {
            (true, true, false) => format!("Ok({call})"),
            (true, false, true) => format!("Ok({call}?.0)"),
            (true, false, false) => format!("Ok({call}.0)"),
            _ => call,
        };
        format!("|{own}| {call}")
    }

    /// The parameter of a constructor that borrows an object, if there is one.
    fn lent(&self, signature: &Signature<'_>) -> Result<Option<String>, String> {
        let is_lent = |ty: &Type| matches!(self.wit.shape(ty), Shape::Borrow(_));
        let lent: Vec<_> = signature.parameters.iter().filter(|(_, ty)| is_lent(ty)).collect();
        match lent[..] {
            [] => Ok(None),
            [(name, _)] if signature.is_constructor => Ok(Some(snake(name))),
            _ => Err(format!("{}: a method of two objects has no form in Rust yet", signature.function.name)),
        }
    }

    /// The type of an argument.
    fn passed(&self, ty: &Type) -> Result<String, String> {
        let path = |id| Ok(types::path_within(self.wit, id, self.id));
        match self.wit.shape(ty) {
            Shape::Borrow(id) => Ok(format!("&Object<{}>", path(id)?)),
            _ => types::passed(self.wit, ty, &path),
        }
    }

    /// The expression that passes an argument to the core, which takes texts and lists as owned values.
    fn crossing(&self, name: &str, ty: &Type) -> String {
        let is_long = |ty: &Type| matches!(self.wit.shape(ty), Shape::Plain(Type::String) | Shape::List(_));
        match self.wit.shape(ty) {
            Shape::Borrow(id) => format!("{}Borrow({name})", pascal(self.wit.name(id))),
            Shape::Option(ty) if is_long(&ty) => format!("{name}.map(Into::into)"),
            _ if is_long(ty) => format!("{name}.into()"),
            _ => name.to_owned(),
        }
    }
}
