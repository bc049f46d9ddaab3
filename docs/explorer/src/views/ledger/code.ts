import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';

/**
 * Programs for the replay of one reader, in every language. `recipe` is the recipe of a sampler with the order of the
 * log.
 */
export function snippets(recipe: string, reader: string, readers: string): Snippets {
  const { python, javascript, rust } = literal(recipe);
  return {
    Python: `from samedeal import Sampler
from samedeal.ledger import FileLog, Replay

replay = Replay(FileLog("epoch-0.log"))
print(replay.progress())
sampler = Sampler.from_recipe(${python})
for samples in replay.samples(sampler, reader=${reader}, readers=${readers}):
    print(samples)`,
    JavaScript: `import { readFileSync } from 'node:fs';
import { replayLedger, Sampler } from 'samedeal';

const replay = replayLedger(readFileSync('epoch-0.log'), { reader: ${reader}, readers: ${readers} });
console.log(replay.progress());
const sampler = Sampler.fromRecipe(${javascript});
for (const sample of replay.samples(sampler)) console.log(sample);`,
    Rust: `use samedeal::{Sampler, ledger::Replay};

fn main() -> Result<(), samedeal::Error> {
    let sampler = Sampler::from_recipe(${rust}).build()?;
    let replay = Replay::open("epoch-0.log")?.of(${reader}, ${readers})?;
    for sample in replay.samples(&sampler)? {
        println!("{}", sample?);
    }
    Ok(())
}`,
    Command: `samedeal ledger epoch-0.log
samedeal ledger epoch-0.log --reader ${reader} --readers ${readers} --format text`,
  };
}
