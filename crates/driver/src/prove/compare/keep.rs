//! Keeps what was compared and found equal, by content: text, options, compiler, our reading of the text and the program
//! that compared. Differences and what was not compared are not kept.

use super::data::{Compiling, Summary};
use crate::cuda::locate::Library;
use crate::cuda::{Wanted, cache, named_key};
use base::SourceFile;
use param::kir::Kernel;
use std::path::Path;

/// What files of the cache are called.
const KIND: &str = "compared";

/// Everything that a comparison depends on; nothing if that is not known.
pub(super) fn key(
    source: &SourceFile,
    kernel: &Kernel,
    compiling: &Compiling,
    library: &Library,
    version: &str,
) -> Option<String> {
    let name = [kernel.name.clone()];
    let wanted = Wanted {
        path: Path::new(source.name()),
        text: source.text(),
        defines: &compiling.defines,
        names: &name,
        options: &compiling.options,
        optimised: true,
    };
    let compiled = named_key(library, &wanted)?;
    // Another build of ours may compare in another way.
    let own = std::env::current_exe().ok()?.metadata().ok()?;
    let built = own.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    let ours = format!("warpproof {} {} {built}", env!("CARGO_PKG_VERSION"), own.len());
    Some(format!("compared 1\n{ours}\nNVRTC {version}\n{compiled}\n{kernel:?}\n"))
}

/// What was compared before.
pub(super) fn look_up(folder: Option<&Path>, key: &str) -> Option<Summary> {
    serde_json::from_str(&cache::look_up(folder, KIND, key)?).ok()
}

/// Keeps what was compared.
pub(super) fn store(folder: Option<&Path>, key: &str, summary: &Summary) {
    if let Ok(text) = serde_json::to_string(summary) {
        cache::store(folder, KIND, key, &text);
    }
}
