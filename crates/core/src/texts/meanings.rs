//! Descriptions of the names that members may have, for people. The component does not contain them. Orders have theirs
//! in their own table (`order/id.rs`).

/// The names and their descriptions, by the members that may have them.
const MEANINGS: &[(&str, &[(&str, &str)])] = &[
    (
        "remainder",
        &[
            (
                "drop",
                "All readers get the same number of samples; the last positions, less than a unit for each reader, are left out.",
            ),
            (
                "pad",
                "All readers get the same number of samples; samples from the beginning of the order are dealt once more.",
            ),
            ("uneven", "Every sample once; readers may differ by one unit, which is one sample by default."),
        ],
    ),
    (
        "layout",
        &[
            ("strided", "Rank r of W gets the units r, r + W, r + 2 W and so on; a unit is one position by default."),
            ("contiguous", "Each rank gets one run of neighbouring units."),
            ("rotated", "As `strided`, but a hash chooses the rank with which each row of W units begins."),
        ],
    ),
    (
        "strategy",
        &[
            ("budget", "As many samples of similar length as `max_tokens` or `max_cost` allows."),
            ("bucket", "Samples of one range of lengths."),
            ("pack", "Rows of `capacity` tokens, which several samples share."),
            ("pad-to-max", "`max_batch_size` samples in the order of the epoch."),
        ],
    ),
    (
        "counting",
        &[
            ("padded", "The length of the longest sample of its batch."),
            ("unpadded", "Its own length."),
            ("weighted", "`linear` * length + `quadratic` * length * length."),
        ],
    ),
    ("packing", &[("fast", "About as fast as sorting."), ("optimal", "The best result of several methods.")]),
    (
        "too_long",
        &[
            ("error", "It is an error."),
            ("truncate", "Its beginning is kept."),
            ("drop", "It is left out."),
            ("split", "It becomes several items."),
            ("single", "It is a batch of its own, also if it costs more than a batch may."),
        ],
    ),
    (
        "tail",
        &[
            (
                "even-split",
                "They make a smaller step. If it has fewer items than ranks, the step before gives up some, as far as it can.",
            ),
            ("drop", "They are left out."),
            ("keep", "They make a smaller step, in which some batches may be empty."),
            ("duplicate", "Some samples are repeated, until all ranks have the same number of rows."),
        ],
    ),
    (
        "policy",
        &[
            ("size-aware", "So that all ranks have about the same load: samples or bytes, by `balance_by`."),
            ("round-robin", "In turn: rank i mod `world_size` gets shard i of the list."),
            ("locality-aware", "To ranks whose node stores the shard, within `tolerance`."),
        ],
    ),
    (
        "worker_policy",
        &[
            ("size-aware", "So that all workers have about the same load: samples or bytes, by `balance_by`."),
            ("round-robin", "In turn: worker i mod `workers` gets shard i of the rank."),
        ],
    ),
    ("balance_by", &[("samples", "The number of samples."), ("bytes", "The number of bytes.")]),
    (
        "exhaustion",
        &[
            ("repeat", "It goes on with another pass."),
            ("stop", "The epoch ends."),
            ("renormalize", "It leaves, and the others go on in proportion to their weights."),
            ("fail", "It is an error."),
        ],
    ),
    (
        "index_space",
        &[
            ("joined", "Each source has indices of its own, one source after the other."),
            ("shared", "All sources are parts of one dataset, and have its indices."),
        ],
    ),
];

/// The description of `name`, one of the names that a member may have as its value; empty if there is no description.
pub fn meaning(member: &str, name: &str) -> &'static str {
    let names = MEANINGS.iter().find(|(own, _)| *own == member).map_or(&[][..], |(_, names)| names);
    names.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| text)
}

#[cfg(all(test, not(feature = "grown")))]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;
    use crate::texts::tables::{Value, described};

    #[test]
    fn every_name_of_a_member_has_a_text() {
        let mut known = BTreeSet::new();
        for member in described() {
            if let Value::Name(names) = member.value {
                known.extend(names.iter().map(|name| (member.name, *name)));
            }
        }
        let told: BTreeSet<_> =
            MEANINGS.iter().flat_map(|(member, names)| names.iter().map(|(name, _)| (*member, *name))).collect();
        assert_eq!(told, known);
    }
}
