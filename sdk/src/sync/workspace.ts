import type { WorkspaceClient } from '../client.js';
import type { WorkspaceSocket } from '../sockets/workspace-socket.js';
import { visible } from './rows/changes.js';
import { Channel, type Message } from './tabs/channel.js';
import { Collection } from './collection.js';
import {
  ALL_COLLECTIONS,
  type CollectionName,
  COLLECTIONS,
  feedOf,
  partsOf,
  type ScopedName,
} from './collections.js';
import { checkLeadership, lead } from './tabs/leader.js';
import { byDefault, type Resolve } from './merge/fields.js';
import { eachPending } from './rows/each-row.js';
import { missingOf } from './rows/order.js';
import { Puller } from './exchange/puller.js';
import { Pusher } from './exchange/pusher.js';
import { randomUuid } from './random-uuid.js';
import type { Item, Problem, Row } from './rows/row.js';
import { Rows } from './rows/rows.js';
import type { Store } from './store.js';
import { SyncLoop } from './exchange/sync-loop.js';
import type { SyncState } from './sync-state.js';

/** Changes that a list has at most. */
const MAX_PENDING = 1_000;

/** The user, the store, and what is synchronised. */
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
  /** Id of an object that the service must have first. Where that has a problem, so has this change. */
  waitsFor: string | undefined;
}

/**
 * Opens the workspace of a user on this device, and synchronises it while it is open and no other tab does.
 * @throws Error if the store has data of another user, or if its tabs cannot elect one because the browser has no Web Locks
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  checkLeadership(options.store.shared);
  const device = await identify(options);
  return new Workspace(options, device);
}

/** @returns the name of the device */
async function identify({ store, user, device }: WorkspaceOptions): Promise<string> {
  return store.transaction('write', async (tx) => {
    const known = await tx.readMeta('user');
    if (known !== undefined && known !== user) throw new Error('The store has data of another user.');
    const name = (await tx.readMeta('device')) as string | undefined;
    // A full store can be opened again.
    if (name !== undefined) return name;
    await tx.writeMeta('user', user);
    const first = device ?? randomUuid();
    await tx.writeMeta('device', first);
    return first;
  });
}

/** The objects of a user on this device. Reads and saves need no connection. */
export class Workspace {
  private readonly channel: Channel;
  private readonly rows: Rows;
  private readonly ending = new AbortController();
  private readonly names: ReadonlySet<CollectionName>;
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
    this.names = withContainers(options.collections ?? ALL_COLLECTIONS);
    this.rows = new Rows(store, resolve, (changed) => channel.send({ kind: 'changed', changed }));
    channel.on((message) => this.received(message));
    globalThis.addEventListener?.('online', this.wake);
    this.leading = lead(store.shared, this.ending.signal, () => {
      const pusher = new Pusher(client, this.rows, device);
      const puller = new Puller(client, this.rows, this.names);
      this.loop = new SyncLoop({ client, pusher, puller, channel, socket });
      return this.loop.run(this.ending.signal);
    });
  }

  /** The state of the synchronisation, by whichever tab. */
  get state(): SyncState {
    return this.current;
  }

  /** @throws Error if the workspace does not synchronise the collection */
  collection<Name extends Exclude<CollectionName, ScopedName>>(name: Name): Collection<Name>;
  /**
   * @param scope id of the calendar, or of the address book
   * @throws Error if the workspace does not synchronise the collection
   */
  collection<Name extends ScopedName>(name: Name, scope: string): Collection<Name>;
  collection<Name extends CollectionName>(name: Name, scope?: string): Collection<Name> {
    if (!this.names.has(name)) throw new Error(`${name} is not among the collections of this workspace.`);
    const { container } = COLLECTIONS[name];
    if ((container === undefined) !== (scope === undefined))
      throw new Error(
        container ? `${name} need an id of ${container}.` : `${name} have no containing object.`,
      );
    return new Collection<Name>(this.rows, this.channel, feedOf(name, scope));
  }

  /** @returns a function that removes the listener */
  onState(listener: (state: SyncState) => void): () => void {
    return this.channel.on((message) => message.kind === 'state' && listener(message.state));
  }

  /**
   * What the service does not have yet, in the order in which it was saved.
   * @param limit of changes
   */
  pending(limit = MAX_PENDING): Promise<PendingChange[]> {
    return this.rows.read(async (tx) => {
      const changes: PendingChange[] = [];
      for await (const row of eachPending(tx)) {
        if (changes.length >= limit) break;
        if (row.open ?? !row.sent?.done) changes.push(this.pendingOf(row, await missingOf(tx, row)));
      }
      return changes;
    });
  }

  /** @param listener called after each change of an object @returns a function that removes it */
  onChange(listener: () => void): () => void {
    return this.channel.on((message) => message.kind === 'changed' && listener());
  }

  /**
   * Synchronises now, instead of after the next hint or the pause after a failure. Resolves when the service has everything that was saved
   * before, except changes with problems and those that wait for them, and the device has everything that the service had.
   * @param end of the wait, such as `AbortSignal.timeout(10_000)`: the tab that synchronises may be frozen by the browser
   * @throws Error if the attempt fails, or the reason of the signal; what was saved stays saved
   */
  async sync(end?: AbortSignal): Promise<void> {
    // React Native has no `throwIfAborted`.
    if (end?.aborted) throw end.reason as Error;
    const request = randomUuid();
    const ask = () => this.channel.send({ kind: 'wake', request });
    return new Promise((resolve, reject) => {
      const stop = () => {
        remove();
        this.ending.signal.removeEventListener('abort', closed);
        end?.removeEventListener('abort', ended);
      };
      const ended = () => {
        stop();
        reject(end!.reason as Error);
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
      end?.addEventListener('abort', ended);
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
    if (message.kind === 'saved') this.loop?.saved();
    if (message.kind === 'wake') this.loop?.wake(message.request);
  }

  private pendingOf(row: Row, waitsFor: string | undefined): PendingChange {
    const { name, scope } = partsOf(row.feed);
    const item = visible(row, this.rows.rulesOf(row.feed));
    return { collection: name, scope, id: row.id, item, problem: row.problem, waitsFor };
  }
}

/** Events need their calendars, and contacts their address books. */
function withContainers(names: readonly CollectionName[]): ReadonlySet<CollectionName> {
  return new Set(names.flatMap((name) => COLLECTIONS[name].container ?? []).concat(names as never));
}
