//! The plain part of the facade of a resource: a class upon which a hand-written one builds, with a property for each value and a method for
//! each function that takes numbers, flags and names. It checks what cannot cross, asks the resource in the engine of the object, and
//! turns what that says into what Python has for it.

use wit_parser::{Function, FunctionKind, Type, TypeDefKind, TypeId};

use super::docs::{capital, docstring, note};
use super::names::{item, pascal, snake};
use super::{Module, Use, spread};
use crate::facade::is_value;

struct Facade {
    /// The resource.
    of: &'static str,
    /// Its functions that Python has in another form, by hand.
    by_hand: &'static [&'static str],
    /// The values that the engine of an object knows without a call, as it takes the object to them.
    known: &'static [&'static str],
    /// The other values that change when the object moves. What is left never does, and the instance is asked once.
    moving: &'static [&'static str],
}

const FACADES: &[Facade] = &[
    Facade {
        of: "sampler",
        // Any number of indices, batches of all ranks, columns in a dictionary.
        by_hand: &["indices", "indices32", "batch32", "step", "source-counts"],
        known: &["epoch", "rank", "consumed"],
        moving: &[
            "epoch-length",
            "num-samples",
            "max-num-samples",
            "num-padding",
            "num-positions",
            "num-dropped",
            "num-rounds",
        ],
    },
    // Batches as objects, metrics as one.
    Facade {
        of: "batcher",
        by_hand: &["take", "step", "metrics", "ratio", "wanted"],
        known: &["epoch"],
        moving: &["consumed", "num-windows", "num-known-windows", "num-steps"],
    },
    // Arrays of any length, loads as one object, a balance with its imbalance, steps that can be compared.
    Facade {
        of: "plan",
        by_hand: &["shards", "loads", "load-summary", "imbalance", "rows", "step-bounds"],
        known: &[],
        moving: &["epoch"],
    },
    // It holds what was pushed, and so has no engine of the kind that the others have.
    Facade { of: "batch-stream", by_hand: &["push", "flush", "take", "metrics", "ratio"], known: &[], moving: &[] },
    Facade { of: "chunk-stream", by_hand: &[], known: &[], moving: &[] },
    // Arrays of any length, steps that can be compared.
    Facade { of: "reading", by_hand: &["step", "step-bounds", "indices", "round-rows"], known: &[], moving: &[] },
    // Any number of steps.
    Facade { of: "schedule", by_hand: &["step", "indices"], known: &["rank"], moving: &[] },
    // Any number of ids, texts and samples.
    Facade { of: "split", by_hand: &["part-of", "part-of-run", "part-of-keys", "members"], known: &[], moving: &[] },
    // Coordinates by the names of axes, peers as `torch.distributed` takes them.
    Facade { of: "mesh", by_hand: &["coordinates", "rank-at", "peers"], known: &[], moving: &[] },
];

/// Functions with another name in Python.
const RENAMED: &[(&str, &str, &str)] = &[("schedule", "begin-of", "place_of"), ("schedule", "step-of-state", "resume")];

/// What parameters are if they are left out: of one function, or of all.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("", "drop-last", "False"),
    ("", "worker", "0"),
    ("fate", "batch-size", "1"),
    ("fate", "taken", "0"),
    ("locate", "step", "0"),
    ("shapes", "filled", "False"),
    ("step-of", "position", "0"),
];

/// What Python adds to a recipe.
const FROM_RECIPE: &str = "`recipe` is a dictionary, or a text of JSON. `memory_limit`: bytes of memory that the engine may use; 2^31 is the \
                           most that it can use.";

impl Module<'_> {
    /// The facade of a resource, if it has one.
    fn facade_of(&self, resource: TypeId) -> Option<&'static Facade> {
        let name = self.resolve.types[resource].name.as_deref()?;
        FACADES.iter().find(|facade| facade.of == name)
    }

    /// Whether the facade of its resource has a function in this form.
    pub(super) fn is_plain(&self, function: &Function) -> bool {
        let FunctionKind::Method(resource) = function.kind else { return false };
        let Some(facade) = self.facade_of(resource) else { return false };
        let result = function.result.map(|ty| self.value(&ty).unwrap_or(ty));
        !facade.by_hand.contains(&function.item_name())
            && !self.is_empty_result(function)
            && result.is_some_and(|ty| !self.is_resource(&ty))
            && function.params.iter().skip(1).all(|parameter| self.check(&parameter.name, &parameter.ty).is_some())
    }

    /// The class of a resource that has a facade.
    pub(super) fn facade(&self, resource: TypeId, name: &str) -> Result<String, String> {
        let Some(facade) = self.facade_of(resource) else { return Ok(String::new()) };
        self.uses(Use::Answered);
        let metrics = self.metrics(resource);
        let class = pascal(name);
        let mut text = format!(
            "\nclass {class}Base(Answered):\n    \"\"\"What a `{class}` is asked, for the class that users have.\"\"\"\n\n"
        );
        text += &self.options(resource)?;
        let functions = self.resolve.interfaces[self.id].functions.values();
        for function in functions.filter(|function| function.kind.resource() == Some(resource)) {
            if self.is_plain(function) {
                text += &self.plain_function(function, &class, facade)?;
            } else if matches!(function.kind, FunctionKind::Constructor(_)) && function.params[0].ty == Type::String {
                text += &self.of_recipe(function)?;
            }
        }
        Ok(text + &metrics)
    }

    /// The class of numbers by name that a resource has, and of their ratios, if it has some: each is an item of the list in the text.
    fn metrics(&self, resource: TypeId) -> String {
        let functions = self.resolve.interfaces[self.id].functions.values();
        let own = |name: &str| {
            functions
                .clone()
                .find(|function| function.kind.resource() == Some(resource) && function.item_name() == name)
        };
        let (Some(metrics), Some(ratio)) = (own("metrics"), own("ratio")) else { return String::new() };
        if !metrics.docs.contents.as_deref().is_some_and(|docs| docs.contains("\n- ")) {
            // It says that of another resource.
            return String::new();
        }
        self.uses(Use::Namespace);
        let listed = |function: &Function| -> Vec<(String, String)> {
            let items = self.text_of(function).paragraphs.into_iter();
            items
                .filter_map(|item| {
                    let (name, about) = item.strip_prefix("- `")?.split_once("`: ")?;
                    Some((name.to_owned(), capital(about)))
                })
                .collect()
        };
        let (numbers, ratios) = (listed(metrics), listed(ratio));
        let mut known = self.known.clone();
        known.values.extend(numbers.iter().map(|(name, _)| name.clone()));
        let mut text =
            "\nclass MetricsBase(SimpleNamespace):\n    \"\"\"Numbers by name, and ratios of them.\"\"\"\n\n"
                .to_owned();
        for (name, about) in numbers {
            text += &format!("    {}: int\n{}", snake(&name), note(&about, 4, &known));
        }
        for (name, about) in ratios {
            // Next to `padded`.
            let name = if name == "padding" { "padding_ratio".to_owned() } else { snake(&name) };
            text += &format!("    {name}: float\n{}", note(&about.replace("1,000,000", "1.0"), 4, &known));
        }
        text + "\n"
    }

    /// The class method that makes an object of a recipe, at the place that the other numbers of the constructor say.
    fn of_recipe(&self, function: &Function) -> Result<String, String> {
        self.uses(Use::Mapping);
        self.uses(Use::SupportsIndex);
        self.uses(Use::Recipes);
        let mut parameters =
            vec!["cls: type[Self]".to_owned(), "recipe: str | Mapping[str, Any]".to_owned(), "*".to_owned()];
        let mut read = "recipes.read(recipe)";
        let mut place = Vec::new();
        for parameter in &function.params[1..] {
            let own = snake(&parameter.name);
            if own == "lists" {
                self.uses(Use::Array);
                self.uses(Use::Iterable);
                parameters.push("lists: Mapping[str, ArrayLike | Iterable[SupportsIndex]] | None = None".to_owned());
                read = "recipes.read(recipe, lists)";
                continue;
            }
            let (kind, check) = self.check(&own, &parameter.ty).ok_or("a parameter of another kind")?;
            self.uses(Use::Check);
            parameters.push(format!("{own}: {kind} = 0"));
            place.push(format!("check.{check}(\"{}\", {own})", parameter.name));
        }
        parameters.push("memory_limit: SupportsIndex = 2**31".to_owned());
        let mut docs = self.text_of(function);
        docs.paragraphs.push(FROM_RECIPE.to_owned());
        let mut text = "    @classmethod\n".to_owned();
        text += &spread("    def from_recipe(", &parameters, ") -> Self:\n", 4);
        text += &docstring(&docs, 8, self.known);
        text += "        made = cls.__new__(cls)\n";
        place.splice(0..0, [read.to_owned(), "memory_limit".to_owned()]);
        text += &spread("        made._begin(", &place, ")\n", 8);
        Ok(text + "        return made\n\n")
    }

    fn plain_function(&self, function: &Function, class: &str, facade: &Facade) -> Result<String, String> {
        let raw = snake(item(function));
        let other = RENAMED.iter().find(|(of, name, _)| *of == facade.of && *name == item(function));
        let name = other.map_or(&*raw, |(_, _, name)| *name);
        let result = function.result.map(|ty| self.value(&ty).unwrap_or(ty)).ok_or("a facade returns something")?;
        let returned = self.annotation(&result, false)?;
        let mut parameters = vec!["self".to_owned()];
        let mut arguments = vec![format!("{class}.{raw}")];
        for (i, parameter) in function.params.iter().enumerate().skip(1) {
            let own = snake(&parameter.name);
            let (kind, check) = self.check(&parameter.name, &parameter.ty).ok_or("a parameter of another kind")?;
            if kind.contains("SupportsIndex") {
                self.uses(Use::SupportsIndex);
            }
            if kind.contains("Mapping") {
                self.uses(Use::Mapping);
            }
            if kind.contains("ArrayLike") {
                self.uses(Use::Array);
                self.uses(Use::Iterable);
            }
            // Python takes none without a default behind one that has it.
            let rest = &function.params[i..];
            let default = rest.iter().all(|other| default(item(function), &other.name).is_some());
            let default = if default { default_text(item(function), &parameter.name) } else { String::new() };
            parameters.push(format!("{own}: {kind}{default}"));
            self.uses(Use::Check);
            let field = if check == "state" { String::new() } else { format!("\"{}\", ", parameter.name) };
            arguments.push(format!("check.{check}({field}{own})"));
        }
        // The number of steps is an attribute in every class, also where it may take a while.
        let value = is_value(function) || item(function) == "num-steps" && function.params.len() == 1;
        let mut text = if value { "    @property\n".to_owned() } else { String::new() };
        text += &spread(&format!("    def {name}("), &parameters, &format!(") -> {returned}:\n"), 4);
        text += &docstring(&self.text_of(function), 8, self.known);
        if facade.known.contains(&item(function)) {
            text += &format!("        found: {returned} = self._engine.config.{name}\n        return found\n\n");
            return Ok(text);
        }
        // Whoever has an array may change it.
        let fixed = value && !facade.moving.contains(&item(function)) && !returned.contains("NDArray");
        let ask = match arguments.len() {
            1 if fixed => "self._engine.fact",
            1 => "self._engine.use",
            _ => "self._ask",
        };
        if self.is_samples(&result) {
            self.uses(Use::Check);
            text += &spread(&format!("        found = {ask}("), &arguments, ")\n", 8);
            text += "        return check.indices(found)\n";
        } else {
            text += &spread(&format!("        return {ask}("), &arguments, ")\n", 8);
        }
        Ok(text + "\n")
    }

    /// What callers pass for a parameter, and the check of it.
    fn check(&self, name: &str, ty: &Type) -> Option<(&'static str, &'static str)> {
        Some(match self.plain(ty) {
            Type::Bool => ("bool", "boolean"),
            Type::U32 => ("SupportsIndex", "u32"),
            // A number by a name, such as `u53`, ends before those of 64 bits.
            Type::U64 if *ty == Type::U64 => ("SupportsIndex", "u64"),
            Type::U64 => ("SupportsIndex", "u53"),
            Type::String if name == "state" => ("str | Mapping[str, Any]", "state"),
            Type::String => ("str", "name"),
            Type::Id(id) => match self.resolve.types[id].kind {
                TypeDefKind::List(of) if self.plain(&of) == Type::U64 => {
                    ("ArrayLike | Iterable[SupportsIndex]", "u53s")
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    fn is_resource(&self, ty: &Type) -> bool {
        matches!(self.plain(ty), Type::Id(id) if matches!(self.resolve.types[id].kind, TypeDefKind::Handle(_)))
    }

    /// Whether a type is a list of samples: users have its elements as `int`.
    fn is_samples(&self, ty: &Type) -> bool {
        let &Type::Id(id) = ty else { return false };
        let TypeDefKind::List(Type::Id(of)) = self.resolve.types[id].kind else { return false };
        self.resolve.types[of].name.as_deref() == Some("sample-index")
    }
}

fn default(function: &str, parameter: &str) -> Option<&'static str> {
    let found = DEFAULTS.iter().find(|(of, name, _)| (of.is_empty() || *of == function) && *name == parameter);
    found.map(|(_, _, value)| *value)
}

fn default_text(function: &str, parameter: &str) -> String {
    default(function, parameter).map(|value| format!(" = {value}")).unwrap_or_default()
}
