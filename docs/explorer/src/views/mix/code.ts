import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { isObject, parsed } from '../../parts/json.ts';

/** Programs that count the samples of each source at some positions of a blend, in every language. */
export function blendSnippets(recipe: string, epoch: string, from: number, to: number): Snippets {
  const { python, javascript, rust, shell } = literal(recipe);
  return {
    Python: `from samedeal import Sampler

recipe = ${python}
sampler = Sampler.from_recipe(recipe, epoch=${epoch})
print(sampler.sources, sampler.source_counts(${from}, ${to})["count"])`,
    JavaScript: `import { Sampler } from 'samedeal';

const recipe = ${javascript};
const sampler = Sampler.fromRecipe(recipe, { epoch: ${epoch} });
console.log(sampler.sources, sampler.sourceCounts(${from}, ${to}).count);`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let recipe = ${rust};
    let sampler = Sampler::from_recipe(recipe).epoch(${epoch}).build()?;
    println!("{:?} {:?}", sampler.sources()?, sampler.source_counts(${from}..${to})?.count);
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} |
  samedeal blend --recipe - --epoch ${epoch} --start ${from} --end ${to}`,
  };
}

/**
 * Programs that count the labels of a batch in the order `sharded`, in every language. Label l of L has the samples
 * from l * N / L on.
 */
export function labelSnippets(recipe: string, labelled: string, number: number): Snippets {
  const { python, javascript, rust, shell } = literal(recipe);
  const found = parsed(labelled);
  const { samples, labels, batch, epoch = 0 } = isObject(found) ? found : {};
  return {
    Python: `from collections import Counter
from samedeal import Sampler

recipe = ${python}
batch = Sampler.from_recipe(recipe, epoch=${epoch}).batch(${number}, ${batch})
print(Counter((batch * ${labels} // ${samples}).tolist()))  # samples of each label`,
    JavaScript: `import { Sampler } from 'samedeal';

const recipe = ${javascript};
const batch = Sampler.fromRecipe(recipe, { epoch: ${epoch} }).batch(${number}, ${batch});
const counts = {};
for (const sample of batch) {
  const label = Math.floor((sample * ${labels}) / ${samples});
  counts[label] = (counts[label] ?? 0) + 1;
}
console.log(counts); // samples of each label`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let recipe = ${rust};
    let sampler = Sampler::from_recipe(recipe).epoch(${epoch}).build()?;
    let mut counts = [0; ${labels}];
    for sample in sampler.batch::<u64>(${number}, ${batch}, false)? {
        counts[(sample * ${labels} / ${samples}) as usize] += 1;
    }
    println!("{counts:?}"); // samples of each label
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} |
  samedeal batches --recipe - --epoch ${epoch} --batch-size ${batch} --start ${number} --count 1`,
  };
}
