/** The Worker that computes everything, so that the page never waits. Each view has a file `compute.ts`. */
import { expose } from 'comlink';
import { init, orders } from 'samedeal/web';
import * as batches from '../views/batches/compute.ts';
import * as differ from '../views/differ/compute.ts';
import * as ledger from '../views/ledger/compute.ts';
import * as mix from '../views/mix/compute.ts';
import * as resume from '../views/resume/compute.ts';
import * as sample from '../views/sample/compute.ts';
import * as shards from '../views/shards/compute.ts';
import * as step from '../views/step/compute.ts';
import { type Answer, answer } from './answer.ts';
import * as files from './files.ts';
import { openLengths } from './lengths.ts';
import * as recipes from './recipes.ts';
import { shelve } from './shelf.ts';

const ready = init();

/** The functions as the page calls them: they wait for the engine, and return a problem in place of an error. */
function answering<F extends Record<string, (question: never) => unknown>>(functions: F) {
  const names = Object.keys(functions) as (keyof F & string)[];
  const wrapped = names.map((name) => [
    name,
    (question: never) => answer(async () => (await ready) ?? functions[name]?.(question)),
  ]);
  return Object.fromEntries(wrapped) as {
    [K in keyof F]: (question: Parameters<F[K]>[0]) => Promise<Answer<Awaited<ReturnType<F[K]>>>>;
  };
}

const engine = answering({
  ...recipes,
  openFiles: files.openFiles,
  valuesOf: files.valuesOf,
  openLengths,
  ...step,
  ...sample,
  ...resume,
  ...differ,
  ...batches,
  ...shards,
  ...ledger,
  ...mix,
  shelve,
  orders: () => orders(),
});
export type Engine = typeof engine;
expose(engine);
