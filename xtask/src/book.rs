//! Builds the manual: each chapter of `docs/SUMMARY.md` as a page, with checked links and pictures beside it.
//!
//! The layout is that of mdBook (`book.toml`), so `mdbook build` works too; this module avoids mdBook's installation,
//! which takes minutes. A link to a missing file is an error. Anchors (`#…`) are not checked.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, html};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const STYLE: &str = "body{font:16px/1.55 system-ui,sans-serif;margin:0;display:grid;\
grid-template-columns:18rem minmax(0,1fr);color-scheme:light dark}nav{padding:1rem;border-right:1px solid #8884}\
nav li{margin:.3rem 0}nav ul{list-style:none;padding:0}main{max-width:60rem;padding:1rem 2rem}\
pre{overflow-x:auto;padding:.7rem;background:#8881;border-radius:4px}code{font-size:13.5px}\
table{border-collapse:collapse}td,th{border:1px solid #8884;padding:.2rem .6rem;text-align:left}";

/// A chapter: its title and its file, relative to the folder of the manual.
pub(crate) struct Chapter {
    /// As in the list of chapters.
    pub(crate) title: String,
    /// The Markdown file.
    pub(crate) file: PathBuf,
}

/// Builds the manual of a folder into another; the error lists problems, one sentence each.
pub(crate) fn build(docs: &Path, out: &Path) -> Result<Vec<Chapter>, Vec<String>> {
    let chapters = chapters(docs).map_err(|error| vec![error])?;
    let mut problems = Vec::new();
    let mut pages = Vec::new();
    for chapter in &chapters {
        pages.push(chapter.file.clone());
        // A chapter that is a list of pages includes them.
        if chapter.file.file_name().is_some_and(|name| name == "README.md") {
            pages.extend(siblings(docs, &chapter.file));
        }
    }
    for page in &pages {
        match std::fs::read_to_string(docs.join(page)) {
            Ok(text) => problems.extend(page_of(docs, page, &text, &chapters, out)),
            Err(error) => problems.push(format!("{}: {error}", page.display())),
        }
    }
    if problems.is_empty() { Ok(chapters) } else { Err(problems) }
}

fn chapters(docs: &Path) -> Result<Vec<Chapter>, String> {
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).map_err(|e| e.to_string())?;
    let mut found = Vec::new();
    for line in summary.lines().filter_map(|line| line.trim_start().strip_prefix("- [")) {
        let (title, rest) = line.split_once("](").ok_or_else(|| format!("SUMMARY.md: {line}"))?;
        let file = rest.strip_suffix(')').ok_or_else(|| format!("SUMMARY.md: {line}"))?;
        found.push(Chapter { title: title.to_owned(), file: file.into() });
    }
    Ok(found)
}

fn siblings(docs: &Path, file: &Path) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    let entries = std::fs::read_dir(docs.join(&folder)).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries
        .map(|entry| folder.join(entry.file_name()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md") && path != file)
        .collect();
    names.sort();
    names
}

/// Writes a page; returns its problems.
fn page_of(docs: &Path, page: &Path, text: &str, chapters: &[Chapter], out: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let folder = page.parent().unwrap_or(Path::new(""));
    let options = Options::ENABLE_TABLES;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let inside = !dest_url.contains("://") && link_type != LinkType::Email;
            let target = dest_url.split('#').next().unwrap_or_default();
            if inside && !target.is_empty() && !docs.join(folder).join(target).exists() {
                problems.push(format!("{}: `{dest_url}` leads nowhere", page.display()));
            }
            let dest_url = if inside { dest_url.replace(".md", ".html").into() } else { dest_url };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let from = docs.join(folder).join(&*dest_url);
            let to = out.join(folder).join(&*dest_url);
            let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(error) = made.and_then(|()| std::fs::copy(&from, &to)) {
                problems.push(format!("{}: `{dest_url}`: {error}", page.display()));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        event => event,
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    let up = "../".repeat(folder.components().count());
    let mut list = String::new();
    for Chapter { title, file } in chapters {
        let href = file.with_extension("html").display().to_string();
        let _ = writeln!(list, "<li><a href=\"{up}{href}\">{title}</a></li>");
    }
    let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
    let whole = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title} — Warpproof</title>\
         <style>{STYLE}</style></head>\n<body><nav><ul>\n{list}</ul></nav>\n<main>\n{body}</main></body></html>\n"
    );
    let path = out.join(page).with_extension("html");
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    if let Err(error) = written.and_then(|()| std::fs::write(&path, whole)) {
        problems.push(format!("{}: {error}", path.display()));
    }
    problems
}
