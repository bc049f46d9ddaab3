use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::Component;
use crate::bindings::{splits, types};

impl splits::Guest for Component {
    type Split = Split;
    type ExactSizes = ExactSizes;
}

pub struct Split(samedeal_core::Split);

impl splits::GuestSplit for Split {
    fn new(recipe: String) -> Result<Self, types::Failure> {
        Ok(Self(samedeal_core::Split::read(&recipe)?))
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.text()?)
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.fingerprint()
    }

    fn parts(&self) -> Result<Vec<String>, types::Failure> {
        Ok(self.0.parts()?)
    }

    fn part_of(&self, ids: Vec<u64>) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.part_of(&ids)?)
    }

    fn part_of_run(&self, start: u64, count: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.part_of_run(start, count)?)
    }

    fn part_of_keys(&self, keys: String, ends: Vec<u32>) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.part_of_keys(&keys, &ends)?)
    }

    fn members(&self, part: u32, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.members(part, start, count)?)
    }

    fn exact_sizes(&self) -> Result<splits::ExactSizes, types::Failure> {
        Ok(splits::ExactSizes::new(ExactSizes(RefCell::new(self.0.exact_sizes()?))))
    }
}

pub struct ExactSizes(RefCell<samedeal_core::ExactSizes>);

impl splits::GuestExactSizes for ExactSizes {
    fn add_ids(&self, ids: Vec<u64>) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().add_ids(&ids)?)
    }

    fn add_keys(&self, keys: String, ends: Vec<u32>) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().add_keys(&keys, &ends)?)
    }

    fn recipe(&self, rest: String) -> Result<String, types::Failure> {
        Ok(self.0.borrow_mut().recipe(&rest)?)
    }
}
