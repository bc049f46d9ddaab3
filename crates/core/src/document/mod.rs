//! The texts of recipes, states and logs: what members an object may have, and how it is read and written.

pub(crate) mod check;
pub(crate) mod fields;
pub(crate) mod floats;
mod json;
pub(crate) mod lists;
pub(crate) mod member;
pub(crate) mod numbers;
pub(crate) mod recipe;
pub(crate) mod state;
mod weights;

pub(crate) use json::{
    DEEPEST, DIGITS, EntryFields, MAX_TEXT, Reader, digits, find, of_digits, quoted, signed_text, unsigned,
    unsigned_text,
};
