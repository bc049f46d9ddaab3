//! The examples of `--help`, each of them a command line that a test parses.

pub const ALL: &str = "\
Examples:
  samedeal indices --samples 50_000 --seed 42 --rank 1 --world-size 8
  samedeal batches data/train --batch-size 32 --world-size 4 --rank 3
  samedeal step 1000 data/train --batch-size 32 --world-size 4 --column text
  samedeal verify --samples 1e8 --world-size 64 --batch-size 32
  samedeal blend --source web:1e6:70 --source books:5e3:30 --samples 1e5
  samedeal split --samples 1e6 --part test:10 --part training:90 --seed 42
  samedeal steps --samples 1e6 --batch-size 256 --batch-size 512@10000 --world-size 8
  samedeal replay data/train --column text --world-size 4 --rank 1 --batch-size 32
  samedeal shards data/train --world-size 8 --workers 4 --batch-size 32
  samedeal mesh dp=2 tp=4 --world-size 8 --shard dp";

pub const INDICES: &str = "\
Examples:
  The first 20 samples of rank 1 of 8:
    samedeal indices --samples 50_000 --seed 42 --rank 1 --world-size 8
  The files and rows of the samples after the first million:
    samedeal indices data/train --start 1e6 --count 10
  The samples of worker 2 of 4 of a rank, in an order that reads neighbouring rows together:
    samedeal indices data/train --order sharded --lanes 64 --shuffle-window 1024 --rank 1 --world-size 8 --workers 4 --worker 2
  A whole epoch as a NumPy array:
    samedeal indices --samples 1e7 --epoch 3 --format npy --output epoch-3.npy
  Bare numbers for another program:
    samedeal indices --samples 100 --all --format text | sort -n";

pub const RECIPE: &str = "\
Examples:
  Everything that decides the deal of a run, in a file:
    samedeal recipe --samples 1e6 --seed 42 --world-size 8 --output run.json
  The samples of rank 3 of this run, in epoch 2:
    samedeal indices --recipe run.json --rank 3 --epoch 2
  The same run with another seed, on 16 ranks:
    samedeal indices --recipe run.json --seed 43 --world-size 16
  The recipe of a dataset in files, and the check of this recipe on another machine:
    samedeal recipe data/train --order sharded --lanes 64 --world-size 8 --output run.json
    samedeal recipe data/train --recipe run.json
  The fingerprint, which names the run:
    samedeal recipe --recipe run.json --fingerprint
  How a run makes batches of samples of different length, and the batches of rank 3:
    samedeal recipe data/train --lengths tokens --max-tokens 16384 --world-size 8 --output run.json
    samedeal batches data/train --lengths tokens --recipe run.json --rank 3

--recipe gives --samples, --seed, --order, --lanes, --shuffle-window, --world-size, --remainder, --layout and --unit in \
indices, batches, locate, step, verify, fingerprint, state, replay and explain. With --lengths, it gives --seed, \
--order, --world-size and all options of batches; the files that tell lengths must be named. In every subcommand, an \
option beside --recipe replaces what the recipe says of the same. Epoch, rank, workers and batch size are no part of a \
recipe. With an order other than sharded, files may be named: their rows must be as many as the samples of the recipe. \
With the order sharded, a recipe has the number of rows of each file, of more than 256 files only a hash of them; then \
the files must be named. The libraries read and write the same recipes.

A recipe may have an order that is made of others: a blend, or a dataset that grew or that has samples left out. The \
libraries and `samedeal blend` write such recipes. Of lists with more than 256 numbers they have only a hash: name \
the numbers with --list, such as --list of/indices=kept.npy. locate then shows every place of a sample.";

pub const BLEND: &str = "\
Examples:
  What 100,000 positions of three sources have: counts, passes and repeats:
    samedeal blend --source web:1e6:70 --source books:5e3:20 --source code:2e4:10 --samples 1e5
  The same with a plot of the drift of each source:
    samedeal blend --source web:1e6:70 --source books:5e3:20 --source code:2e4:10 --samples 1e5 --plot
  Less web from position 60,000 on:
    samedeal blend --source web:1e6:70 --source books:5e3:30 --samples 1e5 --stage 60_000:40,60
  The epoch ends before a source would be read a third time:
    samedeal blend --source web:1e4:1 --source books:5e3:1 --exhaustion stop --max-passes 2
  A recipe for training, and the samples of rank 3 of this run:
    samedeal blend --source web:1e6:70 --source books:5e3:30 --seed 42 --world-size 8 --recipe-out run.json
    samedeal indices --recipe run.json --rank 3
  The positions of a run so far, in epoch 2, and what rank 3 got of them:
    samedeal blend --recipe run.json --epoch 2 --end 80_000
    samedeal blend --recipe run.json --epoch 2 --end 10_000 --rank 3

The columns are:
  weight         the weights of the stages that the positions are in
  share asked    weight / sum of the weights
  deviation      count - share asked * positions, in samples
  bound          what the deviation of these positions never exceeds; twice as much for positions that do not begin \
with the run
  whole passes   passes over the source that are complete after these positions, and samples of the next one
  repeats        samples that the run had before

Sources with orders of their own, such as files or a dataset without some samples, come in a recipe that a library \
wrote: name it with --recipe. All sources together have one row of sample indices: first those of the first source, \
then those of the next one.";

pub const SPLIT: &str = "\
Examples:
  How many of a million samples are in each part:
    samedeal split --samples 1e6 --part test:10 --part validation:10 --part training:80 --seed 42
  The samples for training, as a NumPy array:
    samedeal split --samples 1e6 --part test:10 --part training:90 --seed 42 --members training --format npy --output training.npy
  Parts of exact sizes:
    samedeal split --size test:1000 --size training:49_000 --seed 42
  Five folds; the training side of fold 0:
    samedeal split --samples 50_000 --folds 5 --seed 42 --others 0 --format text
  The rows of Parquet files, with the file and the row of each sample:
    samedeal split data/train --part test:1 --part training:9 --members test
  All samples of a speaker in the same part, by a column of Parquet files:
    samedeal split data/train --column speaker --keys --part test:1 --part training:9
  The part of each file name that another program prints:
    samedeal split - --keys --part test:1 --part training:9 --each --format text
  The recipe, which the libraries read too:
    samedeal split --part test:1 --part training:9 --seed 42 --recipe-out split.json
    samedeal split --samples 1e6 --recipe split.json

With weights, a sample stays in its part if samples are added. If the weight of a part grows, and that of the next \
one shrinks by as much, samples move from the next part to this one only: list test first, then validation, then \
training. With sizes, make a new split if samples are added.

With --format text, a line has the part, its weight or size, its share of the sum, its samples and their share; a \
sample (--members, --others); or a sample and its part (--each). A sample is the number of a row or of a line, from \
0 on.";

pub const STEPS: &str = "\
Examples:
  Where the batch size changes, and where epochs begin:
    samedeal steps --samples 1e6 --batch-size 256 --batch-size 512@10000 --world-size 8 --seed 42
  How many samples are consumed before some steps, and in which epochs these are:
    samedeal steps --samples 1e6 --batch-size 256 --at 1000 --at 5000
  What every rank takes at step 5000, with files and rows:
    samedeal steps data/train --batch-size 256 --world-size 8 --step 5000
  When sample 31337 is seen, in the first five of its steps:
    samedeal steps --samples 1e6 --batch-size 256 --world-size 8 --locate 31337 --times 5
  The state before step 5000, and the same training on 16 ranks:
    samedeal steps --samples 1e6 --batch-size 256 --world-size 8 --state 5000 --output state.json
    samedeal steps --resume state.json --world-size 16 --step 5000
  A blend, or another order that is made of others, comes in the recipe of a schedule:
    samedeal steps --recipe run.json --at 1000

A step takes as many samples of the order as its batch size says, on all ranks together. It goes on with the next \
epoch where one ends: nothing is padded or dropped, and the samples of a step do not depend on the number of ranks.

With --format text, a line has the step, why it is shown, the batch size, the samples that were consumed before it, \
the epoch and the position at which it begins; with --step the rank, the index in the batch, the sample, and, for \
files, the file, the row and, as JSON, each --column; with --locate the sample, the step (\"never\" if it is not seen again), \
the rank, the index in the batch, the epoch, the position, and how many samples were taken before it. --locate shows \
one place of a sample in each step.";

pub const STATE: &str = "\
Examples:
  After 1000 batches of 32 on 8 ranks:
    samedeal state --samples 1e6 --seed 42 --epoch 3 --world-size 8 --taken 32000 --output epoch.json
  The batches of rank 1 of 6 in what those 8 ranks left:
    samedeal batches --samples 1e6 --seed 42 --world-size 6 --rank 1 --batch-size 32 --resume epoch.json
  10 steps after the state of a dataset in files, for 8 ranks with 4 workers each:
    samedeal state --resume run.pt --world-size 8 --workers 4 --steps 10
  After 120 steps of a dataset in files, from the beginning of the epoch:
    samedeal state data/train --order sharded --world-size 8 --workers 4 --batch-size 32 --steps 120

All ranks that took the same number of steps have the same state. The libraries resume the states of this command, \
and this command resumes the states of the libraries.";

pub const INDEX: &str = "\
Examples:
  How many steps each window has of batches of 16384 tokens on 64 ranks, from a NumPy array of lengths:
    samedeal index lengths.npy --lengths --max-tokens 16384 --world-size 64 --output epoch-0.index
  A step in the middle of the epoch, at once:
    samedeal batches lengths.npy --lengths --max-tokens 16384 --world-size 64 --index epoch-0.index --start 100_000 --count 1
  The same for the batches of a recipe, in epoch 1, with 4 threads:
    samedeal index data/train --lengths tokens --recipe run.json --epoch 1 --threads 4 --output epoch-1.index

An index is the same file whoever writes it: the libraries read it (Batcher.use_index) and write it (build_index of Python). It is of the \
batches of one recipe in one epoch, which it names by their fingerprint; others refuse it.";

pub const BATCHES: &str = "\
Examples:
  The first batches of rank 3 of 4:
    samedeal batches --samples 50_000 --batch-size 32 --rank 3 --world-size 4
  Batch 1000 of epoch 2:
    samedeal batches data/train --batch-size 32 --epoch 2 --start 1000 --count 1
  The batches of worker 1 of 4 of a rank. Its loader returns them as its batches 1, 5, 9 and so on:
    samedeal batches data/train --order sharded --batch-size 32 --rank 3 --world-size 4 --workers 4 --worker 1
  All full batches as a NumPy array of shape (batches, 32):
    samedeal batches --samples 1e6 --batch-size 32 --drop-last --format npy --output batches.npy

Examples of samples of different length:
  Batches of up to 16384 tokens, with padding. The column tokens holds the number of tokens of each sample:
    samedeal batches data/train --lengths tokens --max-tokens 16384 --max-length 2048 --too-long truncate --world-size 4
  A table and a picture of what every strategy makes of a text:
    samedeal batches data/train --lengths text --length-unit words --max-length 512 --too-long drop --plot lengths.svg
  Rows of 2048 tokens, each of which holds several samples, from a NumPy array of lengths:
    samedeal batches lengths.npy --lengths --strategy pack --capacity 2048 --packing optimal
  How much padding four limits leave, in a row for each:
    samedeal batches data/train --lengths tokens --max-tokens 4096 --max-tokens 8192 --max-tokens 16384 --max-tokens 32768
  Eight buckets with the same number of samples, from a CSV table, as JSON:
    samedeal batches verses.csv --lengths words --strategy bucket --quantiles 8 --max-batch-size 64 --all --json

With --lengths and --format text, a line has the step, its rows, their padded length, the cost, and how many rows at \
the end are repeated. Then it has a part for each row: its samples with commas. sample@token is a later part of a \
sample that was split.

--compare gives all strategies batches of up to --max-tokens tokens. Without --max-tokens, it gives them \
--max-batch-size rows (32) of --max-length tokens, or of the longest sample. \"pad-to-max\" and \"bucket rows\" have \
a fixed number of rows, so many that the longest samples fit; \"bucket tokens\" and \"budget\" take as many rows as \
fit; the packed rows share the tokens of a batch, unless --capacity sets the tokens of a row. The last two lines of \
a table are commands that make the batches of the best strategies. The columns are:
  padding        padding tokens / padded tokens
  budget used    tokens / budget of all batches
  slowest rank   tokens / tokens that all ranks could compute until the slowest rank of each step is done
  cost max/mean  greatest cost of a step / mean cost of its ranks
  packs >=       lower bound on the number of packs
  neighbours     correlation (Pearson) of the mean lengths of consecutive batches of rank 0: near 0 in a random order
  left out, cut  number of samples";

pub const STEP: &str = "\
Examples:
  The loss jumped at step 1000 of epoch 2. The samples of this step, with their files and rows:
    samedeal step 1000 data/train --batch-size 32 --world-size 8 --epoch 2 --column text
  The same, if the trainer counts steps over all epochs:
    samedeal step 18204 data/train --batch-size 32 --world-size 8 --global
  The eleven steps 1200 to 1210 (1200..1210 would be ten steps, without the step 1210):
    samedeal step 1200..=1210 --samples 1e6 --batch-size 32 --world-size 8
  The step of one rank, with batches of samples of different length:
    samedeal step 97 data/train --lengths tokens --max-tokens 16384 --world-size 8 --rank 3
  What two columns hold of the samples, exactly:
    samedeal step 1000 data/train --batch-size 32 --column text --column label --json
  Step 12 after a run was resumed on 6 ranks:
    samedeal step 12 --samples 1e6 --batch-size 32 --world-size 6 --resume epoch.json --json

With several steps, each row or line begins with the step; with --global, with the epoch and the step in this epoch. \
JSON is {\"answers\": [...]} then, with the answer for each step.

With --format text, a line has the rank, the worker (with --workers), the index in the batch, the sample, \
\"padding\" or nothing, and, for files, the file, the row and each --column. With --lengths, it has the rank, the row \
of the batch, the index in it, the sample, the token that the item begins with, its number of tokens, \"repeated\" \
or nothing, and the file, the row and each --column.

What a --column holds is a JSON value, whole and with its type, in JSON as with --format text. Bytes are \
{\"base64\": \"...\"}, and floats that are no numbers are \"NaN\", \"Infinity\" and \"-Infinity\". JSON has \
{\"contents\": {COLUMN: [...]}} for each rank, in the order of its samples. A table has the beginnings.

With --workers, the loader of a rank takes the batches of its workers in turn. It passes over workers that have no \
batch left.";

pub const LOCATE: &str = "\
Examples:
  Where sample 31337 is, in batches of 32:
    samedeal locate --samples 50_000 --world-size 8 --batch-size 32 --sample 31337
  The same in the epochs 0 to 4:
    samedeal locate --samples 50_000 --world-size 8 --batch-size 32 --sample 31337 --epoch 0..=4
  Several samples of a dataset in files:
    samedeal locate data/train --world-size 8 --batch-size 32 --sample 7,8,9
  With 4 loader workers in each rank:
    samedeal locate data/train --order sharded --world-size 8 --workers 4 --batch-size 32 --sample 7
  With batches of samples of different length; the options are those of `samedeal batches`:
    samedeal locate data/train --lengths tokens --max-tokens 16384 --world-size 8 --sample 31337

The status of a place is \"seen\" (consumed before the state of --resume), \"to come\", \"padding\" (the sample is \
dealt again to fill the last step) or \"dropped\" (no rank gets it). Index, batch and step of a place that is to \
come are counted from the state on.

With several epochs, each row or line begins with the epoch. JSON is {\"answers\": [...]} then, with the answer for \
each epoch.

With --format text, a line has the sample, the status, the position, the rank, the index, the batch, the index in \
the batch, how many more times the sample is dealt as padding, and, for files, the file and the row. A table shows \
at most 8 repetitions. If --drop-last leaves the batch out, the batch is \"left out\" (null in JSON). With \
--workers, the worker follows the rank, the index counts the samples of the worker, and there are two batches: that \
of the worker, and that of the loader of the rank.

With --lengths, a line has the sample, the status, the step, the rank, the world size, the row of the batch, the \
index in it, the token that the item begins with, the file and the row. A sample that is split or repeated has \
several lines. Steps that were seen are counted from the beginning of the epoch. `counted_from` in JSON says which \
count a place has.";

pub const DIFF: &str = "\
Examples:
  What differs between the recipes of two runs:
    samedeal diff run.json other.json
  Between a checkpoint and a state:
    samedeal diff checkpoint.pt state.json
  Only whether they differ, for a script:
    samedeal diff run.json other.json --quiet --format text

The exit code is 0 if nothing differs, 1 if something does, and 2 if a file cannot be read. Recipes are compared in their \
full form, so that a default that is written out is no difference.";

pub const SCHEMA: &str = "\
Examples:
  What `samedeal step --json` prints, for a program that checks it or makes types of it:
    samedeal schema step > step.schema.json
  The same of all subcommands, in one file:
    samedeal schema > answers.schema.json";

pub const COMPLETIONS: &str = "\
Examples:
  For bash, zsh and fish:
    samedeal completions bash > ~/.local/share/bash-completion/completions/samedeal
    samedeal completions zsh > ~/.zfunc/_samedeal
    samedeal completions fish > ~/.config/fish/completions/samedeal.fish";

pub const MAN: &str = "\
Examples:
  The page of the command, and the pages of all subcommands in a folder:
    samedeal man > samedeal.1
    samedeal man --output man1";

pub const EXPLAIN: &str = "\
Examples:
  What a checkpoint of Lightning, torch.save or transformers says of the epoch:
    samedeal explain epoch=3-step=1000.ckpt
    samedeal explain checkpoint-500/trainer_state.json --json
  Whether the model has seen a sample. The state of a sampler does not say how many ranks there were:
    samedeal explain run.pt --sample 31337 --world-size 8 --batch-size 32
  What all ranks read in step 97 of the epoch, and in the steps 97 to 99:
    samedeal explain run.pt --step 97 --world-size 8 --batch-size 32
    samedeal explain run.pt --step 97..100 --world-size 8 --batch-size 32
  When the sample was seen, or will be, in the epochs 0 to 4:
    samedeal explain run.pt --sample 31337 --epoch 0..=4 --world-size 8 --batch-size 32
  The same with batches of samples of different length, whose state knows the world sizes:
    samedeal explain run.pt data/train --lengths tokens --max-tokens 16384 --step 97

Steps are counted from the beginning of the epoch, also those that are to come. With --epoch, the answer assumes \
that earlier epochs were read to their ends, by the same ranks. The answer to --sample is that of `samedeal locate`, \
the answer to --step is that of `samedeal step`; for the state of a dataset in files, --sample only says \"seen\" or \
\"to come\". Pickles of up to 64 MiB (without the tensors) are read, and nothing in them is executed.";

pub const FINGERPRINT: &str = "\
Examples:
  To compare with samedeal.Sampler(50_000, seed=42, rank=1, world_size=8).fingerprint() in Python:
    samedeal fingerprint --samples 50_000 --seed 42 --rank 1 --world-size 8 --format text

There are two. config_fingerprint is of the configuration and the epoch, the same on all ranks: compare it between the \
ranks of a job. fingerprint is of the samples of one rank in one epoch: compare it to see that two hosts, or two versions, \
deal this rank the same samples. Between two runs, compare the fingerprints of their recipes, which are the same in all \
epochs: `samedeal recipe --fingerprint`, or `samedeal diff` to see what differs.";

pub const VERIFY: &str = "\
Examples:
  Every sample exactly once, and the same number of steps on every rank:
    samedeal verify --samples 1e8 --world-size 64 --batch-size 32
  With full batches only, and how many samples are in none of them:
    samedeal verify --samples 1e8 --world-size 64 --batch-size 32 --drop-last
  The deal of a dataset in files, as JSON:
    samedeal verify data/train --world-size 6 --remainder uneven --json
  What a checkpoint leaves of a dataset in files, for 8 ranks with 4 workers each:
    samedeal verify --resume run.pt --world-size 8 --workers 4

The exit code is 0 if all checks passed, 1 if one failed, and 2 if the checks could not run. Samples that \
--remainder drop or --drop-last leaves out are counted; they are no failure. It needs one bit of memory for each \
sample, two with --drop-last.

In JSON, \"passed\" is true, false, or null: for a check, if it was not checked; for all together, if none failed, \
but one was not checked. With --format text, a line has the check, its result, and, as JSON, what was found.";

pub const SHARDS: &str = "\
Examples:
  What each of 8 ranks with 4 workers reads, and whether all ranks take the same number of steps:
    samedeal shards data/train --world-size 8 --workers 4 --batch-size 32
  With equal bytes for the ranks, as far as possible:
    samedeal shards data/train --world-size 8 --weight bytes
  In turn, in the order of the files:
    samedeal shards data/train --world-size 8 --policy round-robin --no-shuffle
  The files of rank 1, worker 0, in the order in which it reads them in epoch 3:
    samedeal shards data/train --world-size 8 --workers 4 --epoch 3 --rank 1 --worker 0 --format text
  Whether a run read every file exactly once. read.json has a list for each reader, of the numbers or paths of its files:
    samedeal shards data/train --verify=read.json --json
  The same check of the plan itself, without a run:
    samedeal shards data/train --world-size 8 --workers 4 --verify

Numbers of rows and bytes are from the footers of the files. Bytes are the compressed size of all columns; the \
readers count only the columns that they read. With --format text, a line has the parts of a row of the table. \
--batch-size adds a line with \"steps\", the size, the fewest and the most steps, and \"equal\" or \"unequal\". A \
line of --verify has \"overlap\", the shard, its file and its two readers, or \"gap\", the first of some \
neighbouring shards that no reader has, how many they are, the first file and the last one. --skip-unreadable leaves \
out only files named *.parquet. The exit code is 0, 1 if --verify found an overlap, a gap or, with \
--batch-size, ranks with different numbers of steps, and 2 if there is no answer. The policy locality-aware is only in the libraries, since it needs to know where files and ranks are.";

pub const MESH: &str = "\
Examples:
  Two copies of a model that is split into four parts, numbered as by torch's init_device_mesh:
    samedeal mesh dp=2 tp=2 cp=2 --shard dp
  One rank of a hybrid-sharded run, and the ranks that read the same data:
    samedeal mesh dp_replicate=16 dp_shard=8 tp=8 --world-size 1024 --shard dp_replicate,dp_shard --rank 517 --json

The first axis is the slowest, the last one the fastest. Give a sampler the data rank as its rank, and the data \
world size as its world size. With --format text, a line has the rank, its coordinates, its data rank, and its peers \
with commas.";

pub const LEDGER: &str = "\
Examples:
  What each reader did, and how many samples are committed:
    samedeal ledger epoch-0.log
  The samples of the same schedule for the first of two readers; any number of readers can replay a log:
    samedeal ledger epoch-0.log --reader 0 --readers 2 --format text
  With the file and the row of each sample:
    samedeal ledger epoch-0.log data/train --reader 0 --readers 1
  The same of a log in a folder, which has a file for each entry:
    samedeal ledger epoch-0/

The log holds order, seed and epoch. With the order sharded and more than 256 files, the files must be named. \
Samples are in the order in which they were committed. Every entry is checked against the entries before it; an \
error names the line. A last line without a line feed is ignored: its writer died, or is still writing. In a folder, \
each entry is a file whose name is its number in 16 digits, such as 0000000000000000.json; other names are ignored, \
and errors count entries from 0. With --format text, a line has the columns of the table, where 4:60 is 60 samples \
that reader 4 claimed next; or a sample. The columns are:
  given back or taken over   positions that the reader gave back, or that others took after its lease ended: the \
log does not say which
  freed by a join            positions that the reader held when another process joined with its number
  claimed next by            which readers claimed these positions next, and how many of them";

pub const RANK: &str = "\
Examples:
  The rank of this process, and the variables that it is from:
    samedeal rank
  For a script; --rank and --world-size override all variables:
    samedeal rank --world-size 8 --rank 3 --format text

Known launchers are torchrun, Open MPI, MVAPICH, PMI and Slurm. The exit code is 2 if variables contradict each \
other or are missing; the error names the variable to set.";

pub const REPLAY: &str = "\
Examples:
  What rank 1 of 4 reads in epoch 2:
    samedeal replay data/train --column text --rank 1 --world-size 4 --batch-size 32 --epoch 2

The SHA-256 is over the samples in the order in which the rank sees them: for each, its length in bytes (unsigned, \
64 bits, little-endian), then its bytes. A sample without a value (null) counts as the length 2^64 - 1 without \
bytes. Memory holds the part of the column that the rank reads.";
