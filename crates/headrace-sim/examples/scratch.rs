#[path = "../tests/support/mod.rs"]
mod support;
use support::*;
use headrace_sim::spec::*;
use headrace_sim::cc::units::*;
fn main() {
    let mode = std::env::args().nth(1).unwrap();
    let mut sw = switch_spec(24*3_000_000, 0, None, vec![red(300_000,300_000,1.0)]);
    sw.queues[0].limit_bytes = Some(3_000_000);
    let tcp = TcpSpec::default();
    let mut s = leaf_spine((8,16,8), Rate::from_gbps(100), Time::from_us(1), &sw, class("dctcp", tcp));
    s.network.framing = Framing::None;
    if mode == "trace" { s.trace.port_interval = Some(Time::from_us(100)); }
    let mut d = Draw(7);
    let cdf = [(0.0,0.0),(10000.0,15.0),(20000.0,20.0),(30000.0,30.0),(50000.0,40.0),(80000.0,53.0),(200000.0,60.0),(1000000.0,70.0),(2000000.0,80.0),(5000000.0,90.0),(10000000.0,97.0),(30000000.0,100.0)];
    let mut t = 0u64; let mut flows = vec![];
    for i in 0..2000 {
        let u = (d.below(1<<30) as f64)/((1u64<<30) as f64)*100.0;
        let k = cdf.windows(2).find(|w| u < w[1].1).unwrap();
        let size = k[0].0 + (u-k[0].1)/(k[1].1-k[0].1)*(k[1].0-k[0].0);
        let e = -(1.0-(d.below(1<<30) as f64)/((1u64<<30) as f64)).ln();
        t += (e*3.65e6) as u64;
        let a = d.below(128); let mut b = d.below(127); if b>=a {b+=1}
        flows.push(flow(i, Time::from_ps(t), a as u32, b as u32, size as u64 + 1));
    }
    let t0 = std::time::Instant::now();
    let (totals, kept) = run(&s, flows);
    let el = t0.elapsed().as_secs_f64();
    println!("{} hops {} events end {} flows {} drops {:?} marks {} {:.2} M/s {:.3}s peakflows {} ports {}", totals.packet_hops, totals.events, totals.end, kept.flows.len(), totals.drops, totals.marks, totals.packet_hops as f64/el/1e6, el, totals.peak_active_flows, kept.ports.len());
}
