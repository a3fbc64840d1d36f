//! Writes the files that a command outputs.
//!
//! A regular file, or an unused name, gets all of the new contents or nothing: they go to a temporary file beside it,
//! which then takes its name and the old file's mode. Anything else with the name (a link, a device, a FIFO) stays as
//! it is: it is opened and written to. A FIFO without a reader times out (on Unix; elsewhere there are none in the
//! file system).
//!
//! Names chosen by a command itself (`warpproof.toml`, `NAME.npy`) are written only below its folder: a link out of
//! it is refused.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time limit for a FIFO that is not read.
const FIFO_LIMIT: Duration = Duration::from_secs(10);

/// The permissions of a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// As the user's umask says.
    ByUmask,
    /// The user alone.
    OwnerOnly,
}

/// Returns `true` for an existing file with an extension of input files: writing a report over it would be a mistake.
fn is_input(path: &Path) -> bool {
    const ENDINGS: [&str; 7] = ["ptx", "cu", "cuh", "h", "npy", "cubin", "toml"];
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending)) && path.is_file()
}

/// The reason why a text is not written; displays as a sentence.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The existing file looks like an input of a command.
    #[error("{} exists and looks like an input; give the report another name", .path.display())]
    Input {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses it.
    #[error("cannot write {}: {error}", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: Error,
    },
}

/// Writes a text to the user's path.
///
/// # Errors
/// If it cannot be written; an existing file is then unchanged.
pub(crate) fn write(path: &Path, text: &str) -> std::result::Result<(), WriteError> {
    if is_input(path) {
        return Err(WriteError::Input { path: path.to_owned() });
    }
    write_with(path, FileAccess::ByUmask, &mut |out| out.write_all(text.as_bytes()))
        .map_err(|error| WriteError::Failed { path: path.to_owned(), error })
}

/// Writes the output of `contents` to the user's path.
///
/// # Errors
/// If it cannot be written; an existing file is then unchanged.
pub(crate) fn write_with(
    path: &Path,
    access: FileAccess,
    contents: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => replace(path, None, access, contents),
        Err(error) => Err(error),
        Ok(known) if known.is_dir() => Err(Error::new(ErrorKind::IsADirectory, "it is a folder")),
        Ok(known) if known.is_file() => {
            // Replacing a file must need the same permission as writing to it.
            drop(OpenOptions::new().write(true).open(path)?);
            replace(path, Some(&known), access, contents)
        }
        Ok(_) => in_place(path, contents),
    }
}

/// Writes a file with a name chosen by the command, below a folder.
///
/// # Errors
/// As [`write_with`], and if the name is a link that leads out of the folder.
pub(crate) fn write_below(
    folder: &Path,
    name: &str,
    contents: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<PathBuf> {
    let mut parts = Path::new(name).components();
    let (Some(std::path::Component::Normal(_)), None) = (parts.next(), parts.next()) else {
        return Err(Error::other(format!("`{name}` is not the name of a file")));
    };
    let path = folder.join(name);
    if path.symlink_metadata().is_ok_and(|known| known.is_symlink()) && !is_below(&path, folder) {
        return Err(Error::other("it is a link to a place outside the folder"));
    }
    write_with(&path, FileAccess::ByUmask, contents)?;
    Ok(path)
}

/// Returns `true` if a path is in a folder, once all links are followed; `false` if it does not exist.
pub(crate) fn is_below(path: &Path, folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Writes a temporary file and renames it.
fn replace(
    path: &Path,
    known: Option<&Metadata>,
    access: FileAccess,
    contents: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let temporary = temporary_name(path)?;
    let mut options = OpenOptions::new();
    // `create_new` takes no other process's file for ours, and follows no link.
    options.write(true).create_new(true);
    if access == FileAccess::OwnerOnly {
        for_owner(&mut options);
    }
    let written = options.open(&temporary).and_then(|mut file| {
        if let Some(known) = known {
            file.set_permissions(known.permissions())?;
        }
        contents(&mut file)?;
        file.flush()?;
        std::fs::rename(&temporary, path)
    });
    written.inspect_err(|_| {
        // Without a temporary file there is nothing to remove. The first error is the one to report.
        let _ = std::fs::remove_file(&temporary);
    })
}

/// An unused name in the folder of the file: renaming works only within one file system.
fn temporary_name(path: &Path) -> Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(Error::other("it is not the name of a file"));
    };
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{count}.tmp", std::process::id()));
    Ok(path.with_file_name(temporary))
}

/// Writes to the existing target.
fn in_place(path: &Path, contents: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
    let target = path.metadata();
    let exists = target.is_ok();
    let is_file = target.as_ref().is_ok_and(Metadata::is_file);
    if target.as_ref().is_ok_and(Metadata::is_dir) {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if target.is_ok_and(|target| is_fifo(&target)) {
        return contents(&mut Fifo { file: open_fifo(path)? });
    }
    // Writing to a dangling link makes the file it names.
    let mut file = OpenOptions::new().write(true).truncate(is_file).create(!exists).open(path)?;
    contents(&mut file)?;
    file.flush()
}

/// A FIFO; writing waits for its reader up to a time limit.
struct Fifo {
    file: File,
}

impl Write for Fifo {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        retry_until_timeout(ErrorKind::WouldBlock, || self.file.write(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// Retries until the action succeeds, the time limit is reached, or it fails for a reason other than a missing
/// reader.
fn retry_until_timeout<T>(waits: ErrorKind, mut action: impl FnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        match action() {
            Err(error) if error.kind() == waits || is_unread(&error) => {
                if start.elapsed() > FIFO_LIMIT {
                    return Err(Error::new(ErrorKind::TimedOut, "the FIFO has no reader"));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            result => return result,
        }
    }
}

#[cfg(unix)]
fn is_fifo(target: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&target.file_type())
}

#[cfg(unix)]
fn open_fifo(path: &Path) -> Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flag = rustix::fs::OFlags::NONBLOCK.bits();
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(flag.try_into().unwrap_or_default());
    retry_until_timeout(ErrorKind::WouldBlock, || options.open(path))
}

/// Returns `true` for the error of opening a FIFO without a reader.
#[cfg(unix)]
fn is_unread(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

#[cfg(unix)]
fn for_owner(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn is_fifo(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn open_fifo(path: &Path) -> Result<File> {
    OpenOptions::new().write(true).open(path)
}

#[cfg(not(unix))]
fn is_unread(_: &Error) -> bool {
    false
}

#[cfg(not(unix))]
fn for_owner(_: &mut OpenOptions) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("warpproof-output-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        /// The files of the folder, to show that no temporary one is left.
        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).unwrap().flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_keeps_its_mode_and_is_replaced_whole() {
        let folder = Folder::new("file");
        let path = folder.path("a.html");
        write(&path, "one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        let failed = write_with(&path, FileAccess::ByUmask, &mut |_| Err(Error::other("no")));
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(folder.names(), ["a.html"]);
        assert!(write(&folder.0, "x").is_err());
    }

    #[test]
    fn links_stay_links() {
        let folder = Folder::new("links");
        std::fs::write(folder.path("target"), "a longer text").unwrap();
        symlink("target", folder.path("link")).unwrap();
        symlink("nothing", folder.path("dangling")).unwrap();
        write(&folder.path("link"), "new").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path("target")).unwrap(), "new");
        write(&folder.path("dangling"), "made").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path("nothing")).unwrap(), "made");
        for name in ["link", "dangling"] {
            assert!(folder.path(name).symlink_metadata().unwrap().is_symlink(), "{name}");
        }
        assert_eq!(folder.names(), ["dangling", "link", "nothing", "target"]);
    }

    #[test]
    fn devices_and_fifos_stay_what_they_are() {
        write(Path::new("/dev/null"), "x").unwrap();
        let device = Path::new("/dev/null").symlink_metadata().unwrap();
        assert!(device.file_type().is_char_device());
        let folder = Folder::new("fifo");
        let path = folder.path("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || std::fs::read_to_string(path).unwrap())
        };
        let long = "x".repeat(300_000);
        write(&path, &long).unwrap();
        assert_eq!(reader.join().unwrap(), long);
        assert!(path.symlink_metadata().unwrap().file_type().is_fifo());
        assert_eq!(folder.names(), ["fifo"]);
    }

    #[test]
    fn named_outputs_stay_below_their_folder() {
        let folder = Folder::new("below");
        let inside = folder.path("inside");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(folder.path("victim"), "keep").unwrap();
        symlink("../victim", inside.join("y.npy")).unwrap();
        symlink("../missing", inside.join("z.npy")).unwrap();
        let mut contents = |out: &mut dyn Write| out.write_all(b"new");
        for name in ["y.npy", "z.npy", "../victim", "/etc/x", "a/b", "..", ""] {
            assert!(write_below(&inside, name, &mut contents).is_err(), "{name}");
        }
        assert_eq!(std::fs::read_to_string(folder.path("victim")).unwrap(), "keep");
        assert!(!folder.path("missing").exists());
        assert!(write_below(&inside, "x.npy", &mut contents).is_ok());
    }
}
