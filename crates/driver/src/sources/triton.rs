//! Entries of Triton's cache: a folder with `NAME.ptx` and, beside it, `NAME.json`. The JSON has the size of the
//! launch's shared memory, which is not in the PTX.

use super::error::InputReason;
use crate::bounded;
use std::path::{Path, PathBuf};

/// Facts that Triton writes beside its PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Bytes of dynamic shared memory.
    pub(crate) shared: Option<u64>,
    /// The file with these facts.
    pub(crate) file: String,
}

/// The PTX of an entry given as its folder or its JSON; any other path unchanged.
pub(crate) fn entry(path: &Path) -> Result<PathBuf, InputReason> {
    if path.is_dir() {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                found.push(path);
            }
        }
        found.sort();
        return match found.len() {
            0 => Err(InputReason::NoPtxInFolder),
            1 => Ok(found.swap_remove(0)),
            count => Err(InputReason::SeveralInFolder(count)),
        };
    }
    let beside = path.with_extension("ptx");
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    Ok(if is_json && beside.is_file() { beside } else { path.to_path_buf() })
}

/// The facts in the JSON beside a PTX file, if it is Triton's.
pub(crate) fn facts(path: &Path) -> Facts {
    let file = path.with_extension("json");
    let text = bounded::read_text(&file).ok();
    let json = text.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    // Other tools write JSON beside PTX, too; Triton's has the number of warps.
    let json = json.filter(|json| json.get("num_warps").is_some_and(serde_json::Value::is_u64));
    let shared = json.and_then(|json| json.get("shared")?.as_u64());
    Facts { shared, file: file.display().to_string() }
}
