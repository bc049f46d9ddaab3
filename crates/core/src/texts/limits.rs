//! Limits of the core that hosts need too: for a check before much work is done for nothing, or to divide a long call.

use crate::base::MAX_COUNT;
use crate::batch::collate::MAX_CELLS;
use crate::document::MAX_TEXT;
use crate::document::numbers::MAX_NUMBERS;
use crate::order::{MAX_LANES, MAX_WINDOW};
use crate::read::{ASSUMED_WORKERS, MAX_VARIANCE_RATIO, MAX_WORKERS};
use crate::split::MAX_PARTS;
use crate::topology::MAX_AXES;

/// A limit, from which generators write a constant for each host.
pub struct Limit {
    /// The name of the constant.
    pub name: &'static str,
    /// The largest value that is allowed.
    pub most: u64,
    /// The description, for people.
    pub text: &'static str,
}

/// All limits that hosts need.
pub const LIMITS: [Limit; 11] = [
    Limit {
        name: "ASSUMED_WORKERS",
        most: ASSUMED_WORKERS as u64,
        text: "The most loader workers of a rank that lanes are chosen for, if the number of readers is not known.",
    },
    Limit { name: "MAX_AXES", most: MAX_AXES as u64, text: "The most axes of a mesh." },
    Limit { name: "MAX_CELLS", most: MAX_CELLS, text: "The most cells of an array that one call makes." },
    Limit {
        name: "MAX_COUNT",
        most: MAX_COUNT as u64,
        text: "The most indices, or other items, that one call takes or returns.",
    },
    Limit { name: "MAX_LANES", most: MAX_LANES as u64, text: "The most lanes." },
    Limit {
        name: "MAX_NUMBERS",
        most: MAX_NUMBERS as u64,
        text: "The most numbers of a list in the text of a recipe. A longer list lies beside the text.",
    },
    Limit { name: "MAX_PARTS", most: MAX_PARTS as u64, text: "The most parts of a split." },
    Limit { name: "MAX_SHUFFLE_WINDOW", most: MAX_WINDOW as u64, text: "The largest shuffle window." },
    Limit {
        name: "MAX_TEXT",
        most: MAX_TEXT as u64,
        text: "The most bytes of a recipe, of a state, of an index of batches, and of an entry of a log.",
    },
    Limit {
        name: "MAX_VARIANCE_RATIO",
        most: MAX_VARIANCE_RATIO,
        text: "The largest variance ratio of a reading for which no advice is needed.",
    },
    Limit { name: "MAX_WORKERS", most: MAX_WORKERS as u64, text: "The most loader workers of a rank." },
];
