//! Count, average and quantiles of a set of values, all of them kept.

use serde::Serialize;

/// How quantiles are taken, as `summary.json` states it.
pub const QUANTILE_RULE: &str =
    "nearest rank: the p-quantile of n values is the ceil(p n)-th smallest (at least the first)";

/// A set of values in short. All but `count` are null for an empty set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Values in the set.
    pub count: u64,
    /// Arithmetic mean.
    pub avg: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95 % quantile.
    pub p95: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// 99.9 % quantile.
    #[serde(rename = "p99.9")]
    pub p999: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

impl Stats {
    /// Of the values, which it sorts. No value may be NaN.
    pub fn of(values: &mut [f64]) -> Stats {
        if values.is_empty() {
            return Stats::default();
        }
        // Summed in the order of the sorted values, so that the result depends on the set alone.
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len();
        let at = |per_mille: usize| Some(values[nearest_rank(n, per_mille)]);
        Stats {
            count: n as u64,
            avg: Some(values.iter().sum::<f64>() / n as f64),
            p50: at(500),
            p95: at(950),
            p99: at(990),
            p999: at(999),
            max: Some(values[n - 1]),
        }
    }
}

/// Index, from 0, of the quantile `per_mille` / 1000 among `n` sorted values, `n` at least 1.
fn nearest_rank(n: usize, per_mille: usize) -> usize {
    (n * per_mille).div_ceil(1000).max(1) - 1
}

/// Jain's fairness index: (sum x)^2 / (n sum x^2), 1 where all are equal, 1/n where one has all
/// (Jain, Chiu and Hawe 1984). `None` without values, or where all are zero.
pub fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut values: Vec<f64> = (1..=1000).rev().map(f64::from).collect();
        let stats = Stats::of(&mut values);
        assert_eq!((stats.count, stats.avg), (1000, Some(500.5)));
        assert_eq!((stats.p50, stats.p95, stats.p99), (Some(500.0), Some(950.0), Some(990.0)));
        assert_eq!((stats.p999, stats.max), (Some(999.0), Some(1000.0)));
        let one = Stats::of(&mut [7.0]);
        assert_eq!((one.p50, one.p999, one.avg), (Some(7.0), Some(7.0), Some(7.0)));
        assert_eq!(Stats::of(&mut []), Stats::default());
    }

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[]), None);
    }
}
