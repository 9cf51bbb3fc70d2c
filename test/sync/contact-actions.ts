import { type Actor, send } from './actor.ts';
import { isWritable } from './protocol/contact-exchange.ts';
import type { Received } from './world.ts';

const BOOKS = '/contact/addressbooks';
const MAX_BOOKS = 4;
const WRITTEN = ['200', '201', '404 not_found', '403 forbidden', '409 conflict'];
const TAKEN = ['409 duplicate_external_id', '409 duplicate_uid'];

const pathOf = ({ addressbook_id, external_id }: any): string =>
  `${BOOKS}/${addressbook_id}/contacts/${encodeURIComponent(external_id)}`;

/** Contacts of all devices share a few names, so that devices create the same ones. */
const someName = ({ rng }: Actor): string => `p${rng.int(0, 60)}`;

function someFields({ world, rng }: Actor): object {
  const text = world.unique();
  return rng.pick<object>([
    { full_name: text },
    { job_title: text },
    { notes: text, emails: [`${text}@example.com`] },
    { emails: [`${text}@example.com`], phones: [{ value: `+420601${rng.int(100_000, 999_999)}` }] },
  ]);
}

/** An address book that the device may write. */
function someBook({ rng, device }: Actor): string | undefined {
  const writable = [...device.items('addressbooks').values()].filter(isWritable);
  return writable.length === 0 ? undefined : rng.pick(writable).id;
}

/** Contacts without those that only devices of one user write. */
const shared = ({ world }: Actor, contacts: Iterable<any>): any[] =>
  [...contacts].filter(({ external_id: id }) => !world.saves.privates.has(id));

function someContact(actor: Actor): any {
  const { rng, device } = actor;
  const known = [...device.items('addressbooks').keys()].flatMap((id) =>
    shared(actor, device.known('contacts', id)).slice(-6),
  );
  return known.length === 0 ? undefined : rng.pick(known);
}

/** Records the acknowledged content. */
function acknowledged(actor: Actor, { status, body }: Received): void {
  if (status === 200 || status === 201) actor.world.contactLedger.acknowledged(body.contact, actor.user.name);
}

async function create(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const id = someBook(actor);
  if (id === undefined) return;
  const body = { full_name: world.unique(), ...(rng.chance(0.5) && { external_id: someName(actor) }) };
  acknowledged(actor, await send(actor, 'POST', `${BOOKS}/${id}/contacts`, body, ...WRITTEN, ...TAKEN));
}

async function edit(actor: Actor): Promise<void> {
  const { rng } = actor;
  const contact = someContact(actor);
  if (!contact) return;
  const revision = rng.chance(0.4) && { base_revision: contact.revision };
  const body = { ...someFields(actor), ...revision };
  acknowledged(actor, await send(actor, 'PUT', pathOf(contact), body, ...WRITTEN));
}

async function remove(actor: Actor): Promise<void> {
  const contact = someContact(actor);
  if (!contact) return;
  actor.world.contactLedger.mayBeDeleted(contact.addressbook_id, contact.external_id);
  await send(actor, 'DELETE', pathOf(contact), undefined, ...WRITTEN);
}

async function move(actor: Actor): Promise<void> {
  const { rng } = actor;
  const contact = someContact(actor);
  const target = someBook(actor);
  if (!contact || target === undefined) return;
  const policy = rng.pick(['reject', 'rename', 'rename', 'merge', 'replace']);
  // `merge` and `replace` delete a contact of the target.
  for (const book of [contact.addressbook_id, target])
    actor.world.contactLedger.mayBeDeleted(book, contact.external_id);
  const body = { target_addressbook_id: target, on_conflict: policy };
  const same = '422 validation_failed';
  await send(actor, 'POST', `${pathOf(contact)}/move`, body, ...WRITTEN, ...TAKEN, same);
}

async function moveMany(actor: Actor): Promise<void> {
  const { rng, device } = actor;
  const [source, target] = [someBook(actor), someBook(actor)];
  if (source === undefined || target === undefined || source === target) return;
  const ids = shared(actor, device.items('contacts', source).values())
    .map(({ external_id: id }) => id as string)
    .filter(() => rng.chance(0.3));
  if (ids.length === 0) return;
  for (const id of ids) actor.world.contactLedger.mayBeDeleted(source, id);
  const body = { target_addressbook_id: target, contact_ids: ids, on_conflict: rng.pick(['skip', 'rename']) };
  await send(actor, 'POST', `${BOOKS}/${source}/move_contacts`, body, ...WRITTEN);
}

/** Changes of a client in one synchronisation. */
async function push(actor: Actor): Promise<void> {
  const { world, rng, reader } = actor;
  const ids = [...reader.contacts.books.keys()];
  if (ids.length === 0) return;
  const id = rng.pick(ids);
  const known = shared(actor, reader.contacts.books.get(id)!.contacts.values());
  const changes = Array.from({ length: rng.int(0, 4) }, () => {
    if (known.length === 0 || rng.chance(0.3))
      return { op: 'upsert', external_id: someName(actor), contact: { full_name: world.unique() } };
    const { external_id, revision } = rng.pick(known);
    const base = { external_id, base_revision: revision };
    if (!rng.chance(0.2)) return { op: 'upsert', ...base, contact: someFields(actor) };
    world.contactLedger.mayBeDeleted(id, external_id);
    return { op: 'delete', ...base };
  });
  await reader.contacts.exchange(id, changes, rng.pick(['server', 'client', 'merge']));
}

async function createBook(actor: Actor): Promise<void> {
  const { world, device } = actor;
  if (device.items('addressbooks').size < MAX_BOOKS)
    await send(actor, 'POST', BOOKS, { name: world.unique() }, ...WRITTEN);
}

/** Shares a book with other users, with other roles, or with fewer users than before. */
async function shareBook(actor: Actor): Promise<void> {
  const { world, rng, user, device } = actor;
  const own = [...device.items('addressbooks').values()].filter(
    (book) => isWritable(book) && book.role === 'owner',
  );
  if (own.length === 0) return;
  const shares = world.site.users
    .filter((one) => one !== user && rng.chance(0.6))
    .map((one) => ({ user_id: one.id, role: rng.pick(['reader', 'writer', 'writer']) }));
  await send(actor, 'PUT', `${BOOKS}/${rng.pick(own).id}`, { shares }, ...WRITTEN);
}

async function deleteBook(actor: Actor): Promise<void> {
  const id = someBook(actor);
  if (id === undefined) return;
  actor.world.contactLedger.mayLoseBook(id);
  await send(actor, 'DELETE', `${BOOKS}/${id}`, undefined, ...WRITTEN, '409 default_addressbook');
}

/** Another workspace reads and writes no contact of this one. */
async function canary(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const contact = someContact(actor);
  if (!contact) return;
  const unknown = ['404 not_found'];
  const { canary: other } = world.site;
  await world.call(rng, other, 'GET', pathOf(contact), undefined, unknown);
  await world.call(rng, other, 'PUT', pathOf(contact), { notes: 'foreign' }, unknown);
}

export const CONTACT_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  contactCreate: create,
  contactEdit: edit,
  contactDelete: remove,
  contactMove: move,
  contactMoveMany: moveMany,
  contactPush: push,
  contactCanary: canary,
  bookCreate: createBook,
  bookShare: shareBook,
  bookDelete: deleteBook,
};
