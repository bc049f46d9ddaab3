//! The recipe of a split.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Part, Split};
use crate::base::failure::{only, range};
use crate::base::memory::{collect, grow};
use crate::base::{Failure, MAX_EXACT};
use crate::document::fields::Fields;
use crate::document::member::{Kind, Member, text};
use crate::document::recipe::{self, VERSION};
use crate::document::{quoted, signed_text};

const OF_OTHERS: Kind = Kind::Elsewhere("none in the recipe of a split: it has the section split alone");

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    Member::new("split", Kind::Section(SPLIT)).required("the section that has the parts"),
    Member::new("order", OF_OTHERS),
    Member::new("deal", OF_OTHERS),
    Member::new("shards", OF_OTHERS),
    Member::new("batch", OF_OTHERS),
    Member::new("steps", OF_OTHERS),
];
const SPLIT: &[Member] = &[
    recipe::SEED,
    Member::new("samples", Kind::COUNT).text(text!("The sum of the sizes, if the parts have sizes.")),
    Member::new("parts", Kind::Objects { of: PART, most: MAX_PARTS })
        .required("the names of the parts, and their weights or sizes"),
];
const PART: &[Member] = &[
    Member::new("name", Kind::Text { least: 1, most: MAX_NAME }).required("a name for each part"),
    Member::new("weight", Kind::Weight).text(text!("Share of the part, in proportion to the other weights.")),
    Member::new("size", Kind::COUNT).text(text!("Number of samples in the part.")),
];

pub(crate) const MAX_PARTS: usize = 1 << 16;
const MAX_NAME: usize = 256;

impl Split {
    /// Reads the recipe of a split. Failures: as for any recipe; `split`, any field of it; `out-of-memory`.
    #[inline(never)]
    pub fn read(text: &str) -> Result<Self, Failure> {
        recipe::read(text, SECTIONS, &[], |fields| {
            let split = fields.check_section("split", &[])?;
            let objects = split.objects("parts");
            let by_size = objects.first().is_some_and(|first| first.has("size"));
            let mut shares: Vec<(String, u64)> = collect("parts", objects.len(), [])?;
            // The names are allocated one by one, and such an allocation traps if memory is full. So this call checks
            // first that there is room for all names.
            grow("parts", 2 * text.len() + 64 * objects.len(), &mut Vec::<u8>::new())?;
            let mut names = BTreeSet::new();
            for (index, part) in objects.iter().enumerate() {
                let name = part.text("name").unwrap_or_default();
                if !names.insert(name) {
                    return Err(Failure::contradiction("name", name, "each name once").in_element("split.parts", index));
                }
                let share = share(part, by_size).map_err(|failure| failure.in_element("split.parts", index))?;
                shares.push((name.to_string(), share));
            }
            let total = check_sum(if by_size { "size" } else { "weight" }, &shares)?;
            match split.count("samples") {
                Some(samples) if !by_size => {
                    return Err(Failure::contradiction(
                        "samples",
                        samples,
                        "none with weights, which need no number of ids",
                    ));
                }
                Some(samples) if samples != total => {
                    return Err(Failure::contradiction("samples", samples, only(total).and(", the sum of the sizes")));
                }
                _ => {}
            }
            Self::new(split.signed("seed").unwrap_or(0), by_size, shares)
        })
    }

    /// The canonical text (SPEC.md, section 14). Failures: `out-of-memory`.
    pub fn text(&self) -> Result<String, Failure> {
        recipe::canonical(&|each| self.pieces(each))
    }

    /// SHA-256 over the canonical text, in hexadecimal.
    pub fn fingerprint(&self) -> String {
        recipe::fingerprint(&|each| self.pieces(each))
    }

    /// Calls `each` with each piece of the canonical text.
    #[inline(never)]
    fn pieces(&self, each: &mut dyn FnMut(&str)) {
        each(&format!("{{\"samedeal\":{VERSION},\"split\":{{\"seed\":{}", signed_text(self.seed)));
        if self.by_size {
            each(&format!(",\"samples\":{}", self.ids));
        }
        let kind = if self.by_size { "size" } else { "weight" };
        let mut before = ",\"parts\":[";
        for Part { name, share, .. } in &self.parts {
            each(&format!("{before}{{\"name\":{},\"{kind}\":{share}}}", quoted(name)));
            before = ",";
        }
        each("]}}");
    }
}

/// The size or the weight of a part. Failures: `size`, `weight`.
fn share(part: &Fields, by_size: bool) -> Result<u64, Failure> {
    if let (Some(weight), true) = (part.count("weight"), part.has("size")) {
        return Err(Failure::contradiction("weight", weight, "a weight or a size"));
    }
    if by_size {
        return part.count("size").ok_or_else(|| Failure::missing("size", "the number of samples of each part"));
    }
    part.count("weight").ok_or_else(|| match part.count("size") {
        Some(size) => Failure::contradiction("size", size, "weights, as the first part has one"),
        None => Failure::missing("weight", "the weight, or the size, of each part"),
    })
}

/// The path of a member, for a failure of all parts together.
fn all(member: &str) -> String {
    format!("split.parts[].{member}")
}

/// The sum of the shares. Failures: `field`, if the sum is 0 or above 2^53 - 1.
fn check_sum(field: &'static str, shares: &[(String, u64)]) -> Result<u64, Failure> {
    let mut total = 0_u64;
    for &(_, share) in shares {
        let most = MAX_EXACT - total;
        if share > most {
            return Err(Failure::out_of_range(field, share, range(0, most).and(": all together are at most 2^53 - 1"))
                .at(all(field)));
        }
        total += share;
    }
    if total == 0 {
        return Err(Failure::out_of_range(field, 0, range(1, MAX_EXACT).and(": not all of them are 0")).at(all(field)));
    }
    Ok(total)
}
