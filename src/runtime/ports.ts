import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config/config.js';

/**
 * Listens on each port of the settings for a moment, so that a start on a used port fails before the database runs.
 * @throws the error of `listen`
 */
export async function checkPorts({ HOST, PORT, METRICS_PORT }: Config): Promise<void> {
  for (const port of [PORT, METRICS_PORT].filter((value) => value > 0)) {
    const server = createServer().listen(port, HOST);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
  }
}
