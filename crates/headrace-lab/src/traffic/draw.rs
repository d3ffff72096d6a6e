//! Random draws that are the same on every machine.

use headrace_cc::units::Time;
use rand_core::RngCore;

/// Uniform over [0, 1), in steps of 2^-53.
pub(crate) fn unit(rng: &mut impl RngCore) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Uniform over 0 to `below` - 1 (Lemire's multiplication, with the biased draws thrown away).
/// `below` is at least 1.
pub(crate) fn below(rng: &mut impl RngCore, below: u64) -> u64 {
    let product = |r: u64| u128::from(r) * u128::from(below);
    let mut wide = product(rng.next_u64());
    let unfair = below.wrapping_neg() % below;
    while (wide as u64) < unfair {
        wide = product(rng.next_u64());
    }
    (wide >> 64) as u64
}

/// Exponential with a mean of `mean_ps` picoseconds, rounded to whole ones.
pub(crate) fn exponential(rng: &mut impl RngCore, mean_ps: f64) -> Time {
    // 1 - u lies in (0, 1].
    let drawn = -libm::log(1.0 - unit(rng)) * mean_ps;
    Time::from_ps(drawn.round() as u64)
}

/// One out of `hosts` that is not `except`; `hosts` has at least one such and no repetition.
pub(crate) fn host_but(rng: &mut impl RngCore, hosts: &[u32], except: u32) -> u32 {
    match hosts.iter().position(|&h| h == except) {
        None => hosts[below(rng, hosts.len() as u64) as usize],
        Some(own) => {
            let drawn = below(rng, hosts.len() as u64 - 1) as usize;
            hosts[drawn + usize::from(drawn >= own)]
        }
    }
}

/// Shuffles so that every order is as likely (Fisher and Yates).
pub(crate) fn shuffle<T>(rng: &mut impl RngCore, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_sim::rng;

    #[test]
    fn draws_have_their_means() {
        let mut rng = rng::stream(1, "draw");
        let count = 100_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..count).map(|_| f()).sum::<f64>() / count as f64;
        assert!((mean(&mut || unit(&mut rng)) - 0.5).abs() < 0.005);
        assert!((mean(&mut || below(&mut rng, 7) as f64) - 3.0).abs() < 0.03);
        assert!((mean(&mut || exponential(&mut rng, 1e6).ps() as f64) / 1e6 - 1.0).abs() < 0.02);
        assert!((0..1000).all(|_| host_but(&mut rng, &[3, 5, 9], 5) != 5));
    }
}
