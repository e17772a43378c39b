//! How good corrected dates are, on runs whose true dates are known: a table of errors and reversed links.
//!
//! `cargo bench -p converter --bench clock` for the whole table, `-- --smoke` for a few short runs.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and fails by panicking")]

#[path = "../tests/support/synthetic.rs"]
mod synthetic;
#[path = "../tests/support/truth.rs"]
mod truth;

use std::time::Instant;

use converter::clock::Method;
use truth::{Bursts, Scene, clocks_alone, judge_run, options, write};

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--smoke");
    let lengths: &[(f64, usize)] = if smoke { &[(20.0, 20_000)] } else { &[(300.0, 200_000), (3600.0, 600_000)] };
    println!("errors in microseconds; a node has 4 processes");
    println!("nodes  seconds  bursts  method           median       max   reversed    links  seconds to convert");
    for &(seconds, links) in lengths {
        for bursts in [Bursts::Both, Bursts::First, Bursts::None] {
            let scene = Scene { seconds, links, bursts, ..Scene::default() };
            table(&scene);
        }
    }
    if !smoke {
        for nodes in [2, 16, 64] {
            table(&Scene { nodes, seconds: 300.0, links: 25_000 * nodes, bursts: Bursts::None, ..Scene::default() });
        }
    }
}

fn table(scene: &Scene) {
    let folder = tempfile::tempdir().unwrap();
    write(scene, folder.path());
    let methods = [
        ("none", clocks_alone(Method::None)),
        ("bursts", clocks_alone(Method::Bursts)),
        ("graph", clocks_alone(Method::Graph)),
        ("graph, causal", options(Method::Graph)),
    ];
    for (name, options) in methods {
        let begun = Instant::now();
        let verdict = judge_run(folder.path(), &options);
        println!(
            "{:5}  {:7}  {:6}  {name:13} {:9.3} {:9.3} {:10} {:8} {:8.2}",
            scene.nodes,
            scene.seconds,
            format!("{:?}", scene.bursts),
            verdict.median as f64 * 1e-3,
            verdict.max as f64 * 1e-3,
            verdict.reversed,
            verdict.links,
            begun.elapsed().as_secs_f64(),
        );
    }
}
