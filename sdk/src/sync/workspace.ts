import type { WorkspaceClient } from '../client.js';
import type { WorkspaceSocket } from '../sockets/workspace-socket.js';
import { visible } from './changes.js';
import { Channel, type Message } from './channel.js';
import { Collection } from './collection.js';
import { ALL_COLLECTIONS, type CollectionName, COLLECTIONS, feedOf, partsOf, type ScopedName } from './collections.js';
import { lead } from './leader.js';
import { byDefault, type Resolve } from './merge/fields.js';
import { Puller } from './puller.js';
import { Pusher } from './pusher.js';
import { randomUuid } from './random-uuid.js';
import type { Item, Problem, Row } from './row.js';
import { Rows } from './rows.js';
import type { Store } from './store.js';
import { SyncLoop, type SyncState } from './sync-loop.js';

export interface WorkspaceOptions {
  client: WorkspaceClient;
  store: Store;
  /** Names the user and the workspace. A store that has data of another user is rejected. */
  user: string;
  /** Default: all. */
  collections?: readonly CollectionName[];
  /** Its hints replace the waiting poll. The application opens and closes it. */
  socket?: WorkspaceSocket;
  /** Decides what both the user and someone else have changed. It returns at once, and may be called again for the same conflict. */
  resolve?: Resolve;
  /** Name of the device in the history of objects. Default: a random one. It stays what it was first. */
  device?: string;
}

/** What the service does not have yet of an object. */
export interface PendingChange {
  collection: CollectionName;
  scope: string | undefined;
  id: string;
  /** What the user sees. Undefined after a removal. */
  item: Item | undefined;
  /** The service has rejected the change: it waits for `retry`, `discard` or a further change. */
  problem: Problem | undefined;
}

/**
 * Opens the workspace of a user on this device, and synchronises it while it is open and no other tab does.
 * @throws Error if the store has data of another user
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const device = await identify(options);
  return new Workspace(options, device);
}

/** @returns the name of the device */
async function identify({ store, user, device }: WorkspaceOptions): Promise<string> {
  return store.transaction('write', async (tx) => {
    const known = await tx.readMeta('user');
    if (known !== undefined && known !== user) throw new Error('The store has data of another user.');
    await tx.writeMeta('user', user);
    const name = ((await tx.readMeta('device')) as string | undefined) ?? device ?? randomUuid();
    await tx.writeMeta('device', name);
    return name;
  });
}

export class Workspace {
  private readonly channel: Channel;
  private readonly rows: Rows;
  private readonly ending = new AbortController();
  private readonly leading: Promise<void>;
  private loop: SyncLoop | undefined;
  private current: SyncState = { phase: 'starting' };
  private readonly wake = () => this.channel.send({ kind: 'wake' });

  /** @param device name of the device */
  constructor(
    private readonly options: WorkspaceOptions,
    device: string,
  ) {
    const { client, store, socket, resolve = byDefault } = options;
    const channel = (this.channel = new Channel(store.shared));
    this.rows = new Rows(store, resolve, (changed) => channel.send({ kind: 'changed', changed }));
    channel.on((message) => this.received(message));
    globalThis.addEventListener?.('online', this.wake);
    this.leading = lead(store.shared, this.ending.signal, () => {
      const pusher = new Pusher(client, this.rows, device);
      const puller = new Puller(client, this.rows, withContainers(options.collections ?? ALL_COLLECTIONS));
      this.loop = new SyncLoop({ client, pusher, puller, channel, socket });
      return this.loop.run(this.ending.signal);
    });
  }

  /** The state of the synchronisation, by whichever tab. */
  get state(): SyncState {
    return this.current;
  }

  /** @param scope id of the calendar, or of the address book */
  collection<Name extends Exclude<CollectionName, ScopedName>>(name: Name): Collection<Name>;
  collection<Name extends ScopedName>(name: Name, scope: string): Collection<Name>;
  collection<Name extends CollectionName>(name: Name, scope?: string): Collection<Name> {
    return new Collection<Name>(this.rows, this.channel, feedOf(name, scope));
  }

  /** @returns a function that removes the listener */
  onState(listener: (state: SyncState) => void): () => void {
    return this.channel.on((message) => message.kind === 'state' && listener(message.state));
  }

  /** What the service does not have yet, in the order in which it was saved. */
  async pending(): Promise<PendingChange[]> {
    const rows = await this.rows.read((tx) => tx.pending());
    return rows.filter(({ sent, open }) => open ?? !sent?.done).map((row) => this.pendingOf(row));
  }

  /** @param listener called after each change of an object @returns a function that removes it */
  onChange(listener: () => void): () => void {
    return this.channel.on((message) => message.kind === 'changed' && listener());
  }

  /**
   * Synchronises now, instead of after the next hint or the pause after a failure. Resolves when the service has everything that was saved
   * before, except changes with problems, and the device has everything that the service had.
   * @throws Error if the attempt fails; what was saved stays saved
   */
  async sync(): Promise<void> {
    const request = randomUuid();
    const ask = () => this.channel.send({ kind: 'wake', request });
    return new Promise((resolve, reject) => {
      const stop = () => {
        remove();
        this.ending.signal.removeEventListener('abort', closed);
      };
      const closed = () => {
        stop();
        reject(new Error('The workspace is closed.'));
      };
      const remove = this.channel.on((message) => {
        if (message.kind === 'leading') ask();
        if (message.kind !== 'synced' || !message.requests.includes(request)) return;
        stop();
        if (message.error === undefined) resolve();
        else reject(new Error(message.error));
      });
      this.ending.signal.addEventListener('abort', closed);
      if (this.ending.signal.aborted) closed();
      else ask();
    });
  }

  /** Ends the synchronisation and closes the store. What was saved is sent when the workspace is opened again. */
  async close(): Promise<void> {
    this.ending.abort();
    globalThis.removeEventListener?.('online', this.wake);
    await this.leading;
    this.channel.close();
    await this.options.store.close();
  }

  private received(message: Message): void {
    if (message.kind === 'state') this.current = message.state;
    if (message.kind === 'wake') this.loop?.wake(message.request);
  }

  private pendingOf(row: Row): PendingChange {
    const { name, scope } = partsOf(row.feed);
    const item = visible(row, this.rows.rulesOf(row.feed));
    return { collection: name, scope, id: row.id, item, problem: row.problem };
  }
}

/** Events need their calendars, and contacts their address books. */
function withContainers(names: readonly CollectionName[]): ReadonlySet<CollectionName> {
  return new Set(names.flatMap((name) => COLLECTIONS[name].container ?? []).concat(names as never));
}
