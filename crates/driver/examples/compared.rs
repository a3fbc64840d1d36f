//! Lists the kernels of the corpus that we read as NVRTC compiles them: `cargo run -p driver --example compared
//! [FILE.cu …]`.

#![allow(clippy::print_stdout, reason = "a table for people")]

use driver::Input;
use driver::cuda::CompileOptions;
use driver::cuda::locate::Environment;
use driver::prove::{Compiling, readings};
use std::path::PathBuf;
use testing::corpus;

fn main() {
    let root = corpus::root();
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        for folder in ["corpus/param", "examples"] {
            paths.extend(corpus::files_below(folder, "cu"));
        }
    }
    let environment = Environment::of_process().without_cache(true);
    let options = CompileOptions { environment, ..CompileOptions::default() };
    let compiling = Compiling { options, defines: Vec::new() };
    let (mut counts, mut slowest) = (std::collections::BTreeMap::new(), 0.0_f64);
    for path in paths {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let Ok(input) = Input::read_cuda(&path) else { continue };
        for reading in readings(&input, &compiling) {
            let seconds = reading.took.as_secs_f64();
            slowest = slowest.max(seconds);
            *counts.entry(reading.result).or_insert(0) += 1;
            let (kernel, result, detail) = (reading.kernel, reading.result, reading.detail);
            println!("{name}::{kernel}\t{result}\t{seconds:.2} s\t{detail}");
        }
    }
    println!("{counts:?}, slowest {slowest:.2} s");
}
