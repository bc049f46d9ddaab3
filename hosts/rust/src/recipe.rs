//! Recipes in the making: a text that was given, what was set of it, and the lists beside it.

use serde_json::{Map, Value, json};
use wasmtime::component::ResourceAny;

use crate::engine::{Object, Store, World, batching_types, check_room, cut, planning_types, types};
use crate::{Error, Failure};

/// The most bytes of a recipe: what does not fit into the memory would stop the component before it can say so.
const MAX_RECIPE: usize = 1 << 20;

/// Numbers that a recipe has as a hash or not at all, and the name of their member.
pub(crate) type List = (String, Vec<u64>);

/// A recipe, if it is not longer than any.
pub(crate) fn checked_recipe(recipe: &str) -> Result<&str, Failure> {
    if recipe.len() > MAX_RECIPE {
        let value = format!("of {} bytes", recipe.len());
        let failure = Failure::out_of_range("recipe", value, format!("up to {MAX_RECIPE}"));
        return Err(failure.within(None, Some(MAX_RECIPE as u64)));
    }
    Ok(recipe)
}

/// What a recipe is made of. An option that is not set is left out, so that it has its default.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// A recipe that was given.
    given: Option<String>,
    /// What was set: a member for each section of a recipe.
    set: Value,
    lists: Vec<List>,
}

impl Draft {
    pub fn new(given: Option<String>) -> Self {
        Self { given, set: json!({}), lists: Vec::new() }
    }

    pub fn set(&mut self, section: &str, member: &str, value: impl Into<Value>) {
        self.set[section][member] = value.into();
    }

    /// Writes a section also if nothing is set in it.
    pub fn write(&mut self, section: &str) {
        if self.set[section].is_null() {
            self.set[section] = json!({});
        }
    }

    /// Puts a list beside the recipe, in place of one with the same name.
    pub fn list(&mut self, name: &str, numbers: impl Into<Vec<u64>>) {
        self.lists.retain(|(other, _)| other != name);
        self.lists.push((name.to_owned(), numbers.into()));
    }

    pub fn set_lists(&mut self, lists: Vec<List>) {
        self.lists = lists;
    }

    pub fn lists(&self) -> &[List] {
        &self.lists
    }

    /// Whether no recipe was given.
    pub fn is_new(&self) -> bool {
        self.given.is_none()
    }

    /// Whether a recipe was given that has this section.
    pub fn has(&self, section: &str) -> bool {
        let recipe = self.given.as_deref().and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        recipe.is_some_and(|recipe| recipe.contains_key(section))
    }

    /// The recipe that was given, with what was set in place of what it has.
    pub fn text(&self) -> Result<String, Failure> {
        let Some(given) = &self.given else { return Ok(self.set.to_string()) };
        checked_recipe(given)?;
        let changes = self.set.as_object().filter(|changes| !changes.is_empty());
        // What is no recipe, the component refuses.
        let (Some(changes), Ok(mut recipe)) = (changes, serde_json::from_str::<Map<String, Value>>(given)) else {
            return Ok(given.clone());
        };
        for (section, members) in changes {
            let own = recipe.entry(section).or_insert_with(|| json!({}));
            if let (Some(own), Some(members)) = (own.as_object_mut(), members.as_object()) {
                own.extend(members.clone());
            }
        }
        Ok(Value::Object(recipe).to_string())
    }

    /// What a component makes of it, in an instance of its own.
    pub fn make<W: World, L: From<List>, F: Into<Failure>>(
        self,
        memory_limit: usize,
        make: impl FnOnce(&W, &mut Store, &str, &[L]) -> wasmtime::Result<Result<ResourceAny, F>>,
    ) -> Result<Object<W>, Error> {
        let text = self.text()?;
        let text = checked_recipe(&text)?;
        let longest = self.lists.iter().max_by_key(|(_, numbers)| numbers.len());
        let (name, count) = longest.map_or(("", 0), |(name, numbers)| (name.as_str(), numbers.len()));
        check_room(memory_limit, name, count, size_of_lists(&self.lists))?;
        let lists = self.lists.into_iter().map(L::from).collect::<Vec<_>>();
        Object::new(memory_limit, |exports: &W, store| make(exports, store, text, &lists))
    }
}

/// How many bytes of memory lists take.
pub(crate) fn size_of_lists(lists: &[List]) -> usize {
    lists.iter().map(|(_, numbers)| size_of_val(&numbers[..])).sum()
}

macro_rules! from {
    ($types:ident) => {
        impl From<List> for $types::NamedList {
            fn from((name, numbers): List) -> Self {
                Self { name: cut(name), numbers }
            }
        }
    };
}
// The same record, once in each component.
from!(types);
from!(planning_types);
from!(batching_types);
