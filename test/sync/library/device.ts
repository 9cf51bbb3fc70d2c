import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@workspace-backend/client';
import {
  type CollectionName,
  memoryStore,
  openWorkspace,
  type Workspace,
} from '@workspace-backend/client/sync';
import { Violation } from '../model.ts';
import type { Rng } from '../rng.ts';
import type { User, World } from '../world.ts';
import { Network } from './network.ts';
import { readAll, View } from './view.ts';

/** Attempts until a device has everything. */
const MAX_ATTEMPTS = 50;

/** A device of a user, with the client library. */
export class Device {
  readonly name: string;
  readonly user: User;
  /** Number of further rounds in which the device is offline. */
  offline = 0;
  private workspace!: Workspace;
  private view!: View;
  private readonly world: World;
  private readonly rng: Rng;
  private readonly network: Network;

  private constructor(world: World, user: User, number: number) {
    this.world = world;
    this.user = user;
    this.name = `${user.name}.${number}`;
    this.rng = world.rng(this.name);
    this.network = new Network(world, this.name);
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
  }

  /** What the device shows at the moment: it may be old. @param scope id of the calendar, or of the address book */
  items(name: CollectionName, scope?: string): ReadonlyMap<string, any> {
    return this.view.items(name, scope);
  }

  /** Synchronises at its own pace until it is stopped, besides what the library does by itself. */
  async live(stopped: () => boolean): Promise<void> {
    const pace = this.rng.pick([30, 150, 400]);
    while (!stopped()) {
      if (this.rng.chance(0.3)) await this.workspace.sync().catch((error: Error) => this.failed(error));
      await delay(this.rng.int(0, pace));
    }
  }

  /** Synchronises until the service has everything that was saved, and the device everything that the service has. */
  async settle(): Promise<void> {
    for (let attempts = 1; ; attempts += 1) {
      const isDone = await this.workspace.sync().then(
        () => true,
        (error: Error) => this.failed(error),
      );
      if (isDone) return;
      if (attempts === MAX_ATTEMPTS) throw new Violation(`${this.name}: does not end its synchronisation`);
      await delay(20);
    }
  }

  /** Reads a collection from the store. */
  async read(name: CollectionName, scope?: string): Promise<Map<string, any>> {
    return readAll(this.workspace, name, scope);
  }

  async close(): Promise<void> {
    await this.workspace.close();
  }

  private async start(): Promise<void> {
    const { user, network } = this;
    const client = createClient({
      url: this.world.site.bases[0]!,
      token: () => user.token,
      fetch: network.fetch,
      retry: { attempts: this.rng.int(1, 2) },
    });
    this.workspace = await openWorkspace({ client, store: memoryStore(), user: user.id, device: this.name });
    this.view = new View(this.workspace, (error) => this.world.fail(error));
  }

  private failed(error: Error): boolean {
    this.world.log(`${this.name}: the synchronisation has failed: ${error.message}`);
    this.world.count('library syncs that failed');
    return false;
  }
}
