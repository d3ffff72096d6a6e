//! What a packet costs in a buffer and on a wire.

use crate::spec::Framing;

/// IPv4 and TCP headers without options, bytes.
pub(crate) const IP_TCP_HEADERS: u32 = 40;
/// SACK option of `blocks` blocks with its two NOPs, bytes (RFC 2018 section 3).
pub(crate) const fn sack_option(blocks: u32) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

/// Ethernet preamble, start delimiter and inter-packet gap, bytes.
const PREAMBLE_AND_GAP: u32 = 20;
/// Ethernet header and FCS, bytes.
const HEADER_AND_FCS: u32 = 18;
/// Smallest Ethernet frame, bytes.
const MIN_FRAME: u32 = 64;

impl Framing {
    /// Bytes on the wire of an IP packet of `ip` bytes.
    pub(crate) fn wire_bytes(self, ip: u32) -> u16 {
        let wire = match self {
            Framing::Ethernet => (ip + HEADER_AND_FCS).max(MIN_FRAME) + PREAMBLE_AND_GAP,
            Framing::None => ip,
        };
        u16::try_from(wire).expect("the MTU is checked to keep every frame below 65,536 bytes")
    }

    /// Bytes of the wire's that no buffer holds.
    pub(crate) fn unbuffered_bytes(self) -> u16 {
        match self {
            Framing::Ethernet => PREAMBLE_AND_GAP as u16,
            Framing::None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_their_ethernet_size() {
        assert_eq!(Framing::Ethernet.wire_bytes(1500), 1538);
        assert_eq!(Framing::Ethernet.wire_bytes(40), 84);
        assert_eq!(Framing::None.wire_bytes(40), 40);
        assert_eq!(sack_option(3), 28);
    }
}
