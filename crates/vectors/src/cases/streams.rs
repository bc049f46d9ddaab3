//! Streams of chunks.

use crate::cases::forms::{ChunkStream, Subject};
use matrix::format::{Call, Case, S64, U64};

use super::{EPOCHS, MAX_COUNT, MAX_EXACT, asked};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // The number of chunks is not known: the rows of the readers interleave, without end.
    for (reader, readers) in [(0, 1), (0, 2), (1, 2), (3, 4), (u32::MAX - 1, u32::MAX)] {
        let most = (MAX_EXACT - u64::from(reader)) / u64::from(readers);
        let calls = [
            chunks(0, 5),
            chunks(3, 4),
            chunks(most - 2, 2),
            chunks(most, 0),
            chunks(most, 1),
            chunks(most - 2, 3),
            chunks(most + 1, 0),
            chunks(u64::MAX, 1),
            chunks(0, MAX_COUNT + 1),
            chunks(0, u32::MAX),
            chunks(0, 2),
        ];
        cases.push(case(endless(reader, readers), calls));
    }
    // Every chunk of a cycle comes once, from whichever reader has it. Then the next cycle begins.
    for order in ["sequential", "feistel", "fisher-yates", "torch", "torch-2.5", "python", "dotnet"] {
        for reader in 0..4 {
            let stream = ChunkStream { seed: S64(7), ..cycle(12, reader, 4, order) };
            cases.push(case(stream, [chunks(0, 9), chunks(3, 3), chunks(1_000_000, 4), chunks(0, 3)]));
        }
    }
    for readers in 1..=4 {
        for reader in 0..readers {
            cases.push(case(cycle(10, reader, readers, "feistel"), [chunks(0, 22), chunks(5, 6)]));
        }
    }
    // More readers than chunks, so that a reader skips cycles, and a single chunk.
    for (count, reader, readers) in [(3, 4, 5), (3, 6, 7), (1, 0, 1), (1, 1, 3), (2, 4_000_000_000, u32::MAX)] {
        cases.push(case(cycle(count, reader, readers, "feistel"), [chunks(0, 8), chunks(40_000, 3)]));
    }
    // Cycle g is epoch `epoch` + g, modulo 2^64.
    for epoch in EPOCHS.into_iter().chain([2, u64::MAX - 1]) {
        for seed in [0, -3, i64::MAX, i64::MIN] {
            let stream = ChunkStream { epoch: U64(epoch), seed: S64(seed), ..cycle(5, 1, 2, "feistel") };
            cases.push(case(stream, [chunks(0, 9)]));
        }
    }
    for count in [256, 257, 300, 1 << 32, 10_u64.pow(12), MAX_EXACT - 1, MAX_EXACT] {
        let stream = cycle(count, 2, 3, "feistel");
        cases.push(case(stream, [chunks(0, 6), chunks(count / 3 - 1, 1), chunks((count / 3).saturating_sub(2), 2)]));
        let stream = cycle(count, 2, 3, "sequential");
        cases.push(case(stream, [chunks(0, 6), chunks(count / 3 - 1, 1), chunks(u64::MAX, 2)]));
    }
    cases.extend(shuffles());
    cases.extend(failures());
    cases
}

/// Cycles that need a table each. One call makes two tables of any size, or more tables with up to 2^24 chunks
/// together.
fn shuffles() -> Vec<Case> {
    let far = 1 << 24;
    let mut cases = Vec::new();
    for order in ["fisher-yates", "torch", "torch-2.5", "python", "dotnet"] {
        let calls = [chunks(0, 17), chunks(u64::from(u32::MAX), 1 << 20), chunks(3, 1 << 19), chunks(5, 0)];
        cases.push(case(cycle(1 << 20, 5, 1 << 20, order), calls));
        // Readers that skip cycles, and readers that have several chunks of each cycle.
        cases.push(case(cycle(1_000, 2, u32::MAX, order), [chunks(0, 16_778), chunks(7, 9), chunks(0, 1)]));
        cases.push(case(cycle(5_592_406, 9, 2_000_000, order), [chunks(far, 8), chunks(9_007, 9), chunks(0, 7)]));
    }
    for order in ["sequential", "feistel"] {
        cases.push(case(cycle(1 << 40, 9, u32::MAX, order), [chunks(0, 3), chunks(1 << 20, 3)]));
        cases.push(case(cycle(300, 9, 300, order), [chunks(0, 3), chunks(1 << 20, 3)]));
    }
    cases
}

/// Streams that are refused. Where several rules are broken, the first one decides.
fn failures() -> Vec<Case> {
    let seed = S64(i64::MAX);
    let streams = [
        ChunkStream { order: "random".into(), reader: 3, ..cycle(MAX_EXACT + 1, 3, 0, "feistel") },
        ChunkStream { order: "Feistel".into(), ..cycle(0, 0, 1, "feistel") },
        unknown(0, 0, "feistel"),
        unknown(1, 1, "feistel"),
        unknown(0, 1, "feistel"),
        unknown(0, 1, "fisher-yates"),
        unknown(0, 1, "sharded"),
        cycle(0, 0, 1, "sequential"),
        ChunkStream { order: String::new(), ..cycle(5, 0, 1, "feistel") },
        ChunkStream { order: "\u{1F0A1}".repeat(70), ..cycle(5, 0, 1, "feistel") },
        cycle(0, 0, 0, "feistel"),
        cycle(MAX_EXACT + 1, 5, 0, "sequential"),
        cycle(0, 1, 1, "feistel"),
        cycle(5, 2, 2, "feistel"),
        cycle(5, u32::MAX, u32::MAX, "feistel"),
        cycle(MAX_EXACT + 1, 8, 8, "sharded"),
        cycle(0, 0, 1, "feistel"),
        cycle(0, 0, 1, "fisher-yates"),
        cycle(0, 0, 1, "sharded"),
        cycle(5, 0, 1, "sharded"),
        cycle(u64::MAX, 0, 1, "sharded"),
        cycle(MAX_EXACT + 1, 0, 1, "feistel"),
        cycle(u64::MAX, 0, 1, "sequential"),
        cycle(1 << 32, 0, 1, "fisher-yates"),
        cycle(1 << 32, 0, 1, "torch"),
        cycle(1 << 31, 0, 1, "dotnet"),
        ChunkStream { seed, ..cycle(1 << 31, 0, 1, "dotnet") },
        ChunkStream { seed, ..cycle(5, 0, 1, "dotnet") },
        ChunkStream { seed: S64(i64::from(i32::MIN) - 1), ..cycle(5, 0, 1, "dotnet") },
    ];
    streams.into_iter().map(|stream| case(stream, [chunks(0, 1)])).collect()
}

fn chunks(start: u64, count: u32) -> Call {
    Call::Chunks { start: U64(start), count }
}

fn endless(reader: u32, readers: u32) -> ChunkStream {
    unknown(reader, readers, "sequential")
}

/// A stream whose number of chunks is not known.
fn unknown(reader: u32, readers: u32, order: &str) -> ChunkStream {
    ChunkStream { chunks: None, ..cycle(1, reader, readers, order) }
}

fn cycle(chunks: u64, reader: u32, readers: u32, order: &str) -> ChunkStream {
    ChunkStream { chunks: Some(U64(chunks)), reader, readers, order: order.into(), seed: S64(0), epoch: U64(0) }
}

fn case(stream: ChunkStream, calls: impl IntoIterator<Item = Call>) -> Case {
    let ChunkStream { chunks, reader, readers, order, seed, epoch } = &stream;
    let chunks = chunks.map_or_else(|| "endless".into(), |chunks| format!("{} chunks", chunks.0));
    let name = format!("{order} {chunks} seed {} epoch {}, reader {reader} of {readers}", seed.0, epoch.0);
    asked(&name, Subject::ChunkStream(stream), calls)
}
