import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { digitsOfEach } from '../../parts/number.ts';

/** Programs that locate a sample in one epoch, in every language. */
export function snippets(values: { recipe: string; epoch: string; batch: string; samples: string }): Snippets {
  const { epoch, batch } = values;
  const sample = digitsOfEach(values.samples)[0] ?? '0';
  const { python, javascript, rust, shell } = literal(values.recipe);
  return {
    Python: `from samedeal import Sampler

recipe = ${python}
sampler = Sampler.from_recipe(recipe, epoch=${epoch})
place = sampler.locate(${sample}, batch_size=${batch})
print(place.rank, place.batch, place.index_in_batch)`,
    JavaScript: `import { Sampler } from 'samedeal';

const recipe = ${javascript};
const sampler = Sampler.fromRecipe(recipe, { epoch: ${epoch} });
const { rank, batch, indexInBatch } = sampler.locate(${sample}, ${batch});
console.log(rank, batch, indexInBatch);`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let recipe = ${rust};
    let sampler = Sampler::from_recipe(recipe).epoch(${epoch}).build()?;
    println!("{:?}", sampler.locate(${sample}, ${batch})?);
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} |
  samedeal locate --recipe - --epoch ${epoch} --batch-size ${batch} --sample ${sample}`,
  };
}
