//! Judges a mutant of the core: runs the groups of golden cases that `SAMEDEAL_GROUPS` names, separated by commas. They
//! run in a process whose time and memory are bounded, because a mutant may never end or may fill the memory.

use std::env;
use std::process::{Command, ExitCode};

use matrix::native::Native;

const GROUPS: &str = "SAMEDEAL_GROUPS";
/// The variable that tells a process that it is the bounded one.
const BOUNDED: &str = "SAMEDEAL_BOUNDED";
/// The limits: 20 seconds of processor time, of which every group needs less than three, and memory in units of 1 KiB.
const LIMITS: &str = "ulimit -t 20 && ulimit -v 4000000 && exec \"$0\"";

fn main() -> ExitCode {
    let groups = env::var(GROUPS).unwrap_or_else(|_| panic!("{GROUPS} names no groups of golden cases"));
    if env::var_os(BOUNDED).is_none() {
        let judge = env::current_exe().expect("the path of this program");
        let status = Command::new("sh").args(["-c", LIMITS]).arg(judge).env(BOUNDED, "1").status().expect("a shell");
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    match matrix::judge::<Native>(&groups.split(',').collect::<Vec<_>>()) {
        Ok(passed) => {
            println!("{passed} cases passed");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{}", why.chars().take(1_000).collect::<String>());
            ExitCode::FAILURE
        }
    }
}
