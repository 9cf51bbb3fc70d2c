import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../config/config.js';

/**
 * Listens on each port of the settings for a moment, so that a start on a used port fails before the database runs.
 * @returns the settings, with the port that the system has chosen for PORT=0: links contain it
 * @throws the error of `listen`
 */
export async function withPorts(config: Config): Promise<Config> {
  const { HOST, PORT, METRICS_PORT } = config;
  if (METRICS_PORT > 0) await probe(METRICS_PORT, HOST);
  const port = await probe(PORT, HOST);
  return PORT === 0 ? config.with({ PORT: port }) : config;
}

/** @returns the port */
async function probe(wanted: number, host: string): Promise<number> {
  const server = createServer().listen(wanted, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
