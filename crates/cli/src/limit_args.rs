//! The flags that say how much a run may cost.

use driver::Limits;
use std::time::Duration;

/// Limits of a run.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Give up after this many instructions, counted for each thread: a number, or 20G.
    #[arg(long, value_name = "N", value_parser = count)]
    max_instructions: Option<u64>,

    /// Give up after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl LimitArgs {
    pub(crate) fn limits(self) -> Limits {
        let usual = Limits::default();
        let lane_instructions = self.max_instructions.unwrap_or(usual.lane_instructions);
        Limits { lane_instructions, time: self.timeout.or(usual.time) }
    }
}

/// `1000`, `500K`, `20M`, `20G`
fn count(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['k', 'K', 'M', 'G']);
    let factor = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err("expected a number such as 1000000 or 20G".to_owned()),
    };
    let number: u64 = digits.replace('_', "").parse().map_err(|_| "is no number".to_owned())?;
    number.checked_mul(factor).filter(|&count| count > 0).ok_or("is out of range".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let digits = text.strip_suffix('s').unwrap_or(text);
    let number: f64 =
        digits.parse().map_err(|_| "expected seconds such as 10 or 0.5".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "is out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_units() {
        assert_eq!(count("20G"), Ok(20_000_000_000));
        assert_eq!(count("1_000"), Ok(1000));
        assert_eq!(count("3k"), Ok(3000));
        for wrong in ["", "G", "0", "-1", "1T", "1KM", "99999999999G"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("2s"), Ok(Duration::from_secs(2)));
        assert!(seconds("-1").is_err() && seconds("nan").is_err());
    }
}
