use crate::engine::{Instance, LEAST_MEMORY, Object, cut, mesh};
use crate::generated::{MAX_AXES, MeshValues};
use crate::named::names;
use crate::{Error, Failure};

/// The role of an axis of a mesh: whether the ranks along the axis read different data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Ranks along the axis get different samples: data parallelism, with a copy of the model on each rank (DDP) or
    /// with a part of it (FSDP).
    Shard,
    /// Ranks along the axis get the same samples: tensor, context and pipeline parallelism.
    Replicate,
}
names!(Role, "role", { Shard = "shard", Replicate = "replicate" });

/// One axis of a [`Mesh`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct Axis {
    /// The name, such as `dp`. No two axes of a mesh have the same name.
    pub name: String,
    /// Number of ranks along the axis, at least 1.
    pub size: u32,
    /// The role: whether ranks along this axis read different data.
    pub role: Role,
}

impl Axis {
    /// An axis along which ranks get different samples.
    pub fn shard(name: impl Into<String>, size: u32) -> Self {
        Self { name: name.into(), size, role: Role::Shard }
    }

    /// An axis along which ranks get the same samples.
    pub fn replicate(name: impl Into<String>, size: u32) -> Self {
        Self { name: name.into(), size, role: Role::Replicate }
    }
}

/// The ranks of a job as a grid, for jobs in which some ranks read the same data. A mesh computes which share of the
/// data each rank reads. The last axis counts fastest (row-major, as in torch's `init_device_mesh`).
///
/// ```
/// use samedeal::{Axis, Mesh, Sampler};
///
/// // Two copies of a model that is cut into four: 8 ranks, of which 0 to 3 read the same samples.
/// let mesh = Mesh::new(8, [Axis::shard("dp", 2), Axis::replicate("tp", 4)])?;
/// assert_eq!((mesh.data_rank(5)?, mesh.data_world_size()), (1, 2));
/// assert_eq!(mesh.coordinates(5)?, [1, 1]);
/// assert_eq!(mesh.peers(5)?, [4, 5, 6, 7]);
/// let sampler = Sampler::builder(50_000).rank(mesh.data_rank(5)?).world_size(mesh.data_world_size()).build()?;
/// assert_eq!(sampler.num_samples(), 25_000);
///
/// let error = Mesh::new(8, [Axis::shard("dp", 2), Axis::replicate("tp", 2)]).unwrap_err();
/// assert_eq!(error.to_string(), "axes is dp 2 x tp 2 = 4; allowed: sizes whose product is the world size, 8");
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Mesh {
    pub(crate) object: Object<mesh::Mesh>,
    pub(crate) values: MeshValues,
    world_size: u32,
    axes: Vec<Axis>,
}

impl Mesh {
    /// A mesh of `world_size` ranks, with up to 64 axes, the slowest first.
    ///
    /// # Errors
    ///
    /// Out of range (`world_size` or a size is 0, more than 64 axes),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`axes`: the product of the sizes is not `world_size`, or
    /// two axes have one name).
    pub fn new(world_size: u32, axes: impl IntoIterator<Item = Axis>) -> Result<Self, Error> {
        // The component refuses a list of one axis more than allowed as it refuses a longer list, which might not fit
        // into the memory.
        let axes: Vec<_> = axes.into_iter().take(MAX_AXES + 1).collect();
        let passed = axes.iter().cloned().map(|Axis { name, size, role }| mesh::Axis {
            name: cut(name),
            size,
            role: role.name().to_owned(),
        });
        let passed: Vec<_> = passed.collect();
        let object = Object::<mesh::Mesh>::new(Instance::new(LEAST_MEMORY)?, world_size, &passed)?;
        Ok(Self { values: MeshValues::ask(&object)?, object, world_size, axes })
    }

    /// How many ranks there are.
    pub fn world_size(&self) -> u32 {
        self.world_size
    }

    /// The axes, the slowest first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The rank at a place of the grid, one coordinate for each axis.
    ///
    /// # Errors
    ///
    /// Out of range (`coordinates`).
    pub fn rank_at(&self, coordinates: &[u32]) -> Result<u32, Error> {
        if coordinates.len() > MAX_AXES {
            // Refused here: no mesh has so many axes, and a longer list might not fit into the component's memory.
            let allowed = format!("{}, one for each axis", self.axes.len());
            return Err(Failure::out_of_range("coordinates", format!("{} numbers", coordinates.len()), allowed).into());
        }
        self.raw_rank_at(coordinates)
    }
}

impl std::fmt::Debug for Mesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mesh").field("world_size", &self.world_size).field("axes", &self.axes).finish()
    }
}
