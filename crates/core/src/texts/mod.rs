//! Operations on any text: its kind, the differences between two texts, and the tables of all members. They depend on
//! every stage.

pub(crate) mod differences;
#[cfg(feature = "texts")]
pub(crate) mod limits;
#[cfg(feature = "texts")]
pub(crate) mod meanings;
#[cfg(feature = "texts")]
pub(crate) mod tables;
pub(crate) mod text;
