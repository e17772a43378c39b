//! Labels of containers that are distinct per process or thread: suffixes for labels that would be
//! equal.
//!
//! The processes and threads of the run determine all possible containers. Each container with an
//! ambiguous label therefore gets its suffix, including the first one, and every pass computes the
//! same suffix.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit::spec::{Builtin, PatternPiece};

use super::plan::ConversionPlan;
use crate::rules::placeholder;
use crate::rules::referent_table::{Distinctness, builtin_key};
use crate::rules::rule_model::RuleModel;
use crate::rules::rule_value::{BY_KEYS, RuleValue, SymbolId, Symbols};
use crate::rules::stream_facts::{StreamFacts, ThreadKey};
use crate::run::OpenRun;

/// The identity of a container that is distinct per process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LabelKey {
    /// Its container type.
    pub(crate) container: usize,
    pub(crate) process: u32,
    pub(crate) thread: u32,
}

#[derive(Debug, Default)]
pub(crate) struct LabelSuffixes(FxHashMap<LabelKey, Box<str>>);

/// A possible container. The fields are in the order of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LabelMember {
    /// The hash of its label and its parent's keys.
    hash: u64,
    process: u32,
    thread: u32,
    /// A stream of its thread or process.
    stream: u32,
}

impl LabelSuffixes {
    /// Computes the suffixes of a run. O(n log n) in the number of its streams. Returns early if no
    /// two labels can be equal.
    pub(crate) fn of(plan: &ConversionPlan<'_>, model: &RuleModel, symbols: &Symbols) -> Self {
        let mut suffixes = Self::default();
        for (container, kind) in model.containers.iter().enumerate() {
            let Some(distinct) = kind.distinctness else { continue };
            let mut members = members(plan, model, container, distinct, symbols);
            members.sort_unstable();
            for group in members.chunk_by(|a, b| a.hash == b.hash).filter(|same| same.len() > 1) {
                let streams: Vec<&StreamFacts> =
                    group.iter().map(|member| &plan.streams[member.stream as usize]).collect();
                for (&LabelMember { process, thread, .. }, text) in
                    group.iter().zip(distinguishing_suffixes(plan.run(), &streams))
                {
                    if let Some(text) = text {
                        suffixes.0.insert(LabelKey { container, process, thread }, text.into());
                    }
                }
            }
        }
        suffixes
    }

    /// The suffix for the label of a container.
    pub(crate) fn get(&self, key: LabelKey) -> Option<&str> {
        self.0.get(&key).map(|text| &**text)
    }
}

/// The containers of a type whose labels may collide.
fn members(
    plan: &ConversionPlan<'_>,
    model: &RuleModel,
    container: usize,
    distinctness: Distinctness,
    symbols: &Symbols,
) -> Vec<LabelMember> {
    let mut ancestor = model.containers[container].parent;
    let (mut is_in_process, mut is_of_host) = (false, false);
    while let Some(parent) = ancestor {
        let kind = &model.containers[parent];
        is_in_process |= kind.distinctness.is_some();
        is_of_host |= kind.keys.iter().any(|key| key == "host");
        ancestor = kind.parent;
    }
    let is_one_process = plan.streams.iter().all(|stream| stream.identity.process == 0);
    let may_collide = match distinctness {
        Distinctness::Thread => plan.streams.len() > 1,
        Distinctness::Keys | Distinctness::Process => !is_one_process && !is_in_process,
    };
    if !may_collide {
        return Vec::new();
    }
    let Some(pattern) = LabelPattern::of(model, container) else { return Vec::new() };
    let mut members: Vec<LabelMember> = Vec::new();
    let mut added: FxHashSet<(u32, u32, SymbolId)> = FxHashSet::default();
    let mut text = String::new();
    for (number, stream) in (0u32..).zip(&*plan.streams) {
        let process = stream.identity.process;
        let name = if distinctness == Distinctness::Keys { stream.thread_name } else { SymbolId(0) };
        let thread = match distinctness {
            Distinctness::Thread => stream.identity.thread + 1,
            Distinctness::Keys => BY_KEYS,
            Distinctness::Process => 0,
        };
        if !added.insert((process, thread, name)) {
            continue;
        }
        text.clear();
        pattern.append(stream, symbols, &mut text);
        let part = (is_of_host.then_some(stream.host), is_in_process.then_some(process));
        members.push(LabelMember { hash: hash(&(text.as_str(), part)), process, thread, stream: number });
    }
    members
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    std::hash::BuildHasher::hash_one(&rustc_hash::FxBuildHasher, value)
}

/// A label pattern in which all placeholders are built-ins.
struct LabelPattern<'m> {
    pieces: &'m [PatternPiece],
    name: &'m str,
}

impl<'m> LabelPattern<'m> {
    /// The label pattern of a container type. `None` if it has placeholders that are not built-ins.
    fn of(model: &'m RuleModel, container: usize) -> Option<Self> {
        let kind = &model.containers[container];
        let is_known = |piece: &PatternPiece| match piece {
            PatternPiece::Name(hole, _) => builtin_key(hole).is_some(),
            PatternPiece::Text(_) | PatternPiece::Expr(..) => true,
        };
        kind.pattern.iter().all(is_known).then_some(Self { pieces: &kind.pattern, name: &kind.name })
    }

    fn append(&self, stream: &StreamFacts, symbols: &Symbols, text: &mut String) {
        for piece in self.pieces {
            match piece {
                PatternPiece::Text(literal) => text.push_str(literal),
                PatternPiece::Name(hole, format) => {
                    let val = match builtin_key(hole) {
                        Some(Builtin::Pid) => RuleValue::from_unsigned(stream.pid),
                        Some(Builtin::Tid) => RuleValue::from_unsigned(stream.tid),
                        Some(Builtin::Rank) => RuleValue::from_unsigned(stream.rank),
                        Some(Builtin::Host) => RuleValue::Sym(stream.host),
                        Some(Builtin::ThreadName) => RuleValue::Sym(stream.thread_name),
                        Some(Builtin::StreamLabel) => RuleValue::Sym(stream.label),
                        _ => RuleValue::None,
                    };
                    placeholder::append(val, *format, "", symbols, text);
                }
                PatternPiece::Expr(..) => {}
            }
        }
        if text.is_empty() {
            text.push_str(self.name);
        }
    }
}

/// Suffixes for containers with one label, each given by a stream of its thread or process.
/// Processes differ by the first of rank or process id, host, process id and full name that is
/// distinct for all. Threads of one process differ by an ordinal in order of creation. `None` if no
/// suffix is needed.
fn distinguishing_suffixes(run: &OpenRun, streams: &[&StreamFacts]) -> Vec<Option<String>> {
    let mut processes: Vec<u32> = streams.iter().map(|stream| stream.identity.process).collect();
    processes.sort_unstable();
    processes.dedup();
    let of_process = process_texts(run, &processes);
    let mut threads: Vec<ThreadKey> = streams.iter().map(|stream| stream.identity).collect();
    threads.sort_unstable();
    threads.dedup();
    let text = |stream: &&StreamFacts| {
        let ThreadKey { process, .. } = stream.identity;
        let index = processes.binary_search(&process).ok();
        let first = threads.partition_point(|thread| thread.process < process);
        let end = threads.partition_point(|thread| thread.process <= process);
        let position = threads.partition_point(|thread| *thread < stream.identity);
        let process = index.and_then(|index| of_process.get(index));
        let ordinal = (end - first > 1).then(|| format!("#{}", position - first + 1));
        match (process, ordinal) {
            (Some(process), Some(ordinal)) => Some(format!(" ({process}, {ordinal})")),
            (Some(process), None) => Some(format!(" ({process})")),
            (None, ordinal) => ordinal.map(|ordinal| format!(" ({ordinal})")),
        }
    };
    streams.iter().map(text).collect()
}

/// By process: a short text that is unique among these; empty if there is one process.
fn process_texts(run: &OpenRun, processes: &[u32]) -> Vec<String> {
    if processes.len() < 2 {
        return Vec::new();
    }
    let host = |process: &u32| run.processes[*process as usize].host.clone();
    let pid = |process: &u32| format!("pid {}", run.processes[*process as usize].pid);
    let rank = |process: &u32| run.processes[*process as usize].rank;
    let base = |process: &u32| rank(process).map_or_else(|| pid(process), |rank| format!("rank {rank}"));
    let name = |process: &u32| run.process_name(*process as usize);
    let ways: [&dyn Fn(&u32) -> String; 3] = [&base, &host, &pid];
    for way in ways {
        let texts: Vec<String> = processes.iter().map(way).collect();
        let mut sorted: Vec<&String> = texts.iter().collect();
        sorted.sort_unstable();
        if sorted.windows(2).all(|pair| pair[0] != pair[1]) && sorted.iter().all(|text| !text.is_empty()) {
            return texts;
        }
    }
    processes.iter().map(name).collect()
}
