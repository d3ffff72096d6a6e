//! What the simulator asks of its traffic.

use headrace_cc::units::Time;

/// A flow to carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// Unique in the run, the same on any machine and any number of threads. At most 2^63 - 1.
    pub id: u64,
    /// When its first byte is ready.
    pub start: Time,
    /// It sends nothing new from here on; [`Time::NEVER`] for a flow that ends by its size.
    pub stop: Time,
    /// Sending host, counted over hosts.
    pub src: u32,
    /// Receiving host, counted over hosts; not `src`.
    pub dst: u32,
    /// Payload bytes, at least 1; [`FlowSpec::UNBOUNDED`] for a long-lived flow.
    pub size: u64,
    /// Index into [`crate::spec::RunSpec::classes`].
    pub class: u16,
}

impl FlowSpec {
    /// Size of a flow that never ends by itself.
    pub const UNBOUNDED: u64 = u64::MAX;
}

/// A flow whose last byte has reached its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// The flow's id.
    pub id: u64,
    /// Its class.
    pub class: u16,
    /// Its sender.
    pub src: u32,
    /// Its receiver.
    pub dst: u32,
    /// Now.
    pub now: Time,
}

/// A stream of flows. A run holds only the flows that are active.
pub trait Workload {
    /// The next flow, in order of start (equal starts in any fixed order). `None`: no more.
    fn next_flow(&mut self) -> Option<FlowSpec>;

    /// A flow of a reactive class was delivered. May answer with a flow that starts *at the host
    /// that received it* (`src` = `delivered.dst`), now or later: a reply, or a client's next
    /// request. May use no state but what belongs to that host.
    fn on_delivered(&mut self, delivered: &Delivered) -> Option<FlowSpec> {
        let _ = delivered;
        None
    }
}

/// Flows from a list already in order of start.
impl Workload for std::vec::IntoIter<FlowSpec> {
    fn next_flow(&mut self) -> Option<FlowSpec> {
        self.next()
    }
}

impl<W: Workload + ?Sized> Workload for Box<W> {
    fn next_flow(&mut self) -> Option<FlowSpec> {
        (**self).next_flow()
    }

    fn on_delivered(&mut self, delivered: &Delivered) -> Option<FlowSpec> {
        (**self).on_delivered(delivered)
    }
}
