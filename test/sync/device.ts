import { setTimeout as delay } from 'node:timers/promises';
import { CalendarReplica } from './calendar-replica.ts';
import { ContactReplica } from './contact-replica.ts';
import { FOLDERS, NOTES, Replica, TASK_FOLDERS, TASKS } from './replica.ts';
import type { Rng } from './rng.ts';
import type { User, World } from './world.ts';

/** A device of a user. */
export class Device {
  readonly notes: Replica;
  readonly folders: Replica;
  readonly tasks: Replica;
  readonly taskFolders: Replica;
  readonly calendars: CalendarReplica;
  readonly contacts: ContactReplica;
  readonly name: string;
  /** Number of further rounds in which the device is offline. */
  offline = 0;
  /** Milliseconds between two requests, at most. */
  private pace = 0;
  readonly user: User;
  private readonly rng: Rng;

  constructor(world: World, user: User, number: number) {
    this.user = user;
    this.name = `${user.name}.${number}`;
    this.rng = world.rng(this.name);
    this.notes = new Replica(world, user, NOTES, this.name);
    this.folders = new Replica(world, user, FOLDERS, this.name);
    this.tasks = new Replica(world, user, TASKS, this.name);
    this.taskFolders = new Replica(world, user, TASK_FOLDERS, this.name);
    this.calendars = new CalendarReplica(world, user, this.name);
    this.contacts = new ContactReplica(world, user, this.name);
  }

  /** Decides whether the device is offline in the round that begins. */
  beginRound(last: boolean): void {
    if (last) this.offline = 0;
    else if (this.offline > 0) this.offline -= 1;
    else if (this.rng.chance(0.2)) this.offline = this.rng.int(1, 3);
  }

  /** Starts to poll continuously: a reader between two commits detects a record that is numbered in the wrong order. */
  pollContinuously(): void {
    this.pace = 0;
  }

  /** Synchronises at its own pace until it is stopped. */
  async live(stopped: () => boolean): Promise<void> {
    this.pace = this.rng.pick([2, 10, 60]);
    while (!stopped()) {
      const choice = this.rng.weighted({
        notes: 4,
        folders: 1,
        tasks: 4,
        taskFolders: 2,
        calendars: 3,
        contacts: 3,
      });
      await this[choice].step();
      if (choice !== 'calendars' && choice !== 'contacts' && this.rng.chance(0.1))
        await this[choice].fetchContents(2);
      await delay(this.rng.int(0, this.pace));
    }
  }

  async settle(): Promise<void> {
    const replicas = [this.notes, this.folders, this.tasks, this.taskFolders];
    await Promise.all([...replicas, this.calendars, this.contacts].map((replica) => replica.settle()));
    await Promise.all(replicas.map((replica) => replica.fetchContents(Infinity)));
  }
}
