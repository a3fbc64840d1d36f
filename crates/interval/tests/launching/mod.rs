//! Launches kernels on intervals.

#![allow(dead_code, reason = "each test uses some of it")]

use exec::{Access, Argument, Buffer, Contents, Launch, Limits};
use interval::{Answers, Double, Enclosed, Enclosure, Precise, Run, RunInputs};
use ir::{Format, Program, Scalar};

/// A kernel argument in the order of the parameters.
pub(crate) enum Arg {
    /// A buffer of floats with these values.
    In(Format, Vec<f64>),
    /// The same, to be changed.
    InOut(Format, Vec<f64>),
    /// A buffer of known bytes.
    Bytes(Vec<u8>),
    /// Floats to be written.
    Out(Format, usize),
    /// A buffer of known bytes to be changed.
    Zeros(usize),
    /// An integer.
    Int(i32),
    /// A float that is an input.
    Float(f64),
    /// Packed halves that are inputs.
    Halves(Vec<f64>),
    /// A null pointer or an unused argument.
    Null,
}

pub(crate) use Arg::*;

/// A kernel and its launch.
pub(crate) struct Case {
    pub(crate) program: Program,
    pub(crate) launch: Launch,
    pub(crate) given: RunInputs,
}

/// A file of the corpus.
pub(crate) fn corpus(file: &str) -> String {
    let path = testing::corpus::root().join("corpus/ptx").join(file);
    std::fs::read_to_string(path).unwrap()
}

impl Case {
    /// Prepares the launch of a kernel of some PTX.
    pub(crate) fn new(
        text: &str,
        kernel: &str,
        (grid, block, dynamic_shared): ([u32; 3], [u32; 3], u64),
        args: &[Arg],
    ) -> Self {
        let parsed = ptx::syntax::parse(text);
        assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
        let program = ptx::lower(&parsed.module).program;
        let found = program.functions.enumerate().find(|(_, f)| f.name == kernel);
        let (id, function) = found.unwrap_or_else(|| panic!("no kernel {kernel}"));
        let (mut buffers, mut arguments, mut given) =
            (Vec::new(), Vec::new(), RunInputs::default());
        for (position, (arg, param)) in args.iter().zip(&function.params).enumerate() {
            let ir::Param::Variable(variable) = param else { panic!("not in memory") };
            let size = program.variables[*variable].size.unwrap() as usize;
            let mut buffer = |element: Format, contents, access| {
                let name = format!("arg{position}");
                let element = Some(Scalar::Float(element));
                buffers.push(Buffer { name, element_bytes: 1, element, contents, access });
                Argument::Pointer(buffers.len() - 1)
            };
            let bytes = |format: Format, count: usize| format.width().bytes() as usize * count;
            let opaque = |format, count| Contents::Opaque(bytes(format, count) as u64);
            arguments.push(match arg {
                In(format, values) | InOut(format, values) => {
                    let access = if matches!(arg, In(..)) { Access::In } else { Access::InOut };
                    let pointer = buffer(*format, opaque(*format, values.len()), access);
                    let Argument::Pointer(number) = pointer else { unreachable!() };
                    given.buffer(number, values.clone());
                    pointer
                }
                Bytes(bytes) => buffer(Format::F32, Contents::Known(bytes.clone()), Access::In),
                Out(format, count) => {
                    let size = bytes(*format, *count) as u64;
                    buffer(*format, Contents::Undefined(size), Access::Out)
                }
                Zeros(size) => buffer(Format::F32, Contents::Known(vec![0; *size]), Access::InOut),
                Int(value) => Argument::Bytes(i64::from(*value).to_le_bytes()[..size].to_vec()),
                Float(value) => {
                    given.argument(position, 0, *value);
                    Argument::Opaque(Some(Scalar::Float(Format::F32)))
                }
                Halves(values) => {
                    let half = |(at, value): (usize, &f64)| {
                        given.argument(position, 2 * at as u64, *value);
                        (2 * at as u64, Argument::Opaque(Some(Scalar::Float(Format::F16))))
                    };
                    Argument::Struct(values.iter().enumerate().map(half).collect())
                }
                Null => Argument::Bytes(vec![0; size]),
            });
        }
        let (symbols, selected) = (Vec::new(), Vec::new());
        let launch = Launch {
            kernel: id,
            grid,
            block,
            cluster: None,
            dynamic_shared,
            buffers,
            arguments,
            symbols,
            selected,
        };
        Self { program, launch, given }
    }

    /// Runs it; it must finish without a finding.
    pub(crate) fn run<E: Enclosure>(&self) -> Run<E> {
        let run = interval::run(&self.program, &self.launch, Limits::default(), &self.given);
        assert_eq!(run.outcome().gap, None);
        assert_eq!(run.outcome().findings, []);
        run
    }

    /// The elements of a buffer after a run on doubles.
    pub(crate) fn elements(&self, buffer: usize, format: Format, count: usize) -> Vec<Enclosed> {
        let mut run = self.run::<Double>();
        elements(&mut run, buffer, format, count)
    }

    /// Asserts that an output is close to a reference: narrow on doubles, and with 256 bits.
    pub(crate) fn assert_close(&self, buffer: usize, format: Format, want: &[f64]) {
        let mut run = self.run::<Double>();
        let quick = elements(&mut run, buffer, format, want.len());
        assert_near(&quick, want, 1e-9);
        let mut run = self.run::<Precise>();
        let precise = elements(&mut run, buffer, format, want.len());
        assert_near(&precise, want, 1e-14);
        for (position, (quick, precise)) in quick.iter().zip(&precise).enumerate() {
            assert!(!quick.is_disjoint(precise), "element {position}: {quick:?}, {precise:?}");
        }
    }
}

pub(crate) fn elements(
    run: &mut dyn Answers,
    buffer: usize,
    format: Format,
    count: usize,
) -> Vec<Enclosed> {
    let size = format.width().bytes() as usize;
    (0..count).map(|at| run.element(buffer, at * size, format)).collect()
}

/// Asserts that enclosures are narrow and meet a reference in double precision, up to its rounding.
pub(crate) fn assert_near(got: &[Enclosed], want: &[f64], width: f64) {
    for (position, (got, want)) in got.iter().zip(want).enumerate() {
        let slack = 1e-12 * want.abs().max(1.0);
        let around = Enclosed::Between(want - slack, want + slack);
        assert!(got.width() <= width, "element {position}: {got:?} instead of {want}");
        assert!(!got.is_disjoint(&around), "element {position}: {got:?} instead of {want}");
    }
}
