use crate::{Builder, Sampler};

/// The constructor for the order `sharded`.
impl Sampler {
    /// A sampler with the order `sharded`, for a dataset in shards of `sizes` samples. Sample index 0 is the first sample of the first
    /// shard; indices go on through the shards in this order. Shards may be empty. The shards are shuffled, laid end to end, and cut
    /// into [`lanes`](Builder::lanes) of equal length. Within a lane, windows of [`shuffle_window`](Builder::shuffle_window)
    /// neighbouring samples are shuffled. Successive positions come from successive lanes. The order does not depend on the number of
    /// ranks. If that number divides the lanes, each rank reads its own lanes, holds one window of each in memory, and ends on the
    /// same step.
    ///
    /// ```
    /// use samedeal::Sampler;
    /// let builder = Sampler::sharded([300, 0, 500, 200]).lanes(4).shuffle_window(16);
    /// let sampler = builder.seed(42).rank(1).world_size(2).build()?;
    /// assert_eq!((sampler.num_samples(), sampler.num_rounds()?), (500, 16));
    /// // Rank 1 of 2 reads the lanes 1 and 3. Round 1 says which rows to read for the samples 32 to 63 of this rank.
    /// let round = sampler.round(1)?;
    /// assert_eq!((round.start, round.count), (32, 32));
    /// assert!(round.spans.iter().all(|span| span.lane == 1 || span.lane == 3));
    /// for sample in sampler.indices(32..64)? {
    ///     let place = sampler.shard_of(sample)?;
    ///     let mut of_shard = round.spans.iter().filter(|span| span.shard == place.shard);
    ///     assert!(of_shard.any(|span| (span.first_row..span.first_row + span.num_rows).contains(&place.row)));
    /// }
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn sharded(sizes: impl Into<Vec<u64>>) -> Builder {
        Builder::new(None).order("sharded").sizes(sizes)
    }
}
