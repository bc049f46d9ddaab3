//! A JSON document that a fuzzer can change: members keep their order and may come twice, a number is its digits, and a
//! string that is itself a JSON object, such as a recipe, is a tree.

use std::fmt::Write;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

#[derive(Clone, Debug, PartialEq)]
pub enum Doc {
    /// A number, a literal, or text that is no JSON, as it is written.
    Raw(String),
    Text(String),
    /// A string that contains a JSON object.
    Nested(Box<Doc>),
    List(Vec<Doc>),
    Object(Vec<(String, Doc)>),
}

impl Doc {
    pub fn parse(text: &str) -> Option<Doc> {
        serde_json::from_str(text).ok()
    }

    pub fn null() -> Doc {
        Doc::Raw("null".into())
    }

    pub fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    /// A string; a tree if it contains a JSON object.
    pub fn of_str(text: &str) -> Doc {
        let nested = text.starts_with('{').then(|| Doc::parse(text)).flatten();
        // A string that this tree would write differently stays a text.
        match nested {
            Some(doc) if doc.to_text() == text => Doc::Nested(Box::new(doc)),
            _ => Doc::Text(text.into()),
        }
    }

    pub fn get(&self, name: &str) -> Option<&Doc> {
        let Doc::Object(members) = self else { return None };
        members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Doc> {
        let Doc::Object(members) = self else { return None };
        members.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Removes a member and returns its value.
    pub fn take(&mut self, name: &str) -> Option<Doc> {
        let Doc::Object(members) = self else { return None };
        let at = members.iter().position(|(key, _)| key == name)?;
        Some(members.remove(at).1)
    }

    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Doc::Raw(raw) => out.push_str(raw),
            Doc::Text(text) => quote(text, out),
            Doc::Nested(doc) => quote(&doc.to_text(), out),
            Doc::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Doc::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    quote(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Calls `visit` with this value and every value below, and with the name of the nearest member around each.
    pub fn each<'a>(&'a self, name: &'a str, visit: &mut impl FnMut(&'a str, &'a Doc)) {
        visit(name, self);
        match self {
            Doc::Raw(_) | Doc::Text(_) => {}
            Doc::Nested(doc) => doc.each(name, visit),
            Doc::List(items) => items.iter().for_each(|item| item.each(name, visit)),
            Doc::Object(members) => members.iter().for_each(|(name, value)| value.each(name, visit)),
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes it"),
            c => out.push(c),
        }
    }
    out.push('"');
}

impl<'de> Deserialize<'de> for Doc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tree;

        impl<'de> Visitor<'de> for Tree {
            type Value = Doc;

            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Doc, E> {
                Ok(Doc::null())
            }

            fn visit_bool<E>(self, value: bool) -> Result<Doc, E> {
                Ok(Doc::Raw(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Doc, E> {
                Ok(Doc::Raw(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Doc, E> {
                Ok(Doc::Raw(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Doc, E> {
                Ok(Doc::Raw(value.to_string()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Doc, E> {
                Ok(Doc::of_str(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Doc, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Doc::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Doc, A::Error> {
                let mut object = Vec::new();
                while let Some(member) = members.next_entry()? {
                    object.push(member);
                }
                Ok(Doc::Object(object))
            }
        }

        deserializer.deserialize_any(Tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_json_are_trees_and_come_back_as_they_were() {
        let text = r#"{"recipe":"{\"a\":[1,-2,true],\"a\":{\"b\":\"\\u0001\"}}","epoch":"7"}"#;
        let doc = Doc::parse(text).unwrap();
        assert!(matches!(doc.get("recipe"), Some(Doc::Nested(_))));
        assert_eq!(doc.to_text(), text);
        // Another spelling of a JSON object stays a text.
        assert_eq!(Doc::of_str("{ }"), Doc::Text("{ }".into()));
    }
}
