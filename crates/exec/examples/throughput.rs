//! Lane-instructions per second of processor time, which other programs on the machine disturb less than
//! wall-clock time: `cargo run --release -p exec --example throughput`. Linux only.

#[path = "../tests/launching/mod.rs"]
mod launching;

use exec::Limits;
use launching::{Arg, bytes, launch, noise, processor_time, program};

#[expect(clippy::print_stdout, reason = "what was measured is for people")]
fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let (m, n, k) = (64, 64, 4096);
    let program = program("cuda/c_sgemm.sm_80.ptx");
    for (kernel, block, grid) in
        [("sgemm_tiled", [256, 1, 1], [1, 1, 1]), ("sgemm_naive", [16, 16, 1], [4, 4, 1])]
    {
        for opaque in [false, true] {
            let domain = if opaque { "opaque" } else { "concrete" };
            if !format!("{kernel} {domain}").contains(&wanted) {
                continue;
            }
            let data = |count, seed| match opaque {
                false => Arg::In(bytes(&noise(count, seed))),
                true => Arg::Opaque(count * 4),
            };
            let sizes = [m, n, k].map(|size| Arg::Int(size as i32));
            let [rows, columns, depth] = sizes;
            let args = [data(m * k, 1), data(k * n, 2), Arg::Out(m * n * 4), rows, columns, depth];
            let launch = launch(&program, kernel, grid, block, 0, &args);
            let start = processor_time();
            let mut executed = 0;
            for _ in 0..20 {
                executed += exec::run(&program, &launch, Limits::default()).lane_instructions;
            }
            let seconds = (processor_time() - start) as f64 / 1e9;
            let rate = executed as f64 / 1e6 / seconds;
            println!("{kernel:12} {domain:9} {rate:7.0} M lane-instructions/s");
        }
    }
}
