//! Which rank a process is, and which ranks read the same data.

pub mod launch;
mod mesh;

pub use mesh::{Axis, Mesh, Role};
