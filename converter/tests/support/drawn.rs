//! Runs of all kinds, drawn at random, and what is judged of the dates that are made of them.

use tumit_converter::clock::Method;

use crate::truth::{Bursts, Random, Scene, Verdict, clocks_alone, judge_run, write};

/// A scene of any kind in which the clocks are honest.
pub(crate) fn scene(seed: u64) -> Scene {
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
pub(crate) fn judged(scene: &Scene, method: Method) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    write(scene, folder.path());
    judge_run(folder.path(), &clocks_alone(method))
}

/// By how much dates of a clock are farther off than is said to be certain; nanoseconds, the clock, what is certain.
pub(crate) fn beyond(verdict: &Verdict) -> Vec<(i64, usize, f64)> {
    let clocks = &verdict.report.clocks;
    let certain = |process: usize| clocks.domains[clocks.domain_of[process]].certified_nanos;
    let worst = verdict.worst.iter().filter_map(|(&process, &worst)| Some((worst, process, certain(process)?)));
    // A nanosecond is lost to rounding down, at each end.
    worst.filter(|(worst, _, certain)| *worst as f64 > certain + 2.0).collect()
}
