use crate::engine::{MOST_MEMORY, Object, shards};
use crate::recipe::Draft;
use crate::setters::setters;
use crate::{Error, ShardPlan};

/// The options of a new [`ShardPlan`]; see [`ShardPlan::builder`] and [`ShardPlan::from_recipe`]. An option that is not
/// set has its default. `build` refuses an option that the policy does not use.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct PlanBuilder {
    pub(crate) draft: Draft,
    epoch: u64,
    memory_limit: usize,
}

impl PlanBuilder {
    pub(super) fn new(recipe: Option<String>) -> Self {
        let mut draft = Draft::new(recipe);
        if draft.is_new() {
            draft.write("shards");
        }
        Self { draft, epoch: 0, memory_limit: MOST_MEMORY }
    }

    setters!(epoch memory_limit lists);

    /// For each shard, the numbers of the nodes that store it, at least one. Required with
    /// [`Policy::LocalityAware`](crate::Policy::LocalityAware), and refused without it.
    ///
    /// ```
    /// use samedeal::{Policy, ShardPlan, Tier};
    ///
    /// // Four shards on the nodes 0 and 1, the last one on both; rank 0 runs on node 0, rank 1 on node 1.
    /// let builder = ShardPlan::builder([10; 4]).shuffle(false).policy(Policy::LocalityAware).world_size(2);
    /// let plan = builder.holders([vec![1], vec![0], vec![1], vec![0, 1]]).rank_nodes([0, 1]).build()?;
    /// assert_eq!(plan.shards(0, 0)?, [1, 3]);
    /// let loads = plan.loads(Tier::Ranks)?;
    /// assert_eq!(loads.local.as_ref(), Some(&loads.samples));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn holders<L: AsRef<[u32]>>(mut self, holders: impl IntoIterator<Item = L>) -> Self {
        let (mut offsets, mut numbers) = (vec![0], Vec::new());
        for nodes in holders {
            numbers.extend(nodes.as_ref().iter().map(|&node| u64::from(node)));
            offsets.push(numbers.len() as u64);
        }
        self.draft.list("holders", numbers);
        self.draft.list("holder_offsets", offsets);
        self
    }

    /// For each rank, the number of the node on which it runs. Required with
    /// [`Policy::LocalityAware`](crate::Policy::LocalityAware), and refused without it.
    pub fn rank_nodes(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        self.draft.list("rank_nodes", nodes.into_iter().map(u64::from).collect::<Vec<_>>());
        self
    }

    /// Assigns every shard to one reader. Costs O(shards log shards), since the shards are sorted by their weight, unless
    /// both policies are round-robin. A million shards and thousands of ranks take less than a second. The first
    /// plan also compiles the component, in about 0.4 s (in a debug build, in seconds), unless the cache has its
    /// machine code.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`memory_limit`; `recipe`: more than 2^24 bytes; any option),
    /// [`Missing`](crate::FailureKind::Missing) (`sizes`, `bytes`, `holders`, `holder_offsets`, `rank_nodes`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (an option that the policy does not use; a list that does
    /// not fit the others or the recipe), of a recipe [`UnknownName`](crate::FailureKind::UnknownName),
    /// [`UnknownMember`](crate::FailureKind::UnknownMember) and [`WrongType`](crate::FailureKind::WrongType) (any
    /// member), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<ShardPlan, Error> {
        let Self { draft, epoch, memory_limit } = self;
        ShardPlan::of(draft.make(memory_limit, |instance, recipe, lists| {
            Object::<shards::Plan>::new(instance, recipe, lists, epoch)
        })?)
    }
}
