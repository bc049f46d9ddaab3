use crate::engine::{Instance, LEAST_MEMORY, cut, launch};
use crate::{Detection, Error};

/// The rank of this process and the number of ranks, from the variables that launchers set. Arguments are used first;
/// then the variables of the first launcher, in the order torchrun, Open MPI, MVAPICH, PMI, JSM, Flux and Slurm, that
/// sets a rank. `LOCAL_RANK` is the number of a process within one node. It is used only if the number of ranks is
/// `LOCAL_WORLD_SIZE` or 1.
///
/// ```
/// let found = samedeal::detect_rank(Some(3), Some(8))?;
/// assert_eq!((found.rank, found.world_size, found.launcher.as_str()), (3, 8, "explicit"));
/// let sampler = samedeal::Sampler::builder(50_000).rank(found.rank).world_size(found.world_size).build()?;
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// Each error names the variable: [`WrongType`](crate::FailureKind::WrongType) (no number), out of range (too large, a
/// world size of 0, or a rank that is not below its world size), [`Missing`](crate::FailureKind::Missing) (a rank
/// without a world size, a world size without a rank, `LOCAL_RANK` alone).
pub fn detect_rank(rank: Option<u32>, world_size: Option<u32>) -> Result<Detection, Error> {
    let text = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    detect(text, rank, world_size)
}

/// [`detect_rank`] with given variables in place of the environment. If a name comes several times, the last one
/// counts.
///
/// ```
/// let error = samedeal::detect_rank_in([("LOCAL_RANK", "3")], None, None).unwrap_err();
/// assert!(error.to_string().starts_with("RANK is missing; needed: RANK and WORLD_SIZE; LOCAL_RANK=3 counts within"));
/// let found = samedeal::detect_rank_in([("RANK", "11"), ("WORLD_SIZE", "16"), ("LOCAL_RANK", "3")], None, None)?;
/// assert_eq!((found.rank, found.world_size, found.local_rank), (11, 16, Some(3)));
/// assert_eq!(found.used, ["RANK=11", "WORLD_SIZE=16"]);
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`detect_rank`].
pub fn detect_rank_in<N: AsRef<str>, V: AsRef<str>>(
    environment: impl IntoIterator<Item = (N, V)>,
    rank: Option<u32>,
    world_size: Option<u32>,
) -> Result<Detection, Error> {
    let environment: Vec<_> = environment.into_iter().collect();
    let found = |name: &str| environment.iter().rev().find(|(other, _)| other.as_ref() == name);
    detect(|name| found(name).map(|(_, value)| value.as_ref().to_owned()), rank, world_size)
}

/// The names of all variables that [`detect_rank`] reads.
///
/// # Errors
///
/// Only errors of the engine.
pub fn rank_variables() -> Result<Vec<String>, Error> {
    launch::variables(&mut Instance::new(LEAST_MEMORY)?)
}

fn detect(
    text: impl Fn(&str) -> Option<String>,
    rank: Option<u32>,
    world_size: Option<u32>,
) -> Result<Detection, Error> {
    let mut instance = Instance::new(LEAST_MEMORY)?;
    let names = launch::variables(&mut instance)?;
    let environment: Vec<_> = names.into_iter().filter_map(|name| text(&name).map(|text| (name, cut(text)))).collect();
    Ok(launch::detect(&mut instance, &environment, rank, world_size)?.into())
}
