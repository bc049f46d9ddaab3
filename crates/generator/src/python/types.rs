//! Types of the WIT in Python: as annotations, and as layouts for the runtime.

use wit_parser::{Type, TypeId};

use super::Module;
use super::names::{layout, snake};
use crate::wit::Shape;
use crate::words::pascal;

impl Module<'_> {
    /// Whether a type is a list of `u64`. A list of `u53` comes as signed numbers, because NumPy indexes with these.
    pub(super) fn is_wide_list(&self, ty: &Type) -> bool {
        matches!(self.wit.shape(ty), Shape::List(Type::U64))
    }

    /// The name of a type, spelled by `form`, with the module before it if the type is of another interface.
    fn named(&self, id: TypeId, form: fn(&str) -> String) -> String {
        let name = form(self.wit.name(id));
        match self.wit.owner(id) == Some(self.id) {
            true => name,
            false => format!("{}.{name}", snake(self.wit.owner_name(id))),
        }
    }

    /// The annotation of a type: for arguments if `passed`, otherwise for results.
    pub(super) fn annotation(&self, ty: &Type, passed: bool) -> Result<String, String> {
        let inner = |ty: &Type| self.annotation(ty, passed);
        Ok(match self.wit.shape(ty) {
            Shape::Plain(Type::Bool) => "bool".into(),
            Shape::Plain(Type::U32 | Type::U64 | Type::S64) => "int".into(),
            Shape::Plain(Type::String) => "str".into(),
            Shape::Record(id, _) | Shape::Enum(id, _) | Shape::Own(id) | Shape::Borrow(id) => self.named(id, pascal),
            Shape::Option(ty) => format!("{} | None", inner(&ty)?),
            Shape::Tuple(types) => {
                format!("tuple[{}]", types.iter().map(inner).collect::<Result<Vec<_>, _>>()?.join(", "))
            }
            Shape::List(ty) => match self.wit.shape(&ty) {
                Shape::Plain(Type::U32) => "NDArray[np.uint32]".into(),
                Shape::Plain(Type::U64) if passed => "NDArray[np.uint64]".into(),
                Shape::Plain(Type::U64) => "NDArray[np.int64]".into(),
                _ if passed => format!("Sequence[{}]", inner(&ty)?),
                _ => format!("tuple[{}, ...]", inner(&ty)?),
            },
            _ => return self.wit.refused(ty, "Python"),
        })
    }

    /// The layout of a type, as an expression of the runtime.
    pub(super) fn abi(&self, ty: &Type) -> Result<String, String> {
        let inner = |ty: &Type| self.abi(ty);
        Ok(match self.wit.shape(ty) {
            Shape::Plain(plain @ (Type::Bool | Type::U32 | Type::U64 | Type::S64 | Type::String)) => {
                format!("abi.{}", format!("{plain:?}").to_uppercase())
            }
            Shape::Record(id, _) | Shape::Enum(id, _) | Shape::Own(id) | Shape::Borrow(id) => self.named(id, layout),
            Shape::Option(ty) => format!("abi.option({})", inner(&ty)?),
            Shape::Tuple(types) => {
                format!("abi.group({})", types.iter().map(inner).collect::<Result<Vec<_>, _>>()?.join(", "))
            }
            Shape::List(ty) => match self.wit.shape(&ty) {
                Shape::Plain(Type::U32) => "abi.U32S".into(),
                Shape::Plain(Type::U64) => "abi.U64S".into(),
                _ => format!("abi.listing({})", inner(&ty)?),
            },
            _ => return self.wit.refused(ty, "Python"),
        })
    }
}
