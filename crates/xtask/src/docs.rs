//! The documentation: the site, and the tests of the pages.

use std::env;
use std::path::Path;

use crate::build;
use crate::plan::{Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;
use crate::suites::{self, JAVASCRIPT, MANIFESTS, PYTHON};

/// The folder of the program that makes the site.
const FOLDER: &str = "docs/site";
const SITE: &str = "target/docs";
const ADDRESS: &str = "127.0.0.1:8000";
const RUSTDOC: &str = "names of the crate";
const TYPEDOC: &str = "names of the npm package";
/// The step that builds the page of the explorer.
pub const EXPLORER: &str = "explorer";

/// Steps that only the site needs.
pub fn parts() -> Vec<Step> {
    vec![
        Step::new(RUSTDOC, &[build::COMPONENT_STEP], |progress| {
            // Only the crate `samedeal` gets pages: the libraries of tests set `doc = false`. Nevertheless all crates
            // are selected, as for the lints with the engine, so that cargo checks their dependencies only once, which
            // takes minutes.
            progress.run(project::cargo(&["doc", "--lib", "--no-deps"]).args(project::ENGINE_CRATES))?;
            Ok(Report::note("target/engine/doc"))
        })
        .with_lock(build::CARGO_ENGINE),
        Step::new(TYPEDOC, &[setup::SITE_NODE, build::NPM], |progress| {
            let mut command = project::own("docs/site/node_modules/.bin/typedoc", &["--options", "typedoc.json"]);
            progress.run(command.current_dir(project::path(FOLDER)))?;
            Ok(Report::note("target/docs-typescript"))
        }),
        Step::new(EXPLORER, &[build::NPM, setup::EXPLORER], |progress| {
            progress.run(&mut project::npm(suites::EXPLORER, &["run", "build"]))?;
            Ok(Report::note("docs/explorer/dist"))
        }),
    ]
}

/// The step that makes the site. It fails if a link is broken.
pub fn site() -> Step {
    Step::new(
        "site of the documentation",
        &[setup::SITE, build::COMMAND, build::GENERATED, RUSTDOC, TYPEDOC, EXPLORER],
        |progress| {
            progress.run(&mut project::own("target/venv-docs/bin/python", &["docs/site/build.py"]))?;
            Ok(Report::note(SITE))
        },
    )
}

/// The suites that run the code blocks of all pages, except the blocks that need PyTorch.
pub fn tests() -> Step {
    suites::suite("documentation", &[build::COMMAND, build::TOOLS, build::NPM, setup::PYTHON], || {
        suites::pytest_of("target/venv", &["tests/docs", "--ignore=tests/docs/test_torch.py"])
    })
    .made_from(&[
        MANIFESTS,
        PYTHON,
        JAVASCRIPT,
        build::WASM,
        suites::CORE,
        &[
            "CONTRIBUTING.md",
            "DESIGN.md",
            "README.md",
            "SPEC.md",
            "crates/xtask/src",
            "hosts",
            "docs",
            "tests/docs",
            "tests/reference",
            "tests/vectors",
            // The test of platforms reads these.
            ".github",
            "tests/packages/engines.py",
            "tests/engines/replay/package.json",
        ],
    ])
}

/// The suites that run the code blocks that need PyTorch or a training framework.
pub fn tests_with_torch() -> Step {
    suites::with_torch("documentation under torch", "tests/docs/test_torch.py").and_needs(&[build::COMMAND]).made_from(
        &[PYTHON, &["hosts/python/requirements-oracle.txt", "README.md", "hosts/python", "docs", "tests/docs"]],
    )
}

/// `cargo xtask docs [--serve]`.
pub fn plan(options: &[&str], parts: Vec<Step>) -> Result<Plan, String> {
    if let Some(option) = options.iter().find(|option| **option != "--serve") {
        return Err(format!("unknown option: {option}"));
    }
    let mut goals = vec![site()];
    if !options.is_empty() {
        goals.push(Step::new("server", &[], serve).and_needs(&["site of the documentation"]));
    }
    let start = env::current_dir().unwrap_or_default();
    let site = project::path(SITE).join("index.html");
    let shown = site.strip_prefix(&start).map(Path::to_path_buf).unwrap_or(site);
    Ok(Plan::new("docs", parts, goals).with_closing(format!("The site: {}", shown.display())))
}

/// Serves the site until it is interrupted.
fn serve(progress: &Progress) -> Outcome {
    let (address, port) = ADDRESS.split_once(':').expect("an address has a port");
    println!("http://{ADDRESS}: interrupt to end");
    let arguments = ["-m", "http.server", port, "--bind", address, "--directory", SITE];
    progress.run(&mut project::own("target/venv-docs/bin/python", &arguments))?;
    Ok(Report::default())
}
