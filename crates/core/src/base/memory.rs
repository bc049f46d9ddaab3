//! Allocations that fail with an error, not a trap, where there is no memory.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::failure::Failure;

/// Bytes for the small allocations of one call, such as a handle or the text of an error. A call needs fewer.
const HEADROOM: usize = 64 << 10;

/// Whether `HEADROOM` bytes are free. A small allocation traps if there is no memory. So a large allocation is kept
/// only if `HEADROOM` bytes are free after it. Full memory is then an error, and never a trap.
#[inline(never)]
pub(crate) fn has_headroom() -> bool {
    let mut room = Vec::<u8>::new();
    let found = room.try_reserve_exact(HEADROOM).is_ok();
    // Without this line, the compiler may remove the unused allocation, and the check would always succeed.
    core::hint::black_box(&mut room);
    found
}

/// Reserves room for `count` more items of a list. False if there is no memory for them, or not enough for small
/// allocations after that.
pub(crate) fn has_room<T>(list: &mut Vec<T>, count: usize) -> bool {
    list.capacity() - list.len() >= count || (list.try_reserve(count).is_ok() && has_headroom())
}

/// Reserves room for `count` more items of a list. If there is no memory, the list is freed, which leaves room for the
/// failure. Failures: `out-of-memory`, of `field`.
pub(crate) fn grow<T>(field: &'static str, count: usize, list: &mut Vec<T>) -> Result<(), Failure> {
    if has_room(list, count) {
        return Ok(());
    }
    let items = core::mem::take(list).len() + count;
    Err(no_room(field, items, size_of::<T>()))
}

/// The failure of a list of `items` items of `bytes` bytes each. A function without a type parameter, because generic
/// code is compiled for every type.
#[cold]
#[inline(never)]
fn no_room(field: &'static str, items: usize, bytes: usize) -> Failure {
    Failure::out_of_memory(field, items, format!("what fits into memory at {bytes} bytes each"))
}

/// A list of the first items, at most `count`. Failures: `out-of-memory`, of `field`.
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

/// A text in pieces: the function calls its argument with each piece, one after the other.
pub(crate) type Pieces<'a> = dyn Fn(&mut dyn FnMut(&str)) + 'a;

/// Joins the pieces of a text. Calls `pieces` twice, the first time to count the bytes. Failures: `out-of-memory`, of
/// `field`.
#[inline(never)]
pub(crate) fn joined(field: &'static str, pieces: &Pieces) -> Result<String, Failure> {
    let mut bytes = 0;
    pieces(&mut |piece| bytes += piece.len());
    let mut text = String::new();
    if text.try_reserve_exact(bytes).is_err() || !has_headroom() {
        drop(text);
        return Err(no_room(field, bytes, 1));
    }
    pieces(&mut |piece| text.push_str(piece));
    Ok(text)
}
