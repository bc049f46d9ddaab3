//! Makes the artefacts: the component, its copies in the hosts, the web build, the packages and the commands.

use std::fs;
use std::io;
use std::path::Path;

use crate::plan::{Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::stamp::Stamp;

const COMPONENT: &str = "target/wasm32-wasip2/wasm/samedeal.wasm";
const PLANNING: &str = "target/wasm32-wasip2/wasm/planning.wasm";
const BATCHING: &str = "target/wasm32-wasip2/wasm/batching.wasm";
/// Made with the Rust tools: it writes the JavaScript around the web build.
const BINDGEN: &str = "target/release/bindgen";
const WEB: &str = "target/wasm32-unknown-unknown/wasm/samedeal_web.wasm";
/// The packages of the components, the files that they become, and where hosts carry them; not in git.
const COMPONENTS: &[(&str, &str, &[&str])] = &[
    ("samedeal-component", COMPONENT, &[RUST, PYTHON]),
    ("samedeal-planning", PLANNING, &[RUST, PYTHON]),
    ("samedeal-batching", BATCHING, &[RUST, PYTHON]),
];
const RUST: &str = "hosts/rust";
const PYTHON: &str = "hosts/python/src/samedeal";

/// Everything, in the order of what needs what.
pub fn steps() -> Vec<Step> {
    vec![
        Step::needed("components", components),
        Step::needed("web build", web),
        Step::needed("Rust host and tools", |progress| {
            progress.run(project::cargo(&["build", "--release", "--bins", "--examples"]).args(project::HOST_CRATES))?;
            Ok(Report::note("target/release/samedeal"))
        }),
        Step::needed("npm package", npm_package),
    ]
}

fn components(progress: &Progress) -> Outcome {
    let mut notes = Vec::new();
    for (package, path, folders) in COMPONENTS {
        wasm(progress, package, "wasm32-wasip2")?;
        let path = project::path(path);
        let built = fs::read(&path)?;
        for folder in *folders {
            replace(&project::path(folder).join(path.file_name().unwrap_or_default()), &built)?;
        }
        notes.push(format!("{} of {} bytes", path.file_name().unwrap_or_default().display(), built.len()));
    }
    Ok(Report::note(notes.join(", ")))
}

fn web(progress: &Progress) -> Outcome {
    wasm(progress, "samedeal-web", "wasm32-unknown-unknown")?;
    Ok(Report::note(WEB))
}

fn wasm(progress: &Progress, package: &str, target: &str) -> Result<(), String> {
    progress.run(&mut project::cargo(&["build", "--profile", "wasm", "--package", package, "--target", target]))
}

/// The npm package from its sources, the component and the web build.
fn npm_package(progress: &Progress) -> Outcome {
    let stamp = Stamp::of("npm-package", &["hosts/js", "wit", COMPONENT, PLANNING, BATCHING, WEB, BINDGEN], "")?;
    if stamp.is_current() && project::path("hosts/js/dist").is_dir() {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::npm("hosts/js", &["run", "build"]))?;
    stamp.record()?;
    Ok(Report::note("hosts/js/dist"))
}

/// Writes a file at once and only where it differs: what is built from it stays fresh.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let temporary = path.with_extension("new");
    fs::write(&temporary, content)?;
    fs::rename(temporary, path)
}
