//! Checks that the component and the generated modules exist, which the crate embeds, and sets the name and version of
//! the engine (`SAMEDEAL_ENGINE`).

use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let has_component = has("COMPONENT");
    if !has_component && !has("NATIVE") {
        // The build ends here: the compiler would report hundreds of further errors.
        println!("cargo::error=samedeal needs one of its features: `component`, which is a default, or `native`");
        process::exit(1);
    }
    let made = has_component.then_some("samedeal.wasm").into_iter().chain(["src/generated/mod.rs"]);
    for made in made {
        let made = folder.join(made);
        println!("cargo::rerun-if-changed={}", made.display());
        if !made.is_file() {
            let what = if has_component { "rust" } else { "native" };
            println!("cargo::error={} is not made yet: run `cargo xtask build {what}`", made.display());
            process::exit(1);
        }
    }
    if !has_component {
        println!("cargo::rustc-env=SAMEDEAL_ENGINE=native");
        return;
    }
    // The lock file of the workspace, or the one that a published package carries.
    let engine = [folder.join("../../Cargo.lock"), folder.join("Cargo.lock")].iter().find_map(|path| locked(path));
    println!("cargo::rustc-env=SAMEDEAL_ENGINE=wasmtime {}", engine.as_deref().unwrap_or("48"));
}

/// The version of wasmtime in a lock file, if there is one.
fn locked(path: &Path) -> Option<String> {
    let lock = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    let (_, entry) = lock.split_once("name = \"wasmtime\"\nversion = \"")?;
    Some(entry.split_once('"')?.0.to_owned())
}
