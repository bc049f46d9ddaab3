//! Ids and keys of samples: the parts of a split that they are in, or the split whose parts have exact numbers of them.

use std::mem::take;
use std::sync::Arc;

use samedeal::{Error, ExactSizes, Split};

/// How many values are split at a time.
const WINDOW: usize = 1 << 16;

/// The purpose of the values that are read.
pub enum Use {
    /// The part of each.
    Split(Arc<Split>),
    /// A split of exact sizes among them.
    Sizes(Arc<ExactSizes>),
}

/// The values that were read so far, and their parts.
pub struct Parts {
    used: Use,
    count: usize,
    /// Whether a value is the key of a group, and no id.
    are_keys: bool,
    ids: Vec<u64>,
    keys: Vec<String>,
    parts: Vec<u32>,
    /// The first error of the split. The value at fault may come before the last one: values are split in windows.
    refused: Option<Error>,
}

impl Parts {
    pub fn new(used: Use, are_keys: bool) -> Self {
        Self { used, count: 0, are_keys, ids: Vec::new(), keys: Vec::new(), parts: Vec::new(), refused: None }
    }

    pub fn is_of_keys(&self) -> bool {
        self.are_keys
    }

    pub fn len(&self) -> usize {
        self.count + self.ids.len() + self.keys.len()
    }

    /// Adds an id; if keys are read, the number is a key.
    pub fn number(&mut self, number: i128) -> Result<(), String> {
        if self.are_keys {
            return self.text(&number.to_string());
        }
        let id = u64::try_from(number).map_err(|_| format!("is {number}; allowed: whole numbers from 0 up"))?;
        self.ids.push(id);
        if self.ids.len() == WINDOW {
            self.split();
        }
        Ok(())
    }

    /// Adds a key.
    pub fn text(&mut self, key: &str) -> Result<(), String> {
        if !self.are_keys {
            return Err("holds text; add --keys to split by text".to_owned());
        }
        self.keys.push(key.to_owned());
        if self.keys.len() == WINDOW {
            self.split();
        }
        Ok(())
    }

    /// Splits the ids or keys that have been collected.
    fn split(&mut self) {
        let (ids, keys) = (take(&mut self.ids), take(&mut self.keys));
        self.count += ids.len() + keys.len();
        let found = match &self.used {
            Use::Split(split) if self.are_keys => split.part_of_keys(&keys),
            Use::Split(split) => split.part_of(&ids),
            Use::Sizes(sizes) if self.are_keys => sizes.add_keys(&keys).map(|()| Vec::new()),
            Use::Sizes(sizes) => sizes.add_ids(&ids).map(|()| Vec::new()),
        };
        match found {
            Ok(parts) => self.parts.extend(parts),
            Err(error) => self.refused = self.refused.take().or(Some(error)),
        }
    }

    /// The number of the part that each value is in, in the order in which the values were added.
    pub fn finish(mut self) -> Result<Vec<u32>, Error> {
        self.split();
        self.refused.map_or(Ok(self.parts), Err)
    }
}
