# %% [markdown]
# # Ray Train: a worker dies, and their number changes
#
# Two workers train on a local Ray. One of them dies, and Ray starts both anew from the last checkpoint; later, three
# workers go on. In each epoch, every sample is still trained once.
#
# To run it: `python train_with_ray.py`, after `pip install 'hosts/python[torch]' 'ray[train]'`. It needs no GPU and no
# cluster.

# %%
import json
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import ray
import ray.train
import torch
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model
from samedeal.torch import DistributedSampler, Resumable, verify_ranks
from torch.utils.data import DataLoader

SAMPLES = 192
EPOCHS = 2
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)

# %% [markdown]
# ## What each worker does
#
# The sampler finds rank and world size by itself. `Resumable` counts the batches that the loop got, and its state goes
# into the checkpoint next to the weights. Ray keeps checkpoints that are reported; all workers report, one of them
# with the file: what it says about the data is the same for all.
#
# `config["stop"]` is a step to end at, so that there is something left for more workers; `config["death"]` is a step
# before which worker 1 is killed, if it did not come from a checkpoint.


# %%
def train(config):
    """One worker."""
    context = ray.train.get_context()
    rank, world_size = context.get_world_rank(), context.get_world_size()
    data = [(i, torch.sin(torch.arange(1, 5) * (i + 1))) for i in range(SAMPLES)]
    loader = Resumable(DataLoader(data, batch_size=8, sampler=DistributedSampler(data, seed=42)))
    torch.manual_seed(0)
    model = prepare_model(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step, restored = 0, ray.train.get_checkpoint() or config.get("checkpoint")
    if restored:
        with restored.as_directory() as directory:
            saved = torch.load(Path(directory) / "checkpoint.pt")
        model.load_state_dict(saved["model"])
        loader.load_state_dict(saved["loader"])
        step = saved["step"]
    log = (Path(config["folder"]) / f"from-{step}-rank-{rank}.jsonl").open("w", buffering=1)
    for epoch in range(loader.epoch, EPOCHS):
        loader.set_epoch(epoch)
        verify_ranks(loader)
        for samples, values in loader:
            if step == config.get("death") and rank == 1 and not restored:
                os.kill(os.getpid(), signal.SIGKILL)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(values).squeeze(1), values.sum(1)).backward()
            optimizer.step()
            log.write(json.dumps([step, epoch, samples.tolist()]) + "\n")
            step += 1
            if step % 4 == 0:
                with tempfile.TemporaryDirectory() as directory:
                    state = {"model": model.state_dict(), "loader": loader.state_dict(), "step": step}
                    torch.save(state, Path(directory) / "checkpoint.pt")
                    checkpoint = Checkpoint.from_directory(directory) if rank == 0 else None
                    ray.train.report({"step": step, "world_size": world_size}, checkpoint=checkpoint)
            if step == config.get("stop"):
                return


def run(workers, **config):
    """A job on the local Ray, which may fail once."""
    return TorchTrainer(
        train,
        train_loop_config={"folder": str(folder), **config},
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(storage_path=str(folder / "storage"), failure_config=FailureConfig(max_failures=1)),
    ).fit()


# %% [markdown]
# ## Two workers, one of whom dies
#
# An epoch is 192 samples, 8 a step of each of two workers: 12 steps. A worker dies before step 10, and both begin
# again where the last checkpoint was that Ray had by then. They end after step 16, in the middle of epoch 1.

# %%
ray.init(num_cpus=4, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False)
first = run(workers=2, death=10, stop=16)
print(first.metrics)
assert (first.metrics["step"], first.metrics["world_size"]) == (16, 2)

# %% [markdown]
# ## Three workers go on
#
# They get the checkpoint of those before them. The rest of epoch 1, 128 samples, is dealt among three.

# %%
run(workers=3, checkpoint=first.checkpoint)
ray.shutdown()

# %% [markdown]
# ## The proof
#
# What counts is what is in the weights: of the workers that were interrupted, the steps up to the checkpoint that the
# next ones began with.


# %%
starts = sorted({int(log.name.split("-")[1]) for log in folder.glob("from-*.jsonl")})
print("workers began at steps", starts)
assert starts[0] == 0
assert starts[1] in (4, 8)
assert starts[2] == 16
counts = Counter()
for begun, end in zip(starts, [*starts[1:], 1000], strict=True):
    for log in folder.glob(f"from-{begun}-*.jsonl"):
        for line in log.read_text().splitlines():
            step, epoch, samples = json.loads(line)
            if step < end:
                counts.update((epoch, sample) for sample in samples)
for epoch in range(EPOCHS):
    of_epoch = [counts[epoch, sample] for sample in range(SAMPLES)]
    again = sum(of_epoch) - SAMPLES
    print(f"epoch {epoch}: {SAMPLES} samples, {of_epoch.count(0)} missing, {again} twice")
    # What is left of epoch 1 does not divide by three: PyTorch's sampler repeats one of them.
    assert min(of_epoch) == 1
    assert again == (1 if epoch == 1 else 0)
