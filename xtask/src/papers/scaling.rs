//! Measures the growth of time with the length of inner products, the number of outputs, threads and barriers.

use super::measure::Program;
use super::plot::{Line, Plot};
use super::rows::Subject;
use crate::weft::{self, Kernel};

/// Measures the lines of all plots.
///
/// # Errors
/// A run without a proof: its time means nothing.
pub(crate) fn run(program: &Program) -> Result<Vec<Plot>, String> {
    println!("Growth");
    let depth = |kernel: &'static str| {
        let sizes = [512, 1024, 2048, 4096, 8192];
        line(program, kernel, &sizes, f64::from, |depth| Ok(product(kernel, 64, depth)))
    };
    let outputs = |kernel: &'static str| {
        let (sizes, elements) = ([64, 96, 128, 192, 256], |side| f64::from(side).powi(2));
        line(program, kernel, &sizes, elements, |side| Ok(product(kernel, side, 256)))
    };
    let generated = |name: &'static str, sizes: &[u32], each: f64, kernel: fn(u32) -> Kernel| {
        let arguments = |size| {
            let name = format!("growth-{size}");
            let subject = Subject::Generated { name, kernel: kernel(size) };
            subject.write(program).map(|()| subject.arguments())
        };
        line(program, name, sizes, |size| each * f64::from(size), arguments)
    };
    // Warps have 32 threads, and a transfer of two arrays takes four generations.
    let threads = generated("dataflow graph", &[4, 8, 16, 24, 32], 32.0, weft::graph)?;
    let transfers = [1024, 2048, 4096, 8192, 16384];
    let barriers = generated("saxpy, single", &transfers, 4.0, weft::stream)?;
    Ok(vec![
        Plot {
            file: "depth",
            title: "Equivalence of SGEMM, 64 by 64 elements",
            size: "length of inner products",
            lines: vec![depth("shared_tiles")?, depth("tile_2d")?],
        },
        Plot {
            file: "outputs",
            title: "Equivalence of SGEMM, inner products of 256",
            size: "elements of the output",
            lines: vec![outputs("shared_tiles")?, outputs("tile_2d")?],
        },
        Plot {
            file: "threads",
            title: "Check, the same work for each warp",
            size: "threads of the block",
            lines: vec![threads],
        },
        Plot {
            file: "barriers",
            title: "Check, producers and consumers",
            size: "generations of named barriers",
            lines: vec![barriers],
        },
    ])
}

/// Measures a command at several sizes. `shown` maps a size to the quantity of the plot's axis.
fn line(
    program: &Program,
    name: &'static str,
    sizes: &[u32],
    shown: impl Fn(u32) -> f64,
    arguments: impl Fn(u32) -> Result<Vec<String>, String>,
) -> Result<Line, String> {
    let mut points = Vec::new();
    for &size in sizes {
        let figures = program.measure(name, &arguments(size)?)?;
        if figures.verdict != "proved" {
            return Err(format!("{name} at {size}: {}", figures.verdict));
        }
        points.push([shown(size), figures.processor]);
    }
    let line = Line { name, points };
    println!("  {name}: exponent {:.2}", line.exponent());
    Ok(line)
}

/// The naive matrix product with `side` by `side` elements against a tiled one.
fn product(kernel: &str, side: u32, depth: u32) -> Vec<String> {
    let (file, naive) = ("corpus/equiv/gemm/gemm.ptx", side / 16);
    let (grid, block) = match kernel {
        "tile_2d" => (side / 32, "64"),
        _ => (naive, "16,16"),
    };
    let text = format!(
        "equiv {file}::naive {file}::{kernel} --ref-grid {naive},{naive} --opt-grid {grid},{grid} --ref-block 16,16 --opt-block {block} \
         --arg A=f32[{side},{depth}] --arg B=f32[{depth},{side}] --arg C=f32[{side},{side}]:out \
         --arg M={side} --arg N={side} --arg K={depth}"
    );
    text.split_whitespace().map(str::to_owned).collect()
}
