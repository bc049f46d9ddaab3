//! Members of recipes: values, and the long lists beside them.

use std::sync::Arc;

use serde_json::Value;

/// A list that is passed beside a recipe: the name or path of its member, and the numbers. The text of the recipe has
/// at most a hash of it.
pub(crate) type List = (String, Vec<u64>);

/// A list as [`List`], shared by several orders and recipes without a copy for each.
pub(crate) type Shared = (String, Arc<Vec<u64>>);

/// A value in the form of recipes: whole numbers whose magnitude is above 2^53 - 1 become strings, because JSON tools
/// round such numbers. Lists of numbers stay as they are.
pub(crate) fn exact(value: Value) -> Value {
    const MOST: u64 = (1 << 53) - 1;
    match value {
        Value::Number(number) if number.as_u64().or(number.as_i64().map(i64::unsigned_abs)) > Some(MOST) => {
            Value::String(number.to_string())
        }
        Value::Array(items) if items.first().is_some_and(Value::is_object) => items.into_iter().map(exact).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, exact(value))).collect(),
        value => value,
    }
}
