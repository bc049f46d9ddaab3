import type { Snippets } from '../../parts/Code.svelte';
import { literal } from '../../parts/code.ts';
import { edited } from '../../parts/json.ts';
import type { Part } from './compute.ts';

/**
 * Programs for all parts of the epoch, one after the other, in every language. Each program prints the first batch of
 * rank 0 in the last part.
 */
export function snippets(values: { recipe: string; epoch: string; batch: string }, parts: readonly Part[]): Snippets {
  const { epoch, batch } = values;
  const all = parts.map(({ worldSize, samples }, at) => {
    const isLast = at === parts.length - 1;
    return {
      ...literal(edited(values.recipe, 'deal.world_size', String(worldSize))),
      samples,
      at,
      isFirst: at === 0,
      isLast,
    };
  });
  const lines = (line: (part: (typeof all)[number]) => string[], indent = '') =>
    all
      .map((part) =>
        line(part)
          .map((text) => indent + text)
          .join('\n'),
      )
      .join('\n');
  return {
    Python: `from samedeal import Sampler

${lines(({ python, samples, isFirst, isLast }) => [
  `sampler = Sampler.from_recipe(${python}${isFirst ? `, epoch=${epoch}` : ''})`,
  ...(isFirst ? [] : ['sampler.resume(state)']),
  ...(isLast ? [] : [`state = sampler.state(${samples})  # after so many samples of every rank`]),
])}
print(sampler.consumed, sampler.batch(0, ${batch}))`,
    JavaScript: `import { Sampler } from 'samedeal';

let sampler;
${all.length > 1 ? 'let state;\n' : ''}${lines(({ javascript, samples, isFirst, isLast }) => [
  `sampler = Sampler.fromRecipe(${javascript}${isFirst ? `, { epoch: ${epoch} }` : ''});`,
  ...(isFirst ? [] : ['sampler.resume(state);']),
  ...(isLast ? [] : [`state = sampler.state(${samples}); // after so many samples of every rank`]),
])}
console.log(sampler.consumed, sampler.batch(0, ${batch}));`,
    Rust: `use samedeal::Sampler;

fn main() -> Result<(), samedeal::Error> {
${lines(
  ({ rust, samples, isFirst, isLast }) => [
    `let ${isFirst ? '' : 'mut '}sampler = Sampler::from_recipe(${rust})${isFirst ? `.epoch(${epoch})` : ''}.build()?;`,
    ...(isFirst ? [] : ['sampler.resume(&state)?;']),
    ...(isLast ? [] : [`let state = sampler.state(${samples})?; // after so many samples of every rank`]),
  ],
  '    ',
)}
    println!("{} {:?}", sampler.consumed(), sampler.batch::<u64>(0, ${batch}, false)?);
    Ok(())
}`,
    Command: lines(({ shell, samples, at, isFirst, isLast }) => {
      const resume = isFirst ? ` --epoch ${epoch}` : ` --resume state-${at}.json`;
      return [
        `printf '%s\\n' ${shell} |`,
        isLast
          ? `  samedeal batches --recipe -${resume} --batch-size ${batch} --count 1`
          : `  samedeal state --recipe -${resume} --taken ${samples} --output state-${at + 1}.json`,
      ];
    }),
  };
}
