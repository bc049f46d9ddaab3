import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { edited } from '../../parts/json.ts';
import type { Part } from './compute.ts';

/** The first two parts of the epoch, in every language. */
export function snippets(values: { recipe: string; epoch: string; batch: string }, parts: readonly Part[]): Snippets {
  const { epoch, batch } = values;
  const [first, second = first] = parts;
  const [worldSize, next, taken] = [first?.worldSize ?? 1, second?.worldSize ?? 1, (first?.taken ?? 0) * Number(batch)];
  const before = literal(edited(values.recipe, 'deal.world_size', String(worldSize)));
  const after = literal(edited(values.recipe, 'deal.world_size', String(next)));
  return {
    Python: `from samedeal import Sampler

before = Sampler.from_recipe(${before.python}, epoch=${epoch})
state = before.state(${taken})  # after so many samples of every rank
after = Sampler.from_recipe(${after.python})
after.resume(state)
print(after.consumed, after.batch(0, ${batch}))`,
    JavaScript: `import { Sampler } from 'samedeal';

const before = Sampler.fromRecipe(${before.javascript}, { epoch: ${epoch} });
const state = before.state(${taken}); // after so many samples of every rank
const after = Sampler.fromRecipe(${after.javascript});
after.resume(state);
console.log(after.consumed, after.batch(0, ${batch}));`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let before = Sampler::from_recipe(${before.rust}).epoch(${epoch}).build()?;
    let state = before.state(${taken})?; // after so many samples of every rank
    let mut after = Sampler::from_recipe(${after.rust}).build()?;
    after.resume(&state)?;
    println!("{} {:?}", after.consumed(), after.batch::<u64>(0, ${batch}, false)?);
    Ok(())
}`,
    Command: `echo ${before.shell} |
  samedeal state --recipe - --epoch ${epoch} --taken ${taken} --output state.json
samedeal batches --resume state.json --world-size ${next} --batch-size ${batch} --count 1`,
  };
}
