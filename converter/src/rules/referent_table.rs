//! Finds the process or thread that a reference by value names.

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use tumit::spec::Builtin;

use super::rule_value::{BY_KEYS, KeyPart, SymbolId};
use super::stream_facts::{StreamFacts, ThreadKey};

/// The built-in with this name, if a key of a process or thread container may use it.
pub(crate) fn builtin_key(name: &str) -> Option<Builtin> {
    Some(match name {
        "pid" => Builtin::Pid,
        "tid" => Builtin::Tid,
        "rank" => Builtin::Rank,
        "host" => Builtin::Host,
        "thread_name" => Builtin::ThreadName,
        "stream_label" => Builtin::StreamLabel,
        _ => return None,
    })
}

/// The name of a key that [`builtin_key`] knows.
pub(crate) const fn key_name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Pid => "pid",
        Builtin::Tid => "tid",
        Builtin::Rank => "rank",
        Builtin::Host => "host",
        Builtin::ThreadName => "thread_name",
        Builtin::StreamLabel => "stream_label",
        _ => "",
    }
}

/// How containers of a type are distinct, if all their own keys are built-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distinctness {
    /// By process, and within it by their keys.
    Keys,
    /// By process. The process determines the other keys.
    Process,
    /// By thread. The thread determines the other keys.
    Thread,
}

impl Distinctness {
    /// For a container with these own keys. A container whose only key is the host represents a
    /// machine, which several processes share.
    pub(crate) fn of(keys: &[String]) -> Option<Self> {
        let builtins: Vec<Builtin> = keys.iter().map(|key| builtin_key(key)).collect::<Option<_>>()?;
        let has = |builtin: Builtin| builtins.contains(&builtin);
        if has(Builtin::Tid) && !has(Builtin::StreamLabel) {
            return Some(Self::Thread);
        }
        if has(Builtin::Tid) || has(Builtin::ThreadName) {
            return Some(Self::Keys);
        }
        let is_of_process = has(Builtin::Pid) || has(Builtin::Rank);
        is_of_process.then_some(if has(Builtin::StreamLabel) { Self::Keys } else { Self::Process })
    }
}

/// No process of the run: the container is shared between processes by its keys.
pub(crate) const NO_PROCESS: u32 = u32::MAX;

/// Built-in keys with their values.
pub(crate) type BuiltinKeys = smallvec::SmallVec<[(Builtin, KeyPart); 4]>;

/// The process or thread to which values refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferentMatch {
    /// A thread, by process and number.
    Thread(u32, u32),
    /// A process, or [`NO_PROCESS`].
    Process(u32),
    Several,
}

/// Finds threads and processes of a run by the values of their built-ins.
#[derive(Debug, Default)]
pub(crate) struct ReferentTable {
    streams: Arc<[StreamFacts]>,
    /// Built when the first reference by value is resolved.
    index: OnceLock<StreamIndex>,
}

/// Positions of streams by value. For process ids and ranks: the first stream of each file.
#[derive(Debug, Default)]
struct StreamIndex {
    tid: FxHashMap<u64, Vec<u32>>,
    name: FxHashMap<SymbolId, Vec<u32>>,
    pid: FxHashMap<u64, Vec<u32>>,
    rank: FxHashMap<u64, Vec<u32>>,
    /// By process: its first stream.
    process: FxHashMap<u32, u32>,
    /// By thread: its first stream.
    thread: FxHashMap<ThreadKey, u32>,
}

impl ReferentTable {
    pub(crate) fn new(streams: Arc<[StreamFacts]>) -> Self {
        Self { streams, index: OnceLock::new() }
    }

    fn index(&self) -> &StreamIndex {
        self.index.get_or_init(|| {
            let mut index = StreamIndex::default();
            let mut process = None;
            for (number, stream) in (0u32..).zip(&*self.streams) {
                index.tid.entry(stream.tid).or_default().push(number);
                index.name.entry(stream.thread_name).or_default().push(number);
                index.thread.entry(stream.identity).or_insert(number);
                if process != Some(stream.process) {
                    process = Some(stream.process);
                    index.pid.entry(stream.pid).or_default().push(number);
                    index.rank.entry(stream.rank).or_default().push(number);
                    index.process.entry(stream.identity.process).or_insert(number);
                }
            }
            index
        })
    }

    /// The stream that supplies the built-ins for the label of a container; `None` if it is
    /// unknown.
    pub(crate) fn stream_of(&self, key: KeyPart) -> Option<&StreamFacts> {
        let KeyPart::Of { process, thread } = key else { return None };
        let index = self.index();
        let number = match thread {
            BY_KEYS => None,
            0 => index.process.get(&process),
            _ => index.thread.get(&ThreadKey { process, thread: thread - 1 }),
        };
        self.streams.get(*number? as usize)
    }

    /// The process or thread to which these values refer in a record of this process and time.
    pub(crate) fn find(&self, own_process: u32, keys: &[(Builtin, KeyPart)], time: i64) -> ReferentMatch {
        if let Some(thread) = self.choose(own_process, self.threads(keys), time) {
            return thread;
        }
        // No thread has the values. The keys of its process may identify the process.
        let has_process = keys.iter().any(|(builtin, _)| is_of_process(*builtin));
        if !has_process {
            return ReferentMatch::Process(own_process);
        }
        if self.index().process.get(&own_process).is_some_and(|stream| self.has(*stream, keys, is_of_process)) {
            return ReferentMatch::Process(own_process);
        }
        let mut processes = self.processes(keys).map(|number| self.streams[number as usize].identity.process);
        match processes.next() {
            Some(process) if processes.all(|other| other == process) => ReferentMatch::Process(process),
            Some(_) => ReferentMatch::Several,
            None => ReferentMatch::Process(NO_PROCESS),
        }
    }

    /// The streams of the threads with these values.
    fn threads(&self, keys: &[(Builtin, KeyPart)]) -> impl Iterator<Item = u32> {
        let candidates = match (value(keys, Builtin::Tid), value(keys, Builtin::ThreadName)) {
            (Some(tid), _) => number(tid).and_then(|tid| self.index().tid.get(&tid)),
            (None, Some(name)) => text(name).and_then(|name| self.index().name.get(&name)),
            (None, None) => None,
        };
        candidates.into_iter().flatten().copied().filter(|stream| self.has(*stream, keys, |_| true))
    }

    /// The first streams of the files of processes that have the values of the keys of a process.
    fn processes(&self, keys: &[(Builtin, KeyPart)]) -> impl Iterator<Item = u32> {
        let candidates = match (value(keys, Builtin::Pid), value(keys, Builtin::Rank)) {
            (Some(pid), _) => number(pid).and_then(|pid| self.index().pid.get(&pid)),
            (None, Some(rank)) => number(rank).and_then(|rank| self.index().rank.get(&rank)),
            (None, None) => None,
        };
        candidates.into_iter().flatten().copied().filter(|stream| self.has(*stream, keys, is_of_process))
    }

    /// As `PathReferent::missing_keys`.
    pub(crate) fn missing_keys(&self, keys: &[(Builtin, KeyPart)]) -> Option<&'static [Builtin]> {
        let mut matching_streams: Vec<&StreamFacts> =
            self.threads(keys).map(|number| &self.streams[number as usize]).collect();
        if matching_streams.is_empty() {
            matching_streams = self.processes(keys).map(|number| &self.streams[number as usize]).collect();
        }
        let processes: FxHashSet<u32> = matching_streams.iter().map(|stream| stream.identity.process).collect();
        let further: [&'static [Builtin]; 3] = [&[Builtin::Pid], &[Builtin::Host], &[Builtin::Host, Builtin::Pid]];
        let distinguishes = |further: &[Builtin]| {
            let value = |stream: &StreamFacts, builtin: Builtin| match builtin {
                Builtin::Pid => stream.pid,
                _ => stream.host.0.into(),
            };
            let all_values = |stream: &&StreamFacts| -> smallvec::SmallVec<[u64; 2]> {
                further.iter().map(|builtin| value(stream, *builtin)).collect()
            };
            matching_streams.iter().map(all_values).collect::<FxHashSet<_>>().len() == processes.len()
        };
        let is_new = |further: &&[Builtin]| further.iter().all(|builtin| value(keys, *builtin).is_none());
        further.into_iter().filter(is_new).find(|further| distinguishes(further))
    }

    /// A thread of the own process. If there is none, a thread of the only process with candidates.
    /// If several threads of one process share a thread id, the latest that has begun. `None`
    /// without candidates.
    fn choose(&self, own_process: u32, candidates: impl Iterator<Item = u32>, time: i64) -> Option<ReferentMatch> {
        let mut choice: Option<&StreamFacts> = None;
        let mut is_one = true;
        for stream in candidates {
            let stream = &self.streams[stream as usize];
            let Some(chosen_stream) = choice else {
                choice = Some(stream);
                continue;
            };
            let (process, chosen_process) = (stream.identity.process, chosen_stream.identity.process);
            if process == chosen_process {
                let is_later =
                    stream.begin <= time && (chosen_stream.begin > time || stream.begin > chosen_stream.begin);
                if is_later || chosen_stream.begin > time && stream.begin < chosen_stream.begin {
                    choice = Some(stream);
                }
            } else if process == own_process {
                (choice, is_one) = (Some(stream), true);
            } else if chosen_process != own_process {
                is_one = false;
            }
        }
        let ThreadKey { process, thread } = choice?.identity;
        Some(if is_one { ReferentMatch::Thread(process, thread) } else { ReferentMatch::Several })
    }

    /// Whether a stream has the values of those keys for which `selects` is true.
    fn has(&self, stream: u32, keys: &[(Builtin, KeyPart)], selects: impl Fn(Builtin) -> bool) -> bool {
        let stream = &self.streams[stream as usize];
        keys.iter().filter(|(builtin, _)| selects(*builtin)).all(|(builtin, key)| match builtin {
            Builtin::Pid => number(*key) == Some(stream.pid),
            Builtin::Tid => number(*key) == Some(stream.tid),
            Builtin::Rank => number(*key) == Some(stream.rank),
            Builtin::Host => text(*key) == Some(stream.host),
            Builtin::ThreadName => text(*key) == Some(stream.thread_name),
            Builtin::StreamLabel => text(*key) == Some(stream.label),
            _ => true,
        })
    }
}

const fn is_of_process(builtin: Builtin) -> bool {
    matches!(builtin, Builtin::Pid | Builtin::Rank | Builtin::Host)
}

fn value(keys: &[(Builtin, KeyPart)], key_name: Builtin) -> Option<KeyPart> {
    keys.iter().find(|(builtin, _)| *builtin == key_name).map(|(_, key)| *key)
}

fn number(key: KeyPart) -> Option<u64> {
    match key {
        KeyPart::Int(value) => u64::try_from(value).ok(),
        KeyPart::Unsigned(value) => Some(value),
        _ => None,
    }
}

fn text(key: KeyPart) -> Option<SymbolId> {
    match key {
        KeyPart::Sym(sym) => Some(sym),
        _ => None,
    }
}

pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NO_PROCESS)
}
