import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@workspace-backend/client';
import {
  type CollectionName,
  type Conflict,
  ItemError,
  openWorkspace,
  type PendingChange,
  type Workspace,
} from '@workspace-backend/client/sync';
import { Violation } from '../model.ts';
import { Rng } from '../rng.ts';
import type { User, World } from '../world.ts';
import { type Disk, fileDisk, memoryDisk } from './disk.ts';
import type { MortalStore } from './mortal-store.ts';
import { EXPIRED, Network } from './network.ts';
import { collectionOf, readAll, View } from './view.ts';

/** Attempts until a device has everything. */
const MAX_ATTEMPTS = 100;
/** Steps of transactions in which a program ends. */
const LAST_STEPS = 40;

/** What became of a save: `unsure` if the program has ended during it. */
export type SaveResult = 'saved' | 'unsure' | 'rejected';
export type AnyCollection = ReturnType<typeof collectionOf>;

/** A device of a user, with the client library. */
export class Device {
  readonly name: string;
  readonly user: User;
  /** Number of further rounds in which the device is offline. */
  offline = 0;
  private readonly world: World;
  private readonly rng: Rng;
  private readonly disk: Disk;
  private programs = 0;
  private store!: MortalStore;
  private workspace!: Workspace;
  private view!: View;
  private network!: Network;
  private readonly networks: Network[] = [];
  private working: Promise<unknown> = Promise.resolve();

  private constructor(world: World, user: User, number: number) {
    this.world = world;
    this.user = user;
    this.name = `${user.name}.${number}`;
    this.rng = world.rng(this.name);
    this.disk = this.rng.chance(0.5) ? fileDisk() : memoryDisk();
  }

  static async open(world: World, user: User, number: number): Promise<Device> {
    const device = new Device(world, user, number);
    await device.start();
    return device;
  }

  /** Decides whether the device is offline in the round that begins. */
  beginRound(last: boolean): void {
    if (last) this.offline = 0;
    else if (this.offline > 0) this.offline -= 1;
    else if (this.rng.chance(0.2)) this.offline = this.rng.int(1, 3);
    this.network.isOffline = this.offline > 0;
    this.network.isBad = true;
  }

  /** What the device shows at the moment: it may be old. @param scope id of the calendar, or of the address book */
  items(name: CollectionName, scope?: string): ReadonlyMap<string, any> {
    return this.view.items(name, scope);
  }

  /** What the device shows and the service has: the ones that a client without a queue knows. */
  known(name: CollectionName, scope?: string): any[] {
    return [...this.view.items(name, scope).values()].filter((item) => item.created_at !== undefined);
  }

  /** Synchronises at its own pace until it is stopped, besides what the library does by itself. Now and then its program ends without notice. */
  async live(stopped: () => boolean): Promise<void> {
    const { rng } = this;
    const pace = rng.pick([60, 200]);
    while (!stopped()) {
      const what = rng.weighted({ nothing: 66, sync: 18, decide: 8, crash: 8 });
      if (what === 'sync') await this.synchronise();
      if (what === 'decide') await this.decide();
      if (what === 'crash') await this.crash();
      await delay(rng.int(0, pace));
    }
  }

  /** Saves one after another. @param work of the program, which may end during it */
  save(
    name: CollectionName,
    scope: string | undefined,
    work: (collection: AnyCollection) => Promise<unknown>,
  ): Promise<SaveResult> {
    return this.inTurn(async () => {
      const { death } = this.store;
      const saving = work(collectionOf(this.workspace, name, scope)).then(
        () => 'saved' as const,
        (error: unknown) => {
          if (error instanceof ItemError) return 'rejected' as const;
          throw error;
        },
      );
      return Promise.race([saving, death.then(() => 'unsure' as const)]);
    });
  }

  /** Sends everything that was saved. The application discards what the service rejects. */
  async push(): Promise<void> {
    this.network.isBad = false;
    for (let attempts = 1; ; attempts += 1) {
      const isDone = await this.synchronise();
      const pending = await this.workspace.pending();
      for (const change of pending) if (change.problem) await this.discard(change);
      if (isDone && pending.length === 0) break;
      if (attempts === MAX_ATTEMPTS)
        throw new Violation(
          `${this.name}: does not end its synchronisation: ${JSON.stringify(pending).slice(0, 500)}`,
          ...pending.map(({ id }) => id),
        );
      if (!isDone) await delay(20);
    }
  }

  /** Reads everything that the service has. */
  settle(): Promise<void> {
    return this.push();
  }

  /** Waits until the service has executed all requests, also those of programs that have ended. */
  async drain(): Promise<void> {
    await Promise.all(this.networks.map((network) => network.drain()));
  }

  /** Reads a collection from the store. */
  read(name: CollectionName, scope?: string): Promise<Map<string, any>> {
    return readAll(this.workspace, name, scope);
  }

  pending(): Promise<PendingChange[]> {
    return this.workspace.pending();
  }

  async close(): Promise<void> {
    await this.workspace.close();
    this.disk.remove();
  }

  private async start(): Promise<void> {
    const { user, world, rng } = this;
    this.programs += 1;
    this.network = new Network(world, user.name, this.name, this.programs);
    this.networks.push(this.network);
    this.network.isOffline = this.offline > 0;
    this.store = this.disk.open();
    const client = createClient({
      url: world.site.bases[0]!,
      token: (rejected) => this.token(rejected),
      fetch: this.network.fetch,
      retry: { attempts: rng.int(1, 2) },
    });
    this.workspace = await openWorkspace({
      client,
      store: this.store,
      user: user.id,
      device: this.name,
      resolve: (conflict) => this.resolve(conflict),
    });
    this.view = new View(this.workspace, (error) => world.fail(error));
  }

  /** Access tokens expire; now and then there is no new one, so that the user is signed out. */
  private token(rejected: string | undefined): string | undefined {
    const { rng, user } = this;
    if (!this.network.isBad) return user.token;
    if (rejected !== undefined) return rng.chance(0.8) ? user.token : undefined;
    if (!rng.chance(0.03)) return user.token;
    this.world.count('fault expired token');
    return EXPIRED;
  }

  private async synchronise(): Promise<boolean> {
    try {
      await this.workspace.sync();
      return true;
    } catch (error) {
      this.world.log(`${this.name}: the synchronisation has failed: ${(error as Error).message}`);
      this.world.count('library syncs that failed');
      return false;
    }
  }

  /** The application decides about changes that the service has rejected. */
  private async decide(): Promise<void> {
    for (const change of await this.pending()) {
      if (!change.problem) continue;
      if (this.rng.chance(0.4)) await this.discard(change);
      else if (this.rng.chance(0.5))
        await this.save(change.collection, change.scope, (collection) => collection.retry(change.id));
    }
  }

  private async discard({ collection: name, scope, id, problem }: PendingChange): Promise<void> {
    if (this.world.saves.privates.has(id))
      throw new Violation(`${this.name}: ${problem!.code} for an object that others do not write`, id);
    this.world.log(`${this.name}: discards the changes of ${id} after ${problem!.code}`);
    this.world.count('saves discarded');
    await this.save(name, scope, async (collection) => {
      // Contacts of two address books may have the same id.
      const isSame = (one: PendingChange) => one.id === id && one.collection === name && one.scope === scope;
      const change = (await this.pending()).find(isSame);
      this.world.saves.report(change?.item);
      await collection.discard(id);
    });
  }

  /** The user decides some conflicts against the own value. */
  private resolve(conflict: Conflict): unknown {
    if (conflict.kind === 'removal') return conflict.merged;
    const { id, field, local, server, merged } = conflict;
    if (this.world.saves.privates.has(id))
      this.world.fail(new Violation(`${this.name}: a conflict of ${field} without another writer`, id));
    // The same conflict may be decided twice, and must be decided in the same way.
    if (!new Rng(`${this.world.seed} ${JSON.stringify([local, server])}`).chance(0.4)) return merged;
    this.world.saves.report(local);
    this.world.count('conflicts decided for the service');
    return server;
  }

  /** The program ends without notice, in the middle of a synchronisation, and another one is started with what is stored. */
  private async crash(): Promise<void> {
    const { store, network, workspace, rng } = this;
    this.world.log(`${this.name}: the program ends`);
    this.world.count('library crashes');
    store.killAfter(rng.int(0, LAST_STEPS));
    // What the synchronisation writes brings the end; a device without changes has none, and ends here.
    await Promise.race([store.death, this.synchronise(), delay(100)]);
    store.killAfter(0);
    network.cut();
    // Neither store nor network do anything any more: this stops the timers only.
    void workspace.close();
    await this.inTurn(() => this.start());
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.working.then(work);
    this.working = result.catch(() => undefined);
    return result;
  }
}
