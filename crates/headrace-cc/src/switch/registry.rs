//! The table of switch laws, and what follows from it: dispatch, lookup by name, schemas.

use std::fmt;
use std::sync::Arc;

use super::{CongestionPoint, QueueView, Quiet, Verdict};
use super::{red, shared_red};
use crate::params::{ParamError, ParamSpec, Params, Value};
use crate::units::Time;

/// What a switch law adds to [`CongestionPoint`] so that the table can hold it.
pub trait SwitchLaw: CongestionPoint + Sized {
    /// Its parameters.
    type Params: Params;
    /// One line on what it does.
    const SUMMARY: &'static str;
    /// Where it is specified.
    const SOURCE: &'static str;

    /// Its state on an empty queue. Its random draws come from `seed` alone.
    fn new(params: &Self::Params, seed: u64) -> Self;

    /// Whether the parameters go together.
    ///
    /// # Errors
    /// [`ParamError::Conflict`] where two of them contradict each other.
    fn check(params: &Self::Params) -> Result<(), ParamError> {
        let _ = params;
        Ok(())
    }
}

/// One entry of [`congestion_points`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerInfo {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
}

/// Makes a law for a queue, from the seed of its draws.
pub type StartFn = dyn Fn(u64) -> Box<dyn CongestionPoint + Send> + Send + Sync;

/// A switch law from outside the table.
#[derive(Clone)]
pub struct CustomMarker {
    name: Arc<str>,
    start: Arc<StartFn>,
}

macro_rules! dispatch {
    ($self:ident, [$($Variant:ident)+], $law:ident => $call:expr) => {
        match $self {
            $(Point::$Variant($law) => $call,)+
            Point::Custom($law) => $call,
        }
    };
}

macro_rules! point_methods {
    ($variants:tt) => {
        impl CongestionPoint for Point {
            #[inline]
            fn on_arrival(&mut self, view: &QueueView) -> Verdict {
                dispatch!(self, $variants, law => law.on_arrival(view))
            }
            #[inline]
            fn on_departure(&mut self, view: &QueueView) -> Verdict {
                dispatch!(self, $variants, law => law.on_departure(view))
            }
            #[inline]
            fn on_timer(&mut self, view: &QueueView) -> Verdict {
                dispatch!(self, $variants, law => law.on_timer(view))
            }
            #[inline]
            fn next_timer(&self) -> Time {
                dispatch!(self, $variants, law => law.next_timer())
            }
            #[inline]
            fn quiet(&self) -> Quiet {
                dispatch!(self, $variants, law => law.quiet())
            }
            #[inline]
            fn acts_at_arrival(&self) -> bool {
                dispatch!(self, $variants, law => law.acts_at_arrival())
            }
        }
    };
}

macro_rules! points {
    ($($(#[$doc:meta])* $name:literal => $Variant:ident($Law:ty),)+) => {
        /// A law at work on one queue. Built-in laws are reached without a virtual call.
        pub enum Point {
            $($(#[$doc])* $Variant($Law),)+
            /// A law from outside.
            Custom(Box<dyn CongestionPoint + Send>),
        }

        point_methods!([$($Variant)+]);

        /// A switch law by name, with its parameters: what makes a [`Point`] for a queue.
        #[derive(Clone)]
        pub enum Marker {
            $($(#[$doc])* $Variant(<$Law as SwitchLaw>::Params),)+
            /// A law from outside.
            Custom(CustomMarker),
        }

        impl Marker {
            /// The law of that name with its default parameters.
            pub fn by_name(name: &str) -> Option<Marker> {
                match name {
                    $($name => Some(Marker::$Variant(Default::default())),)+
                    _ => None,
                }
            }

            /// Its name in scenario files.
            pub fn name(&self) -> &str {
                match self {
                    $(Marker::$Variant(_) => $name,)+
                    Marker::Custom(custom) => &custom.name,
                }
            }

            /// One line on what it does.
            pub fn summary(&self) -> &'static str {
                match self {
                    $(Marker::$Variant(_) => <$Law as SwitchLaw>::SUMMARY,)+
                    Marker::Custom(_) => "a law from outside",
                }
            }

            /// Where it is specified; empty for a law from outside.
            pub fn source(&self) -> &'static str {
                match self {
                    $(Marker::$Variant(_) => <$Law as SwitchLaw>::SOURCE,)+
                    Marker::Custom(_) => "",
                }
            }

            /// The schema of its parameters; empty for a law from outside.
            pub fn specs(&self) -> Vec<ParamSpec> {
                match self {
                    $(Marker::$Variant(_) => <<$Law as SwitchLaw>::Params as Params>::specs(),)+
                    Marker::Custom(_) => Vec::new(),
                }
            }

            /// Sets one parameter.
            ///
            /// # Errors
            /// As [`Params::set`]; the marker is then unchanged.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
                match self {
                    $(Marker::$Variant(params) => params.set(name, value),)+
                    Marker::Custom(_) => Err(ParamError::Unknown { name: name.to_owned() }),
                }
            }

            /// One parameter's value; `None` if there is none of that name.
            pub fn get(&self, name: &str) -> Option<Value> {
                match self {
                    $(Marker::$Variant(params) => params.get(name),)+
                    Marker::Custom(_) => None,
                }
            }

            /// Whether the parameters go together; to be asked once all are set.
            ///
            /// # Errors
            /// [`ParamError::Conflict`] where two of them contradict each other.
            pub fn check(&self) -> Result<(), ParamError> {
                match self {
                    $(Marker::$Variant(params) => <$Law as SwitchLaw>::check(params),)+
                    Marker::Custom(_) => Ok(()),
                }
            }

            /// The law's state on an empty queue; `seed` is the queue's own.
            pub fn start(&self, seed: u64) -> Point {
                match self {
                    $(Marker::$Variant(params) => {
                        Point::$Variant(<$Law as SwitchLaw>::new(params, seed))
                    })+
                    Marker::Custom(custom) => Point::Custom((custom.start)(seed)),
                }
            }
        }

        /// Every switch law of the table, in its order.
        pub fn congestion_points() -> &'static [MarkerInfo] {
            const POINTS: &[MarkerInfo] = &[$(MarkerInfo {
                name: $name,
                summary: <$Law as SwitchLaw>::SUMMARY,
                source: <$Law as SwitchLaw>::SOURCE,
            },)+];
            POINTS
        }
    };
}

// The table: name in scenario files => variant(law).
points! {
    /// RED on the queue.
    "red" => Red(red::Red),
    /// RED on the shared pool.
    "shared_red" => SharedRed(shared_red::SharedRed),
}

impl Marker {
    /// A law from outside: `start` makes its state for each queue, from the queue's seed.
    pub fn custom(name: impl Into<Arc<str>>, start: Arc<StartFn>) -> Marker {
        Marker::Custom(CustomMarker { name: name.into(), start })
    }
}

impl fmt::Debug for Marker {
    /// `red { k_min: 97500B, .. }`, the parameters in the order of declaration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.name());
        for spec in self.specs() {
            if let Some(value) = self.get(spec.name) {
                out.field(spec.name, &format_args!("{value}"));
            }
        }
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_gives_names_defaults_and_laws() {
        for info in congestion_points() {
            let marker = Marker::by_name(info.name).unwrap();
            assert_eq!(marker.name(), info.name);
            assert_eq!(marker.summary(), info.summary);
            assert_eq!(marker.source(), info.source);
            assert_eq!(marker.check(), Ok(()));
            assert_eq!(marker.start(1).next_timer(), Time::NEVER);
            for spec in marker.specs() {
                assert_eq!(marker.get(spec.name), Some(spec.default));
                assert!(!spec.meaning.is_empty() && !spec.source.is_empty());
            }
        }
        assert!(Marker::by_name("codel").is_none());
    }

    #[test]
    fn a_law_from_outside_starts() {
        struct Always;
        impl CongestionPoint for Always {}
        let marker = Marker::custom("always", Arc::new(|_| Box::new(Always)));
        assert_eq!(marker.start(1).quiet(), Quiet::NEVER);
        assert_eq!(format!("{marker:?}"), "always");
    }
}
