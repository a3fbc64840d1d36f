//! The interpreter that `prove` refutes and tests with, against the engine for PTX: kernels of `corpus/param` as
//! NVRTC compiled them (`corpus/param/ptx`), run by both on the same launches and numbers.
//!
//! Their agreement shows that the front end reads CUDA C as NVRTC does.

use driver::arguments::{Arguments, LaunchSpec};
use driver::npy::{self, Dtype};
use driver::{Colour, Execution, Exit, Input, Limits, simulate};
use interp::{Contents, Launch, Value};
use kir::{ArrayId, Kernel, Space, Type};
use std::path::{Path, PathBuf};

/// Launches of each kernel.
const LAUNCHES: usize = 6;
/// Instructions of one run.
const BUDGET: u64 = 3_000_000;

/// Kernels of the corpus that are not compared, with the reason.
const LEFT_OUT: [(&str, &str); 2] = [
    ("matmul_tiled", "its tile is a symbol here and a number there"),
    ("softmax", "it needs a header that NVRTC alone has not"),
];

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/param")
}

/// A number in the syntax of the command line.
fn text(value: Value) -> String {
    match value {
        Value::Int { value, .. } => value.to_string(),
        Value::Float(real) => format!("{:?}", real.value()),
        Value::Undefined => panic!("an element without a value"),
    }
}

fn element(ty: Type) -> &'static str {
    match ty {
        Type::Float => "f32",
        Type::Int { bits: 8, signed: false } => "u8",
        Type::Int { bits: 32, signed: true } => "s32",
        Type::Int { bits: 32, signed: false } => "u32",
        other => panic!("{other:?} is not handled here"),
    }
}

/// The arguments in the order of the parameters: the front end keeps scalars and arrays apart.
fn arguments(source: &str, kernel: &Kernel, launch: &Launch, before: &Contents) -> Arguments {
    let open = source.find(&format!("{}(", kernel.name)).expect("the kernel") + kernel.name.len();
    let list = &source[open + 1..open + source[open..].find(')').expect("the end")];
    let mut arguments = Arguments::default();
    for (position, parameter) in list.split(',').enumerate() {
        let name = parameter.rsplit([' ', '*']).next().expect("a name");
        let value = match kernel.arrays.enumerate().find(|(_, one)| one.name == name) {
            Some((array, declared)) => {
                let values: Vec<String> = before[&array].iter().copied().map(text).collect();
                let kind = if declared.constant { "" } else { ":inout" };
                let (size, element) = (values.len(), element(declared.element));
                format!("{element}[{size}]{kind}=[{}]", values.join(","))
            }
            None => {
                let scalars = kernel.scalars.iter();
                let var = scalars.copied().find(|var| kernel.vars[*var].name == name);
                let var = var.expect("a scalar");
                launch
                    .scalars
                    .get(&var)
                    .map_or_else(|| launch.float(name).to_string(), i128::to_string)
            }
        };
        arguments.specs.push(format!("param_{position}={value}").parse().expect("an argument"));
    }
    arguments
}

/// Bytes that dynamic shared memory needs.
fn dynamic(kernel: &Kernel, launch: &Launch, source: &str) -> u64 {
    let external = source.contains("extern __shared__");
    let arrays = kernel.arrays.iter().filter(|one| external && one.space == Space::Shared);
    let elements = arrays.count() as u64 * 2 * (launch.block.iter().product::<i128>() as u64 + 2);
    elements * 4
}

/// Simulates the compiled kernel, and compares the arrays that are written.
fn simulated(
    file: &str,
    launch: &Launch,
    arguments: &Arguments,
    shared: u64,
    out: &Path,
) -> Result<(), String> {
    let input = Input::read(&folder().join("ptx").join(file)).map_err(|error| error.to_string())?;
    let three = |sizes: [i128; 3]| sizes.map(|size| size.to_string()).join(",");
    let spec = LaunchSpec {
        grid: Some(three(launch.grid).parse().expect("a grid")),
        block: Some(three(launch.block).parse().expect("a block")),
        cluster: None,
        shared: Some(shared.to_string().parse().expect("a size")),
        blocks: Vec::new(),
    };
    let limits = Limits::default();
    let execution = Execution { input: &input, kernel: None, launch: &spec, arguments, limits };
    let outcome = simulate::run(&execution, Some(out), &|| (), Colour::Plain);
    match outcome.exit {
        Exit::Success => Ok(()),
        _ => Err(format!("{}{}", outcome.output, outcome.messages)),
    }
}

/// Compares an array's elements with those of a file.
fn compare(values: &[Value], path: &Path) -> Result<(), String> {
    let array = npy::read(path).map_err(|error| error.to_string())?;
    let width = array.data.len() / values.len().max(1);
    for (position, (value, bytes)) in values.iter().zip(array.data.chunks(width)).enumerate() {
        let same = match (value, array.dtype) {
            (Value::Float(real), Dtype::F4) => {
                let value = real.value();
                let other = f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")));
                (value - other).abs() <= 1e-4 * value.abs().max(1.0)
                    || value.is_nan() && other.is_nan()
            }
            (Value::Int { value, .. }, _) => {
                let mut wide = [0; 16];
                wide[..width].copy_from_slice(bytes);
                let modulus = 1i128 << (8 * width);
                value.rem_euclid(modulus) == i128::from_le_bytes(wide)
            }
            _ => false,
        };
        if !same {
            return Err(format!(
                "element {position} of {}: {value:?}, not {bytes:?}",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Compares a kernel on some launches; returns their number.
fn check(name: &str) -> usize {
    let source = std::fs::read_to_string(folder().join(format!("{name}.cu"))).expect("the kernel");
    let (_, kernel) = cuda_front::kernels(&source).expect("a file").remove(0);
    let kernel = kernel.expect("a kernel");
    let scratch =
        std::env::temp_dir().join(format!("warpproof-prove-ptx-{name}-{}", std::process::id()));
    let mut compared = 0;
    let launches = allsizes::launches(&kernel, 80);
    let step = (launches.len() / LAUNCHES).max(1);
    for launch in launches.iter().step_by(step) {
        // A launch with an empty array has nothing to compare.
        let Ok((before, after)) = interp::memory(&kernel, launch, BUDGET) else { continue };
        if before.values().any(Vec::is_empty) {
            continue;
        }
        let arguments = arguments(&source, &kernel, launch, &before);
        let shared = dynamic(&kernel, launch, &source);
        let result = simulated(&format!("{name}.ptx"), launch, &arguments, shared, &scratch);
        result.unwrap_or_else(|error| panic!("{name} with {launch:?}: {error}"));
        for (array, values) in &after {
            if let Some(position) = written(&source, &kernel, *array) {
                let path = scratch.join(format!("param_{position}.npy"));
                compare(values, &path)
                    .unwrap_or_else(|error| panic!("{name}, {launch:?}: {error}"));
            }
        }
        compared += 1;
    }
    let _ = std::fs::remove_dir_all(&scratch);
    compared
}

/// The position of a parameter that the kernel may write.
fn written(source: &str, kernel: &Kernel, array: ArrayId) -> Option<usize> {
    let declared = &kernel.arrays[array];
    let open = source.find(&format!("{}(", kernel.name))? + kernel.name.len();
    let list = &source[open + 1..open + source[open..].find(')')?];
    let mut names = list.split(',').map(|one| one.rsplit([' ', '*']).next());
    names.position(|name| name == Some(&declared.name)).filter(|_| !declared.constant)
}

#[test]
fn the_interpreter_agrees_with_compiled_kernels() {
    let mut kernels = 0;
    for name in testing::corpus::names_in(folder(), "cu") {
        if LEFT_OUT.iter().any(|(left_out, _)| *left_out == name) {
            continue;
        }
        let compared = check(&name);
        assert!(compared >= 3, "{name} was compared on {compared} launches");
        kernels += 1;
    }
    assert!(kernels >= 20, "{kernels} kernels were compared");
}
