//! From the import to the first index, in new processes.

use super::Group;
use crate::quantity::Quantity::Seconds;
use crate::table::Row;

pub const GROUP: Group = Group {
    name: "start",
    about: "from the import to the first index, in new processes of Python and Node",
    // Of the disk's cache.
    warm_up: true,
    run: |bench| {
        for measurement in ["start_once", "start"] {
            let time = bench.fresh_python()?.ask(measurement)?[0];
            bench.series.record(format!("python {measurement}"), time);
        }
        let time = bench.fresh_node()?.ask("start")?[0];
        bench.series.record("node start", time);
        Ok(())
    },
    rows: |series| {
        let row = |title, name: &str, must| Row::new(title, Seconds(series.median(name))).at_most(Seconds(must), None);
        vec![
            row("Python, from the import to the first index", "python start", 0.2),
            row("the same, the first time on a machine", "python start_once", 0.2),
            row("Node, from the import to the first index", "node start", 0.08),
        ]
    },
};
