/**
 * The Worker that computes everything, so that the page never waits. Each view has a file `compute.ts`, which is loaded
 * at the first question of its view. The one of the first view is small, and is here from the beginning.
 */
import { expose } from 'comlink';
import * as start from '../views/start/compute.ts';
import { type Answer, answer } from './answer.ts';

type Functions = Record<string, unknown>;
type Answering<F> = {
  [K in keyof F]: F[K] extends (question: infer Q) => infer A ? (question: Q) => Promise<Answer<Awaited<A>>> : never;
};

/**
 * Functions of a module as the page calls them. The module is loaded at the first call, and a problem is returned in
 * place of an error.
 */
function of<M extends Functions, K extends keyof M & string>(load: () => Promise<M>, ...names: K[]) {
  const wrapped = names.map((name) => [
    name,
    (question: unknown) => answer(async () => ((await load())[name] as (question: unknown) => unknown)(question)),
  ]);
  return Object.fromEntries(wrapped) as Answering<Pick<M, K>>;
}

/**
 * The whole component, once it was asked for. It is large, so the first view, which needs only samplers, does not wait
 * for it.
 */
let whole: Promise<unknown> | undefined;
const withComponent =
  <M>(load: () => Promise<M>) =>
  async (): Promise<M> => {
    whole ??= import('samedeal/web').then(({ init }) => init());
    const [module] = await Promise.all([load(), whole]);
    return module;
  };

/** The page of one file contains the component anyway, so it takes samplers from there (vite.config.ts). */
const withSamplers = <M>(load: () => Promise<M>) => (import.meta.env.MODE === 'disk' ? withComponent(load) : load);

const engine = {
  ...of(
    withSamplers(async () => start),
    'story',
    'buffered',
  ),
  ...of(
    withComponent(() => import('./recipes.ts')),
    'canonical',
    'recognise',
    'orders',
  ),
  ...of(
    withComponent(() => import('./files.ts')),
    'openFiles',
    'valuesOf',
  ),
  ...of(
    withComponent(() => import('./lengths.ts')),
    'openLengths',
  ),
  ...of(() => import('./shelf.ts'), 'shelve'),
  ...of(
    withComponent(() => import('../views/checkpoint/compute.ts')),
    'checkpoint',
  ),
  ...of(
    withComponent(() => import('../views/step/compute.ts')),
    'step',
    'batchOf',
    'cell',
  ),
  ...of(
    withComponent(() => import('../views/step/epoch.ts')),
    'epochRanks',
  ),
  ...of(
    withComponent(() => import('../views/sample/compute.ts')),
    'sample',
    'progress',
  ),
  ...of(
    withComponent(() => import('../views/resume/compute.ts')),
    'resume',
  ),
  ...of(
    withComponent(() => import('../views/resume/moving.ts')),
    'moving',
  ),
  ...of(
    withComponent(() => import('../views/differ/compute.ts')),
    'differ',
  ),
  ...of(
    withComponent(() => import('../views/batches/compute.ts')),
    'batches',
    'batchWith',
    'useIndex',
    'planMore',
    'indexOf',
  ),
  ...of(
    withComponent(() => import('../views/shards/compute.ts')),
    'shards',
  ),
  ...of(
    withComponent(() => import('../views/ledger/compute.ts')),
    'ledger',
    'ledgerAt',
    'ledgerReplay',
  ),
  ...of(
    withComponent(() => import('../views/mix/compute.ts')),
    'drift',
    'mixedSteps',
    'stepOf',
    'labels',
    'rankDrift',
  ),
};
export type Engine = typeof engine;
expose(engine);
