"""A second implementation of SPEC.md, written from that document alone, to be read rather than to be fast.

Section numbers are those of SPEC.md; the operations are named as in tests/vectors/schema.json, with `_` for `-`.
"""

from .base import Failure
from .batch_recipes import BatchRecipe
from .batches import Batcher, BatchPlace, BatchStream, Metrics, Run
from .chunks import ChunkStream, Verification, VerificationInRuns, verify, verify_in_runs
from .client import Client, ClientRun, ClientStep
from .collation import Packed, Padded, pad
from .collation import pack as pack_rows
from .launch import Detection, detect, variables
from .ledger import CommittedRun, Event, Ledger, Progress, header
from .mesh import Axis, Mesh
from .plan import Balance, Locality, Plan, PlanConfig, Steps
from .readings import MixingAdvice, ReadBatch, Reading, ReadingConfig, RoundRows
from .recipes import from_recipe
from .sampler import Config, Place, Round, Sampler, ShardPlace

__all__ = [
    "Axis",
    "Balance",
    "BatchPlace",
    "BatchRecipe",
    "BatchStream",
    "Batcher",
    "ChunkStream",
    "Client",
    "ClientRun",
    "ClientStep",
    "CommittedRun",
    "Config",
    "Detection",
    "Event",
    "Failure",
    "Ledger",
    "Locality",
    "Mesh",
    "Metrics",
    "MixingAdvice",
    "Packed",
    "Padded",
    "Place",
    "Plan",
    "PlanConfig",
    "Progress",
    "ReadBatch",
    "Reading",
    "ReadingConfig",
    "Round",
    "RoundRows",
    "Run",
    "Sampler",
    "ShardPlace",
    "Steps",
    "Verification",
    "VerificationInRuns",
    "detect",
    "from_recipe",
    "header",
    "pack_rows",
    "pad",
    "variables",
    "verify",
    "verify_in_runs",
]
