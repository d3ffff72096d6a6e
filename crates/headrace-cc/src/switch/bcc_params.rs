//! BCC's thresholds for RED on the shared pool (Bai et al., APNet 2017, sections 4.3 and 4.4).

use std::fmt;

use crate::units::{Rate, Time};

/// What BCC's thresholds depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BccInputs {
    /// Rate C of a port.
    pub rate: Rate,
    /// Base round-trip time.
    pub rtt: Time,
    /// Buffer that the transport needs for full throughput, in units of C RTT: 0.72 for DCTCP.
    pub lambda: f64,
    /// Buffer S_min reserved for each queue outside the pool, bytes.
    pub reserved: u64,
    /// Size B of the pool, bytes.
    pub pool: u64,
    /// Factor alpha of the dynamic threshold; the least of them where queues differ.
    pub alpha: f64,
    /// Ports N that share the pool.
    pub ports: u64,
    /// h: the slope from `k_min` to `k_max` is what N ports at rate C send in this time; 8 us.
    pub h: Time,
}

/// BCC's thresholds, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BccThresholds {
    /// Buffer B_R that a queue needs from the pool.
    pub per_queue: u64,
    /// Pool occupancy above which every packet is marked.
    pub k_max: u64,
    /// Pool occupancy up to which none is.
    pub k_min: u64,
}

/// The pool is too small for BCC's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolTooSmall {
    /// The least pool that would do, bytes.
    pub least: u64,
}

impl fmt::Display for PoolTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BCC's thresholds need a pool of at least {} bytes", self.least)
    }
}

impl std::error::Error for PoolTooSmall {}

/// B_R = C RTT (1 + lambda) - S_min; K_max = B - B_R / alpha; K_min = K_max - C N h (eq. 3),
/// rounded to whole bytes.
///
/// # Errors
/// [`PoolTooSmall`] where K_min would be negative, or alpha is not positive.
pub fn thresholds(inputs: &BccInputs) -> Result<BccThresholds, PoolTooSmall> {
    let needed = inputs.rate.bytes_in(inputs.rtt) as f64 * (1.0 + inputs.lambda);
    let per_queue = (libm::round(needed) as u64).saturating_sub(inputs.reserved);
    let below_k_max = if inputs.alpha > 0.0 {
        libm::ceil(per_queue as f64 / inputs.alpha) as u64
    } else {
        u64::MAX
    };
    let slope = inputs.rate.bytes_in(inputs.h.saturating_mul(inputs.ports));
    let least = below_k_max.saturating_add(slope);
    if inputs.pool < least {
        return Err(PoolTooSmall { least });
    }
    Ok(BccThresholds {
        per_queue,
        k_max: inputs.pool - below_k_max,
        k_min: inputs.pool - below_k_max - slope,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch::shared_red::SharedRedParams;

    /// The figures of section 5.
    const PAPER: BccInputs = BccInputs {
        rate: Rate::from_gbps(100),
        rtt: Time::from_us(80),
        lambda: 0.72,
        reserved: 128_000,
        pool: 3_000_000,
        alpha: 4.0,
        ports: 8,
        h: Time::from_us(8),
    };

    #[test]
    fn gives_the_papers_thresholds() {
        // Section 5: about 1.6 MB, 2.6 MB and 1.8 MB.
        let found = thresholds(&PAPER).unwrap();
        assert_eq!(
            found,
            BccThresholds { per_queue: 1_592_000, k_max: 2_602_000, k_min: 1_802_000 }
        );
        let defaults = SharedRedParams::default();
        assert_eq!((defaults.k_min, defaults.k_max), (found.k_min, found.k_max));
    }

    #[test]
    fn a_pool_too_small_is_refused_with_the_least_that_does() {
        let small = BccInputs { pool: 1_000_000, ..PAPER };
        let least = thresholds(&small).unwrap_err().least;
        assert_eq!(least, 1_198_000);
        assert_eq!(thresholds(&BccInputs { pool: least, ..PAPER }).unwrap().k_min, 0);
        assert!(thresholds(&BccInputs { alpha: 0.0, ..PAPER }).is_err());
    }
}
