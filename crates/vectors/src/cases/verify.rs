//! The shards of all readers, compared with the shards that exist.

use matrix::format::{Call, Case, Subject};

use super::asked;

pub fn cases() -> Vec<Case> {
    let lists = |name: &str, num_shards, readers: &[&[u32]]| {
        let mut offsets = vec![0];
        offsets.extend(readers.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        }));
        let verify = Call::Verify { num_shards, offsets, assigned: readers.concat() };
        asked(name, Subject::Functions {}, [verify])
    };
    vec![
        lists("every shard once", 6, &[&[0, 2, 4], &[5, 3, 1]]),
        lists("one reader", 4, &[&[3, 0, 2, 1]]),
        lists("a reader without shards", 3, &[&[0, 1], &[], &[2]]),
        lists("gaps, ascending", 8, &[&[6, 2], &[4, 0]]),
        lists("nobody has anything", 3, &[&[], &[]]),
        lists("no readers", 3, &[]),
        lists("no shards, no readers", 0, &[]),
        lists("no shards", 0, &[&[], &[]]),
        lists("two readers have the same", 4, &[&[0, 1, 2], &[1, 3, 2]]),
        lists("all ranks read the same files", 3, &[&[0, 1, 2], &[0, 1, 2], &[0, 1, 2]]),
        lists("a reader has one twice", 3, &[&[0, 1, 1, 1], &[2]]),
        lists("overlaps in the order of the readers, and gaps", 7, &[&[5, 5], &[4, 3], &[3, 5], &[0, 4, 3]]),
        lists("no such shard", 3, &[&[0, 1], &[2, 3]]),
        lists("the first that does not exist", 2, &[&[0, 7], &[u32::MAX]]),
        lists("no such shard: there are none", 0, &[&[0]]),
        lists("no such shard, after an overlap", 2, &[&[0, 0, 2]]),
        asked(
            "offsets that are none",
            Subject::Functions {},
            [
                raw(2, &[], &[]),
                raw(2, &[], &[0, 1]),
                raw(2, &[1, 2], &[0, 1]),
                raw(2, &[0, 1], &[0, 1]),
                raw(2, &[0, 3], &[0, 1]),
                raw(2, &[0, 2, 1, 2], &[0, 1]),
                raw(2, &[0, 3, 2], &[0, 1]),
                raw(2, &[0, u32::MAX], &[0, 1]),
                raw(0, &[1], &[9]),
                raw(2, &[0, 3], &[9, 9]),
                raw(2, &[0, 0, 2, 2], &[0, 1]),
            ],
        ),
        asked(
            "more gaps than any list holds",
            Subject::Functions {},
            [
                raw(u32::MAX, &[0], &[]),
                raw(u32::MAX, &[0, 3, 5], &[u32::MAX - 1, 7, 1 << 31, 7, 0]),
                raw(u32::MAX, &[0, 1], &[u32::MAX]),
                raw(4_000_000_000, &[0, 0, 4, 4, 7], &[9, 8, 9, 10, 8, 9, 3_999_999_999]),
            ],
        ),
    ]
}

fn raw(num_shards: u32, offsets: &[u32], assigned: &[u32]) -> Call {
    Call::Verify { num_shards, offsets: offsets.to_vec(), assigned: assigned.to_vec() }
}
