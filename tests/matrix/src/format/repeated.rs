//! Long lists that repeat a short one are written as `{"repeat": [3, 1], "count": 20000}`: lengths, ids and keys.

use std::sync::LazyLock;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Only longer lists than this are searched for a repetition. `PERIOD` is the longest list that may be repeated.
const LONG: usize = 1 << 12;
const PERIOD: usize = 64;

/// The most items of a list that a case may write in this way: a limit of the schema of golden cases.
static MOST: LazyLock<usize> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(include_str!("../../../vectors/schema.json")).expect("a schema");
    schema["$defs"]["repeated-count"]["maximum"].as_u64().expect("a limit") as usize
});

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

    /// All items of the list. Fails if a repetition has too many, or none to repeat.
    fn list<E: Error>(self) -> Result<Vec<T>, E> {
        match self {
            Self::List(list) => Ok(list),
            Self::Repeated(Repeated { count, .. }) if count > *MOST => {
                Err(E::custom(format!("the count of a list is {count}; allowed: at most {}", *MOST)))
            }
            Self::Repeated(Repeated { repeat, count }) if repeat.is_empty() && count > 0 => {
                Err(E::custom(format!("the count of a list is {count}; allowed: 0, since nothing is repeated")))
            }
            Self::Repeated(Repeated { repeat, count }) => Ok(repeat.into_iter().cycle().take(count).collect()),
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
    Written::deserialize(from)?.list()
}

/// A list that may be absent.
pub mod option {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Written};

    pub fn serialize<S: Serializer>(list: &Option<Vec<u32>>, to: S) -> Result<S::Ok, S::Error> {
        list.as_deref().map(Written::of).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u32>>, D::Error> {
        Option::<Written<u32>>::deserialize(from)?.map(Written::list).transpose()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::MOST;

    #[derive(Deserialize)]
    struct Case {
        #[serde(with = "super")]
        lengths: Vec<u32>,
        #[serde(default, with = "super::option")]
        others: Option<Vec<u32>>,
    }

    fn read(lengths: &str) -> Result<Case, String> {
        let text = format!("{{\"lengths\":{lengths},\"others\":{lengths}}}");
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_count_has_a_limit() {
        let case = read(r#"{"repeat":[3,1],"count":5}"#).unwrap();
        assert_eq!((case.lengths, case.others), (vec![3, 1, 3, 1, 3], Some(vec![3, 1, 3, 1, 3])));
        assert!(read(r#"{"repeat":[],"count":0}"#).unwrap().lengths.is_empty());
        for (repeat, count, allowed) in [("3", *MOST + 1, "8388608"), ("3", usize::MAX, "8388608"), ("", 1, "0")] {
            let error = read(&format!(r#"{{"repeat":[{repeat}],"count":{count}}}"#)).err().unwrap();
            assert!(error.starts_with(&format!("the count of a list is {count}; allowed: ")), "{error}");
            assert!(error.contains(allowed), "{error}");
        }
    }
}
