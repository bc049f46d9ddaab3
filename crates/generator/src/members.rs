//! Texts of members of recipes in the options of Python and TypeScript, made of the descriptions in the core.

use samedeal_core::{Described, Needed};

/// The members of a section of a kind of recipes.
pub fn of<'a>(all: &'a [Described], section: &str, recipe: &str) -> impl Iterator<Item = &'a Described> {
    all.iter().filter(move |member| member.section == section && member.recipe == recipe)
}

/// A section of a kind of recipes, for people.
pub fn object(section: &str, recipe: &str) -> String {
    format!("`{section}` of a {}", recipe.replace('-', " "))
}

/// Where a member belongs, for people; nothing if that is anywhere.
pub fn only_with(needs: &[Vec<Needed>]) -> String {
    if needs.is_empty() {
        return String::new();
    }
    let need = |need: &Needed| {
        let but = if need.is_one { "" } else { "all but " };
        format!("`{}` {but}`{}`", need.name, need.names.join("`, `"))
    };
    let all = |all: &Vec<Needed>| all.iter().map(need).collect::<Vec<_>>().join(" and ");
    format!(" Only with {}.", needs.iter().map(all).collect::<Vec<_>>().join(", or with "))
}
