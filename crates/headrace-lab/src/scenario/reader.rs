//! The one reader of scenario sections: keys declared in a table, values with units, every problem
//! collected with its place, and what was read given back with its defaults filled in.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use headrace_cc::params::{Kind, ParamError, ParamSpec, Value};
use headrace_cc::units::{Rate, Time};
use serde_json::Map;

pub use super::fields::{Count, CountOrAll, Field};
use super::problems::{Place, Problem, nearest};
use super::tree::{Data, Node};
use super::units::Refusal;

/// What a key takes, for lists and explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A time, as in `"80us"`.
    Time,
    /// A rate, as in `"100Gbps"`.
    Rate,
    /// A size, as in `"12MB"`.
    Bytes,
    /// A plain number.
    Number,
    /// A whole number of things.
    Count,
    /// `true` or `false`.
    Flag,
    /// Free text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Hosts: `"h0..h15"`, a switch for the hosts below it, `"all"`, or a list of these.
    Hosts,
    /// A list.
    List,
    /// A table.
    Table,
    /// Several forms; the meaning says which.
    Any,
}

impl std::fmt::Display for Takes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Takes::Time => "time",
            Takes::Rate => "rate",
            Takes::Bytes => "bytes",
            Takes::Number => "number",
            Takes::Count => "count",
            Takes::Flag => "flag",
            Takes::Text => "text",
            Takes::Word(words) => return f.write_str(&words.join("|")),
            Takes::Hosts => "hosts",
            Takes::List => "list",
            Takes::Table => "table",
            Takes::Any => "value",
        })
    }
}

/// What holds where a key is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// This value, written as in a file (without quotes).
    Is(&'static str),
    /// No value; in words, what then happens.
    Means(&'static str),
    /// The key must be there.
    Refused,
}

/// A key of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What holds where it is absent.
    pub absent: Absent,
    /// What it does.
    pub meaning: &'static str,
    /// Where the default comes from; empty where it is Headrace's own choice.
    pub source: &'static str,
}

impl Key {
    /// A key with a default.
    pub const fn with(
        name: &'static str,
        takes: Takes,
        default: &'static str,
        meaning: &'static str,
    ) -> Key {
        Key { name, takes, absent: Absent::Is(default), meaning, source: "" }
    }

    /// A key that may be absent; `means` says what then holds.
    pub const fn optional(
        name: &'static str,
        takes: Takes,
        means: &'static str,
        meaning: &'static str,
    ) -> Key {
        Key { name, takes, absent: Absent::Means(means), meaning, source: "" }
    }

    /// A key that must be there.
    pub const fn required(name: &'static str, takes: Takes, meaning: &'static str) -> Key {
        Key { name, takes, absent: Absent::Refused, meaning, source: "" }
    }

    /// The same with the default's source.
    pub const fn from(mut self, source: &'static str) -> Key {
        self.source = source;
        self
    }
}

/// What the sections of one scenario share.
#[derive(Debug)]
pub struct Context {
    problems: RefCell<Vec<Problem>>,
    /// Frame of a full packet as buffers count it, bytes: the unit `packets`.
    pub packet_bytes: Cell<u64>,
    base: PathBuf,
    read: RefCell<Vec<PathBuf>>,
}

impl Context {
    /// For files named relative to `base`.
    pub fn new(base: &Path) -> Context {
        let packet_bytes = Cell::new(1518);
        let (problems, read) = (RefCell::default(), RefCell::default());
        Context { problems, packet_bytes, base: base.to_owned(), read }
    }

    /// Notes a problem.
    pub fn report(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    /// Notes a problem at a place.
    pub fn refuse(&self, at: &Place, message: impl Into<String>, remedy: impl Into<String>) {
        self.report(Problem::new(at, message, remedy));
    }

    /// How many things are wrong so far.
    pub fn found(&self) -> usize {
        self.problems.borrow().len()
    }

    /// Takes all problems noted so far.
    pub fn take(&self) -> Vec<Problem> {
        self.problems.take()
    }

    /// The path of a file that the scenario names and that is about to be read.
    pub fn path_of(&self, file: &str) -> PathBuf {
        let path = self.base.join(file);
        let mut read = self.read.borrow_mut();
        if !read.contains(&path) {
            read.push(path.clone());
        }
        path
    }

    /// Every file that the scenario named so far.
    pub fn files(&self) -> Vec<PathBuf> {
        self.read.borrow().clone()
    }
}

/// A table of the scenario, read key by key.
#[derive(Debug)]
pub struct Section<'a> {
    /// What all sections share.
    pub context: &'a Context,
    node: &'a Node,
    /// What the section is, for messages: `[switch]`, `traffic "poisson"`.
    title: String,
    keys: Vec<Key>,
    /// Some key is unknown: what seems to be missing may be there under a wrong name.
    misspelt: bool,
    resolved: Map<String, serde_json::Value>,
}

impl<'a> Section<'a> {
    /// Opens a table that may hold `keys` and no other. Whatever is no table, and every unknown
    /// key, is a problem.
    pub fn open(context: &'a Context, node: &'a Node, title: &str, keys: &[Key]) -> Section<'a> {
        let title = title.to_owned();
        let mut misspelt = false;
        match node.entries() {
            None => {
                let message = format!("{title} is {}, not a table", node.kind());
                context.refuse(&node.place, message, "write a table: { key = value, ... }");
            }
            Some(entries) => {
                for entry in entries.iter().filter(|e| keys.iter().all(|k| k.name != e.key)) {
                    let message = format!("unknown key `{}` in {title}", entry.key);
                    let remedy = nearest(&entry.key, keys.iter().map(|k| k.name));
                    context.refuse(&entry.place, message, remedy);
                    misspelt = true;
                }
            }
        }
        Section { context, node, title, keys: keys.to_vec(), misspelt, resolved: Map::new() }
    }

    /// Where the section stands.
    pub fn place(&self) -> &Place {
        &self.node.place
    }

    /// A key's node, where it is given.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        debug_assert!(self.keys.iter().any(|k| k.name == key), "{key} is not declared");
        self.node.get(key)
    }

    /// Whether the key is given.
    pub fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// The place of a key's value, or the section's where it is absent.
    pub fn place_of(&self, key: &str) -> &'a Place {
        self.node.get(key).map_or(&self.node.place, |n| &n.place)
    }

    /// Notes a problem with a key's value.
    pub fn refuse(&self, key: &str, message: impl Into<String>, remedy: impl Into<String>) {
        self.context.refuse(self.place_of(key), message, remedy);
    }

    /// Notes that something which must be there is not; nothing where an unknown key, already
    /// noted, may be what was meant.
    pub fn missing(&self, message: impl Into<String>, remedy: impl Into<String>) {
        if !self.misspelt && self.node.entries().is_some() {
            self.context.refuse(&self.node.place, message, remedy);
        }
    }

    /// Notes a problem with a key's value if `wrong`.
    pub fn refuse_if(&self, wrong: bool, key: &str, message: &str, remedy: &str) {
        if wrong {
            self.refuse(key, message, remedy);
        }
    }

    /// Notes a problem where a buffer of that many bytes could not hold one full frame.
    pub fn holds_a_frame(&self, key: &str, bytes: Option<u64>) {
        let frame = self.context.packet_bytes.get();
        if let Some(bytes) = bytes.filter(|&bytes| bytes < frame) {
            let message = format!("{key}: {bytes} bytes hold no full frame of {frame}");
            self.refuse(key, message, format!("give it {frame}B or more"));
        }
    }

    /// Notes a problem where two keys that exclude each other are both given.
    pub fn exclusive(&self, one: &str, other: &str) {
        if self.has(one) && self.has(other) {
            let message = format!("`{one}` and `{other}` exclude each other");
            self.refuse(other, message, format!("remove `{one}` or `{other}`"));
        }
    }

    /// A key's value or its default. `None`: it is absent and has none, or it was refused (a
    /// problem is then noted).
    pub fn get<T: Field>(&mut self, name: &str) -> Option<T> {
        let key = *self.keys.iter().find(|k| k.name == name).expect("keys are declared");
        let value = match (self.node.get(name), key.absent) {
            (Some(node), _) => self.read::<T>(name, node),
            (None, Absent::Is(text)) => self.read::<T>(name, &self.default_node(key, text)),
            (None, Absent::Means(_)) => None,
            (None, Absent::Refused) => {
                let message = format!("{} needs `{name}`", self.title);
                self.missing(message, format!("add it: {}", key.meaning));
                None
            }
        }?;
        self.resolved.insert(name.to_owned(), value.show());
        Some(value)
    }

    fn read<T: Field>(&self, name: &str, node: &Node) -> Option<T> {
        let read = T::read(node, self.context);
        let refuse = |r: Refusal| {
            self.context.refuse(&node.place, format!("{name}: {}", r.message), r.remedy);
        };
        read.map_err(refuse).ok()
    }

    fn default_node(&self, key: Key, text: &str) -> Node {
        let data = match key.takes {
            Takes::Number | Takes::Count | Takes::Any => match (text.parse(), text.parse()) {
                (Ok(whole), _) => Data::Integer(whole),
                (_, Ok(number)) => Data::Float(number),
                _ => Data::Text(text.to_owned()),
            },
            Takes::Flag => Data::Flag(text == "true"),
            _ => Data::Text(text.to_owned()),
        };
        Node { place: self.node.place.clone(), data }
    }

    /// A word out of the key's own; see [`Takes::Word`].
    pub fn word(&mut self, name: &str) -> Option<&'static str> {
        let key = *self.keys.iter().find(|k| k.name == name).expect("keys are declared");
        let Takes::Word(words) = key.takes else { unreachable!("{name} takes a word") };
        let given: String = self.get(name)?;
        let found = words.iter().copied().find(|w| *w == given);
        if found.is_none() {
            let remedy = nearest(&given, words.iter().copied());
            self.refuse(name, format!("{name}: `{given}` is not one of its words"), remedy);
        }
        found
    }

    /// A count of at least `least`.
    pub fn count(&mut self, name: &str, least: u64) -> Option<u64> {
        let value: u64 = self.get::<Count>(name)?.0;
        if value < least {
            let message = format!("{name}: {value} is too small");
            self.refuse(name, message, format!("it is at least {least}"));
            return None;
        }
        Some(value)
    }

    /// A number within bounds, both included.
    pub fn within(&mut self, name: &str, least: f64, most: f64) -> Option<f64> {
        let value: f64 = self.get(name)?;
        if !(least..=most).contains(&value) {
            let message = format!("{name}: {value} is out of range");
            self.refuse(name, message, format!("it lies between {least} and {most}"));
            return None;
        }
        Some(value)
    }

    /// A law's parameter, by its schema.
    pub fn parameter(&mut self, spec: &ParamSpec) -> Option<Value> {
        let node = self.node.get(spec.name)?;
        let name = spec.name;
        let value = match spec.kind {
            Kind::Number => Value::Number(self.read::<f64>(name, node)?),
            Kind::Count => Value::Count(self.read::<Count>(name, node)?.0),
            Kind::Bytes => Value::Bytes(self.read::<u64>(name, node)?),
            Kind::Time => Value::Time(self.read::<Time>(name, node)?),
            Kind::Rate => Value::Rate(self.read::<Rate>(name, node)?),
            Kind::Flag => Value::Flag(self.read::<bool>(name, node)?),
            Kind::Word(_) => Value::Word(self.read::<String>(name, node)?),
        };
        Some(value)
    }

    /// Notes why a law refused a parameter.
    pub fn refuse_parameter(&self, error: &ParamError) {
        let (name, remedy) = match error {
            ParamError::Unknown { name } => (name, "remove it".to_owned()),
            ParamError::WrongKind { name, expected: Kind::Word(words), given } => {
                (name, nearest(&given.to_string(), words.iter().copied()))
            }
            ParamError::WrongKind { name, expected, .. } => (name, format!("write a {expected}")),
            ParamError::OutOfRange { name, min, max, .. } => {
                (name, format!("choose a value from {min} to {max}"))
            }
            ParamError::Conflict { name, .. } => (name, "change one of the two".to_owned()),
        };
        self.refuse(name, error.to_string(), remedy);
    }

    /// Puts what a sub-section came to among the section's own values.
    pub fn resolve(&mut self, name: &str, value: serde_json::Value) {
        self.resolved.insert(name.to_owned(), value);
    }

    /// All values read, defaults filled in.
    pub fn resolved(self) -> serde_json::Value {
        serde_json::Value::Object(self.resolved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEYS: &[Key] = &[
        Key::with("rate", Takes::Rate, "100Gbps", "a rate"),
        Key::with("n", Takes::Count, "8", "a count"),
        Key::optional("until", Takes::Time, "never", "a time"),
        Key::required("size", Takes::Bytes, "a size"),
        Key::with("mode", Takes::Word(&["fast", "slow"]), "fast", "a word"),
    ];

    fn lines(text: &str) -> Vec<String> {
        let node = Node::parse("x.toml", text).unwrap();
        let context = Context::new(Path::new("."));
        let mut section = Section::open(&context, &node, "[x]", KEYS);
        section.get::<Rate>("rate");
        section.count("n", 1);
        section.get::<Time>("until");
        section.get::<u64>("size");
        section.word("mode");
        context.take().iter().map(Problem::line).collect()
    }

    #[test]
    fn defaults_are_filled_in_and_shown() {
        let node = Node::parse("x.toml", "size = \"3packets\"").unwrap();
        let context = Context::new(Path::new("."));
        let mut section = Section::open(&context, &node, "[x]", KEYS);
        assert_eq!(section.get::<Rate>("rate"), Some(Rate::from_gbps(100)));
        assert_eq!(section.get::<u64>("size"), Some(3 * 1518));
        assert_eq!(section.get::<Time>("until"), None);
        assert_eq!(section.word("mode"), Some("fast"));
        assert_eq!(context.found(), 0);
        let shown = json!({ "rate": "100Gbps", "size": "4554B", "mode": "fast" });
        assert_eq!(section.resolved(), shown);
    }

    #[test]
    fn problems_are_collected_with_their_places() {
        let found = lines("rat = \"1Gbps\"\nn = 0\nuntil = 80\nsize = \"-5KB\"\nmode = \"fst\"\n");
        assert_eq!(
            found,
            [
                "x.toml:1:1: unknown key `rat` in [x]; did you mean `rate`?",
                "x.toml:2:5: n: 0 is too small; it is at least 1",
                "x.toml:3:9: until: `80` has no unit; write \"80us\", or the unit that is meant",
                "x.toml:4:8: size: `-5KB`: a size cannot be negative; write `5KB`",
                "x.toml:5:8: mode: `fst` is not one of its words; did you mean `fast`?",
            ]
        );
        assert_eq!(lines(""), ["x.toml:1:1: [x] needs `size`; add it: a size"]);
    }
}
