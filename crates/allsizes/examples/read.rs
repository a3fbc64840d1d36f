//! Reads files with the CUDA C++ reader and prints which kernels are lowered: `cargo run -p allsizes --example read --
//! FILE.cu`.
//!
//! With `PROVE` in the environment, kernels are proved as well.

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
                writeln!(out, "{path}: {:?}: {}", why.severity, why.message)?;
                continue;
            }
        };
        for (name, kernel) in cuda_front::lower(&program) {
            match kernel {
                Ok(kernel) => {
                    writeln!(out, "{path}: {name}: read")?;
                    proved(&kernel, &mut out)?;
                }
                Err(why) => {
                    let line = sources.line(why.primary.span);
                    writeln!(out, "{path}:{line}: {name}: {:?}: {}", why.severity, why.message)?;
                }
            }
        }
    }
    Ok(())
}

fn proved(kernel: &kir::Kernel, out: &mut impl std::io::Write) -> std::io::Result<()> {
    if std::env::var_os("PROVE").is_none() {
        return Ok(());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("z3")).find(|z3| z3.is_file());
    let solver = found.and_then(|found| smt::Solver::start(&found).ok());
    let options = allsizes::Options { infers: true, suggests: false };
    let (answer, _) = allsizes::prove(kernel, solver, options);
    for one in &answer.properties {
        writeln!(out, "  {:?}: {:?} {:?} {:?}", one.property, one.verdict, one.open, one.findings)?;
    }
    Ok(())
}
