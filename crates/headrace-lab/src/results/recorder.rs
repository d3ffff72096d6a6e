//! Takes the simulator's records: into tables, and into what the summary needs.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::parquet::errors::ParquetError;
use headrace_sim::record::{FlowRecord, PortSample, RateSample, Recorder};
use headrace_sim::workload::FlowSpec;

use super::collect::Collector;
use super::context::Context;
use super::parquet::{Cell, TableWriter};
use super::schema::{FLOWS, PORTS, RATES};

type FileWriter = TableWriter<BufWriter<File>>;

/// The three tables of a result folder.
struct Tables {
    flows: FileWriter,
    ports: FileWriter,
    rates: FileWriter,
}

/// The recorder of a run.
pub struct RunRecorder {
    collector: Collector,
    tables: Option<Tables>,
    error: Option<ParquetError>,
    failed: Arc<AtomicBool>,
}

impl RunRecorder {
    /// Gathers for the summary alone.
    pub fn in_memory(context: &Context) -> RunRecorder {
        RunRecorder {
            collector: Collector::new(context),
            tables: None,
            error: None,
            failed: Arc::default(),
        }
    }

    /// Also writes the tables into `folder`.
    ///
    /// # Errors
    /// Those of creating the files.
    pub fn into_folder(context: &Context, folder: &Path) -> Result<RunRecorder, ParquetError> {
        let open = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
        let classes: Vec<String> = context.classes.iter().map(|c| c.name.clone()).collect();
        let schemes: Vec<String> = context.classes.iter().map(|c| c.scheme.clone()).collect();
        // The class's index is the key of both words; a dictionary's values may repeat.
        let flows = TableWriter::new(open(FLOWS.file)?, &FLOWS, &[&classes, &schemes])?;
        let ports = TableWriter::new(open(PORTS.file)?, &PORTS, &[&context.nodes])?;
        let rates = TableWriter::new(open(RATES.file)?, &RATES, &[])?;
        let tables = Some(Tables { flows, ports, rates });
        Ok(RunRecorder { tables, ..RunRecorder::in_memory(context) })
    }

    /// Turns true when a table could not be written or a record cannot be: the run is then to be
    /// stopped.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.failed.clone()
    }

    /// Ends the tables and gives what was gathered.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> Result<Collector, ParquetError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(Tables { flows, ports, rates }) = self.tables {
            flows.finish()?;
            ports.finish()?;
            rates.finish()?;
        }
        Ok(self.collector)
    }

    /// Writes a row; after the first error, nothing more.
    #[inline]
    fn write<const N: usize>(
        &mut self,
        table: impl Fn(&mut Tables) -> &mut FileWriter,
        row: &[Cell; N],
    ) {
        let Some(tables) = &mut self.tables else { return };
        if let Err(error) = table(tables).push(row) {
            self.error = Some(error);
            self.tables = None;
            self.failed.store(true, Ordering::Relaxed);
        }
    }
}

impl Recorder for RunRecorder {
    fn flow(&mut self, record: &FlowRecord) {
        self.collector.flow(record);
        if self.collector.impossible.is_some() {
            self.failed.store(true, Ordering::Relaxed);
        }
        if self.tables.is_none() {
            return;
        }
        let class = Cell::U32(u32::from(record.class));
        let (fct, slowdown) = match record.fct {
            Some(fct) => {
                let slowdown = fct.ps() as f64 / record.ideal_fct.ps().max(1) as f64;
                (Cell::F64(fct.as_ns()), Cell::F64(slowdown))
            }
            None => (Cell::Null, Cell::Null),
        };
        let (size, ideal) = match record.size {
            FlowSpec::UNBOUNDED => (Cell::Null, Cell::Null),
            bytes => (Cell::U64(bytes), Cell::F64(record.ideal_fct.as_ns())),
        };
        let row = [
            Cell::U64(record.id),
            class,
            Cell::U32(record.src),
            Cell::U32(record.dst),
            size,
            Cell::F64(record.start.as_ns()),
            fct,
            ideal,
            slowdown,
            class,
            Cell::U64(record.sent_bytes),
            Cell::U64(record.acked_bytes),
            Cell::U64(record.retransmitted_bytes),
            Cell::U32(record.timeouts),
            Cell::U32(record.fast_recoveries),
            Cell::U64(record.acks),
            Cell::U64(record.marked_acks),
        ];
        self.write(|tables| &mut tables.flows, &row);
    }

    fn port(&mut self, sample: &PortSample) {
        self.collector.port(sample);
        let row = [
            Cell::F64(sample.time.as_ns()),
            Cell::U32(sample.node),
            Cell::U32(sample.port),
            Cell::U64(sample.queue_bytes),
            Cell::U64(sample.pool_bytes),
            Cell::U64(sample.tx_bytes),
            Cell::U64(sample.tx_packets),
            Cell::U64(sample.drops),
            Cell::U64(sample.marks),
            Cell::F64(sample.paused.as_ns()),
        ];
        self.write(|tables| &mut tables.ports, &row);
    }

    fn rate(&mut self, sample: &RateSample) {
        self.collector.rate(sample);
        let ssthresh = match sample.ssthresh {
            u64::MAX => Cell::Null,
            bytes => Cell::U64(bytes),
        };
        let row = [
            Cell::F64(sample.time.as_ns()),
            Cell::U64(sample.flow),
            Cell::U64(sample.cwnd),
            ssthresh,
            Cell::U64(sample.rate.bps()),
            Cell::F64(sample.rtt.as_ns()),
            Cell::U64(sample.in_flight),
            Cell::U64(sample.acked),
        ];
        self.write(|tables| &mut tables.rates, &row);
    }
}
