//! Paths for display.

use std::path::{Component, Path, PathBuf};

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

/// Returns a path relative to the repository that the working folder is in: GitHub resolves paths of annotations and of
/// code scanning from there, and only if they have no `..`.
pub(crate) fn in_repository(path: &str) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    let inside = root.and_then(|root| below(root, &folder.join(path)));
    inside.unwrap_or_else(|| path.to_owned())
}

/// Returns a path from a folder that it is in, with forward slashes.
fn below(folder: &Path, path: &Path) -> Option<String> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    let inside = plain.strip_prefix(folder).ok()?.to_str()?;
    Some(if cfg!(windows) { inside.replace('\\', "/") } else { inside.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_from_the_root_of_the_repository() {
        let from = |path: &str| below(Path::new("/repo"), &Path::new("/repo/src").join(path));
        assert_eq!(from("k.cu").as_deref(), Some("src/k.cu"));
        assert_eq!(from("./a/../../k.cu").as_deref(), Some("k.cu"));
        assert_eq!(from("/repo/k.cu").as_deref(), Some("k.cu"));
        assert_eq!(from("../../k.cu"), None);
        assert_eq!(from("/tmp/k.cu"), None);
    }
}
