//! Diagnostics for pieces of a file that match no rule of the grammar.
//!
//! The piece is parsed again with the rule that was probably intended. The diagnostic names the
//! position of the error and the tokens expected there.

use pest::Parser as _;
use pest::error::{Error, ErrorVariant, InputLocation};

use super::ast_builder::{AstBuilder, ParseNode};
use super::grammar::{Rule, SpecGrammar};
use crate::diagnostics::{Code, Diagnostic, did_you_mean};
use crate::source_text::SourceSpan;

impl AstBuilder<'_> {
    /// Reports an unparsable piece. `rule` is the rule of one correct piece. `place` lists the
    /// pieces that are allowed here.
    pub(super) fn report_unparsable(&mut self, node: &ParseNode<'_>, rule: Rule, place: &str) {
        self.unparsed.extend(declared_names(node.as_str()));
        self.report_unexpected(node, rule, Some(place));
    }

    /// Reports an unparsable element of a list. Each of its words counts as declared.
    pub(super) fn bad_part(&mut self, node: &ParseNode<'_>, rule: Rule) {
        self.unparsed.extend(words(node.as_str()).map(str::to_owned));
        self.report_unexpected(node, rule, None);
    }

    fn report_unexpected(&mut self, node: &ParseNode<'_>, rule: Rule, place: Option<&str>) {
        let text = node.as_str();
        let start = self.offset + node.as_span().start();
        let Err(error) = SpecGrammar::parse(rule, text) else { return };
        let mut position = offset(&error).min(text.len());
        // At the end of the piece, the unexpected token is the next one of the file. The diagnostic
        // then refers to the end of the last word.
        let token_text = token(&text[position..]);
        if token_text.is_empty() {
            position = text.trim_end().len();
        }
        let span = SourceSpan::new(self.file, start + position..start + position + token_text.len());
        if self
            .diagnostics
            .iter()
            .any(|d| d.code == Code::UnterminatedText && d.primary.as_ref().is_some_and(|l| touches(l.span, span)))
        {
            return;
        }
        let title = if token_text.is_empty() {
            "something is missing here".to_owned()
        } else {
            format!("unexpected `{token_text}`")
        };
        let expected = expectation(&error);
        let at_start = text[..position].lines().all(|line| line.trim().is_empty() || line.trim().starts_with("///"));
        let label = place.filter(|_| at_start).map_or_else(|| expected.clone(), str::to_owned);
        let diagnostic = Diagnostic::error(Code::Syntax, title).with_location(span, label).maybe_help(
            hint(text, position, token_text, &expected)
                .or_else(|| did_you_mean(token_text, keywords(rule, at_start).iter().copied())),
        );
        self.push(diagnostic);
    }

    /// The span of the `{` of a block.
    pub(super) fn opening(&self, node: &ParseNode<'_>) -> Option<SourceSpan> {
        node.clone().into_inner().find(|child| child.as_rule() == Rule::open).map(|child| self.span(&child))
    }

    /// Reports a block without an end, once for each offset.
    pub(super) fn report_unclosed(&mut self, opening: Option<SourceSpan>, node: &ParseNode<'_>, keyword: &str) {
        let position = node.as_span().start();
        let Some(opening) = opening.filter(|_| !self.unclosed.contains(&position)) else { return };
        self.unclosed.push(position);
        let end = self.span(node);
        self.push(
            Diagnostic::error(Code::Unclosed, format!("this `{keyword}` block has no end"))
                .with_location(opening, "opened here")
                .with_label(end, "`}` expected before this"),
        );
    }
}

fn touches(a: SourceSpan, b: SourceSpan) -> bool {
    a.file == b.file && a.start <= b.end && b.start <= a.end
}

/// The offset of the error of a parse.
pub(super) fn offset(error: &Error<Rule>) -> usize {
    match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    }
}

/// The expectation at the end of a complete declaration.
pub(super) const END: &str = "the end of this declaration";

/// A list of the tokens that a parse expected at its error.
pub(super) fn expectation(error: &Error<Rule>) -> String {
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else { return "not expected here".to_owned() };
    let mut names: Vec<&str> = positives.iter().filter_map(|rule| describe(*rule)).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => "not expected here".to_owned(),
        [one] => format!("expected {one}"),
        [most @ .., last] => format!("expected {} or {last}", most.join(", ")),
    }
}

/// A rule of the grammar, as users name it. `None` for rules that only lengthen a message.
fn describe(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::name | Rule::word => "a name",
        Rule::open => "`{`",
        Rule::close => "`}`",
        Rule::open_bracket | Rule::keys => "`[`",
        Rule::close_bracket => "`]`",
        Rule::open_paren => "`(`",
        Rule::close_paren => "`)`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::semicolon => "`;`",
        Rule::equals | Rule::stream_mark => "`=`",
        Rule::arrow => "`->`",
        Rule::string => "a text in quotes",
        Rule::integer | Rule::float => "a number",
        Rule::color | Rule::hex | Rule::rgb => "a colour",
        Rule::style => "`shape` or `size`",
        Rule::value_category => "`category`",
        Rule::value_patterns | Rule::value_pattern | Rule::name_pattern => "a name or pattern",
        Rule::category_type | Rule::kw_of => "`of`",
        Rule::fields | Rule::values => "`{`",
        Rule::end_fields => "`end`",
        Rule::field => "a parameter `name: type`",
        Rule::type_ref => "a type",
        Rule::expr | Rule::unary | Rule::path | Rule::named => "an expression",
        Rule::action => {
            "an action (`create`, `destroy`, `set`, `push`, `pop`, `reset`, `add`, `subtract`, `mark`, `start`, `end`, `ignore`)"
        }
        Rule::assign_verb => "a verb",
        Rule::instance => "a container",
        Rule::clause => "a clause (`collective`, `at`, `when`, `with`)",
        Rule::collective_kind => "a kind (`barrier`, `one-to-all`, `all-to-one`, `all-to-all`)",
        Rule::link_key | Rule::kw_key => "`key (…)`",
        Rule::link_from | Rule::kw_from => "`from`",
        Rule::link_to | Rule::kw_to => "`to`",
        Rule::kw_on => "`on`",
        Rule::rule_target => "the name of an event",
        Rule::value | Rule::enum_value => "a value",
        Rule::key => "a key `name: type`",
        Rule::kw_stream => "`stream`",
        Rule::kw_rule => "`rule`",
        Rule::event_decl | Rule::kw_event => "`event`",
        Rule::span_decl | Rule::kw_span => "`span`",
        Rule::EOI => END,
        _ => return None,
    })
}

/// The word or sign at the start of a text.
fn token(text: &str) -> &str {
    let text = &text[..text.find('\n').unwrap_or(text.len())];
    let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    if word > 0 {
        return &text[..word];
    }
    const PAIRS: [&str; 10] = ["->", "=>", "==", "!=", "<=", ">=", "+=", "-=", "&&", "||"];
    if PAIRS.iter().any(|pair| text.starts_with(pair)) {
        return &text[..2];
    }
    &text[..text.chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8)]
}

/// Whether one of these signs follows the name at the start of the text.
fn after_name(text: &str, signs: &[&str]) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    rest.len() < text.len() && signs.iter().any(|sign| rest.trim_start().starts_with(sign))
}

/// Advice for frequent mistakes.
fn hint(text: &str, position: usize, token_text: &str, expected: &str) -> Option<String> {
    let hint = match token_text {
        "/" if text[position..].starts_with("/*") => "comments start with `//`",
        "/" if text[position..].starts_with("///") => {
            "a `///` comment precedes the declaration that it documents; write `//` in other places"
        }
        "[" if expected == "expected a name" || expected == "expected a container" => {
            "write a related container as two words and the container: `waits for lock[…]`, `owned by thread[…]`"
        }
        "+=" | "-=" => "write `add VARIABLE = …` or `subtract VARIABLE = …`",
        "end" if position == 0 => "`end { … }` follows the parameters of a span; events have no end",
        "'" => "write texts in double quotes",
        ";" if expected == "expected `,` or `}`" => "separate the elements of a list by `,`",
        "{" if text.trim_start().starts_with("category") => {
            "states of a type get a category by `category idle of TYPE`, or each value by `category idle` after it"
        }
        "=>" | ">" if expected.contains("`->`") => "write `->`",
        "=" if expected.contains("a clause") => "write `==` for equality",
        "#" if position == 0 => "comments start with `//`",
        "==" if expected.contains("`=`") => "write `=`; `==` is a comparison",
        _ if expected.starts_with("expected an action") && after_name(&text[position..], &["+=", "-="]) => {
            "write `add VARIABLE = …` or `subtract VARIABLE = …`"
        }
        _ if expected.starts_with("expected an action") && after_name(&text[position..], &["="]) => {
            "a verb is missing: `set STATE = …`, `push STATE = …`, `mark EVENT = …`"
        }
        _ if token_text.starts_with(|c: char| c.is_alphabetic() && !c.is_ascii()) => {
            "names have ASCII letters, digits and `_`; a label in quotes can be any text"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The keywords that the user may have intended.
fn keywords(only: Rule, at_start: bool) -> &'static [&'static str] {
    match only {
        Rule::only_item if at_start => {
            &["trace", "use", "const", "type", "enum", "level", "paje", "rule", "also", "output", "version"]
        }
        Rule::only_member if at_start => &["event", "span", "end"],
        Rule::only_tree_member if at_start => &["container", "state", "event", "variable", "link", "category"],
        Rule::only_rule if at_start => &["prologue", "rule", "also"],
        Rule::only_item | Rule::only_rule | Rule::only_action => &[
            "create",
            "destroy",
            "set",
            "push",
            "pop",
            "reset",
            "add",
            "subtract",
            "mark",
            "start",
            "end",
            "on",
            "from",
            "to",
            "key",
            "at",
            "when",
            "with",
            "collective",
            "of",
            "root",
            "bytes",
            "level",
            "default",
            "off",
            "ignore",
            "existing",
            "once",
        ],
        Rule::only_member => &["located", "async", "end"],
        Rule::only_field | Rule::only_enum_value => &[],
        _ => &["from", "to", "shape", "size", "stream", "category", "of"],
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Names that an unparsable piece seems to declare.
fn declared_names(text: &str) -> Vec<String> {
    const KEYWORDS: [&str; 9] = ["event", "span", "level", "enum", "container", "state", "variable", "link", "type"];
    let words: Vec<&str> = words(text).collect();
    let declared = words.windows(2).filter(|pair| KEYWORDS.contains(&pair[0])).map(|pair| pair[1]);
    // The word after a mistyped keyword is a declared name, too.
    declared.chain(words.get(1).copied()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_or_signs() {
        assert_eq!(token("node: u16"), "node");
        assert_eq!(token("-> set"), "->");
        assert_eq!(token("é_1 x"), "é_1");
        assert_eq!(token("; x"), ";");
        assert_eq!((token("\nx"), token(" x"), token("")), ("", "", ""));
    }

    #[test]
    fn broken_parts_still_declare_names() {
        assert_eq!(declared_names("evnt post { a: u8 }"), ["post"]);
        assert_eq!(declared_names("level L { event a span b"), ["L", "a", "b", "L"]);
    }
}
