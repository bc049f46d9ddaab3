// The script of the page. It can only ask the server.
import * as samedeal from '/hosts/js/dist/web.js';
import { run } from './jobs.mjs';

async function ask(what, parameters = {}, body = undefined) {
  const response = await fetch(`/do/${what}?${new URLSearchParams(parameters)}`, { method: 'POST', body });
  if (!response.ok) throw new Error(`${what}: ${response.status}`);
  return response.text();
}

const io = {
  tell: (lines) => ask('tell', {}, JSON.stringify(lines)),
  read: (path) => ask('read', { path }),
  save: (path, text) => ask('save', { path }, text),
  log: (path) => ({
    read: async (from) => JSON.parse(await ask('entries', { path, from })),
    append: async (number, entry) => JSON.parse(await ask('append', { path, number }, entry)),
  }),
};

try {
  await samedeal.init();
  await ask('begun', { agent: navigator.userAgent });
  await run(samedeal, JSON.parse(await ask('request')), io);
  await ask('finished');
} catch (error) {
  await ask('failed', {}, `${error}\n${error.stack}`);
}
