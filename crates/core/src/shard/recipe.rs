//! The section `shards` of a recipe, and the recipe of a plan.
//!
//! Nothing here is asked often: it is kept out of line, since every host compiles the component when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::locality::Locality;
use super::plan::{Plan, PlanConfig, Policy, Weight, WorkerPolicy, check_bytes};
use crate::Failure;
use crate::base::names::{name_of, named};
use crate::order::check_sums;
use crate::order::total;
use crate::state::fields::{Fields, Key, Kind};
use crate::state::numbers;
use crate::state::recipe::{self, List, VERSION};
use crate::state::signed_text;

const POLICIES: [(&str, Policy); 3] =
    [("size-aware", Policy::SizeAware), ("round-robin", Policy::RoundRobin), ("locality-aware", Policy::LocalityAware)];
const WORKER_POLICIES: [(&str, WorkerPolicy); 2] =
    [("size-aware", WorkerPolicy::SizeAware), ("round-robin", WorkerPolicy::RoundRobin)];
pub(super) const WEIGHTS: [(&str, Weight); 2] = [("samples", Weight::Samples), ("bytes", Weight::Bytes)];

/// How far a rank may exceed the mean, unless it is given: 5 %.
const DEFAULT_TOLERANCE: u32 = 50;

/// In the order of the canonical text.
pub(crate) const MEMBERS: &[Key] = &[
    Key { name: "shuffle", field: "shuffle", kind: Kind::Flag },
    Key { name: "shuffle_rows", field: "shuffle-rows", kind: Kind::Flag },
    Key { name: "reshuffle", field: "reshuffle", kind: Kind::Flag },
    Key { name: "seed", field: "seed", kind: Kind::Signed },
    Key { name: "policy", field: "policy", kind: Kind::Text },
    Key { name: "worker_policy", field: "worker-policy", kind: Kind::Text },
    Key { name: "weight", field: "weight", kind: Kind::Text },
    Key { name: "tolerance", field: "tolerance", kind: Kind::SHORT },
    Key { name: "samples", field: "samples", kind: Kind::COUNT },
    Key { name: "shards", field: "shards", kind: Kind::COUNT },
    Key { name: "sizes", field: "sizes", kind: Kind::Numbers },
    Key { name: "bytes", field: "bytes", kind: Kind::Numbers },
    Key { name: "holders", field: "holders", kind: Kind::Numbers },
    Key { name: "holder_offsets", field: "holder-offsets", kind: Kind::Numbers },
    Key { name: "rank_nodes", field: "rank-nodes", kind: Kind::Numbers },
];

/// The section of whole shards.
pub(crate) const SHARDS: Key = Key { name: "shards", field: "shards", kind: Kind::Section(MEMBERS) };

const SECTIONS: &[Key] = &[
    recipe::SAMEDEAL,
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    SHARDS,
    Key { name: "deal", field: "deal", kind: Kind::Section(DEAL) },
    Key {
        name: "order",
        field: "order",
        kind: Kind::Elsewhere(
            "none in the recipe of a plan: it deals whole shards, and single samples belong to samplers and readers",
        ),
    },
    Key {
        name: "batch",
        field: "batch",
        kind: Kind::Elsewhere("none in the recipe of a plan: it says nothing of batches"),
    },
];
const DEAL: &[Key] = &[
    Key { name: "world_size", field: "world-size", kind: Kind::SHORT },
    Key { name: "workers", field: "workers", kind: Kind::SHORT },
    Key { name: "remainder", field: "remainder", kind: OF_SAMPLES },
    Key { name: "layout", field: "layout", kind: OF_SAMPLES },
    Key { name: "unit", field: "unit", kind: OF_SAMPLES },
    Key { name: "readers", field: "readers", kind: recipe::OF_STREAMS },
];
const OF_SAMPLES: Kind = Kind::Elsewhere("none here: it belongs to a deal of single samples");

/// The fields that may be lists.
pub(crate) const LISTS: [&str; 5] = ["sizes", "bytes", "holders", "holder_offsets", "rank_nodes"];

impl Plan {
    /// The plan of a recipe, in an epoch. Failures: `recipe` (no JSON object, or more than 2^24 bytes), `recipe-member`,
    /// `shards-member` or `deal-member` (an unknown one), `lists` (an unknown name), or any field.
    #[inline(never)]
    pub fn from_recipe(text: &str, lists: &[List], epoch: u64) -> Result<Self, Failure> {
        let fields = recipe::fields(text, SECTIONS, lists, &LISTS)?;
        let Some(shards) = fields.section("shards") else {
            return Err(Failure::missing("shards", "the section that has the shards and how they are dealt"));
        };
        let empty = Fields::default();
        let deal = fields.section("deal").unwrap_or(&empty);
        let mut config = PlanConfig::read(shards, lists)?;
        config.world_size = deal.u32("world-size")?.unwrap_or(1);
        config.workers = deal.u32("workers")?.unwrap_or(1);
        Self::new(Rc::new(config), epoch)
    }

    /// The recipe in its canonical form: JSON in one line, with every member that there is, the defaults too.
    #[inline(never)]
    pub fn recipe(&self) -> String {
        let config = self.config();
        let PlanConfig { world_size, workers, .. } = config;
        format!(
            "{{\"samedeal\":{VERSION},\"shards\":{},\"deal\":{{\"world_size\":{world_size},\"workers\":{workers}}}}}",
            config.section()
        )
    }

    /// SHA-256 over that text, in hexadecimal.
    pub fn recipe_fingerprint(&self) -> String {
        recipe::fingerprint(&self.recipe())
    }
}

impl PlanConfig {
    /// What the section says, for one worker of one rank. Failures: any field.
    #[inline(never)]
    pub(crate) fn read(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        let shuffle = fields.flag("shuffle").unwrap_or(true);
        let policy = named("policy", fields.text("policy"), &POLICIES)?;
        if policy != Policy::LocalityAware {
            for field in ["tolerance", "holders", "holder-offsets", "rank-nodes"] {
                let beside = recipe::beside(field, lists).map(|list| format!("{} numbers", list.len()));
                if let Some(value) = fields.shown(field).or(beside) {
                    let name = name_of(&policy, &POLICIES);
                    let allowed = format!("none with the policy {name}, since it goes with locality-aware");
                    return Err(Failure::contradiction(field, value, allowed));
                }
            }
        }
        let Some(sizes) = recipe::list("sizes", "the samples of each shard", fields, lists)? else {
            return Err(Failure::missing("sizes", "the samples of each shard"));
        };
        check_sums(fields, sizes.len() as u64, total(&sizes, "sizes")?)?;
        let weight = named("weight", fields.text("weight"), &WEIGHTS)?;
        let bytes = recipe::list("bytes", "the bytes of each shard", fields, lists)?;
        check_bytes(bytes.as_deref(), weight, sizes.len())?;
        let locality = match policy {
            Policy::LocalityAware => Some(locality(fields, lists)?),
            _ => None,
        };
        Ok(Self {
            policy,
            worker_policy: named("worker-policy", fields.text("worker-policy"), &WORKER_POLICIES)?,
            weight,
            bytes,
            locality,
            shuffle,
            shuffle_rows: fields.flag("shuffle-rows").unwrap_or(shuffle),
            reshuffle: fields.flag("reshuffle").unwrap_or(false),
            seed: fields.signed("seed").unwrap_or(0),
            ..Self::new(sizes, 1, 1)
        })
    }

    /// The section in its canonical form.
    #[inline(never)]
    pub(crate) fn section(&self) -> String {
        let Self { sizes, bytes, policy, worker_policy, weight, .. } = self;
        let locality = self.used_locality();
        let Self { shuffle, shuffle_rows, reshuffle, .. } = self;
        let seed = signed_text(self.seed);
        let [policy, worker_policy, weight] =
            [name_of(policy, &POLICIES), name_of(worker_policy, &WORKER_POLICIES), name_of(weight, &WEIGHTS)];
        let mut text = format!(
            "{{\"shuffle\":{shuffle},\"shuffle_rows\":{shuffle_rows},\"reshuffle\":{reshuffle},\"seed\":{seed},\
             \"policy\":\"{policy}\",\"worker_policy\":\"{worker_policy}\",\"weight\":\"{weight}\""
        );
        if let Some(Locality { tolerance, .. }) = locality {
            text += &format!(",\"tolerance\":{tolerance}");
        }
        let samples: u64 = sizes.iter().sum();
        let all = numbers::text(sizes.iter().copied());
        text += &format!(",\"samples\":{samples},\"shards\":{},\"sizes\":{all}", sizes.len());
        if let Some(bytes) = bytes {
            text += &format!(",\"bytes\":{}", numbers::text(bytes.iter().copied()));
        }
        if let Some(Locality { offsets, holders, rank_nodes, .. }) = locality {
            for (name, list) in [("holders", holders), ("holder_offsets", offsets), ("rank_nodes", rank_nodes)] {
                text += &format!(",\"{name}\":{}", numbers::text(list.iter().map(|&number| number.into())));
            }
        }
        text + "}"
    }
}

/// Failures: `holders`, `holder-offsets`, `rank-nodes`, `tolerance`.
fn locality(fields: &Fields, lists: &[List]) -> Result<Locality, Failure> {
    let list = |field, what: &'static str| {
        recipe::list32(field, what, fields, lists)?
            .ok_or_else(|| Failure::missing(field, format!("{what}, with the policy locality-aware")))
    };
    Ok(Locality {
        holders: list("holders", "the nodes that store each shard")?,
        offsets: list("holder-offsets", "where the nodes of each shard are in holders")?,
        rank_nodes: list("rank-nodes", "the node that runs each rank")?,
        tolerance: fields.u32("tolerance")?.unwrap_or(DEFAULT_TOLERANCE),
    })
}
