use std::collections::BTreeMap;

use samedeal::{Axis, Error, Mesh};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::format::Format;
use crate::args::plan::MeshArgs;
use crate::commands::numbers::{abridged, joined};
use crate::write::{Items, Problem, grouped, show};

/// How many ranks a table shows unless one is named.
const SHOWN: u32 = 64;

/// How many numbers an answer for all ranks may have.
const MOST: u64 = 1 << 24;

/// A mesh of ranks, and what each rank reads.
#[derive(Serialize, JsonSchema)]
pub struct Meshed<'a> {
    world_size: u32,
    /// In how many parts the ranks share the data.
    data_world_size: u32,
    axes: Vec<AxisOf>,
    ranks: &'a [RankOf],
}

#[derive(Serialize, JsonSchema)]
struct AxisOf {
    name: String,
    size: u32,
    /// `shard` or `replicate`.
    role: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct RankOf {
    rank: u32,
    /// The coordinate on each axis, by the name of the axis.
    coordinates: BTreeMap<String, u32>,
    /// Which part of the data the rank reads.
    data_rank: u32,
    /// The ranks that read the same part, this one among them.
    peers: Vec<u32>,
}

/// `samedeal mesh`
pub fn run(args: &MeshArgs) -> Result<(), Problem> {
    let mesh = mesh(args)?;
    let (world_size, data_world_size) = (mesh.world_size(), mesh.data_world_size());
    let format = args.output.format();
    let ranks = match args.rank {
        Some(rank) => rank..=rank,
        None if format == Format::Table => 0..=world_size.min(SHOWN) - 1,
        None => 0..=world_size - 1,
    };
    let count = u64::from(ranks.end() - ranks.start()) + 1;
    let numbers = count * u64::from(world_size / data_world_size);
    if args.rank.is_none() && numbers > MOST {
        let what =
            format!("{} ranks with {} peers each", grouped(count), grouped((world_size / data_world_size).into()));
        return Err(Problem::message(format!("{what} are too many to show; name one with --rank")));
    }
    let shown = ranks.map(|rank| RankOf::new(&mesh, rank)).collect::<Result<Vec<_>, _>>()?;
    let items = || {
        let names = mesh.axes().iter().map(|axis| axis.name.as_str());
        let mut items = Items::new(["rank"].into_iter().chain(names).chain(["data rank", "peers"]));
        for RankOf { rank, coordinates, data_rank, peers } in &shown {
            let peers = peers.iter().copied().map(u64::from).collect::<Vec<_>>();
            let peers = if format == Format::Table { abridged(&peers) } else { joined(&peers, ",") };
            let coordinates = mesh.axes().iter().map(|axis| coordinates[&axis.name].into());
            items.push([(*rank).into()].into_iter().chain(coordinates).chain([(*data_rank).into(), peers.into()]));
        }
        items
    };
    let told = || {
        let more =
            if args.rank.is_none() && count < world_size.into() { "; --rank and --format text show more" } else { "" };
        let [shown, all, parts] = [count, world_size.into(), data_world_size.into()].map(grouped);
        let all_alike = match data_world_size == 1 && world_size > 1 {
            true => {
                "\nevery rank reads all of the data; --shard names the axes along which they read different samples"
            }
            false => "",
        };
        Ok(format!("{shown} of {all} ranks, which share the data in {parts} parts{more}{all_alike}"))
    };
    show(format, items, told, || {
        let of = |axis: &Axis| AxisOf { name: axis.name.clone(), size: axis.size, role: axis.role.name() };
        let axes = mesh.axes().iter().map(of).collect();
        Ok(Meshed { world_size, data_world_size, axes, ranks: &shown })
    })
}

fn mesh(args: &MeshArgs) -> Result<Mesh, Problem> {
    let names = || args.axes.iter().map(|(name, _)| name.as_str());
    if let Some(unknown) = args.shard.iter().find(|shard| !names().any(|name| name == *shard)) {
        let known = names().collect::<Vec<_>>().join(", ");
        return Err(Problem::message(format!("--shard is {unknown:?}; known: {known}")));
    }
    let axes = args.axes.iter().map(|(name, size)| match args.shard.contains(name) {
        true => Axis::shard(name, *size),
        false => Axis::replicate(name, *size),
    });
    let product = args.axes.iter().try_fold(1_u32, |product, (_, size)| product.checked_mul(*size));
    let world_size = args.world_size.or(product).ok_or_else(|| {
        Problem::message(format!("the sizes of the axes multiply to more than {} ranks; name smaller ones", u32::MAX))
    })?;
    // Axes are positional arguments: a message must not name an option.
    Mesh::new(world_size, axes).map_err(|error| match error.failure() {
        Some(failure) if failure.field == "axes" => Problem::worded(error),
        _ => error.into(),
    })
}

impl RankOf {
    fn new(mesh: &Mesh, rank: u32) -> Result<Self, Error> {
        let names = mesh.axes().iter().map(|axis| axis.name.clone());
        let coordinates = names.zip(mesh.coordinates(rank)?).collect();
        Ok(Self { rank, coordinates, data_rank: mesh.data_rank(rank)?, peers: mesh.peers(rank)? })
    }
}
