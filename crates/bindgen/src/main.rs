//! `bindgen INPUT.wasm FOLDER NAME` writes NAME.js, NAME_bg.wasm and their types, for web pages without modules: one
//! expression, which hosts/js/scripts/generated.mjs puts into a function. It does the same as the command line tool of
//! wasm-bindgen. The versions of the tool and of the crate have to be equal: here one lock file pins both.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let [input, folder, name] = words.as_slice() else {
        eprintln!("usage: bindgen INPUT.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name(name).typescript(true);
    // Leaves out the names of functions, which pages would load for nothing.
    bindgen.remove_name_section(true);
    let written = bindgen.no_modules(true).and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{input}: {error:?}");
            ExitCode::FAILURE
        }
    }
}
