import { Violation } from './model.ts';
import { type Actor, known, ownNote, REJECTIONS, send } from './actor.ts';

export async function invite(actor: Actor, note = ownNote(actor)): Promise<void> {
  const { world, rng, user } = actor;
  if (!note) return;
  const others = world.site.users.filter((one) => one !== note.owner);
  const chosen = others.filter(() => rng.chance(0.55));
  if (rng.chance(0.5)) chosen.reverse();
  const invited = chosen.map((one) =>
    rng.chance(0.2) ? one.email : { user_id: one.id, role: rng.pick(['viewer', 'editor']) },
  );
  const grantEnded = world.access.grant(
    note.id,
    chosen.map((one) => one.id),
  );
  const response = await send(actor, 'PUT', `/notes/${note.id}/invited`, { invited }, '200', ...REJECTIONS);
  grantEnded(response.status === 0);
  if (response.status !== 200 || note.owner !== user) return;
  const out = others.filter((one) => !chosen.includes(one)).map((one) => one.id);
  world.access.revoked(note.id, out, response.began);
}

export async function leave(actor: Actor): Promise<void> {
  const { world, user } = actor;
  const shared = world.notes.filter((note) => note.owner !== user);
  if (shared.length === 0) return;
  const note = actor.rng.pick(shared);
  const base = await known(actor, note, 0.8);
  if (!base || base.role === 'owner') return;
  const rest = base.invited.filter((one: any) => one.id !== user.id).map((one: any) => one.id);
  const response = await send(
    actor,
    'PUT',
    `/notes/${note.id}/invited`,
    { invited: rest },
    '200',
    ...REJECTIONS,
  );
  if (response.status === 200) world.access.revoked(note.id, [user.id], response.began);
}

export async function share(actor: Actor): Promise<void> {
  const { rng } = actor;
  const note = ownNote(actor);
  if (!note) return;
  const path = `/notes/${note.id}/share`;
  const what = rng.weighted({ set: 6, regenerate: 2, revoke: 2 });
  const expires: { expires_at?: Date } = rng.chance(0.3)
    ? { expires_at: new Date(Date.now() + rng.int(2_000, 8_000)) }
    : {};
  const response =
    what === 'set'
      ? await send(
          actor,
          'POST',
          path,
          { role: rng.pick(['viewer', 'editor']), ...expires },
          '200',
          // The request was repeated until its expiry had passed.
          ...(expires.expires_at ? ['422 validation_failed'] : []),
          ...REJECTIONS,
        )
      : what === 'regenerate'
        ? await send(actor, 'POST', `${path}/regenerate`, undefined, '200', '404 not_shared', ...REJECTIONS)
        : await send(actor, 'DELETE', path, undefined, '200', ...REJECTIONS);
  if (response.status === 422 && Date.now() < Number(expires.expires_at))
    throw new Violation('a time in the future was rejected', note.id);
  if (response.status === 200) note.token = response.body.note.share?.token ?? null;
}
