//! Options whose values have names, and what `--help` says of each value.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use samedeal::{
    Counting, Exhaustion, Failure, IndexSpace, Layout, Packing, Policy, Remainder, Strategy, Tail, TooLong, Weight,
    WorkerPolicy,
};

/// What an option can be.
pub trait Choice: FromStr<Err = Failure> + Clone + Send + Sync + 'static {
    /// The names of the values that the command takes, and a line about each.
    const VALUES: &[(&str, &str)];
}

/// Reads one of the names.
pub fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::VALUES.iter().map(|&(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<T>())
}

macro_rules! choices {
    ($($type:ident { $($variant:ident: $help:literal),* })*) => {
        $(impl Choice for $type {
            const VALUES: &[(&str, &str)] = &[$((Self::$variant.name(), $help)),*];
        })*
    };
}

choices! {
    Remainder {
        Drop: "All readers get the same number of samples; the last positions, fewer than there are readers, are left out",
        Pad: "All readers get the same number of samples; samples from the beginning of the order are dealt once more",
        Uneven: "Every sample once; readers may differ by one sample, and so by one batch"
    }
    Layout {
        Strided: "Rank r of W gets the positions r, r + W, r + 2 W and so on",
        Contiguous: "Each rank gets one run of neighbouring positions",
        Rotated: "As strided, but each row of W positions begins with another rank"
    }
    Strategy {
        Budget: "As many samples of similar length as --max-tokens or --max-cost allows",
        Bucket: "Samples of one range of lengths",
        Pack: "Rows of --capacity tokens, which several samples share",
        PadToMax: "--max-batch-size samples in the order of the epoch"
    }
    Counting {
        Padded: "The length of the longest sample of its batch",
        Unpadded: "Its own length",
        Weighted: "--linear * length + --quadratic * length^2"
    }
    Packing {
        Fast: "About as fast as sorting",
        Optimal: "The best result of several methods"
    }
    TooLong {
        Error: "It is an error",
        Truncate: "Their beginning is kept",
        Drop: "They are left out",
        Split: "Each of them becomes several items",
        Single: "Each of them is a batch of its own, also if it costs more than a batch may"
    }
    Tail {
        EvenSplit: "They make a smaller step, in which no rank is left empty",
        Drop: "They are left out",
        Keep: "They make a smaller step, in which some batches may be empty",
        Duplicate: "Some samples are repeated, until all ranks have the same number of rows"
    }
    // The third policy needs to know where files and ranks are.
    Policy {
        SizeAware: "So that all ranks have about the same --weight",
        RoundRobin: "In turn: rank i mod --world-size gets file i of the list"
    }
    WorkerPolicy {
        SizeAware: "So that all workers have about the same --weight",
        RoundRobin: "In turn: worker i mod --workers gets file i of the rank"
    }
    Weight {
        Samples: "The number of samples",
        Bytes: "The number of bytes"
    }
    Exhaustion {
        Repeat: "It goes on with another pass",
        Stop: "The epoch ends",
        Renormalise: "It leaves, and the others go on in proportion to their weights",
        Fail: "It is an error"
    }
    IndexSpace {
        Joined: "Each source has indices of its own, one source after the other",
        Shared: "All sources are parts of one dataset, and have its indices"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_the_library_has_a_line() {
        macro_rules! check {
            ($($type:ident),*) => {$(
                let names = $type::ALL.iter().map(|it| it.name()).collect::<Vec<_>>();
                assert_eq!($type::VALUES.iter().map(|&(name, _)| name).collect::<Vec<_>>(), names);
            )*};
        }
        check!(
            Remainder,
            Layout,
            Strategy,
            Counting,
            Packing,
            TooLong,
            Tail,
            WorkerPolicy,
            Weight,
            Exhaustion,
            IndexSpace
        );
        let all = Policy::ALL.iter().filter(|&&it| it != Policy::LocalityAware).map(|it| it.name()).collect::<Vec<_>>();
        assert_eq!(Policy::VALUES.iter().map(|&(name, _)| name).collect::<Vec<_>>(), all);
    }
}
