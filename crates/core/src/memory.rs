//! Memory that ends: what is large is reserved fallibly where it is needed; this is about everything small.

use alloc::vec::Vec;

/// More than all the small allocations of one call, such as a handle or the text of an error.
const HEADROOM: usize = 64 << 10;

/// Whether there is room for everything small that the next call needs. Small allocations cannot report that there is
/// no memory; so what stays is kept only where this holds after it, and filled memory is an error and never a trap.
pub(crate) fn has_headroom() -> bool {
    let mut room = Vec::<u8>::new();
    let found = room.try_reserve_exact(HEADROOM).is_ok();
    // The compiler may leave out an allocation that nothing looks at, which would then prove nothing.
    core::hint::black_box(&mut room);
    found
}
