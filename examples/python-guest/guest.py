"""A component that imports the interface `sampling`: all batches of one rank."""

import constructors
import wit_world
from componentize_py_types import Err
from wit_world.imports.sampling import Sampler

constructors.may_fail()


class WitWorld(wit_world.WitWorld):
    """The exports of the world `guest`."""

    def batches(self, recipe: str, epoch: int, rank: int, batch_size: int) -> list[list[int]]:
        """All batches of one rank. A failure of samedeal becomes an error with a sentence."""
        try:
            sampler = Sampler(recipe, [], epoch, rank)
            count = sampler.num_batches(batch_size, False)
            return [sampler.batch(number, batch_size, False) for number in range(count)]
        except Err as error:
            raise Err(f"{error.value.field} is {error.value.value}; allowed: {error.value.allowed}") from None
