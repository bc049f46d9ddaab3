import { counted, grouped } from '../../parts/text.ts';
import type { SampleAnswer, Seen } from './compute.ts';

/** The largest number of places, or of samples, in a sentence. */
const MOST = 4;

/** A sentence that says when and where the samples are seen. */
export function places({ samples, epochs, places: found }: SampleAnswer): string {
  const where = ({ epoch, step, rank }: Seen) =>
    `epoch ${grouped(BigInt(epoch))}, step ${grouped(step)}, rank ${grouped(rank)}`;
  const several = samples.length > 1;
  const of = (sample: number) => {
    const own = found.filter((place) => place.sample === sample);
    const last = epochs.length > 1 ? `epochs ${epochs[0]} to ${epochs.at(-1)}` : `epoch ${epochs[0]}`;
    if (own.length === 0) return `Sample ${grouped(sample)} is not in ${last}.`;
    const most = several ? 1 : MOST;
    const rest = own.length > most && !several ? `; and ${counted(own.length - most, 'more place')} below` : '';
    return `Sample ${grouped(sample)}: ${own.slice(0, most).map(where).join('; ')}${rest}.`;
  };
  const rest = samples.length > MOST ? ` The others are below.` : '';
  return `${samples.slice(0, MOST).map(of).join(' ')}${rest}`;
}

/** A sentence that says whether the run that wrote a checkpoint had seen the samples. */
export function seen({ epoch, consumed, positions, verdicts }: NonNullable<SampleAnswer['checkpoint']>): string {
  const read = `it had read the first ${grouped(consumed)} of ${counted(positions, 'position')} of epoch ${grouped(BigInt(epoch))}`;
  const [first] = verdicts;
  if (!first) return `When the run wrote this checkpoint, ${read}.`;
  if (verdicts.length === 1) {
    const sample = `sample ${grouped(first.sample)}`;
    const at = first.position === null ? '' : `position ${grouped(first.position)}`;
    if (first.is === 'seen') return `Yes: the run had seen ${sample}, at ${at}; ${read}.`;
    if (first.is === 'both') return `Yes: the run had seen ${sample}, first at ${at}, and it comes again; ${read}.`;
    if (first.is === 'upcoming') return `No: the run had not seen ${sample} yet. It comes at ${at}; ${read}.`;
    return `No: epoch ${grouped(BigInt(epoch))} leaves ${sample} out; ${read}.`;
  }
  const list = (all: typeof verdicts) => all.map(({ sample }) => grouped(sample)).join('; ');
  const had = verdicts.filter(({ is }) => is === 'seen' || is === 'both');
  const not = verdicts.filter((verdict) => !had.includes(verdict));
  if (not.length === 0) return `Yes: the run had seen all of these samples; ${read}.`;
  if (had.length === 0) return `No: the run had seen none of these samples; ${read}.`;
  return `The run had seen ${list(had)}, and not ${list(not)}; ${read}.`;
}
