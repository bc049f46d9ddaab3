import { counted, grouped } from '../../parts/text.ts';
import type { Count, ResumeAnswer } from './compute.ts';

/** A sentence that says whether samples are lost or seen twice. */
export function said({ own, torch, parts }: ResumeAnswer): string {
  const chain = parts.map(({ worldSize }) => grouped(worldSize)).join(' to ');
  const ranks = parts.length > 1 ? `${chain} ranks` : counted(parts[0]?.worldSize ?? 1, 'rank');
  return `${ranks}: ${ours(own)}. ${theirs(torch)}.`;
}

function ours({ twice, never, padding, segments }: Count): string {
  const one = segments.length > 0 ? 'position' : 'sample';
  const lost =
    twice === 0 && never === 0
      ? `no ${one} is lost or seen twice`
      : `${twice === 0 ? `no ${one} is seen twice` : `${counted(twice, one)} are seen twice`}, and the remainder leaves ${grouped(never)} out`;
  return padding > 0
    ? `${lost}; ${counted(padding, 'sample')} ${padding === 1 ? 'is' : 'are'} read again as padding`
    : lost;
}

function theirs({ twice, never, padding }: Count): string {
  const extra = padding > 0 ? `; ${grouped(padding)} more ${padding === 1 ? 'is' : 'are'} padding` : '';
  if (twice === 0 && never === 0) return `torch's sampler neither repeats nor loses a sample${extra}`;
  return `torch's sampler repeats ${grouped(twice)} and loses ${grouped(never)}${extra}`;
}
