import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';

/** Programs that print the entry of a rank, in every language. */
export function snippets(recipe: string): Snippets {
  const { python, javascript, rust, shell } = literal(recipe);
  return {
    Python: `from samedeal import Sampler

sampler = Sampler.from_recipe(${python}, epoch=0)
print(sampler.recipe)  # on every rank; a DistributedSampler has it too
print(sampler.config_fingerprint())  # equal on all ranks of one deal`,
    JavaScript: `import { Sampler } from 'samedeal';

const sampler = Sampler.fromRecipe(${javascript}, { epoch: 0 });
console.log(sampler.recipe); // on every rank
console.log(sampler.configFingerprint()); // equal on all ranks of one deal`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let sampler = Sampler::from_recipe(${rust}).epoch(0).build()?;
    println!("{}", sampler.recipe()?); // on every rank
    println!("{}", sampler.config_fingerprint()?); // equal on all ranks of one deal
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} |
  samedeal fingerprint --recipe - --epoch 0`,
  };
}
