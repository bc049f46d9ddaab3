import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { digitsOfEach } from '../../parts/number.ts';

/** The values of the view that its programs use. */
interface Values {
  recipe: string;
  epoch: string;
  batch: string;
  samples: string;
  state: string;
}

/**
 * Programs in every language. Without a state, they locate the samples in all epochs of the picture. With a state, they
 * print whether the run had seen the samples. The command only answers for the first sample and the first epoch.
 */
export function snippets(values: Values, epochs: readonly string[]): Snippets {
  const samples = digitsOfEach(values.samples);
  return values.state === '' ? places(values, samples, epochs) : seen(values, samples);
}

function places({ recipe: text, batch }: Values, samples: readonly string[], epochs: readonly string[]): Snippets {
  const { python, javascript, rust, shell } = literal(text);
  const first = epochs[0] ?? '0';
  const end = BigInt(epochs.at(-1) ?? '0') + 1n;
  const list = samples.join(', ');
  return {
    Python: `from samedeal import Sampler

recipe = ${python}
for epoch in range(${first}, ${end}):
    sampler = Sampler.from_recipe(recipe, epoch=epoch)
    for sample in [${list}]:
        place = sampler.locate(sample, batch_size=${batch})
        if place:
            print(epoch, sample, place.rank, place.batch, place.index_in_batch)`,
    JavaScript: `import { Sampler } from 'samedeal';

const recipe = ${javascript};
for (let epoch = ${first}n; epoch < ${end}n; epoch++) {
  const sampler = Sampler.fromRecipe(recipe, { epoch });
  for (const sample of [${list}]) {
    const place = sampler.locate(sample, ${batch});
    if (place) console.log(epoch, sample, place.rank, place.batch, place.indexInBatch);
  }
}`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let recipe = ${rust};
    for epoch in ${first}..${end} {
        let sampler = Sampler::from_recipe(recipe).epoch(epoch).build()?;
        for sample in [${list}] {
            println!("{epoch} {sample} {:?}", sampler.locate(sample, ${batch})?);
        }
    }
    Ok(())
}`,
    Command: `printf '%s\\n' ${shell} |
  samedeal locate --recipe - --epoch ${first} --batch-size ${batch} --sample ${samples[0] ?? '0'}`,
  };
}

function seen({ recipe: text, state: saved, batch }: Values, samples: readonly string[]): Snippets {
  const [recipe, state] = [literal(text), literal(saved)];
  const list = samples.join(', ');
  return {
    Python: `from samedeal import Sampler

sampler = Sampler.from_recipe(${recipe.python})
sampler.resume(${state.python})
for sample in [${list}]:
    print(sample, sampler.fate(sample, ${batch}).status)`,
    JavaScript: `import { Sampler } from 'samedeal';

const sampler = Sampler.fromRecipe(${recipe.javascript});
sampler.resume(${state.javascript});
for (const sample of [${list}]) console.log(sample, sampler.fate(sample, ${batch}).status);`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
    let mut sampler = Sampler::from_recipe(${recipe.rust}).build()?;
    sampler.resume(${state.rust})?;
    for sample in [${list}] {
        println!("{sample} {:?}", sampler.fate(sample, ${batch}, 0)?.status);
    }
    Ok(())
}`,
    Command: `printf '%s\\n' ${state.shell} > state.json
printf '%s\\n' ${recipe.shell} |
  samedeal locate --recipe - --resume state.json --batch-size ${batch} --sample ${samples[0] ?? '0'}`,
  };
}
