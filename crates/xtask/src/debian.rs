//! Packages of the system, which a machine like Debian's installs for whoever may.

use std::env;

use crate::machine;
use crate::plan::{Failure, Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;

/// One package manager runs at a time.
pub const LOCK: &str = "apt";

/// Packages, and the programs of them that are looked for.
pub struct Packages {
    pub step: &'static str,
    pub programs: &'static [&'static str],
    pub names: &'static [&'static str],
}

impl Packages {
    /// The step that installs them, unless all programs are there.
    pub fn step(&'static self) -> Step {
        Step::new(self.step, &[setup::MACHINE], |progress| self.find(progress)).with_lock(LOCK)
    }

    fn find(&self, progress: &Progress) -> Outcome {
        if self.missing().is_empty() {
            return Ok(Report::note("up to date"));
        }
        let names = self.names.join(" ");
        if !machine::can_install() {
            let programs = self.missing().join(", ");
            return Err(
                format!("this machine lacks {programs}: install them (Debian: `apt-get install {names}`)").into()
            );
        }
        install(progress, self.names)?;
        match self.missing()[..] {
            [] => Ok(Report::note(format!("installed {names}"))),
            ref programs => Err(format!("{names} are installed, but there is no {}", programs.join(", ")).into()),
        }
    }

    fn missing(&self) -> Vec<&'static str> {
        let folders: Vec<_> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
        let is_missing = |program: &&&str| !folders.iter().any(|folder| folder.join(program).is_file());
        self.programs.iter().filter(is_missing).copied().collect()
    }
}

/// Installs packages, for a step that holds the lock.
pub fn install(progress: &Progress, packages: &[&str]) -> Result<(), Failure> {
    progress.run(&mut project::program("apt-get", &["update"]))?;
    let mut command = project::program("apt-get", &["install", "--yes", "--no-install-recommends"]);
    progress.run(command.args(packages).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(())
}
