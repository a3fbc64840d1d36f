//! Runs compiled code and our reading on the same launches, until something differs or the budget is spent.

use super::compiled;
use super::data::{Difference, Discrepancy, Summary};
use super::error::{NotCompared, Skip};
use super::instances::Instance;
use super::{judge, launches};
use crate::prove::statements::has_unknown;
use interp::{self, CompiledResults, CompiledRunOptions, Draw, Launch};
use kir::{ArrayId, Kernel, Part, Scalar, Signature, Space, VarId, has_warp};
use std::collections::BTreeMap;

/// Launches of one instance.
pub(super) const LAUNCHES: usize = 8;
/// Budget in instructions: for one run of our reading, and for all.
pub(super) const BUDGET: u64 = 400_000;
const ALL_BUDGET: u64 = 2_000_000;
/// Runs with perturbed floats.
const PERTURBED: u64 = 2;

const DRAWS: [Draw; 3] = [Draw::Small, Draw::Wide, Draw::Mixed];

/// A comparison in progress.
pub(super) struct Work<'w> {
    /// Scalars fixed by the current instance.
    pub(super) fixed: BTreeMap<VarId, i128>,
    pub(super) kernel: &'w Kernel,
    pub(super) signature: &'w Signature,
    /// Significant bits of the narrowest float type.
    pub(super) significand: u32,
    pub(super) order: interp::OrderDependence,
    pub(super) summary: Summary,
    /// Instructions of our reading executed so far.
    pub(super) steps: u64,
    /// The budget of one run of our reading, in instructions.
    pub(super) budget: u64,
    /// Integers in the text.
    pub(super) numbers: Vec<i128>,
    /// The reasons why runs were not compared.
    pub(super) skipped: Vec<Skip>,
}

impl<'w> Work<'w> {
    pub(super) fn new(kernel: &'w Kernel, signature: &'w Signature, text: &str) -> Self {
        Self {
            fixed: BTreeMap::new(),
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

    /// The extent of the comparison; an error if nothing could be compared.
    pub(super) fn finish(mut self) -> Result<Summary, NotCompared> {
        self.note_order();
        match (self.summary.elements, self.skipped.first()) {
            (0, Some(reason)) => Err(reason.clone().into()),
            (0, None) if self.summary.runs == 0 => Err(NotCompared::NoLaunch),
            (0, None) => Err(NotCompared::NoElement),
            _ => Ok(self.summary),
        }
    }

    /// The first difference of one instance, if there is one.
    pub(super) fn instance(
        &mut self,
        programs: &[compiled::Kernel<'_>],
        instance: &Instance,
    ) -> Result<Option<Difference>, NotCompared> {
        let program = programs.first().ok_or(NotCompared::NothingCompiled)?;
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

    /// Compares one launch with one kind of contents.
    pub(super) fn run(
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
                    self.skip(Skip::Rounding);
                    return None;
                }
            }
        }
        let mut compared = false;
        for program in programs {
            match self.judge(program, &launch, &left, &others) {
                Ok((Some(what), _)) => return Some(self.difference(Some(&launch), what)),
                Ok((None, elements)) => {
                    self.summary.elements += if compared { 0 } else { elements };
                    compared = true;
                }
                Err(reason) => self.skip(reason),
            }
        }
        self.summary.runs += usize::from(compared);
        None
    }

    /// The difference of a run of compiled code, if any, and the number of compared elements.
    fn judge(
        &self,
        program: &compiled::Kernel<'_>,
        launch: &Launch,
        left: &CompiledResults,
        others: &[CompiledResults],
    ) -> Result<(Option<Discrepancy>, u64), Skip> {
        let ran = program.run(self.kernel, self.signature, launch, left)?;
        if let Some(fault) = ran.fault {
            return match self.faults_count() {
                true => Ok((Some(Discrepancy::Fault(fault)), 0)),
                false => Err(Skip::Fault(fault)),
            };
        }
        let judge = judge::Judge { kernel: self.kernel, order: &self.order, left, others };
        Ok(judge.compare(&ran.arrays))
    }

    /// Returns `true` if a fault that compiled code has and our reading has not must be an error of the reading.
    fn faults_count(&self) -> bool {
        let body = &self.kernel.body;
        // Stores of such values may be equal for all threads, or not.
        let unknown = has_unknown(body);
        !self.order.control && !self.kernel.fences && !has_warp(body) && !unknown
    }

    /// Runs our reading on a launch; with `perturbed`, the number of a perturbation of its inexact floats.
    fn read(
        &mut self,
        launch: &Launch,
        way: Draw,
        perturbed: Option<u64>,
    ) -> Result<CompiledResults, Skip> {
        let significand = self.significand;
        let options = CompiledRunOptions { draw: way, significand, perturbed, budget: self.budget };
        let compiled_run = interp::run_compiled(self.kernel, launch, options);
        let reason = match compiled_run {
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
            interp::End::Stopped(why) => Skip::Stopped(why),
            _ => Skip::Finding,
        })
    }

    fn skip(&mut self, reason: Skip) {
        if !self.skipped.contains(&reason) {
            self.skipped.push(reason);
        }
    }

    fn note_order(&mut self) {
        let arrays = self.kernel.arrays.enumerate();
        let names = arrays
            .filter(|(array, declared)| declared.space == Space::Global && self.order.has(*array));
        for (_, declared) in names {
            let name = &declared.name;
            self.summary.left_out.push(format!("`{name}` depends on the order of atomics"));
        }
        for (name, records) in &self.signature.variables {
            let is_written =
                |(_, array, _): &(u64, ArrayId, Scalar)| interp::is_written(self.kernel, *array);
            if records.fields.iter().any(is_written) {
                let text = format!("the final contents of `{name}`, a variable outside functions");
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

/// Significant bits of the narrowest float type of a kernel.
fn significand(signature: &Signature, text: &str) -> u32 {
    let parts = signature.parameters.iter().flat_map(|parameter| &parameter.parts);
    let scalars = parts.flat_map(|(_, part)| match part {
        Part::Number(_, scalar) => vec![*scalar],
        Part::Pointer(records) => records.fields.iter().map(|(_, _, scalar)| *scalar).collect(),
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
