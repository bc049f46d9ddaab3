//! Tests of the modules of the Rust host.

use super::{check_parts, made};

#[test]
fn names_become_links_to_what_there_is() {
    let made = made("rust", "links");
    check_parts(
        &made,
        &[
            // Links to a method of the same class and to a method of another class. A function does not link to itself.
            ("sampler.rs", "0 to [`world_size`](Self::world_size) - 1."),
            ("schedule.rs", "as with [`Sampler::resume`](crate::Sampler::resume)."),
            ("sampler.rs", "It is the largest `taken` that [`state`](Self::state) accepts."),
            ("sampler.rs", "`None` if"),
            ("builder.rs", "Only with the order `sharded` or `windows`."),
            ("batch_builder.rs", "[`Strategy::Pack`](crate::Strategy::Pack)"),
        ],
    );
    for (name, text) in made {
        assert!(!text.contains("64-bit"), "{name}");
    }
}

#[test]
fn errors_of_another_function_are_told_in_place() {
    check_parts(
        &made("rust", "errors"),
        &[(
            "reading.rs",
            "    /// # Errors
    ///
    /// - [`OutOfRange`](crate::FailureKind::OutOfRange): `rank`: not below [`world_size`](Self::world_size); `worker`:
    ///   not below [`workers`](Self::workers)
    /// - [`OutOfMemory`](crate::FailureKind::OutOfMemory)
    pub fn num_padding(",
        )],
    );
}
