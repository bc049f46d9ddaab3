# %% [markdown]
# # Ray Train: a worker dies, and their number changes
#
# Two workers train on a local Ray. One of them dies, and Ray starts both anew from the last checkpoint; later, three
# workers go on. In each epoch, every sample is still trained once.
#
# To run it: `python train_with_ray.py`, after `pip install 'hosts/python[torch]' 'ray[train]'`. It needs no GPU and no
# cluster. It takes about half a minute on two cores. Most of this time, Ray starts three groups of processes, and each
# process imports PyTorch.

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

# By default, Ray's controller looks at the workers every two seconds. A worker that reports twice in this time waits,
# and the steps of this job take milliseconds.
os.environ["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"] = "0.2"

SAMPLES = 192
EPOCHS = 2
scratch = tempfile.TemporaryDirectory()
folder = Path(scratch.name)

# %% [markdown]
# ## What each worker does
#
# The sampler finds rank and world size by itself. `Resumable` counts the batches that the loop got, and its state goes
# into the checkpoint next to the weights. Ray keeps the checkpoints that are reported. All workers report, and one of
# them has the file, because the state of the data is the same for all.
#
# The job ends after the step `config["stop"]`, so that more workers can go on. Worker 1 is killed before the step
# `config["death"]`, if it did not begin with a checkpoint.


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
# ## Two workers, and one of them dies
#
# An epoch has 192 samples. Two workers read 8 samples each in a step, so it has 12 steps. A worker dies before step 10.
# Ray starts both again from the last checkpoint that it has. They end after step 16, in the middle of epoch 1.

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
# Only the steps that are in the weights count. Of workers that were interrupted, these are the steps before the
# checkpoint with which the next ones began.


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
    # Three workers do not divide the 128 samples that are left of epoch 1. As by PyTorch's sampler, one is repeated.
    assert min(of_epoch) == 1
    assert again == (1 if epoch == 1 else 0)
