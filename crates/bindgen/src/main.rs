//! `bindgen INPUT.wasm FOLDER NAME` writes NAME.js, NAME_bg.wasm and their types, for web pages without modules: one
//! expression, which hosts/js/scripts/generated.mjs puts into a function. The same as the command line tool of
//! wasm-bindgen, whose version has to be that of the crate: here one lock file pins both.

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
    // A page loads no names of functions.
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
