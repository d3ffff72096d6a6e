//! The table of endpoint laws, and what follows from it: dispatch, lookup by name, schemas.

use std::fmt;
use std::sync::Arc;

use super::{Ack, Allowance, Loss, Sender, Signal, Start, Timeout};
use super::{cubic, dctcp, ecn_star, newreno};
use crate::params::{ParamError, ParamSpec, Params, Value};
use crate::units::{Rate, Time};

/// What the transport must do with ECN for a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Packets are not ECN-capable.
    Off,
    /// The receiver latches ECE until it sees CWR (RFC 3168 section 6.1.3).
    Classic,
    /// The receiver echoes each mark exactly (RFC 8257 section 3.2).
    Exact,
}

/// What an endpoint law adds to [`Sender`] so that the table can hold it.
pub trait Law: Sender + Sized {
    /// Its parameters.
    type Params: Params;
    /// One line on what it does.
    const SUMMARY: &'static str;
    /// Where it is specified.
    const SOURCE: &'static str;

    /// What it needs of the transport under these parameters.
    fn ecn(params: &Self::Params) -> Ecn;

    /// Its state at a flow's start.
    fn new(params: &Self::Params, start: &Start) -> Self;

    /// Whether the parameters go together.
    ///
    /// # Errors
    /// [`ParamError::Conflict`] where two of them contradict each other.
    fn check(params: &Self::Params) -> Result<(), ParamError> {
        let _ = params;
        Ok(())
    }
}

/// One entry of [`schemes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemeInfo {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it is specified.
    pub source: &'static str,
}

/// Makes a law at a flow's start.
pub type StartFn = dyn Fn(&Start) -> Box<dyn Sender + Send> + Send + Sync;

/// A law from outside the table.
#[derive(Clone)]
pub struct CustomScheme {
    name: Arc<str>,
    ecn: Ecn,
    start: Arc<StartFn>,
}

macro_rules! dispatch {
    ($self:ident, [$($Variant:ident)+], $law:ident => $call:expr) => {
        match $self {
            $(SenderLaw::$Variant($law) => $call,)+
            SenderLaw::Custom($law) => $call,
        }
    };
}

macro_rules! sender_methods {
    ($variants:tt) => {
        impl Sender for SenderLaw {
            #[inline]
            fn allowance(&self) -> Allowance {
                dispatch!(self, $variants, law => law.allowance())
            }
            #[inline]
            fn on_ack(&mut self, ack: &Ack<'_>) {
                dispatch!(self, $variants, law => law.on_ack(ack))
            }
            #[inline]
            fn on_loss(&mut self, loss: &Loss) {
                dispatch!(self, $variants, law => law.on_loss(loss))
            }
            #[inline]
            fn on_timeout(&mut self, timeout: &Timeout) {
                dispatch!(self, $variants, law => law.on_timeout(timeout))
            }
            #[inline]
            fn on_signal(&mut self, now: Time, signal: &Signal) {
                dispatch!(self, $variants, law => law.on_signal(now, signal))
            }
            #[inline]
            fn next_timer(&self) -> Time {
                dispatch!(self, $variants, law => law.next_timer())
            }
            #[inline]
            fn on_timer(&mut self, now: Time) {
                dispatch!(self, $variants, law => law.on_timer(now))
            }
            #[inline]
            fn on_sent(&mut self, now: Time, bytes: u64) {
                dispatch!(self, $variants, law => law.on_sent(now, bytes))
            }
            #[inline]
            fn ssthresh(&self) -> u64 {
                dispatch!(self, $variants, law => law.ssthresh())
            }
            #[inline]
            fn limit_growth(&mut self, limit: Option<Rate>) {
                dispatch!(self, $variants, law => law.limit_growth(limit))
            }
            #[inline]
            fn scale_down(&mut self, numerator: u64, denominator: u64) {
                dispatch!(self, $variants, law => law.scale_down(numerator, denominator))
            }
        }
    };
}

macro_rules! senders {
    ($($(#[$doc:meta])* $name:literal => $Variant:ident($Law:ty),)+) => {
        /// A law at work on one flow. Built-in laws are reached without a virtual call.
        pub enum SenderLaw {
            $($(#[$doc])* $Variant($Law),)+
            /// A law from outside.
            Custom(Box<dyn Sender + Send>),
        }

        sender_methods!([$($Variant)+]);

        /// A law by name, with its parameters: what makes a [`SenderLaw`] at a flow's start.
        #[derive(Clone)]
        pub enum Scheme {
            $($(#[$doc])* $Variant(<$Law as Law>::Params),)+
            /// A law from outside.
            Custom(CustomScheme),
        }

        impl Scheme {
            /// The law of that name with its default parameters.
            pub fn by_name(name: &str) -> Option<Scheme> {
                match name {
                    $($name => Some(Scheme::$Variant(Default::default())),)+
                    _ => None,
                }
            }

            /// Its name in scenario files.
            pub fn name(&self) -> &str {
                match self {
                    $(Scheme::$Variant(_) => $name,)+
                    Scheme::Custom(custom) => &custom.name,
                }
            }

            /// One line on what it does.
            pub fn summary(&self) -> &'static str {
                match self {
                    $(Scheme::$Variant(_) => <$Law as Law>::SUMMARY,)+
                    Scheme::Custom(_) => "a law from outside",
                }
            }

            /// Where it is specified; empty for a law from outside.
            pub fn source(&self) -> &'static str {
                match self {
                    $(Scheme::$Variant(_) => <$Law as Law>::SOURCE,)+
                    Scheme::Custom(_) => "",
                }
            }

            /// The schema of its parameters; empty for a law from outside.
            pub fn specs(&self) -> Vec<ParamSpec> {
                match self {
                    $(Scheme::$Variant(_) => <<$Law as Law>::Params as Params>::specs(),)+
                    Scheme::Custom(_) => Vec::new(),
                }
            }

            /// Sets one parameter.
            ///
            /// # Errors
            /// As [`Params::set`]; the scheme is then unchanged.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
                match self {
                    $(Scheme::$Variant(params) => params.set(name, value),)+
                    Scheme::Custom(_) => Err(ParamError::Unknown { name: name.to_owned() }),
                }
            }

            /// One parameter's value; `None` if there is none of that name.
            pub fn get(&self, name: &str) -> Option<Value> {
                match self {
                    $(Scheme::$Variant(params) => params.get(name),)+
                    Scheme::Custom(_) => None,
                }
            }

            /// Whether the parameters go together; to be asked once all are set.
            ///
            /// # Errors
            /// [`ParamError::Conflict`] where two of them contradict each other.
            pub fn check(&self) -> Result<(), ParamError> {
                match self {
                    $(Scheme::$Variant(params) => <$Law as Law>::check(params),)+
                    Scheme::Custom(_) => Ok(()),
                }
            }

            /// What the transport must do with ECN.
            pub fn ecn(&self) -> Ecn {
                match self {
                    $(Scheme::$Variant(params) => <$Law as Law>::ecn(params),)+
                    Scheme::Custom(custom) => custom.ecn,
                }
            }

            /// The law's state at a flow's start.
            pub fn start(&self, start: &Start) -> SenderLaw {
                match self {
                    $(Scheme::$Variant(params) => {
                        SenderLaw::$Variant(<$Law as Law>::new(params, start))
                    })+
                    Scheme::Custom(custom) => SenderLaw::Custom((custom.start)(start)),
                }
            }
        }

        /// Every law of the table, in its order.
        pub fn schemes() -> &'static [SchemeInfo] {
            const SCHEMES: &[SchemeInfo] = &[$(SchemeInfo {
                name: $name,
                summary: <$Law as Law>::SUMMARY,
                source: <$Law as Law>::SOURCE,
            },)+];
            SCHEMES
        }
    };
}

// The table: name in scenario files => variant(law).
senders! {
    /// TCP NewReno.
    "newreno" => NewReno(newreno::NewReno),
    /// CUBIC.
    "cubic" => Cubic(cubic::Cubic),
    /// DCTCP.
    "dctcp" => Dctcp(dctcp::Dctcp),
    /// ECN*.
    "ecn_star" => EcnStar(ecn_star::EcnStar),
}

impl Scheme {
    /// A law from outside: `start` makes its state at each flow's start.
    pub fn custom(name: impl Into<Arc<str>>, ecn: Ecn, start: Arc<StartFn>) -> Scheme {
        Scheme::Custom(CustomScheme { name: name.into(), ecn, start })
    }
}

impl fmt::Debug for Scheme {
    /// `dctcp { g: 0.0625, .. }`, the parameters in the order of declaration.
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

    fn start() -> Start {
        Start {
            now: Time::ZERO,
            mss: 1460,
            initial_window: 14_600,
            line_rate: Rate::from_gbps(100),
            base_rtt: Time::from_us(80),
        }
    }

    #[test]
    fn the_table_gives_names_defaults_and_laws() {
        for info in schemes() {
            let scheme = Scheme::by_name(info.name).unwrap();
            assert_eq!(scheme.name(), info.name);
            assert_eq!(scheme.summary(), info.summary);
            assert_eq!(scheme.source(), info.source);
            assert_eq!(scheme.check(), Ok(()));
            assert_eq!(scheme.start(&start()).allowance().window, 14_600);
            for spec in scheme.specs() {
                assert_eq!(scheme.get(spec.name), Some(spec.default));
                assert!(!spec.meaning.is_empty() && !spec.source.is_empty());
            }
        }
        assert!(Scheme::by_name("vegas").is_none());
    }

    #[test]
    fn a_million_flows_fit() {
        let size = std::mem::size_of::<SenderLaw>();
        assert!(size < 128, "{size} bytes a law");
    }

    #[test]
    fn ecn_follows_the_parameters() {
        let mut scheme = Scheme::by_name("newreno").unwrap();
        assert_eq!(scheme.ecn(), Ecn::Off);
        scheme.set("ecn", &Value::Flag(true)).unwrap();
        assert_eq!(scheme.ecn(), Ecn::Classic);
        assert_eq!(Scheme::by_name("dctcp").unwrap().ecn(), Ecn::Exact);
        assert_eq!(Scheme::by_name("ecn_star").unwrap().ecn(), Ecn::Classic);
        assert_eq!(format!("{:?}", scheme), "newreno { ecn: true }");
    }

    #[test]
    fn a_law_from_outside_starts() {
        struct Fixed;
        impl Sender for Fixed {
            fn allowance(&self) -> Allowance {
                Allowance { window: 3000, rate: None }
            }
            fn on_ack(&mut self, _: &Ack<'_>) {}
            fn on_loss(&mut self, _: &Loss) {}
            fn on_timeout(&mut self, _: &Timeout) {}
        }
        let mut scheme = Scheme::custom("fixed", Ecn::Off, Arc::new(|_| Box::new(Fixed)));
        assert_eq!(scheme.name(), "fixed");
        assert_eq!(scheme.start(&start()).allowance().window, 3000);
        assert!(scheme.set("x", &Value::Flag(true)).is_err());
    }
}
