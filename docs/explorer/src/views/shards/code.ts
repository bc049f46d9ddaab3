import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { member } from '../../parts/json.ts';

/** Programs that print the rows of one reader, in every language. */
export function snippets(
  values: { reading: string; epoch: string; round: string },
  rank: number,
  worker: number,
): Snippets {
  const { epoch, round } = values;
  const { python, javascript, rust } = literal(values.reading);
  return {
    Python: `from samedeal import Reading

reading = Reading.from_recipe(${python}, epoch=${epoch})
print(list(reading.rounds(${rank}, ${worker}))[${round}])  # the rows to read for some of the samples of this reader`,
    JavaScript: `import { Reading } from 'samedeal';

const reading = Reading.fromRecipe(${javascript}).atEpoch(${epoch});
console.log(reading.round(${rank}, ${worker}, ${round})); // the rows to read for some of the samples of this reader`,
    Rust: `use samedeal::Reading;

fn main() -> Result<(), samedeal::Error> {
    let reading = Reading::from_recipe(${rust}).build()?.at_epoch(${epoch})?;
    println!("{:?}", reading.round(${rank}, ${worker}, ${round})?); // the rows to read for some of the samples of this reader
    Ok(())
}`,
    Command: command(values.reading, epoch, rank, worker),
  };
}

/** The command for a reader. It has no sizes, because the command reads them from the files. */
function command(recipe: string, epoch: string, rank: number, worker: number): string {
  const isWhole = member(recipe, 'shards.sizes') !== '';
  const section = isWhole ? 'shards' : 'order';
  const options = [
    ['--seed', `${section}.seed`],
    ['--lanes', 'order.lanes'],
    ['--shuffle-window', 'order.shuffle_window'],
    ['--world-size', 'deal.world_size'],
    ['--workers', 'deal.workers'],
    ['--batch-size', 'batch.batch_size'],
  ].flatMap(([name, path]) => (member(recipe, path as string) ? [`${name} ${member(recipe, path as string)}`] : []));
  return isWhole
    ? `samedeal shards shards/ --epoch ${epoch} ${options.join(' ')} # shards/ has the Parquet files`
    : `samedeal batches shards/ --order sharded --epoch ${epoch} ${options.join(' ')} --rank ${rank} --worker ${worker} # shards/ has the Parquet files`;
}
