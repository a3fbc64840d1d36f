//! Runs a program twice: as compiled by NVRTC, in the engine for PTX, and as read by the front end of `prove`, in the
//! interpreter. Both get the contents that the interpreter draws. All arrays are compared, integers bit for bit,
//! floats as numbers (they are exact).
//!
//! A program is *refused* if the front end reports it as unsupported. For a program that wraps, the interpreter must
//! report overflow. For any other program this is a difference, as is every other event: programs have no faults.

use super::generator::{BLOCK, CONTENTS, GRID, Parameter, Program};
use driver::arguments::{Arguments, LaunchSpec};
use driver::cuda::{CompileOptions, Math};
use driver::npy::{self, Dtype};
use driver::{Colour, Execution, Exit, Input, Limits, simulate};
use interp::{Contents, End, Event, Launch, Value};
use kir::{ArrayId, Kernel};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Instructions of one run of the interpreter.
const BUDGET: u64 = 2_000_000;

/// The result for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Same,
    /// The front end's message.
    Refused(String),
    /// Overflow is reported for a program that wraps.
    Overflow,
    /// The difference.
    Different(String),
    /// NVRTC rejects it: a bug in the generator.
    Invalid(String),
}

/// A run of the interpreter.
enum Reading {
    Done { kernel: Box<Kernel>, before: Contents, after: Contents },
    Ended(Outcome),
}

impl Reading {
    /// Returns `true` if the answer is known without the compiler.
    fn is_settled(&self) -> bool {
        matches!(self, Self::Ended(Outcome::Refused(_) | Outcome::Overflow))
    }
}

/// A folder for the files of one thread, removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let folder = format!("warpproof-reading-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns `true` if there is a compiler.
pub(crate) fn has_compiler() -> bool {
    CompileOptions::default().environment.nvrtc().is_some()
}

fn compiled(scratch: &Scratch, text: &str) -> Result<Input, String> {
    let path = scratch.0.join("programs.cu");
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    let options = CompileOptions::default();
    let environment = options.environment.clone().without_cache(true);
    let options = CompileOptions { math: Math::Inlined, environment, ..options };
    Input::open(&path, None, &options).map_err(|error| error.to_string())
}

/// The outcomes of programs that are compiled together. With `whole`, programs refused by the front end are compiled,
/// too, so that errors in the generator do not hide behind refusals.
pub(crate) fn compare(scratch: &Scratch, programs: &[Program], whole: bool) -> Vec<Outcome> {
    let texts: Vec<String> = programs.iter().map(|one| one.text.render()).collect();
    let readings: Vec<Reading> =
        programs.iter().zip(&texts).map(|(program, text)| read(program, text)).collect();
    let kept = readings.iter().zip(&texts).filter(|(reading, _)| whole || !reading.is_settled());
    let kept: Vec<&str> = kept.map(|(_, text)| text.as_str()).collect();
    let input = match kept.is_empty() {
        true => Err(String::new()),
        false => compiled(scratch, &kept.concat()),
    };
    let mut outcomes = Vec::new();
    for (program, reading) in programs.iter().zip(readings) {
        let settled = reading.is_settled();
        outcomes.push(match (reading, &input) {
            (_, Err(error)) if kept.len() == 1 && (whole || !settled) => {
                Outcome::Invalid(error.clone())
            }
            // One of them does not compile: find it by compiling each alone.
            (_, Err(_)) if whole || !settled => {
                compare(scratch, std::slice::from_ref(program), whole).remove(0)
            }
            (Reading::Ended(outcome), _) => outcome,
            (reading, Ok(input)) => judged(scratch, input, program, reading),
            (Reading::Done { .. }, Err(error)) => Outcome::Invalid(error.clone()),
        });
    }
    outcomes
}

fn judged(scratch: &Scratch, input: &Input, program: &Program, reading: Reading) -> Outcome {
    let (kernel, before, after) = match reading {
        Reading::Done { kernel, before, after } => (kernel, before, after),
        Reading::Ended(outcome) => return outcome,
    };
    let found: BTreeMap<&str, ArrayId> =
        kernel.arrays.enumerate().map(|(array, declared)| (&declared.name[..], array)).collect();
    let mut arguments = Arguments::default();
    for (position, one) in program.parameters.iter().enumerate() {
        let values = found.get(&one.name[..]).and_then(|array| before.get(array));
        match argument(one, values.map(Vec::as_slice)) {
            Ok(text) => {
                let spec = format!("param_{position}={text}");
                arguments.specs.push(spec.parse().expect("an argument"));
            }
            Err(message) => return Outcome::Different(message),
        }
    }
    if let Err(message) = simulated(scratch, input, program, &arguments) {
        return Outcome::Different(format!("the engine for PTX: {message}"));
    }
    for (position, one) in program.parameters.iter().enumerate().filter(|(_, one)| one.written) {
        let path = scratch.0.join("out").join(format!("param_{position}.npy"));
        let Some(values) = found.get(&one.name[..]).and_then(|array| after.get(array)) else {
            return Outcome::Different(format!("`{}` is not an array", one.name));
        };
        if let Err(message) = same(one, values, &path) {
            return Outcome::Different(message);
        }
    }
    Outcome::Same
}

/// Reads and interprets a program.
fn read(program: &Program, text: &str) -> Reading {
    let result = catch_unwind(AssertUnwindSafe(|| interpreted(program, text)));
    result.unwrap_or_else(|_| Reading::Ended(Outcome::Different("a panic".to_owned())))
}

fn interpreted(program: &Program, text: &str) -> Reading {
    let refused = |message: &str| Reading::Ended(Outcome::Refused(message.to_owned()));
    let kernels = match cuda_front::kernels(text) {
        Ok(kernels) => kernels,
        Err(error) => return refused(&error.message),
    };
    let kernel = match kernels.into_iter().find(|(name, _)| *name == program.kernel) {
        Some((_, Ok(kernel))) => kernel,
        Some((_, Err(error))) => return refused(&error.message),
        None => return Reading::Ended(Outcome::Different("the kernel is not found".to_owned())),
    };
    let mut scalars = BTreeMap::new();
    for var in &kernel.scalars {
        let named = |one: &&Parameter| one.name == kernel.vars[*var].name;
        if let Some(one) = program.parameters.iter().find(named) {
            scalars.insert(*var, one.value);
        }
    }
    let (block, grid) = ([BLOCK as i128, 1, 1], [GRID as i128, 1, 1]);
    let launch = Launch { block, grid, scalars, seed: 7 };
    match interp::memory(&kernel, &launch, BUDGET) {
        Ok((before, after)) => Reading::Done { kernel: Box::new(kernel), before, after },
        Err(run) => {
            let overflow = matches!(run.events.first(), Some(Event::Overflow { .. }));
            Reading::Ended(match (overflow && program.wrapping, &run.end) {
                (true, _) => Outcome::Overflow,
                (_, End::Stopped(why)) => Outcome::Different(format!("stopped: {why}")),
                _ => Outcome::Different(format!("reported: {:?}", run.events.first())),
            })
        }
    }
}

/// An argument in the syntax of `simulate`.
fn argument(one: &Parameter, values: Option<&[Value]>) -> Result<String, String> {
    let (Some(size), element) = (one.size, one.ty.element()) else {
        return Ok(one.value.to_string());
    };
    // An array unknown to the reading is not accessed by the kernel.
    let zeros = vec![Value::float(0.0); size];
    let mut texts = Vec::new();
    for value in values.unwrap_or(&zeros) {
        texts.push(match value {
            Value::Int { value, .. } if !one.ty.is_float() => {
                assert!(
                    (CONTENTS.0..=CONTENTS.1).contains(value),
                    "contents as the generator expects"
                );
                value.to_string()
            }
            Value::Float(real) if one.ty.is_float() || values.is_none() => real.value().to_string(),
            other => return Err(format!("`{}` holds {other:?}, not {}", one.name, one.ty.name())),
        });
    }
    let kind = if one.written { ":inout" } else { "" };
    Ok(format!("{element}[{size}]{kind}=[{}]", texts.join(",")))
}

fn simulated(
    scratch: &Scratch,
    input: &Input,
    program: &Program,
    arguments: &Arguments,
) -> Result<(), String> {
    let launch = LaunchSpec {
        grid: Some(GRID.to_string().parse().expect("a grid")),
        block: Some(BLOCK.to_string().parse().expect("a block")),
        cluster: None,
        shared: None,
        blocks: Vec::new(),
    };
    let limits = Limits::default();
    let kernel = Some(&program.kernel[..]);
    let execution = Execution { input, kernel, launch: &launch, arguments, limits };
    let outcome = simulate::run(&execution, Some(&scratch.0.join("out")), &|| (), Colour::Plain);
    match outcome.exit {
        Exit::Success => Ok(()),
        _ => Err(format!("{}{}", outcome.output, outcome.messages)),
    }
}

/// Compares an array's elements with those of a file.
fn same(one: &Parameter, values: &[Value], path: &Path) -> Result<(), String> {
    let array = npy::read(path).map_err(|error| error.to_string())?;
    let width = array.data.len() / values.len().max(1);
    for (position, (value, bytes)) in values.iter().zip(array.data.chunks(width)).enumerate() {
        let mut wide = [0; 16];
        wide[..width].copy_from_slice(bytes);
        let machine = i128::from_le_bytes(wide);
        let (equal, compiled) = match (value, array.dtype) {
            (Value::Float(real), Dtype::F4) => {
                let other = f64::from(f32::from_bits(machine as u32));
                (real.value() == other, other.to_string())
            }
            (Value::Float(real), Dtype::F8) => {
                let other = f64::from_bits(machine as u64);
                (real.value() == other, other.to_string())
            }
            (Value::Int { value, .. }, _) => {
                (value.rem_euclid(1 << (8 * width)) == machine, machine.to_string())
            }
            _ => (false, machine.to_string()),
        };
        if !equal {
            let name = &one.name;
            return Err(format!("{name}[{position}] is {value:?} as read, {compiled} as compiled"));
        }
    }
    Ok(())
}
