import { write } from './actions.ts';
import { type Actor, ownNote, send } from './actor.ts';
import { Rng } from './rng.ts';
import { invite } from './sharing-actions.ts';
import type { World } from './world.ts';

function as(actor: Actor, world: World, owner: Actor['user']): Actor {
  return { ...actor, user: owner, rng: new Rng(`${world.seed} ${actor.rng.next()}`) };
}

/**
 * Writes that lock the same rows: the list of invited members is replaced while the note is being written, filed and
 * moved to the trash. A write that waited must use the state after the wait.
 */
export async function atOnce(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const note = ownNote(actor);
  if (!note) return;
  const { status, body } = await send(
    as(actor, world, note.owner),
    'GET',
    `/notes/${note.id}`,
    undefined,
    '200',
    '404 not_found',
  );
  if (status !== 200) return;
  const base = body.note;
  if (base.deleted) {
    await send(
      as(actor, world, note.owner),
      'POST',
      `/notes/${note.id}/restore`,
      undefined,
      '200',
      '404 not_found',
      '403 forbidden',
    );
    return;
  }
  const editors = new Set<string>(
    base.invited.filter((one: any) => one.role === 'editor').map((one: any) => one.id),
  );
  const writers = world.site.users.filter((one) => one === note.owner || editors.has(one.id));
  const owner = as(actor, world, note.owner);
  const works = [invite(owner, note)];
  for (let n = rng.int(1, 3); n > 0; n -= 1) works.push(write(as(actor, world, rng.pick(writers)), base));
  if (rng.chance(0.3)) works.push(invite(as(actor, world, note.owner), note));
  await Promise.all(works);
}
