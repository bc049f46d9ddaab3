//! Caches of a blend `by_lane`: the stages of its lanes, and the orders of its sources.

use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_bulk::Divisor;

use crate::base::Failure;
use crate::base::memory::{collect, grow};
use crate::order::{Order, OrderPart};

/// The most passes over a source whose orders are kept. Lanes of one source can be in different passes.
const MAX_PASSES: usize = 4;

/// The lanes of a blend.
pub(super) struct Lanes {
    pub(super) count: Divisor,
    /// For each lane, the beginning of the stage that was used last. The beginning of a later stage is computed from
    /// it.
    pub(super) begun: RefCell<Vec<Option<Begun>>>,
    /// For each source, the last result of `Blend::passes`, with its position.
    pub(super) passes: RefCell<Vec<Option<Reached>>>,
}

/// A pass over a source, and a position in it.
pub(super) type Place = (u64, u64);

/// A position, counted over all epochs, and the least and the greatest pass in which a lane is at this position.
pub(super) type Reached = (u64, (u64, u64));

/// The beginning of a stage in a lane.
pub(super) struct Begun {
    pub(super) stage: usize,
    /// For each source, its draws in this lane before the stage.
    pub(super) before: Vec<u64>,
    /// `before`, less the number of draws of each source in the pattern before the phase of the lane; modulo 2^64.
    pub(super) base: Vec<u64>,
}

impl Lanes {
    /// Failures: `out-of-memory`.
    pub(super) fn new(count: u64, sources: usize) -> Result<Self, Failure> {
        let begun = collect("lanes", count as usize, (0..count).map(|_| None))?;
        let passes = collect("sources", sources, (0..sources).map(|_| None))?;
        Ok(Self { count: Divisor::new(count), begun: begun.into(), passes: passes.into() })
    }
}

/// The orders of the passes over a source that were read last.
#[derive(Default)]
pub(super) struct Passes(Vec<(u64, Order)>);

impl Passes {
    /// The order of a pass. Failures: `out-of-memory`; `epoch`, if the pass cannot be used.
    pub(super) fn order(&mut self, part: &OrderPart, pass: u64) -> Result<&Order, Failure> {
        match self.0.iter().position(|own| own.0 == pass) {
            Some(0) => {}
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                part.length(pass)?;
                let order = part.order(pass)?;
                if self.0.len() < MAX_PASSES {
                    grow("sources", 1, &mut self.0)?;
                } else {
                    self.0.pop();
                }
                self.0.insert(0, (pass, order));
            }
        }
        Ok(&self.0[0].1)
    }
}
