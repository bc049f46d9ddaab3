//! Drafts of recipes, for builders: a given text, the options that were set, and the lists beside the text.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::engine::types::NamedList;
use crate::engine::{Instance, Object, check_room, cut};
use crate::generated::MAX_TEXT;
use crate::members::{List, Shared, exact};
use crate::order::OrderOption;
use crate::{Error, Failure, IndexSpace};

/// The name of the list of bucket boundaries. All other lists belong to the order.
pub(crate) const BOUNDARIES: &str = "boundaries";

/// The recipe, or an error if it has more than [`MAX_TEXT`] bytes.
pub(crate) fn checked_recipe(recipe: &str) -> Result<&str, Failure> {
    if recipe.len() > MAX_TEXT {
        let value = format!("of {} bytes", recipe.len());
        let failure = Failure::out_of_range("recipe", value, format!("up to {MAX_TEXT}"));
        return Err(failure.within(None, Some(MAX_TEXT as u64)));
    }
    Ok(recipe)
}

/// The parts from which a recipe is made. An option that is not set is left out of the recipe, so that it has its
/// default.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The text of a given recipe.
    given: Option<String>,
    /// A whole section `order`, which replaces the section of the given recipe.
    order: Option<Map<String, Value>>,
    /// The options that were set, as JSON: a member for each section of a recipe, with the options of the section.
    set: Value,
    lists: Vec<Shared>,
}

impl Draft {
    pub fn new(given: Option<String>) -> Self {
        Self { given, order: None, set: json!({}), lists: Vec::new() }
    }

    /// Sets the order. A name replaces only the name. A whole order replaces the section `order`, its lists, and all
    /// options of the order that were set before.
    pub fn order(&mut self, order: OrderOption) {
        match order {
            OrderOption::Name(name) => self.set("order", "name", cut(name)),
            OrderOption::Order(order) => {
                let (members, lists) = order.into_parts();
                self.lists.retain(|(name, _)| name == BOUNDARIES);
                self.lists.extend(lists);
                self.order = Some(members);
                if let Some(sections) = self.set.as_object_mut() {
                    sections.remove("order");
                }
            }
        }
    }

    pub fn set(&mut self, section: &str, member: &str, value: impl Into<Value>) {
        self.set[section][member] = exact(value.into());
    }

    /// Makes the recipe contain a section, even if no option of the section is set.
    pub fn write(&mut self, section: &str) {
        if self.set[section].is_null() {
            self.set[section] = json!({});
        }
    }

    /// Puts a list beside the recipe, in place of one with the same name.
    pub fn list(&mut self, name: &str, numbers: impl Into<Vec<u64>>) {
        self.lists.retain(|(other, _)| other != name);
        self.lists.push((name.to_owned(), Arc::new(numbers.into())));
    }

    pub fn set_lists(&mut self, lists: Vec<List>) {
        self.lists = shared(lists);
    }

    pub fn share_lists(&mut self, lists: Vec<Shared>) {
        self.lists = lists;
    }

    pub fn lists(&self) -> &[Shared] {
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

    /// The text of the recipe: the given one, in which members that were set replace the given members.
    pub fn text(&self) -> Result<String, Failure> {
        let mut recipe = match &self.given {
            None => Map::new(),
            Some(given) => {
                checked_recipe(given)?;
                let changes = self.order.is_some() || self.set.as_object().is_some_and(|changes| !changes.is_empty());
                // A text that is no JSON object is returned unchanged: the component refuses it.
                match serde_json::from_str(given) {
                    Ok(recipe) if changes => recipe,
                    _ => return Ok(given.clone()),
                }
            }
        };
        if let Some(order) = &self.order {
            recipe.insert("order".to_owned(), Value::Object(order.clone()));
        }
        for (section, members) in self.set.as_object().into_iter().flatten() {
            let own = recipe.entry(section).or_insert_with(|| json!({}));
            if let (Some(own), Some(members)) = (own.as_object_mut(), members.as_object()) {
                own.extend(members.clone());
            }
        }
        Ok(Value::Object(recipe).to_string())
    }

    /// A draft of the innermost order alone, without the orders around it, which have the same sample indices (each
    /// holds the next inner order as its member `of`). A text that is no recipe stays as it is: the component refuses
    /// it later.
    pub fn of_order(&self) -> Result<Self, Failure> {
        let text = self.text()?;
        let Ok(Value::Object(mut recipe)) = serde_json::from_str(&text) else { return Ok(Self::new(Some(text))) };
        let mut order = recipe.remove("order").unwrap_or_else(|| json!({}));
        let mut path = String::new();
        while let Some(of) = order.get_mut("of").filter(|of| of.is_object()) {
            order = of.take();
            path += "of/";
        }
        let mut own = Self::new(Some(json!({ "order": order }).to_string()));
        let lists = self.lists.iter().filter(|(name, _)| name != BOUNDARIES);
        let within = lists.filter_map(|(name, list)| Some((name.strip_prefix(&path)?.to_owned(), Arc::clone(list))));
        own.lists = within.collect();
        Ok(own)
    }

    /// Whether the order is a blend whose sources have sample indices of their own. A text that is no recipe counts as
    /// one: the component refuses it later.
    pub fn is_joined_blend(&self) -> Result<bool, Failure> {
        let Ok(Value::Object(recipe)) = serde_json::from_str(&self.text()?) else { return Ok(true) };
        let member = |name: &str| recipe.get("order").and_then(|order| order.get(name));
        let joined = Value::from(IndexSpace::Joined.name());
        Ok(member("sources").is_some_and(Value::is_array) && *member("index_space").unwrap_or(&joined) == joined)
    }

    /// Makes an object from this recipe, in a new instance.
    pub fn make<T>(
        self,
        memory_limit: usize,
        make: impl FnOnce(Instance, &str, &[NamedList]) -> Result<Object<T>, Error>,
    ) -> Result<Object<T>, Error> {
        let text = self.text()?;
        let text = checked_recipe(&text)?;
        let longest = self.lists.iter().max_by_key(|(_, numbers)| numbers.len());
        let (name, count) = longest.map_or(("recipe", text.len()), |(name, numbers)| (name.as_str(), numbers.len()));
        check_room(memory_limit, name, count, size_of_lists(&self.lists) + text.len())?;
        let lists = self.lists.into_iter().map(named_list).collect::<Vec<_>>();
        make(Instance::new(memory_limit)?, text, &lists)
    }
}

pub(crate) fn shared(lists: Vec<List>) -> Vec<Shared> {
    lists.into_iter().map(|(name, numbers)| (name, Arc::new(numbers))).collect()
}

/// Bytes of memory that lists take, with their names.
pub(crate) fn size_of_lists(lists: &[Shared]) -> usize {
    let size = |(name, numbers): &Shared| size_of_val(&numbers[..]) + size_of::<Shared>() + name.len().min(MAX_TEXT);
    lists.iter().map(size).sum()
}

/// A list as a record of the interface.
pub(crate) fn named_list((name, numbers): Shared) -> NamedList {
    // No recipe can contain a longer name, so the component refuses it in any case. It is cut to fit into the memory.
    let name = if name.len() > MAX_TEXT { cut(name) } else { name };
    NamedList { name, numbers: Arc::unwrap_or_clone(numbers) }
}
