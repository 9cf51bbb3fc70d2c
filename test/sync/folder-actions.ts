import { type Actor, send } from './actor.ts';

const MANY_FOLDERS = 10;

function own({ world, user }: Actor): string[] {
  let folders = world.folders.get(user.id);
  if (!folders) world.folders.set(user.id, (folders = []));
  return folders;
}

function some(actor: Actor): string | undefined {
  const folders = own(actor);
  return folders.length === 0 ? undefined : actor.rng.pick(folders);
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
  };
  const response = await send(
    actor,
    'POST',
    '/note_folders',
    body,
    '201',
    '409 already_exists',
    '422 validation_failed',
    '422 folder_too_deep',
  );
  if (response.status === 201) folders.push(response.body.folder.id);
}

async function change(actor: Actor, body: object): Promise<void> {
  const id = some(actor);
  if (id === undefined) return;
  await send(
    actor,
    'PATCH',
    `/note_folders/${id}`,
    body,
    '200',
    '404 not_found',
    '422 folder_cycle',
    '422 no_changes',
    '422 validation_failed',
    '422 folder_too_deep',
  );
}

async function remove(actor: Actor): Promise<void> {
  const { rng } = actor;
  const id = some(actor);
  if (id === undefined) return;
  const contents = rng.pick(['', '?contents=move_up', '?contents=trash']);
  const response = await send(
    actor,
    'DELETE',
    `/note_folders/${id}${contents}`,
    undefined,
    '200',
    '404 not_found',
  );
  const folders = own(actor);
  // Folders deleted with it stay in the list, so that some requests name deleted folders, as a client with old data does.
  if (response.status !== 0 && rng.chance(0.9))
    folders.splice(folders.indexOf(id), folders.includes(id) ? 1 : 0);
}

/** The folder of another user is unknown to the caller. */
async function foreign(actor: Actor): Promise<void> {
  const { world, rng, user } = actor;
  const others = world.site.users
    .filter((one) => one !== user)
    .flatMap((one) => world.folders.get(one.id) ?? []);
  if (others.length === 0) return;
  const path = `/note_folders/${rng.pick(others)}`;
  await (rng.chance(0.5)
    ? send(actor, 'DELETE', path, undefined, '404 not_found')
    : send(actor, 'PATCH', path, { name: 'x' }, '404 not_found'));
}

export const FOLDER_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  folderCreate: create,
  folderRename: (actor) => change(actor, { name: actor.world.unique() }),
  folderMove: (actor) => change(actor, { parent_id: actor.rng.chance(0.2) ? null : (some(actor) ?? null) }),
  folderDelete: remove,
  folderForeign: foreign,
};
