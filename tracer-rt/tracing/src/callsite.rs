//! The callsites of the program, and the record types of their signatures.
//!
//! All callsites and record types are kept until the process ends, as the callsites of `tracing`
//! are. Threads find known ones without a lock.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use tracer_rt::runtime_specs::{self, DynamicRecordType};
use tracing_core::Metadata;

use crate::callsite_spec::{RecordSet, schema};
use crate::value_encoding::Signature;

/// The meaning of a callsite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallsiteKind {
    /// A span or event of the program.
    Program,
    /// A record of the crate `log`.
    Log,
    /// A task of `tokio`.
    Task,
    /// A resource of `tokio`, such as a mutex or a timer.
    Resource,
    /// An operation on a waker of a task of `tokio`.
    Waker,
    /// An operation on a resource of `tokio`.
    ResourcePoll,
    /// Other instrumentation of `tokio`, which is not recorded.
    Internal,
}

impl CallsiteKind {
    fn of(metadata: &Metadata<'_>) -> Self {
        match (metadata.name(), metadata.target()) {
            ("log event", "log") => Self::Log,
            ("runtime.spawn", target) if target.starts_with("tokio::task") => Self::Task,
            ("runtime.resource", target) if target.starts_with("tokio") => Self::Resource,
            ("runtime.resource.async_op" | "runtime.resource.async_op.poll", target) if target.starts_with("tokio") => {
                Self::Internal
            }
            (_, "tokio::task::waker") => Self::Waker,
            (_, "runtime::resource::poll_op") => Self::ResourcePoll,
            (_, "runtime::resource::state_update" | "runtime::resource::async_op::state_update") => Self::Internal,
            _ => Self::Program,
        }
    }
}

/// A callsite: a place of the program with a span or an event.
#[derive(Debug)]
pub(crate) struct Callsite {
    pub(crate) kind: CallsiteKind,
    /// The number of its source position.
    pub(crate) site: u32,
    metadata: &'static Metadata<'static>,
    /// The record types of the event or span.
    pub(crate) records: SignatureList,
    /// The record types for new values of fields of the span.
    pub(crate) new_fields: SignatureList,
}

impl Callsite {
    /// The callsite with this metadata.
    #[inline]
    pub(crate) fn of(metadata: &'static Metadata<'static>) -> &'static Self {
        let address = std::ptr::from_ref(metadata).addr();
        let place = address / 16 % CACHED;
        match CACHE.with(|cache| cache[place].get()) {
            (cached, Some(callsite)) if cached == address => callsite,
            _ => find(metadata, place),
        }
    }

    /// The record types of the callsite for values of these types. `None` in a signal handler.
    #[inline]
    pub(crate) fn records_for(&'static self, signature: Signature) -> Option<&'static [DynamicRecordType]> {
        let set = if self.metadata.is_span() { RecordSet::Span } else { RecordSet::Event };
        self.records.get(signature).or_else(|| self.add(&self.records, set, signature))
    }

    /// The record type for new values of these types.
    pub(crate) fn new_fields_for(&'static self, signature: Signature) -> Option<&'static [DynamicRecordType]> {
        let list = &self.new_fields;
        list.get(signature).or_else(|| self.add(list, RecordSet::NewFields, signature))
    }

    /// Whether the level of the callsite is off. False before its first record.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        self.records.0.get().is_some_and(|first| first.types.first().is_some_and(|ty| ty.base() == 0))
    }

    #[cold]
    fn add(
        &self,
        list: &'static SignatureList,
        set: RecordSet,
        signature: Signature,
    ) -> Option<&'static [DynamicRecordType]> {
        // In a signal handler, this thread may hold the lock already.
        if !runtime_specs::can_register() {
            return None;
        }
        let _growth = GROWTH.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(types) = list.get(signature) {
            return Some(types);
        }
        let names: Vec<&str> = match self.kind {
            CallsiteKind::Log => vec!["log_target", "message"],
            _ => self.metadata.fields().iter().map(|field| field.name()).collect(),
        };
        let types = runtime_specs::register(&schema(self.metadata, set, &names, signature))?;
        let added: &'static SignatureTypes =
            Box::leak(Box::new(SignatureTypes { signature, types, next: OnceLock::new() }));
        let mut end = &list.0;
        while let Some(known) = end.get() {
            end = &known.next;
        }
        // The lock is held, so the cell is empty.
        let _ = end.set(added);
        Some(&added.types)
    }
}

/// Excludes other threads while a list grows.
static GROWTH: Mutex<()> = Mutex::new(());

/// The record types of a callsite by signature. Most callsites have one signature.
#[derive(Debug, Default)]
pub(crate) struct SignatureList(OnceLock<&'static SignatureTypes>);

#[derive(Debug)]
struct SignatureTypes {
    signature: Signature,
    types: Vec<DynamicRecordType>,
    next: OnceLock<&'static SignatureTypes>,
}

impl SignatureList {
    #[inline]
    fn get(&self, signature: Signature) -> Option<&'static [DynamicRecordType]> {
        let mut next = self.0.get();
        while let Some(known) = next {
            if known.signature == signature {
                return Some(&known.types);
            }
            next = known.next.get();
        }
        None
    }
}

const CACHED: usize = 256;

thread_local! {
    /// Addresses of metadata, and their callsites. Without a destructor, so that it works until
    /// the thread ends.
    static CACHE: [Cell<(usize, Option<&'static Callsite>)>; CACHED] = const { [const { Cell::new((0, None)) }; CACHED] };
}

static CALLSITES: Mutex<Option<HashMap<usize, &'static Callsite>>> = Mutex::new(None);

#[cold]
#[inline(never)]
fn find(metadata: &'static Metadata<'static>, place: usize) -> &'static Callsite {
    let address = std::ptr::from_ref(metadata).addr();
    let mut callsites = CALLSITES.lock().unwrap_or_else(PoisonError::into_inner);
    let callsite: &'static Callsite = callsites.get_or_insert_default().entry(address).or_insert_with(|| {
        let site = metadata.file().map_or(0, |file| runtime_specs::source_position(file, metadata.line().unwrap_or(0)));
        &*Box::leak(Box::new(Callsite {
            kind: CallsiteKind::of(metadata),
            site,
            metadata,
            records: SignatureList::default(),
            new_fields: SignatureList::default(),
        }))
    });
    drop(callsites);
    CACHE.with(|cache| cache[place].set((address, Some(callsite))));
    callsite
}
