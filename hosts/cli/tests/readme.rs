//! The terminal sessions of the README are what the command prints.

use std::process::Command;

const README: &str = include_str!("../README.md");

#[test]
fn terminal_sessions_are_true() {
    let sessions = README.split("```console\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(text, _)| text));
    let mut shown = String::new();
    let mut actual = String::new();
    for session in sessions {
        shown.push_str(session);
        for line in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let words = line.strip_prefix("samedeal ").expect("only this command").split_whitespace();
            let output = Command::new(env!("CARGO_BIN_EXE_samedeal")).args(words).output().unwrap();
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            actual.push_str(&format!("$ {line}\n{}", String::from_utf8(output.stdout).unwrap()));
        }
    }
    assert!(!shown.is_empty());
    assert_eq!(shown, actual, "paste what is on the right into the README:\n{actual}");
}
