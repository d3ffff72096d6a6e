//! Links between parts of the engine: a packet whose transmission is over leaves the sending part by
//! mail and joins the receiving part's half of the wire.

use headrace_cc::units::Time;

use super::fabric::Fabric;
use super::packet::{Extra, Flags, Packet};
use crate::host::receiver::Peer;

/// What one part has for another.
#[derive(Default)]
pub(crate) struct Mail {
    /// Packets, each with the receiving part's number of its link; of one link in their order.
    packets: Vec<(u32, Packet)>,
    /// The extras of those that have one, in their order.
    extras: Vec<Extra>,
    /// Flows that have started, each with its slot.
    pub(crate) flows: Vec<(u32, Peer)>,
}

impl Mail {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.flows.is_empty()
    }

    /// Adds what `other` holds behind what is here, and empties it.
    pub(crate) fn append(&mut self, other: &mut Mail) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        self.packets.append(&mut other.packets);
        self.extras.append(&mut other.extras);
        self.flows.append(&mut other.flows);
    }
}

/// The other half of a link that leads out of the part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Far {
    pub(crate) part: u16,
    /// Its number there.
    pub(crate) id: u32,
}

impl Fabric {
    /// Puts every packet whose transmission ended before `before` in the mail. Every event of the
    /// part up to there has been handled.
    pub(crate) fn send_mail(&mut self, before: Time) {
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.retain(|&id| self.mail_link(id as usize, before));
        leaving.append(&mut self.leaving);
        self.leaving = leaving;
    }

    /// When the first transmission of a packet that leaves the part ends; [`Time::NEVER`]: there is
    /// none.
    pub(crate) fn next_leaving(&self) -> Time {
        let done = self.leaving.iter().map(|&id| {
            let port = &self.ports[id as usize];
            port.next_arrival() - self.kinds[usize::from(port.kind)].delay
        });
        done.min().unwrap_or(Time::NEVER)
    }

    /// False once nothing is left on the wire.
    fn mail_link(&mut self, id: usize, before: Time) -> bool {
        let accounted = self.ports[id].lit && self.details[id].scheduled.is_none();
        if accounted {
            self.settle(id, before);
        }
        let (port, detail) = (&mut self.ports[id], &mut self.details[id]);
        let delay = self.kinds[usize::from(port.kind)].delay;
        let far = self.far[id - self.first_out];
        let mail = &mut self.outgoing[usize::from(far.part)];
        while !port.wire.is_empty() && port.wire.get(0).arrival() - delay < before {
            let packet = port.wire.pop();
            port.crossed_packets += 1;
            port.crossed_wire_bytes += u64::from(packet.wire());
            if packet.flags().has(Flags::EXTRA) {
                mail.extras.push(detail.extras.pop_front().unwrap_or_default());
            }
            mail.packets.push((far.id, packet));
        }
        if accounted && detail.unsettled == 0 {
            port.lit = !self.pools[detail.queue.pool as usize].lets_go_dark();
        }
        !self.ports[id].wire.is_empty()
    }

    /// Takes in the packets that another part sent.
    pub(crate) fn receive_mail(&mut self, mail: &mut Mail) {
        let mut extras = mail.extras.drain(..);
        for (id, packet) in mail.packets.drain(..) {
            let id = id as usize;
            if packet.flags().has(Flags::EXTRA) {
                self.details[id].extras.extend(extras.next());
            }
            let port = &mut self.ports[id];
            if port.wire.is_empty() {
                self.schedule.announce(port.receiver as usize, id, packet.arrival());
            }
            port.wire.push(packet);
        }
    }
}
