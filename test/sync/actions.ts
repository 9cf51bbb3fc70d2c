import { type Actor, known, ownNote, REJECTIONS, send, someFolder, someNote, written } from './actor.ts';
import { Violation } from './model.ts';
import { invite, leave, share } from './sharing-actions.ts';

const MANY_NOTES = 30;

async function makeNote(actor: Actor, id: string | undefined): Promise<void> {
  const { world, rng, user } = actor;
  const text = world.unique();
  const body = {
    ...(id === undefined ? {} : { id }),
    title: `t ${text}`,
    content: `<p>${text}</p>`,
    ...(rng.chance(0.5) ? { folder_id: someFolder(actor) } : {}),
    ...(rng.chance(0.2) ? { labels: [`l${rng.int(1, 3)}`] } : {}),
  };
  // Without a client id, access is uncertain until the response names the note.
  const grantEnded = id === undefined ? undefined : world.access.grant(id, [user.id]);
  const response = await send(
    actor,
    'POST',
    '/notes',
    body,
    '201',
    '422 validation_failed',
    '409 already_exists',
  );
  grantEnded?.(response.status === 0);
  if (response.status === 0 && id === undefined) world.nameless = true;
  if (response.status !== 201) return;
  const made = response.body.note.id as string;
  if (!grantEnded) world.access.grant(made, [user.id])(false);
  written(actor, response, body, 1);
  const at = world.purged.indexOf(made);
  if (at >= 0) world.purged.splice(at, 1);
  world.notes.push({ id: made, owner: user, token: null });
}

async function edit(actor: Actor, fresh: number): Promise<void> {
  const note = someNote(actor);
  const base = note && (await known(actor, note, fresh));
  if (base) await write(actor, base);
}

/** @param base the note as the actor knows it */
export async function write(actor: Actor, base: any): Promise<void> {
  const { world, rng } = actor;
  const text = world.unique();
  const sent = {
    ...(rng.chance(0.7) ? { content: `<p>${text}</p>` } : {}),
    title: `t ${text}`,
    ...(rng.chance(0.2) ? { folder_id: someFolder(actor) } : {}),
    ...(rng.chance(0.2) ? { labels: [`l${rng.int(1, 3)}`] } : {}),
    base_revision: base.revision as number,
  };
  const { base_revision: _base, ...fields } = sent;
  const response = await send(
    actor,
    rng.pick(['PATCH', 'PUT']),
    `/notes/${base.id}`,
    sent,
    '200',
    ...REJECTIONS,
    ...('folder_id' in sent ? ['422 validation_failed'] : []),
  );
  if (response.status === 200) written(actor, response, fields, base.revision + 1);
  if (response.body?.error === 'conflict' && response.body.revision === base.revision)
    throw new Violation(`conflict with the revision that was sent`, base.id);
}

async function editByLink(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const linked = world.notes.filter((note) => note.token !== null);
  if (linked.length === 0) return;
  const note = rng.pick(linked);
  const path = `/notes/${note.id}?share_token=${note.token}`;
  const read = await send(actor, 'GET', path, undefined, '200', '404 not_found');
  if (read.status !== 200) return;
  const text = world.unique();
  const sent = { title: `t ${text}`, content: `<p>${text}</p>` };
  const body = { ...sent, base_revision: read.body.note.revision };
  const response = await send(actor, 'PATCH', path, body, '200', ...REJECTIONS);
  if (response.status === 200) written(actor, response, sent, body.base_revision + 1);
}

async function changeNothing(actor: Actor): Promise<void> {
  const note = someNote(actor);
  const base = note && (await known(actor, note, 1));
  if (!base) return;
  const body = { title: base.title, content: base.content, base_revision: base.revision };
  const response = await send(
    actor,
    'PATCH',
    `/notes/${base.id}`,
    body,
    '200',
    '422 no_changes',
    ...REJECTIONS,
  );
  if (response.status !== 200) return;
  // Otherwise another note with the same id was created meanwhile, with the same revision.
  if (response.body.note.created_at === base.created_at)
    throw new Violation('a write without changes was accepted', base.id);
  written(actor, response, { title: body.title, content: body.content }, base.revision + 1);
}

/** Files a note. For the owner this is an update of the note; for other members it changes only their own placement. */
async function place(actor: Actor): Promise<void> {
  const note = someNote(actor);
  const base = note && (await known(actor, note, 0.7));
  if (!base) return;
  const body = { folder_id: someFolder(actor), base_revision: base.revision };
  const response = await send(
    actor,
    'PATCH',
    `/notes/${base.id}`,
    body,
    '200',
    '422 no_changes',
    '422 validation_failed',
    ...REJECTIONS,
  );
  if (response.status !== 200) return;
  const owner = response.body.note.role === 'owner';
  if (owner) written(actor, response, {}, base.revision + 1);
  else if (response.body.note.revision !== base.revision)
    throw new Violation(`a placement of an invitee used a revision`, base.id);
}

async function trash(actor: Actor): Promise<void> {
  const note = ownNote(actor);
  const base = note && (await known(actor, note, 0.8));
  if (!base) return;
  await send(actor, 'DELETE', `/notes/${base.id}`, { base_revision: base.revision }, '200', ...REJECTIONS);
}

async function restore(actor: Actor): Promise<void> {
  const note = ownNote(actor);
  if (note) await send(actor, 'POST', `/notes/${note.id}/restore`, undefined, '200', ...REJECTIONS);
}

async function purge(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const own = world.notes.filter((note) => note.owner === actor.user);
  const trashed = own.filter((note) => actor.device.items('notes').get(note.id)?.deleted);
  const note = trashed.length > 0 && rng.chance(0.8) ? rng.pick(trashed) : ownNote(actor);
  if (!note) return;
  const response = await send(
    actor,
    'DELETE',
    `/notes/${note.id}/purge`,
    undefined,
    '200',
    '409 not_in_trash',
    ...REJECTIONS,
  );
  if (response.status === 0) world.ledger.anyLifeMayBePurged(note.id);
  if (response.status !== 200) return;
  world.ledger.mayBePurged(response.body.note);
  const everyUser = world.site.users.map((one) => one.id);
  world.access.revoked(note.id, everyUser, response.began);
  const at = world.notes.indexOf(note);
  if (at >= 0) world.notes.splice(at, 1);
  world.purged.push(note.id);
}

/** A user without access requests a note. */
async function peek(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const note = someNote(actor);
  if (!note) return;
  const path = rng.pick([`/notes/${note.id}`, `/notes/${note.id}/revisions/1`]);
  const response = await send(actor, 'GET', path, undefined, '200', '404 not_found');
  if (response.status === 200 && world.access.certainlyHadNoAccess(note.id, actor.user.id, response.began))
    throw new Violation(`${actor.user.name} can read ${note.id} without access`, note.id);
}

/** A user of another workspace reads and writes no note of this one, also with its ids and tokens. */
async function canary(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const { canary: user } = world.site;
  const note = someNote(actor);
  if (!note) return;
  const link = note.token === null ? '' : `?share_token=${note.token}`;
  await world.call(rng, user, 'GET', `/notes/${note.id}${link}`, undefined, ['404 not_found']);
  const body = { title: 'x', base_revision: 1 };
  await world.call(rng, user, 'PATCH', `/notes/${note.id}${link}`, body, ['404 not_found']);
  for (const path of ['/notes/changes', '/note_folders/changes', '/notes/index', '/notes?state=all']) {
    const response = await world.call(rng, user, 'GET', path, undefined, ['200']);
    const list = response.body?.notes ?? response.body?.folders ?? [];
    if (list.length > 0)
      throw new Violation(`the other workspace sees ${JSON.stringify(list[0])}`, list[0].id);
  }
}

export const NOTE_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  create: (actor) =>
    actor.world.notes.length < MANY_NOTES || actor.rng.chance(0.2)
      ? makeNote(actor, actor.rng.chance(0.4) ? actor.rng.uuid() : undefined)
      : actor.rng.chance(0.5)
        ? purge(actor)
        : trash(actor),
  recreate: async (actor) => {
    const { purged } = actor.world;
    if (purged.length > 0) await makeNote(actor, actor.rng.pick(purged.slice(-6)));
  },
  edit: (actor) => edit(actor, 1),
  editStale: (actor) => edit(actor, 0),
  editByLink,
  changeNothing,
  place,
  invite: (actor) => invite(actor),
  leave,
  share,
  trash,
  restore,
  purge,
  peek,
  canary,
};
