//! The tables of members in section 14 of the specification and in the reference of recipes, written from the tables of
//! the core.

use std::path::Path;
use std::{fs, io};

use samedeal_core::{Described, Page};

/// The page with the rules of members, from the root of the repository.
const PATH: &str = "docs/spec/14-recipes.md";
/// The pages with tables, from the root of the repository.
const PAGES: [(&str, Page); 2] = [(PATH, Page::Specification), ("docs/reference/recipe.md", Page::Reference)];
const BEGIN: &str = "<!-- Written by `cargo xtask vectors`, from the tables of the core. -->\n";
const END: &str = "<!-- The end of what is written. -->\n";

/// The pages with the grammar of recipes.
const GRAMMAR: [&str; 4] =
    [PATH, "docs/spec/15-composed-orders.md", "docs/spec/16-splits.md", "docs/spec/17-steps-over-epochs.md"];

/// Checks that the grammar of recipes has every member of the tables. The grammar is written by hand.
pub fn check_grammar(root: &Path) -> io::Result<()> {
    let pages = GRAMMAR.iter().map(|page| fs::read_to_string(root.join(page))).collect::<io::Result<String>>()?;
    match samedeal_core::described().iter().find(|member| !pages.contains(&format!("\"{}\":", member.name))) {
        None => Ok(()),
        Some(member) => {
            let Described { recipe, section, name, .. } = member;
            Err(io::Error::other(format!("the grammar in {PATH} has no `{name}` in `{section}` of {recipe}: add it")))
        }
    }
}

/// The pages, with the tables of the core as it is now: their paths and texts.
pub fn pages(root: &Path) -> io::Result<Vec<(&'static str, String)>> {
    let replaced = |(path, page)| {
        let old = fs::read_to_string(root.join(path))?;
        let place = || {
            let (before, rest) = old.split_once(BEGIN)?;
            Some((before, rest.split_once(END)?.1))
        };
        let (before, after) =
            place().ok_or_else(|| io::Error::other(format!("{path} has no place for the tables of members")))?;
        Ok((path, format!("{before}{BEGIN}{}{END}{after}", samedeal_core::members(page))))
    };
    PAGES.into_iter().map(replaced).collect()
}
