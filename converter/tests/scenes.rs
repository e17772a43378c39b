//! Clock correction on many runs of all kinds, drawn at random: what the report says of its own dates must be true.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/synthetic.rs"]
mod synthetic;
#[path = "support/truth.rs"]
mod truth;

use converter::clock::Method;
use truth::{Bursts, Random, Scene, Verdict, clocks_alone, judge_run, write};

/// A scene of any kind in which the clocks are honest.
fn scene(seed: u64) -> Scene {
    let mut random = Random(seed);
    let seconds = [0.5, 5.0, 60.0, 600.0][random.below(4)];
    let bursts = [Bursts::None, Bursts::First, Bursts::Both, Bursts::Many(4)][random.below(4)];
    let (from, share) = (random.unit(), [1.0, 1.0, 0.1, 0.01, 0.001][random.below(5)]);
    let from = from * (1.0 - share);
    let links = [20, 60, 200, 1000, 4000][random.below(5)];
    // How badly a clock wanders can be told only where it is heard all the time.
    let wanders = if links >= 4000 && share == 1.0 { 4 } else { 3 };
    Scene {
        nodes: 2 + random.below(5),
        per_node: 1 + random.below(2),
        seconds,
        links,
        bursts,
        window: (from, from + share),
        slow: [0.0, 0.0, 3000.0, 30_000.0][random.below(4)],
        wander: [1e-9, 1e-9, 3e-9, 1e-7][random.below(wanders)],
        one_way: random.below(8) == 0,
        moments: 50,
        seed,
        ..Scene::default()
    }
}

/// The dates of the scene by a method, without the causal pass.
fn judged(scene: &Scene, method: Method) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    write(scene, folder.path());
    judge_run(folder.path(), &clocks_alone(method))
}

/// By how much dates of a clock are farther off than is said to be certain; nanoseconds, the clock, what is certain.
fn beyond(verdict: &Verdict) -> Vec<(i64, usize, f64)> {
    let clocks = &verdict.report.clocks;
    let certain = |process: usize| clocks.domains[clocks.domain_of[process]].certified_nanos;
    let worst = verdict.worst.iter().filter_map(|(&process, &worst)| Some((worst, process, certain(process)?)));
    // A nanosecond is lost to rounding down, at each end.
    worst.filter(|(worst, _, certain)| *worst as f64 > certain + 2.0).collect()
}

#[test]
#[ignore = "a table to look at"]
fn table() {
    let scenes = std::env::var("SCENES").map_or(100, |scenes| scenes.parse().unwrap());
    for seed in 1..=scenes {
        let scene = scene(seed);
        let (graph, bursts) = (judged(&scene, Method::Graph), judged(&scene, Method::Bursts));
        let worse = graph.max > bursts.max + bursts.max / 2 + 300 && scene.bursts != Bursts::None;
        let certain = |verdict: &Verdict| {
            verdict.report.clocks.domains.iter().filter_map(|domain| domain.certified_nanos).fold(0.0, f64::max)
        };
        println!(
            "     certain {:.0} / {:.0} {}",
            certain(&graph),
            certain(&bursts),
            if beyond(&bursts).is_empty() { "" } else { "BURSTS BEYOND" }
        );
        let marks = [(!beyond(&graph).is_empty(), "BEYOND"), (worse, "WORSE"), (graph.reversed > 0, "REVERSED")];
        let marks: Vec<&str> = marks.into_iter().filter(|mark| mark.0).map(|mark| mark.1).collect();
        println!("{seed:4} graph {} / {} bursts {} / {}", graph.median, graph.max, bursts.median, bursts.max);
        println!("     {marks:?} {scene:?}");
    }
}

#[test]
fn what_is_said_of_dates_is_true() {
    let (mut bounded, mut clocks) = (0, 0);
    for seed in 1000..1048 {
        let scene = scene(seed);
        let graph = judged(&scene, Method::Graph);
        assert_eq!(beyond(&graph), [], "farther off than is certain: {scene:?}");
        let domains = &graph.report.clocks.domains[1..];
        clocks += domains.len();
        bounded += domains.iter().filter(|domain| domain.certified_nanos.is_some()).count();
        if scene.bursts == Bursts::Both || matches!(scene.bursts, Bursts::Many(_)) {
            // Messages that take their time must not spoil what samples tell.
            let bursts = judged(&scene, Method::Bursts);
            // From a few bursts it cannot be told that clocks wander as no quartz does.
            if scene.wander < 1e-8 {
                assert_eq!(beyond(&bursts), [], "farther off than is certain by samples alone: {scene:?}");
                let domains = &bursts.report.clocks.domains[1..];
                assert!(domains.iter().all(|domain| domain.residual_p95_nanos > 0.0), "{domains:?}");
                let certain = domains.iter().map(|domain| domain.certified_nanos.unwrap_or(f64::INFINITY));
                // 6 to 14 us for what the exchanges took, and what quartz may do between two bursts.
                let most = 30e3 + 40.0 * scene.seconds.powf(1.5);
                assert!(certain.fold(0.0, f64::max) < most, "{scene:?} {domains:?}");
            }
            assert!(graph.max <= 3 * bursts.max + 500, "{} by messages, {} without: {scene:?}", graph.max, bursts.max);
        }
        assert!(graph.report.is_clean(), "{:?} {scene:?}", graph.report.faults());
    }
    // Those that are heard one way only are not.
    assert!(bounded * 10 > clocks * 7, "{bounded} of {clocks} clocks are bounded");
}
