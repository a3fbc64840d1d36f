//! Fingerprints that identify a finding in later runs, although lines have moved. A fingerprint consists of the code,
//! the kernel, the array, and the text of the lines, without numbers of lines, threads or elements.

use crate::demangle::demangle;
use crate::report::{Finding, Location, Report, Witness};

/// A fingerprint for each finding; findings with the same features are numbered.
pub(super) fn fingerprints<'f>(
    report: &Report,
    findings: impl Iterator<Item = &'f Finding>,
) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    let mut fingerprints = Vec::new();
    for finding in findings {
        let features = features(report, finding);
        let before = seen.iter().filter(|known| **known == features).count();
        fingerprints.push(format!("{:016x}:{}", hash(&features), before + 1));
        seen.push(features);
    }
    fingerprints
}

fn features(report: &Report, finding: &Finding) -> String {
    let kernel = report.kernel.as_deref().unwrap_or_default();
    let kernel = demangle(kernel).unwrap_or_else(|| kernel.to_owned());
    let array = match &finding.witness {
        Some(Witness::Thread(witness)) => witness.array.as_ref().map(|array| array.name.as_str()),
        Some(Witness::Difference(witness)) => Some(witness.output.as_str()),
        Some(Witness::Overflow(witness)) => Some(witness.output.as_str()),
        None => None,
    };
    let line = |location: &Location| {
        let name = location.shown.path.rsplit('/').next().unwrap_or_default();
        format!("{name}\n{}", location.shown.text)
    };
    let mut parts = vec![finding.code.clone(), finding.kind.to_string(), kernel];
    parts.push(array.unwrap_or_default().to_owned());
    parts.extend(finding.locations.iter().map(line));
    parts.join("\0")
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
