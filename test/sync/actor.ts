import type { Device } from './library/device.ts';
import { Violation } from './model.ts';
import type { Reader } from './protocol/reader.ts';
import type { Rng } from './rng.ts';
import { type Received, type KnownNote, type User, type World } from './world.ts';

/** The user, their clients and random numbers of an action. */
export interface Actor {
  world: World;
  rng: Rng;
  user: User;
  device: Device;
  reader: Reader;
}

const HOT = 4;
export const REJECTIONS = ['404 not_found', '403 forbidden', '409 deleted', '409 conflict'];

/** Most actions concern a few notes. */
export function someNote({ world, rng, device }: Actor): KnownNote | undefined {
  if (world.notes.length === 0) return undefined;
  // Mostly one that they can see, and among these mostly one of the last.
  const seen = world.notes.filter((note) => device.items('notes').has(note.id));
  if (seen.length > 0 && rng.chance(0.7))
    return rng.chance(0.6) ? rng.pick(seen.slice(-HOT)) : rng.pick(seen);
  return rng.chance(0.5) ? world.notes.slice(-HOT)[rng.int(0, HOT - 1)] : rng.pick(world.notes);
}

export function ownNote(actor: Actor): KnownNote | undefined {
  const own = actor.world.notes.filter((note) => note.owner === actor.user);
  return own.length > 0 && actor.rng.chance(0.9) ? actor.rng.pick(own.slice(-8)) : someNote(actor);
}

export function send(actor: Actor, method: string, path: string, body: unknown, ...allowed: string[]) {
  return actor.world.call(actor.rng, actor.user, method, path, body, allowed);
}

/** The note as the actor knows it: just read, or as their device has had it for some time. */
export async function known(actor: Actor, note: KnownNote, fresh: number): Promise<any> {
  if (!actor.rng.chance(fresh)) return actor.device.known('notes').find(({ id }) => id === note.id);
  const { status, body } = await send(actor, 'GET', `/notes/${note.id}`, undefined, '200', '404 not_found');
  return status === 200 ? body.note : undefined;
}

export function someFolder({ world, rng, user }: Actor): string | null {
  const folders = world.folders.get(user.id) ?? [];
  return folders.length === 0 || rng.chance(0.2) ? null : rng.pick(folders);
}

export function written(
  actor: Actor,
  { body }: Received,
  sent: { title?: string; content?: string },
  revision: number,
) {
  const { note } = body;
  const { title = note.title, content = note.content } = sent;
  if (note.title !== title || note.content !== content || note.revision !== revision)
    throw new Violation(`acknowledged something else than was sent: ${JSON.stringify(note)}`, note.id);
  actor.world.ledger.acknowledged(note, actor.user.name);
}
