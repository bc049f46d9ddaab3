//! `windows`: windows of equal length in episodes. The sample at a position is the first sample of a window.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use crate::base::{Failure, MAX_EXACT};
use crate::document::numbers;
use crate::order::{Composed, Epoch, Feistel, Shards};

pub(super) struct Windows {
    pub(super) seed: i64,
    pub(super) episodes: Shards,
    /// The windows of all episodes, end to end.
    pub(super) windows: Shards,
    /// The number of samples in a window. `stride` is the distance between the beginnings of two neighbouring windows.
    /// Both are at least 1.
    pub(super) length: u64,
    pub(super) stride: u64,
}

impl Windows {
    /// The number of windows in an episode.
    pub(super) fn of_episode(samples: u64, length: u64, stride: u64) -> u64 {
        samples.checked_sub(length).map_or(0, |rest| rest / stride + 1)
    }

    /// The window that begins at a sample, if there is one.
    fn window(&self, sample: u64) -> Option<u64> {
        if sample >= self.episodes.samples() {
            return None;
        }
        let (episode, offset) = self.episodes.find(sample);
        let number = offset / self.stride;
        let begins = offset % self.stride == 0 && number < self.windows.size(episode);
        begins.then(|| self.windows.start(episode) + number)
    }

    /// The first sample of a window.
    fn first(&self, window: u64) -> u64 {
        let (episode, number) = self.windows.find(window);
        self.episodes.start(episode) + number * self.stride
    }

    fn order(&self, epoch: u64) -> Feistel {
        Feistel::new(self.windows.samples(), self.seed, epoch)
    }
}

impl Composed for Windows {
    fn length(&self, _epoch: u64) -> Result<u64, Failure> {
        Ok(self.windows.samples())
    }

    fn steady(&self) -> Option<u64> {
        Some(self.windows.samples())
    }

    fn is_single(&self) -> bool {
        true
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        Ok(Box::new(WindowsEpoch { order: self.order(epoch), windows: self }))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        let Some(window) = self.window(sample) else { return Ok(0) };
        Ok(epoch + u64::from(position > 0 && self.order(epoch).position(window) < position))
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        let window = self.window(sample).filter(|_| number < MAX_EXACT);
        Ok(window.map(|window| (number, self.order(number).position(window))))
    }

    fn members(&self, seed: &str) -> String {
        let Self { length, stride, episodes, .. } = self;
        let sizes = numbers::text(episodes.sizes());
        format!("{seed},\"sizes\":{sizes},\"length\":{length},\"stride\":{stride}")
    }
}

struct WindowsEpoch {
    windows: Rc<Windows>,
    order: Feistel,
}

impl Epoch for WindowsEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        Ok(self.windows.first(self.order.sample(position)))
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        self.order.map(places);
        places.iter_mut().for_each(|place| *place = self.windows.first(*place));
        Ok(())
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let position = self.windows.window(sample).map(|window| self.order.position(window));
        Ok(position.filter(|&position| position >= from))
    }
}
