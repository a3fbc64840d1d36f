//! Benchmark of the engine, in lane-instructions per second on one core: `cargo bench -p exec`.

#[path = "../tests/launching/mod.rs"]
mod launching;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use exec::Limits;
use launching::{Arg, bytes, launch, noise, program};

fn engine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10);
    let (m, n, k) = (64, 64, 4096);
    let program = program("cuda/c_sgemm.sm_80.ptx");
    for (kernel, block) in [("sgemm_tiled", [256, 1, 1]), ("sgemm_naive", [16, 16, 1])] {
        let grid = if kernel == "sgemm_tiled" { [1, 1, 1] } else { [4, 4, 1] };
        let args = [
            Arg::In(bytes(&noise(m * k, 1))),
            Arg::In(bytes(&noise(k * n, 2))),
            Arg::Out(m * n * 4),
            Arg::Int(m as i32),
            Arg::Int(n as i32),
            Arg::Int(k as i32),
        ];
        let launch = launch(&program, kernel, grid, block, 0, &args);
        let outcome = exec::run(&program, &launch, Limits::default());
        group.throughput(Throughput::Elements(outcome.lane_instructions));
        group.bench_function(kernel, |bencher| {
            bencher.iter(|| exec::run(&program, &launch, Limits::default()).lane_instructions);
        });
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
