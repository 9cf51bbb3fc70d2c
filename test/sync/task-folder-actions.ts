import { type Actor, send } from './actor.ts';
import { Rng } from './rng.ts';
import { knownTask, somePeople, someTask, someTaskFolder, writeTask } from './task-actions.ts';

const MANY_FOLDERS = 8;

function own({ world, user }: Actor): string[] {
  let folders = world.taskFolders.get(user.id);
  if (!folders) world.taskFolders.set(user.id, (folders = []));
  return folders;
}

function some(actor: Actor): string | undefined {
  const folders = own(actor);
  return folders.length === 0 ? undefined : actor.rng.pick(folders);
}

function members(actor: Actor): object[] {
  return somePeople(actor, 0.5)
    .filter((id) => id !== actor.user.id)
    .map((id) => ({ id, role: actor.rng.pick(['viewer', 'editor']) }));
}

async function create(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const folders = own(actor);
  if (folders.length >= MANY_FOLDERS) return remove(actor);
  // Ids of folders that were deleted may be used again, once their removal has been forgotten.
  const id = rng.chance(0.4) ? rng.uuid() : rng.chance(0.2) ? some(actor) : undefined;
  const body = {
    ...(id === undefined ? {} : { id }),
    name: world.unique(),
    ...(rng.chance(0.6) ? { parent_id: some(actor) ?? null } : {}),
    ...(rng.chance(0.4) ? { members: members(actor) } : {}),
  };
  const rejections = ['409 already_exists', '422 validation_failed', '422 folder_too_deep'];
  const response = await send(actor, 'POST', '/task_folders', body, '201', ...rejections);
  if (response.status === 201) folders.push(response.body.folder.id);
}

async function change(actor: Actor, fields: object, id = some(actor)): Promise<void> {
  if (id === undefined) return;
  await send(
    actor,
    'PATCH',
    `/task_folders/${id}`,
    fields,
    '200',
    '404 not_found',
    '403 forbidden',
    '422 folder_cycle',
    '422 folder_too_deep',
    '422 validation_failed',
  );
}

async function remove(actor: Actor): Promise<void> {
  const { rng } = actor;
  const id = some(actor);
  if (id === undefined) return;
  const contents = rng.pick(['', '?contents=keep', '?contents=delete']);
  const path = `/task_folders/${id}${contents}`;
  const response = await send(actor, 'DELETE', path, undefined, '200', '404 not_found');
  const folders = own(actor);
  // Folders deleted with it stay in the list, so that some requests name deleted folders, as a client with old data does.
  if (response.status !== 0 && rng.chance(0.9) && folders.includes(id))
    folders.splice(folders.indexOf(id), 1);
}

/** A member leaves by the list without themselves; members cannot change the folder otherwise. */
async function leave(actor: Actor): Promise<void> {
  const { rng, device, user } = actor;
  const shared = device.known('task_folders').filter((folder) => folder.role !== 'owner');
  if (shared.length === 0) return;
  const { id, members: listed } = rng.pick(shared);
  if (rng.chance(0.2)) return change(actor, { name: 'x' }, id);
  const rest = listed.filter((one: any) => !one.inherited && one.id !== user.id);
  await change(actor, { members: rest.map(({ id: who, role }: any) => ({ id: who, role })) }, id);
}

/**
 * Writes that lock the same rows: a folder is shared, moved or deleted while tasks are written in it,
 * moved into it and out of it, and assigned.
 */
export async function taskAtOnce(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const as = (user: Actor['user']): Actor => ({
    ...actor,
    user,
    rng: new Rng(`${world.seed} ${rng.next()}`),
  });
  const owner = rng.pick(world.site.users);
  const id = some(as(owner));
  if (id === undefined) return;
  // The tasks are read first: a work that has begun is awaited with the others, so that its error is not lost.
  const writes: (() => Promise<unknown>)[] = [];
  for (let n = rng.int(1, 3); n > 0; n -= 1) {
    const one = as(rng.pick(world.site.users));
    const task = someTask(one);
    const base = task && (await knownTask(one, task, 1));
    if (!base) continue;
    const fields = rng.pick([
      { folder_id: id },
      { folder_id: someTaskFolder(one) },
      { assignees: somePeople(one) },
      { description: null },
    ]);
    writes.push(() => writeTask(one, base, fields));
  }
  const works: Promise<unknown>[] = [change(as(owner), { members: members(as(owner)) }, id)];
  if (rng.chance(0.3)) works.push(change(as(owner), { members: members(as(owner)) }));
  if (rng.chance(0.2)) works.push(change(as(owner), { parent_id: some(as(owner)) ?? null }, id));
  if (rng.chance(0.15)) works.push(remove(as(owner)));
  works.push(...writes.map((write) => write()));
  await Promise.all(works);
}

export const TASK_FOLDER_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  taskFolderCreate: create,
  taskFolderRename: (actor) => change(actor, { name: actor.world.unique() }),
  taskFolderMove: (actor) =>
    change(actor, { parent_id: actor.rng.chance(0.2) ? null : (some(actor) ?? null) }),
  taskFolderShare: (actor) => change(actor, { members: members(actor) }),
  taskFolderDelete: remove,
  taskFolderLeave: leave,
  taskAtOnce,
};
