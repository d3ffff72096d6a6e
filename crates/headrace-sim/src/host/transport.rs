//! The flows that are active, and the packets between them and the network.

use std::collections::VecDeque;

use headrace_cc::sender::{Ecn, Sender as _, Start};
use headrace_cc::units::{Rate, Time};

use super::flow::{Flow, Origin, Outbox, Tally, record_of};
use super::nic::{HostWire, Net, Sizes, inject};
use super::receiver::{AckOut, Receiver};
use super::scoreboard::Scoreboard;
use super::sender::{AckIn, NewFlow, Sender};
use super::timers::{Timer, Timers, Wake};
use crate::net::fabric::fingerprint;
use crate::net::framing::IP_TCP_HEADERS;
use crate::net::packet::{Flags, Kind, Packet};
use crate::net::path::transfer_time;
use crate::net::routing::flow_hash;
use crate::record::{FlowRecord, RateSample, SimError};
use crate::spec::{ClassSpec, RunSpec};
use crate::workload::{Delivered, FlowSpec, Workload};

/// Every host's transport.
pub(crate) struct Transport<W> {
    pub(crate) workload: W,
    classes: Vec<(ClassSpec, Ecn)>,
    sizes: Sizes,
    rate_flows: u64,
    rate_interval: Time,
    /// Each host's timers; the local source of host 0's.
    timers: Vec<Timers>,
    first_timer_source: usize,
    flows: Vec<Flow>,
    origins: Vec<Origin>,
    senders: Vec<Option<Sender>>,
    boards: Vec<Scoreboard>,
    receivers: Vec<Receiver>,
    free: VecDeque<u32>,
    /// Reactive flows that start later.
    later: Vec<Option<FlowSpec>>,
    later_free: Vec<u32>,
    pub(crate) tally: Tally,
    pub(crate) outbox: Outbox,
    pub(crate) error: Option<SimError>,
}

impl<W: Workload> Transport<W> {
    pub(crate) fn new(
        spec: &RunSpec,
        hosts: usize,
        first_timer_source: usize,
        workload: W,
    ) -> Self {
        Transport {
            workload,
            classes: spec.classes.iter().map(|c| (c.clone(), c.scheme.ecn())).collect(),
            sizes: Sizes::new(&spec.network),
            rate_flows: spec.trace.rate_flows,
            rate_interval: spec.trace.rate_interval,
            timers: std::iter::repeat_with(Timers::default).take(hosts).collect(),
            first_timer_source,
            flows: Vec::new(),
            origins: Vec::new(),
            senders: Vec::new(),
            boards: Vec::new(),
            receivers: Vec::new(),
            free: VecDeque::new(),
            later: Vec::new(),
            later_free: Vec::new(),
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
        self.active_flows() == 0 && self.later_free.len() == self.later.len()
    }

    /// Starts a flow at its source host.
    pub(crate) fn start_flow(&mut self, net: &mut Net<'_>, spec: FlowSpec, now: Time) {
        if let Err(error) = self.check_flow(&spec, now) {
            self.error.get_or_insert(error);
            return;
        }
        let slot = self.claim_slot();
        let (class, ecn) = &self.classes[usize::from(spec.class)];
        let (hash, ack_hash) = (
            flow_hash(spec.id, spec.src, spec.dst, false),
            flow_hash(spec.id, spec.src, spec.dst, true),
        );
        let (base_rtt, ideal) = self.times(net, &spec, hash, ack_hash);
        let mss = u64::from(self.sizes.mss);
        let tail = (spec.size - (spec.size.div_ceil(mss) - 1) * mss) as u32;
        let first_port = net.paths.uplink(spec.src, spec.dst, hash);
        let law = class.scheme.start(&Start {
            now,
            mss,
            initial_window: u64::from(class.tcp.initial_window) * mss,
            line_rate: net.fabric.kinds[usize::from(net.fabric.ports[first_port].kind)].rate,
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
        let flow = &mut self.flows[slot];
        *flow = Flow {
            hash,
            ack_hash,
            src: spec.src as u16,
            dst: spec.dst as u16,
            class: spec.class,
            generation: flow.generation,
            active: true,
            traced: spec.id < self.rate_flows,
            tail,
        };
        self.origins[slot] = Origin { spec, ideal, trace_at: Time::ZERO };
        let board = std::mem::replace(&mut self.boards[slot], Scoreboard::new());
        self.senders[slot] = Some(Sender::new(new, board, &class.tcp));
        self.tally.flows_started += 1;
        self.tally.peak_active = self.tally.peak_active.max(self.active_flows());
        self.with_sender(net, slot, now, |sender, class, wire| {
            sender.open(now, &class.tcp, wire);
        });
    }

    /// On an empty network: the round trip of a full segment and its ACK, and the completion time of
    /// the flow ([`Time::NEVER`] for one without an end).
    fn times(&self, net: &Net<'_>, spec: &FlowSpec, hash: u32, ack_hash: u32) -> (Time, Time) {
        let there = || net.paths.links(spec.src, spec.dst, hash);
        let back = net.paths.links(spec.dst, spec.src, ack_hash);
        let (full, bare) = (self.sizes.full, self.sizes.ack[0]);
        let return_time = transfer_time(net.fabric, back, 1, bare, bare);
        let base_rtt = transfer_time(net.fabric, there(), 1, full, full) + return_time;
        if spec.size == FlowSpec::UNBOUNDED {
            return (base_rtt, Time::NEVER);
        }
        let mss = u64::from(self.sizes.mss);
        let count = spec.size.div_ceil(mss);
        let tail = (spec.size - (count - 1) * mss) as u32;
        let last = self.sizes.framing.wire_bytes(tail + IP_TCP_HEADERS);
        let mut ideal = transfer_time(net.fabric, there(), count, full, last);
        if self.classes[usize::from(spec.class)].0.tcp.handshake {
            ideal += transfer_time(net.fabric, there(), 1, bare, bare) + return_time;
        }
        (base_rtt, ideal)
    }

    fn check_flow(&self, spec: &FlowSpec, now: Time) -> Result<(), SimError> {
        let hosts = self.timers.len() as u32;
        let problem = if spec.src >= hosts || spec.dst >= hosts {
            format!("names host {}, but there are {hosts}", spec.src.max(spec.dst))
        } else if spec.src == spec.dst {
            format!("goes from host {} to itself", spec.src)
        } else if spec.size == 0 {
            "has size 0".to_owned()
        } else if usize::from(spec.class) >= self.classes.len() {
            format!("names class {}, but there are {}", spec.class, self.classes.len())
        } else if spec.start < now {
            format!("starts at {}, before the one ahead of it (now {now})", spec.start)
        } else if spec.size != FlowSpec::UNBOUNDED
            && spec.size.div_ceil(u64::from(self.sizes.mss)) > u64::from(u32::MAX)
        {
            format!("has more than 2^32 segments of {} bytes", self.sizes.mss)
        } else {
            return Ok(());
        };
        Err(SimError::Spec(format!("flow {} {problem}", spec.id)))
    }

    fn claim_slot(&mut self) -> usize {
        // The slot that has been free longest, so that its generations return as late as they can.
        if let Some(slot) = self.free.pop_front() {
            let flow = &mut self.flows[slot as usize];
            flow.generation = flow.generation.wrapping_add(1);
            return slot as usize;
        }
        let (start, stop) = (Time::ZERO, Time::NEVER);
        let spec = FlowSpec { id: 0, start, stop, src: 0, dst: 0, size: 0, class: 0 };
        self.flows.push(Flow::default());
        self.origins.push(Origin { spec, ideal: Time::ZERO, trace_at: Time::ZERO });
        self.senders.push(None);
        self.boards.push(Scoreboard::new());
        self.receivers.push(Receiver::default());
        self.flows.len() - 1
    }

    /// A packet has reached its host.
    #[inline(never)]
    pub(crate) fn on_packet(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        self.tally.delivered_packets += 1;
        self.tally.delivered_fingerprint =
            self.tally.delivered_fingerprint.wrapping_add(fingerprint(packet));
        let flow = &self.flows[packet.flow as usize];
        if flow.generation != packet.generation || !flow.active {
            return;
        }
        match packet.flags.kind() {
            Kind::Data => self.on_data(net, packet, now),
            Kind::Ack => self.on_ack(net, packet, now),
            Kind::Syn => self.on_syn(net, packet, now),
            Kind::SynAck => {
                let opened = self.origins[packet.flow as usize].spec.start;
                self.with_sender(net, packet.flow as usize, now, |sender, class, wire| {
                    sender.opened(now, Some(opened), &class.tcp, wire);
                });
            }
        }
    }

    #[inline(always)]
    fn on_data(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        let slot = packet.flow as usize;
        let flow = &self.flows[slot];
        let receiver = &mut self.receivers[slot];
        if receiver.generation != flow.generation || !receiver.live {
            receiver.restart(flow.generation);
        }
        let (class, ecn) = &self.classes[usize::from(flow.class)];
        let arrival = receiver.on_data(packet, now, &class.tcp, *ecn);
        if arrival.fresh {
            let last = packet.flags.has(Flags::LAST);
            self.tally.goodput_bytes += u64::from(if last { flow.tail } else { self.sizes.mss });
        }
        if let Some(ack) = arrival.first {
            self.send_ack(net, slot, ack, now);
        }
        if let Some(ack) = arrival.ack {
            self.send_ack(net, slot, ack, now);
        } else {
            self.arm_receiver(net, slot);
        }
        if arrival.completed {
            self.on_completed(net, slot, now);
        }
    }

    #[inline(never)]
    fn send_ack(&mut self, net: &mut Net<'_>, slot: usize, ack: AckOut, now: Time) {
        let flow = &self.flows[slot];
        let (mut blocks, has_extra) = (0, self.receivers[slot].has_extra());
        if has_extra {
            let extra = self.receivers[slot].extra();
            blocks = extra.sack.iter().filter(|(start, end)| start < end).count();
            net.fabric.carried = extra;
        }
        let priority = self.classes[usize::from(flow.class)].0.priority;
        let flags =
            Flags::new(Kind::Ack, priority).with(Flags::ECE, ack.ece).with(Flags::EXTRA, has_extra);
        let packet = Packet {
            arrival: Time::ZERO,
            flow: slot as u32,
            seq: ack.seq,
            ack: ack.ack,
            hash: flow.ack_hash,
            dst: flow.src,
            wire: self.sizes.ack[blocks],
            generation: flow.generation,
            flags,
        };
        let port = net.paths.uplink(flow.dst.into(), flow.src.into(), flow.ack_hash);
        inject(&mut self.tally, net.fabric, port, packet, now);
    }

    /// A SYN needs no state at the receiver: each is answered.
    fn on_syn(&mut self, net: &mut Net<'_>, syn: Packet, now: Time) {
        let flow = &self.flows[syn.flow as usize];
        let answer = Packet {
            arrival: Time::ZERO,
            hash: flow.ack_hash,
            dst: flow.src,
            wire: self.sizes.ack[0],
            flags: Flags::new(Kind::SynAck, syn.flags.priority()),
            ..syn
        };
        let port = net.paths.uplink(flow.dst.into(), flow.src.into(), flow.ack_hash);
        inject(&mut self.tally, net.fabric, port, answer, now);
    }

    #[inline(never)]
    fn on_ack(&mut self, net: &mut Net<'_>, packet: Packet, now: Time) {
        let slot = packet.flow as usize;
        let extra = if packet.flags.has(Flags::EXTRA) { Some(net.fabric.carried) } else { None };
        let extra = extra.as_ref();
        let (ack, seq, ece) = (packet.ack, packet.seq, packet.flags.has(Flags::ECE));
        self.with_sender(net, slot, now, |sender, class, wire| {
            sender.on_ack(AckIn { now, ack, seq, ece, extra }, &class.tcp, wire);
        });
        if self.flows[slot].traced && self.origins[slot].trace_at <= now {
            self.trace_rate(net, slot, now);
        }
        self.finish_if_done(net, slot, extra.and_then(|e| e.delivered_at), now);
    }

    /// Calls a flow's sender with the wire that it sends on, and minds its timer afterwards.
    #[inline(always)]
    fn with_sender(
        &mut self,
        net: &mut Net<'_>,
        slot: usize,
        now: Time,
        act: impl FnOnce(&mut Sender, &ClassSpec, &mut HostWire<'_>),
    ) {
        let flow = &self.flows[slot];
        let Some(sender) = self.senders[slot].as_mut() else { return };
        let (class, ecn) = &self.classes[usize::from(flow.class)];
        let priority = class.priority;
        let mut wire = HostWire {
            port: net.paths.uplink(flow.src.into(), flow.dst.into(), flow.hash),
            fabric: net.fabric,
            tally: &mut self.tally,
            now,
            sizes: &self.sizes,
            flow,
            slot: slot as u32,
            data_flags: Flags::new(Kind::Data, priority).with(Flags::ECT, *ecn != Ecn::Off),
        };
        act(sender, class, &mut wire);
        let next = sender.next_deadline();
        if next < sender.timer_at {
            sender.timer_at = next;
            let host = flow.src.into();
            let timer = Timer {
                time: next,
                flow: self.origins[slot].spec.id,
                wake: Wake::Sender,
                slot: slot as u32,
                generation: flow.generation,
            };
            self.push_timer(net, host, timer);
        }
    }

    #[inline(never)]
    fn push_timer(&mut self, net: &mut Net<'_>, host: u32, timer: Timer) {
        if self.timers[host as usize].push(timer) {
            net.fabric.schedule(self.first_timer_source + host as usize, timer.time);
        }
    }

    fn arm_receiver(&mut self, net: &mut Net<'_>, slot: usize) {
        let flow = &self.flows[slot];
        let receiver = &mut self.receivers[slot];
        if receiver.ack_deadline < receiver.timer_at {
            receiver.timer_at = receiver.ack_deadline;
            let timer = Timer {
                time: receiver.ack_deadline,
                flow: self.origins[slot].spec.id,
                wake: Wake::Receiver,
                slot: slot as u32,
                generation: flow.generation,
            };
            self.push_timer(net, flow.dst.into(), timer);
        }
    }

    /// The earliest timer of `host` has come.
    pub(crate) fn on_timer(&mut self, net: &mut Net<'_>, host: usize, now: Time) {
        let timer = self.timers[host].pop();
        net.fabric.schedule(self.first_timer_source + host, self.timers[host].next());
        let Some(timer) = timer else { return };
        let slot = timer.slot as usize;
        if timer.wake == Wake::Start {
            self.later_free.push(timer.slot);
            if let Some(spec) = self.later[slot].take() {
                self.start_flow(net, spec, now);
            }
            return;
        }
        let flow = &self.flows[slot];
        if flow.generation != timer.generation || !flow.active {
            return;
        }
        match timer.wake {
            Wake::Sender => self.on_sender_timer(net, slot, now),
            Wake::Receiver | Wake::Start => self.on_receiver_timer(net, slot, now),
        }
    }

    fn on_sender_timer(&mut self, net: &mut Net<'_>, slot: usize, now: Time) {
        let Some(sender) = self.senders[slot].as_mut() else { return };
        if sender.timer_at != now {
            return;
        }
        sender.timer_at = Time::NEVER;
        let due = sender.next_deadline() <= now;
        self.with_sender(net, slot, now, |sender, class, wire| {
            if due {
                sender.on_deadline(now, &class.tcp, wire);
            }
        });
        self.finish_if_done(net, slot, None, now);
    }

    fn on_receiver_timer(&mut self, net: &mut Net<'_>, slot: usize, now: Time) {
        let receiver = &mut self.receivers[slot];
        if receiver.generation != self.flows[slot].generation || receiver.timer_at != now {
            return;
        }
        receiver.timer_at = Time::NEVER;
        if receiver.ack_deadline <= now {
            let ack = receiver.flush();
            self.send_ack(net, slot, ack, now);
        } else {
            self.arm_receiver(net, slot);
        }
    }

    /// A flow has arrived whole: a reactive one may call for another at the host that it reached.
    fn on_completed(&mut self, net: &mut Net<'_>, slot: usize, now: Time) {
        let spec = self.origins[slot].spec;
        if !self.classes[usize::from(spec.class)].0.reactive {
            return;
        }
        let delivered =
            Delivered { id: spec.id, class: spec.class, src: spec.src, dst: spec.dst, now };
        let Some(next) = self.workload.on_delivered(&delivered) else { return };
        if next.src != spec.dst {
            let text = format!("flow {} answers flow {} from another host", next.id, spec.id);
            self.error.get_or_insert(SimError::Spec(text));
        } else if next.start <= now {
            self.start_flow(net, next, now);
        } else {
            self.start_later(net, next);
        }
    }

    fn start_later(&mut self, net: &mut Net<'_>, spec: FlowSpec) {
        let place = self.later_free.pop().unwrap_or_else(|| {
            self.later.push(None);
            self.later.len() as u32 - 1
        });
        self.later[place as usize] = Some(spec);
        let timer = Timer {
            time: spec.start,
            flow: spec.id,
            wake: Wake::Start,
            slot: place,
            generation: 0,
        };
        self.push_timer(net, spec.src, timer);
    }

    #[cold]
    fn trace_rate(&mut self, net: &mut Net<'_>, slot: usize, now: Time) {
        let origin = &mut self.origins[slot];
        origin.trace_at = now + self.rate_interval;
        let Some(sender) = &self.senders[slot] else { return };
        let allowance = sender.allowance();
        let srtt = sender.rtt.srtt().ps().max(1);
        let by_window = u128::from(allowance.window) * 8_000_000_000_000 / u128::from(srtt);
        let rate = allowance.rate.unwrap_or(Rate::from_bps(by_window.min(u64::MAX.into()) as u64));
        self.outbox.at = now;
        net.fabric.alarm = net.fabric.alarm.min(now);
        self.outbox.rates.push(RateSample {
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
    fn finish_if_done(
        &mut self,
        net: &mut Net<'_>,
        slot: usize,
        delivered_at: Option<Time>,
        now: Time,
    ) {
        if self.senders[slot].as_ref().is_some_and(Sender::done) {
            self.finish(net, slot, delivered_at, now);
        }
    }

    fn finish(&mut self, net: &mut Net<'_>, slot: usize, delivered_at: Option<Time>, now: Time) {
        let Origin { spec, ideal, .. } = self.origins[slot];
        let Some(sender) = self.senders[slot].take() else { return };
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
        self.flows[slot].active = false;
        let record = record_of(&self.origins[slot], &sender, fct);
        self.outbox.at = now;
        net.fabric.alarm = net.fabric.alarm.min(now);
        self.outbox.flows.push(record);
        self.boards[slot] = sender.board;
        self.boards[slot].release();
        self.free.push_back(slot as u32);
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
        self.senders.iter().position(off).map(|slot| self.origins[slot].spec.id)
    }
}
