//! The kind of a text: a recipe, a state, a log or an index; and the recipe of an object that resumes a state.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::failure::{at_most, known};
use crate::base::memory::grow;
use crate::document::recipe::other_format;
use crate::document::{DEEPEST, MAX_TEXT, Reader, unsigned};

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextKind {
    /// `recipe`, `state`, `log` (the first entry of the log of a ledger), or `index` (of the windows of batches).
    pub form: &'static str,
    /// The object that the text belongs to: `sampler`, `batcher`, `plan`, `reading`, `chunk-stream`, `schedule` or
    /// `split`. A log belongs to a sampler, an index to a batcher.
    pub of: &'static str,
}

/// The kinds of texts that have a member `kind`, by its value.
const KINDS: [(&str, TextKind); 6] = [
    ("sampler", TextKind { form: "state", of: "sampler" }),
    ("batcher", TextKind { form: "state", of: "batcher" }),
    ("reading", TextKind { form: "state", of: "reading" }),
    ("schedule", TextKind { form: "state", of: "schedule" }),
    ("ledger", TextKind { form: "log", of: "sampler" }),
    ("index", TextKind { form: "index", of: "batcher" }),
];

/// The kinds of recipes, by the sections and members that tell them. The first one that the text has decides. A recipe has
/// no member `kind`, because objects of several kinds read the same sections: a state's `order` goes on as a sampler, a
/// batcher or a reading (`recipe_after`). A later kind of recipe gets a section of its own, and the first place here.
const MARKS: [(&str, &str); 11] = [
    ("split", "split"),
    ("steps", "schedule"),
    ("deal.readers", "chunk-stream"),
    ("order.chunks", "chunk-stream"),
    ("batch.batch_size", "reading"),
    ("batch.drop_last", "reading"),
    ("shards", "plan"),
    ("batch", "batcher"),
    ("deal.workers", "reading"),
    ("order", "sampler"),
    ("deal", "sampler"),
];

/// The sections of recipes.
const SECTIONS: [&str; 6] = ["order", "shards", "deal", "batch", "steps", "split"];

/// The kind of a text, by the members that it has. The members are not checked. Failures: `text`, `samedeal`, `kind`,
/// `out-of-memory`.
pub fn inspect(text: &str) -> Result<TextKind, Failure> {
    let found = Found::of_this_format("text", text)?;
    match found.kind {
        Some(kind) => {
            let of_name = KINDS.into_iter().find(|(name, _)| *name == kind);
            let names = || known(KINDS.map(|(name, _)| name));
            of_name.map(|(_, kind)| kind).ok_or_else(|| Failure::unknown_name("kind", &kind, names()))
        }
        None => {
            let allowed = "a recipe, a state, the first entry of the log of a ledger, or an index of batches";
            let of = found.recipe_of().ok_or_else(|| Failure::wrong_type("text", text, allowed))?;
            Ok(TextKind { form: "recipe", of })
        }
    }
}

/// The recipe of an object that resumes a state: the sections of the state, and those of `sections`, an object with the
/// sections that no state has, such as the deal. The recipe is not checked: a state of another format is refused here,
/// because the recipe would not say so any more. Failures: `samedeal`, `state`, `sections`; `samedeal` and `kind` of either
/// text, if they have a wrong type; `out-of-memory`.
pub fn recipe_after(state: &str, sections: &str) -> Result<String, Failure> {
    let found = Found::of_this_format("state", state)?;
    let recipe = found.recipe.filter(|_| found.kind.is_some());
    let own =
        recipe.and_then(inner).ok_or_else(|| Failure::wrong_type("state", state, "the text that `state` gave"))?;
    Found::read("sections", sections)?;
    let other = inner(sections.trim()).unwrap_or_default();
    let comma = if own.is_empty() || other.is_empty() { "" } else { "," };
    Ok(format!("{{{own}{comma}{other}}}"))
}

/// The text within the braces of an object.
fn inner(object: &str) -> Option<&str> {
    Some(object.strip_prefix('{')?.strip_suffix('}')?.trim())
}

/// The members of a text that decide its kind. If a member is there twice, the last one counts.
#[derive(Default)]
pub(super) struct Found<'a> {
    kind: Option<String>,
    /// The text of the member `recipe`, if it is an object.
    recipe: Option<&'a str>,
    /// The sections of the text, and those of their members that decide the kind, such as `deal` and `deal.workers`.
    members: Vec<String>,
    /// The failure of `samedeal` or `kind`, whichever has a wrong type first. The failure is returned only if the whole
    /// text is JSON.
    mistyped: Option<Failure>,
}

impl<'a> Found<'a> {
    /// Refuses a text of another format, whatever else is wrong with it, and then calls `read`. Failures: `samedeal`; those of
    /// `read`.
    fn of_this_format(field: &'static str, text: &'a str) -> Result<Self, Failure> {
        let other = if text.len() > MAX_TEXT { None } else { other_format(text) };
        other.map_or_else(|| Self::read(field, text), Err)
    }

    /// Finds the members that decide the kind of a text. Failures: `field`, `samedeal`, `kind`, `out-of-memory`.
    pub(super) fn read(field: &'static str, text: &'a str) -> Result<Self, Failure> {
        if text.len() > MAX_TEXT {
            return Err(Failure::out_of_range(field, format!("of {} bytes", text.len()), at_most(MAX_TEXT)));
        }
        let (mut found, mut failed) = (Self::default(), None);
        let mut reader = Reader::new(text);
        let read = reader.object(|reader, name| {
            found.add(reader, text, &name).unwrap_or_else(|failure| {
                failed = Some(failure);
                None
            })
        });
        match (failed, read.filter(|()| reader.is_at_end())) {
            (Some(failure), _) => Err(failure),
            (None, Some(())) => found.mistyped.take().map_or(Ok(found), Err),
            (None, None) => Err(Failure::wrong_type(field, text, "a JSON object, and nothing else")),
        }
    }

    /// Reads a member; none where the text is no JSON. Failures: `out-of-memory`.
    fn add(&mut self, reader: &mut Reader<'a>, text: &'a str, name: &str) -> Result<Option<()>, Failure> {
        let is_object = reader.is_at(b'{');
        if SECTIONS.contains(&name) {
            self.members.retain(|member| member.split('.').next() != Some(name));
            if is_object {
                return self.add_section(reader, name);
            }
        }
        let start = reader.place();
        if reader.skip(DEEPEST).is_none() {
            return Ok(None);
        }
        let value = text.get(start..reader.place()).unwrap_or_default();
        let mut own = Reader::new(value);
        let mistyped = match name {
            "samedeal" => {
                let version = own.number().and_then(unsigned);
                version.is_none().then(|| Failure::wrong_type("samedeal", value, "a whole number"))
            }
            "kind" => {
                self.kind = own.string().map(|kind| kind.chars().take(65).collect());
                self.kind.is_none().then(|| Failure::wrong_type("kind", value, "a text"))
            }
            "recipe" => {
                self.recipe = is_object.then_some(value);
                None
            }
            _ => None,
        };
        self.mistyped = self.mistyped.take().or(mistyped);
        Ok(Some(()))
    }

    /// Notes a section, and those of its members that decide the kind of the text; none where the text is no JSON.
    /// Failures: `out-of-memory`.
    fn add_section(&mut self, reader: &mut Reader<'a>, name: &str) -> Result<Option<()>, Failure> {
        self.note(name.into())?;
        let mut failed = None;
        let read = reader.object(|reader, member| {
            let mark = MARKS.iter().find(|(mark, _)| mark.split_once('.') == Some((name, &*member)));
            let noted = mark.map_or(Ok(()), |&(mark, _)| self.note(mark.into()));
            failed = noted.err();
            if failed.is_some() { None } else { reader.skip(DEEPEST - 1) }
        });
        failed.map_or(Ok(read), Err)
    }

    fn note(&mut self, member: String) -> Result<(), Failure> {
        if !self.members.contains(&member) {
            grow("text", 1, &mut self.members)?;
            self.members.push(member);
        }
        Ok(())
    }

    /// The object that a recipe belongs to; none if the text is no recipe.
    pub(super) fn recipe_of(&self) -> Option<&'static str> {
        let has = |mark: &str| self.members.iter().any(|own| own == mark);
        let found = MARKS.iter().find(|(mark, _)| self.kind.is_none() && has(mark));
        found.map(|&(_, kind)| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::differences::canonical;

    fn kind(text: &str) -> Option<(&'static str, &'static str)> {
        inspect(text).ok().map(|kind| (kind.form, kind.of))
    }

    #[test]
    fn every_kind_of_recipe_has_its_own_members() {
        for (text, of) in [
            (r#"{"order": {"samples": 10}}"#, "sampler"),
            (r#"{"samedeal": 1, "order": {"samples": 10, "of": {"name": "x"}}, "deal": {"world_size": 2}}"#, "sampler"),
            (r#"{"order": {"samples": 10}, "batch": {"strategy": "pack"}}"#, "batcher"),
            (r#"{"order": {"sizes": [1, [2]]}, "deal": {"workers": 2}}"#, "reading"),
            (r#"{"shards": {}, "batch": {"batch_size": 4}}"#, "reading"),
            (r#"{"shards": {"sizes": [3]}}"#, "plan"),
            (r#"{"order": {"chunks": 7}}"#, "chunk-stream"),
            (r#"{"deal": {"readers": 7}}"#, "chunk-stream"),
            (r#"{"order": {"samples": 10}, "steps": {"global_batch_size": 4}}"#, "schedule"),
            (r#"{"split": {"parts": []}}"#, "split"),
            // If a section is there twice, the last one counts.
            (r#"{"order": {"chunks": 7}, "order": {"samples": 10}}"#, "sampler"),
            (r#"{"order": {}, "split": {}, "split": 7}"#, "sampler"),
        ] {
            assert_eq!(kind(text), Some(("recipe", of)), "{text}");
        }
    }

    /// Otherwise, a kind of recipe that is added later could be taken for another one.
    #[test]
    #[cfg(feature = "texts")]
    fn the_first_mark_that_a_kind_of_recipe_can_have_is_its_own() {
        use crate::document::member::Kind;
        use crate::texts::tables::RECIPES;

        for (kind, sections) in RECIPES {
            let can_have = |mark: &str| {
                let (section, member) = mark.split_once('.').unwrap_or((mark, ""));
                let own = sections.iter().find(|own| own.name == section);
                own.is_some_and(|own| match own.kind {
                    Kind::Elsewhere(_) => false,
                    Kind::Section(members) if !member.is_empty() => {
                        members.iter().any(|own| own.name == member && !matches!(own.kind, Kind::Elsewhere(_)))
                    }
                    _ => true,
                })
            };
            let first = MARKS.into_iter().find(|(mark, _)| can_have(mark));
            assert_eq!(first.map(|(_, of)| of), Some(kind), "{kind}");
        }
    }

    /// A canonical text has all members, so the mark of its kind is always among them.
    #[test]
    fn a_canonical_text_tells_its_kind() {
        for (kind, text) in [
            ("sampler", r#"{"order":{"samples":10}}"#),
            ("batcher", r#"{"batch":{"max_tokens":64}}"#),
            ("reading", r#"{"order":{"sizes":[4,5]}}"#),
            ("reading", r#"{"shards":{"sizes":[4,5]}}"#),
            ("plan", r#"{"shards":{"sizes":[4,5]}}"#),
            ("chunk-stream", r#"{}"#),
            ("schedule", r#"{"order":{"samples":10},"steps":{"global_batch_size":4}}"#),
            ("split", r#"{"split":{"parts":[{"name":"a","weight":1}]}}"#),
        ] {
            let text = canonical(kind, text).unwrap();
            assert_eq!(self::kind(&text), Some(("recipe", kind)), "{text}");
        }
    }

    #[test]
    fn a_text_with_a_kind_is_told_by_it() {
        for (name, form, of) in [
            ("sampler", "state", "sampler"),
            ("batcher", "state", "batcher"),
            ("reading", "state", "reading"),
            ("schedule", "state", "schedule"),
            ("ledger", "log", "sampler"),
            ("index", "index", "batcher"),
        ] {
            let text = format!(r#"{{"samedeal": 1, "kind": "{name}", "order": {{}}}}"#);
            assert_eq!(kind(&text), Some((form, of)), "{text}");
        }
        // An index has no recipe to go on with.
        assert_eq!(recipe_after(r#"{"kind": "index", "steps": [1]}"#, "{}").unwrap_err().field, "state");
    }

    #[test]
    fn what_is_none_of_them_says_why() {
        for (text, field) in [
            ("", "text"),
            ("[]", "text"),
            ("{}", "text"),
            (r#"{"name": 1.5e3}"#, "text"),
            (r#"{"order": 7}"#, "text"),
            (r#"{"order": {}} x"#, "text"),
            (r#"{"order": {}"#, "text"),
            (r#"{"samedeal": 2, "order": {}}"#, "samedeal"),
            (r#"{"kind": 7, "samedeal": 2"#, "samedeal"),
            (r#"{"kind": "future", "recipe": {}}"#, "kind"),
            (r#"{"kind": 7}"#, "kind"),
            (r#"{"samedeal": "1", "order": {}}"#, "samedeal"),
            (r#"{"kind": 7, "samedeal": "1"}"#, "kind"),
            (r#"{"samedeal": "1", "kind": 7} x"#, "text"),
        ] {
            assert_eq!(inspect(text).unwrap_err().into_parts().field, field, "{text}");
        }
        for (depth, is_read) in [(64, true), (65, false)] {
            for [open, close] in [["[", "]"], [r#"{"order":"#, "}"]] {
                let value = format!("{}7{}", open.repeat(depth), close.repeat(depth));
                let text = format!(r#"{{"kind":"sampler","order":{value}}}"#);
                assert_eq!(inspect(&text).is_ok(), is_read, "{text}");
            }
        }
    }

    #[test]
    fn what_goes_on_has_the_sections_of_both() {
        let state = r#"{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":9}},"epoch":1}"#;
        assert_eq!(
            recipe_after(state, r#" {"deal": {"world_size": 2}} "#).unwrap(),
            r#"{"order":{"name":"feistel","samples":9},"deal": {"world_size": 2}}"#
        );
        assert_eq!(recipe_after(state, "{}").unwrap(), r#"{"order":{"name":"feistel","samples":9}}"#);
        for (state, sections, field) in [
            (r#"{"order": {"samples": 9}}"#, "{}", "state"),
            (r#"{"recipe": {"order": {}}}"#, "{}", "state"),
            (r#"{"kind": "sampler"}"#, "{}", "state"),
            (state, "", "sections"),
            (state, "[]", "sections"),
            (state, "{} {}", "sections"),
        ] {
            assert_eq!(recipe_after(state, sections).unwrap_err().into_parts().field, field, "{state} {sections}");
        }
    }
}
