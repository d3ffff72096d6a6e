//! What is wrong with a scenario: each problem with its place and its remedy.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

/// A text that problems point into: a scenario file, an override, a CDF, a flow list.
pub type Source = Arc<NamedSource<String>>;

/// A part of a source.
#[derive(Clone, Debug)]
pub struct Place {
    /// The text.
    pub source: Source,
    /// Bytes of it.
    pub span: Range<usize>,
}

impl Place {
    /// The part `span` of a text that is called `name`.
    pub fn new(name: &str, text: &str, span: Range<usize>) -> Place {
        Place { source: Arc::new(NamedSource::new(name, text.to_owned())), span }
    }

    /// The offending text.
    pub fn text(&self) -> &str {
        self.source.inner().get(self.span.clone()).unwrap_or("")
    }

    /// Line and column, both from 1; columns count characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let before = self.source.inner().get(..self.span.start).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        (line, column)
    }
}

/// One thing that is wrong, and what to do about it.
///
/// `Display` is the message alone; [`Problem::line`] adds the place and the remedy. As a
/// [`Diagnostic`] it shows the source's line with the place marked.
#[derive(Clone, Debug)]
pub struct Problem {
    message: String,
    remedy: String,
    place: Place,
}

impl Problem {
    /// A problem at a place.
    pub fn new(place: &Place, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { message: message.into(), remedy: remedy.into(), place: place.clone() }
    }

    /// A problem with a whole file, as when it cannot be read.
    pub fn with_file(name: &str, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem::new(&Place::new(name, "", 0..0), message, remedy)
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// `file:line:column: message; remedy`.
    pub fn line(&self) -> String {
        let (line, column) = self.place.line_and_column();
        let name = self.place.source.name();
        format!("{name}:{line}:{column}: {}; {}", self.message, self.remedy)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.remedy))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.place.source.inner().is_empty()).then_some(&*self.place.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.place.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::at(span, "here"))))
    }
}

/// Everything that is wrong with a scenario, in the order of the file. Never empty.
#[derive(Clone, Debug)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// From what was found; `None` if nothing was. What two sections found alike appears once.
    pub fn of(found: Vec<Problem>) -> Option<Problems> {
        let mut kept: Vec<Problem> = Vec::new();
        for problem in found {
            if kept.iter().all(|k| k.line() != problem.line()) {
                kept.push(problem);
            }
        }
        kept.sort_by(|a, b| {
            let key = |p: &Problem| (p.place.source.name().to_owned(), p.place.span.start);
            key(a).cmp(&key(b))
        });
        (!kept.is_empty()).then_some(Problems(kept))
    }

    /// One by one.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }

    /// How many; at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Problems(vec![problem])
    }
}

impl fmt::Display for Problems {
    /// One line a problem: `file:line:column: message; remedy`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::line).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Problems {}

impl Diagnostic for Problems {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.0.iter().map(|p| p as &dyn Diagnostic)))
    }
}

/// Most candidates that a remedy lists.
const MOST_CANDIDATES: usize = 16;

/// The candidate nearest to what was written, as a remedy: ``did you mean `rate`?``; where none is
/// near, all that there are, or the nearer ones of many.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let mut candidates: Vec<&str> = candidates.into_iter().collect();
    let written = written.to_lowercase();
    let score = |c: &&str| strsim::jaro_winkler(&written, &c.to_lowercase());
    let best = candidates.iter().map(|c| (score(c), *c));
    let best = best.fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a });
    if best.0 >= 0.75 {
        return format!("did you mean `{}`?", best.1);
    }
    match candidates.len() {
        0 => "there are none here".to_owned(),
        1..=MOST_CANDIDATES => format!("there are: {}", candidates.join(", ")),
        _ => {
            candidates.sort_by(|a, b| score(b).total_cmp(&score(a)));
            format!("among others there are: {}", candidates[..MOST_CANDIDATES].join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_file_line_column_and_remedy() {
        let text = "a = 1\nµ rate = 10\n";
        let start = text.find("rate").unwrap();
        let place = Place::new("x.toml", text, start..start + 4);
        let problem = Problem::new(&place, "unknown key `rate`", nearest("rate", ["rates"]));
        assert_eq!(problem.line(), "x.toml:2:3: unknown key `rate`; did you mean `rates`?");
        assert_eq!(problem.place().text(), "rate");
    }

    #[test]
    fn the_nearest_candidate_or_all() {
        assert_eq!(nearest("lod", ["load", "of"]), "did you mean `load`?");
        assert_eq!(nearest("xyz", ["load", "of"]), "there are: load, of");
    }

    #[test]
    fn equal_problems_appear_once_in_order_of_place() {
        let place = |at: usize| Place::new("x", "abcdef", at..at + 1);
        let found = vec![
            Problem::new(&place(4), "e", "r"),
            Problem::new(&place(1), "b", "r"),
            Problem::new(&place(4), "e", "r"),
        ];
        let problems = Problems::of(found).unwrap();
        assert_eq!(problems.to_string(), "x:1:2: b; r\nx:1:5: e; r");
        assert!(Problems::of(Vec::new()).is_none());
    }
}
