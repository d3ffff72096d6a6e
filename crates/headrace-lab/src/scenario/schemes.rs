//! Laws by name with their parameters: `"dctcp"` or `{ name = "dctcp", g = 0.0625 }`.

use headrace_cc::params::{Kind, ParamError, ParamSpec, Value};
use headrace_cc::sender::{Scheme, schemes};
use headrace_cc::switch::{Marker, congestion_points};
use serde_json::{Map, json};

use super::problems::nearest;
use super::reader::{Context, Field, Key, Section, Takes};
use super::tree::{Data, Node};

/// What the two registries of laws have in common.
pub(crate) trait NamedLaw: Sized {
    /// What a law of this registry is called.
    const WHAT: &'static str;
    fn names() -> Vec<&'static str>;
    fn by_name(name: &str) -> Option<Self>;
    fn specs(&self) -> Vec<ParamSpec>;
    fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;
    fn get(&self, name: &str) -> Option<Value>;
    fn check(&self) -> Result<(), ParamError>;
}

macro_rules! named_law {
    ($Law:ident, $what:literal, $table:ident) => {
        impl NamedLaw for $Law {
            const WHAT: &'static str = $what;
            fn names() -> Vec<&'static str> {
                $table().iter().map(|info| info.name).collect()
            }
            fn by_name(name: &str) -> Option<Self> {
                $Law::by_name(name)
            }
            fn specs(&self) -> Vec<ParamSpec> {
                $Law::specs(self)
            }
            fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
                $Law::set(self, name, value)
            }
            fn get(&self, name: &str) -> Option<Value> {
                $Law::get(self, name)
            }
            fn check(&self) -> Result<(), ParamError> {
                $Law::check(self)
            }
        }
    };
}

named_law!(Scheme, "scheme", schemes);
named_law!(Marker, "congestion point", congestion_points);

const NAME: Key = Key::required("name", Takes::Text, "the law's name");

/// Reads a law: its name alone, or a table with `name` and parameters.
pub(crate) fn law<L: NamedLaw>(context: &Context, node: &Node) -> Option<(L, serde_json::Value)> {
    let node = node.clone().named("name");
    let Some(Node { data: Data::Text(name), place }) = node.get("name") else {
        let bare = node.only(|key| key == "name");
        let mut section = Section::open(context, &bare, L::WHAT, &[NAME]);
        section.get::<String>("name");
        return None;
    };
    let Some(law) = L::by_name(name) else {
        let message = format!("unknown {} `{name}`", L::WHAT);
        context.refuse(place, message, nearest(name, L::names()));
        return None;
    };
    let title = format!("{} {name}", L::WHAT);
    let keys: Vec<Key> = std::iter::once(NAME).chain(law.specs().iter().map(key)).collect();
    let mut section = Section::open(context, &node, &title, &keys);
    section.get::<String>("name");
    let law = with_parameters(&mut section, law)?;
    let mut shown = Map::new();
    shown.insert("name".into(), json!(name));
    show(&law, &mut shown);
    Some((law, shown.into()))
}

/// Sets the parameters that a section gives.
pub(crate) fn with_parameters<L: NamedLaw>(section: &mut Section<'_>, mut law: L) -> Option<L> {
    for spec in law.specs() {
        if let Some(value) = section.parameter(&spec)
            && let Err(error) = law.set(spec.name, &value)
        {
            section.refuse_parameter(&error);
        }
    }
    match law.check() {
        Ok(()) => Some(law),
        Err(error) => {
            section.refuse_parameter(&error);
            None
        }
    }
}

/// All of a law's parameters.
pub(crate) fn show<L: NamedLaw>(law: &L, shown: &mut Map<String, serde_json::Value>) {
    for spec in law.specs() {
        let value = match law.get(spec.name) {
            Some(Value::Number(x)) => json!(x),
            Some(Value::Count(n)) => json!(n),
            Some(Value::Flag(flag)) => json!(flag),
            Some(Value::Bytes(bytes)) => bytes.show(),
            Some(other) => json!(other.to_string()),
            None => continue,
        };
        shown.insert(spec.name.into(), value);
    }
}

/// A parameter as a key of a section.
pub(crate) fn key(spec: &ParamSpec) -> Key {
    let takes = match spec.kind {
        Kind::Number => Takes::Number,
        Kind::Count => Takes::Count,
        Kind::Bytes => Takes::Bytes,
        Kind::Time => Takes::Time,
        Kind::Rate => Takes::Rate,
        Kind::Flag => Takes::Flag,
        Kind::Word(words) => Takes::Word(words),
    };
    Key::optional(spec.name, takes, "the law's default", spec.meaning).from(spec.source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn scheme(text: &str) -> Result<(Scheme, serde_json::Value), String> {
        let root = Node::parse("x.toml", text).unwrap();
        let context = Context::new(Path::new("."));
        let read = law::<Scheme>(&context, root.get("scheme").unwrap());
        let lines: Vec<String> = context.take().iter().map(|p| p.line()).collect();
        if lines.is_empty() { Ok(read.unwrap()) } else { Err(lines.join("\n")) }
    }

    #[test]
    fn by_name_alone_or_with_parameters() {
        let (plain, _) = scheme("scheme = \"dctcp\"").unwrap();
        assert_eq!(plain.name(), "dctcp");
        let (tuned, shown) = scheme("scheme = { name = \"dctcp\", g = 0.5 }").unwrap();
        assert_eq!(tuned.get("g"), Some(Value::Number(0.5)));
        assert_eq!(shown["g"], json!(0.5));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(
            scheme("scheme = \"dtcp\"").unwrap_err(),
            "x.toml:1:10: unknown scheme `dtcp`; did you mean `dctcp`?"
        );
        let unknown = scheme("scheme = { name = \"dctcp\", gg = 0.5 }").unwrap_err();
        assert!(unknown.contains("unknown key `gg` in scheme dctcp"), "{unknown}");
        let range = scheme("scheme = { name = \"dctcp\", g = 7 }").unwrap_err();
        assert!(range.contains("must lie between") && range.contains(":1:32:"), "{range}");
        assert!(scheme("scheme = { g = 0.5 }").unwrap_err().contains("needs `name`"));
        assert!(scheme("scheme = 5").unwrap_err().contains("not a table"));
    }
}
