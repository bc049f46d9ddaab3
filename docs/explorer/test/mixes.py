"""Computes the expected values of the view of mixes, by the Python package. A shuffle buffer is read from its
beginning."""

import itertools
import json
from fractions import Fraction
from math import comb

import samedeal


def drift(recipe, epoch, positions):
    """For each number of positions, the number of samples by which each source is ahead of its share, since the blend
    began."""
    sampler = samedeal.Sampler.from_recipe(recipe, epoch=epoch)
    order = json.loads(sampler.recipe)["order"]
    stages = [(0, [source["weight"] for source in order["sources"]])]
    stages += [(stage["from"], stage["weights"]) for stage in order["stages"]]
    goes_on = order["exhaustion"] == "repeat"
    start = epoch * sampler.epoch_length if goes_on else 0
    before = (
        [int(number) for number in sampler.source_counts(0, 0)["first"]] if goes_on else [0] * len(order["sources"])
    )
    found = []
    for end in positions:
        counts = [int(count) for count in sampler.source_counts(0, end)["count"]]
        row = []
        for source, count in enumerate(counts):
            share = Fraction(0)
            for at, (begin, weights) in enumerate(stages):
                last = stages[at + 1][0] if at + 1 < len(stages) else start + end
                share += max(0, min(last, start + end) - begin) * Fraction(weights[source], sum(weights))
            row.append(float(count + before[source] - share))
        found.append(row)
    return {"drift": found, "bounds": [int(bound) / 1e6 for bound in sampler.source_bounds]}


def rank_drift(recipe, epoch, start, end):
    """For each rank, the farthest drift of each source after any of the rank's samples among these positions."""
    sampler = samedeal.Sampler.from_recipe(recipe, epoch=epoch)
    order = json.loads(sampler.recipe)["order"]
    stages = [(0, [source["weight"] for source in order["sources"]])]
    stages += [(stage["from"], stage["weights"]) for stage in order["stages"]]
    first = epoch * sampler.epoch_length if order["exhaustion"] == "repeat" else 0
    ahead, found = {}, {}
    for position in range(start, min(end, sampler.epoch_length)):
        rank = sampler.place_of(position, 1).rank
        source = sampler.source_of(sampler.sample_at(position)).source
        weights = [weights for begin, weights in stages if begin <= first + position][-1]
        drift = ahead.setdefault(rank, [Fraction(0)] * len(weights))
        worst = found.setdefault(rank, [0.0] * len(weights))
        for at, weight in enumerate(weights):
            drift[at] += (at == source) - Fraction(weight, sum(weights))
            worst[at] = max(worst[at], abs(float(drift[at])))
    return found


def steps_of_blend(recipe, epoch, batch, steps):
    """The samples of each source in each step, counted one by one over all ranks, and in the batch of rank 1."""
    world = json.loads(samedeal.Sampler.from_recipe(recipe).recipe)["deal"]["world_size"]
    found = []
    for step in steps:
        ranks = []
        for rank in range(world):
            sampler = samedeal.Sampler.from_recipe(recipe, epoch=epoch, rank=rank)
            counts = [0] * len(sampler.sources)
            for sample in sampler.batch(step, batch):
                counts[sampler.source_of(sample).source] += 1
            ranks.append(counts)
        found.append({"all": [sum(counts) for counts in zip(*ranks, strict=True)], "one": ranks[1]})
    return found


def mixed(bits):
    """The finaliser of MurmurHash3."""
    bits &= 0xFFFFFFFF
    bits = ((bits ^ (bits >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return bits ^ (bits >> 16)


def below(limit, seed, place):
    """The random number that belongs to a place."""
    return (mixed((place & 0xFFFFFFFF) ^ mixed((place >> 32) ^ seed)) * limit) >> 32


def buffered(stream, size, seed):
    """A shuffle buffer in its usual form."""
    size = min(size, len(stream))
    held, out = list(stream[:size]), []
    for place, sample in enumerate(stream[size:]):
        slot = below(size, seed, place)
        out.append(held[slot])
        held[slot] = sample
    for at in range(size):
        other = at + below(size - at, seed, len(stream) - size + at)
        held[at], held[other] = held[other], held[at]
    return out + held


def labels(settings, batches):
    """Counts of labels in the batches of three orders, the mean distances, and the mean distance of a perfect
    shuffle."""
    samples, count, files, batch = (settings[name] for name in ("samples", "labels", "files", "batch"))
    sizes = [samples // files + (file < samples % files) for file in range(files)]
    seed, epoch = settings["seed"], settings["epoch"]
    plain = {"name": "feistel", "samples": samples, "seed": seed}
    own = {name: settings[name] for name in ("lanes", "shuffle_window")}
    sharded = {"name": "sharded", "seed": seed, "sizes": sizes, **own}
    orders = {}
    for name, order in (("feistel", plain), ("sharded", sharded)):
        sampler = samedeal.Sampler.from_recipe({"order": order}, epoch=epoch)
        orders[name] = [sampler.batch(number, batch).tolist() for number in batches]
    if samples <= 1_000_000:
        order = list(range(files))
        if settings["files_first"]:
            for at in range(files - 1, 0, -1):
                other = below(at + 1, seed + 1, at)
                order[at], order[other] = order[other], order[at]
        stream = [sample for file in order for sample in range(sum(sizes[:file]), sum(sizes[: file + 1]))]
        out = buffered(stream, settings["buffer"], seed ^ epoch)
        assert sorted(out) == list(range(samples))
        orders["buffer"] = [out[number * batch : (number + 1) * batch] for number in batches]
    begins = [-(-label * samples // count) for label in range(count + 1)]
    shares = [Fraction(end - begin, samples) for begin, end in itertools.pairwise(begins)]
    known = {share: deviation(samples, int(share * samples), batch) for share in set(shares)}
    found = {"perfect": float(sum(known[share] for share in shares) / 2)}
    for name, lists in orders.items():
        counts, distances = [], []
        for read in lists:
            row = [0] * count
            for sample in read:
                row[sample * count // samples] += 1
            counts.append(row)
            distances.append(sum(abs(Fraction(own, batch) - share) for own, share in zip(row, shares, strict=True)) / 2)
        found[name] = {"counts": counts, "distance": float(sum(distances) / len(distances))}
    return found


def deviation(samples, own, batch):
    """The mean of |X / batch - own / samples|, where X of the batch's samples are among `own` ones."""
    total, share = comb(samples, batch), Fraction(own, samples)
    return sum(
        Fraction(comb(own, x) * comb(samples - own, batch - x), total) * abs(Fraction(x, batch) - share)
        for x in range(max(0, batch - samples + own), min(own, batch) + 1)
    )
