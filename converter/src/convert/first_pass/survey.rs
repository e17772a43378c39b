//! The first pass: what must be known before the first line is written.
//!
//! Which ends of links have no other end; which values are computed; how containers are named that are used before they
//! are created; and which dates of their own the arrows have, block by block.

use std::io;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::notes::{ArrowPlace, Noting, Places};
use crate::clock::LinkLog;
use crate::convert::columnar::ops::Act;
use crate::convert::columnar::ops::Turn;
use crate::convert::columnar::stream::Values;
use crate::convert::plan::Plan;
use crate::convert::text_lines::append_line;
use crate::convert::thread_ends::Endings;
use crate::rules::containers::{Node, Paths};
use crate::rules::eval::Scope;
use crate::rules::links::LinkKey;
use crate::rules::model::{LinkModel, Model};
use crate::rules::program::{Arrow, End, Op, ValueCode};
use crate::rules::value::{KeyPart, Symbols};
use tumit_paje::TypeId;
use tumit_spill::endpoint_map::{Half, Meeting, Waiting};

/// Noted of an end without other end; no container type has this number.
const UNMATCHED: u16 = u16::MAX;

/// The other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherEnd {
    /// There is none.
    Missing,
    /// Where the rules say.
    Somewhere,
    /// In a container of this type, of those that the rules allow.
    In(usize),
}

/// What the first pass found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Ends of links without other end, which are left out, and the container type at the other end of links whose type
    /// depends on both.
    ends: Places,
    /// Fields given by `create … with`, by path.
    pub(crate) names: FxHashMap<Node, Vec<(String, KeyPart)>>,
    pub(crate) paths: Paths,
    /// Lines of a text output that are written once, in the order of the records that asked first.
    pub(crate) once: IndexSet<String, FxBuildHasher>,
    pub(crate) unmatched_starts: u64,
    pub(crate) unmatched_ends: u64,
    pub(crate) links: u64,
}

impl Survey {
    /// What is known of the other end of the link at this arrow. O(log of the number of ends of which there is something to know).
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub(crate) fn other_end(&mut self, place: ArrowPlace) -> io::Result<OtherEnd> {
        Ok(match self.ends.find(place)? {
            Some(UNMATCHED) => OtherEnd::Missing,
            Some(container) => OtherEnd::In(container.into()),
            None => OtherEnd::Somewhere,
        })
    }

    /// What `create` was given, each set of names once, in a fixed order.
    pub(crate) fn names_in_order(&self) -> Vec<&[(String, KeyPart)]> {
        let mut nodes: Vec<Node> = self.names.keys().copied().collect();
        nodes.sort_unstable();
        nodes.into_iter().map(|node| self.names[&node].as_slice()).collect()
    }
}

/// The first pass at work.
#[derive(Debug)]
pub(crate) struct Surveyor {
    survey: Survey,
    noting: Noting,
    waiting: Waiting<Seen, 4>,
    failed: Option<io::Error>,
    /// Where the ends of links are noted, if that is wanted.
    log: Option<LinkLog>,
    /// Values that are not declared, each with the record that had it first.
    met: FxHashMap<(TypeId, KeyPart), Met>,
    scratch: String,
}

/// A record and its arrow that had a value first: date, stream, position in it, arrow, variant of its link type.
type Met = (i64, u32, u64, u16, u16);

#[derive(Clone, Copy, Debug)]
struct Seen {
    end: End,
    place: ArrowPlace,
    time: i64,
    container: u16,
    is_partial: bool,
    /// Its number in the log.
    link: u64,
}

impl Half<4> for Seen {
    fn starts(&self) -> bool {
        self.end == End::Start
    }

    fn words(&self) -> [u64; 4] {
        let (stream, ordinal, arrow) = self.place;
        let place = u64::from(stream) << 32 | u64::from(arrow) << 16 | u64::from(self.container);
        let flags = u64::from(self.is_partial) << 1 | u64::from(self.starts());
        [place, ordinal, self.time.cast_unsigned(), self.link << 2 | flags]
    }

    fn of([place, ordinal, time, link]: [u64; 4]) -> Self {
        Self {
            end: if link & 1 == 1 { End::Start } else { End::Finish },
            place: ((place >> 32) as u32, ordinal, (place >> 16) as u16),
            time: time.cast_signed(),
            container: place as u16,
            is_partial: link & 2 == 2,
            link: link >> 2,
        }
    }
}

impl Surveyor {
    /// A first pass that also notes the ends of links in this log. Beyond so many bytes, what it notes itself goes to a file.
    pub(crate) fn new(log: Option<LinkLog>, memory: usize) -> Self {
        let noting = Noting::with_memory(memory);
        Self {
            survey: Survey::default(),
            noting,
            waiting: Waiting::default(),
            failed: None,
            log,
            met: FxHashMap::default(),
            scratch: String::new(),
        }
    }

    /// Looks at a record; `time` gives the date of each arrow.
    pub(crate) fn record(
        &mut self,
        scope: &Scope<'_>,
        place: (u32, u64),
        model: &Model,
        symbols: &mut Symbols,
        mut dated: impl FnMut(i64),
    ) {
        for (number, arrow) in scope.program.arrows.iter().enumerate() {
            self.scratch.clear();
            let mut time = scope.time;
            if let Some(at) = &arrow.at
                && let Some(date) = scope.eval(at, &mut self.scratch, symbols).integer()
            {
                time = i64::try_from(date).unwrap_or(time).max(0);
                dated(time);
            }
            if arrow.when.as_ref().is_some_and(|when| !scope.holds(when, &mut self.scratch, symbols)) {
                continue;
            }
            let arrow_number = u16::try_from(number).unwrap_or(u16::MAX);
            self.arrow(scope, arrow, (place.0, place.1, arrow_number), time, model, symbols);
        }
    }

    /// Evaluates the rules for the ends of threads and processes.
    pub(crate) fn ends(&mut self, plan: &Plan<'_>, model: &Model, symbols: &mut Symbols) {
        if !plan.has_end_rules() {
            return;
        }
        for end in Endings::of(plan).all {
            let stream = end.stream as usize;
            let ordinal = plan.source(stream).1.records();
            for program in plan.end_programs(stream, end.is_process).filter(|program| program.is_surveyed()) {
                let scope = plan.scope(stream, program, end.raw, (0, ordinal), &[]);
                self.record(&scope, (end.stream, ordinal), model, symbols, |_| {});
            }
        }
    }

    fn arrow(
        &mut self,
        scope: &Scope<'_>,
        arrow: &Arrow,
        place: ArrowPlace,
        time: i64,
        model: &Model,
        symbols: &mut Symbols,
    ) {
        match &arrow.op {
            Op::SetState { ty, value: ValueCode::Computed(code), .. }
            | Op::PushState { ty, value: ValueCode::Computed(code), .. }
            | Op::Mark { ty, value: ValueCode::Computed(code), .. } => {
                self.value(scope, *ty, code, (scope.time, place.0, place.1, place.2, 0), model, symbols);
            }
            Op::Create { on } if !arrow.with.is_empty() => {
                if on.is_ambiguous(scope, &mut self.scratch, symbols) {
                    return;
                }
                let node = self.survey.paths.node(on, scope, &mut self.scratch, symbols);
                let given = arrow.with.iter().map(|(name, code)| {
                    let key = scope.eval(code, &mut self.scratch, symbols).key(&self.scratch, symbols);
                    (name.clone(), key)
                });
                let given = given.collect();
                self.survey.names.entry(node).or_insert(given);
            }
            Op::Link { end, link, value, key, on } => {
                if let Some(crate::rules::program::LinkValue::Computed(code)) = value {
                    for variant in 0..model.links[*link].variants.len() {
                        let ty = model.links[*link].variants[variant].ty;
                        let variant = u16::try_from(variant).unwrap_or(u16::MAX);
                        let met = (scope.time, place.0, place.1, place.2, variant);
                        self.value(scope, ty, code, met, model, symbols);
                    }
                }
                if on.is_ambiguous(scope, &mut self.scratch, symbols) {
                    return;
                }
                let link_key = link_key(scope, *link, key, on, model, &mut self.scratch, symbols);
                self.end_of(&link_key, *end, (*link, on.container()), place, time, model);
            }
            Op::Line { once: true, text, arguments } => {
                let mut line = String::new();
                append_line(scope, text, arguments, &mut self.scratch, symbols, &mut line);
                self.survey.once.insert(line);
            }
            _ => {}
        }
    }

    /// Looks at an end of a link that was made from columns.
    pub(crate) fn ready(&mut self, plan: &Plan<'_>, act: &Act, turn: Turn, keys: &[u64], model: &Model) {
        let program = plan.programs.get(act.program as usize);
        let ready = program.and_then(|program| program.ready_links.as_ref()?.get(usize::from(act.ready)));
        let arrow = program.zip(ready).and_then(|(program, ready)| program.arrows.get(usize::from(ready.arrow)));
        let (Some(ready), Some(Arrow { op: Op::Link { end, link, on, .. }, .. })) = (ready, arrow) else { return };
        let place = (turn.stream, turn.bits, ready.arrow);
        self.end_of(&act.key.with_words(keys), *end, (*link, on.container()), place, turn.date, model);
    }

    /// Looks at an end of a link in a container of this type.
    fn end_of(
        &mut self,
        key: &LinkKey,
        end: End,
        (link, container): (usize, usize),
        place: ArrowPlace,
        time: i64,
        model: &Model,
    ) {
        let container = u16::try_from(container).unwrap_or(u16::MAX);
        let LinkModel { variants, is_partial, .. } = &model.links[link];
        let (several, is_partial) = (variants.len() > 1, *is_partial);
        self.link(key, Seen { end, place, time, container, is_partial, link: 0 }, several);
    }

    fn value(
        &mut self,
        scope: &Scope<'_>,
        ty: TypeId,
        code: &crate::rules::program::Code,
        met: Met,
        model: &Model,
        symbols: &mut Symbols,
    ) {
        let key = scope.key(code, &mut self.scratch, symbols);
        self.meet(ty, key, met, model);
    }

    fn meet(&mut self, ty: TypeId, key: KeyPart, met: Met, model: &Model) {
        if key != KeyPart::None && model.value(ty, key).is_none() {
            let first = self.met.entry((ty, key)).or_insert(met);
            *first = met.min(*first);
        }
    }

    /// Takes the values that occur in columns.
    pub(crate) fn take_columns(&mut self, values: Values, plan: &Plan<'_>, model: &Model, symbols: &mut Symbols) {
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_unstable();
        for ((program, arrow, process, value), (time, stream, ordinal)) in values {
            let place = (program, arrow, process as usize);
            if let Some((ty, key)) = plan.value_of(place, stream as usize, value, symbols) {
                self.meet(ty, key, (time, stream, ordinal, arrow, 0), model);
            }
        }
    }

    /// Declares the values that were met, in the order in which they came.
    fn declare(&mut self, model: &mut Model, symbols: &mut Symbols) {
        let mut met: Vec<_> = std::mem::take(&mut self.met).into_iter().map(|(value, met)| (met, value)).collect();
        met.sort_unstable_by_key(|(met, (ty, _))| (*met, *ty));
        for (_, (ty, key)) in met {
            model.values.meet(ty, key, symbols);
        }
    }

    fn link(&mut self, key: &LinkKey, mut seen: Seen, several: bool) {
        let (stream, ordinal, _) = seen.place;
        let is_finish = seen.end == End::Finish;
        let Self { waiting, noting, log, .. } = self;
        let met = waiting.meet(key.hash(), !is_finish, || {
            if seen.is_partial && is_finish {
                // The first part of a chain: nothing comes before it.
                noting.note(seen.place, UNMATCHED);
                return None;
            }
            if let Some(log) = log {
                seen.link = log.first(stream, seen.time, ordinal, is_finish);
            }
            Some(seen)
        });
        let other = match met {
            Ok(Meeting::Other { other, .. }) => other,
            Ok(_) => return,
            Err(why) => return self.failed = Some(why),
        };
        if let Some(log) = &mut self.log {
            log.second((other.link, other.time), stream, seen.time, ordinal, is_finish);
        }
        self.survey.links += 1;
        let (start, finish) = if !is_finish { (seen, other) } else { (other, seen) };
        if several {
            self.noting.note(start.place, finish.container);
            self.noting.note(finish.place, start.container);
        }
    }

    /// What was found, once all records were seen.
    ///
    /// # Errors
    /// When the log or another temporary file could not be written.
    pub(crate) fn finish(mut self, model: &mut Model, symbols: &mut Symbols) -> io::Result<(Survey, Option<LinkLog>)> {
        self.declare(model, symbols);
        let Self { mut survey, mut noting, waiting, failed, mut log, .. } = self;
        failed.map_or(Ok(()), Err)?;
        let mut incomplete = Vec::new();
        waiting.each(|seen| {
            match seen.end {
                _ if seen.is_partial => {}
                End::Start => survey.unmatched_starts += 1,
                End::Finish => survey.unmatched_ends += 1,
            }
            noting.note(seen.place, UNMATCHED);
            incomplete.push(seen.link);
            Ok(())
        })?;
        survey.ends = noting.finish()?;
        if let Some(log) = &mut log {
            log.finish(incomplete)?;
        }
        Ok((survey, log))
    }
}

/// The key that pairs a link's ends: its type, the keys of the container that holds it, and its own keys.
pub(crate) fn link_key(
    scope: &Scope<'_>,
    link: usize,
    key: &[crate::rules::program::Code],
    on: &crate::rules::program::Target,
    model: &Model,
    scratch: &mut String,
    symbols: &mut Symbols,
) -> LinkKey {
    let mut keys: SmallVec<[KeyPart; 8]> = SmallVec::new();
    for step in on.holder_steps(model.links[link].holder) {
        for code in step {
            let key = scope.key(code, scratch, symbols);
            keys.push(key);
            if key.is_whole() {
                break;
            }
        }
    }
    keys.extend(key.iter().map(|code| scope.key(code, scratch, symbols)));
    LinkKey::new(link, keys.into_iter())
}
