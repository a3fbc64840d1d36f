//! Data files: a short header, then a deflated list of outcomes.
//!
//! A file consists of `WPRECORD`, the version, the device as text, the number of outcomes, and the compressed
//! outcomes. Numbers are 32-bit and little-endian; texts and byte strings follow their length. An outcome is
//! the fingerprint of a case (64 bits), one byte for its encoding, and either the reason for a missing
//! recording or the outputs. Neighbouring cases have the same inputs and differ in a modifier, so outputs are
//! stored as differences (exclusive or) to the previous ones if that leaves more zeros.

use std::fmt;

const MAGIC: &[u8] = b"WPRECORD";
const VERSION: u32 = 1;
/// Largest inflated size of a data file.
const MAX_INFLATED_BYTES: usize = 64 << 20;

/// The outcome of a case on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The output bytes.
    Recorded(Vec<u8>),
    /// The reason why there are none.
    NotRecorded(String),
}

/// A data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The device and its driver.
    pub device: String,
    /// Outcomes by the fingerprints of their cases.
    pub outcomes: Vec<(u64, Outcome)>,
}

/// The reason why a data file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged(pub String);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged recording: {}", self.0)
    }
}

impl std::error::Error for Damaged {}

const PLAIN: u8 = 0;
const REASON: u8 = 1;
const DIFFERENCE: u8 = 2;

impl File {
    /// Encodes the file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut before: &[u8] = &[];
        for (fingerprint, outcome) in &self.outcomes {
            body.extend_from_slice(&fingerprint.to_le_bytes());
            match outcome {
                Outcome::NotRecorded(reason) => {
                    body.push(REASON);
                    write_bytes(&mut body, reason.as_bytes());
                }
                Outcome::Recorded(bytes) => {
                    let difference = difference(bytes, before);
                    match difference.filter(|difference| zeros(difference) > zeros(bytes)) {
                        Some(difference) => {
                            body.push(DIFFERENCE);
                            write_bytes(&mut body, &difference);
                        }
                        None => {
                            body.push(PLAIN);
                            write_bytes(&mut body, bytes);
                        }
                    }
                    before = bytes;
                }
            }
        }
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&VERSION.to_le_bytes());
        write_bytes(&mut file, self.device.as_bytes());
        file.extend_from_slice(&length(self.outcomes.len()));
        file.extend(miniz_oxide::deflate::compress_to_vec(&body, 10));
        file
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If the bytes are not a data file of this version.
    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut header = Reader(bytes);
        if header.take(MAGIC.len())? != MAGIC {
            return Err(Damaged("not a recording".to_owned()));
        }
        let version = header.number()?;
        if version != VERSION {
            return Err(Damaged(format!("version {version}, not {VERSION}")));
        }
        let device = header.text()?;
        let count = header.number()?;
        let body = miniz_oxide::inflate::decompress_to_vec_with_limit(header.0, MAX_INFLATED_BYTES)
            .map_err(|error| Damaged(error.to_string()))?;
        let mut body = Reader(&body);
        let mut before: Vec<u8> = Vec::new();
        let mut outcomes = Vec::new();
        for _ in 0..count {
            let fingerprint = body.fingerprint()?;
            let outcome = match body.take(1)? {
                [REASON] => Outcome::NotRecorded(body.text()?),
                [kind @ (PLAIN | DIFFERENCE)] => {
                    let stored = body.bytes()?;
                    let bytes = match *kind {
                        PLAIN => stored.to_vec(),
                        _ => difference(stored, &before)
                            .ok_or_else(|| Damaged("a difference to nothing".to_owned()))?,
                    };
                    before.clone_from(&bytes);
                    Outcome::Recorded(bytes)
                }
                _ => return Err(Damaged("an unknown kind of outcome".to_owned())),
            };
            outcomes.push((fingerprint, outcome));
        }
        Ok(Self { device, outcomes })
    }
}

/// Exclusive or, if the lengths agree.
fn difference(bytes: &[u8], before: &[u8]) -> Option<Vec<u8>> {
    let same = bytes.len() == before.len();
    same.then(|| bytes.iter().zip(before).map(|(a, b)| a ^ b).collect())
}

fn zeros(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == 0).count()
}

/// Encodes a length; recordings are far below the limit.
fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

fn write_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(&length(bytes.len()));
    to.extend_from_slice(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let short = || Damaged("it ends too early".to_owned());
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, Damaged> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte)))
    }

    fn fingerprint(&mut self) -> Result<u64, Damaged> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let count = self.number()? as usize;
        self.take(count)
    }

    fn text(&mut self) -> Result<String, Damaged> {
        let bytes = self.bytes()?.to_vec();
        String::from_utf8(bytes).map_err(|_| Damaged("a text is not UTF-8".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> File {
        let outcomes = vec![
            (1, Outcome::Recorded(vec![1, 2, 3, 4])),
            (2, Outcome::NotRecorded("the driver refused it".to_owned())),
            (3, Outcome::Recorded(vec![1, 2, 3, 5])),
            (4, Outcome::Recorded(vec![9; 8])),
        ];
        File { device: "some GPU".to_owned(), outcomes }
    }

    #[test]
    fn a_file_survives_a_round_trip() {
        assert_eq!(File::read(&sample().write()), Ok(sample()));
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = sample().write();
        for length in 0..bytes.len() - 1 {
            assert!(File::read(&bytes[..length]).is_err(), "{length}");
        }
        let mut other = bytes;
        other[8] += 1;
        assert_eq!(File::read(&other), Err(Damaged("version 2, not 1".to_owned())));
    }
}
