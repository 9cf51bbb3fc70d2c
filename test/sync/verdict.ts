import { compare, inParallel, pages } from './compare.ts';
import { queuedOn } from './library/save-actions.ts';
import type { Device } from './library/device.ts';
import type { Reader } from './protocol/reader.ts';
import { checkScoped } from './scoped-verdict.ts';
import { checkInvariants } from './invariants.ts';
import { canonical, type Life, Violation } from './model.ts';
import type { Rng } from './rng.ts';
import { checkTasks } from './task-verdict.ts';
import type { User, World } from './world.ts';

/** Compares devices, responses of the API and tables when no request is in flight. */
export async function checkDevices(
  world: World,
  devices: Device[],
  readers: Reader[],
  rng: Rng,
): Promise<void> {
  await checkInvariants(world);
  const isQueued = await queuedOn(devices);
  for (const device of devices) world.saves.check(device.name, await device.pending());
  for (const user of world.site.users) {
    const notes = await notesOf(world, rng, user);
    const folders = await foldersOf(world, rng, user, notes);
    const reader = readers.find((one) => one.user === user)!;
    compare(`${reader.name}: notes`, reader.notes.items, notes, withoutTitles, 'content');
    compare(`${reader.name}: folders`, reader.folders.items, folders, withoutCount);
    const online = devices.filter((one) => one.user === user && one.offline === 0);
    for (const device of online) {
      compare(`${device.name}: notes`, await device.read('notes'), notes, withoutTitles);
      compare(`${device.name}: folders`, await device.read('note_folders'), folders, withoutCount);
      world.count('devices compared');
      world.count('records compared', notes.size + folders.size);
    }
    world.saves.checkPrivate(user.name, 'notes', isQueued, notes);
    const tasks = await checkTasks(world, online, reader, rng, user);
    world.saves.checkPrivate(user.name, 'tasks', isQueued, tasks);
    await checkScoped(world, online, reader, rng, user, isQueued);
  }
  await checkLedger(world, rng);
  world.contactLedger.check(
    await world.sql(
      `SELECT id, revision, card->>'full_name' AS full_name, card->>'job_title' AS job_title FROM contacts
        WHERE tenant_id = $1 AND gone_at IS NULL`,
      [world.site.users[0]?.tenantId],
    ),
  );
  world.taskLedger.check(
    await world.sql(
      `SELECT id, rfc3339(created_at) AS created_at, revision, title FROM tasks WHERE tenant_id = $1`,
      [world.site.users[0]?.tenantId],
    ),
  );
}

async function notesOf(world: World, rng: Rng, user: User): Promise<Map<string, any>> {
  const listed = await pages(world, rng, user, '/notes?state=all&', 'notes');
  const notes = new Map<string, any>();
  await inParallel(listed, async (item) => {
    if (notes.has(item.id)) throw new Violation(`${user.name}: the list has ${item.id} twice`, item.id);
    const { body } = await world.call(rng, user, 'GET', `/notes/${item.id}`, undefined, ['200']);
    if (canonical(body.note) !== canonical(item))
      throw new Violation(
        `${user.name}: list and note differ: ${canonical(item)} ${canonical(body.note)}`,
        item.id,
      );
    if (body.role !== item.role) throw new Violation(`${user.name}: role ${body.role}`, item.id);
    notes.set(item.id, item);
  });
  return notes;
}

async function foldersOf(
  world: World,
  rng: Rng,
  user: User,
  notes: Map<string, any>,
): Promise<Map<string, any>> {
  const folders = new Map<string, any>();
  for (const folder of await pages(world, rng, user, '/note_folders?', 'folders'))
    folders.set(folder.id, folder);
  const filed = Map.groupBy(
    [...notes.values()].filter((note) => !note.deleted),
    (note) => note.folder_id as string | null,
  );
  for (const { id, parent_id: parent, note_count: count } of folders.values()) {
    if (parent !== null && !folders.has(parent))
      throw new Violation(`the parent of folder ${id} is missing`, id);
    if (count !== (filed.get(id)?.length ?? 0)) throw new Violation(`folder ${id} counts ${count}`, id);
  }
  for (const note of notes.values())
    if (note.folder_id !== null && !folders.has(note.folder_id))
      throw new Violation(
        `${user.name}: ${note.id} is in a folder that the device does not have`,
        note.id,
        note.folder_id,
      );
  return folders;
}

/** Without the titles of linked tasks: they depend on the access to the tasks, which changes without a record of the note. */
const withoutTitles = (note: any): any => ({
  ...note,
  links: note.links.map((link: any) => ({ ...link, title: null })),
});
/** Filing a note changes the count of its folder without a record of the folder. */
const withoutCount = (folder: any): any => ({ ...folder, note_count: null });

/** No acknowledged write is lost. */
async function checkLedger(world: World, rng: Rng): Promise<void> {
  const stored = new Set(
    (await world.sql<{ key: string }>(`SELECT id || ' ' || rfc3339(created_at) AS key FROM notes`)).map(
      (row) => row.key,
    ),
  );
  const lives = [...world.ledger.lives].filter(([key, life]) => {
    if (stored.has(key)) return true;
    if (!life.mayBePurged) throw new Violation(`the note ${life.id} of ${life.createdAt} is lost`, life.id);
    world.ledger.lives.delete(key);
    return false;
  });
  const users = new Map(world.site.users.map((user) => [user.id, user]));
  await inParallel(lives, async ([, life]) => checkLife(world, rng, users.get(life.owner) as User, life));
}

async function checkLife(world: World, rng: Rng, owner: User, life: Life): Promise<void> {
  for (const revision of life.unchecked) {
    const written = life.revisions.get(revision)!;
    const path = `/notes/${life.id}/revisions/${revision}`;
    const { body } = await world.call(rng, owner, 'GET', path, undefined, ['200', '404 not_found']);
    const { title, content } = body.revision ?? {};
    if (title !== written.title || content !== written.content)
      throw new Violation(
        `revision ${revision} was acknowledged as ${canonical(written)} and is ${canonical(body)}`,
        life.id,
      );
    world.count('revisions compared');
  }
  life.unchecked.clear();
}
