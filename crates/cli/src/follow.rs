//! `watch`: runs a command, and runs it again whenever a file that it reads changes.
//!
//! The command is this program in a separate process. If a file changes while it runs, it is killed, because its
//! answer would be out of date. Files are polled four times a second: that works on every file system, and is cheap for
//! the few files of a command.

use crate::args::WatchArgs;
use crate::console::Console;
use driver::project::{self, FILE_NAME};
use driver::{Colour, Exit};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// The interval at which files are polled.
const PERIOD: Duration = Duration::from_millis(250);
/// The most files of a folder that are polled.
const MAX_FILES: usize = 10_000;
/// Commands that can be watched: they read files and end.
const COMMANDS: [&str; 6] = ["check", "equiv", "prove", "simulate", "inspect", "run"];
/// Extensions of files that a kernel may include or be compared with: such files in its folder are polled, too.
const SOURCES: [&str; 10] = ["cu", "cuh", "h", "hpp", "inc", "inl", "ptx", "toml", "npy", "txt"];

/// Runs the command until this process is ended.
pub(crate) fn run(args: &WatchArgs, console: &Console) -> Exit {
    let mut words = args.words.clone();
    if words.is_empty() {
        words.push("run".into());
    }
    let first = words[0].to_string_lossy().into_owned();
    if !COMMANDS.contains(&first.as_str()) {
        return console.fail(&format!("cannot watch `{first}`; it can be {}", COMMANDS.join(", ")));
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return console.fail(&format!("this program is not found: {error}")),
    };
    loop {
        let before = stamps(&words);
        let mut child = match Command::new(&program).args(&words).spawn() {
            Ok(child) => child,
            Err(error) => return console.fail(&format!("the command does not start: {error}")),
        };
        let mut is_announced = false;
        while stamps(&words) == before {
            if !is_announced && matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                is_announced = true;
                let count = before.len();
                console.write_err(&format!("\nwatching {count} files; Ctrl-C ends\n"));
                if count == 0 {
                    return console.fail("the command names no file to watch");
                }
            }
            sleep(PERIOD);
        }
        end(&mut child);
        settle(&words);
        console.write_err("\n-- a file changed --\n\n");
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Waits until an editor or a build has written everything.
fn settle(words: &[OsString]) {
    let mut before = stamps(words);
    for _ in 0..20 {
        sleep(PERIOD / 2);
        let now = stamps(words);
        if now == before {
            return;
        }
        before = now;
    }
}

/// Size and time of a file.
type Stamp = (u64, Option<SystemTime>);

/// Returns size and time of each file that the command may read.
fn stamps(words: &[OsString]) -> BTreeMap<PathBuf, Stamp> {
    let stamp = |path: PathBuf| {
        let facts = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((path, (facts.len(), facts.modified().ok())))
    };
    files(words).into_iter().filter_map(stamp).collect()
}

/// Returns files that the words name, and sources beside them.
fn files(words: &[OsString]) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for word in words.iter().skip(1) {
        let word = word.to_string_lossy();
        // `FILE::KERNEL`, `w=f16[8]=@w.npy`, `-Ifolder`, `--include=folder`.
        let behind = |sign: &str| word.split_once(sign).map(|(_, rest)| rest);
        let candidates = [
            Some(&*word),
            word.split("::").next(),
            word.rsplit_once('@').map(|(_, rest)| rest),
            word.strip_prefix("-I"),
            behind("="),
        ];
        for path in candidates.into_iter().flatten().filter(|path| !path.is_empty()) {
            let path = Path::new(path);
            if path.is_dir() {
                folders.insert(path.to_owned());
            } else if path.is_file() {
                folders.insert(path.parent().map(Path::to_path_buf).unwrap_or_default());
                files.insert(path.to_owned());
            }
        }
    }
    if words[0] == "run" {
        let named = files.iter().find(|file| file.extension().is_some_and(|one| one == "toml"));
        let folder = folders.iter().find(|folder| folder.join(FILE_NAME).is_file());
        let in_folder = folder.map(|folder| folder.join(FILE_NAME));
        let project = named.cloned().or(in_folder).unwrap_or_else(|| FILE_NAME.into());
        of_project(&project, &mut files, &mut folders);
    }
    for folder in folders {
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let entries = std::fs::read_dir(shown).into_iter().flatten().flatten().take(MAX_FILES);
        let paths = entries.map(|entry| folder.join(entry.file_name()));
        files.extend(paths.filter(|path| is_source(path)));
    }
    files
}

/// Adds the files that a project names. A project file with mistakes is watched as well.
fn of_project(path: &Path, files: &mut BTreeSet<PathBuf>, folders: &mut BTreeSet<PathBuf>) {
    files.insert(path.to_owned());
    let Ok(project) = project::load(Some(path), Colour::Plain) else { return };
    for entry in &project.entries {
        folders.extend(entry.settings.includes.iter().cloned());
        for file in entry.files() {
            files.insert(file.into());
            folders.insert(Path::new(file).parent().map(Path::to_path_buf).unwrap_or_default());
        }
    }
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|one| one.to_str()).unwrap_or_default();
    SOURCES.contains(&extension)
}
