import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Config } from '../config/config.js';
import { UnavailableServer } from '../platform/http/server/client-error.js';
import type { PrimaryMessage, WorkerMessage } from './messages.js';

/** Connections that wait for a worker. Workers that serve take one within milliseconds. */
const MAX_WAITING = 1_024;

/**
 * The port of the HTTP interface, open in the primary. Workers take the connections in turns, each one when it has accepted its last one.
 * While no worker serves, requests get 503.
 */
export class ListeningPort {
  private readonly workers = new Set<Worker>();
  /** Workers that have accepted their last connection. */
  private idle: Worker[] = [];
  /** The connection that each worker has not yet accepted. */
  private readonly handed = new Map<Worker, Socket>();
  private waiting: Socket[] = [];
  private readonly unavailable = new UnavailableServer();
  // A paused socket has read nothing yet, so that a worker reads the whole request.
  private readonly server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    this.connected(socket);
  });

  /** @throws the error of `listen` */
  async listen({ PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): Promise<void> {
    this.server.listen(PORT, HOST);
    await once(this.server, 'listening');
  }

  /** Rejects new connections. */
  close(): void {
    this.server.close();
  }

  /** Lets a worker that serves take connections. */
  add(worker: Worker): void {
    this.workers.add(worker);
    worker.on('message', (message: WorkerMessage) => {
      if (!('accepted' in message)) return;
      // The worker has the connection now; this closes the descriptor of the primary.
      this.handed.get(worker)?.destroy();
      this.handed.delete(worker);
      this.next(worker);
    });
    this.next(worker);
  }

  /** A connection that it has not accepted goes to another one. */
  remove(worker: Worker): void {
    this.workers.delete(worker);
    this.idle = this.idle.filter((each) => each !== worker);
    const socket = this.handed.get(worker);
    this.handed.delete(worker);
    if (socket) this.connected(socket);
    if (this.workers.size > 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const each of waiting) this.unavailable.serve(each);
  }

  private connected(socket: Socket): void {
    const worker = this.idle.shift();
    if (worker) this.hand(socket, worker);
    else if (this.workers.size > 0 && this.waiting.length < MAX_WAITING) this.waiting.push(socket);
    else this.unavailable.serve(socket);
  }

  private next(worker: Worker): void {
    if (!this.workers.has(worker)) return;
    let socket = this.waiting.shift();
    while (socket?.destroyed) socket = this.waiting.shift();
    if (socket) this.hand(socket, worker);
    else this.idle.push(worker);
  }

  private hand(socket: Socket, worker: Worker): void {
    this.handed.set(worker, socket);
    const message: PrimaryMessage = { connection: true };
    // An error means that the worker has just ended: `remove` follows.
    worker.process.send(message, socket, { keepOpen: true }, () => undefined);
  }
}

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
