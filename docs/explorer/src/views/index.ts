import type { Component } from 'svelte';
import type { ViewId } from './keys.ts';
import Start from './start/View.svelte';

/** The form and the picture of a view, which are loaded when the view is opened. */
export interface Parts {
  /** The form, beside the picture. The first view has none. */
  Panel?: Component;
  Picture: Component;
}

/** A view of the page: one question, and the picture that answers it. Its folder has a file for each part. */
export interface View {
  id: ViewId;
  /** The question as the title of the view, and in the list of questions. */
  question: string;
  short: string;
  /** The title of the closed form. Without it, the title is the recipe of a sampler in words. */
  entered?: string;
  load: () => Promise<Parts>;
}

type Module = { default: Component };
const parts = (picture: () => Promise<Module>, panel?: () => Promise<Module>) => async (): Promise<Parts> => {
  const [{ default: Picture }, form] = await Promise.all([picture(), panel?.()]);
  return { Picture, ...(form ? { Panel: form.default } : {}) };
};
const sampler = () => import('../parts/SamplerPanel.svelte');

/** The first view, which a link without a view opens. */
export const START = 'start' satisfies ViewId;

export const VIEWS: readonly View[] = [
  {
    id: START,
    question: 'What happens if a run loses ranks?',
    short: 'Start',
    // The first view is a part of the page's script, so that its first sentence needs no second request.
    load: async () => ({ Picture: Start }),
  },
  {
    id: 'step',
    question: 'Which samples does every rank read in a step?',
    short: 'What does a rank read?',
    load: parts(() => import('./step/View.svelte'), sampler),
  },
  {
    id: 'sample',
    question: 'When and where is a sample seen?',
    short: 'When was a sample seen?',
    load: parts(() => import('./sample/View.svelte'), sampler),
  },
  {
    id: 'resume',
    question: 'What is seen if a run goes on with other ranks?',
    short: 'What if ranks change?',
    load: parts(() => import('./resume/View.svelte'), sampler),
  },
  {
    id: 'checkpoint',
    question: 'Where did a run stop, and what comes next?',
    short: 'Where did it stop?',
    entered: 'The run, and how it goes on',
    load: parts(
      () => import('./checkpoint/View.svelte'),
      () => import('./checkpoint/Panel.svelte'),
    ),
  },
  {
    id: 'differ',
    question: 'In what do the configurations of ranks differ?',
    short: 'Why do ranks differ?',
    entered: 'Recipes, states or fingerprints of ranks',
    load: parts(
      () => import('./differ/View.svelte'),
      () => import('./differ/Panel.svelte'),
    ),
  },
  {
    id: 'batches',
    question: 'How do samples of different length become batches?',
    short: 'How are batches filled?',
    entered: 'Lengths and recipe',
    load: parts(
      () => import('./batches/View.svelte'),
      () => import('./batches/Panel.svelte'),
    ),
  },
  {
    id: 'shards',
    question: 'Which files does every reader read?',
    short: 'Who reads which file?',
    entered: 'Files, ranks and workers',
    load: parts(
      () => import('./shards/View.svelte'),
      () => import('./shards/Panel.svelte'),
    ),
  },
  {
    id: 'ledger',
    question: 'Which reader claimed and committed what?',
    short: 'Who claimed what?',
    entered: 'Log of a ledger',
    load: parts(
      () => import('./ledger/View.svelte'),
      () => import('./ledger/Panel.svelte'),
    ),
  },
  {
    id: 'mix',
    question: 'How well are sources and labels mixed?',
    short: 'How well is it mixed?',
    entered: 'Sources or labels',
    load: parts(
      () => import('./mix/View.svelte'),
      () => import('./mix/Panel.svelte'),
    ),
  },
];

/** The questions that the page answers, apart from the first view. Their numbers are the keys that open them. */
export const QUESTIONS: readonly View[] = VIEWS.filter(({ id }) => id !== START);
export const viewOf = (id: string): View | undefined => VIEWS.find((view) => view.id === id);
