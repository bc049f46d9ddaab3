"""Packing: bins for items of known sizes, section 9."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

from .base import ceil_div
from .columns import Master, expand, generate, whole

ANY = 2**32 - 1
MOST_EFFORT = 2**32
MOST_SUMS = 2**18

# The items of a bin, from the first that was put in to the last: pairs of a class and the number of its items.
Content = tuple[tuple[int, int], ...]


@dataclass
class Group:
    content: Content
    free: int
    bins: int


@dataclass(frozen=True)
class Classes:
    sizes: list[int]
    capacity: int


def count(groups: list[Group]) -> int:
    return sum(group.bins for group in groups)


def by_free(groups: list[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: group.free)


def taken_into(groups: list[Group], others: list[Group]) -> list[Group]:
    """The groups and `others`, by free space. The contents of `others` are reversed, as if their bins were filled again
    from the last item on."""
    return by_free(groups + [Group(group.content[::-1], group.free, group.bins) for group in others])


def effort(items: int, base: int, each: int) -> int:
    return min(base + each * items, MOST_EFFORT)


def pack(sizes: list[int], counts: list[int], capacity: int, slots: int, method: str) -> tuple[list[Group], int]:
    """The groups of equal bins, by free space, and a lower bound of the number of bins."""
    classes = Classes(sizes, capacity)
    bound = least_bins(classes, counts, slots)
    zero = bool(sizes) and sizes[-1] == 0
    sized = len(sizes) - zero
    limit = ANY if zero else capacity // sizes[-1] if sizes else capacity
    if slots < limit:
        return best_fit(classes, counts, slots), bound
    groups, bound = of_sized(Classes(sizes[:sized], capacity), counts[:sized], bound, method)
    if zero:
        first = groups[0] if groups else Group((), capacity, 1)
        own = Group((*first.content, (sized, counts[sized])), first.free, 1)
        rest = [Group(first.content, first.free, first.bins - 1)] if first.bins > 1 else []
        groups = [own, *rest, *groups[1:]]
    return groups, bound


def least_bins(classes: Classes, counts: list[int], slots: int) -> int:
    sizes, capacity = classes.sizes, classes.capacity
    total = sum(size * each for size, each in zip(sizes, counts, strict=True))
    items = sum(counts)
    bounds = [ceil_div(total, max(capacity, 1)), ceil_div(items, slots), min(items, 1)]
    for k, size in enumerate(sizes):
        each = max(1, capacity // size) if size else 2**64 - 1
        bounds.append(ceil_div(sum(counts[: k + 1]), each))
    half = sum(size > capacity // 2 for size in sizes)

    def of(start: int, end: int) -> tuple[int, int]:
        held = list(zip(sizes, counts, strict=True))[start:end]
        return sum(each for _, each in held), sum(size * each for size, each in held)

    large, large_total = of(0, half)
    for k in range(half, len(sizes) + 1):
        size = sizes[k] if k < len(sizes) else 0
        alone, alone_total = of(0, sum(other > capacity - size for other in sizes))
        room = (large - alone) * capacity - (large_total - alone_total)
        bounds.append(large + ceil_div(max(0, of(half, k + 1)[1] - room), max(capacity, 1)))
    return max(bounds)


def best_fit(classes: Classes, counts: list[int], slots: int) -> list[Group]:
    """The procedure BEST-FIT."""
    stacks: dict[int, list[tuple[Content, int, int]]] = {}  # by free space: content, bins, slots
    frees: list[int] = []  # the free spaces that have a stack, ascending
    done: list[Group] = []

    def take(size: int) -> tuple[int, tuple[Content, int, int]] | None:
        at = bisect_left(frees, size)
        if at == len(frees):
            return None
        free = frees[at]
        top = stacks[free].pop()
        if not stacks[free]:
            del stacks[free], frees[at]
        return free, top

    def put(free: int, group: tuple[Content, int, int]) -> None:
        if free not in stacks:
            stacks[free] = []
            insort(frees, free)
        stacks[free].append(group)

    for k, size in enumerate(classes.sizes):
        left = counts[k]
        while left:
            found = take(size)
            free, (content, bins, room) = found or (classes.capacity, ((), ANY, slots))
            each = min(free // size if size else left, room, left)
            many = min(left // each, bins)
            left -= each * many
            old = bins - many
            parts = [(each, many)]
            if old and 0 < left < each:
                parts.append((left, 1))
                left, old = 0, old - 1
            for number, of in parts:
                filled = (*content, (k, number))
                rest = free - size * number
                if room == number:
                    done.append(Group(filled, rest, of))
                else:
                    put(rest, (filled, of, room - number))
            if found and old:
                put(free, (content, old, room))
    while found := take(0):
        free, (content, bins, _) = found
        done.append(Group(content, free, bins))
    return by_free(done)


def of_sized(classes: Classes, counts: list[int], bound: int, method: str) -> tuple[list[Group], int]:
    groups = fast(classes, counts, bound)
    if method == "fast" or count(groups) <= bound:
        return groups, bound
    filled = exact_fill(classes, counts, effort(sum(counts), 2**24, 2**14))
    if count(filled) < count(groups):
        groups = filled
    if count(groups) > bound:
        left = effort(sum(counts), 2**29, 2**15)
        master, certain = generate(classes.sizes, counts, classes.capacity, count(groups), left)
        bound = max(bound, certain)
        if master:
            found = min((rounded(classes, counts, master, eighths) for eighths in range(8)), key=count)
            if count(found) < count(groups):
                groups = found
    return groups, bound


def rounded(classes: Classes, counts: list[int], master: Master, eighths: int) -> list[Group]:
    """The packing of COLUMNS for one of its roundings."""
    rest = list(counts)
    groups: list[Group] = []
    for column, bins in whole(master, eighths):
        for content, many in expand(column, bins, rest, master.together):
            free = classes.capacity - sum(classes.sizes[k] * each for k, each in content)
            groups.append(Group(tuple(content), free, many))
    fit = best_fit(classes, rest, ANY)
    fill = exact_fill(classes, rest, effort(sum(rest), 2**24, 2**14))
    return taken_into(groups, fill if count(fill) < count(fit) else fit)


def fast(classes: Classes, counts: list[int], bound: int) -> list[Group]:
    groups = best_fit(classes, counts, ANY)
    if count(groups) <= bound:
        return groups
    kept, taken, freed = list(groups), 0, [0] * len(counts)
    while kept and taken < 512 + count(groups) // 8 and kept[-1].free:
        group = kept.pop()
        taken += group.bins
        for k, each in group.content:
            freed[k] += each * group.bins
    again = exact_fill(classes, freed, effort(sum(counts), 2**20, 2**6))
    return taken_into(kept, again) if count(again) < taken else groups


def exact_fill(classes: Classes, counts: list[int], left: int) -> list[Group]:
    """The procedure EXACT-FILL."""
    unit = max(1, ceil_div(classes.capacity, MOST_SUMS))
    width = classes.capacity // unit
    weights = [ceil_div(size, unit) for size in classes.sizes]
    counts = list(counts)
    listed = [k for k, each in enumerate(counts) if each]
    gone = 0
    groups: list[Group] = []
    while any(counts):
        if left == 0:
            return taken_into(groups, best_fit(classes, counts, ANY))
        seed = next(k for k in listed if counts[k])
        content, left = fill(weights, width, counts, listed[listed.index(seed) :], left)
        bins = min(counts[k] // each for k, each in content)
        for k, each in content:
            counts[k] -= bins * each
            gone += counts[k] == 0
        free = classes.capacity - sum(classes.sizes[k] * each for k, each in content)
        groups.append(Group(content, free, bins))
        if gone > len(listed) // 4:
            listed, gone = [k for k in listed if counts[k]], 0
    return by_free(groups)


def fill(weights: list[int], width: int, counts: list[int], listed: list[int], left: int) -> tuple[Content, int]:
    """The content of a bin with an item of the first listed class, and the effort that is left."""
    seed = listed[0]
    most = max(0, width - weights[seed])
    by: dict[int, int] = {0: -1}
    left = max(0, left - (most // 64 + 1))
    upper = 0
    full = False
    for k in listed:
        weight = weights[k]
        left = max(0, left - 1)
        if weight > most:
            continue
        fresh = list(by)
        low = 0
        for _ in range(counts[k] - (k == seed)):
            before, upper = upper, min(upper + weight, most)
            left = max(0, left - max(0, upper // 64 + 1 - (low + weight // 64)))
            fresh = [total + weight for total in fresh if total + weight <= most and total + weight not in by]
            by |= dict.fromkeys(fresh, k)
            if not fresh:
                upper = before
                break
            full = most in by or left == 0
            if full:
                break
            low = min(fresh) // 64
        if full:
            break
    content = {seed: 1}
    total = max(by)
    while total:
        k = by[total]
        content[k] = content.get(k, 0) + 1
        total -= weights[k]
    return tuple(content.items()), left
