//! Files that the command reads: of samples, of lengths, of checkpoints.

pub mod checkpoint;
pub mod contents;
pub mod decoded;
pub mod lengths;
pub mod numbers;
