//! The flags of `batch`, and of the process that works for it.

use crate::limit_args::parsed_jobs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `batch`.
#[derive(Debug, clap::Args)]
pub(crate) struct BatchArgs {
    /// The jobs, one JSON object a line; - for standard input.
    #[arg(value_name = "JOBS.jsonl")]
    pub(crate) jobs: PathBuf,

    /// Where to write the results, one line per job in the order of the jobs; - for standard output.
    #[arg(short, long, value_name = "RESULTS.jsonl")]
    pub(crate) output: PathBuf,

    /// Run this many jobs at once; the results do not depend on it. [default: the number of processors]
    #[arg(short = 'j', long = "workers", value_name = "N", help_heading = "Limits", value_parser = parsed_jobs)]
    pub(crate) workers: Option<NonZeroUsize>,

    /// Stop a job after this many instructions, counted per thread, unless the job has a limit of its own.
    #[arg(long, help_heading = "Limits", value_name = "N", value_parser = driver::duration::count)]
    pub(crate) max_instructions: Option<u64>,

    /// Stop a job after this many seconds; if it does not stop, its process is killed.
    #[arg(long, help_heading = "Limits", value_name = "SECONDS", value_parser = driver::duration::seconds, default_value = "300")]
    pub(crate) timeout: Duration,

    /// The memory that a job may use: 512M, 4G.
    #[arg(long, help_heading = "Limits", value_name = "SIZE", value_parser = bytes, default_value = "4G")]
    pub(crate) max_memory: u64,

    /// Continue an earlier run with the same jobs and limits.
    #[arg(long)]
    pub(crate) resume: bool,

    /// Add to each result its time, its worker, and whether it was copied from an equal job.
    #[arg(long)]
    pub(crate) timings: bool,

    /// Run the jobs on a Ray cluster; only the Python package can: python -m warpproof batch --ray.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) ray: Option<String>,
}

/// Arguments of a worker.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    /// Bytes that the process may map in addition to those mapped at its start.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) max_memory: u64,

    /// The folder that paths of jobs are relative to.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// `1073741824`, `512M`, `4G`, `4GiB`: powers of 1024.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "k" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return Err("expected a size such as 512M or 4G".to_owned()),
    };
    let number: u64 =
        digits.parse().map_err(|_| "expected a size such as 512M or 4G".to_owned())?;
    number.checked_mul(1 << shift).filter(|&size| size > 0).ok_or("is out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("4G"), Ok(4 << 30));
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("77"), Ok(77));
        for wrong in ["", "G", "0", "4X", "-1", "99999999999T"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
