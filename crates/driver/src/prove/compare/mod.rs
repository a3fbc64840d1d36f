//! Compares our reading of CUDA C++ with a compiler's: NVRTC compiles the same text, the engine for PTX runs that and
//! `param::interp` runs our reading, on the same small launches with drawn contents, and every array must hold the same in the
//! end.
//!
//! A proof is about our reading. If that is wrong, runs of the same reading do not show it; compiled code does. What is found
//! here is a difference that happened, so it can only be ours, the compiler's, or a kernel's whose behaviour C++
//! leaves open. What is not found says nothing about launches and contents that were not drawn.
//!
//! Errs towards silence: integers must be equal bit for bit, floats as [`judge`] says, and what may differ for a good reason (the
//! order of atomics, values that C++ leaves open) is left out and said.

mod bytes;
mod compiled;
mod instances;
mod judge;
mod keep;
mod launches;
mod show;
mod table;
#[cfg(test)]
mod tests;

pub use table::{Reading, readings};

pub(super) use show::{as_data, assumption, line, message, note};

use super::detached::{Detached, Patience};
use super::document;
use crate::cuda::locate::Library;
use crate::cuda::{self, CompileOptions};
use crate::{Colour, Exit, Input, Outcome, report};
use base::SourceFile;
use compiled::{Program, Skip};
use instances::Instance;
use param::interp::{self, Draw, Launch, Left, Manner};
use param::kir::{Kernel, Scalar, Signature, has_warp};
use serde::{Deserialize, Serialize};
use show::bug;
use std::path::Path;
use std::time::{Duration, Instant};

/// How the text is compiled.
#[derive(Clone, Debug, Default)]
pub struct Compiling {
    /// Architecture, folders of headers, where NVRTC is looked for.
    pub options: CompileOptions,
    /// `NAME=VALUE` of macros.
    pub defines: Vec<String>,
}

impl Compiling {
    /// How we read a text that is compiled so.
    fn reading(&self) -> crate::prove::reading::Reading {
        crate::prove::reading::Reading {
            defines: self.defines.clone(),
            includes: self.options.includes.clone(),
            arch: self.options.architecture.clone(),
        }
    }
}

/// What came of a comparison.
#[derive(Clone, Debug)]
pub(super) enum Comparison {
    /// The user does not want it.
    LeftOut,
    /// It could not be made, and why.
    Not(String),
    /// Nothing differs.
    Same(Summary),
    /// Something differs.
    Different(Box<Difference>),
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) compiler: String,
    pub(super) architecture: String,
    pub(super) launches: usize,
    pub(super) runs: usize,
    pub(super) elements: u64,
    /// Parts that were not compared, one sentence each.
    pub(super) left_out: Vec<String>,
}

/// A run on which the two differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) compiler: String,
    pub(super) architecture: String,
    pub(super) launch: Option<Launch>,
    pub(super) what: Discrepancy,
}

/// In what they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Discrepancy {
    /// An element.
    Element { array: String, index: String, compiled: String, read: String },
    /// Compiled code does something that our reading does not.
    Fault(String),
    /// The size of a parameter.
    Parameter { name: String, compiled: u64, read: u64 },
}

/// A comparison and how long it took.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) comparison: Comparison,
    pub(super) took: Duration,
    /// Whether it was made by an earlier run.
    pub(super) kept: bool,
}

/// Launches of one instance.
const LAUNCHES: usize = 8;
/// Instructions of one run of our reading, and of all.
const BUDGET: u64 = 400_000;
const ALL_BUDGET: u64 = 2_000_000;
/// Runs with perturbed floats.
const PERTURBED: u64 = 2;

/// Why nothing is compared on launches that contradict the kernel's contract or break it.
const FINDING: &str = "our reading has a finding on every launch";

const DRAWS: [Draw; 3] = [Draw::Small, Draw::Wide, Draw::Mixed];

/// What is compared: a kernel of a text, and how the text is compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) source: &'a SourceFile,
    pub(super) kernel: &'a Kernel,
    pub(super) compiling: Option<&'a Compiling>,
}

/// Compares, unless the user does not want it.
fn compare(source: &SourceFile, kernel: &Kernel, compiling: &Compiling) -> Timed {
    let start = Instant::now();
    let (comparison, kept) = kept_or_made(source, kernel, compiling)
        .unwrap_or_else(|reason| (Comparison::Not(reason), false));
    Timed { comparison, took: start.elapsed(), kept }
}

/// Compares in a thread of its own while something else is done.
pub(super) fn beside<T>(
    asked: Asked<'_>,
    patience: Patience,
    other: impl FnOnce() -> T,
) -> (T, Timed) {
    let start = Instant::now();
    let Some(compiling) = asked.compiling else {
        let timed = Timed { comparison: Comparison::LeftOut, took: Duration::ZERO, kept: false };
        return (other(), timed);
    };
    let (source, kernel) = (asked.source.clone(), asked.kernel.clone());
    let compiling = compiling.clone();
    let thread = Detached::start(move || compare(&source, &kernel, &compiling));
    let done = other();
    let timed = thread.and_then(|thread| thread.result(patience)).unwrap_or_else(|| {
        let reason = "it was not done in the time there is".to_owned();
        Timed { comparison: Comparison::Not(reason), took: start.elapsed(), kept: false }
    });
    (done, timed)
}

/// The end of a command whose kernel is read in another way by the compiler.
pub(super) fn contradiction(
    timed: &Timed,
    kernel: &Kernel,
    (input, command): (&Input, &'static str),
    colour: Colour,
) -> Option<Outcome> {
    let Comparison::Different(difference) = &timed.comparison else { return None };
    let messages = bug(difference, kernel, input, colour);
    let report = report::Report {
        command,
        kernel: Some(kernel.name.clone()),
        compared: Some(as_data(timed, kernel)),
        exit: Exit::Bug,
        ..document::empty(input)
    };
    let report = Some(report);
    Some(Outcome { messages, exit: Exit::Bug, report, ..Outcome::done(String::new()) })
}

fn kept_or_made(
    source: &SourceFile,
    kernel: &Kernel,
    compiling: &Compiling,
) -> Result<(Comparison, bool), String> {
    let library = compiling.options.environment.nvrtc();
    let library =
        library.ok_or("NVRTC is not found; `warpproof doctor` says where it is looked for")?;
    let version = cuda::version(&library)?;
    let key = keep::key(source, kernel, compiling, &library, &version);
    let folder = compiling.options.environment.cache_folder();
    if let Some(known) = key.as_deref().and_then(|key| keep::look_up(folder.as_deref(), key)) {
        return Ok((Comparison::Same(known), true));
    }
    let signature = kernel.signature.as_ref().map_err(Clone::clone)?;
    let text = source.text();
    let compiler = Compiler { path: Path::new(source.name()), text, compiling, library };
    let mut work = Work::new(kernel, signature, text);
    work.summary.compiler = format!("NVRTC {version}");
    work.summary.architecture.clone_from(&compiling.options.architecture);
    for group in instances::groups(kernel, signature, text)? {
        let named = group.compile(&compiler, true)?;
        let program = Program::read(&named.ptx)?;
        // An optimiser leaves out what nobody looks at, such as stores to a shared array that is too small.
        let plain = group.compile(&compiler, false).ok();
        let plain = plain.and_then(|named| Program::read(&named.ptx).ok());
        for (instance, name) in group.instances.iter().zip(&named.names) {
            let second = plain.as_ref().and_then(|plain| plain.kernel(name).ok());
            let kernels: Vec<_> = [program.kernel(name)?].into_iter().chain(second).collect();
            if let Some(difference) = work.instance(&kernels, instance)? {
                return Ok((Comparison::Different(Box::new(difference)), false));
            }
        }
    }
    let summary = work.finish()?;
    if let Some(key) = &key {
        keep::store(folder.as_deref(), key, &summary);
    }
    Ok((Comparison::Same(summary), false))
}

/// Whether NVRTC takes a text; nothing if it is not found or takes too long.
pub(super) fn is_accepted(
    source: &SourceFile,
    compiling: &Compiling,
    patience: Patience,
) -> Option<bool> {
    let library = compiling.options.environment.nvrtc()?;
    let (source, compiling) = (source.clone(), compiling.clone());
    let accepts = move || {
        let compile = |text: &str| {
            let wanted = cuda::Wanted {
                path: Path::new(source.name()),
                text,
                defines: &compiling.defines,
                names: &[],
                options: &compiling.options,
                optimised: false,
            };
            cuda::compile_named(&library, &wanted).is_ok()
        };
        compile(source.text()) || compile(&cuda::without_host(source.text()))
    };
    Detached::start(accepts)?.result(patience)
}

/// What compiles a file.
struct Compiler<'c> {
    path: &'c Path,
    text: &'c str,
    compiling: &'c Compiling,
    library: Library,
}

/// A comparison in the making.
struct Work<'w> {
    /// Scalars that the instance at hand fixes.
    fixed: std::collections::BTreeMap<param::kir::VarId, i128>,
    kernel: &'w Kernel,
    signature: &'w Signature,
    /// Significant bits of the narrowest float type.
    significand: u32,
    order: interp::OrderDependence,
    summary: Summary,
    /// Instructions of our reading so far.
    steps: u64,
    /// Instructions of one run of our reading.
    budget: u64,
    /// Integers that the text names.
    numbers: Vec<i128>,
    /// Why runs were not compared.
    skipped: Vec<String>,
}

impl<'w> Work<'w> {
    fn new(kernel: &'w Kernel, signature: &'w Signature, text: &str) -> Self {
        Self {
            fixed: std::collections::BTreeMap::new(),
            kernel,
            signature,
            significand: significand(signature, text),
            order: interp::order_dependence(kernel),
            summary: Summary::default(),
            steps: 0,
            budget: BUDGET,
            numbers: launches::numbers(text),
            skipped: Vec::new(),
        }
    }

    /// What was compared; an error if nothing could be.
    fn finish(mut self) -> Result<Summary, String> {
        self.note_order();
        match (self.summary.elements, self.skipped.first()) {
            (0, Some(reason)) => Err(reason.clone()),
            (0, None) if self.summary.runs == 0 => {
                Err("no small launch fulfils the contract".to_owned())
            }
            (0, None) => Err("no element that the kernel leaves can be compared".to_owned()),
            _ => Ok(self.summary),
        }
    }

    /// The first difference of one instance, if there is one.
    fn instance(
        &mut self,
        programs: &[compiled::Kernel<'_>],
        instance: &Instance,
    ) -> Result<Option<Difference>, String> {
        let program = programs.first().ok_or("nothing was compiled")?;
        if let Some(what) = program.parameters(self.signature)? {
            return Ok(Some(self.difference(None, what)));
        }
        let mut given = instance.given.clone();
        for (var, name) in &instance.probes {
            given.insert(*var, program.probe(name)?);
        }
        let mut compared = 0;
        self.fixed.clone_from(&given);
        for launch in self.launches(program, &given) {
            let before = self.summary.runs;
            for way in DRAWS {
                if let Some(difference) = self.run(programs, &launch, way) {
                    return Ok(Some(difference));
                }
            }
            self.summary.launches += usize::from(self.summary.runs > before);
            compared += usize::from(self.summary.runs > before);
            if self.steps > ALL_BUDGET || compared == LAUNCHES {
                break;
            }
        }
        self.at_numbers(programs, &given)
    }

    /// One launch with one kind of contents.
    fn run(
        &mut self,
        programs: &[compiled::Kernel<'_>],
        launch: &Launch,
        way: Draw,
    ) -> Option<Difference> {
        let mut launch = interp::vary_scalars(self.kernel, launch, way);
        launch.scalars.extend(self.fixed.clone());
        launch.seed = launch.seed.wrapping_mul(3).wrapping_add(way as u64);
        let left = match self.read(&launch, way, None) {
            Ok(left) => left,
            Err(reason) => {
                self.skip(reason);
                return None;
            }
        };
        let mut others = Vec::new();
        for number in 1..=PERTURBED {
            if left.exact {
                break;
            }
            match self.read(&launch, way, Some(number)) {
                Ok(other) => others.push(other),
                Err(_) => {
                    self.skip("rounding of floats decides what is done".to_owned());
                    return None;
                }
            }
        }
        let mut compared = false;
        for program in programs {
            match self.judged(program, &launch, &left, &others) {
                Ok((Some(what), _)) => return Some(self.difference(Some(&launch), what)),
                Ok((None, elements)) => {
                    self.summary.elements += if compared { 0 } else { elements };
                    compared = true;
                }
                Err(Skip(reason)) => self.skip(reason),
            }
        }
        self.summary.runs += usize::from(compared);
        None
    }

    /// In what a run of compiled code differs, and how many elements were compared.
    fn judged(
        &self,
        program: &compiled::Kernel<'_>,
        launch: &Launch,
        left: &Left,
        others: &[Left],
    ) -> Result<(Option<Discrepancy>, u64), Skip> {
        let ran = program.run(self.kernel, self.signature, launch, left)?;
        if let Some(fault) = ran.fault {
            return match self.faults_count() {
                true => Ok((Some(Discrepancy::Fault(fault)), 0)),
                false => Err(Skip(fault)),
            };
        }
        let judge = judge::Judge { kernel: self.kernel, order: &self.order, left, others };
        Ok(judge.compare(&ran.arrays))
    }

    /// Whether a fault that compiled code has and our reading has not must come of the reading.
    fn faults_count(&self) -> bool {
        let body = &self.kernel.body;
        // What is stored there may be equal for all threads, or not.
        let unknown = crate::prove::statements::has_unknown(body);
        !self.order.control && !self.kernel.fences && !has_warp(body) && !unknown
    }

    fn read(&mut self, launch: &Launch, way: Draw, perturbed: Option<u64>) -> Result<Left, String> {
        let significand = self.significand;
        let manner = Manner { draw: way, significand, perturbed, budget: self.budget };
        let done = interp::compiled(self.kernel, launch, manner);
        let reason = match done {
            Ok(left) => {
                let elements: usize = left.after.values().map(Vec::len).sum();
                self.steps += left.steps + 4 * elements as u64;
                return Ok(left);
            }
            Err(run) => {
                self.steps += run.steps;
                run.end
            }
        };
        Err(match reason {
            interp::End::Stopped(why) => why.to_owned(),
            _ => FINDING.to_owned(),
        })
    }

    fn skip(&mut self, reason: String) {
        if !self.skipped.contains(&reason) {
            self.skipped.push(reason);
        }
    }

    fn note_order(&mut self) {
        let arrays = self.kernel.arrays.enumerate();
        let names = arrays.filter(|(array, declared)| {
            declared.space == param::kir::Space::Global && self.order.has(*array)
        });
        for (_, declared) in names {
            let name = &declared.name;
            self.summary.left_out.push(format!("`{name}` depends on the order of atomics"));
        }
        for (name, records) in &self.signature.variables {
            let is_written = |(_, array, _): &(u64, param::kir::ArrayId, Scalar)| {
                interp::is_written(self.kernel, *array)
            };
            if records.fields.iter().any(is_written) {
                let text = format!("what is left in `{name}`, a variable outside of functions");
                self.summary.left_out.push(text);
            }
        }
    }

    fn difference(&self, launch: Option<&Launch>, what: Discrepancy) -> Difference {
        let Summary { compiler, architecture, .. } = &self.summary;
        let (compiler, architecture) = (compiler.clone(), architecture.clone());
        Difference { compiler, architecture, launch: launch.cloned(), what }
    }
}

/// Significant bits of the narrowest float type that a kernel has.
fn significand(signature: &Signature, text: &str) -> u32 {
    let parts = signature.parameters.iter().flat_map(|one| &one.parts);
    let scalars = parts.flat_map(|(_, part)| match part {
        param::kir::Part::Number(_, scalar) => vec![*scalar],
        param::kir::Part::Pointer(records) => {
            records.fields.iter().map(|(_, _, scalar)| *scalar).collect()
        }
    });
    let of_scalar = |scalar: Scalar| match scalar {
        Scalar::Bfloat16 => 8,
        Scalar::Float { bits: 16 } => 11,
        _ => 24,
    };
    // A file that computes with halves includes their header.
    let of_text = match (text.contains("bfloat16"), text.contains("cuda_fp16")) {
        (true, _) => 8,
        (_, true) => 11,
        _ => 24,
    };
    scalars.map(of_scalar).fold(of_text, u32::min)
}
