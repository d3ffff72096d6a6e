//! Parquet files through bounded buffers. Equal rows give equal bytes: no time, no host, no
//! library version is written, and row groups are cut by row count alone.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::ColumnPath;
use arrow::array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray};
use arrow::array::{UInt32Array, UInt64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Schema, UInt32Type};

use super::schema::{Kind, SCHEMA_VERSION, Table};

/// Rows held as they came before they are encoded: 17 columns of 8 bytes take 1.1 MB.
const BATCH_ROWS: usize = 8_192;
/// Rows of a row group: encoded, they wait in memory until the group is whole.
const GROUP_ROWS: usize = 131_072;

/// One cell of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// For [`Kind::U64`].
    U64(u64),
    /// For [`Kind::U32`], and the index into the words of a [`Kind::Word`].
    U32(u32),
    /// For [`Kind::F64`].
    F64(f64),
    /// No value.
    Null,
}

/// A column's values that wait to be encoded.
enum Values {
    U64(Vec<u64>),
    U32(Vec<u32>),
    F64(Vec<f64>),
    Word(Vec<u32>, ArrayRef),
}

struct Buffer {
    values: Values,
    /// Empty for a column that is never null.
    valid: Vec<bool>,
    nullable: bool,
}

/// A table being written.
pub struct TableWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: Arc<Schema>,
    buffers: Vec<Buffer>,
    rows: usize,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts `table` on `out`. `words` lists, for each [`Kind::Word`] column in order, the words
    /// that its cells index.
    ///
    /// # Errors
    /// Those of writing to `out`.
    pub fn new(out: W, table: &Table, words: &[&[String]]) -> Result<Self, ParquetError> {
        let schema = table.arrow();
        let mut words = words.iter();
        let buffers = table
            .columns
            .iter()
            .map(|column| Buffer {
                values: match column.kind {
                    Kind::U64 => Values::U64(Vec::with_capacity(BATCH_ROWS)),
                    Kind::U32 => Values::U32(Vec::with_capacity(BATCH_ROWS)),
                    Kind::F64 => Values::F64(Vec::with_capacity(BATCH_ROWS)),
                    Kind::Word => {
                        let list = words.next().copied().unwrap_or_default();
                        let list = StringArray::from_iter_values(list);
                        Values::Word(Vec::with_capacity(BATCH_ROWS), Arc::new(list))
                    }
                },
                valid: Vec::new(),
                nullable: column.nullable,
            })
            .collect();
        let options = ArrowWriterOptions::new().with_properties(properties(table));
        let writer = ArrowWriter::try_new_with_options(out, schema.clone(), options)?;
        Ok(TableWriter { writer, schema, buffers, rows: 0 })
    }

    /// Adds a row: a cell a column, of the column's kind.
    ///
    /// # Errors
    /// Those of writing to the file.
    ///
    /// # Panics
    /// Where a cell is not of its column's kind.
    #[inline]
    pub fn push<const N: usize>(&mut self, row: &[Cell; N]) -> Result<(), ParquetError> {
        assert_eq!(N, self.buffers.len(), "a row has a cell a column");
        for (buffer, cell) in self.buffers.iter_mut().zip(row) {
            buffer.push(*cell);
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Encodes what waits.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let columns = self.buffers.iter_mut().map(Buffer::take).collect();
        self.writer.write(&RecordBatch::try_new(self.schema.clone(), columns)?)
    }

    /// Writes what is left and the footer.
    ///
    /// # Errors
    /// Those of writing to the file.
    pub fn finish(mut self) -> Result<(), ParquetError> {
        self.flush()?;
        self.writer.finish()?;
        self.writer.inner_mut().flush()?;
        Ok(())
    }
}

impl Buffer {
    #[inline]
    fn push(&mut self, cell: Cell) {
        match (&mut self.values, cell) {
            (Values::U64(values), Cell::U64(x)) => values.push(x),
            (Values::U32(values), Cell::U32(x)) => values.push(x),
            (Values::F64(values), Cell::F64(x)) => values.push(x),
            (Values::Word(keys, _), Cell::U32(x)) => keys.push(x),
            (Values::U64(values), Cell::Null) => values.push(0),
            (Values::F64(values), Cell::Null) => values.push(0.0),
            (_, cell) => panic!("{cell:?} in a column of another kind"),
        }
        if self.nullable {
            self.valid.push(!matches!(cell, Cell::Null));
        }
    }

    /// The column's values as an Arrow array; the buffer is empty afterwards.
    fn take(&mut self) -> ArrayRef {
        let nulls = self.nullable.then(|| NullBuffer::from(std::mem::take(&mut self.valid)));
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        match &mut self.values {
            Values::U64(values) => Arc::new(UInt64Array::new(refill(values).into(), nulls)),
            Values::U32(values) => Arc::new(UInt32Array::new(refill(values).into(), nulls)),
            Values::F64(values) => Arc::new(Float64Array::new(refill(values).into(), nulls)),
            Values::Word(keys, words) => {
                let keys = UInt32Array::new(refill(keys).into(), nulls);
                Arc::new(DictionaryArray::<UInt32Type>::new(keys, words.clone()))
            }
        }
    }
}

/// The vector's content, a new one of the same capacity in its place.
fn refill<T>(values: &mut Vec<T>) -> Vec<T> {
    std::mem::replace(values, Vec::with_capacity(BATCH_ROWS))
}

fn properties(table: &Table) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_created_by("headrace".to_owned())
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "headrace.schema".to_owned(),
            SCHEMA_VERSION.to_string(),
        )]))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false);
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        builder = match column.kind {
            // Counters and sizes: neighbours differ in few bits.
            Kind::U64 | Kind::U32 => {
                builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
            Kind::F64 => builder.set_column_encoding(path, Encoding::PLAIN),
            Kind::Word => builder.set_column_dictionary_enabled(path, true),
        };
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek};

    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow::array::Array;
    use arrow::array::AsArray;
    use arrow::datatypes::{Float64Type, UInt64Type};

    use super::super::schema::Column;
    use super::*;

    const TABLE: Table = Table {
        file: "t.parquet",
        rows: "a row",
        columns: &[
            Column { name: "id", kind: Kind::U64, nullable: false, meaning: "id" },
            Column { name: "x", kind: Kind::F64, nullable: true, meaning: "x" },
            Column { name: "word", kind: Kind::Word, nullable: false, meaning: "word" },
        ],
    };

    fn written(rows: u64) -> (File, Vec<u8>) {
        let mut file = tempfile::tempfile().unwrap();
        let words = ["a".to_owned(), "b".to_owned()];
        let mut writer = TableWriter::new(&file, &TABLE, &[&words]).unwrap();
        for id in 0..rows {
            let x = if id % 3 == 0 { Cell::Null } else { Cell::F64(id as f64 / 7.0) };
            writer.push(&[Cell::U64(id), x, Cell::U32((id % 2) as u32)]).unwrap();
        }
        writer.finish().unwrap();
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        (file, bytes)
    }

    #[test]
    fn rows_come_back_and_equal_rows_give_equal_bytes() {
        let rows = 2 * BATCH_ROWS as u64 + 5;
        let (file, bytes) = written(rows);
        assert!(bytes == written(rows).1);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let mut next = 0;
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            let ids = batch.column(0).as_primitive::<UInt64Type>();
            let xs = batch.column(1).as_primitive::<Float64Type>();
            let words = batch.column(2).as_dictionary::<UInt32Type>();
            let list = words.values().as_string::<i32>();
            for row in 0..batch.num_rows() {
                assert_eq!(ids.value(row), next);
                assert_eq!(xs.is_null(row), next % 3 == 0);
                let word = list.value(words.keys().value(row) as usize);
                assert_eq!(word, if next % 2 == 0 { "a" } else { "b" });
                next += 1;
            }
        }
        assert_eq!(next, rows);
    }

    #[test]
    fn an_empty_table_is_a_valid_file() {
        let reader = ParquetRecordBatchReaderBuilder::try_new(written(0).0);
        assert_eq!(reader.unwrap().metadata().file_metadata().num_rows(), 0);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let Ok(full) = full else { return };
        let words = ["a".to_owned()];
        let written = TableWriter::new(full, &TABLE, &[&words]).and_then(TableWriter::finish);
        assert!(written.is_err());
    }
}
