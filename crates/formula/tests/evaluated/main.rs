//! Formulas evaluated on numbers, compared with the same computation in Rust.
//!
//! The kernels of a compiled formula are run on doubles, as replays of witnesses are. The results must equal those of
//! plain loops over the same numbers, and satisfy the formula's contract (`contract`).

mod contract;
mod examples;
mod language;

use base::mix64;
use exec::{Access, Argument, Buffer, Contents, Limits};
use formula::{Environment, ParameterKind, Tensor, compile, parse};
use ir::{Format, Scalar, Width};
use std::collections::BTreeMap;

/// Tensors of doubles or of integers by name: sizes and elements.
#[derive(Clone, Debug, Default)]
struct Numbers {
    tensors: BTreeMap<String, (Vec<u64>, Scalar, Vec<f64>)>,
    outputs: BTreeMap<String, (Vec<u64>, Scalar)>,
    scalars: BTreeMap<String, formula::KnownScalar>,
}

const DOUBLE: Scalar = Scalar::Float(Format::F64);
const INTEGER: Scalar = Scalar::Integer { width: Width::B32, signed: true };

impl Numbers {
    /// A tensor of numbers between -2 and 2, the same for the same name.
    fn real(mut self, name: &str, shape: &[u64]) -> Self {
        let seed = name.bytes().fold(7, |seed, byte| mix64(seed ^ u64::from(byte)));
        let count = shape.iter().product::<u64>();
        let number = |at: u64| (mix64(seed ^ mix64(at)) % 4001) as f64 / 1000.0 - 2.0;
        let values = (0..count).map(number).collect();
        self.tensors.insert(name.to_owned(), (shape.to_vec(), DOUBLE, values));
        self
    }

    /// A tensor of these integers.
    fn integers(mut self, name: &str, values: &[i32]) -> Self {
        let numbers = values.iter().map(|value| f64::from(*value)).collect();
        self.tensors.insert(name.to_owned(), (vec![values.len() as u64], INTEGER, numbers));
        self
    }

    fn integer(mut self, name: &str, value: i128) -> Self {
        self.scalars.insert(name.to_owned(), formula::KnownScalar::Integer(value));
        self
    }

    fn output(mut self, name: &str, shape: &[u64]) -> Self {
        self.outputs.insert(name.to_owned(), (shape.to_vec(), DOUBLE));
        self
    }

    fn integer_output(mut self, name: &str, shape: &[u64]) -> Self {
        self.outputs.insert(name.to_owned(), (shape.to_vec(), INTEGER));
        self
    }

    fn environment(&self) -> Environment {
        let mut tensors: Vec<Tensor> = Vec::new();
        for (name, (shape, scalar, _)) in &self.tensors {
            let (name, shape, scalar) = (name.clone(), shape.clone(), *scalar);
            let is_output = self.outputs.contains_key(&name);
            let is_required = is_output;
            let (range, is_input) = (None, true);
            tensors.push(Tensor { name, scalar, shape, range, is_input, is_output, is_required });
        }
        for (name, (shape, scalar)) in &self.outputs {
            if !self.tensors.contains_key(name) {
                let (name, shape, scalar) = (name.clone(), shape.clone(), *scalar);
                let (is_input, is_output, is_required) = (false, true, true);
                let range = None;
                tensors.push(Tensor {
                    name,
                    scalar,
                    shape,
                    range,
                    is_input,
                    is_output,
                    is_required,
                });
            }
        }
        let scalars = self
            .scalars
            .iter()
            .map(|(name, value)| formula::ScalarInput { name: name.clone(), value: *value });
        Environment { tensors, scalars: scalars.collect(), ..Environment::default() }
    }

    /// An element of an input.
    fn at(&self, name: &str, indices: &[i64]) -> f64 {
        let (shape, _, values) = &self.tensors[name];
        let flat =
            indices.iter().zip(shape).fold(0, |all, (index, size)| all * *size as i64 + index);
        values[usize::try_from(flat).unwrap()]
    }

    /// Evaluates an output.
    fn output_of(&self, text: &str, output: &str) -> Vec<f64> {
        self.outputs_of(text).remove(output).unwrap()
    }

    fn outputs_of(&self, text: &str) -> BTreeMap<String, Vec<f64>> {
        let parsed = parse(text).unwrap();
        let compiled = compile(&parsed, &self.environment(), text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut memory: BTreeMap<String, (Scalar, Vec<u8>)> = BTreeMap::new();
        for (name, (_, scalar, values)) in &self.tensors {
            memory.insert(name.clone(), (*scalar, bytes(*scalar, values)));
        }
        for launch in &compiled.launches {
            ir::assert_valid(&launch.reals);
            ir::assert_valid(&launch.bits);
            let mut buffers = Vec::new();
            for parameter in &launch.parameters {
                let name = parameter.name.clone();
                let size = u64::from(parameter.scalar.width().bytes());
                let is_output = match &parameter.kind {
                    ParameterKind::Scalar => panic!("{name} is a scalar"),
                    ParameterKind::Tensor { is_output } => *is_output,
                    ParameterKind::Intermediate { is_output, .. } => *is_output,
                };
                let contents = match is_output {
                    true => Contents::Undefined(launch.threads * size),
                    false => Contents::Known(memory[&name].1.clone()),
                };
                let access = if is_output { Access::Out } else { Access::In };
                let element_bytes = parameter.scalar.width().bytes();
                let element = Some(parameter.scalar);
                buffers.push(Buffer { name, element_bytes, element, contents, access });
            }
            let arguments = (0..buffers.len()).map(Argument::Pointer).collect();
            let grid = u32::try_from(launch.threads.div_ceil(u64::from(formula::BLOCK))).unwrap();
            let run = exec::Launch {
                kernel: launch.kernel,
                grid: [grid.max(1), 1, 1],
                block: [formula::BLOCK, 1, 1],
                cluster: None,
                dynamic_shared: 0,
                buffers,
                arguments,
                symbols: Vec::new(),
                selected: Vec::new(),
            };
            let outcome = exec::run(&launch.bits, &run, Limits::default());
            assert!(outcome.gap.is_none(), "{text}: {:?}", outcome.gap);
            assert!(outcome.findings.is_empty(), "{text}: {:?}", outcome.findings);
            for (parameter, bytes) in launch.parameters.iter().zip(outcome.buffers) {
                memory.insert(parameter.name.clone(), (parameter.scalar, bytes));
            }
        }
        let of = |name: &String| (name.clone(), numbers(memory[name].0, &memory[name].1));
        let outputs: BTreeMap<String, Vec<f64>> = self.outputs.keys().map(of).collect();
        self.assert_contract(text, &outputs);
        outputs
    }

    /// The message of the first mistake.
    fn mistake(&self, text: &str) -> String {
        let formula = match parse(text) {
            Ok(formula) => formula,
            Err(error) => return error.to_string(),
        };
        match compile(&formula, &self.environment(), text) {
            Ok(_) => panic!("{text}: no mistake was found"),
            Err(error) => error.to_string(),
        }
    }
}

fn bytes(scalar: Scalar, values: &[f64]) -> Vec<u8> {
    match scalar {
        Scalar::Float(_) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Scalar::Integer { .. } => {
            values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect()
        }
    }
}

fn numbers(scalar: Scalar, bytes: &[u8]) -> Vec<f64> {
    match scalar {
        Scalar::Float(_) => {
            let all = bytes.chunks_exact(8).map(|one| f64::from_le_bytes(one.try_into().unwrap()));
            all.collect()
        }
        Scalar::Integer { .. } => {
            let all = bytes.chunks_exact(4).map(|one| i32::from_le_bytes(one.try_into().unwrap()));
            all.map(f64::from).collect()
        }
    }
}

/// Asserts that numbers equal a function of the indices.
fn assert_is(found: &[f64], shape: &[i64], expected: impl Fn(&[i64]) -> f64) {
    let count: i64 = shape.iter().product();
    assert_eq!(found.len() as i64, count);
    for (flat, found) in (0..count).zip(found) {
        let (mut rest, mut indices) = (flat, vec![0; shape.len()]);
        for (index, size) in indices.iter_mut().zip(shape).rev() {
            (*index, rest) = (rest % size, rest / size);
        }
        let expected = expected(&indices);
        let close = (found - expected).abs() <= 1e-12 * expected.abs().max(1.0);
        assert!(close || *found == expected, "{indices:?}: {found} and not {expected}");
    }
}
