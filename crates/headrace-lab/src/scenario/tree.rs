//! A scenario's text as a tree in which every key and value knows its place.

use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;
use toml_edit::{Document, Item, TableLike, Value};

use super::problems::{Place, Problem, Source};

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub data: Data,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Data {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A date or time of day, which no key takes.
    Date,
    /// A list, or an array of tables.
    List(Vec<Node>),
    /// A table, in the order of the file.
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// Parses a TOML text that problems will call `name`.
    ///
    /// # Errors
    /// The parser's complaint, with its place.
    pub fn parse(name: &str, text: &str) -> Result<Node, Problem> {
        let source: Source = Arc::new(NamedSource::new(name, text.to_owned()));
        match Document::parse(text) {
            Ok(document) => {
                let table = document.as_table();
                Ok(from_table(table, &Place { source, span: 0..0 }))
            }
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                let place = Place { source, span };
                let message = error.message().trim().replace('\n', ", ");
                let remedy = match message.contains("overflow") {
                    true => format!("a whole number is at most {}", i64::MAX),
                    false => "correct the TOML at this place".to_owned(),
                };
                Err(Problem::new(&place, message, remedy))
            }
        }
    }

    /// A table's entries; `None` for anything else.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.data {
            Data::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a table's key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|e| e.key == key).map(|e| &e.value)
    }

    /// What this is, in words.
    pub fn kind(&self) -> &'static str {
        match self.data {
            Data::Text(_) => "a text",
            Data::Integer(_) | Data::Float(_) => "a bare number",
            Data::Flag(_) => "true or false",
            Data::Date => "a date",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }

    /// A name that stands for a table, `"dctcp"`, as the table `{ key = "dctcp" }`.
    pub fn named(self, key: &str) -> Node {
        match self.data {
            Data::Text(_) => {
                let place = self.place.clone();
                let entry = Entry { key: key.to_owned(), place: place.clone(), value: self };
                Node { place, data: Data::Table(vec![entry]) }
            }
            _ => self,
        }
    }

    /// This table with the entries of `over` put over it. Keys of one group exclude each other:
    /// any of them in `over` hides all of them here.
    pub fn overlaid(&self, over: &Node, groups: &[&[&str]]) -> Node {
        let (Some(base), Some(above)) = (self.entries(), over.entries()) else {
            return over.clone();
        };
        let together =
            |a: &str, b: &str| a == b || groups.iter().any(|g| g.contains(&a) && g.contains(&b));
        let hidden = |e: &&Entry| above.iter().any(|a| together(&a.key, &e.key));
        let kept = base.iter().filter(|e| !hidden(e)).chain(above).cloned().collect();
        Node { place: over.place.clone(), data: Data::Table(kept) }
    }

    /// This table with the entries that `keep` chooses by their key.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Node {
        let Some(entries) = self.entries() else { return self.clone() };
        let kept = entries.iter().filter(|e| keep(&e.key)).cloned().collect();
        Node { place: self.place.clone(), data: Data::Table(kept) }
    }
}

fn at(outer: &Place, span: Option<Range<usize>>) -> Place {
    Place { source: outer.source.clone(), span: span.unwrap_or(outer.span.clone()) }
}

fn from_table(table: &dyn TableLike, place: &Place) -> Node {
    let entry = |(key, item): (&str, &Item)| {
        let here = at(place, table.key(key).and_then(|k| k.span()));
        let value = from_item(item, &here)?;
        Some(Entry { key: key.to_owned(), place: here, value })
    };
    Node { place: place.clone(), data: Data::Table(table.iter().filter_map(entry).collect()) }
}

fn from_item(item: &Item, outer: &Place) -> Option<Node> {
    let here = at(outer, item.span());
    Some(match item {
        Item::None => return None,
        Item::Value(value) => from_value(value, &here),
        Item::Table(table) => from_table(table, &here),
        Item::ArrayOfTables(tables) => {
            let nodes = tables.iter().map(|t| from_table(t, &at(&here, t.span()))).collect();
            Node { place: here, data: Data::List(nodes) }
        }
    })
}

fn from_value(value: &Value, outer: &Place) -> Node {
    let here = at(outer, value.span());
    let data = match value {
        Value::String(text) => Data::Text(text.value().clone()),
        Value::Integer(number) => Data::Integer(*number.value()),
        Value::Float(number) => Data::Float(*number.value()),
        Value::Boolean(flag) => Data::Flag(*flag.value()),
        Value::Datetime(_) => Data::Date,
        Value::Array(array) => Data::List(array.iter().map(|v| from_value(v, &here)).collect()),
        Value::InlineTable(table) => return from_table(table, &here),
    };
    Node { place: here, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_point_at_keys_and_values() {
        let text = "a = \"80us\"\n[switch]\necn = { k = 3 }\n[[traffic]]\nload = 0.5\n";
        let root = Node::parse("x.toml", text).unwrap();
        assert_eq!(root.get("a").unwrap().place.text(), "\"80us\"");
        let switch = root.get("switch").unwrap();
        assert_eq!(switch.place.text(), "[switch]");
        let ecn = switch.get("ecn").unwrap();
        assert_eq!(ecn.place.text(), "{ k = 3 }");
        assert_eq!(ecn.entries().unwrap()[0].place.text(), "k");
        let Data::List(traffic) = &root.get("traffic").unwrap().data else { panic!() };
        assert_eq!(traffic[0].get("load").unwrap().place.line_and_column(), (5, 8));
    }

    #[test]
    fn broken_toml_is_a_problem_with_its_place() {
        let problem = Node::parse("x.toml", "a = 1\nb = = 2\n").unwrap_err();
        assert!(problem.line().starts_with("x.toml:2:5: "), "{}", problem.line());
        let problem = Node::parse("x.toml", "a = 18446744073709551615\n").unwrap_err();
        assert!(problem.line().ends_with("at most 9223372036854775807"), "{}", problem.line());
    }

    #[test]
    fn overlaying_replaces_keys_and_groups() {
        let base = Node::parse("x", "alpha = 4\necn = 1\nprivate = 2").unwrap();
        let over = Node::parse("x", "markers = []\nalpha = 8").unwrap();
        let both = base.overlaid(&over, &[&["ecn", "markers"]]);
        let keys: Vec<&str> = both.entries().unwrap().iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["private", "markers", "alpha"]);
    }
}
