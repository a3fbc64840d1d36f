//! Compiles CUDA C++ to PTX, with the first compiler that succeeds: NVRTC, if installed; nvcc, which also accepts
//! host code; finally NVRTC on the file without its host code ([`cut`]). Line information is always requested. Math
//! functions stay calls where possible ([`opaque`]).

use super::cache;
use super::cut::{Source, compile_cut};
use super::error::{CompileError, Failure};
use super::host_headers::missing_name;
use super::includes::{included, own_headers};
use super::locate::{Environment, Library};
use super::nvrtc::Nvrtc;
use super::opaque;
use super::quoting::Quoting;
use crate::bounded;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The command that installs everything `.cu` files need.
pub(crate) const INSTALL: &str =
    "pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl";

/// Treatment of calls of math functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Math {
    /// They stay calls, if the source compiles that way.
    #[default]
    Opaque,
    /// They become the library's code, which can be run.
    Inlined,
}

/// Options for compiling CUDA C++.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The architecture, as `sm_80`.
    pub architecture: String,
    /// Folders with header files.
    pub includes: Vec<PathBuf>,
    /// The folder of the project that names the file, if one does. Text from outside of it is read but not quoted.
    pub project: Option<PathBuf>,
    /// Calls of math functions.
    pub math: Math,
    /// The environment in which compilers are searched.
    pub environment: Environment,
    /// The text is not that of a file: a compiler that reads files gets a copy.
    pub is_in_memory: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        let environment = Environment::of_process();
        let (includes, project, math) = (Vec::new(), None, Math::default());
        let (architecture, is_in_memory) = ("sm_80".to_owned(), false);
        Self { architecture, includes, project, math, environment, is_in_memory }
    }
}

/// The result of a compilation.
pub(crate) struct Compiled {
    pub(crate) ptx: String,
    /// The command, with a note if it is a substitute for one.
    pub(crate) command: String,
    /// The name of the requested instance in the PTX.
    pub(crate) instance: Option<String>,
    /// The reason why math functions were inlined, although they were to stay calls.
    pub(crate) inlined: Option<String>,
}

/// A compiler and its options.
enum Compiler {
    Library(Library),
    Program(PathBuf),
    /// NVRTC, for the file without its host code.
    Cut(Library),
}

/// Compiles a file. On request, adds an instance of a kernel template that the file itself does not instantiate.
pub(crate) fn compile(
    path: &Path,
    text: &str,
    wanted: Option<&str>,
    options: &CompileOptions,
) -> Result<Compiled, CompileError> {
    let architecture = architecture(&options.architecture)?;
    let environment = &options.environment;
    let library = environment.nvrtc().map(Compiler::Library);
    // nvcc cannot instantiate a template by its name.
    let program = environment.nvcc().filter(|_| wanted.is_none()).map(Compiler::Program);
    let has_nvcc = program.is_some();
    let cut = environment.nvrtc().map(Compiler::Cut);
    let compilers: Vec<Compiler> = library.into_iter().chain(program).chain(cut).collect();
    if compilers.is_empty() {
        return Err(CompileError::NoCompiler { path: path.to_owned() });
    }
    let mut failures = Vec::new();
    let calls =
        options.math == Math::Opaque && opaque::calls_functions(path, text, &options.includes);
    for math in [Math::Opaque, Math::Inlined].into_iter().skip(usize::from(!calls)) {
        let inlined = failures.pop().map(|failure: CompileError| first_line(&failure));
        failures.clear();
        let options = CompileOptions { math, ..options.clone() };
        let file = File { path, text, wanted, options: &options };
        for compiler in &compilers {
            match compiler.run(&file, &architecture) {
                Ok(compiled) => return Ok(Compiled { inlined, ..compiled }),
                Err(failure) => failures.push(failure),
            }
        }
    }
    Err(best_error(failures, has_nvcc)
        .unwrap_or_else(|| CompileError::NoCompiler { path: path.to_owned() }))
}

/// A file and how it is compiled.
struct File<'f> {
    path: &'f Path,
    text: &'f str,
    wanted: Option<&'f str>,
    options: &'f CompileOptions,
}

/// The compiler's first error, as far as it may be quoted.
fn first_line(failure: &CompileError) -> String {
    let text = match failure {
        CompileError::Refused { messages, .. } => messages.clone(),
        other => other.to_string(),
    };
    let mut lines = text.lines().map(|line| line.trim_start_matches([' ', '|']));
    let found = lines.clone().find(|line| line.contains("error")).or_else(|| lines.next());
    found.unwrap_or_default().chars().take(200).collect()
}

/// Chooses the failure to report: nvcc's, since it reads most. Without nvcc, the one of the last attempt (host code
/// cut out) if a header was missing before.
fn best_error(mut failures: Vec<CompileError>, has_nvcc: bool) -> Option<CompileError> {
    let lacks_header = |compile_error: &CompileError| matches!(compile_error, CompileError::Refused { messages, .. } if missing_name(messages).is_some());
    if has_nvcc {
        failures.truncate(failures.len() - usize::from(failures.len() > 1));
        return failures.pop();
    }
    let hosted = failures.first().is_some_and(lacks_header);
    let mut failure = if hosted { failures.pop() } else { failures.into_iter().next() }?;
    if let CompileError::Refused { help, .. } = &mut failure {
        *help = if hosted { HOSTED } else { "" };
    }
    Some(failure)
}

/// Advice for a file that needs host headers.
const HOSTED: &str = "\nhelp: the file contains host code. NVRTC reads none, so host functions were cut out \
    and known headers replaced; nvcc reads all of it:\n  pip install nvidia-cuda-nvcc nvidia-cuda-crt \
    nvidia-nvvm \
                      nvidia-cuda-runtime nvidia-cuda-cccl\nand needs g++. Folders of other headers are given with -I; or put the kernel into a separate file";

/// The number of an architecture, with its letter: `80`, `90a`.
pub(super) fn architecture(name: &str) -> Result<String, CompileError> {
    let number = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_")).unwrap_or(name);
    let digits = number.trim_end_matches(['a', 'f']);
    let known = (2..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    match known && number.len() - digits.len() <= 1 {
        true => Ok(number.to_owned()),
        false => Err(CompileError::Architecture { name: name.to_owned() }),
    }
}

impl Compiler {
    fn path(&self) -> &Path {
        match self {
            Self::Library(library) | Self::Cut(library) => &library.path,
            Self::Program(path) => path,
        }
    }

    fn options(&self, architecture: &str, options: &CompileOptions) -> Vec<String> {
        let folder = |path: &PathBuf| format!("-I{}", path.display());
        let mut words = vec!["-std=c++17".to_owned(), "-lineinfo".to_owned()];
        words.extend(options.includes.iter().map(folder));
        match self {
            Self::Library(library) | Self::Cut(library) => {
                words.push(format!("--gpu-architecture=compute_{architecture}"));
                words.extend(library.includes.iter().map(folder));
                if options.math == Math::Opaque {
                    words.push("--relocatable-device-code=true".to_owned());
                    words.push(format!("--pre-include={}", opaque::NAME));
                }
            }
            Self::Program(_) => {
                words.extend(["-ptx".to_owned(), format!("-arch=sm_{architecture}")]);
                if options.math == Math::Opaque {
                    words.extend(["-rdc=true", "-include", opaque::NAME].map(str::to_owned));
                }
            }
        }
        words
    }

    fn run(&self, file: &File<'_>, architecture: &str) -> Result<Compiled, CompileError> {
        let File { path, text, wanted, options } = *file;
        let words = self.options(architecture, options);
        let cut = if matches!(self, Self::Cut(_)) { " (without its host code)" } else { "" };
        let (compiler, shown) = (self.path().display(), path.display());
        let command = format!("{compiler} {} {shown}{cut}", words.join(" "));
        let folder = options.environment.cache_folder();
        let key = self.key(file, &words);
        let look_up = |kind| cache::look_up(folder.as_deref(), kind, key.as_ref()?);
        let known_name = wanted.and_then(|_| look_up("instance"));
        if let Some(ptx) = look_up("ptx").filter(|_| wanted.is_none() || known_name.is_some()) {
            let command = format!("{command}   (cached)");
            return Ok(Compiled { ptx, command, instance: known_name, inlined: None });
        }
        let compiled = match self {
            Self::Library(library) => of_library(library, file, &words, false),
            Self::Cut(library) => of_library(library, file, &words, true),
            Self::Program(program) => of_program(program, file, &words).map(|ptx| (ptx, None)),
        };
        let (mut ptx, instance) = compiled.map_err(|failure| {
            let included = included(path, text, &options.includes);
            let given = (&options.includes[..], options.project.as_deref());
            let quoting = match options.is_in_memory {
                true => Quoting::of_memory(path, given.0, included.as_deref()),
                false => Quoting::new(path, given, included.as_deref()),
            };
            let messages = quoting.messages(failure.to_string().trim_end());
            CompileError::Refused { messages, command: command.clone(), help: "" }
        })?;
        if options.is_in_memory
            && let Ok(whole) = std::path::absolute(path)
        {
            // The compiler resolves the text's name against the working folder; restore the name given.
            let [whole, name] = [whole.as_path(), path].map(|one| format!("\"{}\"", one.display()));
            ptx = ptx.replace(&whole, &name);
        }
        if let Some(key) = &key {
            cache::store(folder.as_deref(), "ptx", key, &ptx);
            instance.iter().for_each(|one| cache::store(folder.as_deref(), "instance", key, one));
        }
        Ok(Compiled { ptx, command, instance, inlined: None })
    }

    /// Key of the cache: everything the result depends on. `None` if that is unknown.
    fn key(&self, file: &File<'_>, words: &[String]) -> Option<String> {
        let File { path, text, wanted, options } = *file;
        let compiler = std::fs::metadata(self.path()).ok()?;
        let changed = compiler.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let mut key = format!(
            "warpproof 5 {} {} {}\n{} {} {}\n{}\n{}\n",
            options.is_in_memory,
            wanted.unwrap_or_default(),
            matches!(self, Self::Cut(_)),
            self.path().display(),
            compiler.len(),
            changed.as_nanos(),
            words.join("\n"),
            // The PTX contains the file's name.
            std::path::absolute(path).ok()?.display(),
        );
        for name in ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                key.push_str(&format!("{name}={}\n", value.display()));
            }
        }
        let files = included(path, text, &options.includes)?;
        let header = (PathBuf::from(opaque::NAME), opaque::HEADER.to_owned());
        let kernel_file = [(path.to_path_buf(), text.to_owned())].into_iter();
        let opaque = (options.math == Math::Opaque).then_some(header);
        let files = kernel_file.chain(opaque).chain(files);
        for (file, text) in files {
            key.push_str(&format!("{} {}\n{text}\n", file.display(), text.len()));
        }
        Some(key)
    }
}

fn of_library(
    library: &Library,
    file: &File<'_>,
    words: &[String],
    cut: bool,
) -> Result<(String, Option<String>), Failure> {
    let File { path, text, wanted, .. } = *file;
    let nvrtc = Nvrtc::load(&library.path)?;
    // NVRTC gets a text without a folder, but quoted includes are relative to the file.
    let mut words = words.to_vec();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    words.push(format!("-I{}", folder.unwrap_or(Path::new(".")).display()));
    let headers = [(opaque::NAME, opaque::HEADER)];
    let name = path.display().to_string();
    if cut {
        let own_texts = own_headers(path, text);
        let source = Source { text, name: &name, headers: &headers, own: &own_texts, wanted };
        return compile_cut(&nvrtc, &source, &words);
    }
    let wanted: Vec<String> = wanted.iter().map(|one| (*one).to_owned()).collect();
    let compiled = nvrtc.compile_named(text, (&name, &headers), &words, &wanted)?;
    let ptx = compiled.ptx.ok_or(Failure::Log(compiled.log))?;
    Ok((ptx, compiled.names.into_iter().next()))
}

/// The time limit of nvcc; large templates take minutes.
const COMPILE_LIMIT: Duration = Duration::from_secs(900);

fn of_program(program: &Path, file: &File<'_>, words: &[String]) -> Result<String, Failure> {
    // A name with a leading dash would be taken for an option, and options can name programs to run.
    let path = &std::path::absolute(file.path)?;
    let named = words.iter().map(String::as_str).chain(path.to_str());
    if let Some(word) = named.into_iter().find(|word| !is_plain(word)) {
        return Err(Failure::Shell { word: word.to_owned() });
    }
    let folder = private_folder()?;
    let out = folder.join("kernel.ptx");
    let header = std::fs::write(folder.join(opaque::NAME), opaque::HEADER);
    let copy = file.options.is_in_memory.then(|| folder.join(path.file_name().unwrap_or_default()));
    let copied = copy.as_ref().map_or(Ok(()), |copy| std::fs::write(copy, file.text));
    let path = copy.as_ref().unwrap_or(path);
    let arguments = words.iter().map(AsRef::<OsStr>::as_ref);
    let mut command = Command::new(program);
    command.args(arguments).arg("-I").arg(&folder).arg(path).arg("-o").arg(&out);
    let output = header.and(copied).and_then(|()| bounded::output(&mut command, COMPILE_LIMIT));
    let result = output.map_err(Failure::Io).and_then(|output| match output.status.success() {
        true => std::fs::read_to_string(&out).map_err(Failure::Io),
        false => {
            let text = [output.stdout, output.stderr].concat();
            Err(Failure::Log(String::from_utf8_lossy(&text).into_owned()))
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
    // Messages name the user's file, not the copy.
    let named = |text: String| match &copy {
        Some(copy) => text.replace(&copy.display().to_string(), &file.path.display().to_string()),
        None => text,
    };
    match result {
        Err(Failure::Log(log)) => Err(Failure::Log(named(log))),
        result => result.map(named),
    }
}

/// Returns `true` if a word is safe to pass to nvcc, which calls its programs through a shell.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _-+=.,:/@~%^#[]{}".contains(c);
    word.chars().all(|c| plain(c) || cfg!(windows) && "\\()".contains(c))
}

/// Makes a new folder for temporary files, writable by the user alone.
fn private_folder() -> std::io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("warpproof-nvcc-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            // Taken by another process: try the next name.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{architecture, is_plain};

    #[test]
    fn no_name_is_a_command() {
        for name in ["/a/k.cu", "-I/b c", "k-1.2_x.cu", "é.cu"] {
            assert!(is_plain(name), "{name}");
        }
        for name in
            ["$(touch x).cu", "`x`.cu", "a;b.cu", "a\"b.cu", "a\nb.cu", "a|b", "a&b", "a>b", "a\\b"]
        {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn architectures_have_several_spellings() {
        for (name, number) in [("sm_80", "80"), ("compute_90a", "90a"), ("100f", "100f")] {
            assert_eq!(architecture(name).unwrap(), number);
        }
        for wrong in ["", "ampere", "sm_8", "sm_80aa", "sm_1000", "sm_8 0"] {
            assert!(architecture(wrong).is_err(), "{wrong}");
        }
    }
}
