//! The types and traits of the interface in plain Rust, in the form that wit-bindgen gives them: then the same code implements them for the
//! component, and for programs that link the core. And the signatures of the interface, for what calls it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use wit_parser::{
    Function, FunctionKind, Handle, Interface, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId, TypeOwner,
};

use super::{MADE, formatted, pascal, snake};

/// The file of the crate that implements the interface.
pub fn modules(resolve: &Resolve, package: PackageId) -> Result<BTreeMap<String, String>, String> {
    let wit = Wit { resolve, package };
    let mut text = format!(
        "{MADE}//! The types and traits of the interface, in the form that wit-bindgen gives them.\n#![allow(missing_docs)]\n\n"
    );
    for (name, id) in wit.interfaces() {
        text += &wit.module(name, id)?;
    }
    Ok(BTreeMap::from([("mod.rs".to_owned(), formatted(&text)?)]))
}

/// The interfaces of a package.
#[derive(Clone, Copy)]
pub struct Wit<'a> {
    pub resolve: &'a Resolve,
    pub package: PackageId,
}

/// What a function is to those who call it.
pub struct Signature<'a> {
    pub function: &'a Function,
    /// Its name in Rust.
    pub name: String,
    /// Its parameters without the object itself.
    pub parameters: Vec<(String, Type)>,
    /// What it gives, if it does not fail.
    pub value: Option<Type>,
    /// Whether it can fail by its arguments.
    pub fails: bool,
}

impl<'a> Wit<'a> {
    pub fn interfaces(self) -> impl Iterator<Item = (&'a str, InterfaceId)> {
        self.resolve.packages[self.package].interfaces.iter().map(|(name, id)| (name.as_str(), *id))
    }

    pub fn interface(self, id: InterfaceId) -> &'a Interface {
        &self.resolve.interfaces[id]
    }

    /// The functions of an interface: those of a resource, or those of none.
    pub fn signatures(self, id: InterfaceId, resource: Option<TypeId>) -> impl Iterator<Item = Signature<'a>> {
        let functions = self.interface(id).functions.values();
        functions
            .filter(move |function| function.kind.resource() == resource)
            .map(move |function| self.signature(function))
    }

    fn signature(self, function: &'a Function) -> Signature<'a> {
        let is_constructor = matches!(function.kind, FunctionKind::Constructor(_));
        let own = usize::from(matches!(function.kind, FunctionKind::Method(_)));
        let parameters =
            function.params.iter().skip(own).map(|parameter| (snake(&parameter.name), parameter.ty)).collect();
        let (value, fails) = match function.result {
            Some(Type::Id(id)) => match &self.resolve.types[id].kind {
                TypeDefKind::Result(result) => (result.ok, true),
                _ => (function.result, false),
            },
            other => (other, false),
        };
        let name = if is_constructor { "new".to_owned() } else { snake(function.item_name()) };
        Signature { function, name, parameters, value, fails }
    }

    /// The resources of an interface.
    pub fn resources(self, id: InterfaceId) -> impl Iterator<Item = (&'a str, TypeId)> {
        self.types(id, |kind| matches!(kind, TypeDefKind::Resource))
    }

    /// The types of an interface that are values: records and enums.
    pub fn values(self, id: InterfaceId) -> impl Iterator<Item = (&'a str, TypeId)> {
        self.types(id, |kind| matches!(kind, TypeDefKind::Record(_) | TypeDefKind::Enum(_)))
    }

    fn types(self, id: InterfaceId, of: impl Fn(&TypeDefKind) -> bool) -> impl Iterator<Item = (&'a str, TypeId)> {
        let types = self.interface(id).types.iter().map(|(name, id)| (name.as_str(), *id));
        types.filter(move |(_, id)| of(&self.resolve.types[*id].kind))
    }

    /// The resource of a handle.
    pub fn handle(self, ty: &Type) -> Option<Handle> {
        let Type::Id(id) = ty else { return None };
        match &self.resolve.types[*id].kind {
            TypeDefKind::Handle(handle) => Some(*handle),
            _ => None,
        }
    }

    /// The path of a type of an interface, within a module for each interface.
    pub fn path(self, id: TypeId, within: InterfaceId) -> Result<String, String> {
        let def = &self.resolve.types[id];
        let (Some(name), TypeOwner::Interface(owner)) = (&def.name, def.owner) else {
            return Err(format!("{:?} is of no interface", def.name));
        };
        let name = pascal(name);
        if owner == within {
            return Ok(name);
        }
        let owner = self.interface(owner).name.as_deref().ok_or("an interface has no name")?;
        Ok(format!("super::{}::{name}", snake(owner)))
    }

    /// A type whose values are owned.
    pub fn owned(self, ty: &Type, within: InterfaceId) -> Result<String, String> {
        let id = match ty {
            Type::Id(id) => *id,
            ty => return super::plain(ty),
        };
        let owned = |ty: &Type| self.owned(ty, within);
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(ty) => owned(ty),
            TypeDefKind::List(ty) => Ok(format!("Vec<{}>", owned(ty)?)),
            TypeDefKind::Option(ty) => Ok(format!("Option<{}>", owned(ty)?)),
            TypeDefKind::Tuple(tuple) => {
                let types = tuple.types.iter().map(owned).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("({})", types.join(", ")))
            }
            TypeDefKind::Record(_) | TypeDefKind::Enum(_) => self.path(id, within),
            TypeDefKind::Handle(Handle::Own(id)) => self.path(*id, within),
            TypeDefKind::Handle(Handle::Borrow(id)) => Ok(format!("{}Borrow<'_>", self.path(*id, within)?)),
            other => Err(format!("a {} has no form in Rust yet", other.as_str())),
        }
    }

    fn module(self, name: &str, id: InterfaceId) -> Result<String, String> {
        let mut text = String::new();
        for (name, own) in self.values(id) {
            let name = pascal(name);
            match &self.resolve.types[own].kind {
                TypeDefKind::Enum(cases) => {
                    let cases: Vec<_> = cases.cases.iter().map(|case| pascal(&case.name)).collect();
                    let cases = cases.join(", ");
                    let _ =
                        writeln!(text, "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {name} {{ {cases} }}\n");
                }
                TypeDefKind::Record(record) => {
                    let _ = writeln!(text, "#[derive(Clone, Debug)]\npub struct {name} {{");
                    for field in &record.fields {
                        let _ = writeln!(text, "    pub {}: {},", snake(&field.name), self.owned(&field.ty, id)?);
                    }
                    text += "}\n\n";
                }
                _ => {}
            }
        }
        let mut guest = String::new();
        for (name, own) in self.resources(id) {
            let class = pascal(name);
            let _ = writeln!(guest, "    type {class}: Guest{class};");
            let _ = writeln!(text, "pub trait Guest{class}: Sized {{");
            for signature in self.signatures(id, Some(own)) {
                text += &self.declared(&signature, id)?;
            }
            let _ = writeln!(
                text,
                "}}\n\n/// A [`Guest{class}`] that a function makes.\npub struct {class}(pub <crate::Component as Guest>::{class});\n\n\
                 impl {class} {{\n    pub fn new(made: <crate::Component as Guest>::{class}) -> Self {{\n        Self(made)\n    }}\n}}\n\n\
                 /// A [`Guest{class}`] that is passed.\npub struct {class}Borrow<'a>(pub &'a <crate::Component as Guest>::{class});\n\n\
                 impl {class}Borrow<'_> {{\n    pub fn get(&self) -> &<crate::Component as Guest>::{class} {{\n        self.0\n    }}\n}}\n"
            );
        }
        for signature in self.signatures(id, None) {
            guest += &self.declared(&signature, id)?;
        }
        if !guest.is_empty() {
            let _ = writeln!(text, "pub trait Guest {{\n{guest}}}");
        }
        let uses: String = [("String", "string"), ("Vec", "vec")]
            .into_iter()
            .filter(|(name, _)| text.contains(name))
            .map(|(name, module)| format!("    use alloc::{module}::{name};\n"))
            .collect();
        Ok(format!("pub mod {} {{\n{uses}\n{text}}}\n\n", snake(name)))
    }

    /// A function of a trait.
    fn declared(self, signature: &Signature, within: InterfaceId) -> Result<String, String> {
        let Signature { function, name, parameters, value, fails } = signature;
        let mut all =
            if matches!(function.kind, FunctionKind::Method(_)) { vec!["&self".to_owned()] } else { Vec::new() };
        for (name, ty) in parameters {
            all.push(format!("{name}: {}", self.owned(ty, within)?));
        }
        let value = match value {
            _ if matches!(function.kind, FunctionKind::Constructor(_)) => Some("Self".to_owned()),
            value => value.map(|ty| self.owned(&ty, within)).transpose()?,
        };
        let result = match (value, fails) {
            (value, true) => format!(" -> Result<{}, super::types::Failure>", value.as_deref().unwrap_or("()")),
            (Some(value), false) => format!(" -> {value}"),
            (None, false) => String::new(),
        };
        Ok(format!("    fn {name}({}){result};\n", all.join(", ")))
    }
}
