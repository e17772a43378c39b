//! `tumit man`: writes the manual pages.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Command, ValueHint};
use clap_mangen::Man;

use super::exit_status::ExitStatus;
use crate::output_file::write_if_changed;
use crate::term;

/// Writes the manual pages: one for `tumit` and one per command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit man -o ~/.local/share/man/man1      then: man tumit, man tumit-check
  tumit man gen | man -l -                  shows one page")]
pub(crate) struct Args {
    /// Prints the page of this command [default: the page of `tumit`]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Option<String>,
    /// Writes all pages into this folder, and creates it if it does not exist
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, root: Command) -> anyhow::Result<ExitStatus> {
    let mut root = root.disable_help_subcommand(true);
    root.build();
    if let Some(folder) = &args.output {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        for command in std::iter::once(&root).chain(root.get_subcommands()) {
            let path = folder.join(format!("{}.1", page_name(command)));
            write_if_changed(&path, &page(command)?)?;
        }
        return Ok(ExitStatus::Done);
    }
    let command = match &args.command {
        None => &root,
        Some(name) => root.find_subcommand(name).with_context(|| {
            let names: Vec<_> = root.get_subcommands().map(Command::get_name).collect();
            format!("there is no command `{name}`; the commands are {}", names.join(", "))
        })?,
    };
    let mut out = term::stdout();
    out.write_all(page(command)?.as_bytes()).context("cannot write")?;
    out.flush().context("cannot write")?;
    Ok(ExitStatus::Done)
}

/// The name of a manual page: `tumit`, `tumit-check`.
fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// One manual page. The text after the options becomes separate sections, so that examples keep
/// their lines.
fn page(command: &Command) -> anyhow::Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone()).title(page_name(command).to_uppercase()).source(format!("tumit {version}"));
    let mut out = Vec::new();
    render(&man, command, &mut out).context("cannot write the page")?;
    let mut out = String::from_utf8(out).context("a page is text")?;
    if let Some(help) = command.get_after_help() {
        sections(&mut out, &help.to_string());
    }
    if command.get_display_name().is_some_and(|name| name != "tumit") {
        out.push_str(".SH \"SEE ALSO\"\n.BR tumit (1)\n");
    }
    Ok(in_ascii(&out))
}

/// Replaces letters beyond ASCII by the escapes of groff, which would interpret their bytes as
/// another alphabet.
fn in_ascii(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for letter in page.chars() {
        if letter.is_ascii() { text.push(letter) } else { text.push_str(&format!("\\[u{:04X}]", u32::from(letter))) }
    }
    text
}

fn render(man: &Man, command: &Command, out: &mut dyn Write) -> io::Result<()> {
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    Ok(())
}

/// Appends the text after the options. `Head:` with indented lines is an example, other lines are
/// prose.
fn sections(out: &mut String, help: &str) {
    let mut verbatim = false;
    let (mut head, mut previous_line) = ("", "");
    for line in help.lines() {
        let indented = line.starts_with("  ");
        if verbatim && !indented {
            out.push_str(".fi\n.RE\n");
            verbatim = false;
        }
        if line.trim().is_empty() {
            continue;
        }
        let (title, text) = match line {
            _ if indented => (head, line.get(2..).unwrap_or_default()),
            _ if line.ends_with(':') => ("EXAMPLES", ""),
            _ if line.starts_with("Exit status:") => ("EXIT STATUS", line.trim_start_matches("Exit status:").trim()),
            _ if head == "EXIT STATUS" => (head, line),
            _ => ("NOTES", line),
        };
        if title != head {
            out.push_str(&format!(".SH \"{title}\"\n"));
            head = title;
        } else if !indented && previous_line.ends_with('.') {
            out.push_str(".PP\n");
        }
        previous_line = line;
        if indented && !verbatim {
            out.push_str(".RS 4\n.nf\n");
            verbatim = true;
        }
        if !text.is_empty() {
            out.push_str(&escape_for_groff(text));
            out.push('\n');
        }
    }
    if verbatim {
        out.push_str(".fi\n.RE\n");
    }
}

/// A line with escapes, which groff prints unchanged.
fn escape_for_groff(line: &str) -> String {
    let mut text = String::new();
    for letter in line.chars() {
        match letter {
            '\\' => text.push_str("\\e"),
            '-' => text.push_str("\\-"),
            '\'' => text.push_str("\\(aq"),
            '`' => text.push_str("\\(ga"),
            _ => text.push(letter),
        }
    }
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
