import { type Actor, send } from './actor.ts';
import { Violation } from './model.ts';
import type { Received, KnownTask, User } from './world.ts';

const MANY_TASKS = 30;
const HOT = 4;
export const TASK_REJECTIONS = ['404 not_found', '403 forbidden', '409 deleted', '409 conflict'];
const WRONG_FOLDER = '422 validation_failed';

/** Mostly one that they can see, and among these mostly one of the last. */
export function someTask({ world, rng, device }: Actor): KnownTask | undefined {
  if (world.tasks.length === 0) return undefined;
  const seen = world.tasks.filter((task) => device.items('tasks').has(task.id));
  const from = seen.length > 0 && rng.chance(0.75) ? seen : world.tasks;
  return rng.chance(0.6) ? rng.pick(from.slice(-HOT)) : rng.pick(from);
}

function ownTask(actor: Actor): KnownTask | undefined {
  const own = actor.world.tasks.filter((task) => task.creator === actor.user);
  return own.length > 0 && actor.rng.chance(0.9) ? actor.rng.pick(own.slice(-8)) : someTask(actor);
}

/** A folder that the user owns or that the device has; the device may not have received its removal yet. */
export function someTaskFolder({ world, rng, user, device }: Actor): string | null {
  const own = world.taskFolders.get(user.id) ?? [];
  const shared = [...device.items('task_folders').keys()];
  if (rng.chance(0.2) || own.length + shared.length === 0) return null;
  return rng.pick(own.length > 0 && (rng.chance(0.5) || shared.length === 0) ? own : shared);
}

export function somePeople({ world, rng }: Actor, probability = 0.4): string[] {
  const chosen = world.site.users.filter(() => rng.chance(probability)).map((one) => one.id);
  return rng.chance(0.5) ? chosen.toReversed() : chosen;
}

/** The task as the actor knows it: just read, or as their device has had it for some time. */
export async function knownTask(actor: Actor, { id }: { id: string }, fresh: number): Promise<any> {
  if (!actor.rng.chance(fresh)) return actor.device.known('tasks').find((task) => task.id === id);
  const { status, body } = await send(actor, 'GET', `/tasks/${id}`, undefined, '200', '404 not_found');
  return status === 200 ? body.task : undefined;
}

async function make(actor: Actor, id: string | undefined): Promise<void> {
  const { world, rng, user } = actor;
  const body = {
    ...(id === undefined ? {} : { id }),
    title: world.unique(),
    ...(rng.chance(0.7) ? { description: `<p>${world.unique()}</p>` } : {}),
    ...(rng.chance(0.6) ? { folder_id: someTaskFolder(actor) } : {}),
    ...(rng.chance(0.5) ? { assignees: somePeople(actor) } : {}),
    ...(rng.chance(0.3) ? { date: '2027-01-01' } : {}),
    ...(rng.chance(0.15) ? { date: '2027-01-01', recurrence: 'FREQ=DAILY' } : {}),
    ...(rng.chance(0.3) ? { references: referencesFrom(actor) } : {}),
  };
  const response = await send(actor, 'POST', '/tasks', body, '201', WRONG_FOLDER, '409 already_exists');
  if (response.status !== 201) return;
  acknowledged(actor, response, body.title);
  made(actor, response.body.task.id, user);
}

/** A reference to a task that the actor sees. Other users may see the reference without access to its target. */
function referencesFrom({ rng, device }: Actor): object[] {
  const ids = device
    .known('tasks')
    .filter((task) => !task.deleted)
    .map((task) => task.id);
  return ids.length === 0 ? [] : [{ type: 'task', id: rng.pick(ids) }];
}

export function made({ world }: Actor, id: string, creator: User): void {
  const at = world.purgedTasks.indexOf(id);
  if (at >= 0) world.purgedTasks.splice(at, 1);
  world.tasks.push({ id, creator });
}

export function acknowledged(actor: Actor, { body }: Received, title: string): void {
  if (body.task.title !== title)
    throw new Violation(
      `acknowledged something else than was sent: ${JSON.stringify(body.task)}`,
      body.task.id,
    );
  actor.world.taskLedger.acknowledged(body.task, actor.user.name);
}

/** @param base the task as the actor knows it: its revision is sent, unless the write is unconditional */
export async function writeTask(actor: Actor, base: any, fields: object): Promise<void> {
  const { world, rng } = actor;
  const title = world.unique();
  const guarded = rng.chance(0.6);
  const body = { title, ...fields, ...(guarded ? { base_revision: base.revision } : {}) };
  const method = rng.pick(['PATCH', 'PUT']);
  const response = await send(
    actor,
    method,
    `/tasks/${base.id}`,
    body,
    '200',
    WRONG_FOLDER,
    ...TASK_REJECTIONS,
  );
  if (response.status === 200) {
    acknowledged(actor, response, title);
    if (guarded && response.body.task.revision !== base.revision + 1)
      throw new Violation(`wrote over revision ${response.body.task.revision - 1}`, base.id);
  }
  if (response.body?.error === 'conflict' && (!guarded || response.body.revision === base.revision))
    throw new Violation('conflict with the revision that was sent', base.id);
}

async function change(actor: Actor, fresh: number, fields: (base: any) => object): Promise<void> {
  const task = someTask(actor);
  const base = task && (await knownTask(actor, task, fresh));
  if (base) await writeTask(actor, base, fields(base));
}

async function trash(actor: Actor): Promise<void> {
  const task = ownTask(actor);
  const base = task && (await knownTask(actor, task, 0.8));
  if (!base) return;
  const body = actor.rng.chance(0.5) ? { base_revision: base.revision } : undefined;
  await send(actor, 'DELETE', `/tasks/${base.id}`, body, '200', ...TASK_REJECTIONS);
}

async function restore(actor: Actor): Promise<void> {
  const task = ownTask(actor);
  if (task) await send(actor, 'POST', `/tasks/${task.id}/restore`, undefined, '200', ...TASK_REJECTIONS);
}

/** Lets the retention time of some tasks in the trash end, and runs the job that purges them. */
async function emptyTrash({ world, rng }: Actor): Promise<void> {
  const due = await world.sql<{ id: string }>(
    `UPDATE tasks SET purge_at = now() - interval '1 second'
      WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM tasks WHERE tenant_id = $2 AND deleted_at IS NOT NULL
                                 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id`,
    [rng.int(1, 4), world.site.users[0]?.tenantId],
  );
  for (const { id } of due) world.taskLedger.mayBePurged(id);
  world.log(`trash of tasks: the retention has ended for ${due.map((task) => task.id).join(' ')}`);
  await world.site.purgeTrash();
}

/** A user of another workspace reads and writes no task of this one, also with its ids. */
async function canary(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const task = someTask(actor);
  if (!task) return;
  const { canary: user } = world.site;
  await world.call(rng, user, 'GET', `/tasks/${task.id}`, undefined, ['404 not_found']);
  await world.call(rng, user, 'PATCH', `/tasks/${task.id}`, { title: 'x' }, ['404 not_found']);
  for (const path of ['/tasks/changes', '/task_folders/changes', '/tasks/index', '/tasks?state=all']) {
    const response = await world.call(rng, user, 'GET', path, undefined, ['200']);
    const [seen] = response.body?.tasks ?? response.body?.folders ?? [];
    if (seen) throw new Violation(`the other workspace sees ${JSON.stringify(seen)}`, seen.id);
  }
}

const STATUSES = ['open', 'in_progress', 'done', 'done', 'cancelled'];

export const TASK_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  taskCreate: (actor) =>
    actor.world.tasks.length < MANY_TASKS || actor.rng.chance(0.2)
      ? make(actor, actor.rng.chance(0.4) ? actor.rng.uuid() : undefined)
      : trash(actor),
  taskRecreate: async (actor) => {
    const { purgedTasks } = actor.world;
    if (purgedTasks.length > 0) await make(actor, actor.rng.pick(purgedTasks.slice(-6)));
  },
  taskEdit: (actor) =>
    change(actor, 1, () => ({
      ...(actor.rng.chance(0.6) ? { description: `<p>${actor.world.unique()}</p>` } : {}),
      ...(actor.rng.chance(0.3) ? { date: `2027-0${actor.rng.int(1, 9)}-15` } : {}),
      ...(actor.rng.chance(0.2) ? { position: actor.rng.pick(['first', 'last']) } : {}),
    })),
  taskEditStale: (actor) => change(actor, 0, () => ({ priority: actor.rng.pick(['low', 'high']) })),
  taskStatus: (actor) => change(actor, 0.8, () => ({ status: actor.rng.pick(STATUSES) })),
  taskAssign: (actor) => change(actor, 0.8, () => ({ assignees: somePeople(actor) })),
  taskUnassign: (actor) =>
    change(actor, 0.8, (base) => ({
      assignees: base.assignees.slice(1).map((one: { id: string }) => one.id),
    })),
  taskMove: (actor) => change(actor, 0.8, () => ({ folder_id: someTaskFolder(actor) })),
  taskTrash: trash,
  taskRestore: restore,
  taskEmptyTrash: emptyTrash,
  taskCanary: canary,
};
