//! Text outputs that write Pajé: names of containers and types that no line of the output creates.
//! Only constant names are checked, because parameters may have any value.

use std::collections::BTreeSet;

use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::SpecModel;
use crate::source_text::SourceSpan;
use crate::spec::{Expr, PatternPiece, RecordId, Spec, TemplateLine, TextPattern};

/// Stands in a word for text that is unknown until the program runs.
const HOLE: char = '\0';
/// Names that every Pajé trace has.
const ROOTS: [&str; 3] = ["0", "/", ""];

/// The lowered lines of an output with the spans of their templates.
pub(super) struct LocatedOutput<'a> {
    pub(super) name: &'a str,
    pub(super) span: SourceSpan,
    pub(super) prologue: &'a str,
    pub(super) lines: Vec<(SourceSpan, TemplateLine)>,
}

impl LocatedOutput<'_> {
    /// Whether readers interpret the output as Pajé text.
    pub(super) fn is_paje(&self) -> bool {
        self.prologue.trim_start().starts_with("%EventDef")
    }
}

/// Warns about constant names that no line creates. Call it when the rules of the spec are known.
pub(super) fn check(outputs: &[LocatedOutput<'_>], model: &SpecModel, diagnostics: &mut Diagnostics) {
    for output in outputs.iter().filter(|output| output.is_paje()) {
        PajeOutput::new(output, &model.spec).check(diagnostics);
    }
}

/// The kinds of named things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamedKind {
    Container,
    Type,
}

impl NamedKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Container => "container",
            Self::Type => "type",
        }
    }
}

/// An event of Pajé: its number in the text, its name, and its fields.
#[derive(Debug, Default)]
struct PajeDefinition<'a> {
    id: &'a str,
    event: &'a str,
    fields: Vec<&'a str>,
}

impl PajeDefinition<'_> {
    /// The word of a line that has the first of these fields.
    fn word<'l>(&self, line: &'l [String], names: &[&str]) -> Option<&'l str> {
        let index = names.iter().find_map(|name| self.fields.iter().position(|field| field == name))?;
        line.get(index + 1).map(String::as_str)
    }

    /// The names of the things that a line creates.
    fn created_names<'l>(&self, line: &'l [String]) -> Vec<(NamedKind, &'l str)> {
        let (thing, aliases) = match self.event {
            "PajeCreateContainer" => (NamedKind::Container, ["Alias", "NewContainer"]),
            event if defines_type(event) => (NamedKind::Type, ["Alias", "NewType"]),
            _ => return Vec::new(),
        };
        let names = [self.word(line, &aliases), self.word(line, &["Name", "NewName"])];
        names.into_iter().flatten().map(|name| (thing, name)).collect()
    }

    /// The names to which a line refers.
    fn references<'l>(&self, line: &'l [String]) -> Vec<(NamedKind, &'l str)> {
        let fields: &[(NamedKind, &[&str])] = match self.event {
            "PajeCreateContainer" => &[
                (NamedKind::Type, &["Type", "NewContainerType", "ContainerType"]),
                (NamedKind::Container, &["Container"]),
            ],
            "PajeDestroyContainer" => &[
                (NamedKind::Type, &["Type", "ContainerType"]),
                (NamedKind::Container, &["Name", "Alias", "Container"]),
            ],
            "PajeTraceFile" | "PajeStartTrace" => &[],
            "PajeDefineEntityValue" => &[(NamedKind::Type, &["Type", "EntityType", "ContainerType"])],
            event if defines_type(event) => &[
                (NamedKind::Type, &["Type", "ContainerType"]),
                (NamedKind::Type, &["StartContainerType", "SourceContainerType"]),
                (NamedKind::Type, &["EndContainerType", "DestContainerType"]),
            ],
            _ => &[
                (NamedKind::Type, &["Type", "EntityType"]),
                (NamedKind::Container, &["Container"]),
                (NamedKind::Container, &["StartContainer", "SourceContainer"]),
                (NamedKind::Container, &["EndContainer", "DestContainer"]),
            ],
        };
        fields.iter().filter_map(|(thing, names)| Some((*thing, self.word(line, names)?))).collect()
    }
}

fn defines_type(event: &str) -> bool {
    event.starts_with("PajeDefine") && event.ends_with("Type")
}

/// The lines of an output as words, and the names that can exist.
struct PajeOutput<'a> {
    output: &'a LocatedOutput<'a>,
    definitions: Vec<PajeDefinition<'a>>,
    lines: Vec<(SourceSpan, Vec<String>)>,
    /// Constant names that a line or rule creates.
    names: BTreeSet<(NamedKind, String)>,
    /// Created names with [`HOLE`] in place of parts that parameters supply.
    patterns: BTreeSet<(NamedKind, String)>,
}

impl<'a> PajeOutput<'a> {
    fn new(output: &'a LocatedOutput<'a>, spec: &Spec) -> Self {
        let mut definitions: Vec<PajeDefinition<'a>> = Vec::new();
        let mut lines = Vec::new();
        for line in output.prologue.lines() {
            let Some(header) = line.trim_start().strip_prefix('%') else {
                lines.extend(words(line).map(|words| (output.span, words)));
                continue;
            };
            match header.split_whitespace().collect::<Vec<_>>()[..] {
                ["EventDef", event, id, ..] => definitions.push(PajeDefinition { id, event, fields: Vec::new() }),
                ["EndEventDef", ..] | [] => {}
                [field, ..] => definitions.iter_mut().last().into_iter().for_each(|last| last.fields.push(field)),
            }
        }
        let templates = output.lines.iter().filter_map(|(span, line)| Some((*span, words(&text_of(line))?)));
        lines.extend(templates);
        let mut text = Self { output, definitions, lines, names: BTreeSet::new(), patterns: BTreeSet::new() };
        let containers = text.lines.iter().flat_map(|(_, line)| {
            let created = text.definition(line).map(|definition| definition.created_names(line)).unwrap_or_default();
            created.into_iter().map(|(thing, name)| (thing, name.to_owned()))
        });
        let names = containers.chain(names_of_rules(spec)).collect::<Vec<_>>();
        (text.patterns, text.names) = names.into_iter().partition(|(_, name)| name.contains(HOLE));
        text
    }

    fn definition(&self, line: &[String]) -> Option<&PajeDefinition<'a>> {
        let id = line.first()?;
        self.definitions.iter().find(|definition| definition.id == id)
    }

    fn exists(&self, thing: NamedKind, name: &str) -> bool {
        let fits = |(kind, pattern): &(NamedKind, String)| *kind == thing && fits(pattern, name);
        self.names.contains(&(thing, name.to_owned())) || self.patterns.iter().any(fits)
    }

    fn check(&self, diagnostics: &mut Diagnostics) {
        let mut reported_names = BTreeSet::new();
        // A line with a computed event can create anything.
        if self.lines.iter().any(|(_, line)| line.first().is_some_and(|id| id.contains(HOLE))) {
            return;
        }
        for (span, line) in &self.lines {
            let Some(definition) = self.definition(line) else { continue };
            for (thing, name) in definition.references(line) {
                if name.contains(HOLE)
                    || ROOTS.contains(&name)
                    || self.exists(thing, name)
                    || !reported_names.insert((*span, thing, name))
                {
                    continue;
                }
                diagnostics.push(self.warning(*span, thing, name));
            }
        }
    }

    fn warning(&self, span: SourceSpan, thing: NamedKind, name: &str) -> Diagnostic {
        let (noun, output) = (thing.name(), self.output.name);
        let candidates = self.names.iter().filter(|(kind, _)| *kind == thing);
        let help = did_you_mean(name, candidates.map(|(_, name)| name.as_str()));
        Diagnostic::warning(Code::UnresolvedName, format!("no line of output `{output}` creates the {noun} `{name}`"))
            .with_location(span, format!("{noun} `{name}`"))
            .help(help.unwrap_or_else(|| format!("write a line that creates it, or name a {noun} that exists")))
    }
}

/// The names of containers and types of typed rules, which are part of the same trace.
fn names_of_rules(spec: &Spec) -> Vec<(NamedKind, String)> {
    if spec.containers.is_empty() && spec.actions().next().is_none() {
        return Vec::new();
    }
    let mut names = Vec::new();
    for container in &spec.containers {
        let literal = |piece: &PatternPiece| match piece {
            PatternPiece::Text(text) => text.clone(),
            _ => HOLE.to_string(),
        };
        let label: String = container.pattern.0.iter().map(literal).collect();
        let label = if label.is_empty() { container.name.clone() } else { label };
        // A suffix distinguishes containers with equal labels.
        names.push((NamedKind::Container, format!("{label}{HOLE}")));
        names.push((NamedKind::Type, container.name.clone()));
    }
    for entity in &spec.entities {
        names.extend([&entity.name, &entity.label].map(|name| (NamedKind::Type, name.clone())));
    }
    let is_bare = |record: usize| u32::try_from(record).is_ok_and(|record| !spec.has_rules(RecordId(record)));
    if (0..spec.records.len()).any(is_bare) {
        // The names of the default rules are unknown until the run.
        names.extend([NamedKind::Container, NamedKind::Type].map(|thing| (thing, HOLE.to_string())));
    }
    names
}

/// The text of a line with holes for values that are not constant.
fn text_of(line: &TemplateLine) -> String {
    let mut arguments = line.arguments.iter().map(|argument| match argument {
        Expr::Integer(value) => value.to_string(),
        Expr::Text(TextPattern(pieces)) => match &pieces[..] {
            [PatternPiece::Text(text)] => text.clone(),
            _ => HOLE.to_string(),
        },
        _ => HOLE.to_string(),
    });
    let mut text = String::new();
    for piece in &line.text {
        text.push_str(piece);
        text.extend(arguments.next());
    }
    text
}

/// The words of a line of Pajé. `None` for a comment and for quotes that need the whole reader.
fn words(line: &str) -> Option<Vec<String>> {
    if line.trim_start().starts_with('#') || line.contains(['\'', '\\']) {
        return None;
    }
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    (!words.is_empty()).then_some(words)
}

/// Whether a name can be the text of a pattern with holes.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, others)) = pattern.split_once(HOLE) else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut literals: Vec<&str> = others.split(HOLE).collect();
    let last = literals.pop().unwrap_or("");
    for literal in literals {
        let Some(offset) = rest.find(literal) else { return false };
        rest = &rest[offset + literal.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{fits, words};

    #[test]
    fn holes_stand_for_any_text() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("\0", "", true),
            ("Node \0", "Node 3", true),
            ("Node \0", "Core 3", false),
            ("T\0.\0", "T1.2", true),
            ("T\0.\0", "T12", false),
            ("\0x", "ax", true),
            ("a\0a", "a", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern:?} {name}");
        }
    }

    #[test]
    fn words_have_quotes_or_blanks_around_them() {
        assert_eq!(words("12 \0 \"a b\" T\0 \"\"").unwrap(), ["12", "\0", "a b", "T\0", ""]);
        assert!(words("# comment").is_none() && words("1 'a'").is_none() && words("").is_none());
    }
}
