//! Measures the speed of reading PTX over the whole corpus: `cargo bench -p ptx`.
//!
//! The figure to watch is the throughput of `parse` on one core, in MiB of source text a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn corpus() -> Vec<String> {
    let files = testing::corpus::files_below("corpus/ptx", "ptx");
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn front_end(criterion: &mut Criterion) {
    let texts = corpus();
    let mut group = criterion.benchmark_group("front_end");
    group.throughput(Throughput::Bytes(texts.iter().map(|text| text.len() as u64).sum()));
    group.bench_function("parse", |bencher| {
        bencher
            .iter(|| texts.iter().map(|text| ptx::syntax::parse(text).errors.len()).sum::<usize>());
    });
    let modules: Vec<_> = texts.iter().map(|text| ptx::syntax::parse(text).module).collect();
    group.bench_function("lower", |bencher| {
        bencher.iter(|| modules.iter().map(|m| ptx::lower(m).diagnostics.len()).sum::<usize>());
    });
    group.bench_function("print", |bencher| {
        bencher.iter(|| modules.iter().map(|m| ptx::syntax::print(m).len()).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, front_end);
criterion_main!(benches);
