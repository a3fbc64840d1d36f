//! The `warpproof` program as a library: flags in, exit status out. All work is done by `driver`.
//!
//! [`main`] is the program. [`call`] is the same for a caller in this process: it prints nothing, installs no
//! handler, and changes no state but its own.

mod args;
mod batch;
mod call;
mod commands;
mod compile_args;
mod completions;
mod console;
mod demo;
mod follow;
mod launch_args;
mod limit_args;
mod lsp;
mod output_files;
mod output_lock;
mod overdue;
mod project;
mod proof_args;
pub mod readers;
mod version;
mod watch;

use anstream::ColorChoice;
use args::{Args, Colour, Command};
use clap::Parser;
use console::Console;
use driver::{Exit, escape};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use batch::Host;
pub use call::{Call, CallResult, call};

/// Returns version, revision, target and compiler, as `--version` shows them.
#[must_use]
pub fn version() -> &'static str {
    version::LONG
}

/// Runs the program with these arguments, beginning with its name, and returns its exit status.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    main_in(words, &Host::of_process())
}

/// Like [`main`], for a program that is not started by its own name: workers of a batch are this program again.
pub fn main_in(words: impl IntoIterator<Item = OsString>, host: &Host) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let shown: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let console = Console::of_program(&shown, watch::of_program());
    let args = match Args::try_parse_from(words) {
        Ok(args) => args,
        Err(error) if console.has_clean_arguments() || error.exit_code() == 0 => {
            // A closed pipe (`--help | head`) is not an error; a full disk is.
            let is_lost = |lost: std::io::Error| lost.kind() != std::io::ErrorKind::BrokenPipe;
            if error.print().is_err_and(is_lost) {
                return Exit::BadInput as u8;
            }
            return u8::try_from(error.exit_code()).unwrap_or(Exit::BadInput as u8);
        }
        // The message quotes the arguments, so it is printed without colours.
        Err(error) => {
            console.write_err(&escape::plain(&error.render().to_string()));
            return Exit::BadInput as u8;
        }
    };
    args.colour.choice().write_global();
    match &args.command {
        // These commands catch signals in their own way, or leave signals to their parent.
        Command::Batch(batch) => return batch::run(batch, host),
        Command::BatchWorker(worker) => return batch::run_worker(worker, host),
        Command::Watch(watch) => return follow::run(watch, &console) as u8,
        Command::Lsp => return console.exit(lsp::run(&console)) as u8,
        Command::Check(_)
        | Command::Equiv(_)
        | Command::Prove(_)
        | Command::Simulate(_)
        | Command::Run(_)
        | Command::Demo => watch::catch_interrupts(),
        // The others have no partial answer: Ctrl-C ends them at once.
        _ => {}
    }
    // A panic is our bug for any input: say so, instead of dying with an unexplained message.
    let exit = catch_unwind(AssertUnwindSafe(|| commands::run(&args, &console)));
    let exit = exit.unwrap_or_else(|_| report_bug(&console));
    console.exit(exit) as u8
}

fn report_bug(console: &Console) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    console.write_err(&format!(
        "error: this is a bug in warpproof {version}, not in your kernel. Please report it with \
         the message above and, if you can, the file that shows it.\n"
    ));
    Exit::Bug
}

impl Colour {
    fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}
