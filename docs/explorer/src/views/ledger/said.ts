import { counted, grouped } from '../../parts/text.ts';
import type { EntryAnswer, LedgerAnswer } from './compute.ts';

/** An entry of the log as a sentence. */
export function said({ entry, said: it, claim }: EntryAnswer, log: LedgerAnswer): string {
  const at = `Entry ${grouped(entry)}:`;
  const positions = (start: number, count: number) =>
    count === 1 ? `position ${grouped(start)}` : `positions ${grouped(start)} to ${grouped(start + count - 1)}`;
  const then = claim?.next.length ? `. They are claimed again at entry ${grouped(claim.next[0] as number)}` : '';
  switch (it.kind) {
    case 'begins':
      return `${at} the log begins, for ${counted(log.positions, 'position')} in blocks of ${grouped(log.block)}.`;
    case 'checkpoint':
      return `${at} a checkpoint, from which readers open the log quickly.`;
    case 'lease':
      return `${at} reader ${it.reader} sets the lease to ${it.lease / 1000} s.`;
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
