"""The public object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

from ..bindings.sampling import Config, Place, Sharding, ShardPlace
from ..bindings.types import LAYOUT_NAMES, REMAINDER_NAMES
from ..engine import arguments as check
from ..engine.errors import ContradictionError, MissingError, UnknownNameError, WrongTypeError
from ..engine.instance import Answered, Engine
from . import windows
from .batches import Batches
from .binding import Deal, in_epoch
from .recipe import read as read_recipe
from .records import Round

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Self = TypeVar("Self", bound="Sampler")


class Sampler(Answered):
    """The samples of one rank in one epoch, as a sequence of indices.

    It is a sequence of whole numbers (`len`, `sampler[i]`, slices, iteration), pickles by its configuration, and
    may be used from several threads, in signal handlers and finalizers, and on both sides of a fork. What one call
    gives is of one epoch and rank, whoever moves the sampler meanwhile; a call that arrives in the middle of another on
    the same thread is answered by a second engine, which takes memory like the first and goes when it has answered.

    Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.
    """

    _engine: Engine[Deal, Config]

    def __init__(
        self,
        samples: SupportsIndex,
        *,
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        order: str = "feistel",
        rank: SupportsIndex = 0,
        world: SupportsIndex = 1,
        remainder: str = "pad",
        layout: str = "strided",
        consumed: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Checks the configuration; costs O(1).

        Orders that need a table build it at the first call that asks for an index.

        Args:
            samples: Number of samples in the dataset, 0 to 2**53 - 1; orders that hold a table take at most
                2**32 - 1 ("dotnet" 2**31 - 1), and no more than `memory_limit` has room for.
            seed: Seed of the order, -2**63 to 2**63 - 1; with the order "dotnet", -2**31 to 2**31 - 1.
            epoch: Number of the epoch, 0 to 2**64 - 1. A new epoch is a new order.
            order: Name of the order, one of `samedeal.orders()`.
            rank: Which of the data-parallel readers this is, 0 to `world` - 1.
            world: How many data-parallel readers there are, 1 to 2**32 - 1.
            remainder: What happens where `world` does not divide `samples`: "drop" leaves the last samples out,
                "pad" repeats the first ones, "uneven" gives some ranks one sample more.
            layout: Which positions belong to a rank: "strided" (rank, rank + world, ...) or "contiguous".
            consumed: How many positions of this epoch, the first ones, were dealt before, maybe to another world: the
                others are dealt. 0 to `samples`; `resume` takes it from a state.
            memory_limit: Bytes of memory that the engine may use for this sampler; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such order, remainder or layout.
            WrongTypeError: A value is not of the type that its parameter takes.
            OutOfMemoryError: There is no memory for another sampler.
        """
        number = check.integer("samples", samples, check.COUNT)
        config = _config(number, seed, epoch, check.name("order", order), rank, world, remainder, layout, consumed)
        self._engine = Engine(Deal, config, check.integer("memory-limit", memory_limit, check.MEMORY), None)

    @classmethod
    def sharded(
        cls: type[Self],
        sizes: ArrayLike | Iterable[SupportsIndex],
        *,
        lanes: SupportsIndex = 64,
        window: SupportsIndex = 256,
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        rank: SupportsIndex = 0,
        world: SupportsIndex = 1,
        remainder: str = "pad",
        layout: str = "strided",
        consumed: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """A sampler for a dataset that is stored in shards, with the order "sharded"; costs O(shards).

        The shards, in an order of their own, are laid end to end and cut into lanes of equal length; within a lane,
        windows of neighbouring samples are shuffled; positions go round the lanes. Ranks whose number divides the lanes
        read whole lanes, and hold one window of each: `round` says what to read for which samples.

        Args:
            sizes: Samples in each shard: a list, or an array of whole numbers. Sample indices count through the shards
                in this order. Empty shards are allowed.
            lanes: How many streams the dataset is cut into, 1 to 4,096: a multiple of every number of readers to come.
            window: How many neighbouring samples of a lane are shuffled together, 1 to 2**20.
            seed: As for `Sampler`.
            epoch: As for `Sampler`.
            rank: As for `Sampler`.
            world: As for `Sampler`.
            remainder: As for `Sampler`.
            layout: As for `Sampler`.
            consumed: As for `Sampler`.
            memory_limit: As for `Sampler`.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such remainder or layout.
            WrongTypeError: A value is not of the type that its parameter takes.
            OutOfMemoryError: There is no memory for so many shards.
        """
        sharding = Sharding(
            check.u64s("sizes", sizes, check.COUNT),
            check.integer("lanes", lanes, check.Width(0, check.U32_MAX, "1 to 4096")),
            check.integer("window", window, check.Width(0, check.U32_MAX, f"1 to {2**20}")),
        )
        # Where that does not cross any more, the component refuses it as well.
        samples = min(check.total(sharding.sizes), check.U64_MAX)
        config = _config(samples, seed, epoch, "sharded", rank, world, remainder, layout, consumed)
        self = cls.__new__(cls)
        self._engine = Engine(Deal, config, check.integer("memory-limit", memory_limit, check.MEMORY), sharding)
        return self

    @classmethod
    def from_recipe(
        cls: type[Self],
        recipe: str | Mapping[str, Any],
        *,
        sizes: ArrayLike | Iterable[SupportsIndex] | None = None,
        rank: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """The sampler of a recipe: one document that has the order, the world size, the remainder and the layout.

            Sampler.from_recipe({"order": {"samples": 1000, "seed": 42}, "deal": {"world_size": 4}}, rank=3)

        Args:
            recipe: A dictionary, or a text of JSON. "order" has "name", "samples" and "seed"; with the order "sharded"
                also "lanes", "shuffle_window", "shards" and "sizes". "deal" has "world_size", "remainder" and "layout".
                What is not there has its default; "order" must be there, with "samples" or "sizes".
            sizes: Samples in each shard, for the order "sharded", if the recipe has their hash, or does not have them.
            rank: Which of the data-parallel readers this is, 0 to the world size - 1.
            epoch: Number of the epoch, 0 to 2**64 - 1.
            memory_limit: As for `Sampler`.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such field, order, remainder or layout.
            WrongTypeError: It is no JSON object, or a value is not of the type that its field takes.
            MissingError: The samples, or the sizes, are missing.
            ContradictionError: A field is there that the order does not use, or `sizes` are not those of the recipe.
            OutOfMemoryError: There is no memory for so many shards.
        """
        limit = check.integer("memory-limit", memory_limit, check.MEMORY)
        config, sharding = read_recipe(recipe, sizes, limit)
        config = config._replace(
            rank=check.number("rank", rank, lambda: config.world, check.U32_MAX),
            epoch=check.integer("epoch", epoch, check.U64),
        )
        self = cls.__new__(cls)
        self._engine = Engine(Deal, config, limit, sharding)
        return self

    @property
    def recipe(self) -> str:
        """The recipe of this sampler: JSON in one line, with every field, the defaults too; `from_recipe` takes it.

        It is the same on all ranks and in all epochs, and the same text in every language. The "sizes" of more than 256
        shards are a hash.
        """
        return self._engine.use(Deal.recipe)

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it names the run."""
        return self._engine.use(Deal.recipe_fingerprint)

    @property
    def samples(self) -> int:
        """Number of samples in the dataset."""
        return self._engine.config.samples

    @property
    def seed(self) -> int:
        """Seed of the order."""
        return self._engine.config.seed

    @property
    def epoch(self) -> int:
        """Number of the epoch; `set_epoch` moves to another."""
        return self._engine.config.epoch

    @property
    def order(self) -> str:
        """Name of the order."""
        return self._engine.config.order

    @property
    def rank(self) -> int:
        """Which of the data-parallel readers this is; `set_rank` answers for another."""
        return self._engine.config.rank

    @property
    def world(self) -> int:
        """How many data-parallel readers there are."""
        return self._engine.config.world

    @property
    def remainder(self) -> str:
        """What happens where `world` does not divide `samples`."""
        return self._engine.config.remainder

    @property
    def layout(self) -> str:
        """Which positions belong to a rank."""
        return self._engine.config.layout

    @property
    def sizes(self) -> NDArray[np.int64] | None:
        """Samples in each shard, with the order "sharded", else None; not to be written to."""
        return None if (sharding := self._sharding) is None else check.read_only(sharding.sizes)

    @property
    def lanes(self) -> int | None:
        """How many streams the dataset is cut into, with the order "sharded", else None."""
        return None if (sharding := self._sharding) is None else sharding.lanes

    @property
    def window(self) -> int | None:
        """How many neighbouring samples of a lane are shuffled together, with the order "sharded", else None."""
        return None if (sharding := self._sharding) is None else sharding.window

    @property
    def config(self) -> Config:
        """The configuration as it stands in the component, with the current epoch and rank."""
        return self._engine.use(Deal.config)

    def to_dict(self) -> dict[str, Any]:
        """All that decides the deal, for JSON: what `toJSON` gives in JavaScript, and `from_dict` takes.

        Numbers of 64 bits are decimal strings, so that no reader rounds them.
        """
        config, sharding = self._engine.config, self._sharding
        found: dict[str, Any] = config._asdict()
        found |= {name: str(found[name]) for name in ("samples", "seed", "epoch", "consumed")}
        if sharding is not None:
            sizes = [str(size) for size in sharding.sizes.tolist()]
            found["sharding"] = {"sizes": sizes, "lanes": sharding.lanes, "window": sharding.window}
        return found

    @classmethod
    def from_dict(cls: type[Self], found: Mapping[str, Any]) -> Self:
        """The sampler that `to_dict`, or `toJSON` in JavaScript, was asked of.

        Raises:
            SamedealError: A value is not allowed, or one is missing.
        """
        if not isinstance(found, Mapping):
            raise WrongTypeError("found", check.described(found), "what to_dict gives")
        given: dict[str, Any] = {"consumed": "0", **found}
        sharding = given.pop("sharding", None)
        for name in ("samples", "seed", "epoch", "consumed"):
            if name not in given:
                raise MissingError(name, "", "what to_dict gives")
            given[name] = check.decimal(name, given[name])
        unknown = given.keys() - Config._fields
        if unknown:
            raise UnknownNameError("options", sorted(map(str, unknown))[0][:64], ", ".join(Config._fields))
        if sharding is None:
            return cls(given.pop("samples"), **given)
        if not isinstance(sharding, Mapping) or sharding.keys() != {"sizes", "lanes", "window"}:
            raise WrongTypeError("sharding", check.described(sharding), "sizes, lanes and window")
        samples, order = given.pop("samples"), given.pop("order", "sharded")
        sizes = [check.decimal("sizes", size) for size in check.listed("sizes", sharding["sizes"])]
        made = cls.sharded(sizes, lanes=sharding["lanes"], window=sharding["window"], **given)
        if order != "sharded":
            raise ContradictionError("order", check.shown(order), "sharded, where there is a sharding")
        if check.whole("samples", samples) != made.samples:
            raise ContradictionError("samples", check.shown(samples), f"{made.samples}, as many as all shards hold")
        return made

    @property
    def num_samples(self) -> int:
        """How many samples this rank sees in what is left of the epoch, padding included: `len(sampler)`."""
        return self._engine.use(Deal.num_samples)

    @property
    def num_padding(self) -> int:
        """How many of them are padding: the last ones of the rank."""
        return self._engine.use(Deal.num_padding)

    @property
    def num_positions(self) -> int:
        """How many positions the epoch deals to all ranks together, padding included."""
        return self._engine.use(Deal.num_positions)

    @property
    def num_dropped(self) -> int:
        """How many samples no rank sees in this epoch."""
        return self._engine.use(Deal.num_dropped)

    @property
    def consumed(self) -> int:
        """How many positions of the epoch, the first ones, were dealt before."""
        return self._engine.config.consumed

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Moves to another epoch, 0 to 2**64 - 1, of which nothing is consumed, in O(1).

        The epoch that it is at stays as it is, also where a part of it was consumed.
        """
        number = check.integer("epoch", epoch, check.U64)
        self._engine.set(lambda config: in_epoch(config, number))

    def set_rank(self, rank: SupportsIndex) -> None:
        """Answers for another rank of the same deal, 0 to `world` - 1, in O(1); a table that was built is kept."""
        number = check.integer("rank", rank, check.RANK)
        self._engine.ask_and_set(Deal.set_rank, lambda config, _: config._replace(rank=number), number)

    def state(self, taken: SupportsIndex) -> str:
        """The state once every rank has taken `taken` of its samples, or all that it has: a text for a checkpoint.

        It is JSON in one line, the same on all ranks, and `resume` goes on there in any host and on any world.

        Raises:
            OutOfRangeError: No rank has so many.
            ContradictionError: The layout is "contiguous", whose ranks are no prefix of the epoch within it.
        """
        return self._engine.use(Deal.state, check.integer("taken", taken, check.U64))

    def resume(self, state: str | Mapping[str, Any]) -> None:
        """Goes on where a state was taken, on this world: moves to its epoch, and deals what was not consumed, in O(1).

        After a failure, the sampler is where it was. Do not trust where a state comes from: it is checked.

        Args:
            state: The text that `state` gave, or the dictionary that a `state_dict` gave.

        Raises:
            ContradictionError: The state is of another order, seed or number of samples, or of shards of other sizes;
                or of a turn of loader workers that is not over.
            WrongTypeError: It is no state of a sampler.
            OutOfRangeError: It is too long, or says that more is consumed than there is.
        """
        text = check.state(state)

        def moved(config: Config, found: Config) -> Config:
            return config._replace(epoch=found.epoch, consumed=found.consumed)

        self._engine.ask_and_set(_resumed, moved, text)

    def indices(self, start: SupportsIndex = 0, stop: SupportsIndex | None = None) -> NDArray[np.int64]:
        """This rank's samples number `start` to `stop` - 1, in order: by default all of them.

        Raises:
            OutOfRangeError: Not 0 <= start <= stop <= num_samples.
            OutOfMemoryError: There is no memory for the indices, or for the table of the order.
        """
        return self._engine.use(windows.indices, start, stop)

    def __len__(self) -> int:
        """How many samples this rank sees in an epoch, padding included."""
        return self.num_samples

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> NDArray[np.int64]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> int | NDArray[np.int64]:
        """Sample number `at` of this rank; negative numbers count from the end, a slice gives an array."""
        if isinstance(at, slice):
            return self._engine.use(windows.part, windows.whole_slice(at))
        return self._engine.use(windows.item, check.whole("index", at))

    def __iter__(self) -> Iterator[int]:
        """This rank's samples, in order, as `int`.

        An iterator is of the epoch and rank that the sampler has when it is made; once the sampler has moved, it raises
        a `RuntimeError`.
        """
        return windows.Pass(self._engine).values()

    def num_batches(self, batch_size: SupportsIndex, drop_last: bool = False) -> int:
        """How many batches of `batch_size` this rank gets: rounded down with `drop_last`, else up."""
        size = check.integer("batch-size", batch_size, check.U32_FROM_1)
        return self._engine.use(Deal.num_batches, size, check.boolean("drop-last", drop_last))

    def batch(self, batch: SupportsIndex, batch_size: SupportsIndex, drop_last: bool = False) -> NDArray[np.int64]:
        """Batch number `batch` of this rank; the last one may be shorter unless `drop_last`.

        Raises:
            OutOfRangeError: `batch` is not below `num_batches`, or the batch would be longer than 2**20 (a larger
                `batch_size` is fine where the batch is shorter).
            OutOfMemoryError: There is no memory for the table of the order.
        """
        size = check.integer("batch-size", batch_size, check.U32_FROM_1)
        drop = check.boolean("drop-last", drop_last)
        number = check.number("batch", batch, lambda: self.num_batches(size, drop))
        return self._engine.use(Deal.batch, number, size, drop)

    def batches(self, batch_size: SupportsIndex, drop_last: bool = False, *, start: SupportsIndex = 0) -> Batches:
        """The batches of this rank, in order, from number `start` on: to iterate as often as there are epochs.

        With a `start`, every iteration begins there: it is what remains of one interrupted epoch.

        Raises:
            OutOfRangeError: `batch_size` is outside its range, `start` is above `num_batches`, or the batches would be
                longer than 2**20.
        """
        return Batches(self, batch_size, drop_last, start=start)

    def sample_at(self, position: SupportsIndex) -> int:
        """The sample at a global position of the epoch, whichever rank it is or was dealt to."""
        return self._engine.use(Deal.sample_at, self._position(position))

    def locate(self, sample: SupportsIndex, batch_size: SupportsIndex) -> Place | None:
        """The inverse: where in the epoch a sample is seen first, on whichever rank; None if it is dropped.

        A last batch that is shorter counts here: who reads with `drop_last` does not see a place whose batch is
        `num_batches(batch_size, True)` of its rank. Costs O(1) for the orders "feistel" and "sequential", one pass over
        the table for the others.
        """
        return self._engine.use(
            Deal.locate,
            check.number("sample", sample, lambda: self.samples),
            check.integer("batch-size", batch_size, check.U32_FROM_1),
        )

    def place_of(self, position: SupportsIndex, batch_size: SupportsIndex) -> Place:
        """Who sees a global position, and when; `copies` counts from this position on.

        As to `drop_last`, see `locate`.
        """
        return self._engine.use(
            Deal.place_of,
            self._position(position),
            check.integer("batch-size", batch_size, check.U32_FROM_1),
        )

    @property
    def num_rounds(self) -> int:
        """With the order "sharded": how many rounds the epoch has.

        Raises:
            ContradictionError: The order is another one.
        """
        return self._engine.use(Deal.num_rounds)

    def round(self, number: SupportsIndex) -> Round:
        """With the order "sharded": what this rank reads for the next run of its samples.

        Round k holds the positions from k * `lanes` * `window` on, as many as that product: window k of every lane.

        Raises:
            ContradictionError: The order is another one.
            OutOfRangeError: `number` is not below `num_rounds`; or the round has more than 2**20 spans, and `window` is
                too wide for so many lanes or so small shards.
            OutOfMemoryError: There is no memory for the spans.
        """
        return Round.of(self._engine.use(Deal.round, check.number("number", number, lambda: self.num_rounds)))

    def shard_of(self, sample: SupportsIndex) -> ShardPlace:
        """With the order "sharded": where a sample is stored, in O(log shards).

        Raises:
            ContradictionError: The order is another one.
            OutOfRangeError: There is no such sample.
        """
        return self._engine.use(Deal.shard_of, check.number("sample", sample, lambda: self.samples))

    def fingerprint(self) -> str:
        """SHA-256 over all of this rank's indices of the epoch, each as 8 bytes, little-endian; in hexadecimal.

        Costs one pass over the rank's samples (tens of nanoseconds each).
        """
        return self._engine.use(Deal.fingerprint)

    def config_fingerprint(self) -> str:
        """SHA-256 over the configuration without the rank, in hexadecimal: equal on all ranks of one deal."""
        return self._engine.use(Deal.config_fingerprint)

    def __repr__(self) -> str:
        """The call that makes an equal sampler, without the memory limit; many sizes in short."""
        config, sharding = self._engine.config._asdict(), self._sharding
        if config["consumed"] == 0:
            del config["consumed"]
        if sharding is None:
            made, first = "Sampler", repr(config.pop("samples"))
        else:
            made, first = "Sampler.sharded", check.shortened(sharding.sizes)
            del config["samples"], config["order"]
            config = {"lanes": sharding.lanes, "window": sharding.window, **config}
        return f"{made}({first}, {', '.join(f'{name}={value!r}' for name, value in config.items())})"

    @property
    def _sharding(self) -> Sharding | None:
        found: Sharding | None = self._engine.fixed[1]
        return found

    def _position(self, position: SupportsIndex) -> int:
        return check.number("position", position, lambda: self.consumed + self.num_positions)


def _resumed(deal: Deal, state: str) -> Config:
    deal.resume(state)
    return deal.current


def _config(
    samples: int,
    seed: SupportsIndex,
    epoch: SupportsIndex,
    order: str,
    rank: SupportsIndex,
    world: SupportsIndex,
    remainder: str,
    layout: str,
    consumed: SupportsIndex,
) -> Config:
    return Config(
        samples,
        check.integer("seed", seed, check.S64),
        check.integer("epoch", epoch, check.U64),
        order,
        check.integer("rank", rank, check.RANK),
        check.integer("world", world, check.U32_FROM_1),
        check.enum("remainder", remainder, REMAINDER_NAMES),
        check.enum("layout", layout, LAYOUT_NAMES),
        check.integer("consumed", consumed, check.Width(0, check.U64_MAX, f"0 to {samples}")),
    )
