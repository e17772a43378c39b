//! [`Failed`]: of which events values could not be computed, and from which of their fields. A count alone tells nobody where to look.

use std::collections::BTreeSet;

use crate::rules::program::{Code, FieldRead, Program, TextPiece};
use crate::rules::value::{Sym, Symbols};

/// So many are told one by one.
const MOST: usize = 8;

/// What could not be computed, in the order in which it was met first.
#[derive(Debug, Default)]
pub(crate) struct Failed(Vec<One>);

#[derive(Debug)]
struct One {
    spec: Sym,
    event: Sym,
    fields: String,
    count: u64,
}

impl Failed {
    pub(crate) fn add(&mut self, program: &Program, code: &Code) {
        let mut indexes = BTreeSet::new();
        add_fields(code, &mut indexes);
        let names = indexes.into_iter().filter_map(|index| program.fields.get(index));
        let fields = names.map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
        let (spec, event) = (program.spec, program.full_name);
        let known = self.0.iter_mut().find(|one| (one.spec, one.event) == (spec, event) && one.fields == fields);
        match known {
            Some(one) => one.count += 1,
            None => self.0.push(One { spec, event, fields, count: 1 }),
        }
    }

    /// A sentence each.
    pub(crate) fn told(&self, symbols: &Symbols) -> Vec<String> {
        let sentence = |One { spec, event, fields, count }: &One| {
            let values = if *count == 1 { "value" } else { "values" };
            let from = match fields.matches(", ").count() {
                _ if fields.is_empty() => String::new(),
                0 => format!(" from its field {fields}"),
                _ => format!(" from its fields {fields}"),
            };
            let (spec, event) = (symbols.text(*spec), symbols.text(*event));
            format!("the rules of `{spec}` could not compute {count} {values} of `{event}`{from}")
        };
        let more = self.0.len().saturating_sub(MOST);
        let more = (more > 0).then(|| format!("… and values of {more} more events or fields could not be computed"));
        self.0.iter().take(MOST).map(sentence).chain(more).collect()
    }
}

/// Adds the positions of the fields that an expression reads.
fn add_fields(code: &Code, fields: &mut BTreeSet<usize>) {
    let mut read = |field: &FieldRead| _ = fields.insert(field.index);
    match code {
        Code::Const(_) | Code::Builtin(_) | Code::Referent(_) => {}
        Code::Field(field) => read(field),
        Code::Element(field, place) => {
            read(field);
            add_fields(place, fields);
        }
        Code::Unary(_, operand) | Code::Lookup(_, operand) => add_fields(operand, fields),
        Code::Binary(_, operands) => {
            add_fields(&operands.0, fields);
            add_fields(&operands.1, fields);
        }
        Code::Call(_, arguments) => arguments.iter().for_each(|argument| add_fields(argument, fields)),
        Code::Text(pieces) => pieces.iter().for_each(|piece| match piece {
            TextPiece::Text(_) => {}
            TextPiece::Hole(code, _) => add_fields(code, fields),
        }),
    }
}
