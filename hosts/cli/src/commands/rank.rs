use std::io::{self, Write};

use samedeal::Detection;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::format::Format;
use crate::args::plan::DetectArgs;
use crate::write::{Cell, Items, Problem, print_json};

/// Which rank a process is.
#[derive(Serialize, JsonSchema)]
pub struct Rank {
    rank: u32,
    world_size: u32,
    /// Number of the process within its node, and how many the node has; null if no variable says it.
    local_rank: Option<u32>,
    local_world_size: Option<u32>,
    /// The name of the launcher, `explicit` or `none`.
    launcher: String,
    /// The variables that were used, as `NAME=value`.
    used: Vec<String>,
    /// One text for each variable of another launcher that contradicts the result.
    warnings: Vec<String>,
}

/// `samedeal rank`
pub fn run(args: &DetectArgs) -> Result<(), Problem> {
    let is_given = args.rank.is_some() || args.world_size.is_some();
    let found = samedeal::detect_rank(args.rank, args.world_size);
    // An error in the variables of a launcher must not name options.
    let found = found.map_err(|error| if is_given { error.into() } else { Problem::worded(error) })?;
    let Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings, .. } = found;
    if args.output.format() == Format::Json {
        return print_json(&Rank { rank, world_size, local_rank, local_world_size, launcher, used, warnings });
    }
    let mut items = Items::new(["what", "found"]);
    for (what, found) in [
        ("rank", Cell::from(rank)),
        ("world size", world_size.into()),
        ("local rank", local_rank.into()),
        ("local world size", local_world_size.into()),
        ("launcher", launcher.into()),
        ("used", used.join(" ").into()),
    ] {
        items.push([what.into(), found]);
    }
    items.print(args.output.format())?;
    for warning in warnings {
        // A warning that cannot be written is ignored: the answer is complete.
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
    Ok(())
}
