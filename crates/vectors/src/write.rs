//! The layout of the files: a line for each case and for each call, so that a diff shows which of them differ.

use matrix::format::{Body, File};
use serde_json::to_string;

pub fn file(file: &File) -> String {
    let cases: Vec<_> = file
        .cases
        .iter()
        .map(|case| {
            let slow = if case.slow { ",\n \"slow\": true" } else { "" };
            let body = match &case.body {
                Body::Fails(failure) => format!("\"fails\": {}", json(failure)),
                Body::Calls(steps) => {
                    let steps: Vec<_> = steps.iter().map(|step| format!("  {}", json(step))).collect();
                    format!("\"calls\": [\n{}\n ]", steps.join(",\n"))
                }
            };
            // The subject is an object with one entry. This entry is written into the case itself.
            let subject = json(&case.subject);
            let subject = subject[1..subject.len() - 1].replacen(':', ": ", 1);
            format!("{{\"name\": {}{slow},\n {subject},\n {body}}}", json(&case.name))
        })
        .collect();
    format!(
        "{{\"version\": {}, \"group\": {}, \"cases\": [\n{}\n]}}\n",
        file.version,
        json(&file.group),
        cases.join(",\n")
    )
}

fn json(value: &impl serde::Serialize) -> String {
    to_string(value).expect("the cases are plain data")
}
