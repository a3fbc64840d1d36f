//! Recordings of a GPU's results: writes the plan for a device, and packs its outputs.
//!
//! A plan is three files, so that a machine with a GPU needs nothing but `tools/record.py`: `plan.json` lists the
//! cases, `kernels.ptx` has their kernels in sequence, `inputs.bin` their inputs. The device adds `outputs.json` and
//! `outputs.bin`.

use recordings::{Case, File, Outcome, kernel};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The number of kernels in a module.
const CHUNK: usize = 400;

/// Errors are for a person at a terminal.
type Outcomes<T> = Result<T, Box<dyn std::error::Error>>;

/// A command of this file, for some families or, if none is named, for all.
type Chore = fn(&Path, &[&str]) -> Outcomes<()>;

/// Returns `true` if a case is in one of the families. An empty list means all.
fn is_wanted(case: &Case, families: &[&str]) -> bool {
    families.is_empty() || families.contains(&case.family)
}

fn wanted(families: &[&str]) -> Vec<Case> {
    let mut cases = recordings::cases();
    cases.retain(|case| is_wanted(case, families));
    cases
}

/// Runs a command of this file.
pub(crate) fn run(what: Chore, path: &str, families: &[&str]) -> ExitCode {
    match what(Path::new(path), families) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the plan to a folder.
pub(crate) fn plan(folder: &Path, families: &[&str]) -> Outcomes<()> {
    std::fs::create_dir_all(folder)?;
    let cases = wanted(families);
    let (mut kernels, mut inputs, mut entries) = (String::new(), Vec::new(), Vec::new());
    // Cases of one stream have the same inputs.
    let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        let name = format!("case_{index}");
        let text = kernel::kernel(case, &name);
        let bytes = case.input_bytes();
        let length = bytes.len();
        let at = *known.entry(bytes).or_insert_with_key(|bytes| {
            inputs.extend_from_slice(bytes);
            inputs.len() - length
        });
        entries.push(json!({
            "case": case.to_string(),
            "kernel": name,
            "text": [kernels.len(), text.len()],
            "inputs": [at, length],
            "outputs": case.output_length(),
            "scratch": if case.cell.is_some() { kernel::CELL_BYTES * case.vectors } else { 0 },
            "threads": case.vectors,
        }));
        kernels += &text;
    }
    let plan = json!({ "version": 1, "header": kernel::header(), "cases": entries });
    std::fs::write(folder.join("plan.json"), serde_json::to_vec(&plan)?)?;
    std::fs::write(folder.join("kernels.ptx"), &kernels)?;
    std::fs::write(folder.join("inputs.bin"), &inputs)?;
    let outputs: usize = cases.iter().map(Case::output_length).sum();
    println!(
        "{} cases, {} bytes of kernels, {} of inputs, {outputs} of outputs to come",
        cases.len(),
        kernels.len(),
        inputs.len()
    );
    count(&cases);
    Ok(())
}

fn count(cases: &[Case]) {
    let mut families: BTreeMap<&str, usize> = BTreeMap::new();
    cases.iter().for_each(|case| *families.entry(case.family).or_default() += 1);
    families.iter().for_each(|(family, count)| println!("{count:6} {family}"));
}

/// Packs the outputs in a folder into the data files. Without outputs, every case is listed as not recorded.
pub(crate) fn pack(folder: &Path, families: &[&str]) -> Outcomes<()> {
    let report = folder.join("outputs.json");
    let (report, bytes): (Value, Vec<u8>) = match report.exists() {
        true => (
            serde_json::from_slice(&std::fs::read(report)?)?,
            std::fs::read(folder.join("outputs.bin"))?,
        ),
        false => (json!({ "device": "none", "cases": {} }), Vec::new()),
    };
    let device = report["device"].as_str().ok_or("outputs.json names no device")?;
    let mut files: BTreeMap<&str, File> = BTreeMap::new();
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    for case in wanted(families) {
        let outcome = outcome(&case, &report["cases"][case.to_string()], &bytes)?;
        if let Outcome::NotRecorded(reason) = &outcome {
            *missing.entry(format!("{}: {reason}", case.family)).or_default() += 1;
        }
        let file = files
            .entry(case.family)
            .or_insert_with(|| File { device: device.to_owned(), outcomes: Vec::new() });
        file.outcomes.push((case.fingerprint(), outcome));
    }
    let mut total = 0;
    for (family, file) in &files {
        let bytes = file.write();
        total += bytes.len();
        println!("{:8} bytes, {:5} cases: {family}", bytes.len(), file.outcomes.len());
        std::fs::write(recordings::data_folder().join(format!("{family}.bin")), bytes)?;
    }
    println!("{total:8} bytes in all, from {device}");
    missing.iter().for_each(|(reason, count)| println!("{count} not recorded, {reason}"));
    Ok(())
}

/// Converts the device's report on a case: the start of its outputs, or an error.
fn outcome(case: &Case, entry: &Value, outputs: &[u8]) -> Outcomes<Outcome> {
    if let Some(error) = entry.as_str() {
        return Ok(Outcome::NotRecorded(error.to_owned()));
    }
    let Some(start) = entry.as_u64() else {
        return Ok(Outcome::NotRecorded("not run yet".to_owned()));
    };
    let start = usize::try_from(start)?;
    let bytes = outputs.get(start..start + case.output_length());
    let bytes = bytes.ok_or_else(|| format!("outputs.bin is too short for {case}"))?;
    Ok(Outcome::Recorded(bytes.to_vec()))
}

/// Asks an assembler for the candidates it refuses, and rewrites the list of those.
pub(crate) fn refused(ptxas: &Path, families: &[&str]) -> Outcomes<()> {
    let scratch = std::env::temp_dir().join(format!("warpproof-record-{}.ptx", std::process::id()));
    let mut candidates = recordings::candidates();
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/recordings/refused.txt"));
    // Entries of other families stay, in the order of the cases.
    let before = std::fs::read_to_string(path)?;
    let known: BTreeMap<&str, &str> =
        before.lines().filter_map(|line| Some((line.split_once('\t')?.0, line))).collect();
    let mut list = String::new();
    for case in candidates.iter().filter(|case| !is_wanted(case, families)) {
        if let Some(line) = known.get(case.to_string().as_str()) {
            list += &format!("{line}\n");
        }
    }
    candidates.retain(|case| is_wanted(case, families));
    for chunk in candidates.chunks(CHUNK) {
        let mut reasons = BTreeMap::new();
        // The assembler stops at some errors: ask again without the cases it complained about.
        loop {
            let found = complaints(ptxas, &scratch, chunk, &reasons)?;
            if found.is_empty() {
                break;
            }
            reasons.extend(found);
        }
        for (index, reason) in reasons {
            list += &format!("{}\t{reason}\n", chunk[index]);
        }
    }
    std::fs::remove_file(&scratch)?;
    std::fs::write(path, &list)?;
    println!("{} candidates, {} refused", candidates.len(), list.lines().count());
    Ok(())
}

/// Assembles a module of these cases, leaving out those in `known`; returns a message for each case that the
/// assembler refused, by its position in `cases`.
fn complaints(
    ptxas: &Path,
    scratch: &Path,
    cases: &[Case],
    known: &BTreeMap<usize, String>,
) -> Outcomes<BTreeMap<usize, String>> {
    let mut text = kernel::header();
    let mut owners = vec![None; text.lines().count()];
    for (index, case) in cases.iter().enumerate().filter(|(index, _)| !known.contains_key(index)) {
        let kernel = kernel::kernel(case, &format!("case_{index}"));
        owners.extend(kernel.lines().map(|_| Some(index)));
        text += &kernel;
    }
    std::fs::write(scratch, text)?;
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={}", kernel::TARGET)).arg(scratch).args(["-o", "/dev/null"]);
    let output = command.output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    let mut found = BTreeMap::new();
    for message in messages.lines() {
        let Some((_, after)) = message.split_once(", line ") else { continue };
        let Some((number, reason)) = after.split_once("; error   : ") else { continue };
        let number: usize = number.parse()?;
        if let Some(&Some(index)) = owners.get(number - 1) {
            // Of several messages the first is kept, unless it only asks for a newer version of PTX: the next one may
            // name the missing target.
            let known: &mut String = found.entry(index).or_default();
            if known.is_empty() || known.contains("PTX ISA .version") {
                reason.clone_into(known);
            }
        }
    }
    if found.is_empty() && !output.status.success() {
        return Err(format!("the assembler failed: {messages}").into());
    }
    Ok(found)
}
