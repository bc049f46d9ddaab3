//! Parts of a run-time system that a component without the standard library has to bring itself, so that it imports
//! nothing.
#![allow(unsafe_code)]

use alloc::alloc::{Layout, alloc, realloc};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

/// Allocates memory for arguments that hosts pass by reference, such as texts. With the standard library, wasi-libc
/// exports this function.
///
/// # Safety
///
/// The canonical ABI requires one of two: `old` is null and `old_size` is 0, or `old` is a block of this allocator that
/// has `old_size` bytes and the alignment `align`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
    if new_size == 0 {
        return core::ptr::without_provenance_mut(align);
    }
    // SAFETY: by the canonical ABI, a host passes the size and the alignment with which it got the old block, and a
    // valid alignment for the new one.
    let block = unsafe {
        if old_size == 0 {
            alloc(Layout::from_size_align_unchecked(new_size, align))
        } else {
            realloc(old, Layout::from_size_align_unchecked(old_size, align), new_size)
        }
    };
    if block.is_null() {
        // The canonical ABI has no failure for this function.
        core::arch::wasm32::unreachable()
    }
    block
}

/// Compares bytes. The compiler makes calls of this function to compare texts; elsewhere it is part of the C library.
///
/// # Safety
///
/// Both blocks are `count` bytes long.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for i in 0..count {
        // SAFETY: `i` is below `count`. Without volatile reads, the compiler would turn this loop into a call of this
        // function.
        let (left, right) = unsafe { (left.add(i).read_volatile(), right.add(i).read_volatile()) };
        if left != right {
            return i32::from(left) - i32::from(right);
        }
    }
    0
}
