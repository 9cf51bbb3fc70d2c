import { setTimeout as delay } from 'node:timers/promises';
import { NOTE_ACTIONS } from './actions.ts';
import type { Actor } from './actor.ts';
import { saveOnDevice } from './library/save-actions.ts';
import type { Device } from './library/device.ts';
import type { Reader } from './protocol/reader.ts';
import { FOLDER_ACTIONS } from './folder-actions.ts';
import { atOnce } from './at-once.ts';
import { CALENDAR_ACTIONS } from './calendar-actions.ts';
import { CONTACT_ACTIONS } from './contact-actions.ts';
import { knownTask, TASK_ACTIONS, writeTask } from './task-actions.ts';
import { TASK_FOLDER_ACTIONS, taskAtOnce } from './task-folder-actions.ts';
import { TASK_PART_ACTIONS } from './task-part-actions.ts';
import type { World } from './world.ts';

/** Deletes the records of all but the newest removals, so that cursors expire all the time. */
async function forget({ world, rng }: Actor): Promise<void> {
  const before = new Date(Date.now() - rng.pick([0, 20, 200, 1_000]));
  world.log(`retention: removals from before ${before.toISOString()}`);
  await world.site.forget(before).catch((error: unknown) => {
    // A later run of the job repeats it.
    if (!isLockTimeout(error)) throw error;
    world.mayReject('503 overloaded', 'retention', performance.now());
  });
}

const isLockTimeout = (error: unknown): boolean =>
  error instanceof AggregateError && error.errors.every(({ code }) => code === '55P03');

/** Lets the retention time of some notes in the trash end, and runs the job that purges them. */
async function emptyTrash({ world, rng }: Actor): Promise<void> {
  const due = await world.sql<{ id: string }>(
    `UPDATE notes SET purge_at = now() - interval '1 second'
      WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM notes WHERE tenant_id = $2 AND deleted_at IS NOT NULL
                                 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id`,
    [rng.int(1, 4), world.site.users[0]?.tenantId],
  );
  for (const { id } of due) world.ledger.anyLifeMayBePurged(id);
  world.log(`trash: the retention has ended for ${due.map((note) => note.id).join(' ')}`);
  await world.site.purgeTrash();
}

const ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  ...NOTE_ACTIONS,
  ...FOLDER_ACTIONS,
  ...TASK_ACTIONS,
  ...TASK_FOLDER_ACTIONS,
  ...TASK_PART_ACTIONS,
  ...CALENDAR_ACTIONS,
  ...CONTACT_ACTIONS,
  forget,
  emptyTrash,
  atOnce,
  saveOnDevice,
};

const WEIGHTS = {
  create: 12,
  recreate: 4,
  edit: 18,
  editStale: 8,
  editByLink: 3,
  changeNothing: 2,
  place: 10,
  invite: 16,
  leave: 4,
  share: 4,
  trash: 7,
  restore: 5,
  purge: 5,
  peek: 3,
  canary: 1,
  folderCreate: 6,
  folderRename: 3,
  folderMove: 5,
  folderDelete: 4,
  folderForeign: 1,
  forget: 7,
  emptyTrash: 1.5,
  atOnce: 5,
  taskCreate: 14,
  taskRecreate: 3,
  taskEdit: 14,
  taskEditStale: 7,
  taskStatus: 6,
  taskAssign: 12,
  taskUnassign: 6,
  taskMove: 12,
  taskTrash: 6,
  taskRestore: 5,
  taskEmptyTrash: 2.5,
  taskCanary: 1,
  taskFolderCreate: 7,
  taskFolderRename: 2,
  taskFolderMove: 5,
  taskFolderShare: 14,
  taskFolderDelete: 4,
  taskFolderLeave: 3,
  taskAtOnce: 6,
  taskFromNote: 12,
  taskSubtask: 5,
  taskComment: 12,
  eventCreate: 12,
  eventEdit: 16,
  eventMove: 5,
  eventDelete: 9,
  eventRespond: 10,
  eventPush: 8,
  calendarCreate: 3,
  calendarShare: 10,
  calendarDelete: 2,
  calendarCanary: 1,
  contactCreate: 10,
  contactEdit: 14,
  contactDelete: 5,
  contactMove: 6,
  contactMoveMany: 2,
  contactPush: 16,
  contactCanary: 1,
  bookCreate: 3,
  bookShare: 6,
  bookDelete: 1,
  saveOnDevice: 110,
};

/** Acts for one user after another until the actions of the round are used up. */
export class Performer {
  private readonly rng;
  private readonly world: World;
  private readonly devices: Device[];
  private readonly readers: Reader[];
  private readonly number: number;
  private readonly performers: number;

  /** @param performers how many there are; this one is the `number`th */
  constructor(world: World, devices: Device[], readers: Reader[], number: number, performers: number) {
    this.world = world;
    this.devices = devices;
    this.readers = readers;
    this.number = number;
    this.performers = performers;
    this.rng = world.rng(`performer ${number}`);
  }

  /**
   * Sends concurrent writes, and then a last write of each task, by all performers together. No later write hides an error
   * in these.
   */
  async finish(): Promise<void> {
    const { world, rng, number } = this;
    const actor = this.someActor();
    await (rng.chance(0.5) ? atOnce : taskAtOnce)(actor);
    const own = world.tasks.filter((_, n) => n % this.performers === number);
    for (const { id, creator } of rng.chance(0.7) ? own : []) {
      const owner = { ...actor, user: creator };
      const base = await knownTask(owner, { id }, 1);
      if (base && !base.deleted && !world.failed) await writeTask(owner, base, {});
    }
  }

  private someActor(): Actor {
    const { world, rng } = this;
    const user = rng.pick(world.site.users);
    const device = rng.pick(this.devices.filter((one) => one.user === user));
    return { world, rng, user, device, reader: this.readers.find((one) => one.user === user)! };
  }

  async perform(takeOne: () => boolean): Promise<void> {
    const { world, rng } = this;
    while (takeOne()) {
      const action = rng.weighted(WEIGHTS);
      world.count(`action ${action}`);
      world.count('actions');
      await (ACTIONS[action] as (actor: Actor) => Promise<void>)(this.someActor());
      if (rng.chance(0.1)) await delay(rng.int(0, 20));
    }
  }
}
