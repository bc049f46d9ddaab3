//! Long lists that come beside a document, by the names of their members.

use alloc::format;
use alloc::vec::Vec;

use super::member::{Kind, Member};
use crate::base::failure::{Failure, known as one_of};

/// Numbers that a recipe may have as a hash alone, by the name of their member.
pub type List<'a> = (&'a str, &'a [u64]);

/// Whether lists have names that they may have beside a document of these sections, each name once. Failures: `lists`.
pub(super) fn check_names(sections: &'static [Member], lists: &[List]) -> Result<(), Failure> {
    // In the recipe of a sampler, a list of an order within another one has the path to it before its own name.
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

/// The members of a section that may come beside the document, by their names.
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

/// Failures: `lists`, where a list is neither of these members nor below one of them.
pub(crate) fn check_lists(lists: &[List], own: &[Member], below: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let is_own = |name: &str| own.iter().any(|member| member.name == name);
    match lists.iter().find(|(name, _)| !is_own(name) && !below(name)) {
        Some((name, _)) => Err(Failure::contradiction("lists", name, "lists of members that the recipe has")),
        None => Ok(()),
    }
}
