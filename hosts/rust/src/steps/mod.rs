//! Schedules: the steps of a whole training, over the ends of epochs, with a global batch size that can change.

mod builder;
mod iter;
mod schedule;

pub use builder::ScheduleBuilder;
pub use iter::ScheduleSteps;
pub use schedule::Schedule;
