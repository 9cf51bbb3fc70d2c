import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@workspace-backend/client';
import {
  type CollectionName,
  memoryStore,
  openWorkspace,
  type Resolve,
  type Store,
  type Workspace,
} from '@workspace-backend/client/sync';
import { sqliteStore } from '@workspace-backend/client/sync/sqlite';
import type { WorkspaceSocket } from '@workspace-backend/client/sockets';
import type { TestUser } from '../app.ts';

/** A request of a batch, and the status of its response. */
export interface BatchPart {
  method: string;
  path: string;
  body?: Record<string, any>;
  headers?: Record<string, string>;
  status: number;
}

export interface DeviceOptions {
  store?: Store;
  collections?: readonly CollectionName[];
  resolve?: Resolve;
  socket?: WorkspaceSocket;
  token?: (rejected?: string) => Promise<string> | string;
}

/** A device of a user with the client library. Its connection is what the test says. */
export class Device {
  readonly parts: BatchPart[] = [];
  /** Number of batches with a response. */
  batches = 0;
  private isOnline = true;
  private respond: (part: BatchPart) => Promise<void> = async () => undefined;

  private constructor(
    readonly workspace: Workspace,
    private readonly connection: Connection,
  ) {
    connection.device = this;
  }

  static async open(base: string, user: TestUser, options: DeviceOptions = {}): Promise<Device> {
    const { store = memoryStore(), token = () => user.token, ...rest } = options;
    const connection = new Connection();
    const client = createClient({ url: base, token, fetch: connection.fetch, retry: { attempts: 1 } });
    return new Device(await openWorkspace({ client, store, user: user.id, ...rest }), connection);
  }

  offline(): void {
    this.isOnline = false;
    this.connection.end();
  }

  /** Synchronises with the service. */
  async online(): Promise<void> {
    this.isOnline = true;
    await this.workspace.sync();
  }

  /** Requests to these paths, in their order. */
  named(method: string, path: string): BatchPart[] {
    return this.parts.filter((part) => part.method === method && part.path.startsWith(`/apis/v1${path}`));
  }

  /** Runs work after the service has executed a request, and before the device learns of it. */
  beforeResponse(work: (part: BatchPart) => Promise<void>): void {
    this.respond = work;
  }

  async received(part: BatchPart): Promise<void> {
    this.parts.push(part);
    await this.respond(part);
  }

  get connected(): boolean {
    return this.isOnline;
  }
}

class Connection {
  device: Device | undefined;
  private open = new AbortController();

  readonly fetch = async (request: Request): Promise<Response> => {
    if (this.device?.connected === false) throw new TypeError('the connection is lost');
    const sent = request.url.endsWith('/batch') ? ((await request.clone().json()) as any).requests : [];
    const response = await fetch(request, {
      signal: AbortSignal.any([request.signal, this.open.signal]),
    }).catch((error: unknown) => {
      throw this.open.signal.aborted ? new TypeError('the connection is lost') : error;
    });
    const received = sent.length > 0 && response.ok ? ((await response.clone().json()) as any).responses : [];
    if (sent.length > 0 && this.device) this.device.batches += 1;
    for (const [n, { status }] of received.entries()) await this.device?.received({ ...sent[n], status });
    return response;
  };

  /** Cuts what is under way. */
  end(): void {
    this.open.abort();
    this.open = new AbortController();
  }
}

export const sqliteFile = (file: string): Store => sqliteStore(new DatabaseSync(file));
