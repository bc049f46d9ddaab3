//! The command `samedeal`: the deal of a dataset, in the terminal.

mod args;
mod cli;
mod commands;
// Written by the build.
#[rustfmt::skip]
mod generated;
mod read;
mod write;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use cli::{Cli, Command};
use commands::{
    batches, blend, diff, explain, ledger, locate, mesh, numbers, rank, recipe, replay, schema, shards, shell, split,
    state, step, steps, summaries, verify,
};
use write::{Problem, be_quiet};

fn main() -> ExitCode {
    let Cli { mut command, quiet } = Cli::read();
    if quiet {
        be_quiet();
    }
    if let Err(problem) = command.settle() {
        return exit(Err(problem));
    }
    let done = match command {
        Command::Indices(args) => numbers::indices(&args),
        Command::Batches(args) if args.by_length.lengths.is_some() => batches::run(&args),
        Command::Batches(args) => numbers::batches(&args),
        Command::Locate(args) if args.by_length.lengths.is_some() => batches::locate(&args),
        Command::Locate(args) => locate::run(&args),
        Command::Step(args) if args.by_length.lengths.is_some() => batches::step(&args),
        Command::Step(args) => step::run(&args),
        Command::Fingerprint(args) => summaries::fingerprint(&args),
        Command::Verify(args) => return exit(verify::run(&args)),
        Command::Replay(args) => replay::run(&args),
        Command::Blend(args) => blend::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Steps(args) => steps::run(&args),
        Command::Shards(args) => return exit(shards::run(&args)),
        Command::Mesh(args) => mesh::run(&args),
        Command::Rank(args) => rank::run(&args),
        Command::Recipe(args) => recipe::run(&args),
        Command::State(args) => state::run(&args),
        Command::Index(args) => batches::index(&args),
        Command::Ledger(args) => ledger::run(&args),
        Command::Explain(args) => explain::run(args),
        Command::Diff(args) => return exit(diff::run(&args)),
        Command::Orders(args) => summaries::orders(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::man(&args, Cli::command()),
    };
    exit(done.map(|()| true))
}

/// The exit code: 0 when all is well, 1 when a check failed, and 2 when there is no answer: the command could not be
/// run, or its arguments make no sense.
fn exit(done: Result<bool, Problem>) -> ExitCode {
    match done {
        Ok(true) | Err(Problem::Unheard) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            // A failure to write this message is ignored: the exit code still reports the problem.
            let _ = writeln!(io::stderr(), "error: {problem}");
            ExitCode::from(2)
        }
    }
}
