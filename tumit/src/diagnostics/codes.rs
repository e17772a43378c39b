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

            /// The meaning of the code, in a few sentences.
            #[must_use]
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$name => $explanation,)* }
            }
        }
    };
}

codes! {
    // The text.
    Syntax = 1, "The text does not match the grammar at this position. LANGUAGE.md contains the grammar.";
    Unclosed = 2, "A block that starts with `{` has no `}` before the next declaration or the end of the file.";
    UnterminatedText = 3, "A text that starts with `\"` must end on its line. Texts of several lines are written between `\"\"\"` and `\"\"\"`.";
    TooDeep = 4, "Brackets are nested too deeply, or an expression has too many operators. Hand-written specs stay far below these limits.";
    BadNumber = 5, "The number is out of range: integers have 64 bits, and floats must be finite.";
    BadEscape = 6, "A backslash is followed by `n`, `t`, `r`, `0`, `\\`, `\"` or `u{…}`. In texts with holes, `{{` and `}}` give braces.";
    BadColor = 7, "A colour is `#` with six hexadecimal digits, a name of CSS, or `rgb(…)` with three numbers from 0 to 255 or from 0.0 to 1.0.";
    BadVersion = 9, "The version of a spec is a positive integer, and is declared once. It grows when the rules of the new spec can no longer show traces of the old one.";
    // Files.
    CannotRead = 10, "A file in a `use` declaration could not be read. Its path is relative to the file with the declaration.";
    UseCycle = 11, "A file uses itself, directly or through other files.";
    NoTrace = 12, "The root file declares the name of the trace once, by `trace NAME;`. Generated functions contain the name.";
    RepeatedUse = 13, "A file names the same file twice in `use`. Its declarations are added once.";
    SpecTooLarge = 15, "The files of a spec have at most 8 MiB in total, because every run contains them.";
    // Names.
    Duplicate = 20, "A name is declared twice in the same name space.";
    ReservedName = 21, "The name has a meaning in the language or in generated code.";
    CollidingNames = 22, "Two different names of the spec become the same identifier in generated code.";
    NameTooLong = 23, "Names have at most 63 characters, the limit of Fortran compilers.";
    UnknownEvent = 24, "No event or span with this name is declared.";
    UnknownLevel = 25, "No level with this name is declared.";
    UnknownType = 26, "Neither a built-in type nor an enum has this name.";
    UnknownContainer = 27, "The `paje` block declares no container with this name.";
    UnknownEntity = 28, "The `paje` block declares no state, event, variable or link with this name.";
    UnknownValue = 29, "The name is neither a declared value of the type nor a parameter of the event.";
    UnknownName = 30, "The name is neither a parameter of the event nor a built-in.";
    UnknownHole = 31, "A hole in the label of a container names neither a key of its path nor a field that `create … with` sets.";
    UnknownShape = 32, "Shapes are `triangle`, `diamond`, `circle`, `square` and `line`.";
    MisplacedExisting = 33, "`existing` skips an action if its container does not exist. It is not possible with `create`, nor with the ends of links, because links are paired before it is known which containers exist.";
    IgnoreAlone = 34, "`ignore` declares that nothing is shown for an event. It is the only action of its rule.";
    // Expressions.
    UnknownFunction = 35, "No function has this name. Functions are `len`, `abs`, `min`, `max`, `floor`, `ceil`, `round`, `number`, and the name of each enum.";
    BadArguments = 36, "The function takes arguments of other types, or another number of arguments.";
    NotAList = 37, "Only arrays and `bytes` have elements.";
    BeyondEnd = 38, "The array has a fixed length and no element at this index. Elements are counted from 0.";
    BadFormat = 39, "In a hole of a text, the format of the value follows `:`. It has the form `[<|>|^][0][WIDTH][.PRECISION][x|X|b|e]`. Width and precision are at most 100.";
    // Events.
    TooMany = 40, "A limit is exceeded: 127 parameters for an event, 65519 events (a span counts twice, and three times with `end { … }`), 65536 values of an enum.";
    TooLarge = 41, "The part of a record with fixed size has at most 32 KiB, because it must fit into a block of the trace.";
    BadArray = 42, "Arrays have elements of a fixed size, and `[T; N]` has at least one element.";
    EmptyEnum = 43, "An enum has at least one value.";
    EnumNumber = 44, "Each value of an enum has a different number from 0 to 65535: the number after `=`, or one more than the previous value.";
    TaskTaken = 45, "An `async` span has a parameter `task`, which identifies the parts of one execution. It is added automatically.";
    Circular = 46, "A constant or type is declared by itself, directly or through other declarations.";
    NoValue = 47, "The expression of a constant must have a value: signed integers of 64 bits, finite floats, no division by zero.";
    Unused = 48, "A type or enum is declared, but not used in the spec.";
    EmptyLevel = 49, "A level without events and spans has no effect.";
    // The tree.
    LinkEndOutside = 50, "Both ends of a link are inside the container that declares it, or are that container.";
    BadKeyType = 51, "A key is an integer or text: `u8` to `u64`, `i8` to `i64`, `string`, `interned` or an enum.";
    BadStreamKey = 52, "The keys of a `= stream` container are properties of a stream: `pid`, `tid`, `rank`, `host`, `thread_name`, `stream_label`.";
    SecondStream = 53, "Only one container can be marked `= stream`.";
    BadSize = 54, "A size is a positive number; 1 is the default.";
    UnusedType = 55, "No rule creates anything of this type, so it is never shown.";
    UnusedValue = 56, "No rule uses this value, so it is never shown.";
    UselessLook = 57, "Only events have shapes. The size of a state is a share of the height of its row, at most 1.";
    UnknownCategory = 58, "Categories are `busy`, `overhead`, `idle` and `ignored`. Only states have categories, and links can be `ignored`.";
    UselessCategory = 59, "The pattern of a category matches no value, so it has no effect.";
    // Rules.
    WrongVerb = 60, "The verb does not match the kind of the type: states are set, pushed, popped and reset; variables are set, added to and subtracted from; events are marked; links are started and ended.";
    WrongContainer = 61, "The state, event or variable belongs to another type of container, or the link cannot have an end in this container.";
    KeyCount = 62, "A container is named by the keys of its whole path, outermost first.";
    WrongType = 63, "An expression has a type that is not possible at this position.";
    OutOfRange = 64, "A constant is outside the range of the type of the key.";
    SecondRule = 65, "An event has one rule. `also rule` adds to it.";
    WhichEnd = 66, "A span has a begin and an end, and each may have a rule: `rule NAME.begin`, `rule NAME.end`.";
    ClauseOrder = 67, "Clauses have this order: related containers, `collective`, `at`, `when`, `with`; each of the last four occurs at most once.";
    UselessClause = 68, "The action creates nothing that could have fields or relations.";
    NotLocated = 69, "`file` and `line` are recorded only for events that are declared `located`.";
    LinkKeyMismatch = 70, "Starts and ends of a link are matched by their keys, so all keys of a link type have the same number and types of values.";
    MissingField = 71, "The label of the container has a hole for a field that this `create` does not set.";
    OpenLink = 72, "Rules start links of this type but never end one, or end links but never start one, so no link is drawn.";
    HalfSpan = 73, "One end of a span has a rule and the other one has none. A rule for one end removes the default of the other end.";
    DivisionByZero = 74, "The right side of `/` or `%` is zero.";
    UselessRule = 75, "The rule never acts, because each of its events has a more specific rule, or because it has no events.";
    NoRule = 76, "The event has no rule, but others have. It is shown by default, outside the tree of the spec.";
    ConstantCondition = 77, "The condition has the same value for every record.";
    PushedForever = 78, "Rules push states of this type, but no rule ends them, so their depth grows without limit.";
    NeverBegun = 79, "A rule ends a state or value that no rule begins.";
    // Outputs.
    TemplateCount = 80, "Each `@` of a template is replaced by the next parameter after the template; `@@` gives an `@`.";
    TemplateOutside = 81, "Template lines are written in `output text` blocks, actions outside of them.";
    UnknownOutput = 82, "The only format of outputs is `text`: lines from templates.";
    EmptyOutput = 83, "The output has no rules, so it contains only its prologue.";
    UnresolvedName = 84, "A line of a Pajé text output refers to a container or type that no line or rule of the spec creates. Only constant names are checked.";
    // Growth, checked by `tumit check NEW --since OLD`.
    Removed = 90, "The older spec has an event, span, parameter or enum value that this one does not have. Rules and readers of this spec do not show it in older traces.";
    Changed = 91, "An event or parameter has another meaning than in the older spec, so the rules of this spec do not match older traces.";
    Added = 92, "A rule needs a parameter that older traces do not have. The actions that need it are skipped for these traces.";
    VersionOrder = 93, "The version of a spec grows when its rules no longer show the traces of the older one. It never decreases.";
    NoLongerUsed = 94, "A rule of the older spec used the parameter, but no rule of this spec does. It is recorded, but no longer shown.";
    EndRule = 95, "Threads and processes end without a record. Rules for `thread.end` and `process.end` can use `date pid tid rank host thread_name stream_label`. They start and end no links, have no `at`, and write no text.";
    // Collective operations.
    CollectiveMisuse = 100, "A part of a collective operation is a state, so `collective` belongs to `set` or `push`. Only operations of the kinds `one-to-all` and `all-to-one` have a root, and a barrier transfers no bytes.";
    CollectiveKeyMismatch = 101, "The parts of a collective operation are found by communicator and key. All parts of one kind and state have the same number and types of values in each.";
}

impl Code {
    /// Whether the code reports an undeclared name. Several uses of one name are one error.
    pub(super) fn is_unknown_name(self) -> bool {
        use Code::{
            UnknownCategory, UnknownContainer, UnknownEntity, UnknownEvent, UnknownFunction, UnknownLevel, UnknownName,
            UnknownShape, UnknownType, UnknownValue,
        };
        matches!(
            self,
            UnknownCategory
                | UnknownContainer
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
