//! `--set path=value`: puts a value at any path of a scenario.
//!
//! A path is keys and list positions with dots between: `traffic.0.load=0.9`,
//! `switch.queue.0.k=200KB`, `scheme.name=dctcp`. The value is TOML where it reads as TOML, else a
//! text. A key that is absent is added; the position one past a list's end adds an element.

use super::problems::{Place, Problem};
use super::tree::{Data, Entry, Node};

/// Most parts of a path.
const MOST_PARTS: usize = 32;
/// Most characters of an override that problems quote.
const MOST_QUOTED: usize = 80;

/// Name by which problems call the source of an override: `--set 'traffic.0.load=2'`.
fn source(set: &str) -> String {
    match set.char_indices().nth(MOST_QUOTED) {
        Some((end, _)) => format!("--set '{}...'", &set[..end]),
        None => format!("--set '{set}'"),
    }
}

/// Puts one override into the tree.
///
/// # Errors
/// No `=`, an empty or overlong path, a path through a plain value, a position outside a list.
pub fn apply(root: &mut Node, set: &str) -> Result<(), Problem> {
    let whole = Place::new(&source(set), set, 0..set.len());
    let Some(equals) = set.find('=') else {
        let remedy = format!("write `{set}=VALUE`");
        return Err(Problem::new(&whole, format!("`{set}` has no `=`"), remedy));
    };
    let value = value(&whole, set, equals + 1);
    let parts = set[..equals].split('.').count();
    if parts > MOST_PARTS {
        let message = format!("a path of {parts} parts");
        let remedy = format!("write at most {MOST_PARTS}: keys and positions, as traffic.0.load");
        return Err(Problem::new(&Place { span: 0..equals, ..whole }, message, remedy));
    }
    let mut steps = Vec::new();
    let mut start = 0;
    for step in set[..equals].split('.') {
        let place = Place { span: start..start + step.len(), ..whole.clone() };
        if step.trim().is_empty() {
            return Err(Problem::new(&place, "an empty key in the path", "name the key to set"));
        }
        steps.push((step.trim(), place));
        start += step.len() + 1;
    }
    put(root, &steps, value)
}

/// The value, with every place inside it inside the override.
fn value(whole: &Place, set: &str, from: usize) -> Node {
    let text = &set[from..];
    let place = Place { span: from..set.len(), ..whole.clone() };
    // A key as long as the path keeps the columns.
    let key = "k".repeat((from - 1).max(1));
    let padded = format!("{key}={text}");
    let shift = padded.len() - set.len();
    let parsed = Node::parse("", &padded).ok();
    match parsed.and_then(|table| table.get(&key).cloned()) {
        Some(mut node) if !matches!(node.data, Data::Date) && !text.contains('\n') => {
            move_to(&mut node, whole, shift);
            node
        }
        _ => Node { place, data: Data::Text(text.trim().to_owned()) },
    }
}

fn move_to(node: &mut Node, whole: &Place, shift: usize) {
    let moved = |place: &Place| {
        let span = place.span.start.saturating_sub(shift)..place.span.end.saturating_sub(shift);
        Place { span, ..whole.clone() }
    };
    node.place = moved(&node.place);
    match &mut node.data {
        Data::List(nodes) => nodes.iter_mut().for_each(|n| move_to(n, whole, shift)),
        Data::Table(entries) => {
            for entry in entries {
                entry.place = moved(&entry.place);
                move_to(&mut entry.value, whole, shift);
            }
        }
        _ => {}
    }
}

fn put(node: &mut Node, steps: &[(&str, Place)], value: Node) -> Result<(), Problem> {
    let Some(((step, place), rest)) = steps.split_first() else {
        *node = value;
        return Ok(());
    };
    // `scheme = "dctcp"` means `scheme = { name = "dctcp" }`, `traffic = "x"` nothing.
    if matches!(node.data, Data::Text(_)) {
        *node = node.clone().named("name");
    }
    let kind = node.kind();
    match &mut node.data {
        Data::Table(entries) => {
            if let Some(entry) = entries.iter_mut().find(|e| e.key == *step) {
                return put(&mut entry.value, rest, value);
            }
            let mut fresh = blank(place, rest);
            put(&mut fresh, rest, value)?;
            entries.push(Entry { key: (*step).to_owned(), place: place.clone(), value: fresh });
            Ok(())
        }
        Data::List(nodes) => {
            let count = nodes.len();
            match step.parse::<usize>() {
                Ok(index) if index < count => put(&mut nodes[index], rest, value),
                Ok(index) if index == count => {
                    let mut fresh = blank(place, rest);
                    put(&mut fresh, rest, value)?;
                    nodes.push(fresh);
                    Ok(())
                }
                _ => Err(Problem::new(
                    place,
                    format!("`{step}` is not a position in a list of {count}"),
                    format!("positions are 0 to {count}; {count} adds an element"),
                )),
            }
        }
        _ => Err(Problem::new(
            place,
            format!("`{step}` would lie inside {kind}"),
            "end the path before it",
        )),
    }
}

/// What a path that goes on grows where there was nothing: a list before a position, else a table.
fn blank(place: &Place, rest: &[(&str, Place)]) -> Node {
    let list = rest.first().is_some_and(|(step, _)| step.bytes().all(|b| b.is_ascii_digit()));
    let data = if list { Data::List(Vec::new()) } else { Data::Table(Vec::new()) };
    Node { place: place.clone(), data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, sets: &[&str]) -> Result<Node, Problem> {
        let mut root = Node::parse("x.toml", text).unwrap();
        for s in sets {
            apply(&mut root, s)?;
        }
        Ok(root)
    }

    fn text(node: Option<&Node>) -> &str {
        match node.map(|n| &n.data) {
            Some(Data::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn any_path_is_reached_and_absent_keys_are_added() {
        let root = set(
            "scheme = \"newreno\"\n[[traffic]]\nload = 0.5\n",
            &[
                "scheme.name=dctcp",
                "scheme.g=0.5",
                "traffic.0.file=FLOWS.csv",
                "traffic.1.kind=long",
                "switch.queue.0.k=200KB",
            ],
        )
        .unwrap();
        assert_eq!(text(root.get("scheme").unwrap().get("name")), "dctcp");
        assert!(matches!(root.get("scheme").unwrap().get("g").unwrap().data, Data::Float(_)));
        let Data::List(traffic) = &root.get("traffic").unwrap().data else { panic!() };
        assert_eq!(text(traffic[0].get("file")), "FLOWS.csv");
        assert_eq!(text(traffic[1].get("kind")), "long");
        let Data::List(queues) = &root.get("switch").unwrap().get("queue").unwrap().data else {
            panic!()
        };
        let k = queues[0].get("k").unwrap();
        assert_eq!(k.place.text(), "200KB");
        assert_eq!(k.place.line_and_column(), (1, 18));
    }

    #[test]
    fn values_keep_their_places_in_the_override() {
        let root = set("", &["switch.ecn={ k = 5 }"]).unwrap();
        let ecn = root.get("switch").unwrap().get("ecn").unwrap();
        assert_eq!(ecn.get("k").unwrap().place.line_and_column(), (1, 18));
        assert_eq!(ecn.entries().unwrap()[0].place.text(), "k");
    }

    #[test]
    fn bad_overrides_are_refused() {
        let lines = |s: &str| set("a = 1\n[[traffic]]\n", &[s]).unwrap_err().line();
        assert_eq!(lines("a"), "--set 'a':1:1: `a` has no `=`; write `a=VALUE`");
        let deep = format!("{}b=1", "a.".repeat(50_000));
        let quoted = format!("--set '{}...':1:1: a path of 50001 parts; ", "a.".repeat(40));
        assert!(lines(&deep).starts_with(&quoted), "{}", lines(&deep));
        assert!(lines("traffic.7.load=1").contains("not a position in a list of 1"));
        assert!(lines("a.b=1").contains("inside a bare number"));
        assert!(lines("a..b=1").contains("empty key"));
    }
}
