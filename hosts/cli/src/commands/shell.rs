//! What a shell needs of the command: completions and pages of the manual.

use std::io;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::write::problem::Problem;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// Write a page for the command and for each subcommand into this folder, which must exist
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
pub fn man(args: &ManArgs, command: clap::Command) -> Result<(), Problem> {
    match &args.output {
        Some(folder) => clap_mangen::generate_to(command, folder).map_err(|error| Problem::of(folder, error)),
        None => Ok(clap_mangen::Man::new(command).render(&mut io::stdout())?),
    }
}
