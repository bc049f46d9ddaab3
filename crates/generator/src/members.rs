//! Parts of the documentation of options that Python and TypeScript share, made of the core's descriptions of members.

use samedeal_core::{Described, Needed, Value};

/// The members of a section of a kind of recipes.
pub fn of<'a>(all: &'a [Described], section: &str, recipe: &str) -> impl Iterator<Item = &'a Described> {
    all.iter().filter(move |member| member.section == section && member.recipe == recipe)
}

/// The options of an order: its own members that hold a single value. The seed and the number of samples are left out:
/// most orders have them, and each function that makes an order documents them itself.
pub fn of_order<'a>(all: &'a [Described], order: &str) -> impl Iterator<Item = &'a Described> {
    of(all, "order", "sampler").filter(move |member| {
        let names = |need: &Needed| need.name == "name" && need.is_one && need.names.contains(&order);
        member.needs.iter().flatten().any(names) && is_option(member)
    })
}

/// Whether a member of the section `order` is an option that users set. The number of shards is not, because it follows
/// from the sizes of the shards.
pub fn is_option(member: &Described) -> bool {
    let is_plain = matches!(member.value, Value::Natural { .. } | Value::Integer | Value::Flag | Value::Name(_));
    is_plain && !member.is_required && member.name != "shards"
}

/// The name of a section in the documentation, such as "`order` of a sampler".
pub fn object(section: &str, recipe: &str) -> String {
    format!("`{section}` of a {}", recipe.replace('-', " "))
}

/// The condition of a member as a sentence, such as "Only with ...". Empty if the member has none.
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
