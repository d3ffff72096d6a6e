//! Parameters of laws: one declaration gives the typed record, its defaults, and the schema by
//! which a scenario file sets it and `headrace explain` prints it.
//!
//! ```
//! use headrace_cc::params::{Params, Value};
//!
//! headrace_cc::params! {
//!     /// Parameters of a law.
//!     pub struct MyParams {
//!         /// Weight of the newest sample.
//!         gain: Number = 0.125, within 0.0..=1.0, from "RFC 6298 section 2";
//!         /// Reacts to marks.
//!         ecn: Flag = true, from "RFC 3168";
//!     }
//! }
//!
//! let mut params = MyParams::default();
//! params.set("gain", &Value::Number(0.25)).unwrap();
//! assert_eq!(params.gain, 0.25);
//! assert!(params.set("gain", &Value::Number(2.0)).is_err());
//! assert_eq!(MyParams::specs()[0].meaning, "Weight of the newest sample.");
//! ```

use std::fmt;
use std::ops::RangeInclusive;

use crate::units::{Rate, Time};

/// A parameter's value, with its unit in its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A plain number.
    Number(f64),
    /// A whole number of things.
    Count(u64),
    /// A size in bytes.
    Bytes(u64),
    /// A duration.
    Time(Time),
    /// A rate.
    Rate(Rate),
    /// On or off.
    Flag(bool),
    /// One of a fixed set of words.
    Word(String),
}

impl Value {
    /// The kind of this value, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "number",
            Value::Count(_) => "count",
            Value::Bytes(_) => "bytes",
            Value::Time(_) => "time",
            Value::Rate(_) => "rate",
            Value::Flag(_) => "flag",
            Value::Word(_) => "word",
        }
    }
}

impl fmt::Display for Value {
    /// The value as a scenario file would write it: `0.0625`, `3`, `200KB`, `80us`, `100Gbps`,
    /// `true`, `egress`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(x) => write!(f, "{x}"),
            Value::Count(n) => write!(f, "{n}"),
            Value::Bytes(n) if *n != 0 && n % 1_000_000 == 0 => write!(f, "{}MB", n / 1_000_000),
            Value::Bytes(n) if *n != 0 && n % 1_000 == 0 => write!(f, "{}KB", n / 1_000),
            Value::Bytes(n) => write!(f, "{n}B"),
            Value::Time(t) => t.fmt(f),
            Value::Rate(r) => r.fmt(f),
            Value::Flag(b) => write!(f, "{b}"),
            Value::Word(w) => f.write_str(w),
        }
    }
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`Value::Number`]
    Number,
    /// [`Value::Count`]
    Count,
    /// [`Value::Bytes`]
    Bytes,
    /// [`Value::Time`]
    Time,
    /// [`Value::Rate`]
    Rate,
    /// [`Value::Flag`]
    Flag,
    /// [`Value::Word`], one of these.
    Word(&'static [&'static str]),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Number => f.write_str("number"),
            Kind::Count => f.write_str("count"),
            Kind::Bytes => f.write_str("bytes"),
            Kind::Time => f.write_str("time"),
            Kind::Rate => f.write_str("rate"),
            Kind::Flag => f.write_str("flag"),
            Kind::Word(words) => f.write_str(&words.join("|")),
        }
    }
}

/// One parameter's entry in a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    /// Name, as a scenario file writes it.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Value where none is given.
    pub default: Value,
    /// Least and greatest value allowed, both included.
    pub range: Option<(Value, Value)>,
    /// What it does.
    pub meaning: &'static str,
    /// Where the default comes from (RFC section, paper section).
    pub source: &'static str,
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamError {
    /// The law has no parameter of that name.
    Unknown {
        /// The name given.
        name: String,
    },
    /// The value is of another kind, or a word that is not among the parameter's words.
    WrongKind {
        /// The parameter.
        name: String,
        /// What it takes.
        expected: Kind,
        /// What was given.
        given: Value,
    },
    /// The value lies outside the parameter's range.
    OutOfRange {
        /// The parameter.
        name: String,
        /// Least value allowed.
        min: Value,
        /// Greatest value allowed.
        max: Value,
        /// What was given.
        given: Value,
    },
    /// Two parameters contradict each other.
    Conflict {
        /// The parameter to change.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamError::Unknown { name } => write!(f, "unknown parameter `{name}`"),
            ParamError::WrongKind { name, expected, given } => {
                write!(f, "`{name}` takes a value of kind {expected}, not `{given}`")
            }
            ParamError::OutOfRange { name, min, max, given } => {
                write!(f, "`{name}` must lie between {min} and {max}, not at {given}")
            }
            ParamError::Conflict { name, why } => write!(f, "`{name}`: {why}"),
        }
    }
}

impl std::error::Error for ParamError {}

/// A record of parameters; [`params!`](crate::params!) implements it.
pub trait Params: Clone + Default + fmt::Debug {
    /// The schema, in the order of declaration.
    fn specs() -> Vec<ParamSpec>;

    /// Sets one parameter.
    ///
    /// # Errors
    /// [`ParamError::Unknown`], [`ParamError::WrongKind`] or [`ParamError::OutOfRange`]; the record
    /// is then unchanged.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;

    /// One parameter's value; `None` if there is none of that name.
    fn get(&self, name: &str) -> Option<Value>;
}

/// A kind of parameter, as [`params!`](crate::params!) names it: ties the field's type to its
/// [`Value`].
pub trait ParamKind {
    /// Type of the field.
    type Field: Copy + PartialOrd;
    /// The kind in the schema.
    const KIND: Kind;
    /// The field as a value.
    fn wrap(field: Self::Field) -> Value;
    /// The value as a field; `None` if it is of another kind.
    fn unwrap(value: &Value) -> Option<Self::Field>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $Kind:ident($Field:ty);)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Kind;

        impl ParamKind for $Kind {
            type Field = $Field;
            const KIND: Kind = Kind::$Kind;
            fn wrap(field: $Field) -> Value {
                Value::$Kind(field)
            }
            fn unwrap(value: &Value) -> Option<$Field> {
                match value {
                    Value::$Kind(field) => Some(*field),
                    _ => None,
                }
            }
        }
    )+};
}

/// The kinds that [`params!`](crate::params!) takes.
pub mod kind {
    use super::{Choice, Kind, ParamKind, Value};
    use crate::units;

    kinds! {
        /// A plain number.
        Number(f64);
        /// A whole number of things.
        Count(u64);
        /// A size in bytes.
        Bytes(u64);
        /// A duration.
        Time(units::Time);
        /// A rate.
        Rate(units::Rate);
        /// On or off.
        Flag(bool);
    }

    /// One word of a fixed set.
    #[derive(Clone, Copy, Debug)]
    pub struct Word<E>(std::marker::PhantomData<E>);

    impl<E: Choice> ParamKind for Word<E> {
        type Field = E;
        const KIND: Kind = Kind::Word(E::WORDS);
        fn wrap(field: E) -> Value {
            Value::Word(field.word().to_owned())
        }
        fn unwrap(value: &Value) -> Option<E> {
            match value {
                Value::Word(word) => E::from_word(word),
                _ => None,
            }
        }
    }
}

/// An enumeration that a scenario file names by words.
pub trait Choice: Copy + PartialOrd {
    /// The words.
    const WORDS: &'static [&'static str];
    /// The word for this choice.
    fn word(self) -> &'static str;
    /// The choice that a word names.
    fn from_word(word: &str) -> Option<Self>;
}

/// Checks a value against a kind and a range: what the generated `set` calls.
#[doc(hidden)]
pub fn accept<K: ParamKind>(
    name: &str,
    value: &Value,
    range: Option<RangeInclusive<K::Field>>,
) -> Result<K::Field, ParamError> {
    let name = || name.to_owned();
    let field = K::unwrap(value).ok_or_else(|| ParamError::WrongKind {
        name: name(),
        expected: K::KIND,
        given: value.clone(),
    })?;
    match range {
        // A NaN is in no range.
        Some(range) if !range.contains(&field) => Err(ParamError::OutOfRange {
            name: name(),
            min: K::wrap(*range.start()),
            max: K::wrap(*range.end()),
            given: value.clone(),
        }),
        _ => Ok(field),
    }
}

/// A range as values: what the generated `specs` calls.
#[doc(hidden)]
pub fn bounds<K: ParamKind>(range: Option<RangeInclusive<K::Field>>) -> Option<(Value, Value)> {
    range.map(|range| (K::wrap(*range.start()), K::wrap(*range.end())))
}

/// Declares a record of parameters; see the [module](mod@crate::params).
///
/// Each field reads `name: Kind = default, within min..=max, from "source";`, the range being left
/// out where every value goes. Its documentation is its meaning in the schema.
#[macro_export]
macro_rules! params {
    (
        $(#[$struct_meta:meta])*
        pub struct $Params:ident {
            $(
                $(#[doc = $meaning:literal])+
                $name:ident: $kind:ident$(<$choice:ty>)? = $default:expr
                    $(, within $range:expr)?, from $source:literal;
            )*
        }
    ) => {
        $(#[$struct_meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Params {
            $(
                $(#[doc = $meaning])+
                #[doc = concat!("\n\nSource: ", $source, ".")]
                pub $name: $crate::__param_field!($kind$(<$choice>)?),
            )*
        }

        impl Default for $Params {
            fn default() -> Self {
                $Params { $($name: $default,)* }
            }
        }

        impl $crate::params::Params for $Params {
            fn specs() -> Vec<$crate::params::ParamSpec> {
                #[allow(unused_variables)]
                let default = $Params::default();
                vec![$($crate::params::ParamSpec {
                    name: stringify!($name),
                    kind: <$crate::params::kind::$kind$(<$choice>)?
                        as $crate::params::ParamKind>::KIND,
                    default: <$crate::params::kind::$kind$(<$choice>)?
                        as $crate::params::ParamKind>::wrap(default.$name),
                    range: $crate::params::bounds::<$crate::params::kind::$kind$(<$choice>)?>(
                        None$(.or(Some($range)))?
                    ),
                    meaning: concat!($($meaning),+).trim_ascii(),
                    source: $source,
                },)*]
            }

            #[allow(unused_variables)]
            fn set(
                &mut self,
                name: &str,
                value: &$crate::params::Value,
            ) -> Result<(), $crate::params::ParamError> {
                match name {
                    $(stringify!($name) => {
                        self.$name =
                            $crate::params::accept::<$crate::params::kind::$kind$(<$choice>)?>(
                                name, value, None$(.or(Some($range)))?
                            )?;
                        Ok(())
                    })*
                    _ => Err($crate::params::ParamError::Unknown { name: name.to_owned() }),
                }
            }

            fn get(&self, name: &str) -> Option<$crate::params::Value> {
                match name {
                    $(stringify!($name) => Some(
                        <$crate::params::kind::$kind$(<$choice>)?
                            as $crate::params::ParamKind>::wrap(self.$name)
                    ),)*
                    _ => None,
                }
            }
        }
    };
}

/// The type of a field of a kind: kinds are named inside `params!` without a path.
#[doc(hidden)]
#[macro_export]
macro_rules! __param_field {
    (Number) => {
        f64
    };
    (Count) => {
        u64
    };
    (Bytes) => {
        u64
    };
    (Time) => {
        $crate::units::Time
    };
    (Rate) => {
        $crate::units::Rate
    };
    (Flag) => {
        bool
    };
    (Word<$Choice:ty>) => {
        $Choice
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
    pub enum Side {
        Left,
        Right,
    }

    impl Choice for Side {
        const WORDS: &'static [&'static str] = &["left", "right"];
        fn word(self) -> &'static str {
            Self::WORDS[self as usize]
        }
        fn from_word(word: &str) -> Option<Self> {
            [Side::Left, Side::Right].into_iter().find(|side| side.word() == word)
        }
    }

    params! {
        /// One of each.
        pub struct Sample {
            /// A gain.
            gain: Number = 0.5, within 0.0..=1.0, from "a paper";
            /// A threshold,
            /// on two lines.
            k: Bytes = 200_000, from "a paper";
            /// A period.
            period: Time = Time::from_us(40), within Time::from_us(1)..=Time::from_ms(1),
                from "a paper";
            /// A step.
            step: Rate = Rate::from_mbps(10), from "a paper";
            /// A switch.
            on: Flag = false, from "a paper";
            /// A side.
            side: Word<Side> = Side::Left, from "a paper";
        }
    }

    #[test]
    fn the_schema_says_what_was_declared() {
        let specs = Sample::specs();
        assert_eq!(specs.len(), 6);
        assert_eq!(specs[1].meaning, "A threshold, on two lines.");
        assert_eq!(specs[1].default.to_string(), "200KB");
        assert_eq!(specs[2].range.as_ref().unwrap().1, Value::Time(Time::from_ms(1)));
        assert_eq!(specs[5].kind.to_string(), "left|right");
        for spec in &specs {
            assert_eq!(Sample::default().get(spec.name), Some(spec.default.clone()));
            let mut sample = Sample::default();
            sample.set(spec.name, &spec.default).unwrap();
            assert_eq!(sample, Sample::default());
        }
    }

    #[test]
    fn wrong_names_kinds_and_values_are_refused() {
        let mut sample = Sample::default();
        sample.set("side", &Value::Word("right".into())).unwrap();
        assert_eq!(sample.side, Side::Right);
        let unknown = sample.set("gian", &Value::Number(0.1)).unwrap_err();
        assert_eq!(unknown, ParamError::Unknown { name: "gian".into() });
        let kind = sample.set("gain", &Value::Flag(true)).unwrap_err();
        assert_eq!(kind.to_string(), "`gain` takes a value of kind number, not `true`");
        let word = sample.set("side", &Value::Word("up".into())).unwrap_err();
        assert_eq!(word.to_string(), "`side` takes a value of kind left|right, not `up`");
        let range = sample.set("gain", &Value::Number(f64::NAN)).unwrap_err();
        assert!(matches!(range, ParamError::OutOfRange { .. }));
        let range = sample.set("period", &Value::Time(Time::from_ms(2))).unwrap_err();
        assert_eq!(range.to_string(), "`period` must lie between 1us and 1ms, not at 2ms");
        assert_eq!(sample, Sample { side: Side::Right, ..Sample::default() });
    }
}
