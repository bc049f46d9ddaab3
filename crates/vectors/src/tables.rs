//! The tables of members in section 14 of the specification, which the core has.

use std::io;

/// The page that has them, below the repository.
pub const PATH: &str = "docs/spec/14-recipes.md";
const BEGIN: &str = "<!-- Written by `cargo xtask vectors`, from the tables of the core. -->\n";
const END: &str = "<!-- The end of what is written. -->\n";

/// The specification with the tables of today in the place of its own.
pub fn replaced(specification: &str) -> io::Result<String> {
    let place = || {
        let (before, rest) = specification.split_once(BEGIN)?;
        Some((before, rest.split_once(END)?.1))
    };
    let (before, after) =
        place().ok_or_else(|| io::Error::other(format!("{PATH} has no place for the tables of members")))?;
    Ok(format!("{before}{BEGIN}{}{END}{after}", samedeal_core::members()))
}
