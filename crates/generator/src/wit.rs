//! The interfaces of a package, as all generators read them.

use std::collections::BTreeSet;

use wit_parser::{
    Docs, Enum, Function, FunctionKind, Handle, Interface, InterfaceId, PackageId, Record, Resolve, Type, TypeDefKind,
    TypeId, TypeOwner,
};

#[derive(Clone, Copy)]
pub struct Wit<'a> {
    pub resolve: &'a Resolve,
    pub package: PackageId,
}

/// The shape of a type, with aliases resolved.
pub enum Shape<'a> {
    Plain(Type),
    List(Type),
    Option(Type),
    Tuple(&'a [Type]),
    /// The type of the value, and the type of the error.
    Result(Option<Type>, Option<Type>),
    Record(TypeId, &'a Record),
    Enum(TypeId, &'a Enum),
    /// An object whose ownership is passed.
    Own(TypeId),
    /// An object that is borrowed.
    Borrow(TypeId),
    Resource,
    /// A shape that no interface of the project has.
    Other,
}

/// A function of the WIT, from the view of its callers.
pub struct Signature<'a> {
    pub function: &'a Function,
    pub interface: InterfaceId,
    pub resource: Option<TypeId>,
    /// The name, without the resource. The name of a constructor is `constructor`.
    pub name: &'a str,
    pub docs: &'a str,
    pub is_constructor: bool,
    pub is_method: bool,
    /// The parameters, without `self`.
    pub parameters: Vec<(&'a str, Type)>,
    /// The type of the result on success.
    pub value: Option<Type>,
    /// Whether its arguments can make it fail: it returns a `result`.
    pub fails: bool,
}

/// The text of a comment.
pub fn text(docs: &Docs) -> &str {
    docs.contents.as_deref().unwrap_or_default()
}

impl<'a> Wit<'a> {
    pub fn interfaces(self) -> impl Iterator<Item = (&'a str, InterfaceId)> {
        self.resolve.packages[self.package].interfaces.iter().map(|(name, id)| (name.as_str(), *id))
    }

    pub fn interface(self, id: InterfaceId) -> &'a Interface {
        &self.resolve.interfaces[id]
    }

    /// A resource by its name. Two interfaces never use the same name.
    pub fn resource(self, name: &str) -> Option<TypeId> {
        let mut all = self.interfaces().flat_map(|(_, id)| self.resources(id));
        all.find(|(own, _)| *own == name).map(|(_, id)| id)
    }

    /// The functions of a resource in an interface; if `resource` is none, the free functions.
    pub fn signatures(self, id: InterfaceId, resource: Option<TypeId>) -> impl Iterator<Item = Signature<'a>> {
        self.functions(id).filter(move |signature| signature.resource == resource)
    }

    /// The functions of a resource.
    pub fn functions_of(self, resource: TypeId) -> impl Iterator<Item = Signature<'a>> {
        self.owner(resource).into_iter().flat_map(move |id| self.signatures(id, Some(resource)))
    }

    /// A function of a resource.
    pub fn function(self, resource: TypeId, name: &str) -> Option<Signature<'a>> {
        self.functions_of(resource).find(|own| own.name == name)
    }

    /// All functions of an interface.
    pub fn functions(self, id: InterfaceId) -> impl Iterator<Item = Signature<'a>> {
        self.interface(id).functions.values().map(move |function| {
            let is_constructor = matches!(function.kind, FunctionKind::Constructor(_));
            let is_method = matches!(function.kind, FunctionKind::Method(_));
            let parameters = function.params.iter().skip(usize::from(is_method));
            let (value, fails) = match function.result.map(|ty| self.shape(&ty)) {
                Some(Shape::Result(value, _)) => (value, true),
                _ => (function.result, false),
            };
            Signature {
                function,
                interface: id,
                resource: function.kind.resource(),
                name: if is_constructor { "constructor" } else { function.item_name() },
                docs: text(&function.docs),
                is_constructor,
                is_method,
                parameters: parameters.map(|parameter| (parameter.name.as_str(), parameter.ty)).collect(),
                value,
                fails,
            }
        })
    }

    /// The resources of an interface.
    pub fn resources(self, id: InterfaceId) -> impl Iterator<Item = (&'a str, TypeId)> {
        self.types(id).filter(move |(_, id)| matches!(self.shape(&Type::Id(*id)), Shape::Resource))
    }

    /// The types that an interface defines, without aliases.
    pub fn types(self, id: InterfaceId) -> impl Iterator<Item = (&'a str, TypeId)> {
        let types = self.interface(id).types.iter().map(|(name, id)| (name.as_str(), *id));
        types.filter(move |(_, own)| !matches!(self.resolve.types[*own].kind, TypeDefKind::Type(_)))
    }

    pub fn name(self, id: TypeId) -> &'a str {
        self.resolve.types[id].name.as_deref().unwrap_or_default()
    }

    /// The interface of a type.
    pub fn owner(self, id: TypeId) -> Option<InterfaceId> {
        match self.resolve.types[id].owner {
            TypeOwner::Interface(owner) => Some(owner),
            _ => None,
        }
    }

    /// The name of the interface of a type.
    pub fn owner_name(self, id: TypeId) -> &'a str {
        self.owner(id).and_then(|owner| self.interface(owner).name.as_deref()).unwrap_or_default()
    }

    /// The comment of a type.
    pub fn docs(self, id: TypeId) -> &'a str {
        text(&self.resolve.types[id].docs)
    }

    /// The error that a language has no form for a type.
    pub fn refused<T>(self, ty: &Type, language: &str) -> Result<T, String> {
        let kind = match *ty {
            Type::Id(id) => format!("a {}", self.resolve.types[self.root(id)].kind.as_str()),
            plain => format!("{plain:?}"),
        };
        Err(format!("{kind} has no form in {language} yet"))
    }

    pub fn shape(self, ty: &Type) -> Shape<'a> {
        let &Type::Id(id) = ty else { return Shape::Plain(*ty) };
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.shape(ty),
            TypeDefKind::List(ty) => Shape::List(*ty),
            TypeDefKind::Option(ty) => Shape::Option(*ty),
            TypeDefKind::Tuple(tuple) => Shape::Tuple(&tuple.types),
            TypeDefKind::Result(result) => Shape::Result(result.ok, result.err),
            TypeDefKind::Record(record) => Shape::Record(id, record),
            TypeDefKind::Enum(cases) => Shape::Enum(id, cases),
            TypeDefKind::Handle(Handle::Own(id)) => Shape::Own(self.root(*id)),
            TypeDefKind::Handle(Handle::Borrow(id)) => Shape::Borrow(self.root(*id)),
            TypeDefKind::Resource => Shape::Resource,
            _ => Shape::Other,
        }
    }

    /// The type behind aliases.
    fn root(self, id: TypeId) -> TypeId {
        match self.resolve.types[id].kind {
            TypeDefKind::Type(Type::Id(of)) => self.root(of),
            _ => id,
        }
    }

    /// Whether every value of a number type is exact as a floating-point number: the type is `u53` or an alias of it.
    pub fn is_exact(self, ty: &Type) -> bool {
        let Type::Id(id) = ty else { return false };
        let TypeDefKind::Type(inner) = &self.resolve.types[*id].kind else { return false };
        self.name(*id) == "u53" || self.is_exact(inner)
    }

    /// Whether a type contains texts or lists, so that it is not `Copy`.
    pub fn is_long(self, ty: &Type) -> bool {
        match self.shape(ty) {
            Shape::Plain(ty) => ty == Type::String,
            Shape::List(_) => true,
            Shape::Option(ty) => self.is_long(&ty),
            Shape::Record(_, record) => record.fields.iter().any(|field| self.is_long(&field.ty)),
            _ => false,
        }
    }

    /// The names of functions that `is_named` selects, and of all parameters and fields. Each language spells these
    /// names in its own way.
    pub fn names(self, is_named: impl Fn(&Signature<'_>) -> bool) -> BTreeSet<&'a str> {
        let mut names = BTreeSet::new();
        for (_, id) in self.interfaces() {
            for signature in self.functions(id) {
                if is_named(&signature) {
                    names.insert(signature.name);
                }
                names.extend(signature.parameters.iter().map(|(name, _)| *name));
            }
            for (_, own) in self.types(id) {
                if let Shape::Record(_, record) = self.shape(&Type::Id(own)) {
                    names.extend(record.fields.iter().map(|field| field.name.as_str()));
                }
            }
        }
        names
    }
}
