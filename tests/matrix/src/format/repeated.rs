//! Long lists of lengths that repeat a short one are written as `{"repeat": [3, 1], "count": 20000}`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Only longer lists than this are searched for a repetition. `PERIOD` is the longest list that may be repeated.
const LONG: usize = 1 << 12;
const PERIOD: usize = 64;

#[derive(Serialize, Deserialize)]
struct Repeated {
    repeat: Vec<u32>,
    count: usize,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Repeated(Repeated),
    List(Vec<u32>),
}

pub fn serialize<S: Serializer>(lengths: &Option<Vec<u32>>, to: S) -> Result<S::Ok, S::Error> {
    let period = lengths.as_ref().filter(|list| list.len() > LONG).and_then(|list| {
        let is_period = |period: &usize| list.iter().zip(&list[*period..]).all(|(one, other)| one == other);
        (1..=PERIOD).find(is_period).map(|period| Repeated { repeat: list[..period].to_vec(), count: list.len() })
    });
    match period {
        Some(repeated) => repeated.serialize(to),
        None => lengths.serialize(to),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u32>>, D::Error> {
    Ok(Option::<Written>::deserialize(from)?.map(|written| match written {
        Written::List(list) => list,
        Written::Repeated(Repeated { repeat, count }) => repeat.iter().copied().cycle().take(count).collect(),
    }))
}
