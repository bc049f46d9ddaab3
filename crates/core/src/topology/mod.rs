//! The rank of a process, and meshes, which say which ranks read the same data.

pub mod launch;
mod mesh;

#[cfg(feature = "texts")]
pub(crate) use mesh::MAX_AXES;
pub use mesh::{Axis, Mesh, Role};
