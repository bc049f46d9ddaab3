//! The processor time and the memory of this process, and bounds for them on a machine of any speed.

use std::time::Duration;

/// The processor time of this thread. A busy machine does not change it.
pub fn thread_time() -> Duration {
    cpu_time::ThreadTime::now().as_duration()
}

/// The memory of this process now, in MB.
pub fn memory_mb() -> f64 {
    memory_mb_of(std::process::id())
}

/// The memory of a process, in MB; 0 if there is no such process.
pub fn memory_mb_of(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages: f64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * rustix::param::page_size() as f64 / 1e6
}

/// The processor time of a process; 0 if there is no such process.
pub fn time_of(process: u32) -> Duration {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program ends at this bracket. The 12th and the 13th word after it are its ticks.
    let words = status.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    let ticks: u64 = words.skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The time of a loop on the machine on which the limits were set.
const USUAL: Duration = Duration::from_millis(60);

/// How many times slower this machine is than the one on which the limits were set; at least 1.
pub fn slowness() -> f64 {
    let once = || {
        let started = thread_time();
        let mut word = 1_u64;
        for _ in 0..20_000_000 {
            word = std::hint::black_box(word ^ (word << 13)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        std::hint::black_box(word);
        thread_time() - started
    };
    let fastest = (0..3).map(|_| once()).min().expect("three times");
    (fastest.as_secs_f64() / USUAL.as_secs_f64()).max(1.0)
}
