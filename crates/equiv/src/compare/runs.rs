//! Symbolic runs of both sides.

use crate::marks::Marks;
use crate::options::Options;
use crate::sequence::Launches;
use crate::settle;
use crate::side_run::SideRun;
use crate::symbolic::Symbolic;
use exec::Place;

/// Runs both sides, in parallel if allowed.
pub(super) fn run_both(
    launches: &[Launches<'_, '_>; 2],
    domains: [Symbolic; 2],
    jobs: usize,
) -> [SideRun; 2] {
    let [reference, optimised] = domains;
    if jobs < 2 {
        return [launches[0].run(reference, None), launches[1].run(optimised, None)];
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(|| launches[0].run(reference, None));
        let optimised = launches[1].run(optimised, None);
        match other.join() {
            Ok(reference) => [reference, optimised],
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Repeats the run of a side if it left open whether threads store equal values.
pub(super) fn rerun_for_equal_writes(
    launches: &Launches<'_, '_>,
    ran: &mut SideRun,
    options: &Options<'_>,
) {
    let places: Vec<Vec<Place>> = ran.outcomes.iter().map(settle::open_stores).collect();
    if places.iter().all(Vec::is_empty) {
        return;
    }
    let domain = launches.table.domain(launches.side, launches.number, options.snap);
    let Ok(mut domain) = domain else { return };
    if !ran.domain.has_ranges {
        *ran = launches.run(domain, Some(&places));
        return;
    }
    // Functions known only in a range are marked here: their values inside the range must not decide.
    domain.marks = Some(Marks::default());
    let marked = launches.run(domain, Some(&places));
    if marked.ended() {
        ran.outcomes = marked.outcomes;
    }
}
