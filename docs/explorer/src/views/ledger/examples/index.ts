import dies from './dies.log?raw';
import many from './many.log?raw';
import restarts from './restarts.log?raw';

/** Logs that `make.py` wrote with readers of Python, by the names that links have for them. */
export const EXAMPLES: Readonly<Record<string, { title: string; log: string }>> = {
  dies: { title: 'A reader dies', log: dies },
  restarts: { title: 'A reader starts again', log: restarts },
  many: { title: '16 readers', log: many },
};

/** The log of a link: an example, by its name, or the text. */
export const logOf = (value: string): string => EXAMPLES[value || 'dies']?.log ?? value;
