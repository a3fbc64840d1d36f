//! Finds a CUDA compiler and its header files: NVRTC (a library that compiles CUDA C++ to PTX) or nvcc.
//!
//! Searched in this order: variables of our own, `CUDA_HOME` and `CUDA_PATH`, the active Python environment (NVIDIA's
//! wheels), the system. Nothing is executed or loaded here.
//!
//! The compiler found here will be run. So the search follows only the user's settings and places that belong to the
//! system or the user. It never looks in the working folder or the folder of a kernel or a project, which somebody
//! else may have written. A variable may point there, and `PATH` may have `.` in it: that is the user's decision.
//! Shells take an empty part of a list of folders for the working folder; this is usually an accident, so here it
//! names nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The inputs of the search, so that tests can replace them.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    /// Keep nothing between runs.
    without_cache: bool,
    /// Prefix of every absolute path of the system; `/`.
    root: PathBuf,
}

/// A compiler library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The file.
    pub path: PathBuf,
    /// Folders with its header files.
    pub includes: Vec<PathBuf>,
}

/// The variables with paths.
const VARIABLES: [&str; 12] = [
    "WARPPROOF_NVRTC",
    "WARPPROOF_NVCC",
    "CUDA_HOME",
    "CUDA_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "HOME",
    "PATH",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
    "WARPPROOF_CACHE",
    "TRITON_CACHE_DIR",
];

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let variables = VARIABLES.iter().filter_map(|&name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some((name.to_owned(), value))
        });
        Self { variables: variables.collect(), without_cache: false, root: PathBuf::from("/") }
    }

    /// Adds an active Python environment, unless there is one already.
    #[must_use]
    pub fn in_python(mut self, prefix: Option<&Path>) -> Self {
        if let Some(prefix) = prefix {
            self.variables.entry("VIRTUAL_ENV".to_owned()).or_insert_with(|| prefix.into());
        }
        self
    }

    /// Sets if nothing is kept between runs.
    #[must_use]
    pub fn without_cache(self, without_cache: bool) -> Self {
        Self { without_cache, ..self }
    }

    /// A variable, unless it is empty.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name)
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(PathBuf::from)
    }

    fn paths(&self, name: &str) -> Vec<PathBuf> {
        let parts = self.variable(name).map(|value| folders(value)).into_iter();
        parts.flatten().collect()
    }

    /// The folder of the compilation cache.
    #[must_use]
    pub fn cache_folder(&self) -> Option<PathBuf> {
        if self.without_cache {
            return None;
        }
        if let Some(folder) = self.path("WARPPROOF_CACHE") {
            return Some(folder);
        }
        // The XDG specification says to ignore relative paths.
        let absolute = |name: &str| self.path(name).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME");
        Some(base.or_else(|| Some(absolute("HOME")?.join(".cache")))?.join("warpproof"))
    }

    /// The library to compile with: the first one found.
    #[must_use]
    pub fn nvrtc(&self) -> Option<Library> {
        if let Some(given) = self.path("WARPPROOF_NVRTC") {
            let path = if given.is_dir() { library_in(&given)? } else { given };
            return path.is_file().then(|| self.library(path));
        }
        let found = self.library_folders().iter().find_map(|folder| library_in(folder));
        found.map(|path| self.library(path))
    }

    /// The compiler program: the first one found.
    #[must_use]
    pub fn nvcc(&self) -> Option<PathBuf> {
        if let Some(given) = self.path("WARPPROOF_NVCC") {
            return given.is_file().then_some(given);
        }
        let toolkits = self.toolkits().into_iter().map(|folder| folder.join("bin"));
        let folders = toolkits.chain(self.paths("PATH"));
        let folders = folders.chain(self.wheels().into_iter().map(|folder| folder.join("bin")));
        let name = if cfg!(windows) { "nvcc.exe" } else { "nvcc" };
        folders.map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Folders of toolkits, named by variables or installed.
    fn toolkits(&self) -> Vec<PathBuf> {
        let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(|name| self.path(name));
        let local = self.root.join("usr/local");
        let mut installed: Vec<PathBuf> = children(&local)
            .into_iter()
            .filter(|path| file_name(path).starts_with("cuda"))
            .collect();
        // `cuda` is the toolkit chosen by the system; after it newer ones first.
        installed.sort_by(|one, other| {
            let rank = |path: &PathBuf| (file_name(path) != "cuda", version(&file_name(path)));
            let ((one_other, one), (other_other, other)) = (rank(one), rank(other));
            one_other.cmp(&other_other).then(other.cmp(&one))
        });
        named.chain(installed).collect()
    }

    /// Folders of NVIDIA's wheels: `…/site-packages/nvidia/*`.
    fn wheels(&self) -> Vec<PathBuf> {
        let mut environments: Vec<PathBuf> = Vec::new();
        environments.extend(["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|n| self.path(n)));
        environments.extend(self.path("HOME").map(|home| home.join(".local")));
        environments.extend(["usr", "usr/local"].map(|name| self.root.join(name)));
        let mut found = Vec::new();
        for environment in environments {
            let versions = children(&environment.join("lib")).into_iter();
            for version in versions.filter(|path| file_name(path).starts_with("python3")) {
                for packages in ["site-packages", "dist-packages"] {
                    found.extend(children(&version.join(packages).join("nvidia")));
                }
            }
        }
        found
    }

    fn library_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for toolkit in self.toolkits() {
            folders.extend(
                ["lib64", "lib", "targets/x86_64-linux/lib", "bin"].map(|f| toolkit.join(f)),
            );
        }
        folders.extend(self.wheels().into_iter().map(|wheel| wheel.join("lib")));
        folders.extend(self.paths("LD_LIBRARY_PATH"));
        let system =
            ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib"];
        folders.extend(system.map(|folder| self.root.join(folder)));
        folders
    }

    /// Adds the header files: beside the library, or in the wheels next to its own.
    fn library(&self, path: PathBuf) -> Library {
        let mut includes = Vec::new();
        let mut add = |folder: PathBuf| {
            if folder.is_dir() && !includes.contains(&folder) {
                includes.push(folder);
            }
        };
        let home = path.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
        for base in [home.clone(), home.join("../..")] {
            add(base.join("include"));
            add(base.join("include/cccl"));
        }
        for wheel in ["cuda_runtime", "cuda_cccl", "cuda_nvcc"] {
            add(home.join("..").join(wheel).join("include"));
        }
        for toolkit in self.toolkits() {
            add(toolkit.join("include"));
            add(toolkit.join("include/cccl"));
        }
        // A `usr/include` is for the host, not for the GPU.
        includes
            .retain(|folder| folder.join("cuda_runtime.h").is_file() || folder.join("nv").is_dir());
        Library { path, includes }
    }
}

/// The folders of a list, without empty parts.
pub(crate) fn folders(list: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(list).filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// The newest NVRTC of a folder.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name = file_name(path);
        let unix = name.starts_with("libnvrtc.so") || name == "libnvrtc.dylib";
        unix || name.starts_with("nvrtc64_") && name.ends_with(".dll") && !name.contains("builtins")
    };
    let found = children(folder).into_iter().filter(is_library);
    found.filter(|path| path.is_file()).max_by_key(|path| version(&file_name(path)))
}

/// The numbers in a name: `libnvrtc.so.13` is [13].
fn version(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// The entries of a folder, by name; empty if it is not a folder.
fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fake machine under the folder for temporary files.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str) -> Self {
            let id = std::process::id();
            let root = std::env::temp_dir().join(format!("warpproof-locate-{name}-{id}"));
            let _ = std::fs::remove_dir_all(&root);
            std::fs::create_dir_all(&root).unwrap();
            Self(root)
        }

        fn file(&self, path: &str) -> PathBuf {
            let path = self.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        }

        fn environment(&self, variables: &[(&str, &str)]) -> Environment {
            let variables = variables
                .iter()
                .map(|(name, path)| ((*name).to_owned(), self.0.join(path).into_os_string()));
            let (variables, root) = (variables.collect(), self.0.clone());
            Environment { variables, without_cache: false, root }
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        let machine = Machine::new("bare");
        let environment = machine.environment(&[("CUDA_HOME", "nowhere")]);
        assert_eq!(environment.nvrtc(), None);
        assert_eq!(environment.nvcc(), None);
    }

    #[test]
    fn wheels_of_both_layouts_are_found_with_their_headers() {
        let machine = Machine::new("wheels");
        let packages = "me/.local/lib/python3.12/site-packages/nvidia";
        let library = machine.file(&format!("{packages}/cuda_nvrtc/lib/libnvrtc.so.12"));
        machine.file(&format!("{packages}/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9"));
        machine.file(&format!("{packages}/cuda_runtime/include/cuda_runtime.h"));
        let found = machine.environment(&[("HOME", "me")]).nvrtc().unwrap();
        assert_eq!(found.path, library);
        assert_eq!(found.includes.len(), 1);

        let one_folder = "env/lib/python3.11/site-packages/nvidia/cu13";
        let library = machine.file(&format!("{one_folder}/lib/libnvrtc.so.13"));
        let nvcc = machine.file(&format!("{one_folder}/bin/nvcc"));
        machine.file(&format!("{one_folder}/include/cuda_runtime.h"));
        machine.file(&format!("{one_folder}/include/cccl/nv/target"));
        // The active environment comes before the user's own packages.
        let environment = machine.environment(&[("VIRTUAL_ENV", "env"), ("HOME", "me")]);
        let found = environment.nvrtc().unwrap();
        assert_eq!(found.path, library);
        assert_eq!(found.includes.len(), 2);
        assert_eq!(environment.nvcc(), Some(nvcc));
    }

    #[test]
    fn named_toolkit_first_then_the_chosen_one_then_newer_ones() {
        let machine = Machine::new("toolkits");
        machine.file("usr/local/cuda-13.0/lib64/libnvrtc.so.13");
        let chosen = machine.file("usr/local/cuda/lib64/libnvrtc.so.12");
        let named = machine.file("mine/libnvrtc.so.11.2");
        assert_eq!(machine.environment(&[]).nvrtc().unwrap().path, chosen);
        let environment = machine.environment(&[("WARPPROOF_NVRTC", "mine")]);
        assert_eq!(environment.nvrtc().unwrap().path, named);
        // A name that leads nowhere must not be replaced silently.
        let environment = machine.environment(&[("WARPPROOF_NVRTC", "not/there.so")]);
        assert_eq!(environment.nvrtc(), None);
    }

    #[test]
    fn an_empty_part_of_a_list_is_no_folder() {
        let list = std::env::join_paths(["", "/a", "", "."]).unwrap();
        assert_eq!(folders(&list), [PathBuf::from("/a"), PathBuf::from(".")]);
        assert_eq!(folders(OsStr::new("")), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_cache_has_a_place() {
        let machine = Machine::new("cache");
        let folder = |variables| machine.environment(variables).cache_folder();
        assert_eq!(folder(&[("HOME", "me")]), Some(machine.0.join("me/.cache/warpproof")));
        assert_eq!(folder(&[("HOME", "me"), ("WARPPROOF_CACHE", "c")]), Some(machine.0.join("c")));
        assert_eq!(folder(&[]), None);
        let none = machine.environment(&[("HOME", "me")]).without_cache(true);
        assert_eq!(none.cache_folder(), None);
    }
}
