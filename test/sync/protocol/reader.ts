import { setTimeout as delay } from 'node:timers/promises';
import { ContactExchange } from './contact-exchange.ts';
import { FOLDERS, NOTES, Replica, TASK_FOLDERS, TASKS } from './replica.ts';
import type { Rng } from '../rng.ts';
import type { User, World } from '../world.ts';

/**
 * A client without the library. It sends what the protocol allows and the library never sends: foreign, broken and old cursors, walks
 * that are restarted, changes that are read during a walk, and changes of contacts together with a cursor.
 */
export class Reader {
  readonly notes: Replica;
  readonly folders: Replica;
  readonly tasks: Replica;
  readonly taskFolders: Replica;
  readonly contacts: ContactExchange;
  readonly name: string;
  /** Milliseconds between two requests, at most. */
  private pace = 0;
  readonly user: User;
  private readonly rng: Rng;

  constructor(world: World, user: User) {
    this.user = user;
    this.name = `${user.name}.reader`;
    this.rng = world.rng(this.name);
    this.notes = new Replica(world, user, NOTES, this.name);
    this.folders = new Replica(world, user, FOLDERS, this.name);
    this.tasks = new Replica(world, user, TASKS, this.name);
    this.taskFolders = new Replica(world, user, TASK_FOLDERS, this.name);
    this.contacts = new ContactExchange(world, user, this.name);
  }

  /** Starts to poll continuously: a reader between two commits detects a record that is numbered in the wrong order. */
  pollContinuously(): void {
    this.pace = 0;
  }

  /** Synchronises at its own pace until it is stopped. */
  async live(stopped: () => boolean): Promise<void> {
    this.pace = this.rng.pick([5, 30, 100]);
    while (!stopped()) {
      await this[this.rng.weighted({ notes: 4, folders: 1, tasks: 4, taskFolders: 2, contacts: 2 })].step();
      await delay(this.rng.int(0, this.pace));
    }
  }

  async settle(): Promise<void> {
    const replicas = [this.notes, this.folders, this.tasks, this.taskFolders, this.contacts];
    await Promise.all(replicas.map((replica) => replica.settle()));
  }
}
