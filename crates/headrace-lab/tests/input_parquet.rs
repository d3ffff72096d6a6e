//! Flow lists in Parquet give what the same CSV gives.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array};
use headrace_lab::scenario::Scenario;
use headrace_sim::workload::FlowSpec;
use parquet::arrow::ArrowWriter;

fn scenario(folder: &Path, file: &str) -> Result<Vec<FlowSpec>, String> {
    let text = format!(
        "scheme = \"newreno\"\n[topology]\nkind = \"star\"\nhosts = 4\n[[traffic]]\n\
         kind = \"list\"\nfile = \"{file}\"\n"
    );
    let scenario = Scenario::parse("x", &text, folder, &[]).map_err(|p| p.to_string())?;
    let mut workload = scenario.workload().unwrap();
    Ok(std::iter::from_fn(|| workload.next_flow()).collect())
}

fn write(folder: &Path, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(folder.join(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn parquet_and_csv_agree_and_are_sorted_on_load() {
    let folder = tempfile::tempdir().unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("size_bytes", Arc::new(Int64Array::from(vec![500, 20, 3]))),
        ("start_ns", Arc::new(Int64Array::from(vec![700, 5, 90]))),
        ("src", Arc::new(UInt32Array::from(vec![0, 1, 2]))),
        ("dst", Arc::new(StringArray::from(vec!["h1", "h2", "3"]))),
    ];
    write(folder.path(), "f.parquet", columns.clone());
    let csv = "start_ns,src,dst,size_bytes\n700,0,h1,500\n5,1,h2,20\n90,2,3,3\n";
    std::fs::write(folder.path().join("f.csv"), csv).unwrap();
    let flows = scenario(folder.path(), "f.parquet").unwrap();
    assert_eq!(flows, scenario(folder.path(), "f.csv").unwrap());
    let starts: Vec<u64> = flows.iter().map(|f| f.start.ps()).collect();
    assert_eq!(starts, [5_000, 90_000, 700_000]);
    assert_eq!(flows.iter().map(|f| f.id).collect::<Vec<_>>(), [0, 1, 2]);
    write(folder.path(), "short.parquet", columns[..3].to_vec());
    let missing = scenario(folder.path(), "short.parquet").unwrap_err();
    assert!(missing.contains("no column `dst`"), "{missing}");
    let negative: ArrayRef = Arc::new(Int64Array::from(vec![5, -1, 3]));
    let mut columns = columns;
    columns[0].1 = negative;
    write(folder.path(), "negative.parquet", columns);
    let refused = scenario(folder.path(), "negative.parquet").unwrap_err();
    assert!(refused.contains("row 2: size_bytes: `-1` is negative"), "{refused}");
}
