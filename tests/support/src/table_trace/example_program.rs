//! An irregular program, the same at each call: nodes with threads that compute, exchange messages
//! and wait, a lock, and a variable.

use tumit_viewer::query::*;

use super::TableTrace;

/// A small linear congruential generator. It gives irregular, reproducible numbers.
#[derive(Debug)]
pub struct DiceRoller(pub u64);

impl DiceRoller {
    /// A number in low..high.
    pub fn roll(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) as i64) % (high - low).max(1)
    }
}

/// `nodes` nodes with `threads` threads each, for `steps` steps of about a millisecond.
#[must_use]
pub fn example_program(nodes: u32, threads: u32, steps: u32) -> TableTrace {
    let mut dice = DiceRoller(7);
    let mut tables = TableTrace::new("particles.tmt");
    let node_ty = tables.ty(PajeTypeKind::Container, TypeId::ROOT, "Node", None);
    let thread_ty = tables.ty(PajeTypeKind::Container, node_ty, "Thread", None);
    let lock_ty = tables.ty(PajeTypeKind::Container, node_ty, "Mutex", None);
    let activity = tables.ty(PajeTypeKind::State, thread_ty, "Activity", None);
    let message = tables.ty(PajeTypeKind::Link { start: thread_ty, end: thread_ty }, TypeId::ROOT, "Message", None);
    let phase = tables.ty(PajeTypeKind::Event, thread_ty, "Phase", None);
    let energy = tables.ty(PajeTypeKind::Variable, node_ty, "Energy", Some(0x7a_5a_c8));
    let holding = tables.ty(PajeTypeKind::State, lock_ty, "Lock", None);
    let working = tables.value(activity, "computing forces", 0x2f_7d_6b);
    let packing = tables.value(activity, "packing", 0xf0_b4_29);
    let blocked = tables.value(activity, "waiting", 0xd9_4f_4f);
    let integrating = tables.value(activity, "integrating", 0x3f_7f_bf);
    let held = tables.value(holding, "held", 0x8c_5a_9e);
    let sent = tables.value(message, "halo", 0x20_26_30);
    let step_value = tables.value(phase, "step", 0x17_1b_22);

    let mut all = Vec::new();
    let mut nodes_of = Vec::new();
    for node in 0..nodes {
        let id = tables.container(node_ty, ContainerId::ROOT, &format!("Node {node}"));
        let roles = ["main", "send", "force", "local"];
        let of_node: Vec<_> = (0..threads)
            .map(|t| tables.container(thread_ty, id, &format!("{} {t}", roles[t as usize % roles.len()])))
            .collect();
        let lock = tables.container(lock_ty, id, "cells lock");
        nodes_of.push((id, of_node.clone(), lock));
        all.push(of_node);
    }
    let mut now = vec![vec![0_i64; threads as usize]; nodes as usize];
    for step in 0..steps {
        for node in 0..nodes as usize {
            for thread in 0..threads as usize {
                let (container, start) = (all[node][thread], now[node][thread]);
                let compute = dice.roll(300_000, 500_000 + 220_000 * node as i64);
                let end = start + compute;
                tables.state(container, activity, working, 0, start, end);
                if thread == 1 {
                    let pack = start + compute / 3;
                    tables.state(container, activity, packing, 1, pack, pack + compute / 4);
                }
                if thread == 0 {
                    tables.event(container, phase, step_value, start);
                    tables.state(container, activity, integrating, 0, end, end + 60_000);
                }
                now[node][thread] = end + if thread == 0 { 60_000 } else { 0 };
            }
            let lock_start = now[node][0] - 200_000;
            tables.state(nodes_of[node].2, holding, held, 0, lock_start, lock_start + dice.roll(30_000, 120_000));
        }
        let barrier = now.iter().flatten().copied().max().unwrap_or(0) + 50_000;
        for node in 0..nodes as usize {
            let other = (node + 1 + (step as usize % 2)) % nodes as usize;
            let leave = now[node][1.min(threads as usize - 1)];
            tables.link(
                message,
                sent,
                (all[node][1.min(threads as usize - 1)], leave),
                (all[other][0], barrier.min(leave + 180_000)),
            );
            for thread in 0..threads as usize {
                tables.state(all[node][thread], activity, blocked, 0, now[node][thread], barrier);
                now[node][thread] = barrier;
            }
        }
    }
    for (node, (id, ..)) in nodes_of.iter().enumerate() {
        let values: Vec<(i64, f64)> = (0..i64::from(steps))
            .map(|n| (n * tables.end / i64::from(steps.max(1)), 40.0 + 30.0 * (n as f64 * 0.9 + node as f64).sin()))
            .collect();
        tables.curve(*id, energy, &values);
    }
    let end = tables.end;
    for container in &mut tables.containers {
        container.life = super::interval(0, end);
    }
    tables
}
