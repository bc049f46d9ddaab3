//! Files that a shell needs of the command: completions and pages of the manual.

use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::write::{Problem, Sink};

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// Write a page for the command and for each subcommand into this folder, which is made if it is missing
    #[arg(long, short, value_name = "FOLDER", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// `samedeal completions`
pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> Result<(), Problem> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "samedeal", &mut script);
    Ok(io::Write::write_all(&mut io::stdout(), &script)?)
}

/// `samedeal man`
pub fn man(args: &ManArgs, mut command: clap::Command) -> Result<(), Problem> {
    let Some(folder) = &args.output else { return Ok(Man::new(command).render(&mut io::stdout())?) };
    fs::create_dir_all(folder).map_err(|error| Problem::of(folder, error))?;
    // This gives subcommands their whole names, such as `samedeal-locate`.
    command.build();
    let subcommands = command.get_subcommands().filter(|it| it.get_name() != "help");
    for page in std::iter::once(&command).chain(subcommands) {
        let name = page.get_display_name().unwrap_or(page.get_name());
        let mut sink = Sink::new(Some(&folder.join(format!("{name}.1"))))?;
        Man::new(page.clone()).render(&mut sink)?;
        sink.finish()?;
    }
    Ok(())
}
