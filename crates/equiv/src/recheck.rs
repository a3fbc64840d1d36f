//! Rechecks a proof by other means (`--recheck`): both kernels run at random points, on intervals or, for
//! integers, on numbers, and their values of every output element must intersect.
//!
//! Neither terms nor rules of the algebra are involved. It errs towards silence: an unknown enclosure or an
//! undefined element is ignored. Disjoint enclosures show that the proof is wrong.

use crate::assumed::Assumed;
use crate::constants;
use crate::position::{OpenElement, OpenReason, Position};
use crate::rounding::ConstantMeaning;
use crate::side::{Output, Side};
use crate::table::Table;
use crate::witness::{Numbers, Run, integer};
use exec::Limits;
use interval::{Double, Enclosed, SequenceResults};
use ir::{Format, Scalar};
use term::Terms;

/// Number of points.
const POINTS: usize = 3;

/// The result of a recheck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rechecked {
    /// Points at which both kernels ran.
    pub points: usize,
    /// Number of elements enclosed on both sides that agree, over all points.
    pub agreed: usize,
    /// Number of elements without a result.
    pub open: usize,
}

/// Everything needed to run both sides again.
pub(crate) struct Recheck<'r> {
    pub(crate) sides: [&'r Side<'r>; 2],
    pub(crate) table: &'r Table,
    pub(crate) terms: &'r Terms,
    pub(crate) assumed: &'r Assumed,
    pub(crate) limits: Limits,
    /// Set if constants stand for transcendental numbers.
    pub(crate) snap: bool,
    /// Further constants that stand for other numbers.
    pub(crate) meanings: &'r [ConstantMeaning],
}

impl Recheck<'_> {
    /// Runs both sides at random points.
    ///
    /// # Errors
    /// An element at which they differ.
    pub(crate) fn run(&self) -> Result<Rechecked, OpenElement> {
        let mut rechecked = Rechecked::default();
        let mut state = 0;
        for _ in 0..POINTS {
            let next = || {
                state += 1;
                base::mix64(state)
            };
            let numbers =
                Numbers::random(self.sides, self.table, (self.terms, self.assumed), 1.0, next);
            if let Some(numbers) = numbers {
                self.at(&numbers, &mut rechecked)?;
            }
        }
        Ok(rechecked)
    }

    /// Runs both sides at a point and compares all elements.
    fn at(&self, numbers: &Numbers, rechecked: &mut Rechecked) -> Result<(), OpenElement> {
        let [one, other] = [0, 1].map(|number| {
            let Self { table, limits, .. } = *self;
            self.elements(&Run { side: self.sides[number], number, table, numbers, limits })
        });
        rechecked.points += 1;
        let names = self.outputs(0).into_iter().flat_map(|(_, output)| {
            (0..output.starts.len()).map(|index| Position { name: output.name.clone(), index })
        });
        for (position, (one, other)) in names.zip(one.into_iter().zip(other)) {
            let known = |element: &Enclosed| {
                matches!(element, Enclosed::Between(..) | Enclosed::Infinite { .. })
            };
            if !known(&one) || !known(&other) {
                rechecked.open += 1;
            } else if one.is_disjoint(&other) {
                let reason = OpenReason::Bug { enclosed: Box::new([one, other]) };
                return Err(OpenElement { position, reason, lost: None });
            } else {
                rechecked.agreed += 1;
            }
        }
        Ok(())
    }

    /// Returns the common outputs of both sides by name, each with the number of the launch that writes it last.
    pub(crate) fn outputs(&self, side: usize) -> Vec<(usize, &Output)> {
        let other = self.sides[1 - side].written();
        let outputs = self.sides[side].written().into_iter();
        outputs.filter(|(name, _)| other.contains_key(name)).map(|(_, output)| output).collect()
    }

    /// Evaluates every element of a side's outputs.
    pub(crate) fn elements(&self, run: &Run<'_>) -> Vec<Enclosed> {
        let outputs = self.outputs(run.number);
        let is_float = |output: &(usize, &Output)| matches!(output.1.scalar, Scalar::Float(_));
        let unsure = || Enclosed::Unsure("the run gives no information".to_owned());
        let mut on_intervals = outputs.iter().any(is_float).then(|| {
            let mut stages = run.stages()?;
            if self.snap {
                let snapped = |format: Format, bits| constants::recognise(format, bits).is_some();
                stages.iter_mut().for_each(|stage| stage.given.rounded(snapped));
            }
            for ConstantMeaning { constant, .. } in self.meanings {
                let (format, bits) = (constant.format(), constant.bits);
                stages.iter_mut().for_each(|stage| stage.given.rounded_one(format, bits));
            }
            interval::run_in_sequence::<Double>(&stages, run.limits)
        });
        let has_integers = outputs.iter().any(|output| !is_float(output));
        let on_numbers = has_integers.then(|| run.on_numbers()).flatten();
        let mut elements = Vec::new();
        for (launch, output) in outputs {
            for (index, &start) in output.starts.iter().enumerate() {
                let element = match (output.scalar, &mut on_intervals, &on_numbers) {
                    (Scalar::Float(format), Some(Some(results)), _) => {
                        Some(results.element(launch, output.buffer, start, format))
                    }
                    (Scalar::Integer { .. }, _, Some(results)) => {
                        integer(results, (launch, output), index)
                    }
                    _ => None,
                };
                elements.push(element.unwrap_or_else(unsure));
            }
        }
        elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::side::{Input, InputKind};
    use exec::domain::InputSource;
    use exec::{Access, Argument, Buffer, Contents, Launch};
    use std::sync::Arc;

    fn program(body: &str) -> ir::Program {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
            .reg .f32 %f<5>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
            ld.global.f32 %f1, [%rd1]; {body} st.global.f32 [%rd2], %f2; ret; }}"
        );
        ptx::lower(&ptx::syntax::parse(&text).module).program
    }

    /// Rechecks kernels of one thread as if they were proved equal.
    fn recheck(bodies: [&str; 2]) -> Result<Rechecked, OpenElement> {
        let programs = bodies.map(program);
        let element = Some(Scalar::Float(Format::F32));
        let buffer = |contents, access| Buffer {
            name: String::new(),
            element_bytes: 4,
            element,
            contents,
            access,
        };
        let launch = Launch {
            kernel: programs[0].functions.enumerate().next().unwrap().0,
            grid: [1; 3],
            block: [1; 3],
            cluster: None,
            dynamic_shared: 0,
            buffers: vec![
                buffer(Contents::Opaque(4), Access::In),
                buffer(Contents::Undefined(4), Access::Out),
            ],
            arguments: vec![Argument::Pointer(0), Argument::Pointer(1)],
            symbols: Vec::new(),
            selected: Vec::new(),
        };
        let scalar = Scalar::Float(Format::F32);
        let kind = InputKind::Tensor { shape: vec![1], order: None, structure: None };
        let input = Input { name: "x".into(), source: InputSource::Buffer(0), scalar, kind };
        let output =
            Output { name: "y".into(), buffer: 1, scalar, shape: vec![1], starts: vec![0] };
        let side = |program| Side {
            program,
            unlifted: program,
            launch: &launch,
            inputs: vec![input.clone()],
            outputs: vec![output.clone()],
            literals: Vec::new(),
            before: Vec::new(),
        };
        let [one, other] = programs.each_ref().map(side);
        let sides = [&one, &other];
        let table = Table::new(sides).unwrap();
        let terms = Terms::new(Arc::clone(&table.inputs));
        let (assumed, limits) = (Assumed::default(), Limits::default());
        let recheck = Recheck {
            sides,
            table: &table,
            terms: &terms,
            assumed: &assumed,
            limits,
            snap: true,
            meanings: &[],
        };
        recheck.run()
    }

    #[test]
    fn a_wrong_proof_is_seen() {
        let square = "mul.f32 %f2, %f1, %f1;";
        let double = "add.f32 %f2, %f1, %f1;";
        let open = recheck([square, double]).unwrap_err();
        let reason = open.reason.to_string();
        assert!(reason.contains("bug in Warpproof"), "{reason}");
        let same = "fma.rn.f32 %f2, %f1, %f1, 0f00000000;";
        assert_eq!(recheck([square, same]).unwrap(), Rechecked { points: 3, agreed: 3, open: 0 });
    }

    #[test]
    fn constants_stand_for_other_numbers() {
        // e to the x, as a power of 2: log2 e is not a float.
        let power = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f2, %f3;";
        let twice = "mul.f32 %f3, %f1, 0f3F38AA3B; add.f32 %f3, %f3, %f3; ex2.approx.f32 %f2, %f3;";
        assert!(recheck([power, twice]).is_ok());
        let other = "mul.f32 %f3, %f1, 0f3FB8AA4B; ex2.approx.f32 %f2, %f3;";
        assert!(recheck([power, other]).is_err());
    }
}
