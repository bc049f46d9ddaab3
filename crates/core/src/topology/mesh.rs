use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::base::failure::{at_most, only, range, shorten};
use crate::base::memory::collect;
use crate::base::names::named;
use crate::base::{Failure, MAX_COUNT};

/// The role of an axis of a mesh: whether ranks along it read different data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Ranks along the axis get different samples: data parallelism, replicated or sharded.
    Shard,
    /// Ranks along the axis get the same samples: tensor, context and pipeline parallelism.
    Replicate,
}

impl Role {
    /// The role with this name, `shard` or `replicate`. Failures: `role`.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        named("role", Some(name), &[("shard", Self::Shard), ("replicate", Self::Replicate)])
    }
}

/// One axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The name of the axis, such as `dp`.
    pub name: String,
    /// The number of ranks along the axis, at least 1.
    pub size: u32,
    /// The role: whether ranks along this axis read different data.
    pub role: Role,
}

/// The most axes of a mesh.
pub(crate) const MAX_AXES: usize = 64;

/// All ranks of a job as a grid, the last axis counting fastest, as in `torch.distributed.init_device_mesh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    world_size: u32,
    axes: Vec<Axis>,
}

impl Mesh {
    /// A mesh of `world_size` ranks. Failures: `world_size`, `axes`.
    pub fn new(world_size: u32, axes: Vec<Axis>) -> Result<Self, Failure> {
        if world_size == 0 {
            return Err(Failure::out_of_range("world_size", 0, range(1, u32::MAX)));
        }
        if axes.len() > MAX_AXES {
            return Err(Failure::out_of_range("axes", format!("{} axes", axes.len()), at_most(MAX_AXES)));
        }
        for (i, axis) in axes.iter().enumerate() {
            if axis.size == 0 {
                return Err(Failure::out_of_range(
                    "axes",
                    format!("{} = 0", shorten(&axis.name)),
                    range(1, world_size),
                ));
            }
            if axes[..i].iter().any(|other| other.name == axis.name) {
                return Err(Failure::contradiction("axes", shorten(&axis.name), "each name once"));
            }
        }
        let product = axes.iter().try_fold(1_u128, |product, axis| product.checked_mul(axis.size.into()));
        if product != Some(world_size.into()) {
            let product = product.map_or_else(|| "2^128 or more".to_string(), |product| product.to_string());
            let sizes: Vec<_> = axes.iter().map(|axis| format!("{} {}", shorten(&axis.name), axis.size)).collect();
            let arithmetic = if sizes.is_empty() { product } else { format!("{} = {product}", sizes.join(" x ")) };
            let allowed = format!("sizes whose product is the world size, {world_size}");
            return Err(Failure::contradiction("axes", arithmetic, allowed));
        }
        Ok(Self { world_size, axes })
    }

    /// The axes; the last one counts fastest.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The number of ranks.
    pub fn world_size(&self) -> u32 {
        self.world_size
    }

    /// The number of ranks with different samples: the product of the sizes of the axes with the role `shard`.
    pub fn data_world_size(&self) -> u32 {
        // The product cannot overflow: it divides the world size.
        self.axes.iter().filter(|axis| axis.role == Role::Shard).map(|axis| axis.size).product()
    }

    /// The coordinates of a rank, one for each axis. Failures: `rank`.
    pub fn coordinates(&self, rank: u32) -> Result<Vec<u32>, Failure> {
        if rank >= self.world_size {
            return Err(Failure::out_of_range("rank", rank, range(0, self.world_size - 1)));
        }
        let mut rest = rank;
        let mut coordinates: Vec<_> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let coordinate = rest % axis.size;
                rest /= axis.size;
                coordinate
            })
            .collect();
        coordinates.reverse();
        Ok(coordinates)
    }

    /// The rank at these coordinates, one for each axis. Failures: `coordinates`.
    pub fn rank_at(&self, coordinates: &[u32]) -> Result<u32, Failure> {
        if coordinates.len() != self.axes.len() {
            let allowed = only(self.axes.len()).and(", one for each axis");
            return Err(Failure::out_of_range("coordinates", format!("{} numbers", coordinates.len()), allowed));
        }
        self.axes.iter().zip(coordinates).try_fold(0, |rank, (axis, &coordinate)| {
            if coordinate >= axis.size {
                let allowed = range(0, axis.size - 1);
                return Err(Failure::out_of_range("coordinates", format!("{} = {coordinate}", axis.name), allowed));
            }
            Ok(rank * axis.size + coordinate)
        })
    }

    /// The data rank of a rank, below `data_world_size`: its number along the axes with the role `shard` alone.
    /// Failures: `rank`.
    pub fn data_rank(&self, rank: u32) -> Result<u32, Failure> {
        let coordinates = self.coordinates(rank)?;
        let sharding = self.axes.iter().zip(coordinates).filter(|(axis, _)| axis.role == Role::Shard);
        Ok(sharding.fold(0, |rank, (axis, coordinate)| rank * axis.size + coordinate))
    }

    /// The ranks that get the same samples as `rank`, ascending, including `rank` itself. Failures: `rank`; `axes`, if
    /// there are more than 2^20 peers; `out-of-memory`.
    pub fn peers(&self, rank: u32) -> Result<Vec<u32>, Failure> {
        let mut coordinates = self.coordinates(rank)?;
        let count = self.world_size / self.data_world_size();
        if count > MAX_COUNT {
            return Err(Failure::out_of_range("axes", format!("{count} peers"), at_most(MAX_COUNT).and(" at once")));
        }
        let mut peers = collect("axes", count as usize, 0..count)?;
        for peer in &mut peers {
            let mut rest = *peer;
            for (axis, coordinate) in self.axes.iter().zip(&mut coordinates).rev() {
                if axis.role == Role::Replicate {
                    *coordinate = rest % axis.size;
                    rest /= axis.size;
                }
            }
            *peer = self.rank_at(&coordinates)?;
        }
        Ok(peers)
    }
}
