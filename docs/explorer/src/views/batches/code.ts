import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';

/** Programs for the batches of one rank at a step, in every language. */
export function snippets(values: { batches: string; epoch: string; step: string }): Snippets {
  const { epoch, step } = values;
  const { python, javascript, rust, shell } = literal(values.batches);
  return {
    Python: `from samedeal import Batcher

lengths = [...]  # the length of every sample
batcher = Batcher.from_recipe(${python}, lengths, rank=0, epoch=${epoch})
print(batcher.batch(${step}).samples)`,
    JavaScript: `import { Batcher } from 'samedeal';

const lengths = [...]; // the length of every sample
const batcher = Batcher.fromRecipe(${javascript}, lengths, { rank: 0, epoch: ${epoch} });
console.log(batcher.batch(${step}, 0).samples);`,
    Rust: `use samedeal::Batcher;

fn main() -> Result<(), samedeal::Error> {
    let lengths: Vec<u32> = vec![]; // the length of every sample
    let batcher = Batcher::from_recipe(${rust}, lengths).rank(0).epoch(${epoch}).build()?;
    println!("{:?}", batcher.batch(${step})?.samples);
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} > recipe.json
samedeal step ${step} lengths.json --lengths --recipe recipe.json --epoch ${epoch} # lengths.json: a list of numbers`,
  };
}
