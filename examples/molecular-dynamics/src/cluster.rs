//! Assembles the nodes: makes their threads and the channels between them, and runs them.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::cells::Grid;
use crate::controller::{self, RunHistory};
use crate::locks::{Mutex, Semaphore};
use crate::machine::{Machine, Usage};
use crate::message::{Forces, Inbox, NeighbourMessage, NeighbourTask, Order, Port, Report, Switchboard, WorkMessage};
use crate::node::exchange::Exchange;
use crate::node::integrator::{Integrator, Ports};
use crate::node::internode::Internode;
use crate::node::orders::Control;
use crate::node::{NodeContext, NodeSums, Role, local_forces};
use crate::physics::{Atom, LennardJones, System};
use crate::placement::{WORKERS, plan};
use crate::trace::{self, SyncObject, ThreadAddress};

/// The input of a run.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The atoms at time zero.
    pub(crate) system: System,
    pub(crate) grid: Grid,
    /// The working node (0 to 3) of each cell.
    pub(crate) owners: Vec<usize>,
    pub(crate) cutoff: f64,
    pub(crate) steps: u32,
    /// The simulated machine of each node: its processors, and the wall time of a unit of work.
    pub(crate) processors: u32,
    pub(crate) unit: Duration,
}

/// The results of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The course of the run at node 0.
    pub(crate) history: RunHistory,
    /// All atoms at the end, in the order of their numbers.
    pub(crate) atoms: Vec<Atom>,
    /// The usage of the processors of each working node.
    pub(crate) usage: Vec<Usage>,
}

/// Runs the system on five nodes. Fails if the operating system refuses a thread.
pub(crate) fn run(setup: Setup) -> io::Result<Outcome> {
    let Setup { system, grid, owners, cutoff, steps, processors, unit } = setup;
    let plans = plan(&grid, &owners);
    let mut slots = vec![0; grid.len()];
    for plan in &plans {
        for (slot, &cell) in plan.cells.iter().enumerate() {
            slots[cell] = slot;
        }
    }
    let (owners, slots): (Arc<[usize]>, Arc<[usize]>) = (owners.into(), slots.into());
    let mut homes = vec![Vec::new(); WORKERS];
    for atom in system.atoms {
        homes[owners[grid.cell_of(atom.position)]].push(atom);
    }

    trace::node_made(controller::PLACE.node);
    trace::thread_made(controller::PLACE, "main");
    let (wiring, orders, reports) = wire();
    let mut nodes = Vec::new();
    for (index, ((plan, channels), atoms)) in plans.into_iter().zip(wiring).zip(homes).enumerate() {
        let number = index as u16 + 1;
        trace::node_made(number);
        let shared = Arc::new(NodeContext {
            plan,
            grid,
            potential: LennardJones::new(cutoff),
            machine: Machine::new(processors, unit),
            sums: Mutex::new(SyncObject { node: number, number: 0 }, NodeSums::default()),
            done: Semaphore::new(SyncObject { node: number, number: 1 }),
        });
        let (owners, slots) = (Arc::clone(&owners), Arc::clone(&slots));
        nodes.push(start(index, &shared, channels, |place, ports| {
            Integrator::new((place, index), Arc::clone(&shared), owners, slots, atoms, ports)
        })?);
    }

    let history = controller::run(orders, &reports, steps);
    let usage = nodes.iter().map(|node| node.shared.machine.usage()).collect();
    trace::thread_ended(controller::PLACE);
    let mut atoms: Vec<Atom> = nodes.into_iter().flat_map(Node::join).collect();
    atoms.sort_by_key(|atom| atom.id);
    Ok(Outcome { history, atoms, usage })
}

/// The channel ends of the threads of one node.
#[derive(Debug)]
struct NodeChannels {
    ports: Ports,
    local: Inbox<WorkMessage>,
    internodes: Vec<Internode>,
    exchanges: Vec<Exchange>,
    control: Control,
}

/// Makes all channels. Returns those of the working nodes and those of node 0.
fn wire() -> (Vec<NodeChannels>, Vec<Port<Order>>, Inbox<Report>) {
    let mut board = Switchboard::default();
    let (to_controller, reports) = board.channel();
    let mut orders = Vec::new();
    let mut wiring: Vec<NodeChannels> = (0..WORKERS)
        .map(|_| {
            let (order, control_orders) = board.channel();
            let (to_main, main_orders) = board.channel();
            let (main_reports, from_main) = board.channel();
            let (work, local) = board.channel();
            orders.push(order);
            let reports = board.new_port(&to_controller);
            NodeChannels {
                ports: Ports { orders: main_orders, reports: main_reports, work: vec![work], tasks: Vec::new() },
                local,
                internodes: Vec::new(),
                exchanges: Vec::new(),
                control: Control { orders: control_orders, to_main, from_main, reports },
            }
        })
        .collect();
    for here in 0..WORKERS {
        for there in (0..WORKERS).filter(|&there| there != here) {
            let (task, tasks): (Port<NeighbourTask>, _) = board.channel();
            let (work_port, work) = board.channel();
            let (message_port, messages) = board.channel::<NeighbourMessage>();
            let (forces_port, forces) = board.channel::<Forces>();
            wiring[here].ports.tasks.push((there, task));
            wiring[here].exchanges.push(Exchange { peer: there, tasks, messages: message_port, forces });
            wiring[there].ports.work.push(work_port);
            wiring[there].internodes.push(Internode { peer: here, messages, forces: forces_port, work });
        }
    }
    (wiring, orders, reports)
}

/// A running node.
#[derive(Debug)]
struct Node {
    shared: Arc<NodeContext>,
    main: JoinHandle<Vec<Atom>>,
    others: Vec<JoinHandle<()>>,
}

impl Node {
    /// Waits for all threads of the node; a panic in one of them continues here.
    fn join(self) -> Vec<Atom> {
        for thread in self.others {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        self.main.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Starts the nine threads of a node.
fn start(
    index: usize,
    shared: &Arc<NodeContext>,
    channels: NodeChannels,
    integrator: impl FnOnce(ThreadAddress, Ports) -> Integrator,
) -> io::Result<Node> {
    let place = |role: Role| ThreadAddress { node: index as u16 + 1, thread: role.number() };
    let peers: Vec<usize> = channels.exchanges.iter().map(|exchange| exchange.peer).collect();
    let name = |role: Role| match role {
        Role::Main => "main".to_owned(),
        Role::Local => "local".to_owned(),
        Role::Internode(which) => format!("forces {}", peers[which] + 1),
        Role::Exchange(which) => format!("exchange {}", peers[which] + 1),
        Role::Control => "control".to_owned(),
    };
    // Recorded here and not by the threads themselves, so that the rows have the same order in
    // every run.
    for role in Role::all() {
        trace::thread_made(place(role), &name(role));
    }

    let NodeChannels { ports, local: local_work, internodes, exchanges, control } = channels;
    let main = integrator(place(Role::Main), ports);
    let main = spawn(place(Role::Main), &name(Role::Main), move |_| main.run())?;
    let mut others = Vec::new();
    let node = Arc::clone(shared);
    others.push(spawn(place(Role::Local), &name(Role::Local), move |place| {
        local_forces::run(place, &node, &local_work);
    })?);
    for (role, internode) in (0..).map(Role::Internode).zip(internodes) {
        let node = Arc::clone(shared);
        others.push(spawn(place(role), &name(role), move |place| internode.run(place, &node))?);
    }
    for (role, exchange) in (0..).map(Role::Exchange).zip(exchanges) {
        let node = Arc::clone(shared);
        others.push(spawn(place(role), &name(role), move |place| exchange.run(place, &node))?);
    }
    others.push(spawn(place(Role::Control), &name(Role::Control), move |place| control.run(place))?);
    Ok(Node { shared: Arc::clone(shared), main, others })
}

/// Starts a thread with the name of its role, and records its end.
fn spawn<T: Send + 'static>(
    place: ThreadAddress,
    role: &str,
    body: impl FnOnce(ThreadAddress) -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(format!("node {} {role}", place.node)).spawn(move || {
        let result = body(place);
        trace::thread_ended(place);
        result
    })
}
