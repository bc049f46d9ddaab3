//! Machines that run a core module.

pub mod crates;
pub mod record;

/// An argument or a result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    I32(u32),
    I64(u64),
}

impl Word {
    /// The number, of either width.
    pub fn bits(self) -> u64 {
        match self {
            Self::I32(number) => number.into(),
            Self::I64(number) => number,
        }
    }
}

/// One instance of a core module, and its memory.
pub trait Machine {
    /// Whether the module exports a function of that name.
    fn has(&mut self, function: &str) -> bool;
    /// Calls an exported function.
    fn call(&mut self, function: &str, arguments: &[Word]) -> Option<Word>;
    fn read(&mut self, address: u32, length: u32) -> Vec<u8>;
    fn write(&mut self, address: u32, bytes: &[u8]);
    /// The whole memory.
    fn memory(&self) -> &[u8];
}

/// The range of a memory that a list or a string takes.
fn part(address: u32, length: usize) -> std::ops::Range<usize> {
    let start = address as usize;
    start..start + length
}
