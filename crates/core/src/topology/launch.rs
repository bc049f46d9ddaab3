//! The rank of a process, from the environment variables that launchers set.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::failure::range;

/// The environment variables of one kind of launcher. If several launchers have set their variables, the first one in
/// [`LAUNCHERS`] counts.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    world_size: &'static str,
    local_rank: &'static str,
    local_world_size: &'static str,
}

/// Launchers by precedence. `torchrun` is first, since other launchers start it on each node. Slurm is last, since it
/// also sets its variables for processes of `mpirun`.
const LAUNCHERS: [Launcher; 7] = [
    Launcher {
        name: "torchrun",
        rank: "RANK",
        world_size: "WORLD_SIZE",
        local_rank: "LOCAL_RANK",
        local_world_size: "LOCAL_WORLD_SIZE",
    },
    Launcher {
        name: "open-mpi",
        rank: "OMPI_COMM_WORLD_RANK",
        world_size: "OMPI_COMM_WORLD_SIZE",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        local_world_size: "OMPI_COMM_WORLD_LOCAL_SIZE",
    },
    Launcher {
        name: "mvapich",
        rank: "MV2_COMM_WORLD_RANK",
        world_size: "MV2_COMM_WORLD_SIZE",
        local_rank: "MV2_COMM_WORLD_LOCAL_RANK",
        local_world_size: "MV2_COMM_WORLD_LOCAL_SIZE",
    },
    Launcher {
        name: "pmi",
        rank: "PMI_RANK",
        world_size: "PMI_SIZE",
        local_rank: "MPI_LOCALRANKID",
        local_world_size: "MPI_LOCALNRANKS",
    },
    Launcher {
        name: "jsm",
        rank: "JSM_NAMESPACE_RANK",
        world_size: "JSM_NAMESPACE_SIZE",
        local_rank: "JSM_NAMESPACE_LOCAL_RANK",
        local_world_size: "JSM_NAMESPACE_LOCAL_SIZE",
    },
    Launcher {
        name: "flux",
        rank: "FLUX_TASK_RANK",
        world_size: "FLUX_JOB_SIZE",
        local_rank: "FLUX_TASK_LOCAL_ID",
        local_world_size: "",
    },
    Launcher {
        name: "slurm",
        rank: "SLURM_PROCID",
        world_size: "SLURM_NTASKS",
        local_rank: "SLURM_LOCALID",
        local_world_size: "SLURM_NTASKS_PER_NODE",
    },
];

/// The variable with the step of a Slurm job that a process belongs to. Only `srun` sets it.
const SLURM_STEP: &str = "SLURM_STEP_ID";
/// Pairs of Slurm variables: of a step of a job, and of the whole job, which may have more processes. The variable of
/// the step is used if it is set.
const OF_STEP: [[&str; 2]; 2] =
    [["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"], ["SLURM_STEP_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"]];
/// Variables that have a rank without a world size, or whose meaning is not certain. They only cause a warning: PMIx,
/// older PMI, Cray's launchers, TPU hosts.
const UNUSED: [&str; 6] = ["PMIX_RANK", "PMI_ID", "ALPS_APP_PE", "PALS_RANKID", "CLOUD_TPU_TASK_ID", "TPU_WORKER_ID"];
/// The variables of `torchrun` with the number of this node, and the number of nodes.
const GROUP: [&str; 2] = ["GROUP_RANK", "GROUP_WORLD_SIZE"];

/// The rank and the world size that [`detect`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The rank of this process.
    pub rank: u32,
    /// The number of processes of the job.
    pub world_size: u32,
    /// Number of this process within its node, if a variable has it.
    pub local_rank: Option<u32>,
    /// Number of processes on the node of this process, if a variable has it.
    pub local_world_size: Option<u32>,
    /// The launcher whose variables were used: `torchrun`, `open-mpi`, `mvapich`, `pmi`, `jsm`, `flux` or `slurm`;
    /// `explicit` for explicit values alone, or `none` if nothing is set (rank 0 of 1).
    pub launcher: &'static str,
    /// The variables that were used, as `NAME=value`; explicit values as `rank=value`, `world_size=value`.
    pub used: Vec<String>,
    /// Warnings in words, mostly about variables that contradict the result and were not used.
    pub warnings: Vec<String>,
}

/// The names of all variables that [`detect`] reads.
pub fn variables() -> impl Iterator<Item = &'static str> {
    let names =
        |launcher: &Launcher| [launcher.rank, launcher.world_size, launcher.local_rank, launcher.local_world_size];
    let own = LAUNCHERS.iter().flat_map(names).filter(|name| !name.is_empty());
    own.chain([SLURM_STEP]).chain(GROUP).chain(OF_STEP.map(|[step, _]| step)).chain(UNUSED)
}

/// The rank and the world size of a process. Explicit values come first, then the first launcher whose rank is set.
/// Failures name the variable or the parameter that has no number or is missing, the rank that is not below the world
/// size, or the world size that is 0.
pub fn detect(
    environment: &[(String, String)],
    rank: Option<u32>,
    world_size: Option<u32>,
) -> Result<Detection, Failure> {
    let environment = Environment(environment);
    let mut used = Vec::new();
    used.extend(rank.map(|rank| format!("rank={rank}")));
    used.extend(world_size.map(|world_size| format!("world_size={world_size}")));

    let launcher = LAUNCHERS.iter().find(|launcher| environment.text(launcher.rank).is_some());
    let names = &environment.in_step(launcher.unwrap_or(&LAUNCHERS[0]));
    let local_rank = match environment.number(names.local_rank) {
        // The local rank is not needed if rank and world size are given.
        Err(_) if rank.is_some() && world_size.is_some() => None,
        found => found?,
    };
    // A value that is no number is ignored: Slurm writes the sizes of all nodes, such as `4(x2),3`, without names.
    let local_world_size = environment.number(names.local_world_size).unwrap_or(None);
    let (rank_field, found_rank) = match (rank, launcher, local_rank) {
        (Some(rank), ..) => ("rank", Some(rank)),
        (None, Some(launcher), _) => (launcher.rank, environment.used(launcher.rank, &mut used)?),
        (None, None, Some(local_rank)) => {
            check_one_node(&environment, local_rank, world_size)?;
            ("LOCAL_RANK", environment.used("LOCAL_RANK", &mut used)?)
        }
        (None, None, None) => ("", None),
    };
    let (world_field, found_world_size) = match world_size {
        Some(world_size) => ("world_size", Some(world_size)),
        None => (names.world_size, environment.used(names.world_size, &mut used)?),
    };
    // Failures name an explicit option as recipes do.
    let world_option = if world_size.is_some() { "world_size" } else { world_field };
    let found = match (found_rank, found_world_size) {
        (_, Some(0)) => return Err(Failure::out_of_range(world_field, 0, range(1, u32::MAX))),
        (Some(rank), Some(world_size)) => (rank, world_size),
        (None, None | Some(1)) => (0, 1),
        (Some(rank), None) => {
            let field = if launcher.is_some() { names.world_size } else { "world_size" };
            return Err(Failure::missing(field, format!("the number of processes, as {rank_field}={rank}")));
        }
        (None, Some(world_size)) => {
            return Err(Failure::missing(
                "RANK",
                range(0, world_size - 1).and(format_args!(", as {world_option}={world_size}")),
            ));
        }
    };
    let (rank, world_size) = found;
    if rank >= world_size {
        return Err(Failure::out_of_range(
            rank_field,
            rank,
            range(0, world_size - 1).and(format_args!(", as {world_option}={world_size}")),
        ));
    }
    let launcher = match (found_rank, launcher) {
        (None, _) => "none",
        _ if used.iter().all(|used| used.starts_with("rank=") || used.starts_with("world_size=")) => "explicit",
        _ => names.name,
    };
    let found = Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings: Vec::new() };
    Ok(Detection { warnings: warnings(&environment, names, &found), ..found })
}

/// Checks that all processes are on one node. Only then can LOCAL_RANK stand for the rank, if RANK is not set.
/// Failures: `RANK`, or a variable that has no number.
fn check_one_node(environment: &Environment, local_rank: u32, world_size: Option<u32>) -> Result<(), Failure> {
    let world_size = world_size.map_or_else(|| environment.number("WORLD_SIZE"), |world_size| Ok(Some(world_size)))?;
    if world_size == Some(1) && local_rank == 0 {
        return Ok(());
    }
    if world_size.is_some() && world_size == environment.number("LOCAL_WORLD_SIZE")? {
        return Ok(());
    }
    let why = format!(
        "RANK and WORLD_SIZE; LOCAL_RANK={local_rank} counts within one node, and nothing says that there is only one \
         (WORLD_SIZE equal to LOCAL_WORLD_SIZE would)"
    );
    Err(Failure::missing("RANK", why))
}

/// Warnings about variables that contradict the result: variables of the launcher in use that explicit values replace,
/// and variables of other launchers. Also warnings about a local rank that is not below the local world size, about
/// processes of Slurm that `srun` did not start, and about a rank without a world size.
fn warnings(environment: &Environment, own: &Launcher, found: &Detection) -> Vec<String> {
    let mut warnings = Vec::new();
    let &Detection { rank, world_size, launcher: chosen, .. } = found;
    for launcher in &LAUNCHERS {
        let Launcher { name, rank: rank_name, world_size: world_name, .. } = environment.in_step(launcher);
        let [other_rank, other_world_size] =
            [rank_name, world_name].map(|name| environment.number(name).unwrap_or(None));
        if name == own.name {
            let says = [(rank_name, other_rank, rank), (world_name, other_world_size, world_size)];
            let contradicting = says.into_iter().filter_map(|(name, other, number)| {
                let other = other.filter(|&other| other != number)?;
                Some(format!("{name}={other}"))
            });
            let unused: Vec<_> = contradicting.collect();
            if !unused.is_empty() {
                warnings.push(format!("not used: {}; used: rank {rank} of {world_size} ({chosen})", unused.join(", ")));
            }
            continue;
        }
        let (Some(other_rank), Some(other_world_size)) = (other_rank, other_world_size) else { continue };
        let is_same = (other_rank, other_world_size) == (rank, world_size);
        if !is_same && !starts_nodes(environment, own, other_rank, other_world_size, found) {
            warnings.push(format!(
                "{name} says {rank_name}={other_rank}, {world_name}={other_world_size}; used: rank {rank} of {world_size} ({chosen})"
            ));
        }
    }
    if let (Some(local_rank), Some(local_world_size)) = (found.local_rank, found.local_world_size)
        && local_rank >= local_world_size
    {
        let Launcher { local_rank: rank_name, local_world_size: world_name, .. } = own;
        warnings.push(format!("{rank_name}={local_rank} is not below {world_name}={local_world_size}"));
    }
    if chosen == "slurm" && world_size > 1 && environment.text(SLURM_STEP).is_none() {
        warnings.push(format!(
            "{world_size} processes of Slurm, but no {SLURM_STEP}: a process that srun did not start is alone, whatever its rank"
        ));
    }
    if chosen == "none" {
        let said = UNUSED.into_iter().filter_map(|name| Some(format!("{name}={}", environment.shown(name)?)));
        warnings.extend(said.map(|said| {
            format!("{said} says a rank, and nothing says of how many; used: rank 0 of 1. Pass rank and world_size")
        }));
    }
    warnings
}

/// Whether another launcher starts only one process on each node, such as a `torchrun`, which then starts the other
/// processes of the node. The ranks of this launcher are then numbers of nodes, and do not contradict the rank of the
/// process.
fn starts_nodes(environment: &Environment, own: &Launcher, node: u32, nodes: u32, found: &Detection) -> bool {
    if own.name == LAUNCHERS[0].name
        && let [Some(group), Some(groups)] = GROUP.map(|name| environment.number(name).unwrap_or(None))
    {
        // `torchrun` may number the nodes in another order, such as by the names of their machines, so that the group
        // rank of `torchrun` is checked in place of `node`.
        return groups == nodes && node < nodes && holds(group, groups, found);
    }
    let local_world_size = found.local_world_size.unwrap_or(0);
    if u64::from(nodes) * u64::from(local_world_size) == u64::from(found.world_size) {
        return found.rank.checked_div(local_world_size) == Some(node);
    }
    holds(node, nodes, found)
}

/// Whether the process can be on node number `node` of `nodes`, if each node has at least one process and ranks are
/// numbered node by node.
fn holds(node: u32, nodes: u32, found: &Detection) -> bool {
    let (Some(local_rank), Some(local_world_size)) = (found.local_rank, found.local_world_size) else { return false };
    if node >= nodes || local_rank >= local_world_size || local_rank > found.rank {
        return false;
    }
    let before = found.rank - local_rank;
    let Some(after) = (found.world_size - before).checked_sub(local_world_size) else { return false };
    let fit = |processes: u32, nodes: u32| if nodes == 0 { processes == 0 } else { processes >= nodes };
    fit(before, node) && fit(after, nodes - 1 - node)
}

struct Environment<'a>(&'a [(String, String)]);

impl Environment<'_> {
    /// The value of a variable, if it is set and not empty. If a name comes several times, the last one counts.
    fn text(&self, name: &str) -> Option<&str> {
        let value =
            self.0.iter().rev().find(|(other, _)| !name.is_empty() && other == name).map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// The value of a variable for a message: at most 64 characters.
    fn shown(&self, name: &str) -> Option<String> {
        self.text(name).map(|text| text.chars().take(64).collect())
    }

    /// The launcher, with variables of a Slurm step in place of variables of the whole job, if they are set.
    fn in_step(&self, launcher: &Launcher) -> Launcher {
        let chosen = |name: &'static str| {
            let of_step = OF_STEP.iter().find(|[step, job]| *job == name && self.text(step).is_some());
            of_step.map_or(name, |[step, _]| step)
        };
        Launcher {
            world_size: chosen(launcher.world_size),
            local_world_size: chosen(launcher.local_world_size),
            ..*launcher
        }
    }

    fn number(&self, name: &'static str) -> Result<Option<u32>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse());
        match number {
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => Err(Failure::out_of_range(name, self.shown(name).unwrap_or_default(), range(0, u32::MAX))),
            None => Err(Failure::wrong_type(name, text, u32_range())),
        }
    }

    /// The number in a variable, if the variable is set. Also adds the variable and its number to `used`.
    fn used(&self, name: &'static str, used: &mut Vec<String>) -> Result<Option<u32>, Failure> {
        let number = self.number(name)?;
        used.extend(number.map(|number| format!("{name}={number}")));
        Ok(number)
    }
}

fn u32_range() -> String {
    format!("a whole number from 0 to {}", u32::MAX)
}
