import type { Component } from 'svelte';
import type { Key } from '../link.svelte.ts';
import SamplerPanel from '../parts/SamplerPanel.svelte';
import BatchesPanel from './batches/Panel.svelte';
import Batches from './batches/View.svelte';
import EntriesPanel from './differ/Panel.svelte';
import Differ from './differ/View.svelte';
import LogPanel from './ledger/Panel.svelte';
import Ledger from './ledger/View.svelte';
import MixPanel from './mix/Panel.svelte';
import Mix from './mix/View.svelte';
import Resume from './resume/View.svelte';
import Sample from './sample/View.svelte';
import ShardsPanel from './shards/Panel.svelte';
import Shards from './shards/View.svelte';
import Step from './step/View.svelte';

/**
 * A view of the page: one question, the form for its values, and the picture that answers. Its folder has a file for
 * each part.
 */
export interface View {
  id: string;
  title: string;
  question: string;
  /** The values that a link to this view has. */
  keys: readonly Key[];
  /** The form, beside the picture. */
  Panel: Component;
  /** The title of the closed form. If there is none, it is the recipe of a sampler in words. */
  entered?: string;
  Picture: Component;
}

export const VIEWS: readonly View[] = [
  {
    id: 'step',
    title: 'Step',
    question: 'Which samples does every rank read in a step?',
    keys: ['recipe', 'epoch', 'step', 'batch', 'rank', 'files', 'drop', 'zoom', 'colour'],
    Panel: SamplerPanel,
    Picture: Step,
  },
  {
    id: 'sample',
    title: 'Sample',
    question: 'When and where is a sample seen?',
    keys: ['recipe', 'epoch', 'epochs', 'batch', 'samples', 'state'],
    Panel: SamplerPanel,
    Picture: Sample,
  },
  {
    id: 'resume',
    title: 'Resume',
    question: 'What is seen if a run goes on with other ranks?',
    keys: ['recipe', 'epoch', 'batch', 'worlds', 'taken'],
    Panel: SamplerPanel,
    Picture: Resume,
  },
  {
    id: 'differ',
    title: 'Differ',
    question: 'In what do the configurations of ranks differ?',
    keys: ['entries', 'recipe'],
    Panel: EntriesPanel,
    entered: 'Recipes, states or fingerprints of ranks',
    Picture: Differ,
  },
  {
    id: 'batches',
    title: 'Batches',
    question: 'How do samples of different length become batches?',
    keys: ['batches', 'budget', 'lengths', 'epoch', 'step'],
    Panel: BatchesPanel,
    entered: 'Lengths and recipe',
    Picture: Batches,
  },
  {
    id: 'shards',
    title: 'Shards',
    question: 'Which files does every reader read?',
    keys: ['reading', 'epoch', 'round'],
    Panel: ShardsPanel,
    entered: 'Files, ranks and workers',
    Picture: Shards,
  },
  {
    id: 'ledger',
    title: 'Ledger',
    question: 'Which reader claimed and committed what?',
    keys: ['log', 'entry', 'span', 'replay', 'readers'],
    Panel: LogPanel,
    entered: 'Log of a ledger',
    Picture: Ledger,
  },
  {
    id: 'mix',
    title: 'Mix',
    question: 'How well are sources and labels mixed?',
    keys: ['mix', 'recipe', 'epoch', 'batch', 'step', 'rank', 'part', 'labelled'],
    Panel: MixPanel,
    entered: 'Sources or labels',
    Picture: Mix,
  },
];
