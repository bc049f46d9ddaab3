//! Orders: the sample at each position of an epoch.

mod compose;
mod dotnet;
mod epoch;
mod feistel;
mod fisher_yates;
mod id;
mod index;
mod members;
mod mt19937;
mod part;
mod python;
mod recipe;
mod selection;
mod sharded;
mod shards;
mod spans;
mod stored;
mod table;
mod torch;

use epoch::Epoch;
pub use epoch::Order;
pub(crate) use feistel::{Feistel, MULTIPLIERS, mix};
pub(crate) use fisher_yates::shuffle;
#[cfg(feature = "texts")]
pub(crate) use id::COMPOSED;
pub use id::OrderId;
pub use index::Index;
pub(crate) use index::in_blocks;
#[cfg(feature = "texts")]
pub(crate) use members::ANY_ORDER_MEMBERS;
pub(crate) use members::{ANY_ORDER, COMPOSED_MEMBERS, ORDERS, of_order};
use part::{Composed, InLanes, last};
pub(crate) use part::{Drawn, OrderPart, Sources};
pub(crate) use recipe::check_sums;
#[cfg(feature = "texts")]
pub(crate) use sharded::MAX_WINDOW;
pub(crate) use sharded::{MAX_LANES, Sharding};
pub(crate) use shards::{Shards, total};
pub use spans::Spans;
pub(crate) use stored::Stored;
