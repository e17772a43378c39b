//! Event definitions in one of the forms that producers use: with any order of fields, with user
//! fields, or with definitions before the first use.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::notation::quoted;

/// Events: their key in this generator, their name, and their fields.
const EVENTS: [(&str, &str, &[&str]); 21] = [
    ("defc", "PajeDefineContainerType", &["Alias", "Type", "Name"]),
    ("defs", "PajeDefineStateType", &["Alias", "Type", "Name"]),
    ("defe", "PajeDefineEventType", &["Alias", "Type", "Name", "Color"]),
    ("defv", "PajeDefineVariableType", &["Alias", "Type", "Name", "Color"]),
    ("defl", "PajeDefineLinkType", &["Alias", "Type", "StartContainerType", "EndContainerType", "Name"]),
    ("val", "PajeDefineEntityValue", &["Alias", "Type", "Name", "Color"]),
    ("create", "PajeCreateContainer", &["Time", "Alias", "Type", "Container", "Name"]),
    ("create2", "PajeCreateContainer", &["Time", "Type", "Container", "Name"]),
    ("destroy", "PajeDestroyContainer", &["Time", "Type", "Name"]),
    ("set", "PajeSetState", &["Time", "Type", "Container", "Value"]),
    ("push", "PajePushState", &["Time", "Type", "Container", "Value"]),
    ("pop", "PajePopState", &["Time", "Type", "Container"]),
    ("reset", "PajeResetState", &["Time", "Type", "Container"]),
    ("setvar", "PajeSetVariable", &["Time", "Type", "Container", "Value"]),
    ("addvar", "PajeAddVariable", &["Time", "Type", "Container", "Value"]),
    ("subvar", "PajeSubVariable", &["Time", "Type", "Container", "Value"]),
    ("newevent", "PajeNewEvent", &["Time", "Type", "Container", "Value"]),
    ("start", "PajeStartLink", &["Time", "Type", "Container", "Value", "StartContainer", "Key"]),
    ("end", "PajeEndLink", &["Time", "Type", "Container", "Value", "EndContainer", "Key"]),
    ("file", "PajeTraceFile", &["Container", "Type", "Filename"]),
    ("start2", "PajeStartLink", &["Time", "Key", "Type", "Container", "Value", "StartContainer"]),
];

/// The definitions of a file.
#[derive(Debug)]
pub(super) struct TraceHeader {
    style: u64,
    /// Fields of the written definitions.
    definitions: BTreeMap<&'static str, Vec<&'static str>>,
    events: bool,
}

impl TraceHeader {
    pub(super) fn new(style: u64) -> Self {
        Self { style, definitions: BTreeMap::new(), events: false }
    }

    /// The definition of an event, unless the file contains it already. Also returns whether events
    /// came before.
    pub(super) fn definition(&mut self, event: &'static str) -> (String, bool) {
        let late = self.events;
        self.events |= event == "create";
        if self.definitions.contains_key(event) {
            return (String::new(), late);
        }
        // Some files define all events at the begin.
        let all = self.style & 2 == 0;
        let mut text = String::new();
        for (id, (key, name, fields)) in EVENTS.iter().enumerate() {
            if *key == event || all {
                self.define(id, key, name, fields, &mut text);
            }
        }
        (text, late)
    }

    fn define(&mut self, id: usize, key: &'static str, name: &str, fields: &[&'static str], text: &mut String) {
        let mut fields = fields.to_vec();
        let turn = (self.style >> 8) as usize + id;
        let count = fields.len();
        fields.rotate_left(turn % count);
        if self.style & 4 != 0 && turn.is_multiple_of(3) {
            fields.insert(turn % count, "Size");
        }
        if self.style & 8 != 0 && turn.is_multiple_of(2) && !matches!(key, "defc" | "defs") {
            fields.push("WaitsForContainer");
        }
        let percent = ["%", "% ", "%  ", " %\t"][(self.style >> 4) as usize % 4];
        let _ = writeln!(text, "{percent}EventDef {name} {}", self.id(id));
        for field in &fields {
            let ty = match *field {
                "Time" => "date",
                "Color" => "color",
                "Size" => "int",
                "Value" if key.ends_with("var") => "double",
                _ => "string",
            };
            let _ = writeln!(text, "{percent}{field} {ty}");
        }
        let _ = writeln!(text, "{percent}EndEventDef");
        self.definitions.insert(key, fields);
    }

    /// An identifier: a number, a word, or a number with a leading zero.
    fn id(&self, id: usize) -> String {
        match (self.style >> 6) % 4 {
            0 | 1 => id.to_string(),
            2 => format!("0{id}"),
            _ => format!("ev{id}"),
        }
    }

    /// A line of a defined event.
    pub(super) fn line(&self, event: &str, values: &[(&str, String)]) -> String {
        let id = EVENTS.iter().position(|(key, ..)| *key == event).unwrap_or(0);
        let mut text = self.id(id);
        let blank = ["\t", "  ", " ", " "][(self.style >> 12) as usize % 4];
        for field in &self.definitions[event] {
            let value = values.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_str());
            text.push_str(blank);
            text.push_str(&quoted(value.unwrap_or(match *field {
                "Size" => "42",
                _ => "none",
            })));
        }
        text.push('\n');
        text
    }
}
