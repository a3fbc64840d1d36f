//! The `warpproof` program: hands its arguments to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(warpproof::main(std::env::args_os()))
}
