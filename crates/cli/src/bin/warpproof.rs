//! The `warpproof` program: passes its arguments to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(warpproof::main(std::env::args_os()))
}

/// An allocator that ends the process with a message and status 3 if memory runs out, as for any other limit. Rust
/// alone would abort.
///
/// Only this program installs it. Another program, such as Python with our module, keeps its own allocator.
#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "an allocator is unsafe to implement; each call is handed to the system's"
)]
mod memory {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::io::Write;

    #[global_allocator]
    static ALLOCATOR: ExitWithoutMemory = ExitWithoutMemory;

    struct ExitWithoutMemory;

    // SAFETY: every call goes to `System` with the same arguments, and its result is returned if it is not null.
    // Otherwise the process ends. `end` does not allocate: it writes to standard error, which has no buffer, and calls
    // `_exit`.
    unsafe impl GlobalAlloc for ExitWithoutMemory {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are those that `System` asks for.
            or_end(unsafe { System.alloc(layout) }, layout.size())
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: as above; the pointer came from `System`.
            unsafe { System.dealloc(pointer, layout) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
        }

        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: as above.
            or_end(unsafe { System.realloc(pointer, layout, size) }, size)
        }
    }

    fn or_end(pointer: *mut u8, bytes: usize) -> *mut u8 {
        if pointer.is_null() { end(bytes) } else { pointer }
    }

    #[cold]
    fn end(bytes: usize) -> ! {
        let mut message = [0_u8; 160];
        let mut rest = &mut message[..];
        let _ = writeln!(
            rest,
            "error: out of memory: {bytes} more bytes could not be allocated; the answer is unknown. Take a \
            smaller problem or fewer jobs (-j)"
        );
        let left = rest.len();
        let _ = std::io::stderr().write_all(&message[..message.len() - left]);
        // SAFETY: ends the process; no destructor and no handler runs, which may need memory.
        unsafe { nix::libc::_exit(3) }
    }
}
