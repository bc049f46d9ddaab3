//! Long lists that a caller gives beside a document, by the names of their members.

use alloc::format;
use alloc::vec::Vec;

use super::member::{Kind, Member};
use crate::base::failure::{Failure, known as one_of};

/// A list of numbers that a caller gives beside a recipe: the name of the member that the list belongs to, and the
/// numbers. The recipe itself may then have only the hash of the list, or nothing.
pub type List<'a> = (&'a str, &'a [u64]);

/// Checks that every list beside a document of these sections has the name of a member whose value is a list, and that
/// each name comes once. Failures: `lists`.
pub(super) fn check_names(sections: &'static [Member], lists: &[List]) -> Result<(), Failure> {
    // A recipe that may have a composed order knows the member `indices`. In such a recipe, the name of a list of an
    // inner order begins with the path of this order. Other recipes, as of plans, have no inner orders and no paths.
    let known = || sections.iter().flat_map(|section| lists_of(section.kind));
    let has_paths = known().any(|name| name == "indices");
    let own = |name: &str| {
        name.rsplit('/').next().is_some_and(|own| known().any(|known| known == own) && (has_paths || own == name))
    };
    if let Some((name, _)) = lists.iter().find(|(name, _)| !own(name)) {
        let mut names: Vec<&str> = Vec::new();
        known().for_each(|name| {
            if !names.contains(&name) {
                names.push(name)
            }
        });
        return Err(Failure::unknown_name("lists", name, one_of(names)));
    }
    for (at, (name, _)) in lists.iter().enumerate() {
        if lists.iter().take(at).any(|(before, _)| before == name) {
            return Err(Failure::contradiction("lists", format!("{name} twice"), "each name once"));
        }
    }
    Ok(())
}

/// The names of the members of a section whose lists may come beside the document.
fn lists_of(section: Kind) -> impl Iterator<Item = &'static str> {
    let members = if let Kind::Section(members) = section { members } else { &[] };
    let is_list = |member: &&Member| matches!(member.kind, Kind::Numbers { beside: true, .. });
    members.iter().filter(is_list).map(|member| member.name)
}

/// The list of a member that comes beside the document.
#[inline(never)]
pub(crate) fn beside<'a>(member: &str, lists: &[List<'a>]) -> Option<&'a [u64]> {
    lists.iter().find(|(name, _)| *name == member).map(|&(_, list)| list)
}

/// Checks that every list belongs to one of the members `own`, or to an inner order (`below`). Failures: `lists`.
pub(crate) fn check_lists(lists: &[List], own: &[Member], below: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let is_own = |name: &str| own.iter().any(|member| member.name == name);
    match lists.iter().find(|(name, _)| !is_own(name) && !below(name)) {
        Some((name, _)) => Err(Failure::contradiction("lists", name, "lists of members that the recipe has")),
        None => Ok(()),
    }
}
