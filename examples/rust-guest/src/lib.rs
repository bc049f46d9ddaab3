//! A component that imports the interface `sampling`: all batches of one rank.

mod bindings {
    #![allow(unsafe_code)]
    wit_bindgen::generate!({ path: "../guest-world/wit", world: "guest", generate_all });
    export!(Component with_types_in self);
    use super::Component;
}

use bindings::samedeal::deal::sampling::Sampler;
use bindings::samedeal::deal::types::Failure;

struct Component;

impl bindings::Guest for Component {
    fn batches(recipe: String, epoch: u64, rank: u32, batch_size: u32) -> Result<Vec<Vec<u64>>, String> {
        batches(&recipe, epoch, rank, batch_size)
            .map_err(|Failure { field, value, allowed, .. }| format!("{field} is {value}; allowed: {allowed}"))
    }
}

fn batches(recipe: &str, epoch: u64, rank: u32, batch_size: u32) -> Result<Vec<Vec<u64>>, Failure> {
    let sampler = Sampler::new(recipe, &[], epoch, rank)?;
    (0..sampler.num_batches(batch_size, false)?).map(|number| sampler.batch(number, batch_size, false)).collect()
}
