//! RED's curve on an instantaneous occupancy, and the draws on it.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg32;

use crate::params::{Choice, ParamError};

/// Where a marker looks at a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum MarkAt {
    /// As its transmission starts.
    Egress,
    /// As it is admitted to the queue.
    Ingress,
}

impl Choice for MarkAt {
    const WORDS: &'static [&'static str] = &["egress", "ingress"];

    fn word(self) -> &'static str {
        match self {
            MarkAt::Egress => "egress",
            MarkAt::Ingress => "ingress",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "egress" => Some(MarkAt::Egress),
            "ingress" => Some(MarkAt::Ingress),
            _ => None,
        }
    }
}

/// Marks nothing up to `k_min`, everything above `k_max`, and in between with a probability that
/// rises linearly from 0 to `p_max` (Floyd and Jacobson 1993 on the instantaneous occupancy; BCC
/// section 4.3).
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    k_min: u64,
    k_max: u64,
    /// `p_max` in units of 2^-32.
    p_max: u64,
    draws: Pcg32,
}

impl Curve {
    pub(crate) fn new(k_min: u64, k_max: u64, p_max: f64, seed: u64) -> Self {
        // The product with a power of two is exact.
        let p_max = libm::round(p_max * 4_294_967_296.0) as u64;
        Curve { k_min, k_max: k_max.max(k_min), p_max, draws: Pcg32::seed_from_u64(seed) }
    }

    /// Refuses a curve that runs backwards.
    pub(crate) fn check(k_min: u64, k_max: u64) -> Result<(), ParamError> {
        if k_min <= k_max {
            return Ok(());
        }
        Err(ParamError::Conflict {
            name: "k_max".to_owned(),
            why: format!("{k_max} bytes is less than k_min, {k_min} bytes"),
        })
    }

    /// Occupancy up to which nothing is marked and nothing is drawn, bytes.
    pub(crate) fn quiet(&self) -> u64 {
        self.k_min
    }

    /// Whether a packet that finds `occupancy` bytes is marked. Draws between the thresholds only.
    #[inline]
    pub(crate) fn marks(&mut self, occupancy: u64) -> bool {
        if occupancy <= self.k_min {
            return false;
        }
        if occupancy > self.k_max {
            return true;
        }
        // draw / 2^32 < p_max (occupancy - k_min) / (k_max - k_min), multiplied out.
        let draw = u128::from(self.draws.next_u32());
        draw * u128::from(self.k_max - self.k_min)
            < u128::from(self.p_max) * u128::from(occupancy - self.k_min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequency(curve: &mut Curve, occupancy: u64) -> f64 {
        let draws = 200_000;
        (0..draws).filter(|_| curve.marks(occupancy)).count() as f64 / f64::from(draws)
    }

    #[test]
    fn marks_as_often_as_the_curve_says() {
        let mut curve = Curve::new(100_000, 300_000, 0.1, 7);
        assert_eq!(frequency(&mut curve, 100_000), 0.0);
        assert_eq!(frequency(&mut curve, 300_001), 1.0);
        for (occupancy, p) in [(150_000, 0.025), (200_000, 0.05), (300_000, 0.1)] {
            // Four standard deviations of a binomial frequency.
            let band = 4.0 * libm::sqrt(p * (1.0 - p) / 200_000.0);
            let seen = frequency(&mut curve, occupancy);
            assert!((seen - p).abs() < band, "{seen} at {occupancy}, expected {p} +- {band}");
        }
    }

    #[test]
    fn equal_thresholds_are_a_step() {
        let mut curve = Curve::new(200_000, 200_000, 0.3, 7);
        assert!(!curve.marks(200_000));
        assert!(curve.marks(200_001));
    }

    #[test]
    fn a_probability_of_one_marks_all_at_k_max_and_zero_none() {
        let mut sure = Curve::new(0, 1000, 1.0, 7);
        assert_eq!(frequency(&mut sure, 1000), 1.0);
        let mut never = Curve::new(0, 1000, 0.0, 7);
        assert_eq!(frequency(&mut never, 1000), 0.0);
    }

    #[test]
    fn equal_seeds_draw_alike_and_quiet_occupancy_draws_nothing() {
        let mut one = Curve::new(100, 1000, 0.5, 3);
        let mut two = Curve::new(100, 1000, 0.5, 3);
        let mut other = Curve::new(100, 1000, 0.5, 4);
        let mut differs = false;
        for _ in 0..1000 {
            assert!(!two.marks(two.quiet()));
            let marked = one.marks(700);
            assert_eq!(marked, two.marks(700));
            differs |= marked != other.marks(700);
        }
        assert!(differs);
    }

    #[test]
    fn a_curve_backwards_is_refused() {
        assert!(Curve::check(5, 5).is_ok());
        assert!(Curve::check(6, 5).unwrap_err().to_string().contains("k_max"));
    }
}
