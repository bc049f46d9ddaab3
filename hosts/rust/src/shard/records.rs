use crate::{Steps, of_millionths};

/// The loads of ranks or workers, as columns. Every list has one number for each rank or worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Loads {
    /// Number of shards.
    pub shards: Vec<u64>,
    /// Number of samples in the shards.
    pub samples: Vec<u64>,
    /// Number of bytes in the shards; none if the recipe has no bytes.
    pub bytes: Option<Vec<u64>>,
    /// Number of bytes that are stored on the node of the rank; number of samples there if the recipe has no bytes.
    /// None without [`Policy::LocalityAware`](crate::Policy::LocalityAware).
    pub local: Option<Vec<u64>>,
}

impl Loads {
    /// Appends the columns that one call of the component returns.
    pub(super) fn extend(&mut self, columns: impl IntoIterator<Item = (String, Vec<u64>)>) {
        for (name, numbers) in columns {
            match name.as_str() {
                "shards" => self.shards.extend(numbers),
                "samples" => self.samples.extend(numbers),
                "bytes" => self.bytes.get_or_insert_default().extend(numbers),
                "local" => self.local.get_or_insert_default().extend(numbers),
                // A later component may have more columns.
                _ => {}
            }
        }
    }
}

/// The smallest and the largest load of a rank or a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct LoadSummary {
    /// The smallest load.
    pub min: u64,
    /// The largest load.
    pub max: u64,
    /// The sum of all loads.
    pub total: u64,
    /// Number of ranks or workers.
    pub members: u32,
    pub(super) imbalance: u64,
}

impl LoadSummary {
    /// The largest load divided by the mean load, to six places. It is 1 if all loads are equal, or if all loads are 0.
    pub fn imbalance(&self) -> f64 {
        of_millionths(self.imbalance)
    }
}

impl Steps {
    /// Whether all ranks have the same number of steps.
    pub fn is_equal(&self) -> bool {
        self.min == self.max
    }
}
