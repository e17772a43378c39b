//! Clock correction on many random runs of all kinds. The reported accuracy of the timestamps has
//! to be true.

use tumit_converter::clock::CorrectionMethod;
use tumit_test_support::clock_truth::{BurstSchedule, errors_beyond_bound, judge_clocks, random_parameters};

#[test]
fn errors_stay_within_the_reported_bounds() {
    let (mut bounded, mut clocks) = (0, 0);
    for seed in 1000..1048 {
        let parameters = random_parameters(seed);
        let graph = judge_clocks(&parameters, CorrectionMethod::Graph);
        assert_eq!(errors_beyond_bound(&graph), [], "farther off than is certain: {parameters:?}");
        let domains = &graph.report.clocks.domains[1..];
        clocks += domains.len();
        bounded += domains.iter().filter(|domain| domain.error_bound_nanos.is_some()).count();
        if parameters.bursts == BurstSchedule::Both || matches!(parameters.bursts, BurstSchedule::Many(_)) {
            // Slow messages must not make the result of samples worse.
            let bursts = judge_clocks(&parameters, CorrectionMethod::Bursts);
            // A few bursts do not show that clocks wander more than quartz.
            if parameters.wander < 1e-8 {
                assert_eq!(
                    errors_beyond_bound(&bursts),
                    [],
                    "farther off than is certain by samples alone: {parameters:?}"
                );
                let domains = &bursts.report.clocks.domains[1..];
                assert!(domains.iter().all(|domain| domain.residual_p95_nanos > 0.0), "{domains:?}");
                let certain = domains.iter().map(|domain| domain.error_bound_nanos.unwrap_or(f64::INFINITY));
                // 6 to 14 us from the round trips, plus the possible wander of quartz between two
                // bursts.
                let max_bound = 30e3 + 40.0 * parameters.seconds.powf(1.5);
                assert!(certain.fold(0.0, f64::max) < max_bound, "{parameters:?} {domains:?}");
            }
            assert!(
                graph.max <= 3 * bursts.max + 500,
                "{} by messages, {} without: {parameters:?}",
                graph.max,
                bursts.max
            );
        }
        assert!(graph.report.is_clean(), "{:?} {parameters:?}", graph.report.errors());
    }
    // Clocks with messages in one direction only are not bounded.
    assert!(bounded * 10 > clocks * 7, "{bounded} of {clocks} clocks are bounded");
}
