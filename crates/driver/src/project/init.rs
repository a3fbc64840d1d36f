//! `warpproof init`: writes a first project file, with everything known from the PTX filled in.

use super::FILE_NAME;
use crate::arguments::{SelectError, Suggestion, declared, kernels, suggestion};
use crate::{Input, Outcome, escape, output, sources};
use std::path::Path;
use thiserror::Error;

/// The contents and place of a new project file.
#[derive(Debug)]
pub struct Init<'i> {
    /// The kernel, or the reference of a comparison: a module, and a kernel if it has several.
    pub reference: (&'i Input, Option<&'i str>),
    /// The optimised kernel of a comparison.
    pub optimised: Option<(&'i Input, Option<&'i str>)>,
    /// The folder to write to.
    pub folder: &'i Path,
    /// Overwrite an existing one.
    pub force: bool,
}

/// Writes a project file.
#[must_use]
pub fn init(request: &Init<'_>) -> Outcome {
    let path = request.folder.join(FILE_NAME);
    if path.symlink_metadata().is_ok() && !request.force {
        let name = path.display();
        return Outcome::bad_input(&format!("`{name}` already exists; --force overwrites it"));
    }
    let text = match text(request) {
        Ok(text) => text,
        Err(error) => return Outcome::bad_input(&error.to_string()),
    };
    let written =
        output::write_below(request.folder, FILE_NAME, &mut |out| out.write_all(text.as_bytes()));
    if let Err(error) = written {
        return Outcome::bad_input(&format!("cannot write {}: {error}", path.display()));
    }
    let open = text.lines().filter(|line| !line.starts_with('#') && line.contains('?')).count();
    let next = match open {
        0 => "run it with: warpproof run\n".to_owned(),
        1 => "fill in the `?` in 1 line, then: warpproof run\n".to_owned(),
        open => format!("fill in the `?` in {open} lines, then: warpproof run\n"),
    };
    Outcome::done(format!("{} written; {next}", path.display()))
}

/// The reason why there is nothing to write.
#[derive(Debug, Error)]
enum InitError {
    #[error("`{name}` has errors: `warpproof inspect {name}` shows them")]
    Module { name: String },
    #[error("`{name}` has no kernel")]
    NoKernel { name: String },
    #[error(transparent)]
    Selection(#[from] SelectError),
}

fn text(request: &Init<'_>) -> Result<String, InitError> {
    let mut text = String::from(
        "# What `warpproof run` checks. Replace each `?`; sizes are those of one launch.\n\
         # Several: matrix = { C = [128, 512] } and `{C}` in the texts.\n\n\
         [defaults]\ntimeout = \"60s\"\n",
    );
    let facts = |(input, name): (&Input, Option<&str>)| -> Result<Vec<Suggestion>, InitError> {
        let name_of_file = || input.name().to_owned();
        let lowered = sources::lower(&input.source)
            .map_err(|_| InitError::Module { name: name_of_file() })?;
        let program = &lowered.program;
        let meant = match name {
            Some(_) => vec![input.select(program, name)?],
            None => kernels(program),
        };
        if meant.is_empty() {
            return Err(InitError::NoKernel { name: name_of_file() });
        }
        let suggested = |kernel| {
            let function = &program.functions[kernel];
            let declared = declared(&function.name, function.params.len(), input.cuda());
            suggestion(program, kernel, &declared)
        };
        Ok(meant.into_iter().map(suggested).collect())
    };
    let path = |(input, _): (&Input, Option<&str>), one: &Suggestion| {
        let file = crate::paths::relative(input.name());
        let folder = crate::paths::relative(&request.folder.display().to_string());
        let inside = Path::new(&file).strip_prefix(&folder).map(Path::to_path_buf);
        let file = inside.unwrap_or_else(|_| file.clone().into()).display().to_string();
        format!("{file}::{}", one.kernel)
    };
    match request.optimised {
        None => {
            for one in facts(request.reference)? {
                text.push_str(&format!("\n[[check]]\nname = {}\n", quoted(&one.kernel)));
                text.push_str(&format!("kernel = {}\n", quoted(&path(request.reference, &one))));
                text.push_str(&launch(&one));
            }
        }
        Some(optimised) => {
            let one = facts(request.reference)?.swap_remove(0);
            let name = || optimised.0.name().to_owned();
            let other =
                facts(optimised)?.pop().ok_or_else(|| InitError::NoKernel { name: name() })?;
            text.push_str(&format!("\n[[equiv]]\nname = {}\n", quoted(&other.kernel)));
            text.push_str(&format!("reference = {}\n", quoted(&path(request.reference, &one))));
            text.push_str(&format!("optimised = {}\n", quoted(&path(optimised, &other))));
            text.push_str(&launch(&other));
            text.push_str(
                "# ref = { grid = 4, block = 1 }   # where the reference is launched otherwise\n",
            );
        }
    }
    Ok(text)
}

fn launch(facts: &Suggestion) -> String {
    let mut text = format!("grid = {}\n", value(&facts.grid));
    facts.block.iter().for_each(|block| text.push_str(&format!("block = {}\n", value(block))));
    facts.shared.iter().for_each(|bytes| text.push_str(&format!("smem = {}\n", value(bytes))));
    text.push_str("args = [\n");
    for argument in &facts.arguments {
        text.push_str(&format!("    {},\n", quoted(argument)));
    }
    text.push_str("]\n");
    text
}

fn value(text: &str) -> String {
    if text.parse::<u64>().is_ok() { text.to_owned() } else { quoted(text) }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | '"' => escaped.extend(['\\', c]),
            c if c.is_control() || escape::is_control(c) => {
                escaped.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => escaped.push(c),
        }
    }
    format!("\"{escaped}\"")
}
