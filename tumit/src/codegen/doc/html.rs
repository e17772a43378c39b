//! The HTML page: its frame, its table of contents, and the sections other than events and tree.

mod events;
mod highlight;
mod html_text;
mod type_tree;

use std::fmt::Write as _;

use super::contents::{self, ReferenceFacts};
use super::expr;
use crate::spec::Spec;
use html_text::{HtmlText, anchor, code, prose};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The whole page.
pub(super) fn page(facts: &ReferenceFacts<'_>) -> String {
    let spec = facts.spec;
    let mut out = String::new();
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"tumit {}\">\n<title>{} – events</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the reference</a>\n",
        env!("CARGO_PKG_VERSION"),
        HtmlText(&spec.name)
    );
    contents(&mut out, facts);
    out.push_str("<main id=\"main\" tabindex=\"-1\">\n");
    head(&mut out, facts);
    for (level, events) in &facts.levels {
        events::level(&mut out, facts, level, events);
    }
    types(&mut out, spec);
    type_tree::section(&mut out, facts);
    rules(&mut out, spec);
    outputs(&mut out, spec);
    let _ = write!(out, "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

/// The side bar: a search box and links to all entries.
fn contents(out: &mut String, facts: &ReferenceFacts<'_>) {
    let spec = facts.spec;
    let _ = write!(
        out,
        "<div class=\"side\">\n<p class=\"name\"><a href=\"#main\">{}</a></p>\n\
         <search><label class=\"hidden\" for=\"find\">Find by name</label>\
         <input id=\"find\" type=\"search\" placeholder=\"Find…  (press /)\" autocomplete=\"off\" spellcheck=\"false\">\
         <p class=\"hidden\" id=\"found\" role=\"status\"></p></search>\n<nav aria-label=\"Contents\">\n",
        HtmlText(&spec.name)
    );
    for (level, events) in &facts.levels {
        let items = events.iter().map(|event| {
            let words = event.parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(" ");
            (anchor("event", event.name), event.name, words)
        });
        list(out, &format!("Level {}", level.name), &anchor("level", &level.name), items);
    }
    let enums = spec.enums.iter().map(|item| {
        let words = item.values.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(" ");
        (anchor("type", &item.name), item.name.as_str(), words)
    });
    let aliases = spec.aliases.iter().map(|item| (anchor("type", &item.name), item.name.as_str(), item.text.clone()));
    let constants = spec.constants.iter().map(|item| (anchor("const", &item.name), item.name.as_str(), String::new()));
    list(out, "Types and constants", "types", enums.chain(aliases).chain(constants));
    let containers = (0..spec.containers.len()).flat_map(|index| {
        let container = &spec.containers[index];
        let entry =
            (anchor("container", &format!("{index}-{}", container.name)), container.name.as_str(), String::new());
        let entities = spec.entities.iter().enumerate().filter(move |(_, entity)| entity.container.index() == index);
        let entities = entities.map(|(index, entity)| {
            let words = entity.values.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(" ");
            (type_tree::entity_anchor(index, &entity.name), entity.name.as_str(), words)
        });
        std::iter::once(entry).chain(entities).collect::<Vec<_>>()
    });
    list(out, "Tree", "tree", containers);
    if !spec.rule_texts.is_empty() {
        out.push_str("<p class=\"head\"><a href=\"#rules\">Rules</a></p>\n");
    }
    let outputs =
        spec.outputs.iter().map(|output| (anchor("output", &output.name), output.name.as_str(), String::new()));
    list(out, "Text outputs", "outputs", outputs);
    out.push_str("</nav>\n</div>\n");
}

/// A heading and its links. `words` are further search terms of an entry. The output is empty
/// without entries.
fn list<'a>(out: &mut String, title: &str, target: &str, items: impl Iterator<Item = (String, &'a str, String)>) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return;
    }
    let _ = write!(out, "<p class=\"head\"><a href=\"#{target}\">{}</a></p>\n<ul>\n", HtmlText(title));
    for (target, name, words) in items {
        let _ = writeln!(
            out,
            "<li data-words=\"{}\"><a href=\"#{target}\">{}</a></li>",
            HtmlText(&words.to_lowercase()),
            HtmlText(name)
        );
    }
    out.push_str("</ul>\n");
}

/// The head of the page: description and main figures of the spec.
fn head(out: &mut String, facts: &ReferenceFacts<'_>) {
    let spec = facts.spec;
    let _ = writeln!(out, "<header>\n<p class=\"over\">Trace reference</p>\n<h1>{}</h1>", HtmlText(&spec.name));
    out.push_str(&prose(&spec.doc));
    out.push_str("<ul class=\"facts\">\n");
    let mut fact = |text: String| {
        let _ = writeln!(out, "<li>{text}</li>");
    };
    if spec.version > 0 {
        fact(format!("version {}", spec.version));
    }
    let events = spec.events();
    for (count, noun) in [(events, "event"), (spec.spans.len(), "span"), (spec.levels.len(), "level")] {
        if count > 0 {
            fact(format!("{count} {noun}{}", if count == 1 { "" } else { "s" }));
        }
    }
    let files: Vec<_> =
        spec.sources.iter().map(|file| code(file.path.rsplit('/').next().unwrap_or_default())).collect();
    fact(format!("from {}", files.join(", ")));
    out.push_str("</ul>\n");
    out.push_str(
        "<p class=\"quiet\">Every record also contains its timestamp, and belongs to a thread of a process. Sizes are those of \
         records before compression: 2 bytes for the kind, 4 for the timestamp, 4 for the source position if the event \
         has one, and the parameters.</p>\n</header>\n",
    );
}

fn types(out: &mut String, spec: &Spec) {
    if spec.enums.is_empty() && spec.aliases.is_empty() && spec.constants.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"types\">\n<h2 id=\"types\">Types and constants</h2>\n");
    for item in &spec.enums {
        let id = anchor("type", &item.name);
        let bytes = if item.is_wide() { "2 bytes" } else { "1 byte" };
        events::card_head(out, &id, &item.name, &["enum"], bytes);
        out.push_str(&prose(&item.doc));
        let _ = write!(
            out,
            "<table class=\"choices\">\n<caption>Values of {}</caption>\n<thead><tr><th scope=\"col\">value</th><th scope=\"col\" class=\"n\">\
             number</th><th scope=\"col\"><span class=\"hidden\">meaning</span></th></tr></thead>\n<tbody>\n",
            HtmlText(&item.name)
        );
        for value in &item.values {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td></tr>",
                code(&value.name),
                value.number,
                prose(&value.doc)
            );
        }
        out.push_str("</tbody>\n</table>\n</article>\n");
    }
    if !spec.aliases.is_empty() {
        let rows =
            spec.aliases.iter().map(|item| (anchor("type", &item.name), &item.name, item.text.clone(), &item.doc));
        small_table(out, "Named types", "is", rows);
    }
    if !spec.constants.is_empty() {
        let rows = spec
            .constants
            .iter()
            .map(|item| (anchor("const", &item.name), &item.name, expr::text(&item.value, spec, None), &item.doc));
        small_table(out, "Constants", "value", rows);
    }
    out.push_str("</section>\n");
}

fn small_table<'a>(
    out: &mut String,
    title: &str,
    second: &str,
    rows: impl Iterator<Item = (String, &'a String, String, &'a String)>,
) {
    let _ = write!(
        out,
        "<article class=\"card\">\n<h3>{title}</h3>\n<table class=\"small\">\n<caption>{title}</caption>\n<thead><tr><th scope=\"col\">name</th>\
         <th scope=\"col\">{second}</th><th scope=\"col\"><span class=\"hidden\">meaning</span></th></tr></thead>\n<tbody>\n"
    );
    for (id, name, value, doc) in rows {
        let _ = writeln!(
            out,
            "<tr id=\"{id}\"><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>",
            code(name),
            code(&value),
            prose(doc)
        );
    }
    out.push_str("</tbody>\n</table>\n</article>\n");
}

fn rules(out: &mut String, spec: &Spec) {
    if spec.rule_texts.is_empty() {
        return;
    }
    out.push_str(
        "<section aria-labelledby=\"rules\">\n<h2 id=\"rules\">Rules</h2>\n<p>The effects of records on the image.</p>\n",
    );
    for (index, rule) in spec.rule_texts.iter().enumerate() {
        let _ = writeln!(out, "<div class=\"rule\" id=\"rule-{}\">", index + 1);
        out.push_str(&prose(&rule.doc));
        let _ = writeln!(
            out,
            "<pre tabindex=\"0\"><code>{}</code></pre>\n<a class=\"number\" href=\"#rule-{1}\" aria-label=\"rule {1}\">{1}</a>\n</div>",
            highlight::rule(&contents::rule_text(&rule.text)),
            index + 1
        );
    }
    out.push_str("</section>\n");
}

fn outputs(out: &mut String, spec: &Spec) {
    if spec.outputs.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"outputs\">\n<h2 id=\"outputs\">Text outputs</h2>\n");
    for output in &spec.outputs {
        let convert = format!("tumit convert RUN --text-output {}", output.name);
        events::card_head(out, &anchor("output", &output.name), &output.name, &["output text"], "");
        let _ = writeln!(out, "<p>Written by {}.</p>", code(&convert));
        if !output.prologue.is_empty() {
            let _ = writeln!(
                out,
                "<details>\n<summary>Prologue</summary>\n<pre><code>{}</code></pre>\n</details>",
                HtmlText(output.prologue.trim_end_matches('\n'))
            );
        }
        let _ = write!(
            out,
            "<table>\n<caption>Lines of {}</caption>\n<thead><tr><th scope=\"col\">record</th><th scope=\"col\">line</th>\
             <th scope=\"col\">parameters</th></tr></thead>\n<tbody>\n",
            HtmlText(&output.name)
        );
        for (record, lines) in spec.records.iter().zip(&output.rules) {
            for line in lines {
                let [text, arguments] = contents::line(line, spec, record);
                let _ = writeln!(
                    out,
                    "<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th><td>{}</td><td>{}</td></tr>",
                    anchor("event", &record.name),
                    code(&record.layout.name),
                    code(&text),
                    code(&arguments)
                );
            }
        }
        out.push_str("</tbody>\n</table>\n</article>\n");
    }
    out.push_str("</section>\n");
}
