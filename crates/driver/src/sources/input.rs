//! Reading PTX, or making it from what was given, and saying what a file is if neither works.

use super::container::{self, Contents, Module};
use super::cuda::{self, CompileOptions};
use super::error::{InputError, InputReason};
use super::front;
use super::triton::{self, Facts};
use crate::arguments::{SelectError, closest, select_kernel};
use crate::demangle::demangle;
use crate::output::is_below;
use crate::paths::relative;
use crate::render::escape::{on_one_line, visible};
use base::{SourceFile, Span};
use ir::{FuncId, Program};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Larger files are not shown in excerpts.
const LARGEST_SOURCE: u64 = 16 << 20;

/// A text to work on.
#[derive(Debug)]
pub struct Input {
    /// The text and the name it goes by.
    pub source: SourceFile,
    /// The name the user gave, if the text was made from something else.
    given: Option<String>,
    /// The folder it is in, if it is a file: where the source it was compiled from may be.
    folder: Option<PathBuf>,
    /// Folders with sources that may be shown: that of the file, those given for header files, the working
    /// folder.
    shown: Vec<PathBuf>,
    /// What files beside it tell about the launch.
    facts: Facts,
    /// The CUDA C++ that the text was compiled from.
    cuda: Option<String>,
    /// A kernel that was asked for, and its name in the text.
    instance: Option<(String, String)>,
    /// A note about how the text came about.
    note: Option<String>,
    /// How the text came about, for whoever wants to know.
    made_by: Option<String>,
    /// Files that the text includes, and where each begins behind it in spans.
    headers: Vec<(u32, SourceFile)>,
    /// Sources that were asked for.
    sources: Mutex<BTreeMap<String, Option<Arc<SourceFile>>>>,
}

impl Input {
    /// Reads a file, or standard input if the path is `-`.
    ///
    /// # Errors
    /// If there is nothing to read or what there is cannot be PTX.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        Self::open(path, None, &CompileOptions::default())
    }

    /// Reads PTX, takes it out of what contains it, or compiles it: a `.ptx` or `.cu` file, an object,
    /// library, program or fat binary with PTX in it, an entry of Triton's cache (its folder, `.ptx` or
    /// `.json`), or standard input if the path is `-`. The kernel is for containers of several modules.
    ///
    /// # Errors
    /// If there is nothing to read or PTX does not come of it.
    pub fn open(
        path: &Path,
        kernel: Option<&str>,
        options: &CompileOptions,
    ) -> Result<Self, InputError> {
        let name = on_one_line(&path.display().to_string()).into_owned();
        let fail = |reason: InputReason| InputError { name: name.clone(), reason };
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| fail(InputReason::Read { error, similar: None }))?;
            return Self::from_bytes("<stdin>", bytes);
        }
        let path = &triton::entry(path).map_err(fail)?;
        let bytes = std::fs::read(path)
            .map_err(|error| fail(InputReason::Read { error, similar: similar(path) }))?;
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

    /// Takes the bytes of a file: PTX, a container of it, or what it is compiled from.
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
            Self::made(&name, text)
        } else if is_cuda(path, &bytes) {
            let text = String::from_utf8(bytes).map_err(|_| fail(InputReason::NotText))?;
            let compiled = cuda::compile_for(path, &text, kernel, options);
            let compiled = compiled.map_err(|error| fail(error.into()))?;
            let input = Self::made(&name, compiled.ptx)?;
            let instance = kernel.map(str::to_owned).zip(compiled.instance);
            let note = compiled.inlined.map(|why| inlined_note(&name, &why));
            let made_by = Some(compiled.command);
            Ok(Self { made_by, cuda: Some(text), instance, note, ..input })
        } else {
            Self::from_bytes(&name, bytes)
        }
    }

    /// Everything of it that a report may show.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let own = [self.source.text(), self.source.name(), &*self.facts.file];
        own.into_iter().chain(self.headers().flat_map(|file| [file.text(), file.name()]))
    }

    /// The same text with the files that it includes.
    pub(crate) fn with_headers(&self, files: &::cuda::source::SourceMap) -> Option<Self> {
        let mut all = Self::of_text(self.source.name(), self.source.text().to_owned())?;
        for file in files.files().iter().skip(1) {
            let name = on_one_line(&file.path.display().to_string()).into_owned();
            all.headers.push((file.place(0), SourceFile::new(&name, file.text.clone())?));
        }
        Some(all)
    }

    /// The file that a span is in, and the span there.
    pub(crate) fn located(&self, span: Span) -> (&SourceFile, Span) {
        let begun = self.headers.iter().rev().find(|(start, _)| *start <= span.start);
        match begun {
            None => (&self.source, span),
            Some((start, file)) => {
                (file, Span::new(span.start - start, span.end.max(span.start) - start))
            }
        }
    }

    /// Where a span is, for messages: `line 3`, or `k.cuh:3` in an included file.
    pub(crate) fn place(&self, span: Span) -> String {
        let (file, local) = self.located(span);
        let line = file.line(local.start);
        match std::ptr::eq(file, &raw const self.source) {
            true => format!("line {line}"),
            false => format!("{}:{line}", file.name()),
        }
    }

    /// Where a span is, with the file's name.
    pub(crate) fn path_and_line(&self, span: Span) -> String {
        let (file, local) = self.located(span);
        format!("{}:{}", file.name(), file.line(local.start))
    }

    /// The files that it includes.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &SourceFile> {
        self.headers.iter().map(|(_, file)| file)
    }

    /// With a source file that need not be on disk.
    #[must_use]
    pub fn with_source(mut self, name: &str, text: &str) -> Self {
        let file = SourceFile::new(name, text).map(Arc::new);
        if let Ok(sources) = self.sources.get_mut() {
            sources.insert(name.to_owned(), file);
        }
        self
    }

    /// PTX that was made from a file.
    fn made(given: &str, text: String) -> Result<Self, InputError> {
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

    /// Returns a note about how it came about.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Says which instance a name without template arguments stands for, where the program chooses others at run time.
    pub(crate) fn dispatch_note(&self, mangled: &str, name: Option<&str>) -> Option<String> {
        let is_dispatched = self.cuda.as_deref()?.contains("AT_DISPATCH_");
        let instance = demangle(mangled).filter(|one| one.contains("float"))?;
        let is_named = name.is_some_and(|name| name.contains('<') || name == mangled);
        let is_instance = instance.split('(').next()?.contains('<');
        (is_dispatched && is_instance && !is_named).then(|| {
            format!(
                "the kernel is `{instance}`; other types that AT_DISPATCH chooses are not looked at"
            )
        })
    }

    /// Returns the kernel that a name stands for, as [`select_kernel`] does; of CUDA C++ also one that was compiled for its name.
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
            Some(base) => templates.find(|one| one.name == base),
            None => templates.next().filter(|_| error == SelectError::NoKernel),
        };
        Err(template.map_or(error, |one| SelectError::Template {
            name: one.name,
            file: self.name().to_owned(),
            example: one.example,
        }))
    }

    /// The CUDA C++ that it was compiled from, if we had it compiled.
    pub(crate) fn cuda(&self) -> Option<&str> {
        self.cuda.as_deref()
    }

    /// What files beside it tell about the launch.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The source file that `.file` names so, if it is at hand: where it says, from the working
    /// folder or from that of the PTX, or beside the PTX. Whether it is still what was compiled
    /// nobody knows. PTX may name any file, so only sources below the folders that may be shown are read.
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

    /// Reads CUDA C++ as it is written, or standard input if the path is `-`.
    ///
    /// # Errors
    /// If there is nothing to read or what there is cannot be CUDA C++.
    pub fn read_cuda(path: &Path) -> Result<Self, InputError> {
        Self::read_cuda_of(path, None)
    }

    /// The same of a project, which may name files that lie elsewhere.
    pub(crate) fn read_cuda_of(path: &Path, project: Option<&Path>) -> Result<Self, InputError> {
        let name = on_one_line(&path.display().to_string()).into_owned();
        let fail = |reason: InputReason| InputError { name: name.clone(), reason };
        if path.is_dir() {
            return Err(fail(InputReason::Folder));
        }
        let mut bytes = Vec::new();
        let read = if path == Path::new("-") {
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
        } else {
            std::fs::read(path).map(|read| bytes = read)
        };
        read.map_err(|error| fail(InputReason::Read { error, similar: None }))?;
        let input = Self::cuda_of_memory(&name, bytes)?;
        let is_read = |text: &str| {
            param::kernels(text).is_ok_and(|all| all.iter().all(|(_, kernel)| kernel.is_ok()))
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
        "`{name}` does not compile with calls in the place of math functions ({why}); their code is inlined and may not be \
         recognised; a kernel in a file of its own may do better"
    )
}

fn is_cuda(path: &Path, bytes: &[u8]) -> bool {
    let named = path.extension().is_some_and(|extension| extension == "cu");
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    named && !bytes.iter().all(u8::is_ascii_whitespace) || !has(b".version") && has(b"__global__")
}

/// The module of a container that is meant: that with the kernel, for the architecture asked for, or
/// the nearest older one.
fn module(bytes: &[u8], kernel: Option<&str>, architecture: &str) -> Result<String, InputReason> {
    let Contents { mut modules, binaries, damaged } = container::contents(bytes);
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

/// A file of the same folder whose name is nearly that of a file that is not there.
pub(super) fn similar(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let wanted = path.file_name()?.to_str()?;
    let name = closest(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(name).display().to_string())
}

/// Whether a file is outside of the project that names it, or a link that leads out of its folder: it may be
/// anybody's, and an error in it would quote it.
fn is_elsewhere(path: &Path, project: Option<&Path>) -> bool {
    let folder = project.or(path.parent()).unwrap_or(Path::new(""));
    !is_below(path, folder)
}

/// See [`Input::shown`]. The working folder counts if it is neither the root nor the user's home: those hold more than
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
        // PTX that a project only names was not written by whoever wrote the project: it shows its own sources.
        Some(_) if is_elsewhere(path, project) => own.into_iter().collect(),
        Some(project) if project.as_os_str().is_empty() => vec![PathBuf::from(".")],
        Some(project) => vec![project.to_path_buf()],
        None => own.into_iter().chain(includes.iter().cloned()).chain(working).collect(),
    };
    all.iter().filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Names of files with sources end so.
const SOURCES: [&str; 20] = [
    "cu", "cuh", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inc", "inl", "py", "ptx", "rs",
    "jl", "mojo", "cl", "hip", "mlir",
];

/// Whether a path leads to a source below one of these folders, and not through a hidden one.
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
    let text = std::fs::read_to_string(path).ok()?;
    SourceFile::new(visible(&on_one_line(&name)), visible(&text))
}

/// Recognises what users give us by mistake.
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
