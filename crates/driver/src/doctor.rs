//! `warpproof doctor`: what was found on this machine, and what to do about what was not.

use crate::cuda::cache::distrust;
use crate::cuda::locate::Environment;
use crate::cuda::{self, INSTALL};
use crate::{Colour, Outcome};
use std::path::Path;

/// Says what there is.
#[must_use]
pub fn run(environment: &Environment, version: &str) -> Outcome {
    let mut output = format!("{version}\n\n");
    let mut line = |mark: &str, what: &str, text: &str| {
        output.push_str(&format!("{mark:4} {what:10} {text}\n"));
    };
    line("ok", "PTX", "needs nothing else: check, equiv, simulate, inspect");
    let (library, program) = (environment.nvrtc(), environment.nvcc());
    match &library {
        Some(library) => {
            match cuda::version(library) {
                Ok(version) => {
                    line("ok", "NVRTC", &format!("{version}, {}", shown(&library.path)));
                }
                Err(why) => line("!", "NVRTC", &format!("{why}: {}", shown(&library.path))),
            }
            match library.includes.first() {
                Some(folder) => line("ok", "headers", &shown(folder)),
                None => line("-", "headers", "none beside NVRTC: only sources without #include"),
            }
        }
        None => line("-", "NVRTC", "not found"),
    }
    match &program {
        Some(path) => line("ok", "nvcc", &shown(path)),
        None => line("-", "nvcc", "not found"),
    }
    match environment.cache_folder() {
        Some(folder) => match distrust(&folder) {
            Some(why) => line("!", "cache", &format!("{}: {why}", shown(&folder))),
            None => line("ok", "cache", &shown(&folder)),
        },
        None => line("-", "cache", "none: neither HOME nor WARPPROOF_CACHE is set"),
    }
    for folder in [".venv", "venv"] {
        if library.is_none() && Path::new(folder).is_dir() {
            let text = "is not searched, because a folder may be somebody else's: activate it";
            line("-", folder, text);
        }
    }
    match crate::prove::solver_version() {
        Ok(version) if crate::prove::is_old(&version) => {
            let text = format!(
                "{version}: `prove` wants 5 or later (pip install \"z3-solver>=5\" brings one)"
            );
            line("!", "z3", &text);
        }
        Ok(version) => line("ok", "z3", &format!("{version}, for `prove`")),
        Err(why) => {
            let text =
                format!("{why}: `prove` answers less (pip install \"z3-solver>=5\" brings one)");
            line("-", "z3", &text);
        }
    }
    line("", "", "another solver (cvc5) can be asked as well: `prove --second-solver PATH`");
    let wrong = ["WARPPROOF_NVRTC", "WARPPROOF_NVCC"].into_iter().filter(|name| {
        let found = if name.ends_with("NVRTC") { library.is_some() } else { program.is_some() };
        environment.variable(name).is_some() && !found
    });
    for name in wrong {
        line("!", name, "is set, and there is no such file");
    }
    output.push('\n');
    output.push_str(&match (&library, &program) {
        (None, None) => format!(
            "PTX files can be checked. For .cu files one thing is missing:\n  {INSTALL}\nin an \
             active Python environment, or set CUDA_HOME to a CUDA toolkit.\n"
        ),
        (Some(library), None) if library.includes.is_empty() => {
            format!("For .cu files that include CUDA's headers:\n  {INSTALL}\n")
        }
        _ => "Everything is there.\n".to_owned(),
    });
    Outcome::done(output).escaped(Colour::Plain)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
