//! The types that keys' values are read as.

use headrace_cc::params::Value;
use headrace_cc::units::{Rate, Time};
use serde_json::json;

use super::reader::Context;
use super::tree::{Data, Node};
use super::units::{self, Dimension, Refusal};

/// A type that a key's value is read as.
pub trait Field: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong and what to write.
    fn read(node: &Node, context: &Context) -> Result<Self, Refusal>;
    /// As the manifest shows it.
    fn show(&self) -> serde_json::Value;
}

/// A whole number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

fn wrong(node: &Node, expected: &str, example: &str) -> Refusal {
    let found = match &node.data {
        Data::Text(text) => format!("`{text}`"),
        Data::Integer(_) | Data::Float(_) => format!("`{}`", node.place.text()),
        _ => node.kind().to_owned(),
    };
    Refusal::new(format!("{found} is not {expected}"), format!("write {example}"))
}

fn quantity(node: &Node, dimension: Dimension, packet: Option<u64>) -> Result<u64, Refusal> {
    match &node.data {
        Data::Text(text) => units::quantity(text, dimension, packet),
        Data::Integer(n) if *n < 0 => units::quantity(&n.to_string(), dimension, packet),
        Data::Float(n) if *n < 0.0 => units::quantity(&n.to_string(), dimension, packet),
        Data::Integer(_) | Data::Float(_) => {
            let text = node.place.text();
            let usual = dimension.usual_unit(text);
            Err(Refusal::new(
                format!("`{text}` has no unit"),
                format!("write \"{text}{usual}\", or the unit that is meant"),
            ))
        }
        _ => {
            let example = format!("\"10{}\"", dimension.usual_unit("10"));
            Err(wrong(node, dimension.name(), &example))
        }
    }
}

impl Field for Time {
    fn read(node: &Node, _: &Context) -> Result<Self, Refusal> {
        quantity(node, Dimension::Time, None).map(Time::from_ps)
    }
    fn show(&self) -> serde_json::Value {
        json!(self.to_string())
    }
}

impl Field for Rate {
    fn read(node: &Node, _: &Context) -> Result<Self, Refusal> {
        match quantity(node, Dimension::Rate, None)? {
            0 => Err(Refusal::new("a rate of 0 carries nothing", "write a rate above 0")),
            bps => Ok(Rate::from_bps(bps)),
        }
    }
    fn show(&self) -> serde_json::Value {
        json!(self.to_string())
    }
}

/// Bytes.
impl Field for u64 {
    fn read(node: &Node, context: &Context) -> Result<Self, Refusal> {
        quantity(node, Dimension::Bytes, Some(context.packet_bytes.get()))
    }
    fn show(&self) -> serde_json::Value {
        json!(Value::Bytes(*self).to_string())
    }
}

impl Field for Count {
    fn read(node: &Node, _: &Context) -> Result<Self, Refusal> {
        match node.data {
            Data::Integer(n) => u64::try_from(n).map(Count).map_err(|_| {
                Refusal::new(format!("`{n}` is negative"), "write a whole number from 0")
            }),
            Data::Text(ref text) if text.bytes().all(|b| b.is_ascii_digit()) && text.len() > 18 => {
                let remedy = format!("write a whole number from 0 to {}", i64::MAX);
                Err(Refusal::new(format!("`{text}` is too large"), remedy))
            }
            _ => Err(wrong(node, "a whole number", "a whole number without quotes or unit")),
        }
    }
    fn show(&self) -> serde_json::Value {
        json!(self.0)
    }
}

impl Field for f64 {
    fn read(node: &Node, _: &Context) -> Result<Self, Refusal> {
        match node.data {
            Data::Integer(n) => Ok(n as f64),
            Data::Float(x) if x.is_finite() => Ok(x),
            _ => Err(wrong(node, "a number", "a number without quotes or unit")),
        }
    }
    fn show(&self) -> serde_json::Value {
        json!(self)
    }
}

impl Field for bool {
    fn read(node: &Node, _: &Context) -> Result<Self, Refusal> {
        match node.data {
            Data::Flag(flag) => Ok(flag),
            _ => Err(wrong(node, "true or false", "true or false, without quotes")),
        }
    }
    fn show(&self) -> serde_json::Value {
        json!(self)
    }
}

impl Field for String {
    fn read(node: &Node, _: &Context) -> Result<Self, Refusal> {
        match &node.data {
            Data::Text(text) => Ok(text.clone()),
            _ => Err(wrong(node, "a text", "a text in quotes")),
        }
    }
    fn show(&self) -> serde_json::Value {
        json!(self)
    }
}

/// A list of texts; one alone stands for a list of one.
impl Field for Vec<String> {
    fn read(node: &Node, context: &Context) -> Result<Self, Refusal> {
        match &node.data {
            Data::List(nodes) => nodes.iter().map(|n| String::read(n, context)).collect(),
            _ => Ok(vec![String::read(node, context)?]),
        }
    }
    fn show(&self) -> serde_json::Value {
        json!(self)
    }
}

/// A value, or the word `none`.
impl<T: Field> Field for Option<T> {
    fn read(node: &Node, context: &Context) -> Result<Self, Refusal> {
        match &node.data {
            Data::Text(text) if text == "none" => Ok(None),
            _ => T::read(node, context).map(Some),
        }
    }
    fn show(&self) -> serde_json::Value {
        self.as_ref().map_or(json!("none"), Field::show)
    }
}

/// A count, or the word `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountOrAll(pub Option<u64>);

impl Field for CountOrAll {
    fn read(node: &Node, context: &Context) -> Result<Self, Refusal> {
        match &node.data {
            Data::Text(text) if text == "all" => Ok(CountOrAll(None)),
            _ => match Count::read(node, context)?.0 {
                0 => Err(Refusal::new("0 is too small", "write 1 or more, or \"all\"")),
                count => Ok(CountOrAll(Some(count))),
            },
        }
    }
    fn show(&self) -> serde_json::Value {
        self.0.map_or(json!("all"), |count| json!(count))
    }
}
