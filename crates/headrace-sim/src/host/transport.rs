//! The flows that are active, and the packets between them and the network.

use std::collections::VecDeque;

use headrace_cc::sender::{Ecn, Sender as _, Start};
use headrace_cc::units::{Rate, Time};

use super::flow::{Flow, Origin, Tally, record_of};
use super::nic::{HostWire, Net, Sizes};
use super::outbox::Outbox;
use super::receiver::{Peer, Receiver};
use super::scoreboard::Scoreboard;
use super::sender::{AckIn, NewFlow, Sender};
use super::timers::{Timer, Timers, Wake};
use crate::net::fabric::{Drops, Fabric};
use crate::net::framing::IP_TCP_HEADERS;
use crate::net::packet::{Flags, Kind, Packet};
use crate::net::path::{Paths, transfer_time};
use crate::net::routing::flow_hash;
use crate::record::{FlowRecord, RateSample, SimError};
use crate::spec::{ClassSpec, RunSpec};
use crate::workload::FlowSpec;

/// Sources of a host's agenda, after its scheduled ports: starts of flows, timers.
pub(crate) const HOST_SOURCES: usize = 2;
/// See [`HOST_SOURCES`].
pub(crate) const STARTS: usize = 0;
const TIMERS: usize = 1;

/// A flow's slot names its sender's part of the engine above its place there.
const PLACE_BITS: u32 = 26;

/// A slot's part and place.
#[inline(always)]
pub(super) fn part_and_place(slot: u32) -> (usize, usize) {
    (sending_part(slot), place_of(slot))
}

/// The part of a slot's sender.
#[inline(always)]
pub(crate) fn sending_part(slot: u32) -> usize {
    (slot >> PLACE_BITS) as usize
}

/// A slot's place in its sender's part.
#[inline(always)]
fn place_of(slot: u32) -> usize {
    (slot & ((1 << PLACE_BITS) - 1)) as usize
}

/// The transport of the hosts of one part of the engine.
pub(crate) struct Transport {
    part: u32,
    pub(super) classes: Vec<(ClassSpec, Ecn)>,
    pub(super) sizes: Sizes,
    rate_flows: u64,
    rate_interval: Time,
    hosts: Vec<Host>,
    /// By place, as what follows: the flows that start here.
    flows: Vec<Flow>,
    origins: Vec<Origin>,
    senders: Vec<Option<Sender>>,
    boards: Vec<Scoreboard>,
    /// By the sender's part and place: the flows that end here.
    pub(super) receivers: Vec<Vec<Receiver>>,
    /// Places of flows that have ended within this part; packets may still be on their way.
    ended: VecDeque<u32>,
    /// Places of flows that have ended with a receiver elsewhere.
    pub(crate) ended_far: Vec<u32>,
    /// Places of which nothing is left.
    free: Vec<u32>,
    /// Reactive flows that start later.
    later: Vec<Option<FlowSpec>>,
    later_free: Vec<u32>,
    /// Flows that hosts have been told of and that have not started.
    expected: usize,
    pub(crate) tally: Tally,
    pub(crate) outbox: Outbox,
    pub(crate) error: Option<SimError>,
}

/// What a host has to do by itself.
struct Host {
    /// Its node, and the first of its [`HOST_SOURCES`] in the node's agenda.
    node: u32,
    first_source: u32,
    timers: Timers,
    /// The workload's flows that it will start.
    starts: VecDeque<FlowSpec>,
}

impl Transport {
    /// For part `part` of `parts`. `agendas`: of each host, its node and its first source there.
    pub(crate) fn new(
        spec: &RunSpec,
        agendas: Vec<(u32, u32)>,
        (part, parts): (usize, usize),
    ) -> Self {
        let host = |(node, first_source)| {
            let (timers, starts) = (Timers::default(), VecDeque::new());
            Host { node, first_source, timers, starts }
        };
        Transport {
            part: part as u32,
            classes: spec.classes.iter().map(|c| (c.clone(), c.scheme.ecn())).collect(),
            sizes: Sizes::new(&spec.network),
            rate_flows: spec.trace.rate_flows,
            rate_interval: spec.trace.rate_interval,
            hosts: agendas.into_iter().map(host).collect(),
            flows: Vec::new(),
            origins: Vec::new(),
            senders: Vec::new(),
            boards: Vec::new(),
            receivers: (0..parts).map(|_| Vec::new()).collect(),
            ended: VecDeque::new(),
            ended_far: Vec::new(),
            free: Vec::new(),
            later: Vec::new(),
            later_free: Vec::new(),
            expected: 0,
            tally: Tally::default(),
            outbox: Outbox::default(),
            error: None,
        }
    }

    /// Flows that have started and not ended.
    pub(crate) fn active_flows(&self) -> u64 {
        self.tally.flows_started - self.tally.flows_finished
    }

    /// No flow is active, and none has been called for.
    pub(crate) fn is_idle(&self) -> bool {
        self.active_flows() == 0 && self.expected == 0 && self.later_free.len() == self.later.len()
    }

    /// Tells a flow's host to start it when its time comes. Between turns.
    pub(crate) fn expect(&mut self, fabric: &mut Fabric, paths: &Paths, spec: FlowSpec) {
        let host = &mut self.hosts[paths.hosts[spec.src as usize].1 as usize];
        host.starts.push_back(spec);
        self.expected += 1;
        if host.starts.len() == 1 {
            let node = host.node as usize;
            fabric.schedule.set_own(node, host.first_source as usize + STARTS, spec.start);
            fabric.schedule.refresh(node);
        }
    }

    /// The next of the workload's flows starts at `host`.
    pub(crate) fn start_next(&mut self, net: &mut Net<'_>, host: usize, now: Time) {
        let host = &mut self.hosts[host];
        let Some(spec) = host.starts.pop_front() else { return };
        self.expected -= 1;
        let next = host.starts.front().map_or(Time::NEVER, |s| s.start);
        let source = host.first_source as usize + STARTS;
        net.fabric.schedule.set_own(host.node as usize, source, next);
        self.start_flow(net, spec, now);
    }

    /// Starts a flow at its source host, in its turn.
    pub(super) fn start_flow(&mut self, net: &mut Net<'_>, spec: FlowSpec, now: Time) {
        let place = self.claim_place(&mut net.fabric.drops);
        let (class, ecn) = &self.classes[usize::from(spec.class)];
        let (hash, ack_hash) = (
            flow_hash(spec.id, spec.src, spec.dst, false),
            flow_hash(spec.id, spec.src, spec.dst, true),
        );
        let (base_rtt, ideal) = self.times(net.paths, &spec, hash, ack_hash);
        let mss = u64::from(self.sizes.mss);
        let tail = (spec.size - (spec.size.div_ceil(mss) - 1) * mss) as u32;
        let first = net.paths.uplink(spec.src, spec.dst, hash);
        let law = class.scheme.start(&Start {
            now,
            mss,
            initial_window: u64::from(class.tcp.initial_window) * mss,
            line_rate: net.paths.kind(first.link).rate,
            base_rtt,
        });
        let cached = class.tcp.rto_min.max(base_rtt.saturating_mul(2));
        let initial_rto = class.tcp.rto_initial.unwrap_or(cached);
        let new = NewFlow {
            law,
            ecn: *ecn,
            size: spec.size,
            mss: self.sizes.mss,
            initial_rto,
            stop: spec.stop,
        };
        self.flows[place] = Flow {
            hash,
            port: first.local,
            dst: spec.dst as u16,
            class: spec.class,
            traced: spec.id < self.rate_flows,
            far: u32::from(net.paths.hosts[spec.dst as usize].0) != self.part,
            balance: 0,
        };
        let peer = Peer {
            id: spec.id,
            hash: ack_hash,
            port: net.paths.uplink(spec.dst, spec.src, ack_hash).local,
            tail,
            src: spec.src as u16,
            dst: spec.dst as u16,
            class: spec.class,
        };
        let slot = self.part << PLACE_BITS | place as u32;
        match u32::from(net.paths.hosts[spec.dst as usize].0) {
            here if here == self.part => self.meet(slot, peer),
            elsewhere => net.fabric.outgoing[elsewhere as usize].flows.push((slot, peer)),
        }
        self.origins[place] = Origin { spec, ideal, trace_at: Time::ZERO };
        let board = std::mem::replace(&mut self.boards[place], Scoreboard::new());
        let (class, _) = &self.classes[usize::from(spec.class)];
        self.senders[place] = Some(Sender::new(new, board, &class.tcp));
        self.tally.flows_started += 1;
        self.outbox.started(now);
        self.with_sender(net, place, now, |sender, class, wire| {
            sender.open(now, &class.tcp, wire);
        });
    }

    /// On an empty network: the round trip of a full segment and its ACK, and the completion time of
    /// the flow ([`Time::NEVER`] for one without an end).
    fn times(&self, paths: &Paths, spec: &FlowSpec, hash: u32, ack_hash: u32) -> (Time, Time) {
        let there = || paths.walk(spec.src, spec.dst, hash);
        let back = paths.walk(spec.dst, spec.src, ack_hash);
        let (full, bare) = (self.sizes.full, self.sizes.ack[0]);
        let return_time = transfer_time(back, 1, bare, bare);
        let base_rtt = transfer_time(there(), 1, full, full) + return_time;
        if spec.size == FlowSpec::UNBOUNDED {
            return (base_rtt, Time::NEVER);
        }
        let mss = u64::from(self.sizes.mss);
        let count = spec.size.div_ceil(mss);
        let tail = (spec.size - (count - 1) * mss) as u32;
        let last = self.sizes.framing.wire_bytes(tail + IP_TCP_HEADERS);
        let mut ideal = transfer_time(there(), count, full, last);
        if self.classes[usize::from(spec.class)].0.tcp.handshake {
            ideal += transfer_time(there(), 1, bare, bare) + return_time;
        }
        (base_rtt, ideal)
    }

    /// Whether a flow can be carried.
    pub(crate) fn check_flow(&self, paths: &Paths, spec: &FlowSpec) -> Result<(), SimError> {
        let hosts = paths.hosts.len() as u32;
        let problem = if spec.src >= hosts || spec.dst >= hosts {
            format!("names host {}, but there are {hosts}", spec.src.max(spec.dst))
        } else if spec.src == spec.dst {
            format!("goes from host {} to itself", spec.src)
        } else if spec.size == 0 {
            "has size 0".to_owned()
        } else if usize::from(spec.class) >= self.classes.len() {
            format!("names class {}, but there are {}", spec.class, self.classes.len())
        } else if spec.size != FlowSpec::UNBOUNDED
            && spec.size.div_ceil(u64::from(self.sizes.mss)) > u64::from(u32::MAX)
        {
            format!("has more than 2^32 segments of {} bytes", self.sizes.mss)
        } else {
            return Ok(());
        };
        Err(SimError::Spec(format!("flow {} {problem}", spec.id)))
    }

    /// A place for a new flow: that of one of which nothing is left anywhere, if there is one.
    fn claim_place(&mut self, drops: &mut Drops) -> usize {
        if let Some(place) = self.free.pop() {
            return place as usize;
        }
        self.take_drops(drops);
        for _ in 0..self.ended.len().min(4) {
            let Some(place) = self.ended.pop_front() else { break };
            let slot = self.part << PLACE_BITS | place;
            if self.owed(slot).is_some_and(|o| self.flows[place as usize].balance + o == 0) {
                return place as usize;
            }
            self.ended.push_back(place);
        }
        let (start, stop) = (Time::ZERO, Time::NEVER);
        let spec = FlowSpec { id: 0, start, stop, src: 0, dst: 0, size: 0, class: 0 };
        self.flows.push(Flow::default());
        self.origins.push(Origin { spec, ideal: Time::ZERO, trace_at: Time::ZERO });
        self.senders.push(None);
        self.boards.push(Scoreboard::new());
        assert!(self.flows.len() <= 1 << PLACE_BITS, "more than 67 million flows at once");
        self.flows.len() - 1
    }

    /// A flow begins whose receiver is here.
    pub(crate) fn meet(&mut self, slot: u32, peer: Peer) {
        let (part, place) = part_and_place(slot);
        let receivers = &mut self.receivers[part];
        if receivers.len() <= place {
            receivers.resize_with(place + 1, Receiver::default);
        }
        receivers[place].restart(peer);
    }

    #[inline(always)]
    pub(super) fn receiver(&mut self, slot: u32) -> &mut Receiver {
        let (part, place) = part_and_place(slot);
        &mut self.receivers[part][place]
    }

    /// Tells the flows that start here of their packets that were dropped; lays those of others aside.
    pub(crate) fn take_drops(&mut self, drops: &mut Drops) {
        for (slot, wire) in drops.untold.drain(..) {
            if sending_part(slot) == self.part as usize {
                self.flows[place_of(slot)].balance -= i64::from(wire);
            } else {
                drops.foreign.push((slot, wire));
            }
        }
    }

    /// A packet of a flow that starts here was dropped in another part.
    pub(crate) fn note_drop(&mut self, slot: u32, wire: u16) {
        self.flows[place_of(slot)].balance -= i64::from(wire);
    }

    /// What a receiver here owes: see `Flow::balance`. `None`: it may still send by itself.
    pub(crate) fn owed(&self, slot: u32) -> Option<i64> {
        let (part, place) = part_and_place(slot);
        let receiver = &self.receivers[part][place];
        (!receiver.holds()).then_some(receiver.balance)
    }

    /// Of a flow that has ended here: its receiving host, its slot, and its sender's balance.
    pub(crate) fn ended_flow(&self, place: u32) -> (u32, u32, i64) {
        let spec = &self.origins[place as usize].spec;
        (spec.dst, self.part << PLACE_BITS | place, self.flows[place as usize].balance)
    }

    /// Nothing is left of the flow at `place`.
    pub(crate) fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Each flow that started here, with its slot and the bytes that its sender's balance says.
    pub(crate) fn balances(&self) -> impl Iterator<Item = (&FlowSpec, u32, i64)> {
        let both = self.flows.iter().zip(&self.origins).enumerate();
        both.map(|(place, (flow, origin))| {
            (&origin.spec, self.part << PLACE_BITS | place as u32, flow.balance)
        })
    }

    /// Whether a receiver here counts `bytes` in its own balance.
    pub(crate) fn receiver_balance(&self, slot: u32) -> i64 {
        let (part, place) = part_and_place(slot);
        self.receivers[part].get(place).map_or(0, |r| r.balance)
    }

    /// A packet has reached its host.
    #[inline(never)]
    pub(crate) fn on_packet(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        self.tally.delivered_packets += 1;
        match packet.flags().kind() {
            Kind::Data => self.on_data(net, packet, now),
            Kind::Syn => self.on_syn(net, packet, now),
            Kind::Ack => self.on_ack(net, packet, now),
            Kind::SynAck => {
                let place = place_of(packet.flow());
                self.flows[place].balance -= i64::from(packet.wire());
                let opened = self.origins[place].spec.start;
                self.with_sender(net, place, now, |sender, class, wire| {
                    sender.opened(now, Some(opened), &class.tcp, wire);
                });
            }
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        let place = place_of(packet.flow());
        self.flows[place].balance -= i64::from(packet.wire());
        let extra = if packet.flags().has(Flags::EXTRA) { Some(net.fabric.carried) } else { None };
        let extra = extra.as_ref();
        let (ack, seq, ece) = (packet.ack(), packet.seq(), packet.flags().has(Flags::ECE));
        self.with_sender(net, place, now, |sender, class, wire| {
            sender.on_ack(AckIn { now, ack, seq, ece, extra }, &class.tcp, wire);
        });
        if self.flows[place].traced && self.origins[place].trace_at <= now {
            self.trace_rate(place, now);
        }
        self.finish_if_done(place, extra.and_then(|e| e.delivered_at), now);
    }

    /// Calls a flow's sender with the wire that it sends on, and minds its timer afterwards.
    #[inline(always)]
    fn with_sender(
        &mut self,
        net: &mut Net<'_>,
        place: usize,
        now: Time,
        act: impl FnOnce(&mut Sender, &ClassSpec, &mut HostWire<'_>),
    ) {
        let flow = &mut self.flows[place];
        let Some(sender) = self.senders[place].as_mut() else { return };
        let (class, ecn) = &self.classes[usize::from(flow.class)];
        let priority = class.priority;
        let mut wire = HostWire {
            fabric: net.fabric,
            tally: &mut self.tally,
            now,
            sizes: &self.sizes,
            flow,
            slot: self.part << PLACE_BITS | place as u32,
            data_flags: Flags::new(Kind::Data, priority).with(Flags::ECT, *ecn != Ecn::Off),
        };
        act(sender, class, &mut wire);
        let next = sender.next_deadline();
        debug_assert!(next >= now, "a timer in the past");
        if next < sender.timer_at {
            sender.spare_timer_at = sender.spare_timer_at.min(sender.timer_at);
            sender.timer_at = next;
            let spec = &self.origins[place].spec;
            let (host, flow) = (spec.src, spec.id);
            let timer = Timer { time: next, flow, wake: Wake::Sender, slot: place as u32 };
            self.push_timer(net, host, timer);
        }
    }

    #[inline(never)]
    pub(super) fn push_timer(&mut self, net: &mut Net<'_>, host: u32, timer: Timer) {
        let host = &mut self.hosts[net.paths.hosts[host as usize].1 as usize];
        if host.timers.push(timer) {
            let source = host.first_source as usize + TIMERS;
            net.fabric.schedule.set_own(host.node as usize, source, timer.time);
        }
    }

    /// The earliest timer of `host` has come. False if nobody waits for it any more.
    pub(crate) fn on_timer(&mut self, net: &mut Net<'_>, host: usize, now: Time) -> bool {
        let host = &mut self.hosts[host];
        let timer = host.timers.pop();
        let source = host.first_source as usize + TIMERS;
        net.fabric.schedule.set_own(host.node as usize, source, host.timers.next());
        let Some(timer) = timer else { return false };
        let place = place_of(timer.slot);
        match timer.wake {
            Wake::Start => {
                self.later_free.push(timer.slot);
                let Some(spec) = self.later[place].take() else { return false };
                self.start_flow(net, spec, now);
                true
            }
            Wake::Sender => {
                self.origins[place].spec.id == timer.flow && self.on_sender_timer(net, place, now)
            }
            Wake::Receiver => {
                self.receiver(timer.slot).peer.id == timer.flow
                    && self.on_receiver_timer(net, timer.slot, now)
            }
        }
    }

    fn on_sender_timer(&mut self, net: &mut Net<'_>, place: usize, now: Time) -> bool {
        let Some(sender) = self.senders[place].as_mut() else { return false };
        if sender.timer_at != now {
            return false;
        }
        sender.timer_at = std::mem::replace(&mut sender.spare_timer_at, Time::NEVER);
        let due = sender.next_deadline() <= now;
        self.with_sender(net, place, now, |sender, class, wire| {
            if due {
                sender.on_deadline(now, &class.tcp, wire);
            }
        });
        self.finish_if_done(place, None, now);
        due
    }

    /// A reactive flow that a host was asked for: starts it now or when its time comes.
    pub(super) fn start_reactive(&mut self, net: &mut Net<'_>, spec: FlowSpec, now: Time) {
        if let Err(error) = self.check_flow(net.paths, &spec) {
            self.error.get_or_insert(error);
        } else if spec.start <= now {
            self.start_flow(net, spec, now);
        } else {
            self.start_later(net, spec);
        }
    }

    fn start_later(&mut self, net: &mut Net<'_>, spec: FlowSpec) {
        let place = self.later_free.pop().unwrap_or_else(|| {
            self.later.push(None);
            self.later.len() as u32 - 1
        });
        self.later[place as usize] = Some(spec);
        let timer = Timer { time: spec.start, flow: spec.id, wake: Wake::Start, slot: place };
        self.push_timer(net, spec.src, timer);
    }

    #[cold]
    fn trace_rate(&mut self, place: usize, now: Time) {
        let origin = &mut self.origins[place];
        origin.trace_at = now.saturating_add(self.rate_interval);
        let Some(sender) = &self.senders[place] else { return };
        let allowance = sender.allowance();
        let srtt = sender.rtt.srtt().ps().max(1);
        let by_window = u128::from(allowance.window) * 8_000_000_000_000 / u128::from(srtt);
        let rate = allowance.rate.unwrap_or(Rate::from_bps(by_window.min(u64::MAX.into()) as u64));
        self.outbox.rate(RateSample {
            time: now,
            flow: origin.spec.id,
            cwnd: allowance.window,
            ssthresh: sender.law.ssthresh(),
            rate,
            rtt: sender.rtt.latest,
            in_flight: sender.in_flight(),
            acked: sender.acked_bytes(),
        });
    }

    #[inline(always)]
    fn finish_if_done(&mut self, place: usize, delivered_at: Option<Time>, now: Time) {
        if self.senders[place].as_ref().is_some_and(Sender::done) {
            self.finish(place, delivered_at, now);
        }
    }

    fn finish(&mut self, place: usize, delivered_at: Option<Time>, now: Time) {
        let Origin { spec, ideal, .. } = self.origins[place];
        let Some(sender) = self.senders[place].take() else { return };
        let stopped = spec.stop != Time::NEVER && delivered_at.is_none();
        let fct = delivered_at.map(|at| at - spec.start);
        let fault = match fct {
            None if !stopped => Some("ended without its delivery time".to_owned()),
            Some(fct) if fct < ideal => {
                Some(format!("took {fct}, less than {ideal} on an empty network"))
            }
            _ => None,
        };
        if let Some(fault) = fault {
            let text = format!("flow {} {fault}", spec.id);
            self.error.get_or_insert(SimError::Invariant(text));
        }
        let record = record_of(&self.origins[place], &sender, fct);
        self.outbox.ended(now, record);
        self.boards[place] = sender.board;
        self.boards[place].release();
        if self.flows[place].far {
            self.ended_far.push(place as u32);
        } else {
            self.ended.push_back(place as u32);
        }
        self.tally.flows_finished += 1;
    }

    /// Records of the flows that have not ended, by id.
    pub(crate) fn unfinished(&self) -> Vec<FlowRecord> {
        let both = self.origins.iter().zip(&self.senders);
        let mut records: Vec<FlowRecord> =
            both.filter_map(|(o, s)| s.as_ref().map(|s| record_of(o, s, None))).collect();
        records.sort_unstable_by_key(|r| r.id);
        records
    }

    /// Recounts every scoreboard; the id of a flow whose counts are off.
    pub(crate) fn inconsistent_flow(&self) -> Option<u64> {
        let off = |s: &Option<Sender>| s.as_ref().is_some_and(|s| !s.board.consistent());
        self.senders.iter().position(off).map(|place| self.origins[place].spec.id)
    }
}
