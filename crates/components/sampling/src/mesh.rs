use alloc::vec::Vec;

use samedeal_core as core_;

use crate::Component;
use crate::bindings::exports::samedeal::deal::{mesh, types};

impl mesh::Guest for Component {
    type Mesh = Mesh;
}

pub struct Mesh(core_::Mesh);

impl mesh::GuestMesh for Mesh {
    fn new(world: u32, axes: Vec<mesh::Axis>) -> Result<Self, types::Failure> {
        let axes = axes.into_iter().map(|mesh::Axis { name, size, role }| {
            let role = match role {
                mesh::Role::Divide => core_::Role::Divide,
                mesh::Role::Repeat => core_::Role::Repeat,
            };
            core_::Axis { name, size, role }
        });
        Ok(Self(core_::Mesh::new(world, axes.collect())?))
    }

    fn data_world(&self) -> u32 {
        self.0.data_world()
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
