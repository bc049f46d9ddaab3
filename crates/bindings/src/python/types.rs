//! Types of the WIT in Python: as annotations, and as layouts for the runtime.

use wit_parser::{Function, Handle, Type, TypeDefKind, TypeId, TypeOwner};

use super::names::{layout, pascal, snake};
use super::{Module, Use};

impl Module<'_> {
    /// What a `result` holds.
    pub(super) fn result(&self, ty: &Type) -> Option<(Option<Type>, Option<Type>)> {
        let &Type::Id(id) = ty else { return None };
        match &self.resolve.types[self.root(id)].kind {
            TypeDefKind::Result(result) => Some((result.ok, result.err)),
            _ => None,
        }
    }

    pub(super) fn value(&self, ty: &Type) -> Option<Type> {
        self.result(ty).and_then(|(value, _)| value)
    }

    pub(super) fn is_empty_result(&self, function: &Function) -> bool {
        function.result.as_ref().and_then(|ty| self.result(ty)).is_some_and(|(value, _)| value.is_none())
    }

    /// The type that a name stands for in the end.
    pub(super) fn root(&self, mut id: TypeId) -> TypeId {
        while let TypeDefKind::Type(Type::Id(inner)) = self.resolve.types[id].kind {
            id = inner;
        }
        id
    }

    /// What a name of a plain type stands for.
    pub(super) fn plain(&self, ty: &Type) -> Type {
        match *ty {
            Type::Id(id) => match self.resolve.types[self.root(id)].kind {
                TypeDefKind::Type(inner) => inner,
                _ => Type::Id(self.root(id)),
            },
            other => other,
        }
    }

    /// Whether a type is a list of numbers of 64 bits. Those of `u53` are handed out as signed numbers, which is what NumPy
    /// indexes with.
    pub(super) fn is_wide_list(&self, ty: &Type) -> bool {
        matches!(ty, &Type::Id(id) if matches!(self.resolve.types[id].kind, TypeDefKind::List(Type::U64)))
    }

    /// A type of this or another interface, by its name there as `form` has it.
    pub(super) fn named(&self, id: TypeId, form: fn(&str) -> String) -> Result<String, String> {
        let def = &self.resolve.types[id];
        let name = form(def.name.as_deref().ok_or("a type has no name")?);
        match def.owner {
            TypeOwner::Interface(owner) if owner != self.id => {
                let module = snake(self.resolve.interfaces[owner].name.as_deref().ok_or("an interface has no name")?);
                self.uses(Use::Interface(module.clone()));
                Ok(format!("{module}.{name}"))
            }
            _ => Ok(name),
        }
    }

    /// The type in Python: of what callers pass, or of what they get.
    pub(super) fn annotation(&self, ty: &Type, passed: bool) -> Result<String, String> {
        let id = match self.plain(ty) {
            Type::Bool => return Ok("bool".into()),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S32 | Type::S64 => return Ok("int".into()),
            Type::String => return Ok("str".into()),
            Type::Id(id) => id,
            other => return Err(format!("{other:?} has no form in Python yet")),
        };
        let def = &self.resolve.types[id];
        Ok(match &def.kind {
            TypeDefKind::Record(_) | TypeDefKind::Variant(_) | TypeDefKind::Enum(_) | TypeDefKind::Resource => {
                self.named(id, pascal)?
            }
            TypeDefKind::Handle(Handle::Own(held) | Handle::Borrow(held)) => self.named(self.root(*held), pascal)?,
            TypeDefKind::Option(inner) => format!("{} | None", self.annotation(inner, passed)?),
            TypeDefKind::Tuple(tuple) => {
                let all: Result<Vec<_>, _> = tuple.types.iter().map(|ty| self.annotation(ty, passed)).collect();
                format!("tuple[{}]", all?.join(", "))
            }
            TypeDefKind::List(inner) => match self.plain(inner) {
                Type::U32 => self.array("uint32"),
                Type::U64 => self.array(if passed { "uint64" } else { "int64" }),
                _ if passed => {
                    self.uses(Use::Sequence);
                    format!("Sequence[{}]", self.annotation(inner, passed)?)
                }
                _ => format!("tuple[{}, ...]", self.annotation(inner, passed)?),
            },
            other => return Err(format!("a {} has no form in Python here", other.as_str())),
        })
    }

    pub(super) fn array(&self, dtype: &str) -> String {
        self.uses(Use::Array);
        format!("NDArray[np.{dtype}]")
    }

    /// The type as the runtime has it.
    pub(super) fn abi(&self, ty: &Type) -> Result<String, String> {
        let id = match self.plain(ty) {
            Type::Id(id) => id,
            Type::Bool => return Ok("abi.BOOL".into()),
            Type::String => return Ok("abi.STRING".into()),
            plain @ (Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S32 | Type::S64) => {
                return Ok(format!("abi.{plain:?}"));
            }
            other => return Err(format!("{other:?} has no form in Python yet")),
        };
        Ok(match &self.resolve.types[id].kind {
            TypeDefKind::Record(_) | TypeDefKind::Variant(_) | TypeDefKind::Enum(_) | TypeDefKind::Resource => {
                self.named(id, layout)?
            }
            TypeDefKind::Handle(Handle::Own(held) | Handle::Borrow(held)) => self.named(self.root(*held), layout)?,
            TypeDefKind::Option(inner) => format!("abi.option({})", self.abi(inner)?),
            TypeDefKind::Tuple(tuple) => {
                let all: Result<Vec<_>, _> = tuple.types.iter().map(|ty| self.abi(ty)).collect();
                format!("abi.group({})", all?.join(", "))
            }
            TypeDefKind::List(inner) => match self.plain(inner) {
                Type::U32 => "abi.U32S".into(),
                Type::U64 => "abi.U64S".into(),
                _ => format!("abi.listing({})", self.abi(inner)?),
            },
            other => return Err(format!("a {} has no form in Python here", other.as_str())),
        })
    }
}
