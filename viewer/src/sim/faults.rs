//! What was wrong with the operations: counted by kind, told in sentences.

macro_rules! faults {
    ($($name:ident: $one:literal, $many:literal;)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Fault {
            $($name,)*
        }

        /// What is said of one and of several, without the number.
        const SENTENCES: &[(&str, &str)] = &[$(($one, $many),)*];
    };
}

faults! {
    TooMany: "operation was left out: a trace may hold 4,294,967,295 entities",
        "operations were left out: a trace may hold 4,294,967,295 entities";
    TypeDefinition: "type definition was left out: it is out of order, or names types that do not exist",
        "type definitions were left out: they are out of order, or name types that do not exist";
    ValueDefinition: "value definition was left out: it is out of order, or names another type than before",
        "value definitions were left out: they are out of order, or name another type than before";
    UnknownType: "operation was left out: its type does not exist or is of another kind",
        "operations were left out: their types do not exist or are of another kind";
    UnknownValue: "operation was left out: its value does not exist or is of another type",
        "operations were left out: their values do not exist or are of another type";
    DeadContainer: "operation was left out: its container has ended or never existed",
        "operations were left out: their containers have ended or never existed";
    CreatedAgain: "creation was left out: that container exists already",
        "creations were left out: those containers exist already";
    ForeignType: "container holds something whose type was declared for containers of another type; it is kept",
        "times something stands in a container for whose type it was not declared; it is kept";
    StateOrder: "change of a state is dated before the one that precedes it, and was moved to that date",
        "changes of states are dated before the ones that precede them, and were moved to those dates";
    EmptyPop: "pop of a state found no state to end",
        "pops of states found no state to end";
    TooDeep: "state is nested deeper than 4,096 and not shown; pops seem to be missing",
        "states are nested deeper than 4,096 and not shown; pops seem to be missing";
    VariableOrder: "value of a variable is dated before the one that precedes it, and replaces that one",
        "values of variables are dated before the ones that precede them, and replace those";
    NeverSet: "variable was changed before it was set, and starts from 0",
        "variables were changed before they were set, and start from 0";
    NotFinite: "value of a variable was left out: it is not a finite number",
        "values of variables were left out: they are not finite numbers";
    EventOrder: "point event is dated before the one that precedes it, and was sorted in",
        "point events are dated before the ones that precede them, and were sorted in";
    KeyInUse: "link uses a key that is still in use; the pairs were made in order of arrival",
        "links use keys that are still in use; the pairs were made in order of arrival";
    LinkValue: "link has another value at its end than at its start; the start's is shown",
        "links have other values at their ends than at their starts; the starts' are shown";
    IncompleteLink: "link has only a start or only an end, and is not shown",
        "links have only a start or only an end, and are not shown";
    EarlyDestruction: "container ends before the last date in it; it was kept until then",
        "containers end before the last dates in them; they were kept until then";
}

/// How often each happened.
#[derive(Debug)]
pub(super) struct Faults([u64; SENTENCES.len()]);

impl Default for Faults {
    fn default() -> Self {
        Self([0; SENTENCES.len()])
    }
}

impl Faults {
    pub(super) fn count(&mut self, fault: Fault) {
        self.count_many(fault, 1);
    }

    pub(super) fn count_many(&mut self, fault: Fault, times: u64) {
        self.0[fault as usize] += times;
    }

    /// One for each kind that happened.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        self.0.iter().zip(SENTENCES).filter(|&(&count, _)| count > 0).map(|(&count, &(one, many))| match count {
            1 => format!("1 {one}"),
            _ => format!("{} {many}", grouped(count)),
        })
    }
}

/// A number with commas at the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
