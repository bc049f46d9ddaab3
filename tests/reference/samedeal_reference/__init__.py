"""A second implementation of SPEC.md, written from the document alone. It is made to be read, not to be fast.

Section numbers are those of SPEC.md; the operations are named as in tests/vectors/schema.json, with `_` for `-`.
"""

from .base import Failure
from .batch_index import join_indices
from .batch_recipes import BatchRecipe
from .batch_results import Metrics, Run
from .batch_stream import BatchStream
from .batches import Batcher, BatchPlace, BatchShape
from .chunks import ChunkStream, Overlaps, ShardRuns, Verification, verify
from .client import ClaimedRun, Client, Instruction
from .collation import Packed, Padded, pad
from .collation import pack as pack_rows
from .launch import Detection, detect, variables
from .ledger import CommittedRun, Event, Ledger, Progress, header
from .mesh import Axis, Mesh
from .plan import LoadSummary, Plan, StepBounds
from .readings import MixingAdvice, ReadBatch, Reading, RoundRows, SuggestedLanes
from .sampler import Fate, Place, RankBatches, Round, Sampler, ShardPlace, ShortEpochs, SourceCounts, SourceOf
from .sharded import Spans
from .splits import Split
from .steps import EpochPosition, Schedule, StepPlace
from .texts import Difference, TextKind, differences, inspect, recipe_after
from .weights import whole_weights

__all__ = [
    "Axis",
    "BatchPlace",
    "BatchRecipe",
    "BatchShape",
    "BatchStream",
    "Batcher",
    "ChunkStream",
    "ClaimedRun",
    "Client",
    "CommittedRun",
    "Detection",
    "Difference",
    "EpochPosition",
    "Event",
    "Failure",
    "Fate",
    "Instruction",
    "Ledger",
    "LoadSummary",
    "Mesh",
    "Metrics",
    "MixingAdvice",
    "Overlaps",
    "Packed",
    "Padded",
    "Place",
    "Plan",
    "Progress",
    "RankBatches",
    "ReadBatch",
    "Reading",
    "Round",
    "RoundRows",
    "Run",
    "Sampler",
    "Schedule",
    "ShardPlace",
    "ShardRuns",
    "ShortEpochs",
    "SourceCounts",
    "SourceOf",
    "Spans",
    "Split",
    "StepBounds",
    "StepPlace",
    "SuggestedLanes",
    "TextKind",
    "Verification",
    "detect",
    "differences",
    "header",
    "inspect",
    "join_indices",
    "pack_rows",
    "pad",
    "recipe_after",
    "variables",
    "verify",
    "whole_weights",
]
