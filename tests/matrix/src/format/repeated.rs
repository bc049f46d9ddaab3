//! Long lists that repeat a short one are written as `{"repeat": [3, 1], "count": 20000}`: lengths, ids and keys.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Only longer lists than this are searched for a repetition. `PERIOD` is the longest list that may be repeated.
const LONG: usize = 1 << 12;
const PERIOD: usize = 64;

#[derive(Serialize, Deserialize)]
struct Repeated<T> {
    repeat: Vec<T>,
    count: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Repeated(Repeated<T>),
    List(Vec<T>),
}

impl<T: Clone + PartialEq> Written<T> {
    fn of(list: &[T]) -> Self {
        let is_period = |period: &usize| list.iter().zip(&list[*period..]).all(|(one, other)| one == other);
        match (1..=PERIOD).find(|period| list.len() > LONG && is_period(period)) {
            Some(period) => Self::Repeated(Repeated { repeat: list[..period].to_vec(), count: list.len() }),
            None => Self::List(list.to_vec()),
        }
    }

    fn list(self) -> Vec<T> {
        match self {
            Self::List(list) => list,
            Self::Repeated(Repeated { repeat, count }) => repeat.into_iter().cycle().take(count).collect(),
        }
    }
}

pub fn serialize<T: Clone + PartialEq + Serialize, S: Serializer>(list: &[T], to: S) -> Result<S::Ok, S::Error> {
    Written::of(list).serialize(to)
}

pub fn deserialize<'de, T, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Clone + PartialEq + Deserialize<'de>,
{
    Written::deserialize(from).map(Written::list)
}

/// A list that may be absent.
pub mod option {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Written};

    pub fn serialize<S: Serializer>(list: &Option<Vec<u32>>, to: S) -> Result<S::Ok, S::Error> {
        list.as_deref().map(Written::of).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u32>>, D::Error> {
        Ok(Option::<Written<u32>>::deserialize(from)?.map(Written::list))
    }
}
