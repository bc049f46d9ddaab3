//! Records and names, written and read by `serde`.

use std::fmt::Debug;

use samedeal::{Batcher, Failure, FailureKind, Layout, Metrics, Sampler, Strategy};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[track_caller]
fn written<T: Serialize + DeserializeOwned + PartialEq + Debug>(record: &T, wanted: Value) {
    let found = serde_json::to_value(record).unwrap();
    assert_eq!(found, wanted);
    assert_eq!(&serde_json::from_value::<T>(found).unwrap(), record);
}

#[test]
fn records_are_objects_of_their_fields() {
    let sampler = Sampler::builder(10).seed(42).world_size(4).build().unwrap();
    let place = sampler.locate(0, 2).unwrap().unwrap();
    written(
        &place,
        json!({"position": 4, "rank": 0, "index_in_rank": 1, "batch": 0, "index_in_batch": 1, "num_padding": 0}),
    );
    let batcher = Batcher::builder([3, 9, 4].as_slice()).max_tokens(12).build().unwrap();
    let metrics = batcher.metrics().unwrap();
    assert_eq!(serde_json::from_str::<Metrics>(&serde_json::to_string(&metrics).unwrap()).unwrap(), metrics);
}

#[test]
fn names_are_their_names() {
    written(&Layout::Rotated, json!("rotated"));
    written(&Strategy::PadToMax, json!("pad-to-max"));
    let error = serde_json::from_str::<Layout>("\"diagonal\"").unwrap_err();
    assert!(error.to_string().contains("strided, contiguous, rotated"), "{error}");
    written(&FailureKind::OutOfRange, json!("out-of-range"));
    written(&FailureKind::Other("of-a-later-version".into()), json!("of-a-later-version"));
}

#[test]
fn failures_can_be_sent() {
    let error = Sampler::builder(10).world_size(2).rank(2).build().unwrap_err();
    let failure: &Failure = error.failure().unwrap();
    let sent: Failure = serde_json::from_str(&serde_json::to_string(failure).unwrap()).unwrap();
    assert_eq!(&sent, failure);
}
