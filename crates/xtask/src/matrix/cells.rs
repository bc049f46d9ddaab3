//! The cells of the matrix: the engines and machines that answer the golden cases, and what they need.

use super::needs;
use crate::build;
use crate::setup;
use crate::suites;

/// The commands that run a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// `test`, `check` and `matrix`: the cell needs nothing but a build.
    Test,
    /// `check` and `matrix`.
    Check,
    /// `check` and `matrix`: the cell runs core modules, whose fingerprints are compared too.
    Core,
    /// Only `matrix`: the cell needs large downloads, or minutes.
    Matrix,
}

/// An engine or a machine that answers the golden cases.
pub struct Cell {
    /// The name of its step.
    pub step: &'static str,
    pub tier: Tier,
    pub words: &'static [&'static str],
    pub needs: &'static [&'static str],
    /// The sources that its answers depend on, beside the golden cases.
    pub inputs: &'static [&'static [&'static str]],
}

impl Cell {
    /// The name of the cell: that of its step, without `matrix: `.
    pub fn name(&self) -> &'static str {
        self.step.strip_prefix("matrix: ").unwrap_or(self.step)
    }
}

/// The folder of transcripts. Many cells end with this argument.
pub const TRANSCRIPTS: &str = "target/transcripts";
/// The step of the cell that records the transcripts.
pub const RECORDED: &str = "matrix: Cranelift, core calls";
const NATIVE: &[&[&str]] = &[suites::MANIFESTS, suites::CORE, &["tests/matrix"]];
const HOSTS: &[&str] = &["tests/matrix"];
/// The sources of a core module and of the programs that replay transcripts.
pub const ENGINES: &[&[&str]] =
    &[suites::MANIFESTS, suites::INTERFACE, build::WASM, &["tests/engines", "tests/matrix/browsers.mjs"]];

/// All cells, in the order of the table.
pub const CELLS: &[Cell] = &[
    Cell {
        step: "matrix: native core",
        tier: Tier::Test,
        words: &["target/debug/matrix-native"],
        needs: &[build::TOOLS],
        inputs: NATIVE,
    },
    Cell {
        step: "matrix: Rust host",
        tier: Tier::Check,
        words: &["target/engine/debug/matrix-rust"],
        needs: &[build::ENGINE_TOOLS],
        inputs: &[suites::MANIFESTS, &["hosts/rust"], HOSTS],
    },
    Cell {
        step: "matrix: Rust host with `native`",
        tier: Tier::Test,
        words: &["target/debug/matrix-rust"],
        needs: &[build::TOOLS],
        inputs: &[suites::MANIFESTS, suites::INTERFACE, suites::CORE, suites::NATIVE, HOSTS],
    },
    Cell {
        step: "matrix: Python host",
        tier: Tier::Test,
        words: &["target/venv/bin/python", "tests/matrix/python.py"],
        needs: &[setup::PYTHON, build::COMPONENT_STEP],
        inputs: &[suites::PYTHON, HOSTS],
    },
    Cell {
        step: "matrix: Node",
        tier: Tier::Test,
        words: &["node", "tests/matrix/node.mjs"],
        needs: &[build::NPM],
        inputs: &[suites::JAVASCRIPT, build::WASM, HOSTS],
    },
    Cell {
        step: "matrix: browser",
        tier: Tier::Check,
        words: &["node", "tests/matrix/browser.mjs"],
        needs: &[build::NPM, setup::BROWSER],
        inputs: &[suites::JAVASCRIPT, build::WASM, HOSTS],
    },
    Cell {
        step: RECORDED,
        tier: Tier::Core,
        words: &["target/engine/debug/engines", "cranelift", "--record", TRANSCRIPTS],
        needs: &[build::ENGINE_TOOLS],
        inputs: ENGINES,
    },
    Cell {
        step: "matrix: Winch, core calls",
        tier: Tier::Core,
        words: &["target/engine/debug/engines", "winch"],
        needs: &[build::ENGINE_TOOLS],
        inputs: ENGINES,
    },
    replayed("matrix: Node, core calls", Tier::Core, &["node", FILES, TRANSCRIPTS], &[RECORDED]),
    Cell {
        step: "matrix: Pulley, core calls",
        tier: Tier::Matrix,
        words: &["target/engine/debug/engines", "pulley"],
        needs: &[needs::INTERPRETERS],
        inputs: ENGINES,
    },
    Cell {
        step: "matrix: wasmi, core calls",
        tier: Tier::Matrix,
        words: &["target/engine/debug/engines", "wasmi"],
        needs: &[needs::INTERPRETERS],
        inputs: ENGINES,
    },
    Cell {
        step: "matrix: Cranelift, without vector instructions",
        tier: Tier::Matrix,
        words: &[
            "target/engine/debug/engines",
            "cranelift",
            "--components",
            needs::SCALAR_FOLDER,
            "--name",
            "cranelift, scalar",
        ],
        needs: &[build::ENGINE_TOOLS, needs::SCALAR],
        inputs: &[
            suites::MANIFESTS,
            suites::INTERFACE,
            suites::CORE,
            &["crates/component", "crates/interface", "tests/engines"],
        ],
    },
    replayed(
        "matrix: wasmtime-py with Cranelift",
        Tier::Matrix,
        &[PYTHON, WASMTIME, "cranelift", TRANSCRIPTS],
        &[RECORDED, setup::PYTHON],
    ),
    // Winch is tested because the first process of the Python host on a machine starts with it.
    replayed(
        "matrix: wasmtime-py with Winch",
        Tier::Core,
        &[PYTHON, WASMTIME, "winch", TRANSCRIPTS],
        &[RECORDED, setup::PYTHON],
    ),
    replayed(
        "matrix: wasmtime-py with Pulley",
        Tier::Matrix,
        &[PYTHON, WASMTIME, "pulley", TRANSCRIPTS],
        &[RECORDED, setup::PYTHON],
    ),
    replayed(
        "matrix: Deno",
        Tier::Matrix,
        &[needs::DENO, "run", "--allow-read", FILES, TRANSCRIPTS],
        &[RECORDED, needs::NPM_ENGINES],
    ),
    replayed("matrix: Bun", Tier::Matrix, &[needs::BUN, FILES, TRANSCRIPTS], &[RECORDED, needs::NPM_ENGINES]),
    replayed(
        "matrix: workerd",
        Tier::Matrix,
        &["node", "tests/engines/replay/workerd.mjs", TRANSCRIPTS],
        &[RECORDED, needs::NPM_ENGINES],
    ),
    replayed(
        "matrix: JavaScriptCore",
        Tier::Matrix,
        &["sh", "tests/engines/replay/jsc.sh", TRANSCRIPTS],
        &[RECORDED, needs::JSC],
    ),
    replayed("matrix: Firefox", Tier::Matrix, &["node", BROWSER, "firefox", TRANSCRIPTS], &[RECORDED, needs::FIREFOX]),
    replayed(
        "matrix: Chromium, core calls",
        Tier::Matrix,
        &["node", BROWSER, "chromium", TRANSCRIPTS],
        &[RECORDED, setup::BROWSER],
    ),
    // A cell names the step that records transcripts even if a build that it needs names this step too.
    replayed(
        "matrix: wasm2c",
        Tier::Matrix,
        &[needs::WASM2C_HERE, "wasm2c (wabt 1.0.42)", TRANSCRIPTS],
        &[RECORDED, needs::BUILT_WASM2C],
    ),
    replayed(
        "matrix: wasm2c on s390x",
        Tier::Matrix,
        &["qemu-s390x", needs::WASM2C_S390X, "wasm2c, s390x (wabt 1.0.42)", TRANSCRIPTS],
        &[RECORDED, needs::BUILT_WASM2C_S390X],
    ),
    Cell {
        step: "matrix: native core on i686",
        tier: Tier::Matrix,
        words: &["qemu-i386", "target/i686-unknown-linux-gnu/debug/matrix-native"],
        needs: &[needs::CROSS],
        inputs: NATIVE,
    },
    Cell {
        step: "matrix: native core on aarch64",
        tier: Tier::Matrix,
        words: &["qemu-aarch64", "target/aarch64-unknown-linux-gnu/debug/matrix-native"],
        needs: &[needs::CROSS],
        inputs: NATIVE,
    },
    Cell {
        step: "matrix: native core on s390x",
        tier: Tier::Matrix,
        words: &["qemu-s390x", "target/s390x-unknown-linux-gnu/debug/matrix-native"],
        needs: &[needs::CROSS],
        inputs: NATIVE,
    },
];

const FILES: &str = "tests/engines/replay/files.mjs";
const BROWSER: &str = "tests/engines/replay/browser.mjs";
const PYTHON: &str = "target/venv/bin/python";
const WASMTIME: &str = "tests/engines/replay/wasmtime_py.py";

/// The cell of an engine that replays transcripts.
const fn replayed(
    step: &'static str,
    tier: Tier,
    words: &'static [&'static str],
    needs: &'static [&'static str],
) -> Cell {
    Cell { step, tier, words, needs, inputs: ENGINES }
}
