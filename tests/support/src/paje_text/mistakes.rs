//! Mistakes in files. Each makes `pj_dump` reject the file.

use super::TraceGenerator;
use super::generator_state::TreeLevel;
use super::notation::seconds;

macro_rules! mistakes {
    ($($name:ident $message_part:literal,)*) => {
        /// A way to make a valid file invalid.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names explain the variants")]
        pub enum Mistake {
            $($name,)*
        }

        impl Mistake {
            /// All mistakes.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// A part of the error message.
            #[must_use]
            pub const fn message_part(self) -> &'static str {
                match self { $(Self::$name => $message_part,)* }
            }
        }
    };
}

mistakes! {
    PopOfNothing "pop of a state found no state",
    AddBeforeSet "was changed before it was set",
    StateBackInTime "change of a state has a timestamp before",
    PopBackInTime "change of a state has a timestamp before",
    VariableBackInTime "value of a variable has a timestamp before",
    EventBackInTime "point event has a timestamp before",
    EarlyDestruction "container ends before the last timestamp in it",
    LinkWithoutEnd "link has only one endpoint",
    LinkWithoutStart "link has only one endpoint",
    OtherValueAtEnd "link has another value at its end",
    ForeignLinkEnd "container of another type than its type was declared for",
    ForeignState "container of another type than its type was declared for",
    ForeignContainer "container of another type than its type was declared for",
    DestroyedAsAnother "destroys a container with another type",
    UnknownContainer "container that was not created",
    UnknownType "type that is not defined",
    WrongKind "type of the wrong kind for its event",
    UnknownId "id that has no definition",
    ContainerTwice "another one with the same identifier exists",
    TypeTwice "type defined again",
    DuplicateValue "value defined again",
    ValueAfterUse "value defined after its first use",
    NoWords "fewer values than its definition has fields",
    ReusedId "identifier of a destroyed container is used again",
    ReusedKey "key of a link is used again",
    OldFieldName "field with an old name",
    UnknownEvent "event that the Pajé format does not have",
    MissingField "without a mandatory field",
    FieldTwice "field defined twice",
    FieldType "field type that the Pajé format does not have",
    BadColor "invalid colour",
}

impl TraceGenerator {
    /// Writes a line of an entity in `c2` or another container, at the current timestamp.
    fn entity_line(&mut self, event: &'static str, ty: &str, container: &str, value: &str) {
        let timestamp = self.largest;
        self.entity_line_at(event, ty, container, value, timestamp);
    }

    fn entity_line_at(&mut self, event: &'static str, ty: &str, container: &str, value: &str, timestamp: u64) {
        let fields = [
            ("Time", seconds(timestamp, 0)),
            ("Type", ty.to_owned()),
            ("Container", container.to_owned()),
            ("Value", value.to_owned()),
        ];
        self.line(event, &fields);
    }

    fn linked(&mut self, event: &'static str, value: &str, container: &str, key: &str) {
        let fields = [
            ("Time", seconds(self.largest, 0)),
            ("Type", "L".to_owned()),
            ("Container", "0".to_owned()),
            ("Value", value.to_owned()),
            (if event == "start" { "StartContainer" } else { "EndContainer" }, container.to_owned()),
            ("Key", key.to_owned()),
        ];
        self.line(event, &fields);
    }

    /// Makes a mistake in a separate container.
    #[expect(clippy::too_many_lines, reason = "one case for each mistake")]
    pub(super) fn mistake(&mut self, mistake: Mistake) {
        self.largest += 1_000_000_000;
        let now = self.largest;
        let number = self.containers.len();
        self.create(TreeLevel::Thread, 1, now, 0);
        let id = format!("c{number}");
        let fresh = id.as_str();
        let early = now - 400_000_000;
        match mistake {
            Mistake::PopOfNothing => self.entity_line("pop", "S", fresh, ""),
            Mistake::AddBeforeSet => self.entity_line("addvar", "V", fresh, "1"),
            Mistake::StateBackInTime => {
                self.entity_line("set", "S", fresh, "a");
                self.entity_line_at("set", "S", fresh, "a", early);
            }
            Mistake::PopBackInTime => {
                self.entity_line("push", "S", fresh, "a");
                self.entity_line_at("pop", "S", fresh, "", early);
            }
            Mistake::VariableBackInTime => {
                self.entity_line("setvar", "V", fresh, "1");
                self.entity_line_at("setvar", "V", fresh, "1", early);
            }
            Mistake::EventBackInTime => {
                self.entity_line("newevent", "E", fresh, "a");
                self.entity_line_at("newevent", "E", fresh, "a", early);
            }
            Mistake::EarlyDestruction => {
                self.entity_line("set", "S", fresh, "a");
                self.destroy_line(number, early, 0);
            }
            Mistake::LinkWithoutEnd => self.linked("start", "m", fresh, "lonely"),
            Mistake::LinkWithoutStart => self.linked("end", "m", fresh, "lonely"),
            Mistake::OtherValueAtEnd => {
                self.linked("start", "m", fresh, "odd");
                self.linked("end", "n", fresh, "odd");
            }
            Mistake::ForeignLinkEnd => {
                self.linked("start", "m", "c1", "odd");
                self.linked("end", "m", fresh, "odd");
            }
            Mistake::ForeignState => self.entity_line("set", "SP", fresh, "a"),
            Mistake::ForeignContainer => self.create(TreeLevel::Thread, 0, now, 0),
            Mistake::DestroyedAsAnother => {
                let fields = [("Time", seconds(now, 0)), ("Type", "P".into()), ("Name", id.clone())];
                self.line("destroy", &fields);
            }
            Mistake::UnknownContainer => self.entity_line("set", "S", "nobody", "a"),
            Mistake::UnknownType => self.entity_line("set", "nothing", fresh, "a"),
            Mistake::WrongKind => self.entity_line("set", "V", fresh, "a"),
            Mistake::UnknownId => self.text.push_str("4711 1 2 3\n"),
            Mistake::ContainerTwice => self.reuse_identifier(fresh, now),
            Mistake::TypeTwice => self.definition("defs S T Again"),
            Mistake::DuplicateValue => self.definition("val a S Again"),
            Mistake::ValueAfterUse => {
                self.entity_line("set", "S", fresh, "late");
                self.definition("val late S Late");
            }
            Mistake::NoWords => {
                self.entity_line("set", "S", fresh, "a");
                let line = self.text.lines().next_back().and_then(|line| line.split_whitespace().next());
                let line = format!("{}\n", line.unwrap_or_default());
                self.text.push_str(&line);
            }
            Mistake::ReusedId => {
                self.destroy_line(number, now, 0);
                self.reuse_identifier(fresh, now);
            }
            Mistake::ReusedKey => {
                for _ in 0..2 {
                    self.linked("start", "m", fresh, "again");
                    self.linked("end", "m", fresh, "again");
                }
            }
            Mistake::OldFieldName => {
                self.define("PajeDefineStateType", "Alias string\n% ContainerType string\n% Name string");
            }
            Mistake::UnknownEvent => self.define("PajeDance", "Time date"),
            Mistake::MissingField => self.define("PajeSetState", "Time date"),
            Mistake::FieldTwice => {
                self.define("PajePopState", "Time date\n% Type string\n% Type string\n% Container string");
            }
            Mistake::FieldType => self.define("PajePopState", "Time date\n% Type text\n% Container string"),
            Mistake::BadColor => {
                let fields = [("Alias", "red"), ("Type", "S"), ("Name", "Red"), ("Color", "red")];
                self.line("val", &fields.map(|(field, value)| (field, value.to_owned())));
            }
        }
    }

    /// Creates a container under an identifier that was used before.
    fn reuse_identifier(&mut self, id: &str, timestamp: u64) {
        let fields = [
            ("Time", seconds(timestamp, 0)),
            ("Type", "T".to_owned()),
            ("Container", "c1".to_owned()),
            ("Name", "again".to_owned()),
            ("Alias", id.to_owned()),
        ];
        self.line("create", &fields);
    }

    fn define(&mut self, name: &str, fields: &str) {
        self.text.push_str(&format!("%EventDef {name} 99\n% {fields}\n%EndEventDef\n"));
    }
}
