import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { edited } from '../../parts/json.ts';

/** Programs that go on after the state, on the next ranks: the first batch of rank 0, in every language. */
export function snippets(values: { recipe: string; state: string; next: string; each: string }): Snippets {
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
