export { drift, mixedSteps, stepOf } from './drift.ts';
export { labels } from './labels.ts';
export { rankDrift } from './ranks.ts';
