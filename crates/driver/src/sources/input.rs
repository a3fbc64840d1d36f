//! Reads PTX, or makes it from a file of another kind; says what the file is if neither works.

use super::container::{self, Contents, Module};
use super::cuda::{self, CompileOptions};
use super::error::{InputError, InputReason};
use super::front;
use super::triton::{self, Facts};
use crate::arguments::{SelectError, closest, select_kernel};
use crate::bounded;
use crate::demangle::demangle;
use crate::output::is_below;
use crate::paths::relative;
use crate::render::escape::{on_one_line, visible};
use base::{SourceFile, Span};
use ir::{FuncId, Program};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Larger files are not shown in excerpts.
const LARGEST_SOURCE: u64 = 16 << 20;

/// The text of a module.
#[derive(Debug)]
pub struct Input {
    /// The text and its name for messages.
    pub source: SourceFile,
    /// The name the user gave, if the text was made from something else.
    given: Option<String>,
    /// The folder of the file: the source it was compiled from may be there.
    folder: Option<PathBuf>,
    /// Folders with sources that may be shown: that of the file, those given for header files, the working
    /// folder.
    shown: Vec<PathBuf>,
    /// Facts about the launch from files beside it.
    facts: Facts,
    /// The CUDA C++ source of the text.
    cuda: Option<String>,
    /// A requested kernel, and its name in the text.
    instance: Option<(String, String)>,
    /// A note on how the text was made.
    note: Option<String>,
    /// The command that made the text.
    made_by: Option<String>,
    /// Included files, each with the offset in spans at which it begins.
    headers: Vec<(u32, SourceFile)>,
    /// Sources that were requested so far.
    sources: Mutex<BTreeMap<String, Option<Arc<SourceFile>>>>,
}

impl Input {
    /// Reads a file, or standard input if the path is `-`.
    ///
    /// # Errors
    /// If there is nothing to read or the text cannot be PTX.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        Self::open(path, None, &CompileOptions::default())
    }

    /// Reads PTX, extracts it from a container, or compiles it. Accepts a `.ptx` or `.cu` file, an object,
    /// library, program or fat binary with PTX in it, an entry of Triton's cache (its folder, `.ptx` or
    /// `.json`), or standard input if the path is `-`. The kernel selects one of several modules in a container.
    ///
    /// # Errors
    /// If there is nothing to read or it yields no PTX.
    pub fn open(
        path: &Path,
        kernel: Option<&str>,
        options: &CompileOptions,
    ) -> Result<Self, InputError> {
        let name = on_one_line(&path.display().to_string()).into_owned();
        let fail = |reason: InputReason| InputError { name: name.clone(), reason };
        if path == Path::new("-") {
            let read = bounded::read_input();
            let bytes = read.map_err(|error| fail(InputReason::Read { error, similar: None }))?;
            return Self::from_bytes("<stdin>", bytes);
        }
        let path = &triton::entry(path).map_err(fail)?;
        let bytes = bounded::read(path, bounded::MAX_INPUT)
            .map_err(|error| fail(InputReason::unread(error, path)))?;
        if path.extension().is_some_and(|extension| extension == "py") {
            return Err(fail(InputReason::Python));
        }
        let mut input = Self::of_bytes(path, bytes, kernel, options)?;
        let project = options.project.as_deref();
        if is_elsewhere(path, project) && front::lower(&input.source).is_err() {
            return Err(fail(InputReason::PtxElsewhere));
        }
        input.facts = triton::facts(path);
        input.folder = path.parent().map(Path::to_path_buf);
        input.shown = shown_folders(path, &options.includes, project);
        Ok(input)
    }

    /// Takes the bytes of a file: PTX, a container of it, or its source.
    pub(super) fn of_bytes(
        path: &Path,
        bytes: Vec<u8>,
        kernel: Option<&str>,
        options: &CompileOptions,
    ) -> Result<Self, InputError> {
        let name = on_one_line(&path.display().to_string()).into_owned();
        let fail = |reason: InputReason| InputError { name: name.clone(), reason };
        if container::is_container(&bytes) {
            let text = module(&bytes, kernel, &options.architecture).map_err(fail)?;
            Self::of_made_ptx(&name, text)
        } else if is_cuda(path, &bytes) {
            let text = String::from_utf8(bytes).map_err(|_| fail(InputReason::NotText))?;
            let compiled = cuda::compile_for(path, &text, kernel, options);
            let compiled = compiled.map_err(|error| fail(error.into()))?;
            let input = Self::of_made_ptx(&name, compiled.ptx)?;
            let instance = kernel.map(str::to_owned).zip(compiled.instance);
            let note = compiled.inlined.map(|why| inlined_note(&name, &why));
            let made_by = Some(compiled.command);
            Ok(Self { made_by, cuda: Some(text), instance, note, ..input })
        } else {
            Self::from_bytes(&name, bytes)
        }
    }

    /// All texts of it that a report may show.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let own = [self.source.text(), self.source.name(), &*self.facts.file];
        own.into_iter().chain(self.headers().flat_map(|file| [file.text(), file.name()]))
    }

    /// Adds the included files.
    pub(crate) fn with_headers(&self, files: &::cuda::source::SourceMap) -> Option<Self> {
        let mut all = Self::of_text(self.source.name(), self.source.text().to_owned())?;
        for file in files.files().iter().skip(1) {
            let name = on_one_line(&file.path.display().to_string()).into_owned();
            all.headers.push((file.place(0), SourceFile::new(&name, file.text.clone())?));
        }
        Some(all)
    }

    /// Returns the file of a span, and the span relative to that file.
    pub(crate) fn located(&self, span: Span) -> (&SourceFile, Span) {
        let begun = self.headers.iter().rev().find(|(start, _)| *start <= span.start);
        match begun {
            None => (&self.source, span),
            Some((start, file)) => {
                (file, Span::new(span.start - start, span.end.max(span.start) - start))
            }
        }
    }

    /// Formats the position of a span for messages: `line 3`, or `k.cuh:3` in an included file.
    pub(crate) fn place(&self, span: Span) -> String {
        let (file, local) = self.located(span);
        let line = file.line(local.start);
        match std::ptr::eq(file, &raw const self.source) {
            true => format!("line {line}"),
            false => format!("{}:{line}", file.name()),
        }
    }

    /// Formats the position of a span with the file's name.
    pub(crate) fn path_and_line(&self, span: Span) -> String {
        let (file, local) = self.located(span);
        format!("{}:{}", file.name(), file.line(local.start))
    }

    /// The included files.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &SourceFile> {
        self.headers.iter().map(|(_, file)| file)
    }

    /// Adds a source file, which need not be on disk.
    #[must_use]
    pub fn with_source(mut self, name: &str, text: &str) -> Self {
        let file = SourceFile::new(name, text).map(Arc::new);
        if let Ok(sources) = self.sources.get_mut() {
            sources.insert(name.to_owned(), file);
        }
        self
    }

    /// Takes PTX that was made from a file.
    fn of_made_ptx(given: &str, text: String) -> Result<Self, InputError> {
        let mut input = Self::from_bytes(&format!("{given} (PTX)"), text.into_bytes())?;
        input.given = Some(given.to_owned());
        Ok(input)
    }

    /// The name the user gave.
    #[must_use]
    pub fn name(&self) -> &str {
        self.given.as_deref().unwrap_or(self.source.name())
    }

    /// The command that made the PTX, if one was needed.
    #[must_use]
    pub fn made_by(&self) -> Option<&str> {
        self.made_by.as_deref()
    }

    /// Returns the note on how the text was made.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Names the instance chosen for a kernel without template arguments, if the program chooses an instance at run
    /// time.
    pub(crate) fn dispatch_note(&self, mangled: &str, name: Option<&str>) -> Option<String> {
        let is_dispatched = self.cuda.as_deref()?.contains("AT_DISPATCH_");
        let instance = demangle(mangled).filter(|one| one.contains("float"))?;
        let is_named = name.is_some_and(|name| name.contains('<') || name == mangled);
        let is_instance = instance.split('(').next()?.contains('<');
        (is_dispatched && is_instance && !is_named)
            .then(|| format!("the kernel is `{instance}`; other types of AT_DISPATCH are ignored"))
    }

    /// Finds a kernel by name, as [`select_kernel`] does. For CUDA C++ it also finds an instance compiled on request.
    pub(crate) fn select(
        &self,
        program: &Program,
        name: Option<&str>,
    ) -> Result<FuncId, SelectError> {
        let instance = self.instance.as_ref().filter(|(asked, _)| Some(asked.as_str()) == name);
        let meant = instance.map(|(_, mangled)| mangled.as_str()).or(name);
        let error = match select_kernel(program, meant) {
            Err(SelectError::Several { name, count, kernels }) => {
                return Err(SelectError::Several { name, count, kernels });
            }
            Err(error) => error,
            Ok(kernel) => return Ok(kernel),
        };
        let mut templates = cuda::kernel_templates(self.cuda().unwrap_or_default()).into_iter();
        let base = name.map(|name| name.split('<').next().unwrap_or(name));
        let base = base.map(|name| name.rsplit("::").next().unwrap_or(name));
        let template = match base {
            Some(base) => templates.find(|template| template.name == base),
            None => templates.next().filter(|_| error == SelectError::NoKernel),
        };
        Err(template.map_or(error, |one| SelectError::Template {
            name: one.name,
            file: self.name().to_owned(),
            example: one.example,
        }))
    }

    /// The CUDA C++ source, if the text was compiled here.
    pub(crate) fn cuda(&self) -> Option<&str> {
        self.cuda.as_deref()
    }

    /// Facts about the launch from files beside it.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Finds the source file of a `.file` directive. Looks at the path itself, from the working
    /// folder and from the folder of the PTX, and beside the PTX. The file may have changed since it was
    /// compiled. PTX may name any file, so only sources below the folders that may be shown are read.
    pub(crate) fn source_file(&self, name: &str) -> Option<Arc<SourceFile>> {
        let mut sources = self.sources.lock().ok()?;
        if let Some(known) = sources.get(name) {
            return known.clone();
        }
        let folder = self.folder.as_ref()?;
        let found = sources.entry(name.to_owned()).or_insert_with(|| {
            let path = Path::new(name);
            let beside = path.file_name().map(|name| folder.join(name));
            let candidates = [Some(path.to_path_buf()), Some(folder.join(path)), beside];
            let mut candidates = candidates.into_iter().flatten();
            candidates.find_map(|path| read_source(&path, &self.shown)).map(Arc::new)
        });
        found.clone()
    }

    /// Reads CUDA C++ source, or standard input if the path is `-`.
    ///
    /// # Errors
    /// If there is nothing to read or the text cannot be CUDA C++.
    pub fn read_cuda(path: &Path) -> Result<Self, InputError> {
        Self::read_cuda_of(path, None)
    }

    /// Like [`read_cuda`](Self::read_cuda), for a project: it may name files that lie elsewhere.
    pub(crate) fn read_cuda_of(path: &Path, project: Option<&Path>) -> Result<Self, InputError> {
        let name = on_one_line(&path.display().to_string()).into_owned();
        let fail = |reason: InputReason| InputError { name: name.clone(), reason };
        if path.is_dir() {
            return Err(fail(InputReason::Folder));
        }
        let read = match path == Path::new("-") {
            true => bounded::read_input(),
            false => bounded::read(path, bounded::MAX_TEXT),
        };
        let bytes = read.map_err(|error| fail(InputReason::unread(error, path)))?;
        let input = Self::cuda_of_memory(&name, bytes)?;
        let is_read = |text: &str| {
            cuda_front::kernels(text).is_ok_and(|all| all.iter().all(|(_, kernel)| kernel.is_ok()))
        };
        let is_elsewhere = path != Path::new("-") && is_elsewhere(path, project);
        if is_elsewhere && !is_read(input.source.text()) {
            return Err(fail(InputReason::CudaElsewhere));
        }
        Ok(input)
    }

    pub(super) fn of_text(name: &str, text: String) -> Option<Self> {
        Some(Self {
            source: SourceFile::new(name, text)?,
            given: None,
            folder: None,
            shown: Vec::new(),
            facts: Facts::default(),
            cuda: None,
            instance: None,
            note: None,
            made_by: None,
            headers: Vec::new(),
            sources: Mutex::default(),
        })
    }

    /// Takes bytes that were read elsewhere.
    ///
    /// # Errors
    /// If the bytes cannot be PTX.
    pub fn from_bytes(name: &str, mut bytes: Vec<u8>) -> Result<Self, InputError> {
        // Some editors put a byte-order mark before the text.
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let fail = |reason: InputReason| InputError { name: name.to_owned(), reason };
        if let Some(reason) = not_ptx(&bytes) {
            return Err(fail(reason));
        }
        let text = String::from_utf8(bytes).map_err(|_| fail(InputReason::NotPtxText))?;
        Self::of_text(name, text).ok_or_else(|| fail(InputReason::TooLong))
    }
}

fn inlined_note(name: &str, why: &str) -> String {
    let why = on_one_line(why);
    format!(
        "`{name}` does not compile with math functions kept as calls ({why}), so their code is inlined and \
        may not be recognised; it may help to put the kernel into a separate file"
    )
}

fn is_cuda(path: &Path, bytes: &[u8]) -> bool {
    let named = path.extension().is_some_and(|extension| extension == "cu");
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    named && !bytes.iter().all(u8::is_ascii_whitespace) || !has(b".version") && has(b"__global__")
}

/// Selects the module of a container: the one with the kernel, for the requested architecture or
/// the nearest older one.
fn module(bytes: &[u8], kernel: Option<&str>, architecture: &str) -> Result<String, InputReason> {
    let Contents { mut modules, binaries, damaged, is_too_large, .. } = container::contents(bytes);
    if is_too_large {
        return Err(InputReason::TooMuch);
    }
    if modules.is_empty() {
        return Err(match (damaged, binaries) {
            (0, 0) => InputReason::NoModule,
            (0, _) => InputReason::MachineCode,
            _ => InputReason::Damaged,
        });
    }
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    let wanted = digits.parse::<u32>().unwrap_or(80);
    let defines =
        |module: &Module| {
            let name = kernel.unwrap_or_default();
            module.text.split(".entry ").skip(1).any(|rest| {
                rest.split(['(', '\n']).next().is_some_and(|entry| entry.contains(name))
            })
        };
    if modules.iter().any(&defines) {
        modules.retain(&defines);
    }
    let below = modules.iter().map(|m| m.architecture).filter(|&a| a <= wanted).max();
    let chosen = below.or_else(|| modules.iter().map(|module| module.architecture).min());
    modules.retain(|module| Some(module.architecture) == chosen);
    match modules.len() {
        1 => Ok(modules.swap_remove(0).text),
        count => Err(InputReason::SeveralModules(count)),
    }
}

impl InputReason {
    /// Returns why a file was not read. Only a file that is not there may have been misspelt.
    pub(super) fn unread(error: std::io::Error, path: &Path) -> Self {
        let is_absent = error.kind() == std::io::ErrorKind::NotFound;
        let similar = is_absent.then(|| similar(path)).flatten();
        Self::Read { error, similar }
    }
}

/// A file of the same folder with nearly the name of a missing one.
fn similar(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let wanted = path.file_name()?.to_str()?;
    let others = names.iter().map(String::as_str).filter(|&name| name != wanted);
    let name = closest(wanted, others)?;
    Some(path.with_file_name(name).display().to_string())
}

/// Returns `true` if a file is outside of the project that names it, or a link out of its own folder. An error message
/// must not quote such a file, since its contents may be private.
fn is_elsewhere(path: &Path, project: Option<&Path>) -> bool {
    let folder = project.or(path.parent()).unwrap_or(Path::new(""));
    !is_below(path, folder)
}

/// Computes [`Input::shown`]. The root and the user's home do not count as working folders: they hold more than
/// sources.
fn shown_folders(path: &Path, includes: &[PathBuf], project: Option<&Path>) -> Vec<PathBuf> {
    let own = path.parent().map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_path_buf(),
    });
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let working = std::env::current_dir().ok().filter(|folder| {
        folder.parent().is_some() && home.as_ref().is_none_or(|home| home != folder)
    });
    let all: Vec<PathBuf> = match project {
        // The author of a project need not be the author of PTX that it names. Such PTX shows its own sources only.
        Some(_) if is_elsewhere(path, project) => own.into_iter().collect(),
        Some(project) if project.as_os_str().is_empty() => vec![PathBuf::from(".")],
        Some(project) => vec![project.to_path_buf()],
        None => own.into_iter().chain(includes.iter().cloned()).chain(working).collect(),
    };
    all.iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Extensions of source files.
const SOURCES: [&str; 20] = [
    "cu", "cuh", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inc", "inl", "py", "ptx", "rs",
    "jl", "mojo", "cl", "hip", "mlir",
];

/// Returns `true` if the path leads to a source below one of these folders, and not through a hidden folder.
fn may_be_shown(path: &Path, folders: &[PathBuf]) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let is_source = path
        .extension()
        .and_then(|one| one.to_str())
        .is_some_and(|extension| SOURCES.iter().any(|known| extension.eq_ignore_ascii_case(known)));
    let hidden = |below: &Path| {
        below.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
    };
    let inside = |folder: &PathBuf| path.strip_prefix(folder).is_ok_and(|below| !hidden(below));
    is_source && folders.iter().any(inside)
}

fn read_source(path: &Path, folders: &[PathBuf]) -> Option<SourceFile> {
    if !may_be_shown(path, folders) {
        return None;
    }
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() || facts.len() > LARGEST_SOURCE {
        return None;
    }
    let name = relative(&path.display().to_string());
    // Lines keep their numbers.
    let text = bounded::read_text_within(path, LARGEST_SOURCE).ok()?;
    SourceFile::new(visible(&on_one_line(&name)), visible(&text))
}

/// Recognises common wrong inputs.
fn not_ptx(bytes: &[u8]) -> Option<InputReason> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some(InputReason::Empty);
    }
    if container::is_container(bytes) {
        return Some(InputReason::Container);
    }
    let head = &bytes[..bytes.len().min(4096)];
    if head.contains(&0) {
        return Some(InputReason::Binary);
    }
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    if !has(b".version") && has(b"__global__") {
        return Some(InputReason::Cuda);
    }
    if !has(b".version") && (has(b"target triple") || has(b"target datalayout")) {
        return Some(InputReason::Llvm);
    }
    None
}
