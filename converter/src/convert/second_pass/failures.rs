//! [`EvaluationFailures`]: values that could not be computed, by event and fields. A count
//! alone would not show the user the cause.

use std::collections::BTreeSet;

use crate::rules::program::{ExprCode, FieldRead, RecordProgram, TextPart};
use crate::rules::rule_value::{SymbolId, Symbols};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Maximum number of entries that are reported one by one.
const MAX_SENTENCES: usize = 8;

/// The values that could not be computed, in the order of their first occurrence.
#[derive(Debug, Default)]
pub(crate) struct EvaluationFailures(Vec<EvaluationFailure>);

#[derive(Debug)]
struct EvaluationFailure {
    spec: SymbolId,
    event: SymbolId,
    fields: String,
    count: u64,
}

impl EvaluationFailures {
    pub(crate) fn add(&mut self, program: &RecordProgram, code: &ExprCode) {
        let mut indexes = BTreeSet::new();
        add_fields(code, &mut indexes);
        let names = indexes.into_iter().filter_map(|index| program.fields.get(index));
        let fields = names.map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
        let (spec, event) = (program.spec, program.full_name);
        let entry = self
            .0
            .iter_mut()
            .find(|failure| (failure.spec, failure.event) == (spec, event) && failure.fields == fields);
        match entry {
            Some(one) => one.count += 1,
            None => self.0.push(EvaluationFailure { spec, event, fields, count: 1 }),
        }
    }

    /// A warning for each event and its fields. The error is the count of all such values.
    pub(crate) fn diagnostics(&self, symbols: &Symbols) -> Vec<TraceDiagnostic> {
        let sentence = |EvaluationFailure { spec, event, fields, count }: &EvaluationFailure| {
            let values = if *count == 1 { "value" } else { "values" };
            let from = match fields.matches(", ").count() {
                _ if fields.is_empty() => String::new(),
                0 => format!(" from its field {fields}"),
                _ => format!(" from its fields {fields}"),
            };
            let (spec, event) = (symbols.text(*spec), symbols.text(*event));
            format!("the rules of `{spec}` could not compute {count} {values} of `{event}`{from}")
        };
        let more = self.0.len().saturating_sub(MAX_SENTENCES);
        let more = (more > 0).then(|| format!("… and values of {more} more events or fields could not be computed"));
        let texts = self.0.iter().take(MAX_SENTENCES).map(sentence).chain(more);
        texts.map(|text| TraceDiagnostic::warning(DiagnosticKind::Rule, text)).collect()
    }
}

/// Adds the positions of the fields that an expression reads.
fn add_fields(code: &ExprCode, fields: &mut BTreeSet<usize>) {
    let mut read = |field: &FieldRead| _ = fields.insert(field.index);
    match code {
        ExprCode::Const(_) | ExprCode::Builtin(_) | ExprCode::Referent(_) => {}
        ExprCode::Field(field) => read(field),
        ExprCode::Element(field, index) => {
            read(field);
            add_fields(index, fields);
        }
        ExprCode::Unary(_, operand) | ExprCode::Lookup(_, operand) => add_fields(operand, fields),
        ExprCode::Binary(_, operands) => {
            add_fields(&operands.0, fields);
            add_fields(&operands.1, fields);
        }
        ExprCode::Call(_, arguments) => arguments.iter().for_each(|argument| add_fields(argument, fields)),
        ExprCode::Text(pieces) => pieces.iter().for_each(|piece| match piece {
            TextPart::Text(_) => {}
            TextPart::Hole(code, _) => add_fields(code, fields),
        }),
    }
}
