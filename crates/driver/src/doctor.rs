//! `warpproof doctor`: lists the tools found on this machine, and remedies for missing ones.

use crate::bounded;
use crate::cuda::cache::unwritable;
use crate::cuda::locate::Environment;
use crate::cuda::{self, INSTALL};
use crate::prove::NoSolver;
use crate::{Colour, Outcome};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A compiler that does not say its version in this time does not work.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Reports the tools found.
#[must_use]
pub fn run(environment: &Environment, version: &str) -> Outcome {
    let mut output = format!("{version}\n\n");
    let mut line = |mark: &str, what: &str, text: &str| {
        output.push_str(&format!("{mark:4} {what:10} {text}\n"));
    };
    line("ok", "PTX", "needs nothing else: check, equiv, simulate, inspect");
    let (library, program) = (environment.nvrtc(), environment.nvcc());
    let mut compiles = false;
    match &library {
        Some(library) => {
            match cuda::version(library) {
                Ok(version) => {
                    compiles = true;
                    line("ok", "NVRTC", &format!("{version}, {}", shown(&library.path)));
                }
                Err(why) => {
                    let path = shown(&library.path);
                    line("!", "NVRTC", &format!("{path} does not work: {}", one_line(&why)));
                }
            }
            match library.includes.first() {
                Some(folder) => line("ok", "headers", &shown(folder)),
                None => line(
                    "-",
                    "headers",
                    "none found with NVRTC: only sources without #include compile",
                ),
            }
        }
        None => line("-", "NVRTC", "not found"),
    }
    match &program {
        Some(path) => match nvcc_version(path) {
            Ok(version) => {
                compiles = true;
                line("ok", "nvcc", &format!("{version}, {}", shown(path)));
            }
            Err(why) => line("!", "nvcc", &format!("{} does not work: {why}", shown(path))),
        },
        None => line("-", "nvcc", "not found"),
    }
    match environment.cache_folder() {
        Some(folder) => match unwritable(&folder) {
            Some(why) => line("!", "cache", &format!("{} {why}", shown(&folder))),
            None => line("ok", "cache", &shown(&folder)),
        },
        None => line("-", "cache", "none: neither HOME nor WARPPROOF_CACHE is set"),
    }
    for folder in [".venv", "venv"] {
        if library.is_none() && Path::new(folder).is_dir() {
            let text = "is not searched, because it may belong to someone else: activate it";
            line("-", folder, text);
        }
    }
    match crate::prove::solver_version() {
        Ok(version) if crate::prove::is_old(&version) => {
            let text = format!(
                "{version}: `prove` needs 5 or later (pip install \"z3-solver>=5\" installs it)"
            );
            line("!", "z3", &text);
        }
        Ok(version) => line("ok", "z3", &format!("{version}, for `prove`")),
        Err(why) => {
            let mark = if why == NoSolver::NotFound { "-" } else { "!" };
            let text = format!(
                "{why}: `prove` leaves more questions open (pip install \"z3-solver>=5\" installs it)"
            );
            line(mark, "z3", &text);
        }
    }
    line(
        "",
        "",
        "a second solver (cvc5) can check the answers of z3: `prove --second-solver PATH`",
    );
    let wrong = ["WARPPROOF_NVRTC", "WARPPROOF_NVCC"].into_iter().filter(|name| {
        let found = if name.ends_with("NVRTC") { library.is_some() } else { program.is_some() };
        environment.variable(name).is_some() && !found
    });
    for name in wrong {
        line("!", name, "is set, but the file does not exist");
    }
    output.push('\n');
    output.push_str(&match (&library, &program) {
        (None, None) => format!(
            "PTX files can be checked. For .cu files one thing is missing:\n  {INSTALL}\nin an \
             active Python environment, or set CUDA_HOME to a CUDA toolkit.\n"
        ),
        _ if !compiles => format!(
            "PTX files can be checked; .cu files cannot be compiled. Repair the entries marked `!`, or \
            install another compiler:\n  \
             {INSTALL}\n"
        ),
        (Some(library), None) if library.includes.is_empty() => {
            format!("For .cu files that include CUDA's headers:\n  {INSTALL}\n")
        }
        _ => "PTX and .cu files can be checked.\n".to_owned(),
    });
    Outcome::done(output).escaped(Colour::Plain)
}

/// Returns the release that nvcc says it is.
fn nvcc_version(path: &Path) -> Result<String, String> {
    let mut command = Command::new(path);
    command.arg("--version");
    let output = bounded::output(&mut command, TIME_LIMIT).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let release = text.split("release ").nth(1).and_then(|rest| rest.split(',').next());
    match release {
        Some(release) if output.status.success() => Ok(release.trim().to_owned()),
        _ => Err("it does not report a version".to_owned()),
    }
}

/// Returns an error with its causes on one line: the first alone says little when a library is not loaded.
fn one_line(error: &dyn Error) -> String {
    let mut causes = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        if !causes.contains(&cause.to_string()) {
            causes.push(cause.to_string());
        }
        next = cause.source();
    }
    causes.join(": ").replace('\n', " ")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
