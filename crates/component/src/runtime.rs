//! What a component without the standard library has to bring itself, so that it imports nothing.
#![allow(unsafe_code)]

use alloc::alloc::{Layout, alloc, dealloc, realloc};
use alloc::string::ToString;

use crate::bindings::exports::samedeal::deal::types::{Failure, FailureKind};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

/// Where hosts put what they pass by reference: the name of the order. Elsewhere wasi-libc exports this.
///
/// # Safety
/// As the canonical ABI has it: `old` is null and `old_size` 0, or `old` is a block of that size and alignment.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
    if new_size == 0 {
        return core::ptr::without_provenance_mut(align);
    }
    // SAFETY: the sizes and alignments come in pairs that a host has been given or asks for by the canonical ABI.
    let block = unsafe {
        if old_size == 0 {
            alloc(Layout::from_size_align_unchecked(new_size, align))
        } else {
            realloc(old, Layout::from_size_align_unchecked(old_size, align), new_size)
        }
    };
    if block.is_null() {
        // The canonical ABI knows no failure here.
        core::arch::wasm32::unreachable()
    }
    block
}

/// Small allocations (a handle, an error's text) cannot report that there is no memory. Fails while enough for all
/// of those that one call makes is still left, so that filled memory is an error and never a trap.
pub fn check_headroom() -> Result<(), Failure> {
    const HEADROOM: Layout = Layout::new::<[u8; 64 << 10]>();
    // SAFETY: the layout is not empty, and the block is returned with the layout that it was asked for with.
    let found = unsafe {
        let block = alloc(HEADROOM);
        if !block.is_null() {
            dealloc(block, HEADROOM);
        }
        !block.is_null()
    };
    if found {
        return Ok(());
    }
    Err(Failure {
        kind: FailureKind::OutOfMemory,
        field: "memory".to_string(),
        value: "full".to_string(),
        allowed: "fewer samplers at a time, or smaller ones".to_string(),
    })
}
