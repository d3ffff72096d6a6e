//! Time, rate and size as integers, so that every machine computes the same value.

use std::fmt;

/// A point in time or a duration, in integer picoseconds (range: 0 to 213 days).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of a run, or an empty duration.
    pub const ZERO: Time = Time(0);
    /// Later than every event: stands for "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// From picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Time(ps)
    }
    /// From nanoseconds. Panics on overflow in debug builds.
    pub const fn from_ns(ns: u64) -> Self {
        Time(ns * 1_000)
    }
    /// From microseconds. Panics on overflow in debug builds.
    pub const fn from_us(us: u64) -> Self {
        Time(us * 1_000_000)
    }
    /// From milliseconds. Panics on overflow in debug builds.
    pub const fn from_ms(ms: u64) -> Self {
        Time(ms * 1_000_000_000)
    }
    /// In picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// In nanoseconds, with the fraction.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// In microseconds, with the fraction.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// In seconds, with the fraction.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// The duration since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// The sum, or [`Time::NEVER`] where it would overflow.
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
    /// The duration times a whole factor, or [`Time::NEVER`] where it would overflow.
    pub const fn saturating_mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl std::ops::Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl std::ops::Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl std::ops::AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl fmt::Display for Time {
    /// The value in the largest unit of ps, ns, us, ms, s in which it is at least one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER {
            return f.write_str("never");
        }
        let ps = self.0 as f64;
        match self.0 {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{}ps", self.0),
            1_000..1_000_000 => write!(f, "{}ns", ps / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{}us", ps / 1e6),
            1_000_000_000..1_000_000_000_000 => write!(f, "{}ms", ps / 1e9),
            _ => write!(f, "{}s", ps / 1e12),
        }
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// From bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Rate(bps)
    }
    /// From megabits per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Rate(mbps * 1_000_000)
    }
    /// From gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Rate(gbps * 1_000_000_000)
    }
    /// In bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// In gigabits per second, with the fraction.
    pub fn as_gbps(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Bytes that pass in `time`, rounded down.
    pub const fn bytes_in(self, time: Time) -> u64 {
        (self.0 as u128 * time.0 as u128 / 8_000_000_000_000) as u64
    }
    /// Time to pass `bytes`, rounded up. [`Time::NEVER`] at rate zero.
    pub const fn time_for(self, bytes: u64) -> Time {
        if self.0 == 0 {
            return Time::NEVER;
        }
        Time((bytes as u128 * 8_000_000_000_000).div_ceil(self.0 as u128) as u64)
    }
}

impl fmt::Display for Rate {
    /// The value in the largest unit of bps, Kbps, Mbps, Gbps in which it is at least one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bps = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{}bps", self.0),
            1_000..1_000_000 => write!(f, "{}Kbps", bps / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{}Mbps", bps / 1e6),
            _ => write!(f, "{}Gbps", bps / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_passes_whole_bytes_and_takes_whole_picoseconds() {
        assert_eq!(Rate::from_gbps(100).time_for(1500), Time::from_ps(120_000));
        assert_eq!(Rate::from_gbps(30).time_for(1), Time::from_ps(267));
        assert_eq!(Rate::from_gbps(100).bytes_in(Time::from_us(80)), 1_000_000);
        assert_eq!(Rate::from_bps(0).time_for(1), Time::NEVER);
    }

    #[test]
    fn display_picks_the_unit() {
        assert_eq!(Time::from_us(80).to_string(), "80us");
        assert_eq!(Time::from_ns(1500).to_string(), "1.5us");
        assert_eq!(Rate::from_gbps(100).to_string(), "100Gbps");
    }
}
