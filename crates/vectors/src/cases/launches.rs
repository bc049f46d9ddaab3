//! The variables of launchers: each launcher, one launcher over another, explicit values over all, and every failure.

use matrix::format::{Call, Case, Subject};

use super::asked;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![asked("variables", Subject::Functions {}, [Call::Variables])];
    cases.extend([launchers(), precedence(), explicit(), local_rank(), texts(), contradictions(), nested()].concat());
    cases
}

const TORCHRUN: [&str; 4] = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"];
const OPEN_MPI: [&str; 4] =
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"];
const MVAPICH: [&str; 4] =
    ["MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"];
const PMI: [&str; 4] = ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"];
const SLURM: [&str; 4] = ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"];
const JSM: [&str; 4] =
    ["JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"];
/// Flux has no variable for the number of processes of a node. The last variable is the number of nodes, which must not
/// be read in its place.
const FLUX: [&str; 4] = ["FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_NNODES"];
const LAUNCHERS: [(&str, [&str; 4]); 7] = [
    ("torchrun", TORCHRUN),
    ("open-mpi", OPEN_MPI),
    ("mvapich", MVAPICH),
    ("pmi", PMI),
    ("jsm", JSM),
    ("flux", FLUX),
    ("slurm", SLURM),
];

fn launchers() -> Vec<Case> {
    let mut cases = vec![case("nothing", "")];
    for (launcher, [rank, world, local_rank, local_world]) in LAUNCHERS {
        for (what, text) in [
            ("all", format!("{rank}=5 {world}=8 {local_rank}=1 {local_world}=4")),
            ("rank and world", format!("{rank}=0 {world}=1")),
            ("the ends", format!("{rank}=4294967294 {world}=4294967295 {local_rank}=4294967295")),
            ("no world", format!("{rank}=3 {local_rank}=3 {local_world}=4")),
            ("no rank", format!("{world}=2")),
            ("no rank in a world of 1", format!("{world}=1 {local_world}=1")),
            ("an empty rank", format!("{rank}= {world}=2")),
            ("an empty world", format!("{rank}=1 {world}=")),
            ("the world itself", format!("{rank}=8 {world}=8")),
            ("no ranks at all", format!("{rank}=0 {world}=0")),
            ("a list for a local world", format!("{rank}=3 {world}=4 {local_rank}=1 {local_world}=2(x2)")),
            ("no number for a local rank", format!("{rank}=3 {world}=4 {local_rank}=first")),
        ] {
            cases.push(case(&format!("{launcher}: {what}"), &text));
        }
    }
    cases.push(case("slurm: a step", "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_ID=0"));
    cases.push(case("slurm: an empty step", "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_ID="));
    cases.push(case("slurm: alone, without a step", "SLURM_PROCID=0 SLURM_NTASKS=1"));
    for (what, step) in [
        ("fewer processes than the job", "SLURM_STEP_NUM_TASKS=2 SLURM_STEP_TASKS_PER_NODE=2"),
        ("on several nodes", "SLURM_STEP_NUM_TASKS=2 SLURM_STEP_TASKS_PER_NODE=1(x2)"),
        ("an empty number", "SLURM_STEP_NUM_TASKS= SLURM_STEP_TASKS_PER_NODE="),
        ("no number", "SLURM_STEP_NUM_TASKS=two"),
        ("no processes", "SLURM_STEP_NUM_TASKS=0"),
        ("too few", "SLURM_STEP_NUM_TASKS=1"),
    ] {
        let job = "SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_LOCALID=1 SLURM_NTASKS_PER_NODE=4 SLURM_STEP_ID=3";
        cases.push(case(&format!("slurm: a step, {what}"), &format!("{job} {step}")));
    }
    cases.push(case("slurm: a step without a rank", "SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=8"));
    let above =
        "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4 SLURM_PROCID=1 SLURM_NTASKS=6 SLURM_STEP_NUM_TASKS=2";
    cases.push(case("slurm: a step that starts a node each", above));
    for name in ["PMIX_RANK", "PMI_ID", "ALPS_APP_PE", "PALS_RANKID", "CLOUD_TPU_TASK_ID", "TPU_WORKER_ID"] {
        cases.push(case(&format!("{name} alone"), &format!("{name}=3")));
    }
    cases.push(case("two ranks without a number of ranks", "PMIX_RANK=1 PALS_RANKID=one TPU_WORKER_ID="));
    cases.push(case("PMIX_RANK with a launcher", "PMIX_RANK=3 RANK=1 WORLD_SIZE=2"));
    cases.push(case("PMIX_RANK in a world of 1", "PMIX_RANK=0 WORLD_SIZE=1"));
    cases
}

/// Two launchers at once: the first one in the list counts, in whatever order the variables come.
fn precedence() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (winner, first)) in LAUNCHERS.iter().enumerate() {
        for (loser, second) in &LAUNCHERS[i + 1..] {
            let text = format!("{}=1 {}=2 {}=3 {}=4 SLURM_STEP_ID=0", second[0], second[1], first[0], first[1]);
            cases.push(case(&format!("{winner} over {loser}"), &text));
            let text = format!("{}=0 {}=3 {}=0 {}=3 SLURM_STEP_ID=0", first[0], first[1], second[0], second[1]);
            cases.push(case(&format!("{winner} as {loser}"), &text));
        }
        if *winner != "slurm" {
            let text = format!("{}= {}=7 SLURM_PROCID=1 SLURM_NTASKS=2", first[0], first[1]);
            cases.push(case(&format!("{winner} without a rank"), &text));
        }
    }
    cases.push(case("a rank of torchrun with the world of another", "RANK=1 SLURM_NTASKS=2"));
    cases.push(case("a name twice: the last one counts", "RANK=7 RANK=1 WORLD_SIZE=2"));
    cases.push(case("other variables", "rank=9 PATH=/bin MASTER_PORT=29500 WORLD=3 RANK=1 WORLD_SIZE=2"));
    cases
}

fn explicit() -> Vec<Case> {
    let nothing = "";
    let torchrun = "RANK=1 WORLD_SIZE=4 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2";
    let slurm = "SLURM_PROCID=1 SLURM_NTASKS=4";
    let local = "LOCAL_RANK=1 LOCAL_WORLD_SIZE=2";
    let world_alone = "WORLD_SIZE=4";
    let mut cases = Vec::new();
    for environment in [nothing, torchrun, slurm, local, world_alone] {
        for (rank, world) in [
            (Some(0), Some(3)),
            (Some(2), None),
            (None, Some(2)),
            (None, Some(1)),
            (None, Some(0)),
            (Some(0), Some(0)),
            (Some(0), None),
            (Some(4), None),
            (Some(3), Some(3)),
            (Some(u32::MAX), Some(u32::MAX)),
            (Some(u32::MAX - 1), Some(u32::MAX)),
        ] {
            let text = |value: Option<u32>| value.map_or_else(|| "none".into(), |value| value.to_string());
            let name = format!("rank {}, world {}, and `{environment}`", text(rank), text(world));
            cases.push(detect(&name, environment, rank, world));
        }
    }
    for (environment, rank, world) in [
        ("LOCAL_RANK=first LOCAL_WORLD_SIZE=4", Some(0), Some(2)),
        ("LOCAL_RANK=4294967296 LOCAL_WORLD_SIZE=all", Some(0), Some(2)),
        ("RANK=1 WORLD_SIZE=2 LOCAL_RANK=first", Some(0), Some(2)),
        ("LOCAL_RANK=first", Some(0), None),
        ("LOCAL_RANK=first", None, Some(1)),
        ("RANK=1 WORLD_SIZE=2 LOCAL_RANK=first", Some(0), None),
        ("SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=first", Some(0), Some(2)),
    ] {
        let name = format!("a broken local rank, explicit {rank:?} {world:?}, `{environment}`");
        cases.push(detect(&name, environment, rank, world));
    }
    let broken = "RANK=first WORLD_SIZE=all";
    cases.push(detect("explicit values in place of broken variables", broken, Some(0), Some(2)));
    cases.push(detect("an explicit rank and a broken world", broken, Some(0), None));
    cases.push(detect("a broken rank and an explicit world", broken, None, Some(2)));
    cases
}

/// LOCAL_RANK numbers the processes of one node.
fn local_rank() -> Vec<Case> {
    let mut cases = Vec::new();
    for text in [
        "LOCAL_RANK=0",
        "LOCAL_RANK=1 WORLD_SIZE=4",
        "LOCAL_RANK=0 WORLD_SIZE=1",
        "LOCAL_RANK=1 WORLD_SIZE=1",
        "LOCAL_RANK=1 WORLD_SIZE=1 LOCAL_WORLD_SIZE=1",
        "LOCAL_RANK=0 WORLD_SIZE=1 LOCAL_WORLD_SIZE=x",
        "LOCAL_RANK=0 WORLD_SIZE=1 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=4 RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=3 RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=0 RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=0",
        "SLURM_LOCALID=2 SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_NTASKS_PER_NODE=2 SLURM_STEP_ID=0",
        "LOCAL_RANK=1 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=1 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=4 WORLD_SIZE=4 LOCAL_WORLD_SIZE=4",
        "LOCAL_RANK=0 WORLD_SIZE=1 LOCAL_WORLD_SIZE=1",
        "LOCAL_RANK=0 WORLD_SIZE=0 LOCAL_WORLD_SIZE=0",
        "LOCAL_RANK=1 RANK=0 WORLD_SIZE=2",
        "LOCAL_RANK= WORLD_SIZE=2",
        "LOCAL_RANK=x WORLD_SIZE=2 LOCAL_WORLD_SIZE=2",
        "LOCAL_RANK=1 WORLD_SIZE=x LOCAL_WORLD_SIZE=2",
        "LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=x",
        "LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=4294967296",
        "LOCAL_RANK=1 LOCAL_WORLD_SIZE=x",
        "LOCAL_RANK=1 SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_STEP_ID=0",
        "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=2",
        "SLURM_LOCALID=1 SLURM_NTASKS=2",
    ] {
        cases.push(case(&format!("`{text}`"), text));
    }
    let one_node = "LOCAL_RANK=1 LOCAL_WORLD_SIZE=4";
    for world in [4, 8, 1] {
        cases.push(detect(&format!("`{one_node}`, world {world}"), one_node, None, Some(world)));
    }
    let alone = "LOCAL_RANK=0";
    for world in [0, 1, 2] {
        cases.push(detect(&format!("`{alone}`, world {world}"), alone, None, Some(world)));
    }
    cases
}

/// Texts that are numbers, and texts that are not.
fn texts() -> Vec<Case> {
    let mut cases = Vec::new();
    let long = "7".repeat(70);
    let words = "word ".repeat(20);
    for value in [
        "1",
        "01",
        "0000000000000000000000000000001",
        " 1",
        "1 ",
        "\t1\r\n",
        "\u{a0}1\u{3000}",
        "\u{85}1\u{2028}",
        "+1",
        "-1",
        "-0",
        "1.0",
        "1e0",
        "0x1",
        "1_0",
        "1,0",
        "1 0",
        "١",
        "one",
        "4294967295",
        "4294967296",
        "18446744073709551617",
        &long,
        &words,
        "\u{1F0A1}",
        "\u{feff}1",
        "\u{1f}1",
        "\0",
    ] {
        for name in ["RANK", "WORLD_SIZE"] {
            let (rank, world) = if name == "RANK" { (value, "4294967295") } else { ("0", value) };
            let call = Call::Detect {
                environment: vec![("RANK".into(), rank.into()), ("WORLD_SIZE".into(), world.into())],
                rank: None,
                world_size: None,
            };
            cases.push(asked(&format!("{name} is {value:?}"), Subject::Functions {}, [call]));
        }
    }
    for blank in ["", " ", "\t\n\u{a0}"] {
        let call = Call::Detect { environment: vec![("RANK".into(), blank.into())], rank: None, world_size: None };
        cases.push(asked(&format!("RANK is {blank:?}"), Subject::Functions {}, [call]));
    }
    cases
}

/// Variables of several launchers that contradict each other. Incomplete variables are no contradiction.
fn contradictions() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, text) in [
        ("three that do not agree", "RANK=0 WORLD_SIZE=2 PMI_RANK=1 PMI_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=4"),
        ("one agrees, one does not", "RANK=0 WORLD_SIZE=2 PMI_RANK=0 PMI_SIZE=2 SLURM_PROCID=1 SLURM_NTASKS=2"),
        ("another without a world", "RANK=0 WORLD_SIZE=2 PMI_RANK=1"),
        ("another with a broken world", "RANK=0 WORLD_SIZE=2 PMI_RANK=1 PMI_SIZE=x"),
        ("Slurm behind another, without a step", "PMI_RANK=0 PMI_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=4"),
        ("Slurm before nobody, without a step", "SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_LOCALID=2"),
    ] {
        cases.push(case(name, text));
    }
    let both = "RANK=1 WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=2";
    cases.push(detect("explicit values against two", both, Some(2), Some(3)));
    cases.push(detect("explicit values as one of two", both, Some(1), Some(4)));
    cases.push(detect("an explicit rank, and the world of the first", both, Some(0), None));
    cases.push(detect("an explicit world, and the rank of the first", both, None, Some(2)));
    let alone = "SLURM_PROCID=0 SLURM_NTASKS=4";
    cases.push(detect("an explicit world in place of a Slurm job's", alone, None, Some(1)));
    cases
}

/// A launcher that starts one process for each node, and one that starts the processes there: they agree.
fn nested() -> Vec<Case> {
    let inner = "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4";
    let mut cases = Vec::new();
    for (launcher, [rank, world, ..]) in &LAUNCHERS[1..] {
        for (node, nodes) in [(1, 2), (0, 2), (1, 4), (1, 3), (1, 1), (0, 1), (0, 0), (1, 1_073_741_826)] {
            let text = format!("{inner} {rank}={node} {world}={nodes}");
            cases.push(case(&format!("torchrun in process {node} of {nodes} of {launcher}"), &text));
        }
    }
    cases.extend(uneven());
    let outer = "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_ID=0";
    for text in [
        "RANK=5 WORLD_SIZE=8",
        "RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=x",
        "RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=0",
        "RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=3",
        "RANK=5 WORLD_SIZE=9 LOCAL_WORLD_SIZE=4",
        "RANK=3 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4",
        "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_SIZE=4",
        "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 LOCAL_WORLD_SIZE=4",
    ] {
        cases.push(case(&format!("`{text}` in a process of slurm"), &format!("{text} {outer}")));
    }
    let both = format!("{inner} {outer}");
    cases.push(detect("explicit values that torchrun gave, below slurm", &both, Some(5), Some(8)));
    cases.push(detect("explicit values that slurm gave, above torchrun", &both, Some(1), Some(2)));
    cases
}

/// Nested launchers on nodes of different sizes: two processes and one; one, two and three processes.
fn uneven() -> Vec<Case> {
    let mut cases = Vec::new();
    let (first, second, third) = (
        "RANK=1 WORLD_SIZE=3 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2",
        "RANK=2 WORLD_SIZE=3 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1",
        "RANK=1 WORLD_SIZE=6 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2",
    );
    for (_, [rank, world, ..]) in &LAUNCHERS[1..] {
        for (inner, places) in [
            (first, &[(0, 2), (1, 2), (0, 1), (0, 3), (2, 2)][..]),
            (second, &[(1, 2), (0, 2), (1, 3), (2, 4), (1, 1), (0, 0)]),
            (third, &[(1, 3), (0, 3), (1, 2)]),
        ] {
            for (node, nodes) in places {
                let text = format!("{inner} {rank}={node} {world}={nodes}");
                cases.push(case(&format!("`{text}`"), &text));
            }
        }
    }
    // Variables of torchrun about nodes. The number of nodes has to agree; their order may differ, because torchrun may
    // number nodes differently.
    for (inner, group) in [
        (first, "GROUP_RANK=0 GROUP_WORLD_SIZE=2"),
        (second, "GROUP_RANK=1 GROUP_WORLD_SIZE=2"),
        (second, "GROUP_RANK=0 GROUP_WORLD_SIZE=2"),
        (second, "GROUP_RANK=2 GROUP_WORLD_SIZE=2"),
        (second, "GROUP_RANK=1 GROUP_WORLD_SIZE=3"),
        (second, "GROUP_RANK=1"),
        (second, "GROUP_RANK=x GROUP_WORLD_SIZE=2"),
        (third, "GROUP_RANK=1 GROUP_WORLD_SIZE=3"),
        ("RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4", "GROUP_RANK=1 GROUP_WORLD_SIZE=2"),
        ("RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4", "GROUP_RANK=1 GROUP_WORLD_SIZE=1"),
        ("RANK=0 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4", "GROUP_RANK=0 GROUP_WORLD_SIZE=2"),
        ("RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=6", "GROUP_RANK=1 GROUP_WORLD_SIZE=2"),
        ("RANK=5 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4", "GROUP_RANK=1 GROUP_WORLD_SIZE=2"),
    ] {
        for (node, nodes) in [(0, 2), (1, 2), (2, 2), (1, 3)] {
            let text = format!("{inner} {group} SLURM_PROCID={node} SLURM_NTASKS={nodes} SLURM_STEP_ID=0");
            cases.push(case(&format!("`{text}`"), &text));
        }
    }
    let open_mpi =
        "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1";
    for node in [0, 1] {
        let text =
            format!("{open_mpi} GROUP_RANK=0 GROUP_WORLD_SIZE=2 SLURM_PROCID={node} SLURM_NTASKS=2 SLURM_STEP_ID=0");
        cases.push(case(&format!("`{text}`"), &text));
    }
    cases
}

/// A case without explicit values.
fn case(name: &str, environment: &str) -> Case {
    detect(name, environment, None, None)
}

/// A case whose environment is written as `NAME=value NAME=value`.
fn detect(name: &str, environment: &str, rank: Option<u32>, world: Option<u32>) -> Case {
    let pairs = environment.split_whitespace().map(|pair| pair.split_once('=').expect("NAME=value"));
    let environment = pairs.map(|(name, value)| (name.into(), value.into())).collect();
    asked(name, Subject::Functions {}, [Call::Detect { environment, rank, world_size: world }])
}
