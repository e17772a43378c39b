//! Completions of a filter expression: words of the language, and names in the trace.

use std::collections::BTreeSet;

use super::keywords::RESERVED;
use super::parse::{self, ExpectedToken, FilterToken, FilterVersion, PlacedToken};
use super::quote::{ConditionName, FilterName};
use crate::query::{PajeTypeKind, StateLaneId, TimelineSource, TypeInfo, ValueInfo};

/// A possible continuation of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The replacement for the text from [`Self::from`] to the end. A name is quoted if necessary.
    pub text: String,
    /// The start of the replaced text, in bytes.
    pub from: usize,
    /// The kind of the replacement: `word`, or the kind of name, such as `the name of a type`.
    pub kind: &'static str,
    /// Whether the text is only a description of possible input, and cannot be inserted.
    pub is_hint: bool,
}

/// Maximum number of names that are examined, because a trace may have millions.
const MAX_EXAMINED: usize = 20_000;
/// Maximum number of lanes from which the first state is read for its fields.
const MAX_LANES: usize = 64;

/// At most `max_count` continuations of `text`. Those that begin with the last written words come
/// before those that only contain them, and words come before names.
///
/// ```
/// use tumit_viewer::filter::complete;
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let trace = format!("{header}{body}");
/// # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let continuations = complete(&store, "hide value wo", 10);
/// assert_eq!((continuations[0].text.as_str(), continuations[0].from), ("work", 11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complete(source: &dyn TimelineSource, text: &str, max_count: usize) -> Vec<Completion> {
    let Ok(tokens) = parse::tokens(text, FilterVersion::Two) else { return Vec::new() };
    // The last words may be the beginning of a name. The longest possible beginning is tried first.
    let is_plain_word =
        |token: &FilterToken| matches!(token, FilterToken::Word(word) if !RESERVED.contains(&word.as_str()));
    let open = tokens.iter().rev().take_while(|token| is_plain_word(&token.token)).count();
    let ends_with_space = text.ends_with(char::is_whitespace);
    for words in (0..=open).rev() {
        let from = tokens.get(tokens.len() - words).map_or(text.len(), |token| token.byte_range.start);
        let (typed_text, prefix) = text.split_at(from);
        let is_open = matches!(tokens.last(), Some(PlacedToken { token: FilterToken::Open | FilterToken::Close, .. }));
        if words == 0
            && !ends_with_space
            && !is_open
            && text.ends_with(|c: char| !c.is_whitespace() && !",<>=!~".contains(c))
        {
            continue;
        }
        let completions = completions(source, typed_text, prefix, from);
        if !completions.is_empty() {
            return completions.into_iter().take(max_count).collect();
        }
    }
    Vec::new()
}

fn completions(source: &dyn TimelineSource, typed_text: &str, prefix: &str, from: usize) -> Vec<Completion> {
    let prefix = prefix.trim_end().to_lowercase();
    let in_condition = parse::tokens(typed_text, FilterVersion::Two).is_ok_and(|tokens| parse::has_condition(&tokens));
    // The rank is the sort key.
    let mut completions: Vec<(u8, Completion)> = Vec::new();
    let (mut token_kinds, mut words) = (BTreeSet::new(), BTreeSet::new());
    for next in parse::next(typed_text) {
        match next {
            ExpectedToken::Word(word) if word.starts_with(&prefix) && word != prefix && words.insert(word) => {
                completions.push((0, Completion { text: word.to_owned(), from, kind: "word", is_hint: false }));
            }
            ExpectedToken::Word(_) => {}
            ExpectedToken::Named(kind) if token_kinds.insert(kind) => {
                let names = names(source, kind);
                if names.is_none() && prefix.is_empty() {
                    completions.push((3, Completion { text: kind.to_owned(), from, kind, is_hint: true }));
                }
                for name in names.into_iter().flatten() {
                    let lower = name.to_lowercase();
                    if !lower.contains(&prefix) || lower == prefix {
                        continue;
                    }
                    let rank = if lower.starts_with(&prefix) { 1 } else { 2 };
                    let text =
                        if in_condition { ConditionName(&name).to_string() } else { FilterName(&name).to_string() };
                    completions.push((rank, Completion { text, from, kind, is_hint: false }));
                }
            }
            ExpectedToken::Named(_) => {}
        }
    }
    completions.sort_by_key(|entry| entry.0);
    completions.into_iter().map(|entry| entry.1).collect()
}

/// The names of a kind in a trace; `None` if any text is possible.
fn names(source: &dyn TimelineSource, kind: &str) -> Option<BTreeSet<String>> {
    let model = source.model();
    let types = |fits: &dyn Fn(&TypeInfo) -> bool| {
        model.types.iter().skip(1).filter(|ty| fits(ty)).map(|ty| ty.name.clone()).collect()
    };
    let values = |fits: &dyn Fn(PajeTypeKind) -> bool| {
        let is_visible = |value: &&ValueInfo| {
            model.types.get(value.ty.index()).is_some_and(|ty| fits(ty.kind)) && source.shows(value.id)
        };
        model.values.iter().filter(is_visible).take(MAX_EXAMINED).map(|value| value.name.clone()).collect()
    };
    Some(match kind {
        "the name of a type" => types(&|_| true),
        "the name of a container type" => types(&|ty| ty.kind == PajeTypeKind::Container),
        "the name of a type of events" => types(&|ty| ty.kind == PajeTypeKind::Event),
        "the name of a type of states" => types(&|ty| ty.kind == PajeTypeKind::State),
        "the name of a variable" => types(&|ty| ty.kind == PajeTypeKind::Variable),
        "the name of a value" => values(&|_| true),
        "the name of a value of events" => values(&|kind| kind == PajeTypeKind::Event),
        "the name of a value of states" => values(&|kind| kind == PajeTypeKind::State),
        "the name of a container" | "the names of containers" => {
            let all = source.containers();
            all.iter().skip(1).take(MAX_EXAMINED).map(|info| info.name.clone()).collect()
        }
        "the name of a field" => fields(source),
        _ => return None,
    })
}

/// The fields of the first entities of each type.
fn fields(source: &dyn TimelineSource) -> BTreeSet<String> {
    let (model, containers, extent) = (source.model(), source.containers(), source.extent());
    let mut names: BTreeSet<String> = ["file", "line", "value", "container"].map(str::to_owned).into();
    let mut lanes = 0;
    for ty in &model.types {
        let first = match ty.kind {
            PajeTypeKind::Link { .. } => {
                names.extend(["from", "to", "key"].map(str::to_owned));
                source.links(ty.id, extent, 1).ok().and_then(|list| list.items.first().map(|link| link.id))
            }
            PajeTypeKind::State => {
                containers.iter().filter(|info| source.depths(info.id, ty.id) > 0).find_map(|info| {
                    lanes += 1;
                    let lane = StateLaneId { container: info.id, ty: ty.id, depth: 0 };
                    let list = source.states(lane, extent, usize::from(lanes <= MAX_LANES)).ok()?;
                    list.items.first().map(|state| state.id)
                })
            }
            PajeTypeKind::Event => containers.iter().take(MAX_LANES).find_map(|info| {
                let list = source.events(info.id, ty.id, extent, 1).ok()?;
                list.items.first().map(|mark| mark.id)
            }),
            PajeTypeKind::Variable | PajeTypeKind::Container => None,
        };
        let facts = first.and_then(|id| source.facts(id).ok());
        names.extend(facts.into_iter().flat_map(|facts| facts.fields).map(|(name, _)| name));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::complete;
    use crate::filter::language::ast::FilterExpr;
    use crate::filter::language::error::FilterError;
    use crate::store::TraceStore;

    fn texts(text: &str) -> Vec<String> {
        let trace = format!(
            "{}0 N 0 Node\n0 T N Thread\n2 S T Activity\n5 w S \"wait of\" \"0 1 0\"\n5 i S idle \"1 0 0\"\n6 0 n 0 N \"Node 1\"\n6 0 m 0 N \"Node 2\"\n\
             6 0 a n T a\n11 0 a S w\n7 10 T a\n",
            include_str!("../../../tests/header.paje")
        );
        let store = TraceStore::from_paje("trace", trace.as_bytes()).expect("the text is a valid Pajé file");
        complete(&store, text, 20)
            .into_iter()
            .map(|completion| format!("{}{}", &text[..completion.from], completion.text))
            .collect()
    }

    #[test]
    fn words_and_names_that_could_follow_are_offered() {
        assert_eq!(texts("h"), ["hide"]);
        assert_eq!(texts("hide t"), ["hide type"]);
        assert_eq!(texts("hide value i"), ["hide value idle", "hide value \"wait of\""]);
        assert_eq!(texts("hide value idle "), ["hide value idle ,", "hide value idle of"]);
        assert_eq!(texts("group node"), ["group Node 1", "group Node 2"]);
        assert_eq!(texts("group Node 1, Node 2 "), ["group Node 1, Node 2 ,", "group Node 1, Node 2 into"]);
        assert_eq!(texts("sort Th"), ["sort Thread"]);
        assert_eq!(
            texts("sort Thread by time of "),
            ["Activity", "Node", "Thread"].map(|ty| format!("sort Thread by time of {ty}"))
        );
        assert_eq!(texts("shape d"), ["shape diamond"]);
        assert_eq!(texts("shape diamond o"), ["shape diamond of"], "there are no events");
        assert_eq!(texts("shape diamond of "), ["Found"; 0]);
        assert_eq!(texts("category i"), ["category idle", "category ignored"]);
        assert_eq!(texts("category idle w"), ["category idle \"wait of\""]);
        assert_eq!(texts("category idle of "), ["category idle of Activity"]);
        assert_eq!(texts("size "), ["size a size such as 1.5"]);
        assert_eq!(texts("size 2 w"), ["size 2 \"wait of\""]);
        assert!(texts("").contains(&"bright".to_owned()));
        assert!(texts("only where ").contains(&"only where file".to_owned()));
        assert!(texts("what is this ").is_empty());
        let completes_to = |text: &str, next: &str| texts(text).contains(&format!("{text}{next}"));
        assert!(["not", "(", "involves", "value"].iter().all(|next| completes_to("only where ", next)));
        assert!(["not", "(", "involves", "value"].iter().all(|next| completes_to("only where (", next)));
        assert_eq!(texts("only where involves n"), ["only where involves Node 1", "only where involves Node 2"]);
        assert_eq!(texts("only where container = node 2, Nod").len(), 2);
        assert!([",", "or", "and", "of"].iter().all(|next| completes_to("only where container = Node 1 ", next)));
        assert!(completes_to("only where (container = Node 1 ", ")"));
        assert_eq!(texts("only where container = Node 1 a"), ["only where container = Node 1 and"]);
        assert!(["sent", "received"].iter().all(|next| completes_to("count ", next)));
    }

    #[test]
    fn an_error_has_its_position() {
        let place = |text: &str| {
            let error = text.parse::<FilterExpr>().expect_err("the expression is invalid");
            text[error.place(text)].to_owned()
        };
        assert_eq!(place("hide what é"), "what");
        assert_eq!(place("hide type Thread <> x"), "<>");
        assert_eq!(place("group a, b"), "");
        assert_eq!(place("hide type é \"x"), "\"x");
        let error = FilterError::NoMatch {
            kind: "type",
            pattern: "Thred".to_owned(),
            help: String::new(),
            example: Box::default(),
        };
        assert_eq!(error.place("hide type Thred"), 10..15);
    }
}
