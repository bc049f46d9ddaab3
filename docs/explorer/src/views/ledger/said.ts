import { counted, grouped } from '../../parts/text.ts';
import type { EntryAnswer, LedgerAnswer } from './compute.ts';

/** An entry of the log as a sentence. */
export function said({ entry, said: it, claim }: EntryAnswer, log: LedgerAnswer): string {
  const at = `Entry ${grouped(entry)}:`;
  const positions = (start: number, count: number) =>
    count === 1 ? `position ${grouped(start)}` : `positions ${grouped(start)} to ${grouped(start + count - 1)}`;
  const next = claim?.taken;
  const then = next ? `. Reader ${next.reader} claims them at entry ${grouped(next.claim)}` : '';
  switch (it.kind) {
    case 'begins':
      return `${at} the log begins, for ${counted(log.positions, 'position')} in blocks of ${grouped(log.blockSize)}.`;
    case 'checkpoint':
      return `${at} a checkpoint, from which readers open the log quickly.`;
    case 'lease':
      return `${at} reader ${it.reader} sets the lease to ${it.leaseMs / 1000} s.`;
    case 'join':
      return `${at} reader ${it.reader} joins${it.freed > 0 ? ` again. The ${counted(it.freed, 'position')} that it held are free` : ''}.`;
    case 'claim':
      return `${at} reader ${it.reader} claims ${positions(it.start, it.count)}.`;
    case 'commit':
      if (it.count === 0) return `${at} reader ${it.reader} renews its lease.`;
      return `${at} reader ${it.reader} commits ${positions(it.start, it.count)} of its claim ${grouped(it.claim)}.`;
    default:
      return `${at} ${positions(it.start, it.count)} of reader ${it.reader} are free: it gave them back, or its lease ended and another reader takes them over${then}.`;
  }
}

/** A sentence about the positions of readers that did not finish their claims, and about the progress of the epoch. */
export function verdict({ entry, committed, losses }: EntryAnswer, log: LedgerAnswer): string {
  const positions = (count: number) => counted(count, 'position');
  const told = losses.slice(0, 3).map(({ reader, kind, last, count, start, by, free }) => {
    const what = `${positions(count)} that it held${start === null ? '' : ` (${grouped(start)}${count > 1 ? ` to ${grouped(start + count - 1)}` : ''})`}`;
    const who =
      by.length === 1 && free === 0
        ? `reader ${by[0]?.reader} took over the ${what}`
        : `of the ${what}, ${[...by.map((other) => `reader ${other.reader} took over ${grouped(other.count)}`), ...(free > 0 ? [`${grouped(free)} ${free === 1 ? 'is' : 'are'} not claimed again`] : [])].join(', ')}`;
    const how = {
      lost: `Reader ${reader} was lost, its last entry is ${grouped(last)}`,
      again: `Reader ${reader} started again at entry ${grouped(last)}`,
      back: `Reader ${reader} gave work back, or its lease ended`,
    }[kind];
    return `${how}: ${who}`;
  });
  const more =
    losses.length > told.length
      ? [`${counted(losses.length - told.length, 'more reader')} did not finish their claims`]
      : [];
  const done = `${grouped(committed)} of ${positions(log.positions)} are committed${log.twice > 0 ? `, and ${positions(log.twice)} twice` : ', none twice'}`;
  if (told.length === 0) {
    const isEnd = entry === log.entries - 1;
    return `${isEnd ? 'No reader was lost' : `Up to entry ${grouped(entry)}, no claim was taken over`}: ${done}.`;
  }
  return `${[...told, ...more, done].join('; ').replaceAll('; Reader', '; reader')}.`;
}
