//! `warpproof doctor`: lists the tools found on this machine, and remedies for missing ones.

use crate::bounded;
use crate::cuda::cache::unwritable;
use crate::cuda::locate::{Environment, Library};
use crate::cuda::{self, INSTALL};
use crate::prove::NoSolver;
use crate::{Colour, Outcome};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A compiler that does not report its version within this time counts as broken.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The lines of the report so far. A mark is `ok`, `!` for something broken, or `-` for something missing.
struct Lines(String);

impl Lines {
    fn line(&mut self, mark: &str, what: &str, text: &str) {
        self.0.push_str(&format!("{mark:4} {what:10} {text}\n"));
    }

    /// Reports NVRTC and its headers; returns `true` if it compiles.
    fn nvrtc(&mut self, library: Option<&Library>) -> bool {
        let Some(library) = library else {
            self.line("-", "NVRTC", "not found");
            return false;
        };
        let version = cuda::version(library);
        let path = display(&library.path);
        match &version {
            Ok(version) => self.line("ok", "NVRTC", &format!("{version}, {path}")),
            Err(why) => {
                self.line("!", "NVRTC", &format!("{path} does not work: {}", one_line(why)));
            }
        }
        match library.includes.first() {
            Some(folder) => self.line("ok", "headers", &display(folder)),
            None => {
                self.line(
                    "-",
                    "headers",
                    "none found with NVRTC: only sources without #include compile",
                );
            }
        }
        version.is_ok()
    }

    /// Reports nvcc; returns `true` if it works.
    fn nvcc(&mut self, program: Option<&Path>) -> bool {
        let Some(path) = program else {
            self.line("-", "nvcc", "not found");
            return false;
        };
        let version = nvcc_version(path);
        match &version {
            Ok(version) => self.line("ok", "nvcc", &format!("{version}, {}", display(path))),
            Err(why) => self.line("!", "nvcc", &format!("{} does not work: {why}", display(path))),
        }
        version.is_ok()
    }

    fn cache(&mut self, environment: &Environment) {
        match environment.cache_folder() {
            Some(folder) => match unwritable(&folder) {
                Some(why) => self.line("!", "cache", &format!("{} {why}", display(&folder))),
                None => self.line("ok", "cache", &display(&folder)),
            },
            None => self.line("-", "cache", "none: neither HOME nor WARPPROOF_CACHE is set"),
        }
    }

    fn solvers(&mut self) {
        const INSTALL_Z3: &str = "(pip install \"z3-solver>=5\" installs it)";
        match crate::prove::solver_version() {
            Ok(version) if crate::prove::is_old(&version) => {
                let text = format!("{version}: `prove` needs 5 or later {INSTALL_Z3}");
                self.line("!", "z3", &text);
            }
            Ok(version) => self.line("ok", "z3", &format!("{version}, for `prove`")),
            Err(why) => {
                let mark = if why == NoSolver::NotFound { "-" } else { "!" };
                let text = format!("{why}: `prove` leaves more questions open {INSTALL_Z3}");
                self.line(mark, "z3", &text);
            }
        }
        self.line(
            "",
            "",
            "a second solver (cvc5) can check the answers of z3: `prove --second-solver PATH`",
        );
    }
}

/// Reports the tools found.
#[must_use]
pub fn run(environment: &Environment, version: &str) -> Outcome {
    let mut lines = Lines(format!("{version}\n\n"));
    lines.line("ok", "PTX", "needs nothing else: check, equiv, simulate, inspect");
    let (library, program) = (environment.nvrtc(), environment.nvcc());
    let has_library = lines.nvrtc(library.as_ref());
    let has_program = lines.nvcc(program.as_deref());
    lines.cache(environment);
    for folder in [".venv", "venv"] {
        if library.is_none() && Path::new(folder).is_dir() {
            let text = "is not searched, because it may belong to someone else: activate it";
            lines.line("-", folder, text);
        }
    }
    lines.solvers();
    for (name, is_found) in
        [("WARPPROOF_NVRTC", library.is_some()), ("WARPPROOF_NVCC", program.is_some())]
    {
        if environment.variable(name).is_some() && !is_found {
            lines.line("!", name, "is set, but the file does not exist");
        }
    }
    let Lines(mut output) = lines;
    output.push('\n');
    output.push_str(&conclusion(library.as_ref(), program.is_some(), has_library || has_program));
    Outcome::done(output).escaped(Colour::Plain)
}

/// Says which files can be checked, and how to get what is missing.
fn conclusion(library: Option<&Library>, has_program: bool, compiles: bool) -> String {
    match (library, has_program) {
        (None, false) => format!(
            "PTX files can be checked. For .cu files one thing is missing:\n  {INSTALL}\nin an \
             active Python environment, or set CUDA_HOME to a CUDA toolkit.\n"
        ),
        _ if !compiles => format!(
            "PTX files can be checked; .cu files cannot be compiled. Repair the entries marked `!`, or install \
             another compiler:\n  {INSTALL}\n"
        ),
        (Some(library), false) if library.includes.is_empty() => {
            format!("For .cu files that include CUDA's headers:\n  {INSTALL}\n")
        }
        _ => "PTX and .cu files can be checked.\n".to_owned(),
    }
}

/// Returns the release that nvcc reports.
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

fn display(path: &Path) -> String {
    path.display().to_string()
}
