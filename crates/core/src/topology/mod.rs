//! The rank of a process, and meshes, which say which ranks read the same data.

pub mod launch;
mod mesh;

pub use mesh::{Axis, Mesh, Role};
