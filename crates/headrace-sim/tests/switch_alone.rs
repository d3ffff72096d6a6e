//! The MMU, the schedulers and the congestion points without the simulator: driven with frames of
//! somebody else's, as a switch on real ports does.

mod support;

use headrace_sim::cc::units::{Rate, Time};
use headrace_sim::record::DropReason;
use headrace_sim::spec::Scheduler;
use headrace_sim::switch::buffer::{Pool, QueueBuffer};
use headrace_sim::switch::scheduled::Scheduled;
use headrace_sim::switch::view::{PacketView, PortView};
use support::*;

/// A frame as a socket hands it over: its place in somebody's ring, and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Frame {
    slot: u32,
    length: u16,
}

const PORT: PortView = PortView { now: Time::from_us(1), tx_bytes: 0, rate: Rate::from_gbps(10) };

fn view(length: u32) -> PacketView {
    PacketView { size: length, flow: 7, ect: true, ce: false, priority: 0, ingress: 3 }
}

#[test]
fn a_queue_admits_marks_and_refuses_frames_that_it_never_sees() {
    let spec = queue_spec(0, Some(1.0), vec![red(4_000, 4_000, 1.0)]);
    let mut queue = QueueBuffer::new(&spec, 1, 1, "leaf0/port0/queue0");
    let mut pool = Pool::new(20_000);
    let (mut admitted, mut marked) = (0, 0);
    let refusal = loop {
        match queue.admit(&pool, pool.used(), 1_000) {
            Ok(shared) => queue.add(&mut pool, 1_000, shared),
            Err(reason) => break reason,
        }
        admitted += 1;
        marked += u32::from(queue.on_departure(&pool, &PORT, &view(1_000)));
    };
    // Half the pool under alpha 1; every frame that left more than K = 4 KB behind it.
    assert_eq!((admitted, marked), (10, 6));
    assert_eq!(refusal, DropReason::DynamicThreshold);
    for _ in 0..10 {
        queue.remove(&mut pool, 1_000, true);
    }
    assert_eq!(pool.used(), 0);
}

#[test]
fn a_scheduler_deals_out_frames_by_their_bytes() {
    let buffers = [1, 3].map(|weight| {
        (QueueBuffer::new(&queue_spec(1_000_000, None, vec![]), 0, 1, "port"), weight)
    });
    let mut order =
        Scheduled::new(buffers.into(), [0, 1, 1, 1, 1, 1, 1, 1], Scheduler::Dwrr, 1_538);
    for slot in 0..400 {
        order.push(order.queue_of(0), Frame { slot, length: 1_500 });
        order.push(order.queue_of(5), Frame { slot, length: 300 });
    }
    let mut bytes = [0u32; 2];
    let mut last = [None; 2];
    for _ in 0..300 {
        let queue = order.next(|frame| frame.length.into()).unwrap();
        let frame = order.pop(queue);
        assert_eq!(last[queue].map_or(0, |slot: u32| slot + 1), frame.slot);
        last[queue] = Some(frame.slot);
        bytes[queue] += u32::from(frame.length);
    }
    let share = f64::from(bytes[1]) / f64::from(bytes[0]);
    assert!((share - 3.0).abs() < 0.2, "{bytes:?}");
}
