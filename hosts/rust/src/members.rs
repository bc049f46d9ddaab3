//! Members of recipes: values, and the long lists beside them.

use std::sync::Arc;

use serde_json::Value;

/// Numbers that a recipe has as a hash or not at all, and the name of their member.
pub(crate) type List = (String, Vec<u64>);

/// A named list that several orders and recipes share, without a copy for each.
pub(crate) type Shared = (String, Arc<Vec<u64>>);

/// A value as recipes have it: whole numbers beyond 2^53 - 1 are strings, because JSON tools round such numbers. Lists of numbers stay as
/// they are.
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
