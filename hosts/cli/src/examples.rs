//! The examples of `--help`, each of them a command line that a test parses.

pub const ALL: &str = "\
Examples:
  samedeal indices --samples 50_000 --seed 42 --rank 1 --world 8
  samedeal batches data/train --batch-size 32 --world 4 --rank 3
  samedeal step 1000 data/train --batch-size 32 --world 4 --column text
  samedeal verify --samples 1e8 --world 64 --batch-size 32
  samedeal replay data/train --column text --world 4 --rank 1 --batch-size 32
  samedeal shards data/train --world 8 --workers 4 --policy size-aware --batch-size 32
  samedeal mesh dp=2 tp=4 --world 8 --divide dp";

pub const INDICES: &str = "\
Examples:
  The first 20 samples of rank 1 of 8:
    samedeal indices --samples 50_000 --seed 42 --rank 1 --world 8
  Which rows of which files come after the first million:
    samedeal indices data/train --start 1e6 --count 10
  In an order that reads the files in runs, window after window:
    samedeal indices data/train --order sharded --lanes 8 --window 1024 --rank 1 --world 8
  What worker 2 of 4 of that rank reads, as a loader with 4 workers divides it:
    samedeal indices data/train --order sharded --rank 1 --world 8 --workers 4 --worker 2
  A whole epoch as a NumPy array:
    samedeal indices --samples 1e7 --epoch 3 --format npy --output epoch-3.npy
  Bare numbers for another program:
    samedeal indices --samples 100 --all --format text | sort -n";

pub const STATE: &str = "\
Examples:
  After 1000 batches of 32 on 8 ranks:
    samedeal state --samples 1e6 --seed 42 --epoch 3 --world 8 --taken 32000 --output epoch.json
  What rank 1 of 6 reads then, of what those 8 have left:
    samedeal batches --samples 1e6 --seed 42 --world 6 --rank 1 --batch-size 32 --resume epoch.json

A state is the same on all ranks, whatever wrote it: the libraries resume those of the command, and the command theirs.";

pub const BATCHES: &str = "\
Examples:
  The first batches of rank 3 of 4:
    samedeal batches --samples 50_000 --batch-size 32 --rank 3 --world 4
  What step 1000 of the epoch 2 reads:
    samedeal batches data/train --batch-size 32 --epoch 2 --start 1000 --count 1
  The batches that worker 1 of 4 of rank 3 forms, of which its loader's are number 1, 5, 9 and so on:
    samedeal batches data/train --order sharded --batch-size 32 --rank 3 --world 4 --workers 4 --worker 1
  All full batches as a NumPy array of shape (batches, 32):
    samedeal batches --samples 1e6 --batch-size 32 --drop-last --format npy --output batches.npy

Examples of samples of different length:
  Batches of up to 16384 tokens, padding included, of which a column tells how many each sample has:
    samedeal batches data/train --lengths tokens --budget 16384 --max-length 2048 --too-long truncate --world 4
  How every strategy does with the words of a text, as a table and as a picture:
    samedeal batches data/train --lengths text --unit words --max-length 512 --too-long drop --plot lengths.svg
  Rows of 2048 tokens that samples share, as few as can be, from a NumPy array of lengths:
    samedeal batches lengths.npy --lengths --strategy pack --capacity 2048 --packing optimal
  Eight buckets of as many samples each, from a table, for a program:
    samedeal batches verses.csv --lengths words --strategy bucket --quantiles 8 --max-batch-size 64 --all --json

With --lengths and --format text, a line has the step, its rows, their padded length, the cost, how many rows at the end
are there again, and then a part for each row: its samples with commas, with @ and a number of tokens where an item is a
later part of its sample.

--compare gives all strategies the same room: batches of up to --budget tokens; else of up to --max-batch-size rows (32)
of --max-length tokens, or of the longest sample. Its columns are:
  padding        what part of the padded tokens is padding
  budget used    tokens, divided by the budget of all batches
  slowest rank   tokens, divided by what all ranks compute while they wait for the slowest of each step
  cost max/mean  the greatest cost of a step, divided by the mean of its ranks
  packs >=       a number of packs that no packing of the same windows goes below
  neighbours     the correlation (Pearson) of the mean lengths of batches of rank 0 that follow each other: near 0 where
                 their order is at random
  left out, cut  samples";

pub const STEP: &str = "\
Examples:
  The loss jumped at step 1000 of the epoch 2: what was in it, and where is that stored?
    samedeal step 1000 data/train --batch-size 32 --world 8 --epoch 2 --column text
  The same where steps are counted over epochs, as trainers log them:
    samedeal step 18204 data/train --batch-size 32 --world 8 --global
  Of batches of different length, what rank 3 had:
    samedeal step 97 data/train --lengths tokens --budget 16384 --world 8 --rank 3
  After a run was resumed on 6 ranks; its steps are counted from there:
    samedeal step 12 --samples 1e6 --batch-size 32 --world 6 --resume epoch.json --json

With --format text, a line has the rank, with --workers the worker, the slot, the sample, \"padding\" where it is, and its
file and row and what --column names, if there are files. With --lengths, it has the rank, the row and the slot of the
item, the sample, the token of it that the item begins with and how many it has, \"there again\" where it is, and the
same at its end; the batches are those of the same options of `samedeal batches`.

With --workers, a rank's loader takes the batches of its workers in turn: its step s is batch s / n of worker s mod n.";

pub const LOCATE: &str = "\
Examples:
  When and where sample 31337 is seen, in batches of 32:
    samedeal locate --samples 50_000 --world 8 --batch-size 32 --sample 31337
  Several at once, of a dataset in files:
    samedeal locate data/train --world 8 --batch-size 32 --sample 7,8,9
  Which batch of which rank's loader, where 4 workers read in each:
    samedeal locate data/train --order sharded --world 8 --workers 4 --batch-size 32 --sample 7
  In batches of samples of different length, by the same options as `samedeal batches`:
    samedeal locate data/train --lengths tokens --budget 16384 --world 8 --sample 31337

A place of a sample is \"to come\", or \"padding\" where the sample is dealt again to fill up the last step, or \"dropped\" where
nobody sees it. With --resume it is \"seen\" where it was consumed before the state. The state of samples does not say by whom;
`samedeal explain` does once it is told. That of batches knows its worlds. A table leaves the column out where all are to come.

With --format text, the parts of a line are the sample, its status, position, rank, index, batch and slot, how many more times
it is dealt as padding, and its file and row, if there are files. A table shows at most 8 repetitions. With --drop-last, the
batch of a place that no batch holds is \"left out\" (null in JSON), and its slot empty.

With --lengths, a line has the sample, its status, the step, the rank, the world, the row of the batch and the slot in it, the
token of the sample that the item begins with, the file and the row in it. There are several for a sample that is split or
there again. With --resume, steps to come are counted from there, and those that were seen from the beginning of the epoch.

With --workers the worker comes after the rank, the index counts the samples of that worker, and two batches are told:
the worker's own, and that of the rank's loader. A DataLoader takes the batches of its workers in turn, so batch b of
worker w of n is its number b * n + w; it is so to the end of the epoch, since no worker has more batches than one
before it.";

pub const EXPLAIN: &str = "\
Examples:
  What a checkpoint of Lightning or torch.save says of the epoch, or that of transformers:
    samedeal explain epoch=3-step=1000.ckpt
    samedeal explain checkpoint-500/trainer_state.json --json
  Whether the model has seen a sample, of a run on 8 ranks in batches of 32; the state does not say how many there were:
    samedeal explain run.pt --sample 31337 --world 8 --batch-size 32
  What all ranks read in a step, counted from the beginning of the epoch:
    samedeal explain run.pt --step 97 --world 8 --batch-size 32
  The same of batches of different length, whose state knows its worlds:
    samedeal explain run.pt data/train --lengths tokens --budget 16384 --step 97

Pickles are read without executing anything in them, up to 67,108,864 bytes of them, tensors not counted. With --sample, the
answer is that of `samedeal locate`; with --step, that of `samedeal step`. Where something is not in the file, an error says
which option to add. Of the state of readers of files, --sample says whether a sample was seen.";

pub const FINGERPRINT: &str = "\
Examples:
  To compare with samedeal.Sampler(50_000, seed=42, rank=1, world=8).fingerprint() in Python:
    samedeal fingerprint --samples 50_000 --seed 42 --rank 1 --world 8 --format text";

pub const VERIFY: &str = "\
Examples:
  Every sample exactly once, and as many steps on every rank:
    samedeal verify --samples 1e8 --world 64 --batch-size 32
  The same of full batches alone, and how many samples none of them holds:
    samedeal verify --samples 1e8 --world 64 --batch-size 32 --drop-last
  The deal of a dataset in files, for a program:
    samedeal verify data/train --world 6 --remainder uneven --json

The exit code is 0 if everything is as it must be, 1 if a check failed, and 2 if the checks could not be run. Samples
that --remainder drop or --drop-last leaves out are counted, and are no failure. Needs one bit of memory a sample, two
with --drop-last.";

pub const SHARDS: &str = "\
Examples:
  What each of 8 ranks with 4 workers reads, and whether all of them take the same number of steps:
    samedeal shards data/train --world 8 --workers 4 --batch-size 32
  As even as can be, by bytes:
    samedeal shards data/train --world 8 --policy size-aware --weight bytes
  As the readers of Python and JavaScript deal with deal=\"shards\", unless they are told otherwise:
    samedeal shards data/train --world 8 --workers 4 --policy size-aware --worker-policy size-aware --shuffle --seed 42
  The files of rank 1, worker 0, in the order in which it reads them in the epoch 3:
    samedeal shards data/train --world 8 --workers 4 --shuffle --epoch 3 --rank 1 --worker 0 --format text
  Whether a run read every file exactly once: a JSON list, for each reader, of the numbers or the paths of its files:
    samedeal shards data/train --verify=read.json --json
  The same of the plan itself, which checks its own arithmetic, and nothing that was read:
    samedeal shards data/train --world 8 --workers 4 --verify

Row counts and bytes come from the footers of the files; bytes are what their row groups take, compressed, where those
readers count the columns that they read. With --format text, a line has the parts of a row of the table; --batch-size
adds one that begins with \"steps\": the size, the fewest and the most steps, and \"equal\" or \"unequal\". --skip-unreadable
leaves out what is named *.parquet, and nothing else. The exit code is 0, 1 if --verify found an overlap or a gap, and 2 if
there is no answer. The policy locality-aware is for the libraries, which can be told where files and ranks are.";

pub const MESH: &str = "\
Examples:
  Two copies of a model that is cut into four, as torch's init_device_mesh numbers them:
    samedeal mesh dp=2 tp=2 cp=2 --divide dp
  Where one rank of a hybrid-sharded run stands, and which ranks share its data:
    samedeal mesh replicate=16 shard=8 tp=8 --world 1024 --divide replicate,shard --rank 517 --json

The first axis is the slowest, the last one the fastest. Give a sampler the data rank as its rank and the data world as
its world. With --format text, a line has the rank, its coordinates, its data rank, and its peers with commas.";

pub const LEDGER: &str = "\
Examples:
  What each reader did, and how far they have come:
    samedeal ledger epoch-0.log
  The samples of the same schedule, for the first of two readers, however many there were:
    samedeal ledger epoch-0.log --reader 0 --readers 2 --format text
  With the file and the row of each, which the order sharded needs:
    samedeal ledger epoch-0.log data/train --reader 0 --readers 1 --lanes 8 --window 1024

Every entry is held against those before it; an error names the line. A last line without an end is none: its writer died,
or is still writing. Samples are in the order in which they were committed. The log says which order, seed and epoch it is
of. With --format text, a line has the number of a reader, its claims, commits, committed samples, and how many it lost or
gave back; or a sample.";

pub const RANK: &str = "\
Examples:
  Which rank this process is, and by whose word:
    samedeal rank
  For a script; --rank and --world win over everything that is set:
    samedeal rank --world 8 --rank 3 --format text

Known are torchrun, Open MPI, MVAPICH, PMI and Slurm. The exit code is 2 where the variables contradict each other or say
too little, and the error then names the variable to set.";

pub const REPLAY: &str = "\
Examples:
  What rank 1 of 4 reads in the epoch 2:
    samedeal replay data/train --column text --rank 1 --world 4 --batch-size 32 --epoch 2

The SHA-256 runs over the samples in the order they are seen: for each, its length in bytes as an unsigned 64-bit
little-endian number, then its bytes. The rank's share of the column is held in memory.";
