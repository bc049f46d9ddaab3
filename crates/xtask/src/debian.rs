//! Packages of the system. On Debian and its relatives they are installed, if the user is root; elsewhere the step says
//! what is missing.

use std::env;

use crate::machine;
use crate::plan::{Failure, Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;

/// The lock of apt: only one package manager can run at a time.
pub const LOCK: &str = "apt";

/// Packages of the system, and the programs that they bring. If all programs are there, nothing is installed.
pub struct Packages {
    pub step: &'static str,
    pub programs: &'static [&'static str],
    pub names: &'static [&'static str],
}

impl Packages {
    /// The step that installs the packages, unless all programs are there.
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

/// Installs packages. The calling step must hold `LOCK`.
pub fn install(progress: &Progress, packages: &[&str]) -> Result<(), Failure> {
    progress.run(&mut project::program("apt-get", &["update"]))?;
    let mut command = project::program("apt-get", &["install", "--yes", "--no-install-recommends"]);
    progress.run(command.args(packages).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(())
}
