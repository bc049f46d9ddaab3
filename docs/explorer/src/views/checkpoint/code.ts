import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { edited, isObject, type Members, parsed } from '../../parts/json.ts';

interface Values {
  recipe: string;
  reading: string;
  state: string;
  next: string;
  workers: string;
  each: string;
}

/** Programs that go on after the state, on the next ranks: the first batch of rank 0, in every language. */
export function snippets(kind: string, values: Values): Snippets {
  const document = parsed(values.state) as Members;
  const recipe = isObject(document.recipe) ? document.recipe : {};
  const own = (members: Members) => JSON.stringify({ ...recipe, ...members });
  if (kind === 'reading') return ofReading(values);
  const dealt = own({ deal: { world_size: Number(values.next) || 1 } });
  if (kind === 'batcher') return ofBatcher(dealt, values.state);
  if (kind === 'schedule') return ofSchedule(dealt, values);
  return ofSampler(values);
}

function ofSampler(values: Values): Snippets {
  const recipe = literal(edited(values.recipe, 'deal.world_size', values.next));
  const state = literal(values.state);
  const size = values.each || '1';
  return {
    Python: `from samedeal import Sampler

state = ${state.python}
sampler = Sampler.from_recipe(${recipe.python}, rank=0)
sampler.resume(state)
print(sampler.consumed, sampler.batch(0, ${size}))`,
    JavaScript: `import { Sampler } from 'samedeal';

const state = ${state.javascript};
const sampler = Sampler.fromRecipe(${recipe.javascript}, { rank: 0 });
sampler.resume(state);
console.log(sampler.consumed, sampler.batch(0, ${size}));`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let state = ${state.rust};
    let mut sampler = Sampler::from_recipe(${recipe.rust}).rank(0).build()?;
    sampler.resume(state)?;
    println!("{} {:?}", sampler.consumed(), sampler.batch::<u64>(0, ${size}, false)?);
    Ok(())
}`,
    Command: `printf '%s\\n' ${state.shell} > state.json
printf '%s\\n' ${recipe.shell} |
  samedeal batches --recipe - --resume state.json --batch-size ${size} --count 1 --rank 0`,
  };
}

function ofReading(values: Values): Snippets {
  const [workers, each] = [values.workers || '1', values.each || '1'];
  const dealt = edited(edited(values.reading, 'deal.world_size', values.next), 'deal.workers', workers);
  const recipe = literal(edited(dealt, 'batch.batch_size', each));
  const state = literal(values.state);
  return {
    Python: `from samedeal import Reading

state = ${state.python}
reading = Reading.from_recipe(${recipe.python}).resume(state)
batch = reading.batch_at(0, 0)  # rank 0, the first step after the state
print(reading.indices(0, batch.worker, batch.start, batch.start + batch.count))`,
    JavaScript: `import { Reading } from 'samedeal';

const state = ${state.javascript};
const reading = Reading.fromRecipe(${recipe.javascript}).resume(state);
console.log(reading.batchAt(0, 0).samples); // rank 0, the first step after the state`,
    Rust: `use samedeal::Reading;

fn main() -> Result<(), samedeal::Error> {
    let state = ${state.rust};
    let reading = Reading::from_recipe(${recipe.rust}).build()?.resume(state)?;
    let batch = reading.batch_at(0, 0)?; // rank 0, the first step after the state
    println!("{:?}", reading.indices(0, batch.worker, batch.start..batch.start + u64::from(batch.count))?);
    Ok(())
}`,
    Command: `printf '%s\\n' ${state.shell} > state.json
samedeal batches --resume state.json --world-size ${values.next} --workers ${workers} --batch-size ${each} --count 1 --rank 0`,
  };
}

function ofBatcher(dealt: string, saved: string): Snippets {
  const [recipe, state] = [literal(dealt), literal(saved)];
  return {
    Python: `from samedeal import Batcher

lengths = [...]  # the length of every sample
batcher = Batcher.from_recipe(${recipe.python}, lengths, rank=0)
batcher.resume(${state.python})
print(batcher.batch(0).samples)`,
    JavaScript: `import { Batcher } from 'samedeal';

const lengths = [...]; // the length of every sample
const batcher = Batcher.fromRecipe(${recipe.javascript}, lengths, { rank: 0 });
batcher.resume(${state.javascript});
console.log(batcher.batch(0).samples);`,
    Rust: `use samedeal::Batcher;

fn main() -> Result<(), samedeal::Error> {
    let lengths: Vec<u32> = vec![]; // the length of every sample
    let mut batcher = Batcher::from_recipe(${recipe.rust}, lengths).rank(0).build()?;
    batcher.resume(${state.rust})?;
    println!("{:?}", batcher.batch(0)?.samples);
    Ok(())
}`,
    Command: `printf '%s\\n' ${state.shell} > state.json
printf '%s\\n' ${recipe.shell} > recipe.json
samedeal batches lengths.json --lengths --recipe recipe.json --resume state.json --count 1 --rank 0 # lengths.json: a list of numbers`,
  };
}

function ofSchedule(dealt: string, values: Values): Snippets {
  const [recipe, state] = [literal(dealt), literal(values.state)];
  return {
    Python: `from samedeal import Schedule

schedule = Schedule.from_recipe(${recipe.python}, rank=0)
step = schedule.resume(${state.python})
print(step, schedule.batch(step))`,
    JavaScript: `import { Schedule } from 'samedeal';

const schedule = Schedule.fromRecipe(${recipe.javascript}, { rank: 0 });
const step = schedule.resume(${state.javascript});
console.log(step, schedule.batch(step));`,
    Rust: `use samedeal::Schedule;

fn main() -> Result<(), samedeal::Error> {
    let schedule = Schedule::from_recipe(${recipe.rust}).rank(0).build()?;
    let step = schedule.resume(${state.rust})?;
    println!("{step} {:?}", schedule.batch(step)?);
    Ok(())
}`,
    Command: `printf '%s\\n' ${state.shell} > state.json
samedeal steps --resume state.json --world-size ${values.next}`,
  };
}
