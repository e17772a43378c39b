//! [`ElementHistory`]: the places of elements over time, from the events that place them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::event_list::{EventList, KeyColumn, by_name};
use super::mark_choice::CardElements;
use super::mark_colors::MarkColors;
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// The events of one choice, with the fields that place elements.
#[derive(Debug)]
pub(super) struct PlacingEvents {
    pub(super) events: Arc<EventList>,
    pub(super) x: Arc<Vec<f64>>,
    pub(super) y: Option<Arc<Vec<f64>>>,
    pub(super) colors: MarkColors,
    text: Option<Arc<KeyColumn>>,
}

impl PlacingEvents {
    pub(super) fn text(&self, index: usize) -> &str {
        let column = self.text.as_ref();
        let text = column.and_then(|column| column.names.get(column.keys[index]? as usize));
        text.map_or("", String::as_str)
    }
}

/// An event that places an element: a choice of events, and an event of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementMove {
    pub(super) time: i64,
    pub(super) list: usize,
    pub(super) index: usize,
}

/// An element with all its moves, by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MovingElement {
    pub(super) name: String,
    pub(super) moves: Vec<ElementMove>,
}

/// The elements by name.
#[derive(Debug, Default)]
pub(super) struct ElementHistory {
    pub(super) lists: Vec<PlacingEvents>,
    pub(super) elements: Vec<MovingElement>,
}

impl MovingElement {
    /// The last move at or before a time, and the one before it.
    pub(super) fn moves_at(&self, time: i64) -> Option<(ElementMove, Option<ElementMove>)> {
        let count = self.moves.partition_point(|movement| movement.time <= time);
        let last = count.checked_sub(1)?;
        Some((self.moves[last], last.checked_sub(1).map(|before| self.moves[before])))
    }
}

impl ElementHistory {
    /// The elements of some choices of events.
    ///
    /// # Errors
    /// The line of the choice that cannot be read, and the reason.
    pub(super) fn of(execution: &Execution, choices: &[CardElements]) -> Result<Arc<Self>, (usize, PerspectiveError)> {
        let mut line = 0;
        let history = execution.derived(&format!("{choices:?}"), || {
            let mut history = Self::default();
            for choice in choices {
                line = choice.line;
                history.lists.push(read(execution, choice)?);
            }
            history.add_moves(execution, choices)?;
            Ok(history)
        });
        history.map_err(|error| (line, error))
    }

    fn add_moves(&mut self, execution: &Execution, choices: &[CardElements]) -> Result<(), PerspectiveError> {
        let mut known: FxHashMap<String, usize> = FxHashMap::default();
        for (list, choice) in choices.iter().enumerate() {
            let placing = &self.lists[list];
            let names = placing.events.keys(execution, &choice.element)?;
            let has_place =
                |index: &usize| !placing.x[*index].is_nan() && placing.y.as_ref().is_none_or(|y| !y[*index].is_nan());
            for index in (0..names.keys.len()).filter(has_place) {
                let Some(name) = names.keys[index].and_then(|key| names.names.get(key as usize)) else { continue };
                let number = *known.entry(name.clone()).or_insert_with(|| {
                    self.elements.push(MovingElement { name: name.clone(), moves: Vec::new() });
                    self.elements.len() - 1
                });
                self.elements[number].moves.push(ElementMove { time: placing.events.times[index], list, index });
            }
        }
        self.elements.sort_by(|a, b| by_name(&a.name, &b.name));
        // The moves of each list are by time.
        self.elements.iter_mut().for_each(|element| element.moves.sort_by_key(|movement| movement.time));
        Ok(())
    }
}

fn read(execution: &Execution, choice: &CardElements) -> Result<PlacingEvents, PerspectiveError> {
    let events = EventList::of(execution, &choice.events)?;
    let text = choice.text.as_ref().map(|field| events.keys(execution, field)).transpose()?;
    let y = choice.y.as_ref().map(|field| events.numbers(execution, field)).transpose()?;
    Ok(PlacingEvents {
        x: events.numbers(execution, &choice.x)?,
        y,
        colors: MarkColors::new(execution, &events, &choice.paint)?,
        text,
        events,
    })
}
