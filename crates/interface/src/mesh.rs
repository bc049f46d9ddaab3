use alloc::vec::Vec;

use samedeal_core as core_;

use crate::Component;
use crate::bindings::{mesh, types};

impl mesh::Guest for Component {
    type Mesh = Mesh;
}

pub struct Mesh(core_::Mesh);

impl mesh::GuestMesh for Mesh {
    fn new(world_size: u32, axes: Vec<mesh::Axis>) -> Result<Self, types::Failure> {
        let axis = |mesh::Axis { name, size, role }| -> Result<_, core_::Failure> {
            Ok(core_::Axis { name, size, role: core_::Role::from_name(&role)? })
        };
        let axes: Result<Vec<_>, _> = axes.into_iter().map(axis).collect();
        Ok(Self(core_::Mesh::new(world_size, axes?)?))
    }

    fn data_world_size(&self) -> u32 {
        self.0.data_world_size()
    }

    fn data_rank(&self, rank: u32) -> Result<u32, types::Failure> {
        Ok(self.0.data_rank(rank)?)
    }

    fn coordinates(&self, rank: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.coordinates(rank)?)
    }

    fn rank_at(&self, coordinates: Vec<u32>) -> Result<u32, types::Failure> {
        Ok(self.0.rank_at(&coordinates)?)
    }

    fn peers(&self, rank: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.peers(rank)?)
    }
}
