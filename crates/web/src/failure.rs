//! Failures in JavaScript: plain objects that calls throw.

use samedeal_core::{Fact, Failure, Parts};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// A plain JavaScript object.
    pub type Object;

    #[wasm_bindgen(constructor)]
    pub fn new() -> Object;

    #[wasm_bindgen(method, structural, indexing_setter)]
    pub fn set(this: &Object, key: &str, value: JsValue);
}

impl Object {
    /// An object with these members.
    pub fn of<const N: usize>(members: [(&str, JsValue); N]) -> Self {
        let object = Self::new();
        for (name, value) in members {
            object.set(name, value);
        }
        object
    }
}

/// A failure of the core, as the object that a call throws.
pub struct Thrown(Failure);

impl From<Failure> for Thrown {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Thrown> for JsValue {
    fn from(Thrown(failure): Thrown) -> Self {
        let facts = failure.facts();
        let path = JsValue::from(failure.path());
        let Parts { kind, field, value, allowed, .. } = failure.into_parts();
        let fact = |Fact { name, value }| JsValue::from(Object::of([("name", name.into()), ("value", value.into())]));
        let members = Object::of([
            ("kind", kind.name().into()),
            ("field", field.into()),
            ("path", path),
            ("value", value.into()),
            ("allowed", allowed.into()),
            ("facts", facts.into_iter().map(fact).collect::<Vec<_>>().into()),
        ]);
        members.into()
    }
}
