//! The reference as Markdown, for code hosts.

use std::fmt::Write as _;

use super::contents::{self, EventFacts, EventParameter, ReferenceFacts};
use super::expr;
use crate::spec::{ContainerTypeId, EntityType, Level, Spec, SpecColor};

/// The whole file.
pub(super) fn page(facts: &ReferenceFacts<'_>) -> String {
    let spec = facts.spec;
    let mut out = format!("# {}\n", inline(&spec.name));
    prose(&mut out, &spec.doc);
    head(&mut out, facts);
    for (item, events) in &facts.levels {
        level(&mut out, facts, item, events);
    }
    types(&mut out, spec);
    tree(&mut out, facts);
    rules(&mut out, spec);
    outputs(&mut out, spec);
    out
}

fn head(out: &mut String, facts: &ReferenceFacts<'_>) {
    let spec = facts.spec;
    if spec.version > 0 {
        let _ = write!(out, "\nVersion {}.\n", spec.version);
    }
    out.push_str("\n| level | at start | events and spans |\n|---|---|---|\n");
    for (level, events) in &facts.levels {
        let links: Vec<_> =
            events.iter().map(|event| format!("[{}](#{})", code(event.name), slug(&heading(event)))).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            code(&level.name),
            if level.is_enabled { "on" } else { "off" },
            links.join(", ")
        );
    }
    out.push_str(
        "\nEvery record also contains its timestamp, and belongs to a thread of a process. Sizes are those of records before \
         compression: 2 bytes for the kind, 4 for the timestamp, 4 for the source position if the event has one, and the \
         parameters.\n",
    );
}

fn heading(event: &EventFacts<'_>) -> String {
    let kind = event.kind.word();
    format!("{}{} `{}`", kind[..1].to_uppercase(), &kind[1..], event.name)
}

fn level(out: &mut String, facts: &ReferenceFacts<'_>, level: &Level, events: &[EventFacts<'_>]) {
    let _ = write!(out, "\n## Level `{}`\n", level.name);
    prose(out, &level.doc);
    if !level.is_enabled {
        out.push_str("\nOff by default.\n");
    }
    for event in events {
        let _ = write!(out, "\n### {}\n", heading(event));
        prose(out, event.doc);
        parameters(out, event);
        let sizes = event.sizes.iter();
        let sizes: Vec<_> = sizes.map(|(part, size)| format!("{part} {size}").trim().to_owned()).collect();
        let located = if event.has_location { ", with its source position" } else { "" };
        let _ = write!(out, "\nA record has {}{located}.\n", sizes.join(", "));
        if !event.calls.is_empty() {
            out.push('\n');
        }
        for call in &event.calls {
            let _ = writeln!(out, "{}:\n\n{}", call.language, fence(&call.language.to_lowercase(), &call.signature));
        }
        actions_section(out, facts, event);
        for call in &event.calls {
            let _ = write!(
                out,
                "\n<details><summary>Generated {}</summary>\n\n{}\n</details>\n",
                call.language,
                fence(&call.language.to_lowercase(), &call.code)
            );
        }
    }
}

fn parameters(out: &mut String, event: &EventFacts<'_>) {
    table(out, "parameter", &event.parameters);
    table(out, "parameter of the end", &event.end_parameters);
}

fn table(out: &mut String, title: &str, parameters: &[EventParameter<'_>]) {
    if parameters.is_empty() {
        return;
    }
    let _ = write!(out, "\n| {title} | type | bytes | |\n|---|---|---|---|\n");
    for parameter in parameters {
        let doc = parameter.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(parameter.name),
            code(&parameter.type_text),
            parameter.bytes,
            cell(&doc)
        );
    }
}

fn actions_section(out: &mut String, facts: &ReferenceFacts<'_>, event: &EventFacts<'_>) {
    let rules = event.rules.iter().filter_map(|rule| facts.spec.rule_texts.get(*rule));
    let texts: Vec<_> = rules.map(|rule| contents::rule_text(&rule.text)).collect();
    if !texts.is_empty() {
        let _ = write!(out, "In the image:\n\n{}", fence("", &texts.join("\n")));
    } else if !event.has_rules {
        let _ = writeln!(out, "{}", contents::default_display(event.kind));
    }
}

fn types(out: &mut String, spec: &Spec) {
    if !(spec.enums.is_empty() && spec.aliases.is_empty() && spec.constants.is_empty()) {
        out.push_str("\n## Types and constants\n");
    }
    for item in &spec.enums {
        let bytes = if item.is_wide() { "2 bytes" } else { "1 byte" };
        let _ = write!(out, "\n### Enum `{}`\n", item.name);
        prose(out, &item.doc);
        let _ = write!(out, "\nIn a record: {bytes}.\n\n| value | number | |\n|---|---|---|\n");
        for value in &item.values {
            let doc = value.doc.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(out, "| {} | {} | {} |", code(&value.name), value.number, cell(&doc));
        }
    }
    let aliases = spec.aliases.iter().map(|item| ("type", &item.name, item.text.clone(), &item.doc));
    let constants =
        spec.constants.iter().map(|item| ("const", &item.name, expr::text(&item.value, spec, None), &item.doc));
    let rows: Vec<_> = aliases.chain(constants).collect();
    if !rows.is_empty() {
        out.push_str("\n| | name | is | |\n|---|---|---|---|\n");
    }
    for (kind, name, value, doc) in rows {
        let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "| {kind} | {} | {} | {} |", code(name), code(&value), cell(&doc));
    }
}

/// The tree as text, then a description of its members.
fn tree(out: &mut String, facts: &ReferenceFacts<'_>) {
    if facts.spec.containers.is_empty() {
        return;
    }
    out.push_str("\n## Tree\n");
    let mut text = String::new();
    for id in facts.container_types_in(None) {
        branch(&mut text, facts, id, "", "");
    }
    let _ = write!(out, "\n{}", fence("text", &text));
    for id in 0..facts.spec.containers.len() {
        let id = ContainerTypeId(u32::try_from(id).unwrap_or(u32::MAX));
        let container = &facts.spec.containers[id.index()];
        if container.doc.trim().is_empty() && facts.entities(id).next().is_none() {
            continue;
        }
        let _ = write!(out, "\n### Container `{}`\n", container.name);
        prose(out, &container.doc);
        for (_, item) in facts.entities(id) {
            entity(out, facts, item);
        }
    }
}

/// One container and its contents. `first` precedes its own line, `prefix` the lines below.
fn branch(text: &mut String, facts: &ReferenceFacts<'_>, id: ContainerTypeId, first: &str, prefix: &str) {
    let container = &facts.spec.containers[id.index()];
    let name = contents::container_name(&container.name, &container.keys);
    let _ = writeln!(text, "{first}{name} \"{}\"", contents::pattern(&container.pattern));
    let inner = facts.container_types_in(Some(id));
    let entities: Vec<_> = facts.entities(id).collect();
    let count = entities.len() + inner.len();
    let marks = |index: usize| if index + 1 == count { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    for (index, (_, entity)) in entities.iter().enumerate() {
        let ends = facts.ends(entity).map(|[from, to]| format!(": {} → {}", from.join(", "), to.join(", ")));
        let (kind, ends) = (contents::kind_name(&entity.kind), ends.unwrap_or_default());
        let _ = writeln!(text, "{prefix}{}{kind} {}{ends}", marks(index).0, entity.name);
    }
    for (index, id) in inner.into_iter().enumerate() {
        let (head, child_mark) = marks(entities.len() + index);
        branch(text, facts, id, &format!("{prefix}{head}"), &format!("{prefix}{child_mark}"));
    }
}

fn entity(out: &mut String, facts: &ReferenceFacts<'_>, entity: &EntityType) {
    let ends = facts.ends(entity).map(|[from, to]| format!(", {} → {}", from.join(", "), to.join(", ")));
    let styles: Vec<String> = entity.color.map(hex).into_iter().chain(contents::style_texts(&entity.style)).collect();
    let styles = if styles.is_empty() { String::new() } else { format!(", {}", styles.join(", ")) };
    let _ = write!(
        out,
        "\n**{} {}** “{}”{}{styles}\n",
        contents::kind_name(&entity.kind),
        code(&entity.name),
        inline(&entity.label),
        ends.unwrap_or_default()
    );
    prose(out, &entity.doc);
    if entity.values.is_empty() {
        return;
    }
    out.push_str("\n| value | label | style | |\n|---|---|---|---|\n");
    for value in &entity.values {
        let styles: Vec<String> = value.color.map(hex).into_iter().chain(contents::value_texts(value)).collect();
        let doc = value.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(&value.name),
            cell(&value.label),
            styles.join(", "),
            cell(&doc)
        );
    }
}

fn hex(color: SpecColor) -> String {
    format!("`#{:02x}{:02x}{:02x}`", color.red, color.green, color.blue)
}

fn rules(out: &mut String, spec: &Spec) {
    if spec.rule_texts.is_empty() {
        return;
    }
    out.push_str("\n## Rules\n");
    for rule in &spec.rule_texts {
        prose(out, &rule.doc);
        let _ = write!(out, "\n{}", fence("", &contents::rule_text(&rule.text)));
    }
}

fn outputs(out: &mut String, spec: &Spec) {
    for output in &spec.outputs {
        let _ = write!(out, "\n## Text output {}\n", code(&output.name));
        if !output.prologue.is_empty() {
            let _ = write!(out, "\nPrologue:\n\n{}", fence("text", &output.prologue));
        }
        out.push_str("\n| record | line | parameters |\n|---|---|---|\n");
        for (record, lines) in spec.records.iter().zip(&output.rules) {
            for line in lines {
                let [text, arguments] = contents::line(line, spec, record);
                let _ = writeln!(out, "| {} | {} | {} |", code(&record.layout.name), code(&text), code(&arguments));
            }
        }
    }
}

/// A doc comment as Markdown. It keeps its paragraphs, lists and code between backquotes. Other
/// markup is escaped.
fn prose(out: &mut String, doc: &str) {
    if doc.trim().is_empty() {
        return;
    }
    out.push('\n');
    for line in doc.trim().lines() {
        let line = line.trim_end();
        match line.trim_start().strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("* ")) {
            Some(item) => {
                let _ = writeln!(out, "- {}", inline(item));
            }
            None => {
                let _ = writeln!(out, "{}", inline(line.trim_start()));
            }
        }
    }
}

/// Text with escaped markup, except for code between backquotes.
fn inline(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_closed = parts.len() % 2 == 1;
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        match index % 2 {
            1 if is_closed || !last => out.push_str(&code(part)),
            1 => out.push_str(&format!("\\`{}", escape_markdown(part))),
            _ => out.push_str(&escape_markdown(part)),
        }
    }
    out
}

fn escape_markdown(text: &str) -> String {
    let mut out = String::new();
    for (offset, letter) in text.char_indices() {
        let is_markup = match letter {
            '\\' | '*' | '<' | '>' | '[' | ']' | '|' | '~' | '&' => true,
            // Inside of a word, `_` is not markup.
            '_' => !(in_word(text[..offset].chars().next_back()) && in_word(text[offset + 1..].chars().next())),
            '#' | '+' | '-' | '=' => offset == 0,
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn in_word(letter: Option<char>) -> bool {
    letter.is_some_and(char::is_alphanumeric)
}

/// Prose in a cell of a table.
fn cell(text: &str) -> String {
    inline(text)
}

/// Code with any backquotes and bars, also for a cell of a table. An empty text yields nothing.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim() != text { " " } else { "" };
    format!("{ticks}{pad}{}{pad}{ticks}", text.replace(['\n', '\r'], "⏎").replace('|', "\\|"))
}

/// A block of code that may contain backquotes.
fn fence(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("{ticks}{language}\n{}\n{ticks}\n", text.trim_end_matches('\n'))
}

/// The anchor that a code host gives to a heading.
fn slug(heading: &str) -> String {
    let letters = heading.to_lowercase().replace(' ', "-");
    letters.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_markdown_mean_nothing() {
        assert_eq!(inline("a*b <i> `x|y` a_b _c_ `"), "a\\*b \\<i\\> `x\\|y` a_b \\_c\\_ \\`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(fence("c", "```"), "````c\n```\n````\n");
        assert_eq!(slug("Async span `Work_1`"), "async-span-work_1");
    }
}
