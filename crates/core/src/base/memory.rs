//! Memory that ends.

use alloc::format;
use alloc::vec::Vec;

use super::failure::Failure;

/// More than all the small allocations of one call, such as a handle or the text of an error.
const HEADROOM: usize = 64 << 10;

/// Whether there is room for everything small that the next call needs. Small allocations cannot report that there is
/// no memory; so what stays is kept only where this holds after it, and filled memory is an error and never a trap.
#[inline(never)]
pub(crate) fn has_headroom() -> bool {
    let mut room = Vec::<u8>::new();
    let found = room.try_reserve_exact(HEADROOM).is_ok();
    // The compiler may leave out an allocation that nothing looks at, which would then prove nothing.
    core::hint::black_box(&mut room);
    found
}

/// Whether there is room for `count` more items in a list that grows, which is made if it was not there, and for
/// everything small after that.
pub(crate) fn has_room<T>(list: &mut Vec<T>, count: usize) -> bool {
    list.capacity() - list.len() >= count || (list.try_reserve(count).is_ok() && has_headroom())
}

/// Makes room for `count` more items in a list that grows. If there is no memory, the list is dropped, so that there is room for the
/// failure. Failures: `out-of-memory`, of `field`.
pub(crate) fn grow<T>(field: &'static str, count: usize, list: &mut Vec<T>) -> Result<(), Failure> {
    if has_room(list, count) {
        return Ok(());
    }
    let items = core::mem::take(list).len() + count;
    Err(no_room(field, items, size_of::<T>()))
}

/// The failure where so many items of so many bytes do not fit. Apart, because what is generic is compiled for every type.
#[cold]
#[inline(never)]
fn no_room(field: &'static str, items: usize, bytes: usize) -> Failure {
    Failure::out_of_memory(field, items, format!("what fits into memory at {bytes} bytes each"))
}

/// At most `count` items as a list. Failures: `out-of-memory`, of `field`.
pub(crate) fn collect<T>(
    field: &'static str,
    count: usize,
    items: impl IntoIterator<Item = T>,
) -> Result<Vec<T>, Failure> {
    let mut list = Vec::new();
    if list.try_reserve_exact(count).is_err() || !has_headroom() {
        drop(list);
        return Err(no_room(field, count, size_of::<T>()));
    }
    list.extend(items.into_iter().take(count));
    Ok(list)
}
