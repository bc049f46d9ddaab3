//! The base class of the facade of a resource, from which a hand-written class derives: a property for each value, and
//! a method for each function that takes numbers, flags and names. A method checks the arguments that cannot be passed
//! to the component, calls the resource in the object's engine, and converts the result to Python's types.

use wit_parser::{Type, TypeId};

use super::names::snake;
use super::{Module, spread};
use crate::facade::{Table, default_of, has_class, is_listed, is_plain, is_value, listed, name_of};
use crate::wit::{Shape, Signature};
use crate::words::{capital, pascal};

/// Methods that only Python writes by hand: it returns peers in the form that `torch.distributed` takes.
const BY_HAND: Table = &[("mesh", &["peers"])];

/// Values that are part of the engine's own configuration: they are read there, without a call of the component.
const KNOWN: Table = &[("sampler", &["epoch", "rank", "consumed"]), ("batcher", &["epoch"]), ("schedule", &["rank"])];

/// Other values that change when the object moves, for example to another epoch. All values that are not listed are
/// constant: they are read once and cached.
const MOVING: Table = &[
    (
        "sampler",
        &[
            "epoch-length",
            "num-samples",
            "max-num-samples",
            "num-padding",
            "num-positions",
            "num-dropped",
            "num-rounds",
        ],
    ),
    ("batcher", &["consumed", "num-windows", "num-known-windows", "num-steps"]),
    ("plan", &["epoch"]),
];

/// The documentation of the parameters that Python adds to a constructor with a recipe.
const FROM_RECIPE: &str = "`recipe` is a dictionary, or a text of JSON. `memory_limit`: bytes of memory that the engine may use; 2^31 is the \
                           most that it can use.";

impl Module<'_> {
    /// Whether the base class has this function: it is plain, has a result, and takes only arguments that can be
    /// checked.
    pub(super) fn is_plain(&self, signature: &Signature<'_>) -> bool {
        signature.value.is_some()
            && is_plain(self.wit, signature, BY_HAND)
            && signature.parameters.iter().all(|(name, ty)| self.check(name, ty).is_some())
    }

    /// The base class for a resource; empty if users do not see the resource.
    pub(super) fn facade(&self, resource: TypeId, name: &str) -> Result<String, String> {
        if !has_class(name) {
            return Ok(String::new());
        }
        let class = pascal(name);
        let mut text = format!(
            "\nclass {class}Base(Answered):\n    \"\"\"What a `{class}` is asked, for the class that users have.\"\"\"\n\n"
        );
        text += &self.options(name)?;
        for signature in self.wit.functions_of(resource) {
            if self.is_plain(&signature) {
                text += &self.plain_function(&signature, name)?;
            } else if signature.is_constructor && matches!(signature.parameters[..], [(_, Type::String), ..]) {
                text += &self.of_recipe(&signature)?;
            }
        }
        Ok(text + &self.metrics(resource))
    }

    /// The class of the metrics of a resource, its named numbers and their ratios; empty if the documentation lists
    /// none.
    fn metrics(&self, resource: TypeId) -> String {
        let of = |name: &str| self.wit.function(resource, name).map_or_else(Vec::new, |own| listed(own.docs));
        let (numbers, ratios) = (of("metrics"), of("ratio"));
        if numbers.is_empty() {
            return String::new();
        }
        let mut known = self.known.clone();
        known.values.extend(numbers.iter().map(|(name, _)| name.clone()));
        let mut text =
            "\nclass MetricsBase(SimpleNamespace):\n    \"\"\"Numbers by name, and ratios of them.\"\"\"\n\n"
                .to_owned();
        for (name, about) in numbers {
            text += &format!("    {}: int\n{}", snake(&name), known.note(&capital(&about), 4));
        }
        for (name, about) in ratios {
            // The ratio has another name: next to `padded`, `padding` would read as a number of tokens.
            let name = if name == "padding" { "padding_ratio".to_owned() } else { snake(&name) };
            let about = capital(&about).replace("1,000,000", "1.0");
            text += &format!("    {name}: float\n{}", known.note(&about, 4));
        }
        text + "\n"
    }

    /// The class method `from_recipe`. Its parameters are the recipe and the other parameters of the constructor, such
    /// as the rank.
    fn of_recipe(&self, signature: &Signature<'_>) -> Result<String, String> {
        let mut parameters: Vec<_> =
            ["cls: type[Self]", "recipe: str | Mapping[str, Any]", "*"].map(str::to_owned).into();
        let mut place = vec!["recipes.read(recipe)".to_owned(), "memory_limit".to_owned()];
        for (name, ty) in &signature.parameters[1..] {
            let own = snake(name);
            if own == "lists" {
                parameters.push("lists: Mapping[str, ArrayLike | Iterable[SupportsIndex]] | None = None".to_owned());
                place[0] = "recipes.read(recipe, lists)".to_owned();
                continue;
            }
            let (kind, check) = self.check(&own, ty).ok_or("a parameter of another kind")?;
            parameters.push(format!("{own}: {kind} = 0"));
            place.push(format!("check.{check}(\"{name}\", {own})"));
        }
        parameters.push("memory_limit: SupportsIndex = 2**31".to_owned());
        let mut docs = self.text_of(signature);
        docs.paragraphs.push(FROM_RECIPE.to_owned());
        Ok([
            "    @classmethod\n",
            &spread("    def from_recipe(", &parameters, ") -> Self:\n"),
            &self.known.docstring(docs, &[], 8),
            "        made = cls.__new__(cls)\n",
            &spread("        made._begin(", &place, ")\n"),
            "        return made\n\n",
        ]
        .concat())
    }

    fn plain_function(&self, signature: &Signature<'_>, resource: &str) -> Result<String, String> {
        let item = signature.name;
        let name = snake(name_of(resource, item));
        let result = signature.value.ok_or("a facade returns something")?;
        let returned = self.annotation(&result, false)?;
        let mut parameters = vec!["self".to_owned()];
        let mut arguments = vec![format!("{}.{}", pascal(resource), snake(item))];
        let default = |(name, ty): &(&str, Type)| match (item, *name) {
            _ if *ty == Type::Bool => Some("False"),
            ("step-of", "position") => Some("0"),
            // A list that is a default would be shared by all calls.
            (item, name) => default_of(item, name).map(|value| if value == "[]" { "()" } else { value }),
        };
        for (i, given @ (parameter, ty)) in signature.parameters.iter().enumerate() {
            let own = snake(parameter);
            let (kind, check) = self.check(parameter, ty).ok_or("a parameter of another kind")?;
            // In Python, no parameter without a default may follow one with a default.
            let is_last = signature.parameters[i..].iter().all(|other| default(other).is_some());
            let default = default(given).filter(|_| is_last).map_or_else(String::new, |value| format!(" = {value}"));
            parameters.push(format!("{own}: {kind}{default}"));
            let field = if check == "state" { String::new() } else { format!("\"{own}\", ") };
            arguments.push(format!("check.{check}({field}{own})"));
        }
        // The number of steps is a property in every class, although it may take a while to compute.
        let value = is_value(signature) || item == "num-steps" && signature.parameters.is_empty();
        // Arrays are not cached, because callers can change them.
        let fixed = value && !is_listed(MOVING, resource, item) && !returned.contains("NDArray");
        let ask = match arguments.len() {
            1 if fixed => "self._engine.fact(",
            1 => "self._engine.use(",
            _ => "self._ask(",
        };
        let body = match () {
            () if is_listed(KNOWN, resource, item) => {
                format!("        found: {returned} = self._engine.config.{name}\n        return found\n")
            }
            () if self.is_samples(&result) => {
                spread(&format!("        found = {ask}"), &arguments, ")\n") + "        return check.indices(found)\n"
            }
            () => spread(&format!("        return {ask}"), &arguments, ")\n"),
        };
        let decorator = if value { "    @property\n" } else { "" };
        let head = spread(&format!("    def {name}("), &parameters, &format!(") -> {returned}:\n"));
        let docs = self.known.docstring(self.text_of(signature), &[], 8);
        Ok(format!("{decorator}{head}{docs}{body}\n"))
    }

    /// The type of a parameter, and the function that checks its argument.
    fn check(&self, name: &str, ty: &Type) -> Option<(&'static str, &'static str)> {
        Some(match self.wit.shape(ty) {
            Shape::Plain(Type::Bool) => ("bool", "boolean"),
            Shape::Plain(Type::U32) => ("SupportsIndex", "u32"),
            // A named number type, such as `u53`, has a smaller range than `u64`.
            Shape::Plain(Type::U64) if *ty == Type::U64 => ("SupportsIndex", "u64"),
            Shape::Plain(Type::U64) => ("SupportsIndex", "u53"),
            Shape::Plain(Type::String) if name == "state" => ("str | Mapping[str, Any]", "state"),
            Shape::Plain(Type::String) => ("str", "name"),
            Shape::List(of) if matches!(self.wit.shape(&of), Shape::Plain(Type::U64)) => {
                ("ArrayLike | Iterable[SupportsIndex]", "u53s")
            }
            _ => return None,
        })
    }

    /// Whether a type is a list of sample indices. Users get such a list as an array whose elements are of type `int`.
    fn is_samples(&self, ty: &Type) -> bool {
        matches!(self.wit.shape(ty), Shape::List(Type::Id(of)) if self.wit.name(of) == "sample-index")
    }
}
