//! Caches comparisons without a difference, by content: text, options, compiler, our reading of the text and the
//! comparing program. Differences and parts that were not compared are not cached.

use super::data::{Compiling, Summary};
use crate::cuda::locate::Library;
use crate::cuda::{InstanceRequest, cache, named_key};
use base::SourceFile;
use kir::Kernel;
use std::path::Path;

/// The name of the cache's files.
const KIND: &str = "compared";

/// Key of the cache: everything a comparison depends on. `None` if that is unknown.
pub(super) fn key(
    source: &SourceFile,
    kernel: &Kernel,
    compiling: &Compiling,
    library: &Library,
    version: &str,
) -> Option<String> {
    let name = [kernel.name.clone()];
    let wanted = InstanceRequest {
        path: Path::new(source.name()),
        text: source.text(),
        defines: &compiling.defines,
        names: &name,
        options: &compiling.options,
        optimised: true,
    };
    let compiled = named_key(library, &wanted)?;
    // Another build of this program may compare differently.
    let own = std::env::current_exe().ok()?.metadata().ok()?;
    let built = own.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos();
    let build_id = format!("warpproof {} {} {built}", env!("CARGO_PKG_VERSION"), own.len());
    Some(format!("compared 1\n{build_id}\nNVRTC {version}\n{compiled}\n{kernel:?}\n"))
}

/// Looks up an earlier comparison.
pub(super) fn look_up(folder: Option<&Path>, key: &str) -> Option<Summary> {
    serde_json::from_str(&cache::look_up(folder, KIND, key)?).ok()
}

/// Stores a comparison.
pub(super) fn store(folder: Option<&Path>, key: &str, summary: &Summary) {
    if let Ok(text) = serde_json::to_string(summary) {
        cache::store(folder, KIND, key, &text);
    }
}
