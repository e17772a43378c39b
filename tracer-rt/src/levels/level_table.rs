//! The levels of the specs of this process: one word per level contains its switch and the base of
//! its record ids.

use std::sync::atomic::{AtomicU32, Ordering};

use tracer_format::columns::layouts;
use tracer_format::{BlockKind, FIRST_RESERVED_ID, PROCESS_STREAM};

use super::overflow_policy::{self, OverflowPolicy};
use crate::cursor::{CLASS_SHIFT, KEPT, RING};
use crate::live_file;
use crate::user_messages::report;

/// The trace and level names of the self-tracing, as in switches.
const SELF_TRACE: (&str, &str) = ("tracer", "TUMIT");

/// A level of a spec.
/// Its word is 0 if the level is off. If it is on, the word is the base id of the provider and the
/// class of the stream. The word is negative until the provider is registered. A level that is off
/// costs one load and one branch, a level that is on one branch more.
#[derive(Debug)]
pub struct Level {
    pub(crate) word: AtomicU32,
    pub(crate) provider: &'static Provider,
}

const UNKNOWN: u32 = u32::MAX;

impl Level {
    /// Creates a level, for generated code.
    #[must_use]
    pub const fn new(provider: &'static Provider) -> Self {
        Self { word: AtomicU32::new(UNKNOWN), provider }
    }

    /// The word of the level, if its provider is registered and the level is on.
    pub(crate) fn known_base(&self) -> Option<u32> {
        let word = self.word.load(Ordering::Relaxed);
        (word != 0 && word != UNKNOWN).then_some(word)
    }
}

/// A spec in this process: name, schema and levels.
#[derive(Debug)]
pub struct Provider {
    name: &'static str,
    schema: &'static [u8],
    ids: u16,
    pub(crate) levels: &'static [(&'static str, bool, &'static Level)],
}

impl Provider {
    /// Creates a provider, for generated code.
    /// `ids` is the number of record types. Each level has its name, its default (on or off), and
    /// its switch.
    #[must_use]
    pub const fn new(
        name: &'static str,
        schema: &'static [u8],
        ids: u16,
        levels: &'static [(&'static str, bool, &'static Level)],
    ) -> Self {
        Self { name, schema, ids, levels }
    }
}

/// The specs of this process and the requested switches.
#[derive(Debug)]
pub(crate) struct LevelTable {
    providers: Vec<RegisteredProvider>,
    next_id: u16,
    switches: Vec<(String, bool)>,
    environment_read: bool,
    /// Names of levels in `TUMIT_LEVELS`.
    environment: Vec<String>,
    /// Policies by level name. The last one that matches a level applies.
    policies: Vec<(String, OverflowPolicy)>,
    /// Whether all levels are off, independent of the switches.
    is_paused: bool,
    /// The level of the self-tracing. Its spec is registered when the level is first switched on.
    self_trace: &'static Level,
}

/// A spec and its ids in this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisteredProvider {
    provider: &'static Provider,
    base: u16,
}

impl RegisteredProvider {
    /// The payload of the spec's `schema` block.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(8 + self.provider.schema.len());
        payload.extend(u32::from(self.base).to_le_bytes());
        payload.extend(u32::from(self.provider.ids).to_le_bytes());
        payload.extend(self.provider.schema);
        payload
    }

    /// Adds the spec to the live file. Returns false if that has no space.
    pub(crate) fn log(&self) -> bool {
        live_file::log(BlockKind::Schema, PROCESS_STREAM, 1, &self.payload())
    }

    /// Size in bytes of the log entry of [`Self::log`].
    pub(crate) fn log_bytes(&self) -> usize {
        live_file::entry_bytes(8 + self.provider.schema.len())
    }
}

impl LevelTable {
    pub(crate) const fn new(self_trace: &'static Level) -> Self {
        Self {
            providers: Vec::new(),
            next_id: 1,
            switches: Vec::new(),
            environment_read: false,
            environment: Vec::new(),
            policies: Vec::new(),
            is_paused: false,
            self_trace,
        }
    }

    /// Specs from index `from` on, in the order of their registration.
    pub(crate) fn registered_from(&self, from: usize) -> &[RegisteredProvider] {
        self.providers.get(from..).unwrap_or(&[])
    }

    /// Registers a spec.
    /// Returns false if the live file has no space for it. The spec must then be in the file before
    /// [`Self::apply_all`] switches its levels on.
    pub(crate) fn register(&mut self, provider: &'static Provider) -> bool {
        if self.providers.iter().any(|other| std::ptr::eq(other.provider, provider)) {
            return true;
        }
        self.read_environment();
        let end = self.next_id.checked_add(provider.ids).filter(|end| *end <= FIRST_RESERVED_ID);
        let Some(end) = end else {
            report(&format!("no record ids are left for spec `{}`: its events are not recorded", provider.name));
            for (_, _, level) in provider.levels {
                level.word.store(0, Ordering::Relaxed);
            }
            return true;
        };
        let registered = RegisteredProvider { provider, base: self.next_id };
        self.next_id = end;
        self.providers.push(registered);
        let logged = registered.log();
        if logged {
            self.apply(registered);
        }
        logged
    }

    /// Switches all levels off, independent of their switches, or restores them.
    pub(crate) fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        self.apply_all();
    }

    /// Applies the switches to all specs.
    pub(crate) fn apply_all(&self) {
        for registered in &self.providers {
            self.apply(*registered);
        }
    }

    pub(crate) fn switch(&mut self, name: &str, is_on: bool) {
        self.read_environment();
        if name.eq_ignore_ascii_case("all") {
            self.switches.retain(|(switch, _)| is_self_trace(switch));
        }
        self.switches.retain(|(switch, _)| !switch.eq_ignore_ascii_case(name));
        self.switches.push((name.to_owned(), is_on));
        self.register_self_trace();
        self.apply_all();
    }

    /// Registers the spec of the self-tracing if a switch requests it, because most programs do not
    /// need it in their files.
    pub(crate) fn register_self_trace(&mut self) {
        self.read_environment();
        if self.switches.iter().any(|(switch, on)| *on && is_self_trace(switch)) {
            self.register(self.self_trace.provider);
        }
    }

    /// Applies the switches in a text, as in `TUMIT_LEVELS`.
    /// Returns false if an entry is not valid or names a level that no known spec has.
    pub(crate) fn switch_all(&mut self, text: &str) -> bool {
        let mut is_valid = true;
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            match parse_switch(entry) {
                Some((name, on)) => {
                    is_valid &= self.has_level(name);
                    self.switch(name, on);
                }
                None => is_valid = false,
            }
        }
        is_valid
    }

    /// Names in `TUMIT_LEVELS` that no known spec has.
    pub(crate) fn unknown_names(&mut self) -> Vec<String> {
        let mut names = std::mem::take(&mut self.environment);
        names.retain(|name| !self.has_level(name));
        names
    }

    /// Names with a policy that no known spec has.
    pub(crate) fn unknown_policies(&self) -> Vec<String> {
        let names = self.policies.iter().map(|(name, _)| name).filter(|name| !self.has_level(name));
        names.cloned().collect()
    }

    /// Sets the overflow policies.
    ///
    /// They replace those of the environment, so the caller includes these.
    pub(crate) fn set_policies(&mut self, policies: Vec<(String, OverflowPolicy)>) {
        // The environment now counts as read. Otherwise the next spec would replace the policies.
        self.read_environment();
        self.store_policies(policies);
    }

    fn store_policies(&mut self, policies: Vec<(String, OverflowPolicy)>) {
        overflow_policy::store_active(&policies);
        self.policies = policies;
        self.apply_all();
    }

    /// Whether threads wait for space for records with this id.
    pub(crate) fn blocks(&self, id: u16) -> bool {
        let of = |registered: &&RegisteredProvider| {
            (registered.base..registered.base + registered.provider.ids).contains(&id)
        };
        let Some(registered) = self.providers.iter().find(of) else { return false };
        let Some(types) = layouts(registered.provider.schema) else { return false };
        let kind = types.get(usize::from(id - registered.base));
        let level = kind.and_then(|kind| registered.provider.levels.get(kind.level as usize));
        level.is_some_and(|(level, _, _)| self.policy(registered.provider.name, level) == OverflowPolicy::Block)
    }

    fn policy(&self, trace: &str, level: &str) -> OverflowPolicy {
        let requested = self.policies.iter().rev().find(|(name, _)| names(name, trace, level));
        if (trace, level) == SELF_TRACE {
            return OverflowPolicy::Drop; // the writer thread cannot wait for itself
        }
        requested.map_or_else(OverflowPolicy::default, |(_, policy)| *policy)
    }

    fn has_level(&self, switch: &str) -> bool {
        let levels = self.providers.iter().flat_map(|registered| {
            registered.provider.levels.iter().map(|(level, _, _)| names(switch, registered.provider.name, level))
        });
        switch.eq_ignore_ascii_case("all") || is_self_trace(switch) || levels.into_iter().any(|is| is)
    }

    fn apply(&self, provider: RegisteredProvider) {
        for (name, default, level) in provider.provider.levels {
            let is_self = std::ptr::eq(*level, self.self_trace);
            let is_meant = |switch: &str| {
                if is_self { is_self_trace(switch) } else { names(switch, provider.provider.name, name) }
            };
            let switch_entry = self.switches.iter().rev().find(|(switch, _)| is_meant(switch));
            let on = switch_entry.map_or(*default, |(_, on)| *on) && !self.is_paused;
            let overwrites = self.policy(provider.provider.name, name) == OverflowPolicy::Overwrite;
            let class = if overwrites { RING as u32 } else { KEPT as u32 };
            let word = u32::from(provider.base) | class << CLASS_SHIFT;
            level.word.store(if on { word } else { 0 }, Ordering::Relaxed);
        }
    }

    /// Reads the environment once.
    /// Its switches come first, so that those of the program take precedence.
    fn read_environment(&mut self) {
        if self.environment_read {
            return;
        }
        self.environment_read = true;
        // Entries that are not valid are reported when recording begins.
        self.store_policies(overflow_policy::from_environment(|_| {}));
        let Ok(text) = std::env::var("TUMIT_LEVELS") else { return };
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            match parse_switch(entry) {
                Some((name, is_on)) => {
                    self.environment.push(name.to_owned());
                    self.switches.push((name.to_owned(), is_on));
                }
                None => report(&format!(
                    "TUMIT_LEVELS: `{entry}` is not valid: write NAME=on or NAME=off, separated by commas"
                )),
            }
        }
    }
}

fn parse_switch(entry: &str) -> Option<(&str, bool)> {
    let (name, value) = entry.split_once('=')?;
    let on = match value.trim().to_ascii_lowercase().as_str() {
        "on" | "1" | "true" => true,
        "off" | "0" | "false" => false,
        _ => return None,
    };
    let name = name.trim();
    (!name.is_empty()).then_some((name, on))
}

/// Whether a switch names the level of the self-tracing. `all` does not.
fn is_self_trace(switch: &str) -> bool {
    !switch.eq_ignore_ascii_case("all") && names(switch, SELF_TRACE.0, SELF_TRACE.1)
}

fn names(switch: &str, trace: &str, level: &str) -> bool {
    match switch.split_once('.') {
        Some((of, name)) => of.eq_ignore_ascii_case(trace) && name.eq_ignore_ascii_case(level),
        None => switch.eq_ignore_ascii_case("all") || switch.eq_ignore_ascii_case(level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SELF_TRACE_SPEC: Provider = Provider::new(SELF_TRACE.0, b"", 2, &[(SELF_TRACE.1, false, &SELF)]);
    static SELF: Level = Level::new(&SELF_TRACE_SPEC);
    static FIRST: Provider = Provider::new("first", b"", 10, &[("COM", true, &COM), ("APP", false, &APP)]);
    static COM: Level = Level::new(&FIRST);
    static APP: Level = Level::new(&FIRST);
    static SECOND: Provider = Provider::new("second", b"", 5, &[("COM", true, &OTHER)]);
    static OTHER: Level = Level::new(&SECOND);
    static THIRD: Provider = Provider::new("third", b"", 5, &[("COM", true, &THIRD_COM)]);
    static THIRD_COM: Level = Level::new(&THIRD);
    static HUGE: Provider = Provider::new("huge", b"", 0xFFF0 - 10, &[("X", true, &TOO_MANY)]);
    static TOO_MANY: Level = Level::new(&HUGE);

    fn words() -> [u32; 3] {
        [&COM, &APP, &OTHER].map(|level| level.word.load(Ordering::Relaxed))
    }

    #[test]
    fn bases_are_disjoint_and_switches_hold() {
        let mut levels = LevelTable { environment_read: true, ..LevelTable::new(&SELF) };
        levels.switch("second.com", false);
        levels.register(&FIRST);
        levels.register(&SECOND);
        levels.register(&FIRST);
        assert_eq!(words(), [1, 0, 0]);
        levels.switch("app", true);
        assert_eq!(words(), [1, 1, 0]);
        levels.switch("all", true);
        assert_eq!(words(), [1, 1, 11]);
        levels.switch("COM", false);
        assert_eq!(words(), [0, 1, 0]);
        levels.register(&HUGE);
        assert_eq!(TOO_MANY.word.load(Ordering::Relaxed), 0);
        assert_eq!(levels.registered_from(1).len(), 1);
    }

    #[test]
    fn earlier_policies_have_precedence() {
        let mut levels = LevelTable::new(&SELF);
        levels.set_policies(vec![("all".into(), OverflowPolicy::Block)]);
        levels.register_self_trace();
        levels.register(&THIRD);
        assert_eq!(levels.policy("third", "COM"), OverflowPolicy::Block);
    }

    #[test]
    fn all_selects_the_levels_of_the_program() {
        let mut levels = LevelTable { environment_read: true, ..LevelTable::new(&SELF) };
        levels.switch("TUMIT", true);
        levels.switch("all", false);
        assert!(levels.switches.iter().any(|(name, on)| name == "TUMIT" && *on));
        levels.set_policies(vec![("all".into(), OverflowPolicy::Block), ("nobody".into(), OverflowPolicy::Block)]);
        assert_eq!(levels.unknown_policies(), ["nobody"]);
    }

    #[test]
    fn switches_accept_several_words_and_reject_others() {
        assert_eq!(parse_switch("COM = on"), Some(("COM", true)));
        assert_eq!(parse_switch("a.b=0"), Some(("a.b", false)));
        assert_eq!(parse_switch("COM=OFF"), Some(("COM", false)));
        for bad in ["COM", "=on", "COM=maybe"] {
            assert_eq!(parse_switch(bad), None);
        }
    }
}
