//! The commands for projects: `run` runs the entries of a `warpproof.toml`, `init` writes a first one.

use crate::args::{InitArgs, RunArgs};
use crate::console::Console;
use crate::output_files;
use driver::Exit;
use driver::project::{self, Date, Init, Progress, RunOptions};
use std::io::IsTerminal;
use std::path::Path;

/// Runs a project.
pub(crate) fn run(args: &RunArgs, console: &Console) -> Exit {
    // A project is named by its file or folder; other words name entries.
    let is_project = |what: &&String| what.ends_with(".toml") || Path::new(what).is_dir();
    let (file, names) = match args.what.split_first() {
        Some((first, names)) if is_project(&first) => (Some(Path::new(first)), names),
        _ => (None, args.what.as_slice()),
    };
    let project = match project::load(file, console.styled()) {
        Ok(project) => project,
        Err(error) => {
            console.write_err(&error.to_string());
            return Exit::BadInput;
        }
    };
    let shown = console.prints() && std::io::stderr().is_terminal();
    let progress = |progress: &Progress<'_>| {
        if shown {
            let Progress { done, all, name, result } = progress;
            // The next line overwrites this one.
            let end = if done == all { "\r\x1b[K" } else { "" };
            let name = driver::escape::line(name);
            console.write_err(&format!("\r\x1b[K[{done}/{all}] {name}: {result}{end}"));
        }
    };
    let options = RunOptions {
        names,
        jobs: args.jobs.map_or(0, std::num::NonZeroUsize::get),
        today: Date::today(),
        without_cache: args.no_cache,
        format: args.output.format.into(),
        colour: console.styled(),
        pictures: args.output.report.is_some(),
        watch: Some(console.watch()),
        progress: &progress,
    };
    let (outcome, reports) = project::run_each(&project, &options);
    console.finish(output_files::with_files_of(outcome, ("run", &reports), &args.output, console))
}

/// Writes a project file.
pub(crate) fn init(args: &InitArgs, console: &Console) -> Exit {
    let mut inputs = Vec::new();
    for path in std::iter::once(&args.reference).chain(&args.optimised) {
        match args.compile.open(path, console) {
            Ok(input) => inputs.push((input, path.kernel.as_deref())),
            Err(error) => return console.fail(&error.to_string()),
        }
    }
    let (input, kernel) = &inputs[0];
    console.finish(project::init(&Init {
        reference: (input, *kernel),
        optimised: inputs.get(1).map(|(input, kernel)| (input, *kernel)),
        folder: Path::new("."),
        force: args.force,
    }))
}
