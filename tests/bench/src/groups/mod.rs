//! Groups of measurements that belong together: how they are taken, and how they are judged.

mod batch_quality;
mod batches;
mod feistel;
mod lengths;
mod native;
mod python;
mod resume;
mod shards;
mod start;

use crate::Result;
use crate::bench::{Bench, Series};
use crate::table::Row;

/// Measurements that are taken together.
pub struct Group {
    /// The name for `--only`.
    pub name: &'static str,
    /// A description in a line.
    pub about: &'static str,
    /// Whether the first run only warms up caches and compilers.
    pub warm_up: bool,
    /// Takes each measurement once, one after the other.
    pub run: fn(&mut Bench) -> Result<()>,
    /// The lines of the table.
    pub rows: fn(&Series) -> Vec<Row>,
}

/// A name in the form that ids have: lower case letters, digits and hyphens.
pub fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(plain).collect()
}

/// All groups, in the order of the table.
pub const GROUPS: &[Group] = &[
    feistel::GROUP,
    python::RANK,
    python::FIRST_BATCH,
    python::GRAIN,
    python::BATCH,
    resume::GROUP,
    native::FISHER_YATES,
    native::NODE,
    shards::PLAN,
    shards::STREAM,
    batches::GROUP,
    batch_quality::GROUP,
    start::GROUP,
];
