// Transcripts in a worker of a page, which fetches them and posts the outcomes.
import { replay } from './replay.mjs';

const words = async (file) => (await (await fetch(`/${file}`)).text()).trim().split('\n');
const post = (path, value) => fetch(path, { method: 'POST', body: JSON.stringify(value) });
const [, browser, version] = /(Firefox|Chrome)\/([\d.]+)/.exec(navigator.userAgent);
const engine = `${browser.toLowerCase()} (${version})`;
const compile = async (name) => [name, await WebAssembly.compileStreaming(fetch(`/${name}.core.wasm`))];
try {
  const modules = Object.fromEntries(await Promise.all((await words('components.txt')).map(compile)));
  for (const group of await words('groups.txt')) {
    const transcript = await (await fetch(`/${group}.txt`)).text();
    await post('/outcome', { engine, ...replay(transcript, modules) });
  }
  await post('/end', null);
} catch (error) {
  await post('/failed', String(error));
}
