//! The sending end of a flow: TCP's loss recovery and timers around a law (RFC 6675, 6298, 8985).
//!
//! The sender decides; `Outgoing` carries its segments away, so that nothing here knows of links.

use headrace_cc::sender::{Ack, Allowance, Ecn, Loss, Sender as _, SenderLaw, Timeout};
use headrace_cc::units::Time;

use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use crate::net::packet::Extra;
use crate::spec::TcpSpec;

/// How the flow is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A SYN is on its way.
    Opening,
    /// No loss known.
    Open,
    /// Repairing losses found by SACK, until `una` reaches the point.
    Recovery(u32),
    /// Repairing after a timeout, until `una` reaches the point.
    Loss(u32),
}

/// A segment to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentOut {
    pub(crate) seq: u32,
    pub(crate) payload: u32,
    pub(crate) last: bool,
    pub(crate) cwr: bool,
}

/// Takes what a sender sends.
pub(crate) trait Outgoing {
    /// A segment of data.
    fn segment(&mut self, segment: SegmentOut);
    /// A SYN.
    fn syn(&mut self);
}

/// An acknowledgement as the sender reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckIn<'a> {
    pub(crate) now: Time,
    pub(crate) ack: u32,
    pub(crate) seq: u32,
    pub(crate) ece: bool,
    pub(crate) extra: Option<&'a Extra>,
}

/// What a flow counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) acks: u64,
    pub(crate) marked_acks: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) resent_bytes: u64,
    pub(crate) timeouts: u32,
    pub(crate) recoveries: u32,
}

/// A flow's sender.
pub(crate) struct Sender {
    pub(crate) law: SenderLaw,
    allowance: Allowance,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    phase: Phase,
    ecn: Ecn,
    /// Segments of the flow.
    total: u32,
    mss: u32,
    /// Payload of the last segment.
    tail: u32,
    /// When it last stopped, it was for the window.
    window_limited: bool,
    /// RFC 3168: the window was reduced, tell the receiver.
    cwr: bool,
    cwr_point: u32,
    /// RFC 6675's rescue retransmission of this recovery is still to be had.
    rescue: bool,
    /// Recovery begins: the first lost segment is sent whatever is in flight (RFC 6675 section 5,
    /// step 4.3).
    repair_now: bool,
    /// It was stopped before its data was all sent.
    cut: bool,
    /// A tail loss probe is out: `next` when it was sent, and whether it repeated a segment.
    probe: Option<(u32, bool)>,
    /// Pacing: the next segment may leave at this time.
    pace_at: Time,
    rto_at: Time,
    probe_at: Time,
    /// Nothing new is sent from here on.
    stop_at: Time,
    /// Time of its entry among the host's timers; [`Time::NEVER`]: none.
    pub(crate) timer_at: Time,
    /// Time of a later entry that is still among them; [`Time::NEVER`]: none is known.
    pub(crate) spare_timer_at: Time,
    pub(crate) counters: Counters,
}

/// What a new flow's sender is made from.
pub(crate) struct NewFlow {
    pub(crate) law: SenderLaw,
    pub(crate) ecn: Ecn,
    pub(crate) size: u64,
    pub(crate) mss: u32,
    pub(crate) initial_rto: Time,
    pub(crate) stop: Time,
}

impl Sender {
    /// A sender for `flow`, in the memory of `board`.
    pub(crate) fn new(flow: NewFlow, mut board: Scoreboard, tcp: &TcpSpec) -> Self {
        board.reset();
        let mss = u64::from(flow.mss);
        let total = flow.size.div_ceil(mss).min(u64::from(u32::MAX));
        let tail = flow.size - (flow.size.div_ceil(mss) - 1) * mss;
        Sender {
            allowance: flow.law.allowance(),
            law: flow.law,
            board,
            rtt: RttEstimator::new(flow.initial_rto, tcp),
            phase: Phase::Open,
            ecn: flow.ecn,
            total: total as u32,
            mss: flow.mss,
            tail: tail as u32,
            window_limited: false,
            cwr: false,
            cwr_point: 0,
            rescue: false,
            repair_now: false,
            cut: false,
            probe: None,
            pace_at: Time::ZERO,
            rto_at: Time::NEVER,
            probe_at: Time::NEVER,
            stop_at: flow.stop,
            timer_at: Time::NEVER,
            spare_timer_at: Time::NEVER,
            counters: Counters::default(),
        }
    }

    /// Starts: with a SYN, or with the first window.
    pub(crate) fn open(&mut self, now: Time, tcp: &TcpSpec, out: &mut impl Outgoing) {
        if tcp.handshake {
            self.phase = Phase::Opening;
            self.rto_at = now.saturating_add(self.rtt.rto());
            out.syn();
        } else {
            self.send(now, tcp, out);
        }
    }

    /// The SYN was answered; `sent` is when it left, unless it was repeated.
    pub(crate) fn opened(
        &mut self,
        now: Time,
        sent: Option<Time>,
        tcp: &TcpSpec,
        out: &mut impl Outgoing,
    ) {
        if self.phase != Phase::Opening {
            return;
        }
        if let Some(sent) = sent.filter(|_| self.counters.timeouts == 0) {
            self.rtt.sample(now.since(sent), tcp);
        }
        self.rtt.end_backoff(tcp);
        self.phase = Phase::Open;
        self.rto_at = Time::NEVER;
        self.send(now, tcp, out);
        self.schedule_probe(now, tcp);
    }

    /// Whether everything it is to send has been acknowledged.
    #[inline(always)]
    pub(crate) fn done(&self) -> bool {
        self.board.una >= self.total
    }

    /// Payload bytes of `segments` segments that end with segment `end - 1`.
    #[inline(always)]
    fn bytes(&self, segments: u32, end: u32) -> u64 {
        let whole = u64::from(segments) * u64::from(self.mss);
        if end == self.total && segments > 0 {
            whole - u64::from(self.mss - self.tail)
        } else {
            whole
        }
    }

    /// Payload bytes acknowledged cumulatively.
    pub(crate) fn acked_bytes(&self) -> u64 {
        self.bytes(self.board.una, self.board.una)
    }

    /// Payload bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        u64::from(self.board.pipe) * u64::from(self.mss)
    }

    pub(crate) fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// An acknowledgement has arrived. Sends what it allows.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: AckIn<'_>, tcp: &TcpSpec, out: &mut impl Outgoing) {
        self.counters.acks += 1;
        self.counters.marked_acks += u64::from(ack.ece);
        let sent = self.board.sent(ack.seq);
        let advanced = ack.ack > self.board.una;
        let ends = ack.ack.min(self.board.next);
        let mut fresh = self.board.acknowledge(ends);
        if let Some(extra) = ack.extra {
            fresh += self.take_sack(extra, ack, tcp);
        }
        let rtt = sent.filter(|s| s.once && fresh > 0).map(|s| ack.now.since(s.at));
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, tcp);
        } else if advanced {
            self.rtt.end_backoff(tcp);
        }
        self.settle_probe(ack, advanced);
        self.leave_recovery(ack.now);
        self.note_echo(ack.ece);
        let acked_bytes = self.bytes(fresh, self.board.una);
        let mss = u64::from(self.mss);
        self.law.on_ack(&Ack {
            now: ack.now,
            rtt,
            srtt: self.rtt.srtt(),
            acked_bytes,
            marked_bytes: if ack.ece { acked_bytes } else { 0 },
            ece: ack.ece,
            una: u64::from(self.board.una) * mss,
            next: u64::from(self.board.next) * mss,
            in_flight: self.in_flight(),
            delivered: u64::from(self.board.delivered) * mss,
            sent_at: sent.map_or(ack.now, |s| s.at),
            app_limited: !self.window_limited,
            in_recovery: self.phase != Phase::Open,
            hops: &[],
        });
        self.allowance = self.law.allowance();
        if advanced {
            self.restart_rto(ack.now);
        }
        self.send(ack.now, tcp, out);
        self.schedule_probe(ack.now, tcp);
    }

    /// SACK blocks: what they deliver, and what they show to be lost.
    #[inline(never)]
    fn take_sack(&mut self, extra: &Extra, ack: AckIn<'_>, tcp: &TcpSpec) -> u32 {
        let blocks = extra.sack.iter().filter(|(start, end)| start < end);
        let fresh = blocks.map(|&(start, end)| self.board.sack(start, end)).sum();
        let found = self.board.find_lost(tcp.dup_threshold as usize);
        if found > 0 {
            self.enter_recovery(ack.now);
        }
        fresh
    }

    fn enter_recovery(&mut self, now: Time) {
        if self.phase != Phase::Open {
            return;
        }
        self.phase = Phase::Recovery(self.board.next);
        self.rescue = true;
        self.repair_now = true;
        self.probe_at = Time::NEVER;
        self.counters.recoveries += 1;
        self.tell_loss(now);
    }

    fn tell_loss(&mut self, now: Time) {
        let mss = u64::from(self.mss);
        self.law.on_loss(&Loss {
            now,
            lost_bytes: u64::from(self.board.lost) * mss,
            flight_size: u64::from(self.board.outstanding()) * mss,
            una: u64::from(self.board.una) * mss,
            next: u64::from(self.board.next) * mss,
        });
        self.cwr |= self.ecn == Ecn::Classic;
        self.allowance = self.law.allowance();
    }

    /// What was sent during the repair may have been lost too: that is a recovery of its own.
    fn leave_recovery(&mut self, now: Time) {
        if let Phase::Recovery(point) | Phase::Loss(point) = self.phase
            && self.board.una >= point
        {
            self.phase = Phase::Open;
            self.repair_now = false;
            if self.board.first_is_lost() {
                self.enter_recovery(now);
            }
        }
    }

    /// RFC 3168 6.1.2: an echo reduces the window once per window of data, and CWR, which travels with
    /// the first new segment, says so.
    #[inline(always)]
    fn note_echo(&mut self, ece: bool) {
        if ece
            && self.ecn == Ecn::Classic
            && (self.board.una > self.cwr_point || self.cwr_point == 0)
        {
            self.cwr = true;
            self.cwr_point = self.board.next;
        }
    }

    /// Sends what window, pace and data allow: lost segments first, then new ones.
    #[inline(never)]
    pub(crate) fn send(&mut self, now: Time, tcp: &TcpSpec, out: &mut impl Outgoing) {
        self.window_limited = false;
        if self.phase == Phase::Opening {
            return;
        }
        let mss = u64::from(self.mss);
        let room_for = |pipe: u32, window: u64| (u64::from(pipe) + 1) * mss <= window || pipe == 0;
        if self.holds_for_burst(tcp) {
            self.window_limited = true;
            return;
        }
        loop {
            if self.board.lost == 0 && self.board.next >= self.total && !self.wants_rescue() {
                break;
            }
            let repairs = self.repair_now && self.board.lost > 0;
            if !repairs && !room_for(self.board.pipe, self.allowance.window) {
                self.window_limited = true;
                break;
            }
            if self.allowance.rate.is_some() && self.pace_at > now {
                break;
            }
            if self.board.lost > 0 {
                let Some(seq) = self.board.next_lost() else { break };
                self.send_again(seq, now, out);
            } else if self.board.next < self.total {
                self.send_new(now, out);
            } else if !self.send_rescue(now, out) {
                break;
            }
        }
    }

    /// Segment bursts (TSO): new data waits until the window has room for a whole burst, for what
    /// is left, or for a third of the window (Linux's `tcp_tso_win_divisor`).
    #[inline(always)]
    fn holds_for_burst(&self, tcp: &TcpSpec) -> bool {
        if tcp.burst_bytes == 0 || self.board.pipe == 0 || self.board.lost > 0 {
            return false;
        }
        let window = self.allowance.window / u64::from(self.mss);
        let burst = u64::from((tcp.burst_bytes / self.mss).max(1));
        let enough = burst.min((window / 3).max(1)).min(u64::from(self.total - self.board.next));
        u64::from(self.board.pipe) + enough > window
    }

    #[inline(always)]
    fn send_new(&mut self, now: Time, out: &mut impl Outgoing) {
        let seq = self.board.send_new(now);
        let cwr = std::mem::take(&mut self.cwr);
        let payload = self.transmit(seq, cwr, now, out);
        self.law.on_sent(now, u64::from(payload));
    }

    fn send_again(&mut self, seq: u32, now: Time, out: &mut impl Outgoing) {
        self.repair_now = false;
        self.board.send_again(seq, now);
        let payload = self.transmit(seq, false, now, out);
        self.counters.resent_bytes += u64::from(payload);
    }

    #[inline(always)]
    fn transmit(&mut self, seq: u32, cwr: bool, now: Time, out: &mut impl Outgoing) -> u32 {
        let ends = seq + 1 == self.total;
        let payload = if ends { self.tail } else { self.mss };
        self.counters.sent_bytes += u64::from(payload);
        if self.rto_at == Time::NEVER {
            self.restart_rto(now);
        }
        if let Some(rate) = self.allowance.rate {
            let gap = rate.time_for(u64::from(payload));
            self.pace_at = self.pace_at.max(now).saturating_add(gap);
        }
        out.segment(SegmentOut { seq, payload, last: ends && !self.cut, cwr });
        payload
    }

    fn wants_rescue(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
            && (self.rescue || self.board.next_hole().is_some())
            && self.board.outstanding() > 0
    }

    /// NextSeg rules 3 and 4: with nothing else to send in recovery, a hole that is not yet deemed
    /// lost, and once the highest segment outstanding.
    fn send_rescue(&mut self, now: Time, out: &mut impl Outgoing) -> bool {
        let hole = self.board.next_hole();
        let seq = hole.or_else(|| {
            std::mem::take(&mut self.rescue).then(|| self.board.last_unsacked()).flatten()
        });
        if let Some(seq) = seq {
            self.send_again(seq, now, out);
        }
        seq.is_some()
    }

    fn restart_rto(&mut self, now: Time) {
        let waits = self.board.outstanding() > 0;
        self.rto_at = if waits { now.saturating_add(self.rtt.rto()) } else { Time::NEVER };
    }

    /// RFC 8985 7.2: while open and with nothing SACKed, a probe is due after two RTTs.
    #[inline(always)]
    fn schedule_probe(&mut self, now: Time, tcp: &TcpSpec) {
        if tcp.tail_loss_probe {
            self.set_probe(now, tcp);
        }
    }

    fn set_probe(&mut self, now: Time, tcp: &TcpSpec) {
        let fit = self.phase == Phase::Open
            && self.probe.is_none()
            && !self.board.has_sacked()
            && self.board.outstanding() > 0
            && self.rtt.srtt() > Time::ZERO;
        let lone = self.board.outstanding() == 1 && tcp.ack_every > 1;
        let delay = if lone { tcp.ack_delay } else { Time::ZERO };
        let due = now.saturating_add(self.rtt.srtt().saturating_mul(2)).saturating_add(delay);
        self.probe_at = if fit && due < self.rto_at { due } else { Time::NEVER };
    }

    /// RFC 8985 7.3: sends new data if there is any, else the last segment again.
    fn send_probe(&mut self, now: Time, out: &mut impl Outgoing) {
        let repeats = self.board.next >= self.total;
        if repeats {
            let Some(seq) = self.board.last_unsacked() else { return };
            self.send_again(seq, now, out);
        } else {
            self.send_new(now, out);
        }
        self.probe = Some((self.board.next, repeats));
        self.restart_rto(now);
    }

    /// RFC 8985 7.4: what an acknowledgement says of a probe that is out. One delivered by SACK shows
    /// everything sent before it to be lost (RACK: it went out two RTTs later).
    fn settle_probe(&mut self, ack: AckIn<'_>, advanced: bool) {
        let Some((end, repeats)) = self.probe else { return };
        if ack.ack > end || ack.ack == end && !advanced && ack.extra.is_none() {
            self.probe = None;
            if repeats && ack.ack > end && self.phase == Phase::Open {
                self.tell_loss(ack.now);
            }
        } else if !repeats && ack.ack >= end {
            self.probe = None;
        } else if self.board.has_sacked() && self.board.last_unsacked().is_none_or(|s| s + 1 < end)
        {
            self.probe = None;
            if self.board.lose_below(end - 1) > 0 {
                self.enter_recovery(ack.now);
            }
        }
    }

    /// When the sender next wants to be called; [`Time::NEVER`]: not.
    #[inline(always)]
    pub(crate) fn next_deadline(&self) -> Time {
        let mut next = self.rto_at.min(self.probe_at).min(self.stop_at).min(self.law.next_timer());
        let paced = self.allowance.rate.is_some() && self.phase != Phase::Opening;
        if paced && !self.window_limited && self.has_more() {
            next = next.min(self.pace_at);
        }
        next
    }

    fn has_more(&self) -> bool {
        self.board.lost > 0 || self.board.next < self.total
    }

    /// A deadline has come.
    pub(crate) fn on_deadline(&mut self, now: Time, tcp: &TcpSpec, out: &mut impl Outgoing) {
        if self.stop_at <= now {
            self.stop_at = Time::NEVER;
            if self.board.next < self.total {
                self.total = self.board.next;
                self.tail = self.mss;
                self.cut = true;
            }
        }
        if self.law.next_timer() <= now {
            self.law.on_timer(now);
            self.allowance = self.law.allowance();
        }
        if self.rto_at <= now {
            self.on_timeout(now, tcp, out);
        } else if self.probe_at <= now {
            self.probe_at = Time::NEVER;
            self.send_probe(now, out);
        } else {
            self.send(now, tcp, out);
            self.schedule_probe(now, tcp);
        }
    }

    /// The retransmission timer ran out (RFC 6298 5.4 to 5.6).
    fn on_timeout(&mut self, now: Time, tcp: &TcpSpec, out: &mut impl Outgoing) {
        self.counters.timeouts += 1;
        let backoff = self.rtt.back_off(tcp);
        self.rto_at = now.saturating_add(self.rtt.rto());
        self.probe_at = Time::NEVER;
        if self.phase == Phase::Opening {
            out.syn();
            return;
        }
        let mss = u64::from(self.mss);
        self.law.on_timeout(&Timeout {
            now,
            flight_size: u64::from(self.board.outstanding()) * mss,
            next: u64::from(self.board.next) * mss,
            backoff,
        });
        self.allowance = self.law.allowance();
        self.probe = None;
        self.cwr |= self.ecn == Ecn::Classic;
        self.board.lose_all();
        self.phase = Phase::Loss(self.board.next);
        self.send(now, tcp, out);
    }
}
