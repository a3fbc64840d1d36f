//! Measures the cost of checking in relation to running on numbers, in processor time: `cargo run --release
//! -p exec --example check_cost [NAME]`. Linux only.
//!
//! Targets: checking costs at most four times as much for kernels that synchronise whole blocks, and at most
//! ten times for those that synchronise parts of them. `dma_bench` has 1024 threads, 8192 generations of
//! named barriers and 10.5 million lane accesses to shared memory. At the end the example prints the peak
//! memory of the process.

#![expect(clippy::print_stdout, reason = "what it measures is for people")]

#[path = "../tests/launching/mod.rs"]
mod launching;

use exec::{Launch, Limits, Outcome};
use launching::{Arg, bytes, launch, noise, processor_time, program};

/// A kernel and its launch. `In` buffers hold numbers for runs, and are opaque for checks.
struct Case {
    name: &'static str,
    /// Largest accepted ratio of a check's cost to a run's cost.
    target: f64,
    file: &'static str,
    kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Numbers of elements of the inputs and of the output, then the integers.
    inputs: &'static [usize],
    output: usize,
    integers: &'static [i32],
}

const CASES: &[Case] = &[
    Case {
        name: "sgemm_tiled, 64 by 64 by 4096",
        target: 4.0,
        file: "cuda/c_sgemm.sm_80.ptx",
        kernel: "sgemm_tiled",
        grid: [1, 1, 1],
        block: [256, 1, 1],
        inputs: &[64 * 4096, 4096 * 64],
        output: 64 * 64,
        integers: &[64, 64, 4096],
    },
    Case {
        name: "softmax_safe, 4 rows of 8192",
        target: 4.0,
        file: "cuda/a_softmax.sm_80.ptx",
        kernel: "softmax_safe",
        grid: [4, 1, 1],
        block: [128, 1, 1],
        inputs: &[4 * 8192],
        output: 4 * 8192,
        integers: &[8192],
    },
    Case {
        name: "gemm of the corpus, 16 by 16 tiles",
        target: 4.0,
        file: "../sync/gemm_fixed.ptx",
        kernel: "gemm",
        grid: [2, 2, 1],
        block: [16, 16, 1],
        inputs: &[32 * 1024, 1024 * 32],
        output: 32 * 32,
        integers: &[32, 1024],
    },
    Case {
        name: "reduce_syncwarp, 256 blocks",
        target: 10.0,
        file: "cuda/e_reduce.sm_80.ptx",
        kernel: "reduce_syncwarp",
        grid: [256, 1, 1],
        block: [256, 1, 1],
        inputs: &[256 * 256],
        output: 256,
        integers: &[],
    },
    Case {
        name: "named_pc, 1024 tiles",
        target: 10.0,
        file: "cuda/f_named.sm_80.ptx",
        kernel: "named_pc",
        grid: [1, 1, 1],
        block: [128, 1, 1],
        inputs: &[1024 * 64],
        output: 1024 * 64,
        integers: &[1024],
    },
    Case {
        name: "dma_bench, 4096 tiles",
        target: 10.0,
        file: "../sync/dma_bench_fixed.ptx",
        kernel: "stream",
        grid: [1, 1, 1],
        block: [1024, 1, 1],
        inputs: &[8 * 512],
        output: 512,
        integers: &[4096],
    },
];

impl Case {
    fn launch(&self, program: &ir::Program, opaque: bool) -> Launch {
        let data = |&count: &usize| match opaque {
            false => Arg::In(bytes(&noise(count, 1))),
            true => Arg::Opaque(count * 4),
        };
        let mut args: Vec<Arg> = self.inputs.iter().map(data).collect();
        args.push(Arg::Out(self.output * 4));
        args.extend(self.integers.iter().map(|&value| Arg::Int(value)));
        launch(program, self.kernel, self.grid, self.block, 0, &args)
    }
}

/// Returns the processor time of one of many runs, in seconds; the clock has a resolution of some
/// milliseconds.
fn seconds(mut run: impl FnMut() -> Outcome) -> f64 {
    let (start, mut runs) = (processor_time(), 0);
    loop {
        let outcome = run();
        assert_eq!((outcome.findings, outcome.gap), (Vec::new(), None));
        runs += 1;
        let passed = (processor_time() - start) as f64 / 1e9;
        if passed > 1.0 && runs >= 3 {
            return passed / f64::from(runs);
        }
    }
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    println!("kernel                               run        check      ratio  at most");
    for case in CASES.iter().filter(|case| case.name.contains(&wanted)) {
        let program = program(case.file);
        let (numbers, opaque) = (case.launch(&program, false), case.launch(&program, true));
        let run = seconds(|| exec::run(&program, &numbers, Limits::default()));
        let check = seconds(|| exec::check(&program, &opaque, Limits::default()));
        let (name, ratio, target) = (case.name, check / run, case.target);
        println!("{name:34} {run:8.4} s {check:8.4} s {ratio:7.2}x {target:5.0}x");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("most memory used: {}", peak.trim_start_matches("VmHWM:").trim());
    }
}
