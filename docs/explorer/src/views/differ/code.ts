import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { entriesOf } from './entries.ts';

/**
 * Programs in every language. If there are documents of two ranks, the programs print their differences; otherwise they
 * print the entry of a rank.
 */
export function snippets(entries: string, recipe: string): Snippets {
  const documents = entriesOf(entries).flatMap(({ text }) => (text.startsWith('{') ? [text] : []));
  const [one = ''] = documents;
  const other = documents.find((text) => text !== one);
  return other === undefined ? ofRank(one || recipe) : ofTwo(one, other);
}

function ofTwo(first: string, second: string): Snippets {
  const [one, other] = [literal(first), literal(second)];
  return {
    Python: `from samedeal import differences

one = ${one.python}
other = ${other.python}
for found in differences(one, other):
    print(found.path, found.one, found.other)`,
    JavaScript: `import { differences } from 'samedeal';

const one = ${one.javascript};
const other = ${other.javascript};
for (const found of differences(one, other)) console.log(found.path, found.one, found.other);`,
    Rust: `use samedeal::differences;

fn main() -> Result<(), samedeal::Error> {
    let one = ${one.rust};
    let other = ${other.rust};
    for found in differences(one, other)? {
        println!("{} {:?} {:?}", found.path, found.one, found.other);
    }
    Ok(())
}`,
    Command: `printf '%s\\n' ${one.shell} > one.json
printf '%s\\n' ${other.shell} > other.json
samedeal diff one.json other.json`,
  };
}

function ofRank(recipe: string): Snippets {
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
