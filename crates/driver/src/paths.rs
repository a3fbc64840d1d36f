//! Paths for display.

use std::path::Path;

/// A path relative to the working folder, with forward slashes; unchanged if it lies elsewhere.
pub(crate) fn relative(path: &str) -> String {
    let inside = std::env::current_dir().ok().and_then(|folder| {
        let inside = Path::new(path).strip_prefix(folder).ok()?;
        Some(inside.to_string_lossy().into_owned())
    });
    let path = inside.unwrap_or_else(|| path.to_owned());
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path };
    path.strip_prefix("./").map_or(path.clone(), str::to_owned)
}
