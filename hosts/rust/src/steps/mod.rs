//! Steps over epochs: a whole training in one row of steps, with a global batch size that can change.

mod builder;
mod iter;
mod schedule;

pub use builder::ScheduleBuilder;
pub use iter::ScheduleSteps;
pub use schedule::Schedule;
