//! Takes the measurements, run by run.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};

use crate::groups::Group;
use crate::quantity::Quantity;
use crate::worker::Worker;
use crate::{Options, Result, machine};

/// The state that all measurements share.
pub struct Bench {
    /// Whether this is a smoke run, which measures next to nothing.
    pub smoke: bool,
    /// The number of the run. It is the epoch that is measured, so that no work is repeated.
    pub run: u64,
    /// Every figure so far.
    pub series: Series,
    python: PathBuf,
    node: PathBuf,
    /// Processes for steady measurements, one of each language for all runs.
    workers: BTreeMap<&'static str, Worker>,
}

impl Bench {
    pub fn new(options: &Options) -> Self {
        let own_python = || machine::project("target/venv-torch/bin/python");
        Self {
            smoke: options.smoke,
            run: 0,
            series: Series::default(),
            python: options.python.clone().unwrap_or_else(own_python),
            node: options.node.clone(),
            workers: BTreeMap::new(),
        }
    }

    /// One of two sizes: for a real run, or for a smoke run.
    pub fn size(&self, full: u64, smoke: u64) -> u64 {
        if self.smoke { smoke } else { full }
    }

    /// The Python process that is warmed up.
    pub fn python(&mut self) -> Result<&mut Worker> {
        self.worker("python.py")
    }

    /// The Node process that is warmed up.
    pub fn node(&mut self) -> Result<&mut Worker> {
        self.worker("node.mjs")
    }

    /// A new Python process.
    pub fn fresh_python(&self) -> Result<Worker> {
        Worker::start(&self.python, "python.py")
    }

    /// A new Node process.
    pub fn fresh_node(&self) -> Result<Worker> {
        Worker::start(&self.node, "node.mjs")
    }

    fn worker(&mut self, script: &'static str) -> Result<&mut Worker> {
        if !self.workers.contains_key(script) {
            let started = if script == "python.py" { self.fresh_python()? } else { self.fresh_node()? };
            self.workers.insert(script, started);
        }
        Ok(self.workers.get_mut(script).ok_or("no worker")?)
    }

    /// Takes all measurements of the groups, `runs` times each. Groups with a warm-up have one more run, which does not
    /// count.
    pub fn run(&mut self, groups: &[&Group], runs: u32) -> Result<()> {
        let total = groups.iter().map(|group| u64::from(runs) + u64::from(group.warm_up)).sum();
        let progress = Progress::new(total);
        for group in groups {
            let first = if group.warm_up { 0 } else { 1 };
            for run in first..=u64::from(runs) {
                progress.step(if run == 0 {
                    format!("{}: warm-up", group.name)
                } else {
                    format!("{}: run {run} of {runs}", group.name)
                });
                self.run = run;
                self.series.recording = run > 0;
                self.series.part = group.name;
                (group.run)(self).map_err(|error| format!("{}: {error}", group.name))?;
                progress.done();
            }
            // Memory of one group must not burden the next group.
            self.workers.clear();
        }
        progress.finish();
        Ok(())
    }
}

/// The figures of every measurement, by its id: the name of its group, and its name in the group.
#[derive(Default)]
pub struct Series {
    figures: BTreeMap<String, (&'static str, Vec<f64>)>,
    recording: bool,
    /// The group to which names belong at the moment.
    pub part: &'static str,
}

impl Series {
    /// Adds a figure of the group, unless this is the warm-up. Pages name it by its id.
    pub fn record(&mut self, name: impl AsRef<str>, figure: Quantity) {
        if self.recording {
            let id = format!("{}.{}", self.part, name.as_ref());
            self.figures.entry(id).or_insert((figure.unit(), Vec::new())).1.push(figure.value());
        }
    }

    /// The median of a measurement of the group; NaN, which no bound accepts, if it was not taken.
    pub fn median(&self, name: &str) -> f64 {
        let figures = self.figures.get(&format!("{}.{name}", self.part));
        let mut figures = figures.map(|(_, figures)| figures.clone()).unwrap_or_default();
        figures.sort_by(f64::total_cmp);
        let middle = figures.len() / 2;
        match figures.len() {
            0 => f64::NAN,
            count if count % 2 == 1 => figures[middle],
            _ => f64::midpoint(figures[middle - 1], figures[middle]),
        }
    }

    /// A line for each measurement with all its figures, as `tests/docs/measured.py` reads it.
    pub fn lines(&self) -> Vec<String> {
        let line = |(id, (unit, figures)): (&String, &(&str, Vec<f64>))| {
            let figures: Vec<String> = figures.iter().map(ToString::to_string).collect();
            format!("figure: {id} {unit} {}", figures.join(" "))
        };
        self.figures.iter().map(line).collect()
    }
}

/// The progress, on standard error: a bar on a terminal, lines elsewhere.
struct Progress(Option<ProgressBar>);

impl Progress {
    fn new(total: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let style = ProgressStyle::with_template("{elapsed:>4} {bar:30} {pos}/{len}  {msg}");
        Self(Some(ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))))
    }

    fn step(&self, message: String) {
        match &self.0 {
            Some(bar) => bar.set_message(message),
            None => eprintln!("{message}"),
        }
    }

    fn done(&self) {
        self.0.iter().for_each(|bar| bar.inc(1));
    }

    fn finish(&self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Quantity::Seconds;

    #[test]
    fn the_median_leaves_out_the_warm_up() {
        let mut series = Series { part: "start", ..Series::default() };
        series.record("a", Seconds(1000.0));
        series.recording = true;
        assert!(series.median("a").is_nan());
        [5.0, 1.0, 2.0].into_iter().for_each(|figure| series.record("a", Seconds(figure)));
        assert_eq!(series.median("a"), 2.0);
        series.record("a", Seconds(3.0));
        assert_eq!(series.median("a"), 2.5);
        assert_eq!(series.lines(), ["figure: start.a s 5 1 2 3"]);
    }
}
