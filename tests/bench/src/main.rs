//! Measures samedeal side by side with other programs, in one run. The two sides take turns, so that other work of the
//! machine affects both.

mod bench;
mod groups;
mod machine;
mod quantity;
mod table;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use bench::Bench;
use groups::GROUPS;

/// Measures samedeal side by side with torch, grain and its own native core.
///
/// Every figure is the median of several runs. Both sides of a comparison do the same work and take turns; what is
/// steady is measured after a warm-up, what happens once in a process is measured in a new process each time.
#[derive(Parser)]
#[command(name = "bench", version, after_help = examples())]
pub struct Options {
    /// How often each measurement is taken
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Take only these measurements, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,

    /// Also print every single figure, for the pages of the documentation
    #[arg(long)]
    figures: bool,

    /// Measure next to nothing, to see that every measurement still works
    #[arg(long)]
    smoke: bool,

    /// The Python that has samedeal, torch and grain [default: target/venv-torch/bin/python]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,

    /// Node
    #[arg(long, value_name = "PROGRAM", default_value = "node")]
    node: PathBuf,
}

type Error = Box<dyn std::error::Error>;
type Result<T> = std::result::Result<T, Error>;

fn names() -> clap::builder::PossibleValuesParser {
    GROUPS
        .iter()
        .map(|group| clap::builder::PossibleValue::new(group.name).help(group.about))
        .collect::<Vec<_>>()
        .into()
}

fn examples() -> &'static str {
    "Examples:\n  \
     cargo xtask bench                                     everything, after building what it needs\n  \
     cargo xtask bench --only start,resume                 these, and into the documentation\n  \
     target/release/bench --only feistel,node --runs 9     two measurements, more thoroughly\n  \
     target/release/bench --figures                        with every single figure\n  \
     target/release/bench --smoke --runs 1                 whether it still works, in seconds"
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<()> {
    let chosen = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    let groups: Vec<_> = GROUPS.iter().filter(|group| chosen(group.name)).collect();
    let mut bench = Bench::new(&options);
    let versions = machine::versions(&bench)?;
    bench.run(&groups, options.runs)?;

    let mut rows = Vec::new();
    for group in groups {
        bench.series.part = group.name;
        rows.extend((group.rows)(&bench.series));
    }
    // An error if a group asks for a name that it did not record.
    if let Some(measure) = rows.iter().find_map(table::Row::missing) {
        return Err(format!("nothing was measured for: {measure}").into());
    }
    println!("{}\n", table::render(&rows, !options.smoke));
    println!(
        "Each figure is the median of its runs, {} here. The ratio says how many times more samedeal",
        options.runs
    );
    println!("needs where it must be <= something, and how many times less everywhere else.");
    println!("{}\n{versions}", machine::describe());
    if options.smoke {
        println!("This was a smoke run: it was all too little to mean anything.");
    }
    if options.figures {
        println!("{}\nversions: {versions}", bench.series.lines().join("\n"));
    }
    Ok(())
}
