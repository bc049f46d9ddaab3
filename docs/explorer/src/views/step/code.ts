import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';

/** Programs for a step on one rank, in every language. */
export function snippets(values: {
  recipe: string;
  epoch: string;
  step: string;
  batch: string;
  rank: string;
  drop: boolean;
}): Snippets {
  const { epoch, step, batch, rank, drop } = values;
  const { python, javascript, rust, shell } = literal(values.recipe);
  return {
    Python: `from samedeal import Sampler

recipe = ${python}
sampler = Sampler.from_recipe(recipe, rank=${rank}, epoch=${epoch})
print(sampler.batch(${step}, ${batch}${drop ? ', drop_last=True' : ''}))`,
    JavaScript: `import { Sampler } from 'samedeal';

const recipe = ${javascript};
const sampler = Sampler.fromRecipe(recipe, { rank: ${rank}, epoch: ${epoch} });
console.log(sampler.batch(${step}, ${batch}${drop ? ', { dropLast: true }' : ''}));`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let recipe = ${rust};
    let sampler = Sampler::from_recipe(recipe).rank(${rank}).epoch(${epoch}).build()?;
    println!("{:?}", sampler.batch::<u64>(${step}, ${batch}, ${drop ? 'true' : 'false'})?);
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} |
  samedeal step ${step} --recipe - --epoch ${epoch} --batch-size ${batch}${drop ? ' --drop-last' : ''} --rank ${rank}`,
  };
}
