use alloc::string::{String, ToString};
use alloc::vec::Vec;

use samedeal_core::launch as core_;

use crate::Component;
use crate::bindings::{launch, types};

impl launch::Guest for Component {
    fn variables() -> Vec<String> {
        core_::variables().map(ToString::to_string).collect()
    }

    fn detect(
        environment: Vec<(String, String)>,
        rank: Option<u32>,
        world_size: Option<u32>,
    ) -> Result<launch::Detection, types::Failure> {
        let core_::Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings } =
            core_::detect(&environment, rank, world_size)?;
        let launcher = launcher.to_string();
        Ok(launch::Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings })
    }
}
