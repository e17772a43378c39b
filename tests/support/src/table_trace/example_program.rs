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
    let mut program = ExampleProgram::new(nodes, threads);
    for step in 0..steps {
        for node in 0..nodes as usize {
            program.compute(node);
        }
        program.exchange_messages(step);
    }
    program.finish(steps)
}

/// The program while it is generated.
struct ExampleProgram {
    tables: TableTrace,
    dice: DiceRoller,
    /// Types, with values of theirs.
    activity: TypeId,
    working: ValueId,
    packing: ValueId,
    blocked: ValueId,
    integrating: ValueId,
    message: TypeId,
    sent: ValueId,
    phase: TypeId,
    step_value: ValueId,
    lock_state: TypeId,
    locked: ValueId,
    energy: TypeId,
    /// By node: its container, its lock and its threads.
    nodes: Vec<ContainerId>,
    locks: Vec<ContainerId>,
    threads: Vec<Vec<ContainerId>>,
    /// By node and thread: the end of its last state.
    now: Vec<Vec<i64>>,
}

impl ExampleProgram {
    fn new(nodes: u32, threads: u32) -> Self {
        let mut tables = TableTrace::new("particles.tmt");
        let node_ty = tables.ty(PajeTypeKind::Container, TypeId::ROOT, "Node", None);
        let thread_ty = tables.ty(PajeTypeKind::Container, node_ty, "Thread", None);
        let lock_ty = tables.ty(PajeTypeKind::Container, node_ty, "Mutex", None);
        let activity = tables.ty(PajeTypeKind::State, thread_ty, "Activity", None);
        let message = tables.ty(PajeTypeKind::Link { start: thread_ty, end: thread_ty }, TypeId::ROOT, "Message", None);
        let phase = tables.ty(PajeTypeKind::Event, thread_ty, "Phase", None);
        let energy = tables.ty(PajeTypeKind::Variable, node_ty, "Energy", Some(0x7a_5a_c8));
        let lock_state = tables.ty(PajeTypeKind::State, lock_ty, "Lock", None);
        let mut program = Self {
            dice: DiceRoller(7),
            working: tables.value(activity, "computing forces", 0x2f_7d_6b),
            packing: tables.value(activity, "packing", 0xf0_b4_29),
            blocked: tables.value(activity, "waiting", 0xd9_4f_4f),
            integrating: tables.value(activity, "integrating", 0x3f_7f_bf),
            locked: tables.value(lock_state, "held", 0x8c_5a_9e),
            sent: tables.value(message, "halo", 0x20_26_30),
            step_value: tables.value(phase, "step", 0x17_1b_22),
            activity,
            message,
            phase,
            lock_state,
            energy,
            nodes: Vec::new(),
            locks: Vec::new(),
            threads: Vec::new(),
            now: vec![vec![0; threads as usize]; nodes as usize],
            tables,
        };
        for node in 0..nodes {
            program.add_node(node, threads, [node_ty, thread_ty, lock_ty]);
        }
        program
    }

    fn add_node(&mut self, node: u32, threads: u32, [node_ty, thread_ty, lock_ty]: [TypeId; 3]) {
        let tables = &mut self.tables;
        let id = tables.container(node_ty, ContainerId::ROOT, &format!("Node {node}"));
        let roles = ["main", "send", "force", "local"];
        let threads = (0..threads)
            .map(|thread| {
                tables.container(thread_ty, id, &format!("{} {thread}", roles[thread as usize % roles.len()]))
            })
            .collect();
        self.locks.push(tables.container(lock_ty, id, "cells lock"));
        self.nodes.push(id);
        self.threads.push(threads);
    }

    /// The threads of a node compute, and the first one locks the cells.
    fn compute(&mut self, node: usize) {
        for thread in 0..self.threads[node].len() {
            let (container, start) = (self.threads[node][thread], self.now[node][thread]);
            let compute = self.dice.roll(300_000, 500_000 + 220_000 * node as i64);
            let end = start + compute;
            self.tables.state(container, self.activity, self.working, 0, start, end);
            if thread == 1 {
                let pack = start + compute / 3;
                self.tables.state(container, self.activity, self.packing, 1, pack, pack + compute / 4);
            }
            if thread == 0 {
                self.tables.event(container, self.phase, self.step_value, start);
                self.tables.state(container, self.activity, self.integrating, 0, end, end + 60_000);
            }
            self.now[node][thread] = end + if thread == 0 { 60_000 } else { 0 };
        }
        let start = self.now[node][0] - 200_000;
        let end = start + self.dice.roll(30_000, 120_000);
        self.tables.state(self.locks[node], self.lock_state, self.locked, 0, start, end);
    }

    /// Each node sends a message to another one, and all threads wait for the slowest.
    fn exchange_messages(&mut self, step: u32) {
        let barrier = self.now.iter().flatten().copied().max().unwrap_or(0) + 50_000;
        let nodes = self.nodes.len();
        for node in 0..nodes {
            let peer = (node + 1 + (step as usize % 2)) % nodes;
            let sender = 1.min(self.threads[node].len() - 1);
            let leave = self.now[node][sender];
            let start = (self.threads[node][sender], leave);
            let end = (self.threads[peer][0], barrier.min(leave + 180_000));
            self.tables.link(self.message, self.sent, start, end);
            for (&thread, now) in self.threads[node].iter().zip(&mut self.now[node]) {
                self.tables.state(thread, self.activity, self.blocked, 0, *now, barrier);
                *now = barrier;
            }
        }
    }

    /// The trace, with the energy of each node. All containers last until its end.
    fn finish(self, steps: u32) -> TableTrace {
        let mut tables = self.tables;
        for (node, id) in self.nodes.into_iter().enumerate() {
            let values: Vec<(i64, f64)> = (0..i64::from(steps))
                .map(|n| (n * tables.end / i64::from(steps.max(1)), 40.0 + 30.0 * (n as f64 * 0.9 + node as f64).sin()))
                .collect();
            tables.curve(id, self.energy, &values);
        }
        let end = tables.end;
        for container in &mut tables.containers {
            container.life = super::time_range_of(0, end);
        }
        tables
    }
}
