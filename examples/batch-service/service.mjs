// Hands out the batches of an epoch over HTTP: node service.mjs LOG --samples N
//
//   POST /claim    {"trainer": 0}               {"claim": 7, "samples": [...]}, {"wait": 250} or {"finished": true}
//   POST /commit   {"trainer": 0, "claim": 7}   {"committed": true}, or false: drop the results of this batch
//   GET  /progress                              {"samples": 1000, "committed": 320}
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Sampler } from 'samedeal';
import { Dealer } from './dealer.mjs';
import { FileLog } from './log.mjs';

const BODY = 1024;
const options = {
  samples: { type: 'string' },
  seed: { type: 'string', default: '0' },
  epoch: { type: 'string', default: '0' },
  trainers: { type: 'string', default: '16' },
  'block-size': { type: 'string', default: '32' },
  'lease-ms': { type: 'string', default: '60000' },
  port: { type: 'string', default: '8080' },
};

function start(path, values) {
  const { samples, port, ...others } = Object.fromEntries(Object.entries(values).map(([k, v]) => [k, Number(v)]));
  const { seed, epoch, trainers, 'block-size': blockSize, 'lease-ms': leaseMs } = others;
  const sampler = new Sampler(samples, { seed, epoch });
  let dealer;
  const server = createServer(async (request, response) => {
    const [status, answer] = await respond(dealer, request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  // The service listens before it opens the log, so that a second service at the same port ends here.
  server.listen(port, '127.0.0.1', () => {
    dealer = new Dealer(sampler, new FileLog(path), { trainers, blockSize, leaseMs });
    console.log(`http://127.0.0.1:${server.address().port}`);
  });
}

/** The status and the answer to a request. */
async function respond(dealer, request) {
  const call = `${request.method} ${request.url}`;
  if (call === 'GET /progress') return [200, dealer.progress()];
  if (call !== 'POST /claim' && call !== 'POST /commit') return [404, { error: `there is no ${call}` }];
  try {
    if (!(Number(request.headers['content-length']) <= BODY))
      throw new RangeError(`the body has no length up to ${BODY}`);
    const { trainer, claim } = (await json(request)) ?? {};
    return [200, await (call === 'POST /claim' ? dealer.claim(trainer) : dealer.commit(trainer, claim))];
  } catch (error) {
    const isTheirs = error instanceof SyntaxError || error instanceof RangeError;
    if (!isTheirs) console.error(error);
    return [isTheirs ? 400 : 500, { error: error.message }];
  }
}

try {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1 || values.samples === undefined)
    throw new Error('Usage: node service.mjs LOG --samples N');
  start(positionals[0], values);
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
