//! Checks the members of a document, each by itself, in the order of their table.

use alloc::format;
use alloc::vec::Vec;

use super::fields::{Fields, Value};
use super::json::unsigned;
use super::lists::{List, beside};
use super::member::{Default, Kind, Member, Need, decider, joined, words};
use super::numbers::{self, Chosen};
use crate::base::Failure;
use crate::base::failure::{at_most, range, shorten};
use crate::base::memory::collect;

/// Names of members that a stage has already found, such as the name of an order: pairs of a member and the name that
/// it has. They replace the names in the document.
pub(crate) type Names<'n> = &'n [(&'static str, &'static str)];

/// An object whose members were checked, each by itself.
pub(crate) struct Checked<'f, 'a> {
    fields: &'f Fields<'a>,
    /// The lists that were found, in the document or beside it, by the names of their members.
    numbers: Vec<(&'static str, &'f [u64])>,
}

impl<'a> core::ops::Deref for Checked<'_, 'a> {
    type Target = Fields<'a>;

    fn deref(&self) -> &Fields<'a> {
        self.fields
    }
}

impl<'f> Checked<'f, '_> {
    /// The list of a member, from the document or from beside it.
    pub(crate) fn found(&self, field: &str) -> Option<&'f [u64]> {
        self.numbers.iter().find(|(of, _)| *of == field).map(|&(_, numbers)| numbers)
    }

    /// A copy of the list of a member; empty if there is none. Failures: `out-of-memory`.
    pub(crate) fn copied(&self, field: &'static str) -> Result<Vec<u64>, Failure> {
        let found = self.found(field).unwrap_or_default();
        collect(field, found.len(), found.iter().copied())
    }

    /// A copy of the list of a member whose numbers have 32 bits; empty if there is none. Failures: `out-of-memory`.
    pub(crate) fn copied32(&self, field: &'static str) -> Result<Vec<u32>, Failure> {
        let found = self.found(field).unwrap_or_default();
        collect(field, found.len(), found.iter().map(|&number| number as u32))
    }
}

impl<'a> Fields<'a> {
    /// Checks every member, in the order of the table: the member may be given, it is there if it is required, and it
    /// is in its range. Objects in lists are checked in the same way. Sections are not checked here, but by the stages
    /// that use them. Failures: the first member that is wrong.
    #[inline(never)]
    pub(crate) fn check<'f>(&'f self, lists: &[List<'f>], given: Names) -> Result<Checked<'f, 'a>, Failure> {
        let mut checked = Checked { fields: self, numbers: Vec::new() };
        for member in self.known {
            let list = match member.kind {
                Kind::Numbers { beside: true, .. } => beside(member.name, lists),
                _ => None,
            };
            let value = self.value(member.name);
            if value.is_none() && list.is_none() {
                match member.default {
                    Default::Required(what) if self.fits(member, given) => {
                        return Err(Failure::missing(member.name, what));
                    }
                    _ => continue,
                }
            }
            if !self.fits(member, given) {
                return Err(self.misplaced(member, list, given));
            }
            if let Some(numbers) = self.check_value(member, value, list)? {
                checked.numbers.push((member.name, numbers));
            }
        }
        Ok(checked)
    }

    /// Checks the members of a section, as `check` does. Failures have the path of the section.
    pub(crate) fn check_section<'f>(&'f self, name: &str, lists: &[List<'f>]) -> Result<Checked<'f, 'a>, Failure> {
        let section = self.section(name);
        section.check(lists, &[]).map_err(|failure| failure.under(name, section.known))
    }

    /// Checks the value of a member. For a member of the kind `Numbers`, returns its list, if there is one. Failures:
    /// the member, or one of the objects in it.
    fn check_value<'f>(
        &'f self,
        member: &Member,
        value: Option<&'f Value<'a>>,
        list: Option<&'f [u64]>,
    ) -> Result<Option<&'f [u64]>, Failure> {
        let field = member.name;
        match (member.kind, value) {
            (kind, Some(&Value::Number(number))) if let Some((least, most)) = kind.ends() => {
                let number = unsigned(number).unwrap_or_default();
                if !(least..=most).contains(&number) {
                    return Err(Failure::out_of_range(field, number, range(least, most)));
                }
            }
            (Kind::Text { least, most }, Some(Value::Text(text))) if !(least..=most).contains(&text.len()) => {
                return Err(Failure::out_of_range(field, shorten(text), range(least, most).and(" bytes")));
            }
            (Kind::Name(names), Some(Value::Text(text))) if !names.contains(&&**text) => {
                return Err(Failure::unknown_name(field, text, member.kind.allowed()));
            }
            (Kind::Numbers { most, .. }, _) => {
                let of_text = if let Some(Value::Numbers(numbers)) = value { Some(numbers) } else { None };
                let found = match numbers::chosen(field, of_text, list.map(|list| list.iter().copied()))? {
                    Chosen::Nowhere => return Ok(None),
                    Chosen::Text(numbers) => numbers,
                    Chosen::Beside => list.unwrap_or_default(),
                };
                if let Some(at) = found.iter().position(|&number| number > most) {
                    return Err(Failure::out_of_range(field, found[at], range(0, most)).at_index(at));
                }
                return Ok(Some(found));
            }
            (Kind::Objects { most, .. }, Some(Value::Objects(objects))) => {
                if let (Default::Required(what), true) = (member.default, objects.is_empty()) {
                    return Err(Failure::missing(field, what));
                }
                if objects.len() > most {
                    return Err(Failure::out_of_range(field, format!("{} objects", objects.len()), at_most(most)));
                }
                for (index, object) in objects.iter().enumerate() {
                    object.check(&[], &[]).map_err(|failure| failure.in_element(field, index))?;
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// The name that a member has: from `given`, from the document, or by default.
    #[inline(never)]
    fn name_now<'n>(&'n self, field: &str, given: Names<'n>) -> &'n str {
        if let Some(&(_, name)) = given.iter().find(|(of, _)| *of == field) {
            return name;
        }
        let by_default = || match self.known.iter().find(|member| member.name == field)?.kind {
            Kind::Name(names) => names.first().copied(),
            _ => None,
        };
        self.text(field).or_else(by_default).unwrap_or_default()
    }

    /// Whether a member may be given. Its `place` is the condition, on the names that other members have.
    #[inline(never)]
    pub(crate) fn fits(&self, member: &Member, given: Names) -> bool {
        let holds = |need: &Need| need.names.contains(&self.name_now(need.member, given)) == need.is_one;
        member.place.is_empty() || member.place.iter().any(|all| all.iter().all(holds))
    }

    #[cold]
    #[inline(never)]
    fn misplaced(&self, member: &Member, list: Option<&[u64]>, given: Names) -> Failure {
        let value = match self.shown(member.name) {
            Some(value) => value,
            None => numbers::counted(list),
        };
        let decides = |field: &str| {
            self.known
                .iter()
                .flat_map(|member| member.place.iter().flat_map(|all| all.iter()))
                .any(|need| need.member == field)
        };
        let named = self
            .known
            .iter()
            .filter(|other| matches!(other.kind, Kind::Name(_)) && decides(other.name) && self.fits(other, given));
        let named = named.map(|other| format!("{} {}", decider(other.name), self.name_now(other.name, given)));
        let mut here = given.iter().map(|&(of, name)| format!("the {} {name}", decider(of))).chain(named);
        let here = joined(&mut here, " and ", " and ");
        Failure::contradiction(member.name, value, format!("none with {here}; it goes with {}", words(member.place)))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use crate::deal::Recipe;
    use crate::split::Split;

    fn told(order: &str, deal: &str) -> String {
        let text = format!("{{\"order\":{{\"samples\":9{order}}},\"deal\":{{{deal}}}}}");
        Recipe::read(&text, &[]).err().unwrap().to_string()
    }

    #[test]
    fn a_number_is_told_the_range_of_its_member() {
        for (value, shown) in [("0", "0"), ("-1", "-1"), ("4294967296", "4294967296")] {
            assert_eq!(
                told("", &format!("\"world_size\":{value}")),
                format!("deal.world_size is {shown}; allowed: 1 to 4294967295")
            );
        }
        assert_eq!(told("", "\"unit\":-3"), "deal.unit is -3; allowed: 1 to 1048576");
        assert_eq!(
            told("", "\"world_size\":1.5"),
            "deal.world_size is 1.5; allowed: a whole number from 1 to 4294967295"
        );
    }

    #[test]
    fn the_first_member_of_the_table_is_told() {
        // The order of the table counts, not that of the text.
        let deal = "\"unit\":0,\"layout\":\"x\",\"remainder\":\"y\",\"world_size\":0";
        assert!(told("", deal).starts_with("deal.world_size is 0"));
        assert!(told("", &deal.replace("\"world_size\":0", "\"world_size\":1")).starts_with("deal.remainder is \"y\""));
        // `lanes` does not belong here and is out of range: the former is told. An earlier section is told before a
        // later one.
        let order = ",\"shuffle_window\":0,\"lanes\":0";
        assert_eq!(
            told(order, deal),
            "order.lanes is 0; allowed: none with the order feistel; it goes with order sharded"
        );
    }

    #[test]
    fn objects_in_lists_are_checked_one_after_the_other() {
        let failure = Split::read(r#"{"split":{"parts":[{"name":"a"},{"name":"","weight":1},{}]}}"#).err().unwrap();
        assert_eq!(failure.to_string(), "split.parts[1].name is ; allowed: 1 to 256 bytes");
        let failure = Split::read(r#"{"split":{"parts":[]}}"#).err().unwrap();
        assert!(failure.to_string().starts_with("split.parts is missing"));
    }
}
