//! How failures cross: as plain objects, thrown.

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

/// A failure of the core, as what a call throws.
pub struct Thrown(Failure);

impl From<Failure> for Thrown {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<Thrown> for JsValue {
    fn from(Thrown(failure): Thrown) -> Self {
        let facts = failure.facts();
        let Parts { kind, field, value, allowed, .. } = failure.into_parts();
        let object = Object::new();
        object.set("kind", kind.name().into());
        object.set("field", field.into());
        object.set("value", value.into());
        object.set("allowed", allowed.into());
        let fact = |Fact { name, value }| {
            let object = Object::new();
            object.set("name", name.into());
            object.set("value", value.into());
            JsValue::from(object)
        };
        object.set("facts", facts.into_iter().map(fact).collect::<Vec<_>>().into());
        object.into()
    }
}
