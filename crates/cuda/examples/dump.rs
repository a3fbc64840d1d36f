//! Prints the tree that the reader makes of files: `cargo run -p cuda --example dump -- FILE.cu`.

use cuda::tree::display;
use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let reader = |path: &std::path::Path| path.is_file().then(|| std::fs::read_to_string(path));
        let options = cuda::preprocess::Options {
            path: path.clone().into(),
            reader: &reader,
            ..cuda::preprocess::Options::default()
        };
        let (program, sources) = match cuda::read(&options, &text) {
            Ok(found) => found,
            Err(why) => {
                writeln!(
                    out,
                    "{path}: {:?}: {} at {:?}",
                    why.severity, why.message, why.primary.span
                )?;
                continue;
            }
        };
        for line in &program.assumed {
            writeln!(out, "assumed: {line}")?;
        }
        for kernel in &program.kernels {
            match &kernel.function {
                Ok(_) => writeln!(out, "{path}: {}: read", kernel.name)?,
                Err(why) => writeln!(
                    out,
                    "{path}:{}: {}: {:?}: {}",
                    sources.line(why.primary.span),
                    kernel.name,
                    why.severity,
                    why.message
                )?,
            }
        }
        if std::env::var_os("DUMP").is_some() {
            for id in program.functions.indices() {
                writeln!(out, "{}", display::function_text(&program, id))?;
            }
        }
    }
    Ok(())
}
