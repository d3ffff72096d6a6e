//! From a claim and its measurements, one a seed, to a verdict.

use serde::{Deserialize, Serialize};

/// What kind of number a claim publishes; it sets the band in which the claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A ratio: within 35 % of the published one.
    Ratio,
    /// A difference in percent: within 10 points.
    Points,
    /// A queue, a rate, a threshold: within 15 %.
    Value,
    /// At least the published number.
    AtLeast,
    /// At most the published number.
    AtMost,
    /// The published number as printed: within the tolerance that the claim states.
    Exact,
    /// A condition: true (1) at every seed.
    Shape,
}

/// The answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The measured value lies in the band.
    #[serde(rename = "holds")]
    Holds,
    /// It lies outside, on the published side.
    #[serde(rename = "direction holds")]
    DirectionHolds,
    /// Neither.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// The seeds do not tell.
    #[serde(rename = "too few seeds")]
    TooFewSeeds,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DirectionHolds => "direction holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::TooFewSeeds => "too few seeds",
        }
    }
}

/// An interval; an end that is infinite is null in JSON.
pub type Interval = [f64; 2];

/// The band in which a claim holds. `tolerance` is for [`Kind::Exact`].
pub fn band(kind: Kind, published: f64, tolerance: f64) -> Interval {
    let around = |half: f64| [published - half, published + half];
    match kind {
        Kind::Ratio => around(0.35 * published.abs()),
        Kind::Points => around(10.0),
        Kind::Value => around(0.15 * published.abs()),
        Kind::AtLeast => [published, f64::INFINITY],
        Kind::AtMost => [f64::NEG_INFINITY, published],
        Kind::Exact => around(tolerance),
        Kind::Shape => [1.0, 1.0],
    }
}

/// Mean of the values of several seeds, and the 95 % confidence interval of that mean (Student's
/// t); the interval of a single value is that value.
pub fn mean_and_interval(values: &[f64]) -> (f64, Interval) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, [mean, mean]);
    }
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let half = student_t(values.len() - 1) * libm::sqrt(variance / n);
    (mean, [mean - half, mean + half])
}

/// The 97.5 % quantile of Student's t with that many degrees of freedom; beyond 30, that of
/// 30, which is the wider.
fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    TABLE[freedom.clamp(1, TABLE.len()) - 1]
}

/// Whether a value lies on the published side: of 1 for a ratio, of 0 for a difference. The other
/// kinds have no side: only a claim's own test finds their direction.
fn same_side(kind: Kind, published: f64, measured: f64) -> bool {
    match kind {
        Kind::Ratio => (measured > 1.0) == (published > 1.0),
        Kind::Points => measured * published > 0.0,
        Kind::Value | Kind::AtLeast | Kind::AtMost | Kind::Exact | Kind::Shape => false,
    }
}

/// The verdict on measured values, one a seed.
///
/// The mean decides, unless the confidence interval reaches across an edge of the band and is wider
/// than the band (for a bound, whose band has one edge: unless it reaches across it). Then, and
/// where a number that seeds move comes from one seed alone, there are too few seeds.
/// `direction` is the claim's own test of the direction, where it has one.
pub fn verdict(
    kind: Kind,
    published: f64,
    tolerance: f64,
    values: &[f64],
    direction: Option<bool>,
) -> Verdict {
    let (mean, interval) = mean_and_interval(values);
    if mean.is_nan() {
        return Verdict::DoesNotHold;
    }
    let [low, high] = band(kind, published, tolerance);
    let inside = |x: f64| low <= x && x <= high;
    let statistical = !matches!(kind, Kind::Exact | Kind::Shape);
    let straddles = inside(interval[0]) != inside(interval[1])
        || (!inside(mean) && interval[0] < low && interval[1] > high)
        || (inside(mean) && !inside(interval[0]));
    let bound = matches!(kind, Kind::AtLeast | Kind::AtMost);
    let wide = bound || interval[1] - interval[0] > high - low;
    if statistical && (values.len() < 2 || (straddles && wide)) {
        return Verdict::TooFewSeeds;
    }
    if inside(mean) {
        Verdict::Holds
    } else if direction.unwrap_or_else(|| same_side(kind, published, mean)) {
        Verdict::DirectionHolds
    } else {
        Verdict::DoesNotHold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, published: f64, values: &[f64]) -> Verdict {
        verdict(kind, published, 0.05, values, None)
    }

    #[test]
    fn bands_are_those_of_the_kinds() {
        assert_eq!(band(Kind::Ratio, 2.0, 0.0), [1.3, 2.7]);
        assert_eq!(band(Kind::Points, 13.5, 0.0), [3.5, 23.5]);
        assert_eq!(band(Kind::Value, 200.0, 0.0), [170.0, 230.0]);
        assert_eq!(band(Kind::AtMost, 0.08, 0.0)[1], 0.08);
    }

    #[test]
    fn the_mean_decides_when_seeds_agree() {
        assert_eq!(of(Kind::Points, 13.5, &[12.0, 13.0, 14.0]), Verdict::Holds);
        assert_eq!(of(Kind::Points, 13.5, &[1.0, 1.1, 0.9]), Verdict::DirectionHolds);
        assert_eq!(of(Kind::Points, 13.5, &[-5.0, -5.1, -4.9]), Verdict::DoesNotHold);
        assert_eq!(of(Kind::Ratio, 2.0, &[1.1, 1.1]), Verdict::DirectionHolds);
        assert_eq!(of(Kind::Ratio, 2.0, &[0.9, 0.9]), Verdict::DoesNotHold);
        assert_eq!(of(Kind::Value, 200.0, &[100.0, 101.0]), Verdict::DoesNotHold);
        assert_eq!(of(Kind::AtLeast, 9.0, &[12.0, 12.1]), Verdict::Holds);
        assert_eq!(of(Kind::AtMost, 9.0, &[12.0, 12.1]), Verdict::DoesNotHold);
        let direction = verdict(Kind::AtMost, 9.0, 0.0, &[12.0, 12.1], Some(true));
        assert_eq!(direction, Verdict::DirectionHolds);
    }

    #[test]
    fn seeds_that_disagree_or_lack_are_too_few() {
        assert_eq!(of(Kind::Points, 13.5, &[13.5]), Verdict::TooFewSeeds);
        assert_eq!(of(Kind::Points, 13.5, &[-40.0, 13.5, 60.0]), Verdict::TooFewSeeds);
        assert_eq!(of(Kind::AtLeast, 0.3, &[0.2, 0.5]), Verdict::TooFewSeeds);
        // Across an edge, but narrower than the band.
        assert_eq!(of(Kind::Points, 10.0, &[19.0, 20.0, 19.5]), Verdict::Holds);
    }

    #[test]
    fn exact_numbers_and_shapes_need_one_value() {
        assert_eq!(of(Kind::Exact, 19.2, &[19.2]), Verdict::Holds);
        assert_eq!(of(Kind::Exact, 19.2, &[19.3]), Verdict::DoesNotHold);
        assert_eq!(of(Kind::Shape, 1.0, &[1.0]), Verdict::Holds);
        assert_eq!(of(Kind::Shape, 1.0, &[1.0, 0.0]), Verdict::DoesNotHold);
        assert_eq!(of(Kind::Value, 5.0, &[f64::NAN, 5.0]), Verdict::DoesNotHold);
    }

    #[test]
    fn the_interval_is_students() {
        let (mean, interval) = mean_and_interval(&[1.0, 2.0, 3.0]);
        assert_eq!(mean, 2.0);
        // t(2) = 4.303, s = 1, n = 3.
        assert!((interval[1] - (2.0 + 4.303 / 3f64.sqrt())).abs() < 1e-12);
    }
}
