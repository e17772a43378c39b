//! Rule references such as `tid 8` that fit several processes. The second pass omits their actions
//! and reports each reference once, with the place of its rule.

use std::fmt::Write as _;
use std::sync::Arc;

use tumit::spec::Builtin;

use crate::rules::program::{PathReferent, WrittenReference};
use crate::rules::referent_table::key_name;
use crate::rules::rule_value::{KeyPart, Symbols};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Maximum number of references that are reported one by one. The others are counted.
const MAX_REPORTED: usize = 8;

/// The ambiguous references, in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct AmbiguousReferences(Vec<AmbiguousReference>);

#[derive(Debug)]
struct AmbiguousReference {
    reference: Arc<WrittenReference>,
    /// Number of actions that were omitted because of it.
    count: u64,
    /// The key values of the first action.
    example: String,
    /// The keys that would distinguish the processes of the first action.
    missing_keys: Option<&'static [Builtin]>,
}

impl AmbiguousReferences {
    #[cold]
    pub(crate) fn add(
        &mut self,
        reference: &Arc<WrittenReference>,
        referent: &PathReferent,
        values: &[(Builtin, KeyPart)],
        symbols: &Symbols,
    ) {
        // The actions of one rule for several events share the place.
        match self.0.iter_mut().find(|entry| entry.reference == *reference) {
            Some(one) => one.count += 1,
            None => self.0.push(AmbiguousReference {
                reference: Arc::clone(reference),
                count: 1,
                example: example(values, symbols),
                missing_keys: referent.missing_keys(values),
            }),
        }
    }

    /// An error for each reference.
    pub(crate) fn diagnostics(&self) -> Vec<TraceDiagnostic> {
        let more = self.0.len().saturating_sub(MAX_REPORTED);
        let more = (more > 0).then(|| format!("… and {more} more ambiguous references"));
        let texts = self.0.iter().take(MAX_REPORTED).map(AmbiguousReference::sentence).chain(more);
        texts.map(|text| TraceDiagnostic::error(DiagnosticKind::Rule, text)).collect()
    }
}

impl AmbiguousReference {
    fn sentence(&self) -> String {
        let Self { reference, count, example, .. } = self;
        let WrittenReference { location, text, .. } = &**reference;
        let actions = if *count == 1 { "1 action was".to_owned() } else { format!("{count} actions were") };
        format!(
            "{location}: `{text}` matches several processes (first occurrence: {example}): {actions} omitted; {}",
            self.advice()
        )
    }

    fn advice(&self) -> String {
        let container = &self.reference.container;
        let Some(missing_keys) = self.missing_keys else {
            return "no key distinguishes these processes; convert each launch or program separately".to_owned();
        };
        let names =
            missing_keys.iter().map(|builtin| format!("`{}`", key_name(*builtin))).collect::<Vec<_>>().join(" and ");
        let keys = if missing_keys.len() == 1 { "key" } else { "keys" };
        format!("add the {keys} {names} to container `{container}`, and write the value in the rule")
    }
}

/// The values as `tid 8, host a`.
fn example(values: &[(Builtin, KeyPart)], symbols: &Symbols) -> String {
    let mut text = String::new();
    for (builtin, value) in values {
        let separator = if text.is_empty() { "" } else { ", " };
        // Writing to a text cannot fail.
        let _ = write!(text, "{separator}{} ", key_name(*builtin));
        value.value().append(&mut text, symbols);
    }
    text
}
