//! The nested values of a checkpoint, whatever format it has.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::write::grouped;

/// The most values in a file and references between them, together: more than checkpoints have, and less than half a
/// gigabyte in memory.
const MOST: usize = 1 << 23;
/// The deepest nesting of a state, which is also the limit of the JSON parser.
const DEEPEST: usize = 128;
/// The longest JSON that is written, in bytes: more than any state has.
const LONGEST: usize = 1 << 23;

/// The number of a value.
pub type Id = u32;

/// A value, with all that the search for states needs to know.
#[derive(Debug)]
pub enum Node<'a> {
    /// A value that no state has: bytes, a class, a tensor.
    Other,
    Null,
    Flag(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Held>),
    Map(Vec<Held>),
    /// An object, with its class, arguments and attributes.
    Object(Vec<Held>),
}

/// A value in another one, with its key.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// [`Held::NO_KEY`] in a list.
    key: Id,
    pub value: Id,
}

impl Held {
    const NO_KEY: Id = Id::MAX;

    pub const fn item(value: Id) -> Self {
        Self { key: Self::NO_KEY, value }
    }

    pub const fn pair(key: Id, value: Id) -> Self {
        Self { key, value }
    }

    pub fn key(self) -> Option<Id> {
        (self.key != Self::NO_KEY).then_some(self.key)
    }
}

impl Node<'_> {
    /// The values within this value.
    pub fn held(&self) -> &[Held] {
        match self {
            Self::List(held) | Self::Map(held) | Self::Object(held) => held,
            Self::Other | Self::Null | Self::Flag(_) | Self::Number(_) | Self::Text(_) => &[],
        }
    }
}

/// All values of a file. They refer to each other by their numbers, so that a value may hold itself, as in a pickle.
#[derive(Debug)]
pub struct Values<'a> {
    nodes: Vec<Node<'a>>,
    pub roots: Vec<Id>,
    /// How many more values may be added before the file is refused.
    left: usize,
}

impl Default for Values<'_> {
    fn default() -> Self {
        Self { nodes: Vec::new(), roots: Vec::new(), left: MOST }
    }
}

impl<'a> Values<'a> {
    /// Counts values, or places that refer to values; refuses them if there are too many.
    pub fn count(&mut self, more: usize) -> Result<(), String> {
        let left = self.left.checked_sub(more);
        self.left =
            left.ok_or_else(|| format!("holds more than {} values, too many to search", grouped(MOST as u64)))?;
        Ok(())
    }

    pub fn add(&mut self, node: Node<'a>) -> Result<Id, String> {
        self.count(1 + node.held().len())?;
        self.nodes.push(node);
        Ok((self.nodes.len() - 1) as Id)
    }

    /// Adds values to the contents of a value. A value without contents, such as a class, becomes an object.
    pub fn hold(&mut self, id: Id, more: impl ExactSizeIterator<Item = Held>) -> Result<(), String> {
        self.count(more.len())?;
        let node = &mut self.nodes[id as usize];
        if let Node::List(held) | Node::Map(held) | Node::Object(held) = node {
            held.extend(more);
        } else {
            *node = Node::Object(more.collect());
        }
        Ok(())
    }

    pub fn get(&self, id: Id) -> &Node<'a> {
        &self.nodes[id as usize]
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn text(&self, id: Id) -> Option<&str> {
        match self.get(id) {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a name in a dictionary.
    pub fn field(&self, id: Id, name: &str) -> Option<Id> {
        let named = |held: &&Held| held.key().is_some_and(|key| self.text(key) == Some(name));
        self.get(id).held().iter().rev().find(named).map(|held| held.value)
    }

    /// The number of a name in a dictionary, if it is there and not negative.
    pub fn number(&self, id: Id, name: &str) -> Option<u64> {
        match self.get(self.field(id, name)?) {
            Node::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// A value as JSON; none if a part of it has no form in JSON. `work` limits how many values are read, because
    /// values may contain one another many times; it is 0 if it did not suffice.
    pub fn json(&self, id: Id, work: &mut usize) -> Option<String> {
        let mut json = String::new();
        self.write(id, DEEPEST, &mut json, work)?;
        Some(json)
    }

    fn write(&self, id: Id, deep: usize, json: &mut String, work: &mut usize) -> Option<()> {
        let deep = deep.checked_sub(1)?;
        let node = self.get(id);
        let length = self.text(id).map_or(0, str::len);
        *work = work.saturating_sub(1 + node.held().len() + length);
        if *work == 0 || json.len() + length > LONGEST {
            return None;
        }
        match node {
            Node::Other => return None,
            Node::Null => json.push_str("null"),
            Node::Flag(flag) => json.push_str(if *flag { "true" } else { "false" }),
            Node::Number(number) => json.push_str(&number.to_string()),
            Node::Text(text) => json.push_str(&serde_json::to_string(text).ok()?),
            Node::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    json.push(if index == 0 { '[' } else { ',' });
                    self.write(item.value, deep, json, work)?;
                }
                json.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            Node::Map(held) | Node::Object(held) if held.iter().any(|held| held.key().is_some()) => {
                let pairs = held.iter().filter_map(|held| Some((held.key()?, held.value)));
                for (index, (key, value)) in pairs.enumerate() {
                    json.push(if index == 0 { '{' } else { ',' });
                    self.text(key)?;
                    self.write(key, deep, json, work)?;
                    json.push(':');
                    self.write(value, deep, json, work)?;
                }
                json.push('}');
            }
            Node::Map(_) => json.push_str("{}"),
            // The attributes of an object are a dictionary, which comes after its class.
            Node::Object(held) => {
                let attributes = held.iter().rev().find(|held| matches!(self.get(held.value), Node::Map(_)))?;
                self.write(attributes.value, deep, json, work)?;
            }
        }
        Some(())
    }

    /// Reads JSON.
    pub fn of_json(text: &'a str) -> Result<Self, String> {
        let mut values = Self::default();
        let mut json = serde_json::Deserializer::from_str(text);
        let root = Adding(&mut values).deserialize(&mut json).map_err(|error| error.to_string())?;
        json.end().map_err(|error| error.to_string())?;
        values.roots.push(root);
        Ok(values)
    }
}

/// Adds one value of JSON and all values in it. (The parser limits their nesting.)
struct Adding<'v, 'a>(&'v mut Values<'a>);

impl<'de> DeserializeSeed<'de> for Adding<'_, 'de> {
    type Value = Id;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Id, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'a> Adding<'_, 'a> {
    fn add<E: serde::de::Error>(self, node: Node<'a>) -> Result<Id, E> {
        self.0.add(node).map_err(E::custom)
    }
}

impl<'de> Visitor<'de> for Adding<'_, 'de> {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Id, E> {
        self.add(Node::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Id, E> {
        self.add(Node::Flag(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Id, E> {
        self.add(Node::Number(value.into()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Id, E> {
        self.add(Node::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Id, E> {
        self.add(Number::from_f64(value).map_or(Node::Other, Node::Number))
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, value: &'de str) -> Result<Id, E> {
        self.add(Node::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Id, E> {
        self.add(Node::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Id, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Adding(self.0))? {
            items.push(Held::item(item));
        }
        self.add(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Id, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key_seed(Adding(self.0))? {
            pairs.push(Held::pair(key, map.next_value_seed(Adding(self.0))?));
        }
        self.add(Node::Map(pairs))
    }
}
