//! The section `shards` of a recipe, and the recipe of a plan.
//!
//! Functions here are not inlined: they are rarely called, and every host compiles the component when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::locality::Locality;
use super::names::{BALANCE_BY, POLICIES, Policy, WORKER_POLICIES};
use super::plan::{MAX_READERS, Plan, PlanConfig, check_bytes};
use crate::base::Failure;
use crate::base::memory::Pieces;
use crate::base::names::name_of;
use crate::document::fields::Fields;
use crate::document::lists::{List, check_lists};
use crate::document::member::{Default, Kind, Member, Place, is, names, place, text};
use crate::document::numbers;
use crate::document::recipe::{self, VERSION};
use crate::document::signed_text;
use crate::order::{check_sums, total};
use crate::{deal, order};

const NEAR: Place = place![[is("policy", &["locality-aware"])]];

/// The members of the section `shards`, in the order of the canonical text.
pub(crate) const MEMBERS: &[Member] = &[
    Member::new("shuffle", Kind::Flag)
        .or(Default::Flag(true))
        .text(text!("Whether the list of shards is shuffled before it is dealt.")),
    Member::new("shuffle_rows", Kind::Flag)
        .text(text!("Whether the rows within each shard are shuffled; by default, the value of `shuffle`.")),
    Member::new("reshuffle", Kind::Flag)
        .or(Default::Flag(false))
        .text(text!("Whether each reader shuffles its own shards again, after the deal.")),
    recipe::SEED,
    Member::new("policy", Kind::Name(const { &names(&POLICIES) })).text(text!("How shards are dealt to ranks.")),
    Member::new("worker_policy", Kind::Name(const { &names(&WORKER_POLICIES) }))
        .text(text!("How the shards of a rank are dealt to its workers.")),
    Member::new("balance_by", Kind::Name(const { &names(&BALANCE_BY) }))
        .text(text!("What is balanced between ranks and between workers: the number of samples, or of bytes.")),
    Member::new("tolerance", Kind::SHORT).with(NEAR).or_number(50).text(text!(
        "How far the weight of a rank may exceed the mean for the sake of locality, in thousandths of the mean."
    )),
    Member::new("samples", Kind::COUNT).text(text!("The sum of `sizes`.")),
    Member::new("shards", Kind::COUNT).text(text!("The number of `sizes`.")),
    Member::new("sizes", Kind::NUMBERS)
        .required("the samples of each shard")
        .text(text!("Number of samples in each shard.")),
    Member::new("bytes", Kind::NUMBERS).text(text!("Number of bytes in each shard.")),
    Member::new("holders", Kind::SHORT_NUMBERS).with(NEAR).required("the nodes that store each shard"),
    Member::new("holder_offsets", Kind::SHORT_NUMBERS)
        .with(NEAR)
        .required("where the nodes of each shard are in holders"),
    Member::new("rank_nodes", Kind::SHORT_NUMBERS).with(NEAR).required("the node that runs each rank"),
];

/// The section `shards`.
pub(crate) const SHARDS: Member =
    Member::new("shards", Kind::Section(MEMBERS)).required("the section that has the shards and how they are dealt");

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    SHARDS,
    deal::DEAL.of(Kind::Section(DEAL)),
    order::ANY_ORDER.elsewhere(
        "none in the recipe of a plan: it deals whole shards, and single samples belong to samplers and readers",
    ),
    Member::new("batch", Kind::Elsewhere("none in the recipe of a plan: it says nothing of batches")),
];
const DEAL: &[Member] = &[
    deal::WORLD_SIZE.of(Kind::from_one(MAX_READERS)),
    deal::WORKERS.of(Kind::from_one(MAX_READERS)),
    deal::REMAINDER.elsewhere(OF_SAMPLES),
    deal::LAYOUT.elsewhere(OF_SAMPLES),
    deal::UNIT.elsewhere(OF_SAMPLES),
    deal::READERS.elsewhere(recipe::OF_STREAMS),
];
const OF_SAMPLES: &str = "none here: it belongs to a deal of single samples";

impl Plan {
    /// The plan of a recipe, in an epoch. Failures: `recipe` (no JSON object, or more than 2^24 bytes), an unknown
    /// member, `lists` (an unknown name), or any field.
    #[inline(never)]
    pub fn from_recipe(text: &str, lists: &[List], epoch: u64) -> Result<Self, Failure> {
        recipe::read(text, SECTIONS, lists, |fields| {
            let mut config = PlanConfig::read(fields.section("shards"), lists)?;
            let deal = fields.check_section("deal", &[])?;
            (config.world_size, config.workers) = (deal.short("world_size"), deal.short("workers"));
            Self::new(Rc::new(config), epoch)
        })
    }

    /// The recipe in its canonical form (SPEC.md, section 14). Failures: `out-of-memory`.
    pub fn recipe(&self) -> Result<String, Failure> {
        self.pieces(recipe::canonical)
    }

    /// SHA-256 over the canonical recipe, in hexadecimal.
    pub fn recipe_fingerprint(&self) -> String {
        self.pieces(recipe::fingerprint)
    }

    /// Calls `with` with the canonical recipe. Its text is short, because long lists are written as hashes.
    #[inline(never)]
    pub(super) fn pieces<T>(&self, with: impl FnOnce(&Pieces) -> T) -> T {
        let config = self.config();
        let PlanConfig { world_size, workers, .. } = config;
        let text = format!(
            "{{\"samedeal\":{VERSION},\"shards\":{},\"deal\":{{\"world_size\":{world_size},\"workers\":{workers}}}}}",
            config.section()
        );
        with(&|each| each(&text))
    }
}

impl PlanConfig {
    /// Reads the section `shards`. The result has one rank and one worker: the caller sets their numbers. Failures: any
    /// field.
    #[inline(never)]
    pub(crate) fn read(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        let shards = fields.check(lists, &[])?;
        check_lists(lists, MEMBERS, |_| false)?;
        let sizes = shards.copied("sizes")?;
        check_sums(&shards, sizes.len() as u64, total(&sizes, "sizes")?)?;
        let balance_by = shards.named("balance_by", &BALANCE_BY);
        let bytes = shards.found("bytes").map(|_| shards.copied("bytes")).transpose()?;
        check_bytes(bytes.as_deref(), balance_by, sizes.len())?;
        let policy = shards.named("policy", &POLICIES);
        let locality = match policy {
            Policy::LocalityAware => Some(Locality {
                holders: shards.copied32("holders")?,
                offsets: shards.copied32("holder_offsets")?,
                rank_nodes: shards.copied32("rank_nodes")?,
                tolerance: shards.short("tolerance"),
            }),
            _ => None,
        };
        let shuffle = shards.is("shuffle");
        Ok(Self {
            policy,
            worker_policy: shards.named("worker_policy", &WORKER_POLICIES),
            balance_by,
            bytes,
            locality,
            shuffle,
            shuffle_rows: shards.flag("shuffle_rows").unwrap_or(shuffle),
            reshuffle: shards.is("reshuffle"),
            seed: shards.integer("seed"),
            ..Self::new(sizes, 1, 1)
        })
    }

    /// The section `shards` in its canonical form.
    #[inline(never)]
    pub(crate) fn section(&self) -> String {
        let Self { sizes, bytes, policy, worker_policy, balance_by, .. } = self;
        let locality = self.used_locality();
        let Self { shuffle, shuffle_rows, reshuffle, .. } = self;
        let seed = signed_text(self.seed);
        let [policy, worker_policy, balance_by] =
            [name_of(policy, &POLICIES), name_of(worker_policy, &WORKER_POLICIES), name_of(balance_by, &BALANCE_BY)];
        let mut text = format!(
            "{{\"shuffle\":{shuffle},\"shuffle_rows\":{shuffle_rows},\"reshuffle\":{reshuffle},\"seed\":{seed},\
             \"policy\":\"{policy}\",\"worker_policy\":\"{worker_policy}\",\"balance_by\":\"{balance_by}\""
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
