//! The time from the import to the first index, in new processes.

use super::Group;
use crate::quantity::Quantity::Seconds;
use crate::table::Row;

pub const GROUP: Group = Group {
    name: "start",
    about: "from the import to the first index, in new processes of Python and Node",
    // Warms up the disk's cache.
    warm_up: true,
    run: |bench| {
        for (name, measurement) in [("python-once", "start_once"), ("python", "start")] {
            let time = bench.fresh_python()?.ask(measurement)?[0];
            bench.series.record(name, Seconds(time));
        }
        let time = bench.fresh_node()?.ask("start")?[0];
        bench.series.record("node", Seconds(time));
        Ok(())
    },
    rows: |series| {
        let row = |title, name: &str, must| Row::new(title, Seconds(series.median(name))).at_most(Seconds(must), None);
        vec![
            row("Python, from the import to the first index", "python", 0.2),
            row("the same, the first time on a machine", "python-once", 0.2),
            row("Node, from the import to the first index", "node", 0.08),
        ]
    },
};
