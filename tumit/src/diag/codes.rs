//! The kinds of diagnostics: their codes, and an explanation of each for `tumit explain`.

use std::fmt;

macro_rules! codes {
    ($($name:ident = $number:literal, $explanation:literal;)*) => {
        /// The kind of a diagnostic. Its number never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $explanation] $name,)*
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The number of the code.
            #[must_use]
            pub const fn number(self) -> u16 {
                match self { $(Self::$name => $number,)* }
            }

            /// The meaning and the remedy, in one or two sentences.
            #[must_use]
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$name => $explanation,)* }
            }
        }
    };
}

codes! {
    // The text.
    Syntax = 1, "The text does not follow the grammar at this place. LANGUAGE.md has the grammar.";
    Unclosed = 2, "A block that starts with `{` has no `}` before the next declaration or the end of the file.";
    UnterminatedText = 3, "A text that starts with `\"` must end on its line. Texts of several lines stand between `\"\"\"` and `\"\"\"`.";
    TooDeep = 4, "Brackets are nested too deeply, or an expression has too many operators. Nothing that a person writes needs this.";
    BadNumber = 5, "The number does not fit: integers have 64 bits, and floats must be finite.";
    BadEscape = 6, "After a backslash stand `n`, `t`, `r`, `0`, `\\`, `\"` or `u{…}`. In texts with holes `{{` and `}}` give braces.";
    BadColor = 7, "A colour is `#` and six hexadecimal digits, a name of CSS, or `rgb(…)` with three numbers from 0 to 255 or from 0.0 to 1.0.";
    BadVersion = 9, "The version of a spec is a positive integer, said once. It grows when traces of the new spec can no longer be read by the old rules.";
    // Files.
    CannotRead = 10, "A file that is named by `use` could not be read. Its path counts from the file that says `use`.";
    UseCycle = 11, "A file uses itself, perhaps through others.";
    NoTrace = 12, "The root file says `trace NAME;` once. The name is used in generated functions.";
    RepeatedUse = 13, "A file names the same file twice in `use`. Its declarations are taken in once.";
    SpecTooLarge = 15, "The files of a spec may have 8 MiB together: they travel in every run.";
    // Names.
    Duplicate = 20, "A name is declared twice in the same name space.";
    ReservedName = 21, "The name has a meaning in the language or in generated code.";
    CollidingNames = 22, "Two names differ in the spec but become the same identifier in generated code.";
    NameTooLong = 23, "Names have at most 63 characters, which is what Fortran compilers accept.";
    UnknownEvent = 24, "No event or span of this name is declared.";
    UnknownLevel = 25, "No level of this name is declared.";
    UnknownType = 26, "There is neither a built-in type nor an enum of this name.";
    UnknownContainer = 27, "The `paje` block declares no container of this name.";
    UnknownEntity = 28, "The `paje` block declares no state, event, variable or link of this name.";
    UnknownValue = 29, "The name is neither a declared value of the type nor a parameter of the event.";
    UnknownName = 30, "The name is neither a parameter of the event nor a built-in.";
    UnknownHole = 31, "A hole in a container's label names neither a key of its path nor a field that `create … with` gives.";
    UnknownShape = 32, "Shapes are `triangle`, `diamond`, `circle`, `square` and `line`.";
    MisplacedExisting = 33, "`existing` leaves an action out where its container does not exist. It does not go with `create`, nor with the ends of links, which are paired before it is known which containers exist.";
    IgnoreAlone = 34, "`ignore` says that nothing is shown for an event. It is the only arrow of its rule.";
    // Expressions.
    UnknownFunction = 35, "There is no function of this name. Functions are `len`, `abs`, `min`, `max`, `floor`, `ceil`, `round`, `number`, and the name of each enum.";
    BadArguments = 36, "The function takes other arguments, or another number of them.";
    NotAList = 37, "Only arrays and `bytes` have elements.";
    BeyondEnd = 38, "The array has a fixed length, and no element at this place. Elements are counted from 0.";
    BadFormat = 39, "After `:` in a hole of a text stands how the value is written: `[<|>|^][0][WIDTH][.PRECISION][x|X|b|e]`. Width and precision go up to 100.";
    // Events.
    TooMany = 40, "There is a limit: 127 parameters for an event, 65519 events (a span counts twice, and three times with `end { … }`), 65536 values of an enum.";
    TooLarge = 41, "The part of a record whose size is fixed may not be larger than 32 KiB: it must fit into a block of the trace.";
    BadArray = 42, "Arrays have elements of a fixed size, and `[T; N]` has at least one.";
    EmptyEnum = 43, "An enum has at least one value.";
    EnumNumber = 44, "Each value of an enum has a number of its own, from 0 to 65535: what stands after `=`, else one more than the value before.";
    TaskTaken = 45, "An `async` span has a parameter `task` that says which parts of it belong together. It is added by itself.";
    Circular = 46, "A constant or type is declared by means of itself, perhaps through others.";
    NoValue = 47, "A constant must have a value: integers of 64 bits with a sign, finite floats, no division by zero.";
    Unused = 48, "A type or enum is declared and nothing in the spec uses it.";
    EmptyLevel = 49, "A level without events and spans switches nothing.";
    // The tree.
    LinkEndOutside = 50, "Both ends of a link are inside the container that declares it, or that container itself.";
    BadKeyType = 51, "A key is an integer or text: `u8` to `u64`, `i8` to `i64`, `string`, `interned` or an enum.";
    BadStreamKey = 52, "A `= stream` container finds its keys in what a stream knows: `pid`, `tid`, `rank`, `host`, `thread_name`, `stream_label`.";
    SecondStream = 53, "Only one container can be marked `= stream`.";
    BadSize = 54, "A size is a positive number; 1 is the usual one.";
    UnusedType = 55, "No rule makes anything of this type: nothing of it will be seen.";
    UnusedValue = 56, "No rule gives this value: it will never be seen.";
    UselessLook = 57, "Shapes are those of the marks of events. The size of a state is the share of its row's height, 1 being all of it.";
    // Rules.
    WrongVerb = 60, "The verb does not go with the nature of the type: states are set, pushed, popped and reset; variables are set, added to and subtracted from; events are marked; links are started and ended.";
    WrongContainer = 61, "The state, event or variable belongs to another type of container, or the link cannot have an end there.";
    KeyCount = 62, "A container is named by the keys of its whole path, outermost first.";
    WrongType = 63, "An expression has a type that does not fit here.";
    OutOfRange = 64, "A constant does not fit into the type of the key.";
    SecondRule = 65, "An event has one rule. `also rule` adds to it.";
    WhichEnd = 66, "A span has a begin and an end, and each may have a rule: `rule NAME.begin`, `rule NAME.end`.";
    ClauseOrder = 67, "Clauses stand in the order: related containers, `at`, `when`, `with`; the last three at most once.";
    UselessClause = 68, "The action leaves nothing on the picture that could hold fields or relations.";
    NotLocated = 69, "`file` and `line` are recorded only for events that are declared `located`.";
    LinkKeyMismatch = 70, "Starts and ends of a link are matched by their keys, so all keys of a link type look alike.";
    MissingField = 71, "The label of the container has a hole that this `create` does not fill.";
    OpenLink = 72, "Rules start links of this type but never end one, or the other way round: no arrow will be drawn.";
    HalfSpan = 73, "One end of a span has a rule and the other has none. As soon as one has, nothing is done by default for the other.";
    DivisionByZero = 74, "The right side of `/` or `%` is zero.";
    UselessRule = 75, "The rule never acts: every event that it speaks of has a more specific rule, or there is none.";
    NoRule = 76, "The event has no rule while others have. It is shown by default, apart from the tree of the spec.";
    ConstantCondition = 77, "The condition is the same for every record.";
    PushedForever = 78, "Rules push states of this type and none ends them: they are nested deeper and deeper.";
    NeverBegun = 79, "A rule ends a state or value that no rule begins.";
    // Outputs.
    TemplateCount = 80, "Each `@` of a template is replaced by the next parameter after it; `@@` gives an `@`.";
    TemplateOutside = 81, "Template lines stand in `output text` blocks, actions outside.";
    UnknownOutput = 82, "Outputs are of format `text`: lines made by templates.";
    EmptyOutput = 83, "The output has no rules: it will hold its prologue and nothing else.";
    UnresolvedName = 84, "A line of a Pajé text output refers to a container or type that no line or rule of the spec creates. Only constant names are checked.";
    // Growth, checked by `tumit check NEW --since OLD`.
    Removed = 90, "The older spec has an event, span, parameter or enum value that this one lacks: rules and readers of this one do not show it in older traces.";
    Changed = 91, "An event or parameter means something else than in the older spec: what older traces hold does not fit the rules of this one.";
    Added = 92, "A rule needs a parameter that older traces do not have: the arrow that needs it is left out for them.";
    VersionOrder = 93, "The version of a spec grows when its rules no longer show the traces of the older one. It never goes down.";
    NoLongerUsed = 94, "A rule of the older spec used the parameter, and no rule of this one does: it is recorded and not shown any more.";
    EndRule = 95, "Threads and processes end without a record. Rules for `thread.end` and `process.end` know `date pid tid rank host thread_name stream_label`. They start and end no links, have no `at`, and write no text.";
}

impl Code {
    /// Whether the code reports an undeclared name. Several uses of one name are one error.
    pub(super) fn is_unknown_name(self) -> bool {
        use Code::{
            UnknownContainer, UnknownEntity, UnknownEvent, UnknownFunction, UnknownLevel, UnknownName, UnknownShape,
            UnknownType, UnknownValue,
        };
        matches!(
            self,
            UnknownContainer
                | UnknownEntity
                | UnknownEvent
                | UnknownFunction
                | UnknownLevel
                | UnknownName
                | UnknownShape
                | UnknownType
                | UnknownValue
        )
    }

    /// The code with this notation (`T0024`).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number: u16 = text.trim_start_matches(['T', 't']).parse().ok()?;
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_ascend() {
        assert!(Code::ALL.windows(2).all(|pair| pair[0].number() < pair[1].number()));
    }

    #[test]
    fn codes_are_read_as_they_are_written() {
        for code in Code::ALL {
            assert_eq!(Code::parse(&code.to_string()), Some(*code));
        }
        assert_eq!(Code::parse("T9999"), None);
    }
}
