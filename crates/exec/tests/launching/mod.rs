//! Launches kernels of the corpus on numbers.

#![allow(dead_code, reason = "each test uses some of it")]

use exec::{Access, Argument, Buffer, Contents, Launch, Limits, Outcome};

/// A kernel argument in the order of the parameters.
pub(crate) enum Arg {
    /// A buffer with these contents.
    In(Vec<u8>),
    /// A buffer of this many bytes with values that are not inspected.
    Opaque(usize),
    /// A buffer of this many bytes to be written.
    Out(usize),
    /// A buffer with these contents, to be changed.
    InOut(Vec<u8>),
    /// An integer.
    Int(i32),
    /// A float.
    Float(f32),
    /// A null pointer.
    Null,
}

/// Lowers a corpus file.
pub(crate) fn program(file: &str) -> ir::Program {
    let path = testing::corpus::root().join("corpus/ptx").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{file}: {:?}", parsed.errors);
    ptx::lower(&parsed.module).program
}

/// Lowers a kernel written here, with the registers it needs declared: `%r`, `%rd`, `%f`, `%p`.
pub(crate) fn kernel(module: &str, params: &str, body: &str) -> ir::Program {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{module}\n.entry k({params}) {{\n\
         .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<5>;\n{body}\nret;\n}}\n"
    );
    let parsed = ptx::syntax::parse(&text);
    assert!(parsed.errors.is_empty(), "{:?}\n{text}", parsed.errors);
    let lowered = ptx::lower(&parsed.module);
    assert!(lowered.diagnostics.is_empty(), "{:?}\n{text}", lowered.diagnostics);
    lowered.program
}

/// Prepares the launch of a kernel.
pub(crate) fn launch(
    program: &ir::Program,
    kernel: &str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u64,
    args: &[Arg],
) -> Launch {
    let found = program.functions.enumerate().find(|(_, f)| f.name == kernel);
    let (kernel, function) = found.unwrap_or_else(|| panic!("no kernel {kernel}"));
    let (mut buffers, mut arguments) = (Vec::new(), Vec::new());
    let mut buffer = |contents, access| {
        let name = format!("arg{}", buffers.len());
        buffers.push(Buffer { name, element_bytes: 4, element: None, contents, access });
        Argument::Pointer(buffers.len() - 1)
    };
    for (arg, param) in args.iter().zip(&function.params) {
        let ir::Param::Variable(variable) = param else { panic!("not in memory") };
        let size = program.variables[*variable].size.unwrap() as usize;
        arguments.push(match arg {
            Arg::In(bytes) => buffer(Contents::Known(bytes.clone()), Access::In),
            Arg::Opaque(size) => buffer(Contents::Opaque(*size as u64), Access::In),
            Arg::InOut(bytes) => buffer(Contents::Known(bytes.clone()), Access::InOut),
            Arg::Out(size) => buffer(Contents::Undefined(*size as u64), Access::Out),
            Arg::Int(value) => Argument::Bytes(i64::from(*value).to_le_bytes()[..size].to_vec()),
            Arg::Float(value) => Argument::Bytes(value.to_le_bytes().to_vec()),
            Arg::Null => Argument::Bytes(vec![0; size]),
        });
    }
    let (symbols, selected) = (Vec::new(), Vec::new());
    Launch {
        kernel,
        grid,
        block,
        cluster: None,
        dynamic_shared,
        buffers,
        arguments,
        symbols,
        selected,
    }
}

/// Runs a kernel that must complete without a finding, and returns its outcome.
pub(crate) fn clean(program: &ir::Program, launch: &Launch) -> Outcome {
    let outcome = exec::run(program, launch, Limits::default());
    assert_eq!(outcome.gap, None);
    assert_eq!(outcome.findings, []);
    outcome
}

/// Converts numbers to bytes.
pub(crate) fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Converts bytes to numbers.
pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// A deterministic sequence of numbers between -1 and 1.
pub(crate) fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut random = testing::Random::new(seed);
    (0..count).map(|_| (random.bits() >> 40) as f32 / 8_388_608.0 - 1.0).collect()
}

/// Compares two sequences up to the relative error of approximate functions.
pub(crate) fn assert_close(got: &[f32], want: &[f32]) {
    assert_eq!(got.len(), want.len());
    for (position, (got, want)) in got.iter().zip(want).enumerate() {
        // Fused and unfused sums differ by the rounding of the summands, not of the result.
        let error = (got - want).abs() / want.abs().max(1.0);
        assert!(error < 1e-5, "element {position}: {got} instead of {want}");
    }
}

/// Processor time of this process in nanoseconds (Linux), which other programs disturb less than wall-clock
/// time.
pub(crate) fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0)
}
