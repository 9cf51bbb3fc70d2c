import type { CollectionName } from '@workspace-backend/client/sync';
import { compare } from './compare.ts';
import type { Device } from './library/device.ts';
import { canonical, Violation } from './model.ts';
import { withoutRights } from './protocol/contact-exchange.ts';
import type { Reader } from './protocol/reader.ts';
import type { Rng } from './rng.ts';
import type { User, World } from './world.ts';

const BOOKS = '/contact/addressbooks';

/**
 * Compares the calendars and address books of the devices of a user, and their contents, with full reads.
 * @param isQueued whether a device has unsent changes of an object
 */
export async function checkScoped(
  world: World,
  devices: Device[],
  reader: Reader,
  rng: Rng,
  user: User,
  isQueued: (device: string, id: string) => boolean,
): Promise<void> {
  const allEvents = new Map<string, any>();
  const allContacts = new Map<string, any>();
  const calendars = await listed(world, rng, user, '/calendar?include=hidden&limit=200', 'calendars');
  await compareAll(devices, 'calendars', calendars, undefined, (calendar) => calendar);
  for (const id of calendars.keys()) {
    const events = await eventsOf(world, rng, user, id);
    world.count('events compared', events.size * devices.length);
    await compareAll(devices, 'events', events, id, withoutPermissions);
    for (const [eventId, event] of events) allEvents.set(eventId, event);
  }
  const books = await listed(world, rng, user, '/contact/useraddressbooks', 'addressbooks');
  await compareAll(devices, 'addressbooks', books, undefined, (book) => book);
  for (const [id, { kind }] of books) {
    // The server fills this one at any time, also after the last write of a client.
    if (kind === 'collected') continue;
    const contacts = await contactsOf(world, rng, user, id);
    world.count('contacts compared', contacts.size * devices.length);
    await compareAll(devices, 'contacts', contacts, id, withoutRights);
    reader.contacts.check(id, contacts);
    for (const [externalId, contact] of contacts) allContacts.set(externalId, contact);
  }
  world.saves.checkPrivate(user.name, 'events', isQueued, allEvents);
  world.saves.checkPrivate(user.name, 'contacts', isQueued, allContacts);
}

async function compareAll(
  devices: Device[],
  name: CollectionName,
  expected: Map<string, any>,
  scope: string | undefined,
  part: (item: any) => any,
): Promise<void> {
  for (const device of devices)
    compare(`${device.name}: ${name} ${scope ?? ''}`, await device.read(name, scope), expected, part);
}

async function listed(
  world: World,
  rng: Rng,
  user: User,
  path: string,
  key: string,
): Promise<Map<string, any>> {
  const { body } = await world.call(rng, user, 'GET', path, undefined, ['200']);
  return new Map(body[key].map((item: any) => [item.id, item]));
}

async function eventsOf(world: World, rng: Rng, user: User, id: string): Promise<Map<string, any>> {
  const events = new Map<string, any>();
  let token: string | null = null;
  for (let more = true; more;) {
    const sent: object = { sync_token: token, limit: 100 };
    const { body } = await world.call(rng, user, 'POST', `/calendar/${id}/sync`, sent, ['200']);
    for (const { op, event, overrides } of body.changes) {
      if (op === 'delete') throw new Violation(`${user.name}: a removal for a client that has nothing`, id);
      events.set(event.id, { ...event, overrides });
    }
    [token, more] = [body.sync_token, body.more];
  }
  return events;
}

async function contactsOf(world: World, rng: Rng, user: User, id: string): Promise<Map<string, any>> {
  const contacts = new Map<string, any>();
  for (let cursor = '', more = true; more;) {
    const path: string = `${BOOKS}/${id}/contacts/sync?limit=200${cursor}`;
    const { body } = await world.call(rng, user, 'GET', path, undefined, ['200']);
    for (const { op, contact } of body.changes) {
      if (op === 'delete') throw new Violation(`${user.name}: a removal for a client without contacts`, id);
      contacts.set(contact.external_id, contact);
    }
    cursor = `&cursor=${body.cursor}`;
    more = body.has_more;
  }
  return contacts;
}

/** The role of the reader in the calendar changes without a change of the events. */
function withoutPermissions({ overrides, ...event }: any): any {
  const plain = ({ permissions: _permissions, ...rest }: any) => rest;
  const sorted = overrides.map(plain).toSorted((a: any, b: any) => (canonical(a) < canonical(b) ? -1 : 1));
  return { ...plain(event), overrides: sorted };
}
