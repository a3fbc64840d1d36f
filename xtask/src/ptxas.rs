//! Assembles the output of the front end's printer, and the generated kernels of the papers' tables.

use crate::papers;
use crate::weft::Kernel;
use ptx::isa::{self, Lowering};
use ptx::syntax::ast::{Item, Module};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Targets on which a catalogue example may be legal, oldest first: some forms were removed, some
/// are new.
const TARGETS: &[&str] = &["sm_90a", "sm_100a", "sm_80"];

pub(crate) fn run(ptxas: &Path) -> ExitCode {
    let scratch = std::env::temp_dir().join(format!("warpproof-ptxas-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&scratch) {
        eprintln!("cannot create {}: {error}", scratch.display());
        return ExitCode::from(2);
    }
    let assembler = Assembler { ptxas, scratch: &scratch };
    let mut failures = assembler.corpus();
    failures.extend(assembler.catalogue());
    failures.extend(assembler.generated());
    let _ = std::fs::remove_dir_all(&scratch);
    failures.iter().for_each(|failure| println!("{failure}"));
    println!("{} failures", failures.len());
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Assembler<'a> {
    ptxas: &'a Path,
    scratch: &'a Path,
}

impl Assembler<'_> {
    /// Assembles a text; returns the messages of `ptxas` if it refuses it.
    fn assemble(&self, text: &str, target: &str) -> Result<(), String> {
        let (source, object) = (self.scratch.join("in.ptx"), self.scratch.join("out.cubin"));
        std::fs::write(&source, text).map_err(|error| error.to_string())?;
        let mut command = Command::new(self.ptxas);
        command.arg(format!("-arch={target}")).args(["-c", "-o"]).arg(object).arg(source);
        let output = command.output().map_err(|error| error.to_string())?;
        let message = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(message()) }
    }

    fn corpus(&self) -> Vec<String> {
        let files = testing::corpus::files_below("corpus/ptx", "ptx");
        println!("assembling {} corpus files after a round trip", files.len());
        let check = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).ok()?;
            let module = ptx::syntax::parse(&text).module;
            let target = target(&module)?;
            let outcome = self.assemble(&ptx::syntax::print(&module), &target);
            outcome.err().map(|error| format!("{}: {error}", path.display()))
        };
        files.iter().filter_map(check).collect()
    }

    fn generated(&self) -> Vec<String> {
        let root = testing::corpus::root();
        let kernels = match papers::generated(&root) {
            Ok(kernels) => kernels,
            Err(problem) => return vec![problem],
        };
        println!("assembling {} generated kernels", kernels.len());
        let check = |(name, kernel): &(String, Kernel)| {
            let outcome = self.assemble(&kernel.ptx, "sm_80");
            outcome.err().map(|error| format!("{name}: {error}"))
        };
        kernels.iter().filter_map(check).collect()
    }

    fn catalogue(&self) -> Vec<String> {
        // An unsupported instruction may have been removed from PTX, too.
        let lowered = isa::catalogue().filter(|form| matches!(form.lowering, Lowering::By(_)));
        let examples: Vec<&str> = lowered.flat_map(|form| form.examples.iter().copied()).collect();
        println!("assembling {} catalogue examples", examples.len());
        let check = |example: &&str| {
            let mut refusals = Vec::new();
            for target in TARGETS {
                match self.assemble(&isa::example_module(example, target), target) {
                    Ok(()) => return None,
                    Err(error) => refusals.push(error),
                }
            }
            Some(format!("{example}: {}", refusals.join(" / ")))
        };
        examples.iter().filter_map(check).collect()
    }
}

fn target(module: &Module<'_>) -> Option<String> {
    module.items.iter().find_map(|item| match item {
        Item::Target(names) => names.first().map(|name| name.text.to_owned()),
        _ => None,
    })
}
