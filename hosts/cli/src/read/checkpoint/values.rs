//! Values as a checkpoint nests them, whatever format it has.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The most values of a file: far more than checkpoints have, and few enough to be held in memory.
const MOST: usize = 1 << 22;

/// The number of a value.
pub type Id = u32;

/// A value, as far as the search for states looks at it.
#[derive(Debug)]
pub enum Node {
    /// Nothing that the search needs: a flag, a float, bytes, a class, a tensor.
    Other,
    Number(i64),
    Text(String),
    /// A dictionary, list or tuple; or an object, with all that it was made of.
    Holder {
        pairs: Vec<(Id, Id)>,
        items: Vec<Id>,
    },
}

impl Node {
    pub const EMPTY: Self = Self::Holder { pairs: Vec::new(), items: Vec::new() };
}

/// All values of a file. They refer to each other by their numbers, so that a value may hold itself, as in a pickle.
#[derive(Default, Debug)]
pub struct Values {
    nodes: Vec<Node>,
    pub roots: Vec<Id>,
}

impl Values {
    /// Adds a value, unless there are too many.
    pub fn add(&mut self, node: Node) -> Result<Id, String> {
        if self.nodes.len() == MOST {
            return Err(format!("holds more than {MOST} values, too many to search"));
        }
        self.nodes.push(node);
        Ok((self.nodes.len() - 1) as Id)
    }

    pub fn get(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn get_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id as usize]
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
        let Node::Holder { pairs, .. } = self.get(id) else { return None };
        pairs.iter().rev().find(|(key, _)| self.text(*key) == Some(name)).map(|&(_, value)| value)
    }

    /// The number of a name in a dictionary, where it is none below 0.
    pub fn number(&self, id: Id, name: &str) -> Option<u64> {
        match self.get(self.field(id, name)?) {
            Node::Number(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Reads JSON.
    pub fn of_json(text: &str) -> Result<Self, String> {
        let mut values = Self::default();
        let mut json = serde_json::Deserializer::from_str(text);
        let root = Adding(&mut values).deserialize(&mut json).map_err(|error| error.to_string())?;
        json.end().map_err(|error| error.to_string())?;
        values.roots.push(root);
        Ok(values)
    }
}

/// Adds one value of JSON and all that it holds. (The parser bounds how deep they nest.)
struct Adding<'a>(&'a mut Values);

impl<'de> DeserializeSeed<'de> for Adding<'_> {
    type Value = Id;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Id, D::Error> {
        json.deserialize_any(self)
    }
}

impl Adding<'_> {
    fn add<E: serde::de::Error>(self, node: Node) -> Result<Id, E> {
        self.0.add(node).map_err(E::custom)
    }
}

impl<'de> Visitor<'de> for Adding<'_> {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Id, E> {
        self.add(Node::Other)
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Id, E> {
        self.add(Node::Other)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Id, E> {
        self.add(Node::Number(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Id, E> {
        self.add(i64::try_from(value).map_or(Node::Other, Node::Number))
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Id, E> {
        self.add(Node::Other)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Id, E> {
        self.add(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Id, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Adding(self.0))? {
            items.push(item);
        }
        self.add(Node::Holder { pairs: Vec::new(), items })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Id, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key_seed(Adding(self.0))? {
            pairs.push((key, map.next_value_seed(Adding(self.0))?));
        }
        self.add(Node::Holder { pairs, items: Vec::new() })
    }
}
