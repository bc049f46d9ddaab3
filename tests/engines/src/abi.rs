//! The canonical ABI for the types of the interface: converts values between the notation of the golden cases and the
//! memory of a core module.
//! https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md

use serde_json::{Map, Value};
use wit_parser::abi::AbiVariant;
use wit_parser::{Handle, Int, Record, Type, TypeDefKind};

use crate::machine::{Machine, Word};
use crate::world::{Export, World};

/// Records that the golden cases write as members of one object.
const MEMBERS: &[&str] = &["named-list", "named-number"];
/// Records that the golden cases write as pairs.
const PAIRS: &[&str] = &["fact"];

/// The outcome of a call.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Returns(Value),
    /// An object, as its handle.
    Object(u32),
    Fails(Value),
}

/// Calls exports of one instance.
pub struct Caller<'a, M> {
    pub world: &'a World,
    pub machine: &'a mut M,
}

impl<M: Machine> Caller<'_, M> {
    /// Calls a function with `arguments`, which are in the order of its parameters.
    pub fn call(&mut self, export: &Export<'_>, arguments: &[Value]) -> Answer {
        let signature = self.world.resolve.wasm_signature(AbiVariant::GuestExport, export.function);
        assert!(!signature.indirect_params, "{} has more parameters than fit into a call", export.name);
        let mut flat = Vec::new();
        for (parameter, argument) in export.function.params.iter().zip(arguments) {
            self.lower(&parameter.ty, argument, &mut flat);
        }
        let result = self.machine.call(&export.name, &flat);
        let Some(ty) = &export.function.result else { return Answer::Returns(Value::Null) };
        let word = result.unwrap_or_else(|| panic!("{} returned nothing", export.name));
        if !signature.retptr {
            return self.lift_word(ty, word);
        }
        let address = u32::try_from(word.bits()).expect("an address");
        let bytes = self.machine.read(address, self.size(ty));
        let answer = self.lift_answer(ty, &bytes);
        let post = format!("cabi_post_{}", export.name);
        if self.machine.has(&post) {
            self.machine.call(&post, &[word]);
        }
        answer
    }

    /// Converts the result of a call that is a single number.
    fn lift_word(&mut self, ty: &Type, word: Word) -> Answer {
        let bytes = word.bits().to_le_bytes();
        self.lift_answer(ty, &bytes[..self.size(ty) as usize])
    }

    fn lift_answer(&mut self, ty: &Type, bytes: &[u8]) -> Answer {
        match self.kind(&self.plain(ty)) {
            Some(TypeDefKind::Result(result)) => {
                let (ok, err) = (result.ok, result.err);
                let at = self.world.sizes.payload_offset(Int::U8, [ok.as_ref(), err.as_ref()]).size_wasm32();
                let payload = &bytes[at..];
                match (bytes[0], ok, err) {
                    (0, Some(ok), _) => self.lift_answer(&ok, payload),
                    (0, None, _) => Answer::Returns(Value::Null),
                    (1, _, Some(err)) => Answer::Fails(self.lift_failure(&err, payload)),
                    (other, ..) => panic!("a result has no case {other}"),
                }
            }
            Some(TypeDefKind::Handle(Handle::Own(_))) => Answer::Object(number32(bytes)),
            _ => Answer::Returns(self.lift(ty, bytes)),
        }
    }

    /// Converts a failure into the notation of the golden cases.
    fn lift_failure(&mut self, ty: &Type, bytes: &[u8]) -> Value {
        let mut failure = self.lift(ty, bytes);
        if let Some(fields) = failure.as_object_mut() {
            if fields.get("facts").is_some_and(|facts| facts == &Value::Array(Vec::new())) {
                fields.remove("facts");
            }
            if fields.get("path") == fields.get("field") {
                fields.remove("path");
            }
        }
        failure
    }

    /// Converts a value in the memory into the notation of the golden cases.
    fn lift(&mut self, ty: &Type, bytes: &[u8]) -> Value {
        let ty = &self.plain(ty);
        match ty {
            Type::Bool => (bytes[0] != 0).into(),
            Type::U32 => number32(bytes).into(),
            Type::U64 => number64(bytes).to_string().into(),
            Type::S64 => number64(bytes).cast_signed().to_string().into(),
            Type::String => {
                let text = self.machine.read(number32(bytes), number32(&bytes[4..]));
                String::from_utf8(text).expect("a string is UTF-8").into()
            }
            Type::Id(_) => match self.kind(ty).expect("a type has a kind").clone() {
                TypeDefKind::List(item) => self.lift_list(&item, bytes),
                TypeDefKind::Record(record) => {
                    let fields = self.lift_fields(&record, bytes);
                    if self.is_one_of(ty, PAIRS) {
                        return fields.into_iter().map(|(_, value)| value).collect();
                    }
                    fields.into_iter().collect()
                }
                TypeDefKind::Option(item) => {
                    let at = self.world.sizes.payload_offset(Int::U8, [None, Some(&item)]).size_wasm32();
                    if bytes[0] == 0 { Value::Null } else { self.lift(&item, &bytes[at..]) }
                }
                other => panic!("a result that is a {} has no form here yet", other.as_str()),
            },
            other => panic!("a result that is a {other:?} has no form here yet"),
        }
    }

    fn lift_list(&mut self, item: &Type, bytes: &[u8]) -> Value {
        let (count, size) = (number32(&bytes[4..]), self.size(item));
        let items = self.machine.read(number32(bytes), count * size);
        let items = items.chunks_exact(size as usize);
        if !self.is_one_of(item, MEMBERS) {
            return items.map(|bytes| self.lift(item, bytes)).collect();
        }
        let Some(TypeDefKind::Record(record)) = self.kind(&self.plain(item)).cloned() else {
            panic!("its members are records")
        };
        let member = |bytes| {
            let [(_, name), (_, value)] = self.lift_fields(&record, bytes).try_into().expect("a name and a value");
            (name.as_str().expect("a name").to_owned(), value)
        };
        Value::Object(items.map(member).collect::<Map<_, _>>())
    }

    fn lift_fields(&mut self, record: &Record, bytes: &[u8]) -> Vec<(String, Value)> {
        let offsets = self.world.sizes.field_offsets(record.fields.iter().map(|field| &field.ty));
        let fields = record.fields.iter().zip(offsets);
        fields.map(|(field, (at, ty))| (field.name.clone(), self.lift(ty, &bytes[at.size_wasm32()..]))).collect()
    }

    /// Converts an argument into the words of a call.
    fn lower(&mut self, ty: &Type, value: &Value, flat: &mut Vec<Word>) {
        let ty = &self.plain(ty);
        match ty {
            Type::Bool => flat.push(Word::I32(value.as_bool().expect("a bool").into())),
            Type::U32 => flat.push(Word::I32(narrow(value))),
            Type::U64 | Type::S64 => flat.push(Word::I64(wide(value))),
            Type::String => {
                let text = value.as_str().expect("a string").as_bytes();
                let address = self.place(text, 1);
                flat.extend([address, text.len() as u32].map(Word::I32));
            }
            Type::Id(_) => match self.kind(ty).expect("a type has a kind").clone() {
                TypeDefKind::List(item) => flat.extend(self.lower_list(&item, value).map(Word::I32)),
                TypeDefKind::Option(item) if value.is_null() => {
                    let mut types = [wit_parser::abi::WasmType::I32; 8];
                    let mut types = wit_parser::abi::FlatTypes::new(&mut types);
                    assert!(self.world.resolve.push_flat(&item, &mut types), "an option has at most 8 words");
                    flat.push(Word::I32(0));
                    flat.extend(types.to_vec().into_iter().map(|ty| match ty {
                        wit_parser::abi::WasmType::I64 => Word::I64(0),
                        _ => Word::I32(0),
                    }));
                }
                TypeDefKind::Option(item) => {
                    flat.push(Word::I32(1));
                    self.lower(&item, value, flat);
                }
                TypeDefKind::Enum(cases) => {
                    let case = cases.cases.iter().position(|case| value == case.name.as_str());
                    flat.push(Word::I32(case.unwrap_or_else(|| panic!("an enum has no {value}")) as u32));
                }
                // The component owns all of its resources. In a call of the owner, a handle is the number from which
                // the component made it.
                TypeDefKind::Handle(_) => flat.push(Word::I32(narrow(value))),
                other => panic!("a parameter that is a {} has no form here yet", other.as_str()),
            },
            other => panic!("a parameter that is a {other:?} has no form here yet"),
        }
    }

    /// Writes a list into the memory; returns its address and its number of items.
    fn lower_list(&mut self, item: &Type, value: &Value) -> [u32; 2] {
        let members: Vec<Value>;
        let items = match value {
            Value::Null => &[][..],
            Value::Object(named) if self.is_one_of(item, MEMBERS) => {
                members =
                    named.iter().map(|(name, value)| Value::from(vec![name.as_str().into(), value.clone()])).collect();
                &members
            }
            _ => value.as_array().expect("a list"),
        };
        let size = self.size(item) as usize;
        let mut bytes = vec![0; items.len() * size];
        for (value, bytes) in items.iter().zip(bytes.chunks_exact_mut(size)) {
            self.store(item, value, bytes);
        }
        let align = self.world.sizes.align(item).align_wasm32();
        [self.place(&bytes, align as u32), items.len() as u32]
    }

    /// Writes a value into bytes that become a part of the memory.
    fn store(&mut self, ty: &Type, value: &Value, bytes: &mut [u8]) {
        let ty = &self.plain(ty);
        match ty {
            Type::U32 => bytes[..4].copy_from_slice(&narrow(value).to_le_bytes()),
            Type::U64 | Type::S64 => bytes[..8].copy_from_slice(&wide(value).to_le_bytes()),
            Type::String => {
                let text = value.as_str().expect("a string").as_bytes();
                let address = self.place(text, 1);
                bytes[..4].copy_from_slice(&address.to_le_bytes());
                bytes[4..8].copy_from_slice(&(text.len() as u32).to_le_bytes());
            }
            Type::Id(_) => match self.kind(ty).expect("a type has a kind").clone() {
                TypeDefKind::List(item) => {
                    let [address, count] = self.lower_list(&item, value);
                    bytes[..4].copy_from_slice(&address.to_le_bytes());
                    bytes[4..8].copy_from_slice(&count.to_le_bytes());
                }
                TypeDefKind::Record(record) => {
                    let names = record.fields.iter().map(|field| field.name.as_str());
                    let types: Vec<Type> = record.fields.iter().map(|field| field.ty).collect();
                    let values: Vec<Value> = match value {
                        Value::Array(values) => values.clone(),
                        _ => names.map(|name| value[name].clone()).collect(),
                    };
                    self.store_fields(&types, &values, bytes);
                }
                TypeDefKind::Tuple(tuple) => {
                    self.store_fields(&tuple.types, value.as_array().expect("a tuple"), bytes);
                }
                other => panic!("an item of a list that is a {} has no form here yet", other.as_str()),
            },
            other => panic!("an item of a list that is a {other:?} has no form here yet"),
        }
    }

    fn store_fields(&mut self, types: &[Type], values: &[Value], bytes: &mut [u8]) {
        let offsets = self.world.sizes.field_offsets(types);
        for ((at, ty), value) in offsets.into_iter().zip(values) {
            self.store(ty, value, &mut bytes[at.size_wasm32()..]);
        }
    }

    /// Writes bytes into memory that the component allocates for them.
    fn place(&mut self, bytes: &[u8], align: u32) -> u32 {
        if bytes.is_empty() {
            // An aligned address that points to nothing, as for an empty Rust slice.
            return align;
        }
        let arguments = [0, 0, align, bytes.len() as u32].map(Word::I32);
        let address = self.machine.call("cabi_realloc", &arguments).expect("an address").bits() as u32;
        self.machine.write(address, bytes);
        address
    }

    /// The type behind all of its aliases.
    fn plain(&self, ty: &Type) -> Type {
        match self.kind(ty) {
            Some(TypeDefKind::Type(inner)) => self.plain(inner),
            _ => *ty,
        }
    }

    fn kind(&self, ty: &Type) -> Option<&TypeDefKind> {
        let Type::Id(id) = ty else { return None };
        Some(&self.world.resolve.types[*id].kind)
    }

    fn is_one_of(&self, ty: &Type, names: &[&str]) -> bool {
        let Type::Id(id) = ty else { return false };
        self.world.resolve.types[*id].name.as_deref().is_some_and(|name| names.contains(&name))
    }

    fn size(&self, ty: &Type) -> u32 {
        self.world.sizes.size(ty).size_wasm32() as u32
    }
}

fn number32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn number64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

fn narrow(value: &Value) -> u32 {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.unwrap_or_else(|| panic!("no number of 32 bits: {value}"))
}

fn wide(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or_else(|| panic!("no number of 64 bits: {value}"));
    let number = text.parse::<u64>().or_else(|_| text.parse::<i64>().map(i64::cast_unsigned));
    number.unwrap_or_else(|why| panic!("no number of 64 bits: {value}: {why}"))
}
