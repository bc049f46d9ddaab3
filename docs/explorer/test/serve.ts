import type { AddressInfo } from 'node:net';
import { preview } from 'vite';

/**
 * Serves the built page to all tests, at a port that the system chooses: a port with a number of its own may be taken
 * by any connection of the machine. Returns the function that ends the server.
 */
export default async function serve(): Promise<() => Promise<void>> {
  const server = await preview({ preview: { host: '127.0.0.1', port: 0 } });
  const { port } = server.httpServer.address() as AddressInfo;
  process.env.EXPLORER_PORT = String(port);
  return () => server.close();
}
