//! Reads files up to a limit that is known before memory is taken for them. Devices, sockets and pipes are refused:
//! they may have no end, and a pipe may never get a writer.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Programs, libraries and PTX.
pub(crate) const MAX_INPUT: u64 = 4 << 30;
/// Texts written by people: CUDA C++, projects, formulas, JSON.
pub(crate) const MAX_TEXT: u64 = 256 << 20;

/// Open files of this process, such as a shell's `<(command)`: the user named them knowingly.
const OPEN_FILES: [&str; 3] = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"];

/// Reads a file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    read_from(&mut file, length, most)
}

/// Opens a regular file, or one that this process has open.
///
/// # Errors
/// If there is no such file, it cannot be opened, or it is something else.
pub fn open(path: &Path) -> io::Result<File> {
    let is_open = OPEN_FILES.iter().any(|folder| path.to_string_lossy().starts_with(folder));
    // Checked before opening, because opening a pipe waits for its writer.
    let facts = std::fs::metadata(path)?;
    if facts.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !facts.is_file() && !is_open {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Reads a text written by people, of at most 256 MiB.
///
/// # Errors
/// If there is no such file, it is larger, or it is not text.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_within(path, MAX_TEXT)
}

/// Reads a text of at most `most` bytes.
pub(crate) fn read_text_within(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read(path, most)?;
    String::from_utf8(bytes).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}

/// Reads standard input.
pub(crate) fn read_input() -> io::Result<Vec<u8>> {
    read_from(&mut io::stdin().lock(), 0, MAX_INPUT)
}

/// Most output kept of a program.
const MAX_OUTPUT: u64 = 16 << 20;

/// Runs a program that must end in time, and keeps the beginning of its output.
pub(crate) fn output(command: &mut Command, limit: Duration) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().map(gather);
    let stderr = child.stderr.take().map(gather);
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= end => {
                child.kill()?;
                child.wait()?;
                let message = format!("it did not end within {} s", limit.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            None => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    // Processes started by the program may still hold its output open.
    let gathered = |from: Option<Receiver<Vec<u8>>>| {
        from.and_then(|from| from.recv_timeout(Duration::from_secs(5)).ok()).unwrap_or_default()
    };
    Ok(Output { status, stdout: gathered(stdout), stderr: gathered(stderr) })
}

/// Keeps the beginning of the output, and reads the rest so that no writer blocks.
fn gather(mut source: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = source.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = io::copy(&mut source, &mut io::sink());
        let _ = sender.send(bytes);
    });
    receiver
}

/// Reads to the end. `expected` is the size, as far as it is known: only for reserving memory.
fn read_from(source: &mut impl Read, expected: u64, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let message = format!("it is larger than the limit of {most} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if expected > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let wanted = usize::try_from(expected).map_err(|_| too_large())?;
    bytes.try_reserve_exact(wanted).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    source.by_ref().take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn programs_end_in_time() {
        let run = |text: &str, limit: u64| {
            let mut command = Command::new("sh");
            output(command.args(["-c", text]), Duration::from_millis(limit))
        };
        assert_eq!(run("echo a; echo b >&2; exit 3", 20_000).unwrap().stdout, b"a\n");
        assert_eq!(run("exec sleep 100", 100).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(run("exec yes", 300).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn large_files_and_other_objects_are_refused() {
        let this = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let length = this.metadata().unwrap().len();
        assert_eq!(read(&this, length).unwrap().len() as u64, length);
        assert_eq!(read(&this, length - 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let endless = read_from(&mut io::repeat(b'x'), 0, 1000).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(Path::new("."), 1000).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        #[cfg(unix)]
        {
            let error = read(Path::new("/dev/zero"), 1000).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file");
            let folder =
                std::env::temp_dir().join(format!("warpproof-sparse-{}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let sparse = folder.join("sparse");
            File::create(&sparse).unwrap().set_len(10 << 30).unwrap();
            let error = read(&sparse, MAX_INPUT).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
}
