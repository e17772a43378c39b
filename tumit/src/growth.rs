//! Growth of a spec: whether the rules of a new spec still show the traces of an older spec.
//!
//! A run carries the spec of its recording, so that it can always be read. The rules of a newer
//! spec match the events and parameters of the run by name (`tumit convert --rules`). Additions are
//! compatible. Removals and changes of meaning are not: they require a higher `version`.

use std::collections::BTreeSet;

use tracer_format::schema::{FieldType, RecordKind, Scalar};

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::{EventRef, SpecModel};
use crate::source_text::SourceSpan;
use crate::spec::{
    Action, ActionVerb, Expr, Instance, PatternPiece, RecordDecl, RecordId, Spec, TextPattern, ValueExpr,
};

/// Compares the new spec, which compiles without errors, with the older one.
pub(crate) fn check(old_spec: &Spec, model: &SpecModel, rules: &[Vec<Action>], diagnostics: &mut Diagnostics) {
    let new = &model.spec;
    let mut growth = GrowthCheck { old_spec, model, raised: new.version > old_spec.version, diagnostics };
    growth.version();
    let absent = old_spec.first_absent_end();
    for record in old_spec.records.iter().take(absent) {
        growth.record(record, rules);
    }
    for item in &old_spec.enums {
        let Some(index) = new.enums.iter().position(|new| new.name == item.name) else { continue };
        let remaining: BTreeSet<&str> = new.enums[index].values.iter().map(|value| value.name.as_str()).collect();
        for value in item.values.iter().filter(|value| !remaining.contains(value.name.as_str())) {
            let subject = format!("value `{}` of enum `{}`", value.name, item.name);
            growth.report_removed(&subject, model.enum_spans[index], "removed here");
        }
    }
}

struct GrowthCheck<'g> {
    old_spec: &'g Spec,
    model: &'g SpecModel,
    /// Whether the new spec has a higher version. Incompatible changes are then intended.
    raised: bool,
    diagnostics: &'g mut Diagnostics,
}

impl GrowthCheck<'_> {
    fn version(&mut self) {
        let (old, new) = (self.old_spec.version, self.model.spec.version);
        if new < old {
            let new_text = if new == 0 { "missing".to_owned() } else { new.to_string() };
            self.diagnostics.push(
                Diagnostic::error(Code::VersionOrder, format!("the version was {old} and is {new_text} now"))
                    .with_location(self.model.version_span, "versions never decrease")
                    .help(format!(
                        "write `version {};`, or `version {old};` if the rules still show older traces",
                        old + 1
                    )),
            );
        }
    }

    fn record(&mut self, old_record: &RecordDecl, rules: &[Vec<Action>]) {
        let is_end = old_record.layout.kind == RecordKind::End;
        let noun = if old_record.layout.kind == RecordKind::Event { "event" } else { "span" };
        let Some(new) = self.model.events.get(&old_record.name).copied() else {
            // The begin of the span was already reported.
            if is_end {
                return;
            }
            let level = self.old_spec.levels.get(old_record.level.index()).map_or("", |level| level.name.as_str());
            let level = self.model.levels.get(level).and_then(|level| self.model.level_spans.get(level.index()));
            let (place, label) = match level {
                Some(span) => (*span, "removed here"),
                None => (self.model.version_span, "its level is also removed"),
            };
            return self.report_removed(&format!("{noun} `{}`", old_record.name), place, label);
        };
        let (id, new_noun) = match new {
            EventRef::Event(id) => (id, "event"),
            EventRef::Span { end, .. } if is_end => (end, "span"),
            EventRef::Span { begin, .. } => (begin, "span"),
        };
        let span = self.model.record_spans[id.index()];
        if noun != new_noun && is_end {
            return;
        }
        if noun != new_noun {
            return self.report_changed(
                &format!("`{}` was {} and is {} now", old_record.name, with_article(noun), with_article(new_noun)),
                span,
            );
        }
        let record = &self.model.spec.records[id.index()];
        for field in &old_record.layout.fields {
            let Some(new) = record.layout.fields.iter().find(|new| new.name == field.name) else {
                let subject = format!(
                    "parameter `{}` of {}`{}`",
                    field.name,
                    if is_end { "the end of " } else { "" },
                    old_record.name
                );
                self.report_removed(&subject, span, "removed here");
                continue;
            };
            let (old_class, new_class) = (class(field.ty, self.old_spec), class(new.ty, &self.model.spec));
            if old_class != new_class {
                self.report_changed(
                    &format!("`{}` of `{}` was {old_class} and is {new_class} now", field.name, old_record.name),
                    span,
                );
            }
        }
        self.report_added(old_record, id, span, rules);
        self.no_longer_used(old_record, id, span, rules);
    }

    /// Reports parameters that a rule of the older spec used and that no rule of the new one uses.
    /// An event without rules shows all of its parameters. Uses in text outputs are not compared.
    fn no_longer_used(&mut self, old_record: &RecordDecl, id: RecordId, span: SourceSpan, rules: &[Vec<Action>]) {
        let actions = rules.get(id.index()).map_or(&[][..], Vec::as_slice);
        if actions.is_empty() || !self.old_spec.outputs.is_empty() || !self.model.spec.outputs.is_empty() {
            return;
        }
        let (mut old_names, mut now) = (BTreeSet::new(), BTreeSet::new());
        let index = self.old_spec.records.iter().position(|record| std::ptr::eq(record, old_record));
        let of_old = index.and_then(|record| self.old_spec.rules.get(record));
        of_old.into_iter().flatten().for_each(|action| fields_of(action, &mut old_names));
        actions.iter().for_each(|action| fields_of(action, &mut now));
        let fields = &self.model.spec.records[id.index()].layout.fields;
        let used: BTreeSet<&str> =
            now.iter().filter_map(|field| Some(fields.get(*field as usize)?.name.as_str())).collect();
        for field in old_names.iter().filter_map(|field| old_record.layout.fields.get(*field as usize)) {
            let is_declared = fields.iter().any(|new| new.name == field.name);
            if !is_declared || used.contains(field.name.as_str()) {
                continue;
            }
            self.diagnostics.push(
                Diagnostic::warning(
                    Code::NoLongerUsed,
                    format!("no rule uses `{}` of `{}` any more", field.name, old_record.layout.name),
                )
                .with_location(span, "recorded, but not shown")
                .help(format!(
                    "use it in `rule {}`, or remove it if no other program reads it",
                    old_record.layout.name
                )),
            );
        }
    }

    fn report_added(&mut self, old_record: &RecordDecl, id: RecordId, span: SourceSpan, rules: &[Vec<Action>]) {
        let mut used = BTreeSet::new();
        rules.get(id.index()).into_iter().flatten().for_each(|action| fields_of(action, &mut used));
        let fields = &self.model.spec.records[id.index()].layout.fields;
        for field in used.iter().filter_map(|field| fields.get(*field as usize)) {
            if old_record.layout.fields.iter().any(|before| before.name == field.name) {
                continue;
            }
            self.diagnostics.push(
                Diagnostic::warning(
                    Code::Added,
                    format!("older traces do not have `{}` of `{}`", field.name, old_record.name),
                )
                .with_location(span, "the actions that need it are skipped for these traces"),
            );
        }
    }

    fn report_removed(&mut self, subject: &str, place: SourceSpan, label: &str) {
        let diagnostic = self.version_diagnostic(Code::Removed, format!("{subject} is removed"));
        self.diagnostics.push(diagnostic.with_location(place, label));
    }

    fn report_changed(&mut self, title: &str, place: SourceSpan) {
        let diagnostic = self.version_diagnostic(Code::Changed, title.to_owned());
        self.diagnostics.push(diagnostic.with_location(place, "differs in older traces"));
    }

    /// A diagnostic that is a warning if the version was raised, and an error otherwise.
    fn version_diagnostic(&self, code: Code, title: String) -> Diagnostic {
        if self.raised {
            return Diagnostic::warning(code, title);
        }
        let next = self.old_spec.version.max(self.model.spec.version) + 1;
        Diagnostic::error(code, title).help(format!("restore it, or write `version {next};`"))
    }
}

fn with_article(noun: &str) -> String {
    format!("{} {noun}", if noun == "event" { "an" } else { "a" })
}

/// The class of a type that rules distinguish. The width of a number does not matter to them.
fn class(ty: FieldType, spec: &Spec) -> String {
    let scalar = |scalar: Scalar| match scalar {
        Scalar::F32 | Scalar::F64 => "a float".to_owned(),
        Scalar::Bool => "a bool".to_owned(),
        Scalar::Date => "a date".to_owned(),
        Scalar::Pointer => "a pointer".to_owned(),
        Scalar::Enum { index, .. } => {
            format!("of enum `{}`", spec.enums.get(index as usize).map_or("?", |item| item.name.as_str()))
        }
        Scalar::Interned | Scalar::String => "text".to_owned(),
        Scalar::Bytes => "bytes".to_owned(),
        _ => "an integer".to_owned(),
    };
    match ty {
        FieldType::One(one) => scalar(one),
        FieldType::Fixed(element, _) | FieldType::Variable(element) => format!("a list, each {}", scalar(element)),
    }
}

/// The fields of the record that an expression reads.
fn fields_of_expr(value_expr: &Expr, fields: &mut BTreeSet<u32>) {
    match value_expr {
        Expr::Field(field) => drop(fields.insert(*field)),
        Expr::Element(field, place) => {
            fields.insert(*field);
            fields_of_expr(place, fields);
        }
        Expr::Call(_, arguments) => arguments.iter().for_each(|argument| fields_of_expr(argument, fields)),
        Expr::Unary(_, operand) => fields_of_expr(operand, fields),
        Expr::Binary(_, left, right) => {
            fields_of_expr(left, fields);
            fields_of_expr(right, fields);
        }
        Expr::Text(TextPattern(pieces)) => {
            for piece in pieces {
                if let PatternPiece::Expr(hole, _) = piece {
                    fields_of_expr(hole, fields);
                }
            }
        }
        Expr::Integer(_) | Expr::Float(_) | Expr::Bool(_) | Expr::Builtin(_) => {}
    }
}

/// The fields of the record that an action reads.
fn fields_of(action: &Action, fields: &mut BTreeSet<u32>) {
    let mut value = |value: &ValueExpr| {
        if let ValueExpr::Computed(computed) = value {
            fields_of_expr(computed, fields);
        }
    };
    let on: Option<&Instance> = match &action.verb {
        ActionVerb::Create { container } | ActionVerb::Destroy { container } => Some(container),
        ActionVerb::SetState { value: assigned, instance: on, .. }
        | ActionVerb::PushState { value: assigned, instance: on, .. }
        | ActionVerb::Mark { value: assigned, instance: on, .. } => {
            value(assigned);
            Some(on)
        }
        ActionVerb::PopState { value: assigned, instance: on, .. } => {
            assigned.iter().for_each(&mut value);
            Some(on)
        }
        ActionVerb::ResetState { instance: on, .. } => Some(on),
        ActionVerb::Variable { value: assigned, instance: on, .. } => {
            fields_of_expr(assigned, fields);
            Some(on)
        }
        ActionVerb::StartLink { value: assigned, key, from: on, .. }
        | ActionVerb::EndLink { value: assigned, key, to: on, .. } => {
            assigned.iter().for_each(&mut value);
            key.iter().for_each(|part| fields_of_expr(part, fields));
            Some(on)
        }
        ActionVerb::Ignore => None,
    };
    let collective = action.collective.as_ref();
    let root = collective.and_then(|clause| clause.root.as_ref());
    let related = action.related_instances.iter().map(|(_, container)| container).chain(root);
    on.into_iter().chain(related).flat_map(|instance| &instance.keys).for_each(|key| fields_of_expr(key, fields));
    action.timestamp.iter().chain(&action.condition).for_each(|clause| fields_of_expr(clause, fields));
    action.fields.iter().for_each(|(_, field)| fields_of_expr(field, fields));
    if let Some(clause) = collective {
        clause.communicator.iter().chain(clause.key.iter().flatten()).for_each(|part| fields_of_expr(part, fields));
        clause.bytes.iter().for_each(|bytes| fields_of_expr(bytes, fields));
    }
}
