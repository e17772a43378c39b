//! Referents: the process and thread of a container whose keys are all built-ins.
//!
//! Such a container is distinct per process, and per thread if `tid` is one of its keys. Equal
//! process ids, ranks or thread ids do not merge two containers.
//!
//! A rule that names the container by the built-ins themselves refers to the process and thread of
//! its record. A rule may also name it by other values: the rank of a sender, or the id of a new
//! thread. It then refers to a process or thread that has these values. A match in the record's
//! process has precedence. Otherwise it must be the only match in the run.

use std::sync::Arc;

use tumit::spec::Builtin;

use super::eval::RecordScope;
use super::program::{ExprCode, PathReferent};
use super::referent_table::{BuiltinKeys, Distinctness, NO_PROCESS, ReferentMatch, ReferentTable};
use super::rule_value::{BY_KEYS, KeyPart, Symbols};
use super::stream_facts::ThreadKey;

impl PathReferent {
    /// For a container whose path has these built-in keys with these values.
    pub(crate) fn new(distinctness: Distinctness, keys: &[(Builtin, ExprCode)], table: &Arc<ReferentTable>) -> Self {
        let is_own = |(builtin, code): &(Builtin, ExprCode)| matches!(code, ExprCode::Builtin(own) if own == builtin);
        let by_value = (!keys.iter().all(is_own)).then(|| keys.into());
        Self { distinctness, by_value, table: Arc::clone(table) }
    }

    /// Whether it is the process and thread of the record itself, which all records of a stream
    /// share.
    pub(crate) const fn is_own(&self) -> bool {
        self.by_value.is_none()
    }

    /// Whether it refers to a thread. The thread may depend on the time.
    pub(crate) fn is_of_thread(&self) -> bool {
        self.distinctness == Distinctness::Thread
    }

    /// Whether all records of a stream share it and it identifies its container without the keys.
    pub(crate) fn is_fixed(&self) -> bool {
        self.is_own() && self.distinctness != Distinctness::Keys
    }

    /// The key; [`KeyPart::None`] if several processes or threads have the values.
    pub(crate) fn key(&self, scope: &RecordScope<'_>, scratch: &mut String, symbols: &mut Symbols) -> KeyPart {
        let Some(keys) = &self.by_value else {
            let ThreadKey { process, thread } = scope.stream.identity;
            return self.part(process, Some(thread));
        };
        let values = values_of(keys, scope, scratch, symbols);
        match self.table.find(scope.stream.identity.process, &values, scope.raw) {
            ReferentMatch::Thread(process, thread) => self.part(process, Some(thread)),
            ReferentMatch::Process(process) => self.part(process, None),
            ReferentMatch::Several => KeyPart::None,
        }
    }

    /// Its keys with their values in a record.
    pub(crate) fn values(&self, scope: &RecordScope<'_>, scratch: &mut String, symbols: &mut Symbols) -> BuiltinKeys {
        let keys = self.by_value.as_deref().unwrap_or_default();
        values_of(keys, scope, scratch, symbols)
    }

    /// The smallest set of further keys (`pid`, `host` or both) that distinguishes the processes
    /// with these values. `None` if no set does.
    pub(crate) fn missing_keys(&self, values: &[(Builtin, KeyPart)]) -> Option<&'static [Builtin]> {
        self.table.missing_keys(values)
    }

    fn part(&self, process: u32, thread: Option<u32>) -> KeyPart {
        let thread = match (self.distinctness, thread) {
            _ if process == NO_PROCESS => BY_KEYS,
            (Distinctness::Process, _) => 0,
            (Distinctness::Thread, Some(thread)) => thread.saturating_add(1).min(BY_KEYS - 1),
            (Distinctness::Thread, None) | (Distinctness::Keys, _) => BY_KEYS,
        };
        KeyPart::Of { process, thread }
    }
}

fn values_of(
    keys: &[(Builtin, ExprCode)],
    scope: &RecordScope<'_>,
    scratch: &mut String,
    symbols: &mut Symbols,
) -> BuiltinKeys {
    keys.iter().map(|(builtin, code)| (*builtin, scope.key(code, scratch, symbols))).collect()
}
