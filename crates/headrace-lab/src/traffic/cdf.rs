//! Flow-size distributions as cumulative tables with linear interpolation.

use headrace_sim::spec::Framing;
use rand_core::RngCore;

use super::draw;
use crate::scenario::problems::{Place, Problem};

/// A cumulative distribution of flow sizes.
///
/// Between two points sizes are uniform. A table that does not start at 0 % is interpolated from
/// (0 bytes, 0 %), as the published means of such tables are.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// (bytes, cumulative fraction), both rising; from (_, 0) to (_, 1).
    points: Vec<(f64, f64)>,
}

/// Why points are no distribution: the offending point's index, what is wrong, the remedy.
type Wrong = (usize, String, &'static str);

impl Cdf {
    /// From (bytes, cumulative) points, in percent or as fractions: the last one is 100 or 1.
    ///
    /// # Errors
    /// No points; sizes or percentages that fall; a last one that is neither 100 nor 1.
    pub fn new(points: &[(f64, f64)]) -> Result<Cdf, Wrong> {
        let Some(&(_, top)) = points.last() else {
            return Err((0, "an empty CDF".into(), "give lines of `bytes percent`"));
        };
        for (i, pair) in points.windows(2).enumerate() {
            let ((a, p), (b, q)) = (pair[0], pair[1]);
            if b < a || q < p {
                let message = format!("a CDF that is not monotonic: {q} at {b} after {p} at {a}");
                return Err((i + 1, message, "sort the lines; neither column may fall"));
            }
        }
        let last = points.len() - 1;
        let scale = match top {
            1.0 => 1.0,
            100.0 => 0.01,
            _ => {
                let message = format!("a CDF that ends at {top}");
                return Err((last, message, "end it at 100 (percent) or at 1 (fraction)"));
            }
        };
        if !points.iter().all(|&(size, p)| size >= 0.0 && p >= 0.0 && size.is_finite()) {
            return Err((0, "a negative entry".into(), "sizes and percentages start at 0"));
        }
        if points[last].0 < 1.0 {
            return Err((last, "no flow has a byte".into(), "the last size is at least 1 byte"));
        }
        let mut points: Vec<(f64, f64)> = points.iter().map(|&(s, p)| (s, p * scale)).collect();
        points[last].1 = 1.0;
        if points[0].1 > 0.0 {
            points.insert(0, (0.0, 0.0));
        }
        Ok(Cdf { points })
    }

    /// Reads a table: two columns `bytes cumulative`, or three `packets 1 cumulative`, separated by
    /// blanks or commas; `#` starts a comment. `packet_bytes` multiplies the first column; `None`:
    /// 1 for two columns, 1460 for three.
    ///
    /// # Errors
    /// With the line: what is no number, and what [`Cdf::new`] refuses.
    pub fn parse(name: &str, text: &str, packet_bytes: Option<u64>) -> Result<Cdf, Problem> {
        let mut points = Vec::new();
        let mut spans = Vec::new();
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let content = line.split('#').next().unwrap_or("").trim();
            let start = offset + line.find(content).unwrap_or(0);
            let span = start..start + content.len();
            offset += line.len();
            if content.is_empty() {
                continue;
            }
            let place = Place::new(name, text, span.clone());
            points.push(row(content, packet_bytes).ok_or_else(|| {
                let message = format!("`{content}` is not a line of a CDF");
                Problem::new(&place, message, "write `bytes percent` or `packets 1 percent`")
            })?);
            spans.push(span);
        }
        Cdf::new(&points).map_err(|(index, message, remedy)| {
            let span = spans.get(index).cloned().unwrap_or(0..0);
            Problem::new(&Place::new(name, text, span), message, remedy)
        })
    }

    /// The points, from (bytes, 0) to (bytes, 1).
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Mean size in bytes, before rounding to whole bytes.
    pub fn mean(&self) -> f64 {
        self.segments().map(|(a, b, p)| (a + b) / 2.0 * p).sum()
    }

    /// A size: the inverse of the distribution at a uniform draw, rounded, at least 1 byte.
    pub fn draw(&self, rng: &mut impl RngCore) -> u64 {
        let u = draw::unit(rng);
        let above = self.points.partition_point(|point| point.1 <= u);
        // The last point is at 1, above any draw.
        let ((a, p), (b, q)) = (self.points[above - 1], self.points[above]);
        let size = a + (b - a) * ((u - p) / (q - p));
        (size.round() as u64).max(1)
    }

    /// Mean bytes on the wire of a flow's data packets, headers and framing included, with `mss`
    /// payload bytes in a full one. Frames padded to Ethernet's least are not counted as such.
    pub fn mean_wire(&self, mss: f64, overhead: f64) -> f64 {
        let packets = self.segments().map(|(a, b, p)| {
            let mean = if b > a {
                (packets_below(b, mss) - packets_below(a, mss)) / (b - a)
            } else {
                (a / mss).ceil()
            };
            mean * p
        });
        self.mean() + overhead * packets.sum::<f64>()
    }

    /// (from bytes, to bytes, probability).
    fn segments(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.points.windows(2).map(|w| (w[0].0, w[1].0, w[1].1 - w[0].1))
    }
}

/// The integral of ceil(size / mss) over sizes from 0 to `size`.
fn packets_below(size: f64, mss: f64) -> f64 {
    let full = (size / mss).floor();
    mss * full * (full + 1.0) / 2.0 + (full + 1.0) * (size - full * mss)
}

fn row(content: &str, packet_bytes: Option<u64>) -> Option<(f64, f64)> {
    let columns = content.split(|c: char| c.is_whitespace() || c == ',').filter(|c| !c.is_empty());
    let columns: Option<Vec<f64>> = columns.map(|c| c.parse().ok()).collect();
    let (size, cumulative, usual) = match columns?[..] {
        [size, cumulative] => (size, cumulative, 1),
        [size, _, cumulative] => (size, cumulative, 1460),
        _ => return None,
    };
    let finite = size.is_finite() && cumulative.is_finite();
    finite.then_some((size * packet_bytes.unwrap_or(usual) as f64, cumulative))
}

/// Bytes that each packet costs beyond its payload: IPv4 and TCP headers, and the framing.
pub fn packet_overhead(framing: Framing) -> u64 {
    match framing {
        Framing::Ethernet => 40 + 18 + 20,
        Framing::None => 40,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_sim::rng;
    use proptest::prelude::*;

    fn line(text: &str) -> String {
        Cdf::parse("x.cdf", text, None).unwrap_err().line()
    }

    #[test]
    fn percent_fraction_comments_commas_and_packets() {
        let percent = Cdf::parse("x", "# sizes\n0 0\n100 50 # half\n\n1e3 100\n", None).unwrap();
        let fraction = Cdf::parse("x", "100,0.5\n1000,1", None).unwrap();
        assert_eq!(percent, fraction);
        assert_eq!(percent.mean(), 25.0 + 275.0);
        let packets = Cdf::parse("x", "1 1 0.5\n2 1 1\n", None).unwrap();
        assert_eq!(packets.points()[2], (2920.0, 1.0));
        let scaled = Cdf::parse("x", "1 0.5\n2 1\n", Some(1000)).unwrap();
        assert_eq!(scaled.points()[1], (1000.0, 0.5));
    }

    #[test]
    fn bad_tables_are_refused_with_their_line() {
        assert_eq!(line("# none\n"), "x.cdf:1:1: an empty CDF; give lines of `bytes percent`");
        assert!(line("1 10\n2 60\n3 50\n4 100").starts_with("x.cdf:3:1: a CDF that is not mono"));
        assert!(line("5 10\n2 100").starts_with("x.cdf:2:1: a CDF that is not monotonic"));
        assert!(line("1 10\nx y\n").starts_with("x.cdf:2:1: `x y` is not a line"));
        assert!(line("1 10\n2 99").contains("ends at 99"));
        assert!(line("-1 10\n2 100").contains("negative"));
    }

    #[test]
    fn wire_bytes_count_each_started_packet() {
        let uniform = Cdf::new(&[(0.0, 0.0), (2000.0, 1.0)]).unwrap();
        // Half the flows take one packet of 1000, half take two.
        assert!((uniform.mean_wire(1000.0, 40.0) - (1000.0 + 60.0)).abs() < 1e-9);
        let fixed = Cdf::new(&[(1500.0, 0.0), (1500.0, 1.0)]).unwrap();
        assert!((fixed.mean_wire(1000.0, 40.0) - 1580.0).abs() < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn the_sample_mean_converges(
            steps in prop::collection::vec((1.0f64..1e6, 0.01f64..1.0), 1..12),
            seed: u64,
        ) {
            let total: f64 = steps.iter().map(|s| s.1).sum();
            let mut at = (0.0, 0.0);
            let mut points: Vec<(f64, f64)> = steps.iter().map(|s| {
                at = (at.0 + s.0, at.1 + s.1 / total);
                at
            }).collect();
            points.last_mut().unwrap().1 = 1.0;
            let cdf = Cdf::new(&points).unwrap();
            let mut rng = rng::stream(seed, "cdf");
            let count = 20_000;
            let mut sum = 0.0;
            for _ in 0..count {
                let size = cdf.draw(&mut rng);
                prop_assert!(size >= 1 && size as f64 <= cdf.points().last().unwrap().0 + 0.5);
                sum += size as f64;
            }
            // Six standard errors, the deviation bounded by half the range.
            let bound = 6.0 * cdf.points().last().unwrap().0 / 2.0 / f64::from(count).sqrt() + 1.0;
            let error = (sum / f64::from(count) - cdf.mean()).abs();
            prop_assert!(error < bound, "{} off, bound {}", error, bound);
        }
    }
}
