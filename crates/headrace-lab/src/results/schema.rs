//! The columns of the result tables: names, types, units and meaning, in one place.
//!
//! Times are `Float64` nanoseconds with the fraction. The simulator counts whole picoseconds;
//! `round(1000 * ns)` gives them back exactly for times below 2^51 ps (37 simulated minutes).

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

/// Version of the result files: of the tables' columns and of `summary.json`. It grows when a
/// column or key changes its meaning or goes; added ones do not change it.
pub const SCHEMA_VERSION: u32 = 1;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned 64-bit integers.
    U64,
    /// Unsigned 32-bit integers.
    U32,
    /// Double-precision numbers.
    F64,
    /// A word out of a short list (dictionary-encoded UTF-8).
    Word,
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, with its unit where it has one.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a row may lack it.
    pub nullable: bool,
    /// What it means.
    pub meaning: &'static str,
}

/// One table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// File name in the result folder.
    pub file: &'static str,
    /// What a row is, and in which order rows come.
    pub rows: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

const fn col(name: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { name, kind, nullable: false, meaning }
}

const fn maybe(name: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { name, kind, nullable: true, meaning }
}

/// `flows.parquet`.
pub const FLOWS: Table = Table {
    file: "flows.parquet",
    rows: "a flow; by the time of the sender's last ACK, then by id; unfinished flows last, by id",
    columns: &[
        col("flow", Kind::U64, "flow id, unique in the run"),
        col("class", Kind::Word, "traffic class, as the scenario names it"),
        col("src", Kind::U32, "sending host, counted over hosts from 0 (manifest: hosts)"),
        col("dst", Kind::U32, "receiving host, counted over hosts from 0"),
        maybe("size_bytes", Kind::U64, "payload bytes asked for; null: a long-lived flow"),
        col("start_ns", Kind::F64, "when its first byte was ready"),
        maybe("fct_ns", Kind::F64, "from start to the last byte's arrival; null: not done"),
        maybe(
            "ideal_fct_ns",
            Kind::F64,
            "completion time of the same flow on an empty network; null: a long-lived flow",
        ),
        maybe("slowdown", Kind::F64, "fct over ideal fct, at least 1; null: not done"),
        col("scheme", Kind::Word, "congestion-control law of the flow's class"),
        col("sent_bytes", Kind::U64, "payload bytes sent, retransmissions included"),
        col("acked_bytes", Kind::U64, "payload bytes acknowledged"),
        col("retransmitted_bytes", Kind::U64, "payload bytes sent again"),
        col("timeouts", Kind::U32, "retransmission timeouts"),
        col("fast_recoveries", Kind::U32, "fast-retransmit episodes"),
        col("acks", Kind::U64, "acknowledgements received"),
        col("marked_acks", Kind::U64, "acknowledgements that echoed a mark"),
    ],
};

/// `ports.parquet`.
pub const PORTS: Table = Table {
    file: "ports.parquet",
    rows: "a sample of a switch port; by time, then node, then port",
    columns: &[
        col("time_ns", Kind::F64, "when"),
        col("node", Kind::Word, "the switch's name"),
        col("port", Kind::U32, "its port: links of the switch, in the topology's order, from 0"),
        col("queue_bytes", Kind::U64, "bytes in the port's queues, the frame on the wire included"),
        col("pool_bytes", Kind::U64, "bytes in use of all shared pools of the port's MMU"),
        col("tx_bytes", Kind::U64, "frame bytes sent so far"),
        col("tx_packets", Kind::U64, "frames sent so far"),
        col("drops", Kind::U64, "frames dropped so far, at admission"),
        col("marks", Kind::U64, "frames marked so far"),
        col("paused_ns", Kind::F64, "time paused so far"),
    ],
};

/// `rates.parquet`.
pub const RATES: Table = Table {
    file: "rates.parquet",
    rows: "a traced flow at one of its ACKs; by time, then flow",
    columns: &[
        col("time_ns", Kind::F64, "when"),
        col("flow", Kind::U64, "flow id"),
        col("cwnd_bytes", Kind::U64, "congestion window"),
        maybe("ssthresh_bytes", Kind::U64, "slow-start threshold; null: none"),
        col(
            "rate_bps",
            Kind::U64,
            "pacing rate where the law sets one, else window / smoothed RTT",
        ),
        col("rtt_ns", Kind::F64, "last RTT sample"),
        col("in_flight_bytes", Kind::U64, "payload bytes in flight"),
        col("acked_bytes", Kind::U64, "payload bytes acknowledged so far"),
    ],
};

/// Arrow's own type for metadata, which its writer sorts by key.
#[expect(clippy::disallowed_types, reason = "arrow's interface; never iterated here")]
type Metadata = std::collections::HashMap<String, String>;

/// Every table of a result folder.
pub const TABLES: [&Table; 3] = [&FLOWS, &PORTS, &RATES];

impl Table {
    /// The Arrow schema, each field with its meaning, the whole with [`SCHEMA_VERSION`].
    pub fn arrow(&self) -> Arc<Schema> {
        let fields: Vec<Field> = self.columns.iter().map(Column::field).collect();
        let metadata = Metadata::from([
            ("headrace.schema".to_owned(), SCHEMA_VERSION.to_string()),
            ("headrace.rows".to_owned(), self.rows.to_owned()),
        ]);
        Arc::new(Schema::new_with_metadata(fields, metadata))
    }
}

impl Column {
    fn field(&self) -> Field {
        let kind = match self.kind {
            Kind::U64 => DataType::UInt64,
            Kind::U32 => DataType::UInt32,
            Kind::F64 => DataType::Float64,
            Kind::Word => {
                DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
            }
        };
        Field::new(self.name, kind, self.nullable)
            .with_metadata(Metadata::from([("meaning".to_owned(), self.meaning.to_owned())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_unique_name_and_a_meaning() {
        for table in TABLES {
            for (i, column) in table.columns.iter().enumerate() {
                assert!(!column.meaning.is_empty());
                assert!(table.columns[..i].iter().all(|other| other.name != column.name));
            }
            assert_eq!(table.arrow().fields().len(), table.columns.len());
        }
    }

    #[test]
    fn nanoseconds_give_back_the_picoseconds() {
        for ps in [1u64, 999, 123_456_789_123, (1 << 51) - 1] {
            assert_eq!(libm::round(ps as f64 / 1e3 * 1e3) as u64, ps);
        }
    }
}
