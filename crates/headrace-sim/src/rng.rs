//! Random streams, one an entity: seeded by the run's seed and the entity's name, so that no stream
//! depends on how many others there are or on the order in which they were made.

use rand_pcg::Pcg32;

/// The stream of the entity `name` in a run with `seed`.
pub fn stream(seed: u64, name: &str) -> Pcg32 {
    let key = stream_seed(seed, name);
    Pcg32::new(key, mix(key))
}

/// The 64-bit seed of the entity `name` in a run with `seed`: FNV-1a over the name, mixed with the
/// seed by the finaliser of SplitMix64.
pub fn stream_seed(seed: u64, name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(hash ^ mix(seed))
}

/// SplitMix64's finaliser: a bijection that spreads every input bit.
pub(crate) const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::RngCore;

    #[test]
    fn streams_differ_by_name_and_by_seed_and_repeat() {
        let draw = |seed, name| stream(seed, name).next_u64();
        assert_eq!(draw(1, "leaf0"), draw(1, "leaf0"));
        assert_ne!(draw(1, "leaf0"), draw(1, "leaf1"));
        assert_ne!(draw(1, "leaf0"), draw(2, "leaf0"));
    }
}
