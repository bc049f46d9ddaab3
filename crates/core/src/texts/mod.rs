//! What is asked of any text: what it is, what differs between two, and the tables of all members. It needs every stage.

pub(crate) mod differences;
#[cfg(feature = "texts")]
pub(crate) mod meanings;
#[cfg(feature = "texts")]
pub(crate) mod tables;
pub(crate) mod text;
