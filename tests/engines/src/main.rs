//! The matrix adapter for core modules: runs the golden cases on the core module of the component, through the
//! canonical ABI.

mod abi;
mod cases;
mod machine;
mod module;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use machine::crates::Compiler;
use serde_json::Value;
use world::World;

const USAGE: &str = "usage: engines cranelift|winch|pulley|wasmi [--components FOLDER] [--name NAME] [--record FOLDER]\n\
                     pulley and wasmi need the feature `interpreters`";
/// The names of the components.
const COMPONENTS: [&str; 1] = ["samedeal"];
/// The variable that requests the slow cases, too.
const SLOW: &str = "SAMEDEAL_SLOW";

/// The crate that runs the modules.
enum Chosen {
    Wasmtime(Compiler),
    #[cfg(feature = "interpreters")]
    Wasmi,
}

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let Some(engine) = words.next() else { return usage("an engine is missing") };
    let mut options = BTreeMap::new();
    while let Some(option) = words.next() {
        let (true, Some(value)) = (["--components", "--name", "--record"].contains(&&*option), words.next()) else {
            return usage(&format!("not understood: {option}"));
        };
        options.insert(option, value);
    }
    let folder = options.get("--components").map_or_else(|| root().join("hosts/rust"), PathBuf::from);
    let chosen = match &*engine {
        "cranelift" => Chosen::Wasmtime(Compiler::Cranelift),
        "winch" => Chosen::Wasmtime(Compiler::Winch),
        #[cfg(feature = "interpreters")]
        "pulley" => Chosen::Wasmtime(Compiler::Pulley),
        #[cfg(feature = "interpreters")]
        "wasmi" => Chosen::Wasmi,
        other => return usage(&format!("there is no engine {other}")),
    };
    let locked = match chosen {
        Chosen::Wasmtime(_) => "wasmtime",
        #[cfg(feature = "interpreters")]
        Chosen::Wasmi => "wasmi",
    };
    let label = options.get("--name").map_or(&*engine, |name| name);
    let label = format!("{label} ({locked} {})", version(locked));
    let record = options.get("--record").map(Path::new);
    if let Some(record) = record {
        fs::create_dir_all(record).unwrap_or_else(|why| panic!("{}: {why}", record.display()));
        for (name, core) in modules(&folder, <[u8]>::to_vec) {
            write(&record.join(format!("{name}.core.wasm")), &core);
        }
        write(&record.join("components.txt"), COMPONENTS.map(|name| format!("{name}\n")).concat().as_bytes());
    }
    // Another build has its data at other addresses, so the fingerprints of its calls differ. Only its answers are
    // compared.
    let adapted = Adapter { engine: &label, record, is_comparable: !options.contains_key("--components") };
    match chosen {
        Chosen::Wasmtime(compiler) => {
            let engine = compiler.engine().expect("an engine of wasmtime");
            let compile = |bytes: &[u8]| wasmtime::Module::new(&engine, bytes).expect("a module compiles");
            adapter(&adapted, &modules(&folder, compile))
        }
        #[cfg(feature = "interpreters")]
        Chosen::Wasmi => {
            let engine = wasmi::Engine::default();
            let compile = |bytes: &[u8]| wasmi::Module::new(&engine, bytes).expect("a module compiles");
            adapter(&adapted, &modules(&folder, compile))
        }
    }
}

fn usage(why: &str) -> ExitCode {
    eprintln!("{why}\n{USAGE}");
    ExitCode::from(2)
}

/// The core module of the component, compiled.
fn modules<T>(folder: &Path, compile: impl Fn(&[u8]) -> T) -> BTreeMap<&'static str, T> {
    let module = |name: &'static str| {
        let path = folder.join(format!("{name}.wasm"));
        let bytes = fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let core = module::of_component(&bytes).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        (name, compile(core))
    };
    COMPONENTS.into_iter().map(module).collect()
}

/// The settings of a run, and of its report.
struct Adapter<'a> {
    engine: &'a str,
    /// The folder for transcripts.
    record: Option<&'a Path>,
    /// Whether the recorded calls can be compared with those of other engines.
    is_comparable: bool,
}

/// Runs all groups, and prints a line for each.
fn adapter(&Adapter { engine, record, is_comparable }: &Adapter<'_>, modules: &impl cases::Engine) -> ExitCode {
    let world = World::read(&root().join("wit"));
    let groups = groups();
    let mut is_good = !groups.is_empty();
    for (group, golden) in &groups {
        let is_slow = |case: &&Value| env::var_os(SLOW).is_some() || case["slow"] != true;
        let golden: Vec<Value> = golden.iter().filter(is_slow).cloned().collect();
        let outcome = cases::run(&world, modules, group, &golden, record.is_some());
        for error in &outcome.errors {
            eprintln!("{engine}: {error}");
        }
        let cases::Outcome { passed, errors, answers, traffic, transcript } = outcome;
        is_good &= errors.is_empty() && passed > 0;
        let calls = if is_comparable { format!("{traffic:08x}") } else { String::new() };
        println!("matrix\t{engine}\t{group}\t{passed}\t{}\t{answers:08x}\t{calls}", errors.len());
        if let (Some(folder), Some(lines)) = (record, transcript) {
            write(&folder.join(format!("{group}.txt")), lines.as_bytes());
        }
    }
    if let (true, Some(folder)) = (is_good, record) {
        let names: String = groups.keys().map(|group| format!("{group}\n")).collect();
        write(&folder.join("groups.txt"), names.as_bytes());
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The golden cases by their groups.
fn groups() -> BTreeMap<String, Vec<Value>> {
    // The variable may name another folder, with random cases of the same form.
    let folder = env::var_os("SAMEDEAL_CASES").map_or_else(|| root().join("tests/vectors"), PathBuf::from);
    let files = fs::read_dir(&folder).expect("the folder of the golden cases");
    let paths = files.map(|entry| entry.expect("an entry of that folder").path());
    let is_group = |path: &PathBuf| path.extension().is_some_and(|end| end == "json") && !path.ends_with("schema.json");
    let read = |path: PathBuf| {
        let mut file: Value = serde_json::from_slice(&fs::read(&path).expect("a golden file")).expect("JSON");
        let Value::Array(cases) = file["cases"].take() else { panic!("{} has no cases", path.display()) };
        (file["group"].as_str().expect("the name of a group").to_owned(), cases)
    };
    paths.filter(is_group).map(read).collect()
}

/// Replaces a file at once, so that a reader never finds an incomplete one.
fn write(path: &Path, content: &[u8]) {
    let temporary = path.with_extension("new");
    let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, path));
    written.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
}

/// The version of a package in the lock file.
fn version(package: &str) -> &'static str {
    let lock = include_str!("../../../Cargo.lock");
    let entry = lock.split_once(&format!("name = \"{package}\"\nversion = \"")).map(|(_, entry)| entry);
    entry.and_then(|entry| entry.split('"').next()).expect("the lock file has what this links")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
