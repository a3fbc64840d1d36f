//! Generates kernels like those of WEFT's Figures 9 and 10 (Sharma, Bauer, Aiken 2015) as PTX: warps that load for
//! others ([`dma`], [`stencil`]) and dataflow graphs spread over warps ([`dataflow`]).
//!
//! The sources of the paper's kernels are not used. A kernel has the threads of its row in the paper and, within a few
//! percent, its generations of barriers and its *commands*: accesses to shared memory and arrivals at barriers. The
//! global tensors hold a few tiles that are read repeatedly, because the paper only examines shared memory.

mod dataflow;
mod dma;
mod stencil;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use text::Kernel;

/// Tiles of each global tensor.
const TILES: u32 = 8;

/// The kernel of a row, by its name in the paper with dashes; `-mended` selects the version without its bug, `-raced`
/// one with a planted race.
pub(crate) fn kernel(name: &str) -> Option<Kernel> {
    let (plain, change) = match name.rsplit_once('-') {
        Some((plain, change @ ("mended" | "raced"))) => (plain, Some(change == "mended")),
        _ => (name, None),
    };
    dma::row(plain, change)
        .or_else(|| stencil::row(plain, change))
        .or_else(|| dataflow::row(plain, change))
}

/// Saxpy with one buffer for each vector and this many transfers, for a plot over barriers.
pub(crate) fn stream(transfers: u32) -> Kernel {
    dma::saxpy(dma::Buffering::Single, transfers)
}

/// A dataflow kernel with this many warps and the same work for each, for a plot over threads.
pub(crate) fn graph(warps: u32) -> Kernel {
    dataflow::graph(warps)
}
