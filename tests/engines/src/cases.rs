//! The golden cases of a group on the core modules of an engine. `tests/vectors/README.md` describes their format.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};
use wit_parser::{Handle, Type, TypeDefKind};

use crate::abi::{Answer, Caller};
use crate::machine::record::{Recorded, Tape};
use crate::machine::{Machine, Word};
use crate::world::{Export, Resource, World};

/// Members of a case that are not its object.
const NOT_OBJECTS: &[&str] = &["name", "slow", "calls", "fails"];
/// The lengths of a case. The constructor takes only their number; the lengths are passed when the object asks for
/// them.
const LENGTHS: &str = "lengths";
const NUM_LENGTHS: &str = "num-lengths";
/// Names of arguments: texts that cross the interface as one text, and the end of each in it, in bytes.
const KEYS: &str = "keys";
const ENDS: &str = "ends";
/// Calls of a split that need an object of exact sizes, and the method that adds their keys to it.
const AMONG: &[(&str, &str)] = &[("among-ids", "add-ids"), ("among-keys", "add-keys")];

/// Makes instances of components by their names.
pub trait Engine {
    type Machine: Machine;
    fn open(&self, component: &str) -> Self::Machine;
}

/// The outcome of a group.
pub struct Outcome {
    pub passed: usize,
    /// The errors of the failed cases.
    pub errors: Vec<String>,
    /// Fingerprints: of the answers in the notation of the cases, and of all values that the engine returned and wrote.
    pub answers: u32,
    pub traffic: u32,
    /// The transcript, if it was requested.
    pub transcript: Option<String>,
}

/// Runs cases in the same instances. A slow case has instances of its own, because a memory never shrinks.
pub fn run<E: Engine>(world: &World, engine: &E, group: &str, cases: &[Value], records: bool) -> Outcome {
    let tape = Rc::new(RefCell::new(Tape::begin(group, records)));
    let mut runner =
        Runner { world, engine, tape: Rc::clone(&tape), instances: BTreeMap::new(), answers: crc32fast::Hasher::new() };
    let mut errors = Vec::new();
    for case in cases {
        let is_slow = case["slow"] == true;
        if is_slow {
            runner.close();
        }
        tape.borrow_mut().case();
        if let Err(why) = runner.case(case) {
            errors.push(format!("{group}: {}: {why}", case["name"]));
        }
        if is_slow {
            runner.close();
        }
    }
    runner.close();
    let answers = runner.answers.finalize();
    let (traffic, transcript) = tape.take().end();
    Outcome { passed: cases.len() - errors.len(), errors, answers, traffic, transcript }
}

/// The most items of a list that is written as a repetition.
const MOST: u64 = 1 << 23;

/// Arguments with their long lists in full. Cases write a long list as a short one that is repeated, and a count.
fn in_full(arguments: &Value) -> Cow<'_, Value> {
    let mut all = Cow::Borrowed(arguments);
    for (name, value) in arguments.as_object().into_iter().flatten() {
        if let (Some(repeat), Some(count)) = (value["repeat"].as_array(), value["count"].as_u64()) {
            assert!(count <= MOST, "{name}: a list of {count} items; allowed: at most {MOST}");
            all.to_mut()[name] = repeat.iter().cycle().take(count as usize).cloned().collect();
        }
    }
    all
}

/// The arguments of a call, with their list of texts as one text and the ends of the parts, as the interface takes
/// them.
fn with_texts(arguments: &Value) -> Cow<'_, Value> {
    let Some(texts) = arguments[KEYS].as_array() else { return Cow::Borrowed(arguments) };
    let texts = texts.iter().map(|text| text.as_str().expect("a key is a text"));
    let (mut all, mut ends) = (String::new(), Vec::new());
    for text in texts {
        all += text;
        ends.push(all.len());
    }
    Cow::Owned(json!({ KEYS: all, ENDS: ends }))
}

struct Runner<'w, E: Engine> {
    world: &'w World,
    engine: &'w E,
    tape: Rc<RefCell<Tape>>,
    instances: BTreeMap<String, Recorded<E::Machine>>,
    answers: crc32fast::Hasher,
}

/// An object in an instance of a component.
struct Object<'w> {
    component: String,
    resource: Resource<'w>,
    handle: u32,
}

impl<'w, E: Engine> Runner<'w, E> {
    fn close(&mut self) {
        std::mem::take(&mut self.instances).into_values().for_each(Recorded::close);
    }

    fn case(&mut self, case: &Value) -> Result<(), String> {
        let fields = case.as_object().expect("a case is an object");
        let mut kinds = fields.iter().filter(|(name, _)| !NOT_OBJECTS.contains(&name.as_str()));
        let (kind, given) = kinds.next().expect("a case is of an object");
        let given = &in_full(given);
        if kind == "functions" {
            return self.calls(case, |runner, call, arguments| {
                let (component, export) = runner.world.function(call);
                runner.ask(component, &export, arguments, None)
            });
        }
        let mut object = match self.make(self.world.resource(kind), given) {
            Ok(object) => object,
            Err(failure) => {
                let got = json!({ "fails": failure });
                self.note(&got);
                return expect("the constructor", &got, case);
            }
        };
        let result = match case.get("fails") {
            Some(expected) => Err(format!("the constructor succeeded, expected {expected}")),
            None => self.calls(case, |runner, call, arguments| {
                if let Some((_, add)) = AMONG.iter().find(|(name, _)| *name == call) {
                    return runner.among(&object, add, arguments);
                }
                let answer = runner.ask_method(&object, call, arguments, &given[LENGTHS]);
                let Answer::Object(handle) = answer else { return answer };
                // The new object replaces the old one.
                runner.free(&object);
                object.handle = handle;
                Answer::Returns(Value::Null)
            }),
        };
        self.free(&object);
        result
    }

    fn calls(&mut self, case: &Value, mut ask: impl FnMut(&mut Self, &str, &Value) -> Answer) -> Result<(), String> {
        for (number, step) in case["calls"].as_array().expect("a case has calls").iter().enumerate() {
            let call = step["call"].as_str().expect("a call has a name");
            let got = match ask(self, call, &step["args"]) {
                Answer::Returns(value) => json!({ "returns": value }),
                Answer::Fails(failure) => json!({ "fails": failure }),
                Answer::Object(_) => return Err(format!("{call} made an object")),
            };
            self.note(&got);
            expect(&format!("call {number}, {call}({})", step["args"]), &got, step)?;
        }
        Ok(())
    }

    fn note(&mut self, got: &Value) {
        let mut sorted = got.clone();
        sorted.sort_all_objects();
        self.answers.update(sorted.to_string().as_bytes());
    }

    /// Makes the object of a case.
    fn make(&mut self, resource: Resource<'w>, given: &Value) -> Result<Object<'w>, Value> {
        let component = resource.component;
        let constructor = self.world.constructor(resource);
        // Objects that a constructor borrows are made from the same case, and freed afterwards.
        let mut borrowed = Vec::new();
        let mut arguments = Map::new();
        for parameter in &constructor.function.params {
            let value = match self.borrows(&parameter.ty) {
                None if parameter.name == NUM_LENGTHS => {
                    given[LENGTHS].as_array().map_or(Value::Null, |lengths| lengths.len().to_string().into())
                }
                None => given[&parameter.name].clone(),
                Some(id) => {
                    let made = self.make(self.world.beside(resource, id), given)?;
                    self.set_options(&made, given);
                    let handle = made.handle.into();
                    borrowed.push(made);
                    handle
                }
            };
            arguments.insert(parameter.name.clone(), value);
        }
        let answer = self.ask(component, &constructor, &Value::Object(arguments), None);
        borrowed.iter().for_each(|made| self.free(made));
        match answer {
            Answer::Object(handle) => {
                let object = Object { component: component.to_owned(), resource, handle };
                let wants = constructor.function.params.iter().any(|parameter| parameter.name == NUM_LENGTHS);
                match wants && !given[LENGTHS].is_null() {
                    true => self.supply(&object, &given[LENGTHS]).map(|()| object),
                    false => Ok(object),
                }
            }
            Answer::Fails(failure) => Err(failure),
            Answer::Returns(other) => panic!("the constructor of {} returned {other}", resource.name),
        }
    }

    /// Sets the given options, each by the method of its name.
    fn set_options(&mut self, options: &Object<'w>, given: &Value) {
        for (name, setter) in self.world.setters(options.resource) {
            if !given[name].is_null() {
                let parameter = &setter.function.params[1].name;
                self.ask(&options.component, &setter, &json!({ parameter: given[name] }), Some(options.handle));
            }
        }
    }

    fn borrows(&self, ty: &Type) -> Option<wit_parser::TypeId> {
        let Type::Id(id) = ty else { return None };
        match self.world.resolve.types[*id].kind {
            TypeDefKind::Handle(Handle::Borrow(resource)) => Some(resource),
            _ => None,
        }
    }

    fn ask(&mut self, component: &str, export: &Export<'_>, named: &Value, of: Option<u32>) -> Answer {
        let parameters = &export.function.params[usize::from(of.is_some())..];
        let named = &in_full(named);
        let named = &with_texts(named);
        let values = parameters.iter().map(|parameter| named[&parameter.name].clone());
        let arguments: Vec<Value> = of.map(Value::from).into_iter().chain(values).collect();
        let world = self.world;
        Caller { world, machine: self.instance(component) }.call(export, &arguments)
    }

    /// Calls a method, and passes the lengths for which the object asks.
    fn ask_method(&mut self, object: &Object<'w>, name: &str, arguments: &Value, lengths: &Value) -> Answer {
        loop {
            let export = self.world.method(object.resource, name);
            let answer = self.ask(&object.component, &export, arguments, Some(object.handle));
            match answer {
                Answer::Fails(failure) if failure["kind"] == "wanted" && !lengths.is_null() => {
                    if let Err(failure) = self.supply(object, lengths) {
                        return Answer::Fails(failure);
                    }
                }
                _ => return answer,
            }
        }
    }

    /// The recipe that a split finds for exact sizes among keys, which the method `add` takes.
    fn among(&mut self, split: &Object<'w>, add: &str, arguments: &Value) -> Answer {
        let handle = match self.ask_method(split, "exact-sizes", &Value::Null, &Value::Null) {
            Answer::Object(handle) => handle,
            answer => return answer,
        };
        let resource = self.world.resource("exact-sizes");
        let sizes = Object { component: split.component.clone(), resource, handle };
        let answer = match self.ask_method(&sizes, add, arguments, &Value::Null) {
            Answer::Returns(_) => {
                self.ask_method(&sizes, "recipe", &json!({ "rest": arguments["rest"] }), &Value::Null)
            }
            answer => answer,
        };
        self.free(&sizes);
        answer
    }

    /// Passes the lengths for which an object asks. Fails if the object does not accept them.
    fn supply(&mut self, object: &Object<'w>, lengths: &Value) -> Result<(), Value> {
        let wanted = self.world.method(object.resource, "wanted");
        let answer = self.ask(&object.component, &wanted, &Value::Null, Some(object.handle));
        let Answer::Returns(Value::Array(samples)) = answer else { panic!("wanted gave {answer:?}") };
        if samples.is_empty() {
            return Ok(());
        }
        let of = |sample: &Value| lengths[sample.as_str()?.parse::<usize>().ok()?].as_u64();
        let given: Option<Vec<u64>> = samples.iter().map(of).collect();
        let given = json!({ LENGTHS: given.expect("a case has the lengths that it is asked for") });
        let supply = self.world.method(object.resource, "supply");
        match self.ask(&object.component, &supply, &given, Some(object.handle)) {
            Answer::Fails(failure) => Err(failure),
            _ => Ok(()),
        }
    }

    fn free(&mut self, object: &Object<'_>) {
        let destructor = self.world.destructor(object.resource);
        self.instance(&object.component).call(&destructor, &[Word::I32(object.handle)]);
    }

    fn instance(&mut self, component: &str) -> &mut Recorded<E::Machine> {
        let open = || Recorded::open(self.engine.open(component), component, &self.tape);
        self.instances.entry(component.to_owned()).or_insert_with(open)
    }
}

/// Compares the outcome of a call with the expected one.
fn expect(what: &str, got: &Value, expected: &Value) -> Result<(), String> {
    let is_same = match (got.get("fails"), expected.get("fails")) {
        (None, None) => got["returns"] == expected["returns"],
        (is, should) => is == should,
    };
    let short = |value: &Value| value.to_string().chars().take(1000).collect::<String>();
    if is_same {
        return Ok(());
    }
    let expected = expected.get("fails").or(expected.get("returns")).unwrap_or(&Value::Null);
    Err(format!("{what} gave {}, expected {}", short(got), short(expected)))
}
