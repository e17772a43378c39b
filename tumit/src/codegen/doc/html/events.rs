//! Levels and their events.

use std::fmt::Write as _;

use super::super::contents::{self, EventFacts, EventParameter, ReferenceFacts};
use super::highlight;
use super::html_text::{HtmlText, anchor, code, prose};
use crate::spec::Level;

/// Maximum number of rules shown with each event. Further rules are only named.
const RULES_SHOWN: usize = 4;

pub(super) fn level(out: &mut String, facts: &ReferenceFacts<'_>, level: &Level, events: &[EventFacts<'_>]) {
    let id = anchor("level", &level.name);
    let state = if level.is_enabled { "on" } else { "off by default" };
    let _ = write!(
        out,
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\"><span class=\"kind\">Level</span> {} <span class=\"badge {}\">{state}\
         </span></h2>\n",
        HtmlText(&level.name),
        if level.is_enabled { "good" } else { "off" }
    );
    out.push_str(&prose(&level.doc));
    for item in events {
        event(out, facts, item);
    }
    out.push_str("</section>\n");
}

/// The start of a card: its name, its badges, and a short text at the right.
pub(super) fn card_head(out: &mut String, id: &str, name: &str, badges: &[&str], note: &str) {
    let _ = write!(
        out,
        "<article class=\"card\" id=\"{id}\" aria-labelledby=\"{id}-name\">\n<div class=\"top\"><h3 id=\"{id}-name\">\
         <a href=\"#{id}\">{}</a></h3>",
        HtmlText(name)
    );
    for badge in badges {
        let _ = write!(out, " <span class=\"badge\">{}</span>", HtmlText(badge));
    }
    if !note.is_empty() {
        let _ = write!(out, "<span class=\"note\">{}</span>", HtmlText(note));
    }
    out.push_str("</div>\n");
}

fn event(out: &mut String, facts: &ReferenceFacts<'_>, event: &EventFacts<'_>) {
    let mut badges = vec![event.kind.word()];
    if event.has_location {
        badges.push("source position");
    }
    let sizes =
        event.sizes.iter().map(|(part, size)| if part.is_empty() { size.clone() } else { format!("{part} {size}") });
    card_head(out, &anchor("event", event.name), event.name, &badges, &sizes.collect::<Vec<_>>().join(", "));
    out.push_str(&prose(event.doc));
    parameters(out, facts, event);
    for call in &event.calls {
        let _ = writeln!(
            out,
            "<div class=\"call\"><h4>{}</h4><pre tabindex=\"0\"><code>{}</code></pre></div>",
            call.language,
            HtmlText(&call.signature)
        );
    }
    actions_section(out, facts, event);
    for call in &event.calls {
        let _ = writeln!(
            out,
            "<details class=\"generated\">\n<summary>Generated {}</summary>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</details>",
            call.language,
            HtmlText(&call.code)
        );
    }
    out.push_str("</article>\n");
}

fn parameters(out: &mut String, facts: &ReferenceFacts<'_>, event: &EventFacts<'_>) {
    table(out, facts, &format!("Parameters of {}", event.name), &event.parameters);
    table(out, facts, &format!("Parameters of the end of {}", event.name), &event.end_parameters);
}

fn table(out: &mut String, facts: &ReferenceFacts<'_>, caption: &str, parameters: &[EventParameter<'_>]) {
    if parameters.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<table class=\"parameters\">\n<caption>{}</caption>\n<thead><tr><th scope=\"col\">parameter</th>\
         <th scope=\"col\">type</th><th scope=\"col\" class=\"n\">bytes</th><th scope=\"col\"><span class=\"hidden\">meaning\
         </span></th></tr></thead>\n<tbody>\n",
        HtmlText(caption),
    );
    for parameter in parameters {
        let choices = parameter.choices.and_then(|index| facts.spec.enums.get(index));
        let type_code = code(&parameter.type_text);
        let ty = match choices {
            Some(item) => format!("<a href=\"#{}\">{type_code}</a>", anchor("type", &item.name)),
            None => type_code,
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{ty}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            code(parameter.name),
            HtmlText(&parameter.bytes),
            prose(parameter.doc)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

/// The actions of rules for the event.
fn actions_section(out: &mut String, facts: &ReferenceFacts<'_>, event: &EventFacts<'_>) {
    if event.rules.is_empty() {
        if !event.has_rules {
            let _ = writeln!(out, "<p class=\"quiet\">{}</p>", contents::default_display(event.kind));
        }
        return;
    }
    let link = |rule: &usize| format!("<a href=\"#rule-{0}\">rule {0}</a>", rule + 1);
    let links: Vec<String> = event.rules.iter().map(link).collect();
    let _ = writeln!(out, "<h4>In the image <span class=\"quiet\">{}</span></h4>", links.join(", "));
    // A rule for a whole level appears with each of its events only as a link.
    let rules =
        event.rules.iter().filter_map(|rule| facts.spec.rule_texts.get(*rule)).filter(|rule| rule.records.len() <= 2);
    for rule in rules.take(RULES_SHOWN) {
        let _ = writeln!(
            out,
            "<pre class=\"rule\" tabindex=\"0\"><code>{}</code></pre>",
            highlight::rule(&contents::rule_text(&rule.text))
        );
    }
}
