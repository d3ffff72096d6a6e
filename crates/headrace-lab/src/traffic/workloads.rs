//! The published flow-size distributions, by name.

use super::cdf::Cdf;

/// A published distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Where the table comes from.
    pub source: &'static str,
    /// Bytes of one unit of the first column.
    pub unit: u64,
    /// (units, cumulative percent).
    pub points: &'static [(f64, f64)],
}

impl Workload {
    /// The distribution of that name.
    pub fn by_name(name: &str) -> Option<&'static Workload> {
        WORKLOADS.iter().find(|w| w.name == name)
    }

    /// As a distribution over bytes.
    pub fn cdf(&self) -> Cdf {
        let scaled = self.points.iter().map(|&(size, p)| (size * self.unit as f64, p));
        Cdf::new(&scaled.collect::<Vec<_>>()).expect("the table is a distribution")
    }
}

/// Every named distribution.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "websearch",
        summary: "web search: query traffic with large background updates",
        source: "DCTCP, SIGCOMM 2010, as tabulated by the HPCC traffic generator",
        unit: 1,
        points: &[
            (0.0, 0.0),
            (10_000.0, 15.0),
            (20_000.0, 20.0),
            (30_000.0, 30.0),
            (50_000.0, 40.0),
            (80_000.0, 53.0),
            (200_000.0, 60.0),
            (1e6, 70.0),
            (2e6, 80.0),
            (5e6, 90.0),
            (1e7, 97.0),
            (3e7, 100.0),
        ],
    },
    Workload {
        name: "fb-hadoop",
        summary: "Facebook's Hadoop clusters: mostly short flows",
        source: "Roy et al., SIGCOMM 2015, as tabulated by the HPCC traffic generator",
        unit: 1,
        points: &[
            (0.0, 0.0),
            (100.0, 1.0),
            (200.0, 2.0),
            (300.0, 5.0),
            (350.0, 15.0),
            (400.0, 20.0),
            (500.0, 30.0),
            (600.0, 40.0),
            (700.0, 50.0),
            (1000.0, 60.0),
            (2000.0, 67.0),
            (7000.0, 70.0),
            (30_000.0, 72.0),
            (50_000.0, 82.0),
            (80_000.0, 87.0),
            (120_000.0, 90.0),
            (300_000.0, 95.0),
            (1e6, 97.5),
            (2e6, 99.0),
            (1e7, 100.0),
        ],
    },
    Workload {
        name: "ali-storage",
        summary: "Alibaba's storage clusters",
        source: "Alibaba storage 2019, HPCC traffic generator",
        unit: 1,
        points: &[
            (0.0, 0.0),
            (4000.0, 22.93),
            (8000.0, 69.21),
            (16_000.0, 80.61),
            (32_000.0, 90.47),
            (64_000.0, 93.53),
            (128_000.0, 96.77),
            (256_000.0, 97.53),
            (2e6, 100.0),
        ],
    },
    Workload {
        name: "data-mining",
        summary: "data mining: most flows tiny, most bytes in a few huge ones",
        source: "VL2, SIGCOMM 2009, as tabulated in RoCC's VL2_CDF (bytes)",
        unit: 1,
        points: &[
            (180.0, 10.0),
            (216.0, 20.0),
            (560.0, 30.0),
            (900.0, 40.0),
            (1100.0, 50.0),
            (1870.0, 60.0),
            (3160.0, 70.0),
            (10_000.0, 80.0),
            (400_000.0, 90.0),
            (3.16e6, 95.0),
            (1e8, 98.0),
            (1e9, 100.0),
        ],
    },
    Workload {
        name: "data-mining-packets",
        summary: "data mining, tabulated in packets of 1460 bytes",
        source: "VL2, SIGCOMM 2009, as commonly used in ns-2 studies (pFabric)",
        unit: 1460,
        points: &[
            (1.0, 50.0),
            (2.0, 60.0),
            (3.0, 70.0),
            (7.0, 80.0),
            (267.0, 90.0),
            (2107.0, 95.0),
            (66_667.0, 99.0),
            (666_667.0, 100.0),
        ],
    },
    Workload {
        name: "fb-cache",
        summary: "Facebook's cache followers: nearly all flows below 1 KB",
        source: "RoCC's FB_CDF",
        unit: 1,
        points: &[
            (75.0, 50.0),
            (250.0, 75.0),
            (350.0, 90.0),
            (1000.0, 96.5),
            (2515.0, 98.0),
            (6326.0, 99.0),
            (10_032.0, 99.5),
            (15_910.0, 99.7),
            (23_009.0, 99.92),
            (24_094.0, 99.96),
            (25_000.0, 99.99),
            (100_000.0, 99.999),
            (1e6, 100.0),
        ],
    },
    Workload {
        name: "heavy-tail",
        summary: "a heavy tail up to 20 MB",
        source: "RoCC's HTL_CDF",
        unit: 1,
        points: &[
            (10_000.0, 10.0),
            (20_000.0, 20.0),
            (30_000.0, 30.0),
            (50_000.0, 40.0),
            (80_000.0, 50.0),
            (100_000.0, 60.0),
            (200_000.0, 70.0),
            (1e6, 80.0),
            (1e7, 90.0),
            (2e7, 100.0),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_sim::rng;

    #[test]
    fn means_are_the_published_ones() {
        let mean = |name| Workload::by_name(name).unwrap().cdf().mean().round() as u64;
        assert_eq!(mean("websearch"), 1_711_250);
        assert_eq!(mean("fb-hadoop"), 120_421);
        assert_eq!(mean("data-mining"), 12_658_199);
        assert_eq!(mean("ali-storage"), 40_870);
    }

    #[test]
    fn samples_follow_each_table() {
        for workload in WORKLOADS {
            let cdf = workload.cdf();
            let mut rng = rng::stream(7, workload.name);
            let sizes: Vec<u64> = (0..50_000).map(|_| cdf.draw(&mut rng)).collect();
            for &(size, p) in cdf.points() {
                // At most what rounds to the point: up to half a byte more.
                let share = sizes.iter().filter(|&&s| s as f64 <= size + 0.5).count() as f64 / 5e4;
                assert!((share - p).abs() < 0.012, "{}: {share} at {size}", workload.name);
            }
        }
    }
}
