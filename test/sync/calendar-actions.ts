import { type Actor, send } from './actor.ts';

const DAY = 86_400_000;
const MAX_CALENDARS = 4;
const WRITTEN = [
  '200',
  '201',
  '404 not_found',
  '403 forbidden',
  '403 not_organizer',
  '403 not_attendee',
  '409 conflict',
  '409 event_cancelled',
  '409 duplicate_uid',
  '422 no_instances',
  '422 not_an_instance',
  '422 validation_failed',
];

const time = (instant: number) => ({
  date_time: new Date(instant).toISOString().slice(0, 19),
  time_zone: 'UTC',
});

function someTimes({ rng }: Actor) {
  const start = Date.UTC(2027, 0, 4) + rng.int(0, 30) * DAY + rng.int(0, 23) * 3_600_000;
  return { start: time(start), end: time(start + rng.int(1, 4) * 1_800_000) };
}

function someAttendees({ world, rng }: Actor): string[] {
  return world.site.users.filter(() => rng.chance(0.35)).map(({ id }) => id);
}

function newEvent(actor: Actor): object {
  const { world, rng } = actor;
  const rules = ['FREQ=DAILY;COUNT=6', 'FREQ=WEEKLY', 'FREQ=WEEKLY;COUNT=4', 'FREQ=DAILY;INTERVAL=3'];
  return {
    title: world.unique(),
    ...someTimes(actor),
    send_updates: 'none',
    visibility: rng.chance(0.2) ? 'private' : 'default',
    ...(rng.chance(0.5) && { recurrence: { rules: [rng.pick(rules)] } }),
    ...(rng.chance(0.5) && { attendees: someAttendees(actor) }),
  };
}

/** An instance of a series, by its nominal start: one of the first ones. */
function someInstance({ rng }: Actor, event: any): object {
  const start = Date.parse(event.start_utc) + rng.int(0, 4) * (rng.chance(0.5) ? 1 : 7) * DAY;
  return { recurrence_id: time(start), scope: rng.pick(['this', 'this', 'this_and_following']) };
}

const scopeOf = (actor: Actor, event: any): object =>
  event.type === 'series' && actor.rng.chance(0.6) ? someInstance(actor, event) : {};

function someCalendar({ rng, device }: Actor): string | undefined {
  const all = device.known('calendars').map(({ id }) => id as string);
  return all.length === 0 ? undefined : rng.pick(all);
}

/** The events of a calendar that the device has, without those that only devices of one user write. */
const eventsOf = ({ device, world }: Actor, calendarId: string): any[] =>
  device.known('events', calendarId).filter(({ id }) => !world.saves.privates.has(id));

/** Some event that the device has. */
function someEvent(actor: Actor): { calendarId: string; event: any } | undefined {
  const { rng, device } = actor;
  const all = device.known('calendars').flatMap(({ id }) =>
    eventsOf(actor, id)
      .slice(-6)
      .map((event) => ({ calendarId: id as string, event })),
  );
  return all.length === 0 ? undefined : rng.pick(all);
}

async function create(actor: Actor): Promise<void> {
  const id = someCalendar(actor);
  if (id !== undefined) await send(actor, 'POST', `/calendar/${id}/events`, newEvent(actor), ...WRITTEN);
}

async function edit(actor: Actor): Promise<void> {
  const { rng, world } = actor;
  const found = someEvent(actor);
  if (!found) return;
  const { calendarId, event } = found;
  const fields = {
    send_updates: 'none',
    ...(rng.chance(0.6) && { title: world.unique() }),
    ...(rng.chance(0.4) && someTimes(actor)),
    ...(rng.chance(0.2) && { attendees: someAttendees(actor) }),
    ...(rng.chance(0.2) && { visibility: rng.pick(['private', 'default']) }),
    ...(rng.chance(0.3) && { base_revision: event.revision }),
  };
  const scope = scopeOf(actor, event);
  await send(actor, 'PUT', `/calendar/${calendarId}/events/${event.id}`, { ...fields, ...scope }, ...WRITTEN);
}

async function move(actor: Actor): Promise<void> {
  const found = someEvent(actor);
  const target = someCalendar(actor);
  if (!found || target === undefined) return;
  const body = { calendar_id: target, send_updates: 'none' };
  await send(actor, 'PUT', `/calendar/${found.calendarId}/events/${found.event.id}`, body, ...WRITTEN);
}

async function remove(actor: Actor): Promise<void> {
  const found = someEvent(actor);
  if (!found) return;
  const body = { send_updates: 'none', ...scopeOf(actor, found.event) };
  await send(actor, 'DELETE', `/calendar/${found.calendarId}/events/${found.event.id}`, body, ...WRITTEN);
}

async function respond(actor: Actor): Promise<void> {
  const found = someEvent(actor);
  if (!found) return;
  const body = {
    response: actor.rng.pick(['accepted', 'declined', 'tentative']),
    ...scopeOf(actor, found.event),
  };
  await send(actor, 'PUT', `/calendar/${found.calendarId}/events/${found.event.id}/rsvp`, body, ...WRITTEN);
}

/** Changes of a device in one synchronisation: new events, changes and deletions. */
async function push(actor: Actor): Promise<void> {
  const { rng, world } = actor;
  const id = someCalendar(actor);
  if (id === undefined) return;
  const items = eventsOf(actor, id);
  const changes = Array.from({ length: rng.int(1, 5) }, () => {
    if (items.length === 0 || rng.chance(0.4))
      return { op: 'upsert', client_id: world.unique(), event: newEvent(actor) };
    const event = rng.pick(items);
    const base_revision = rng.chance(0.5) ? event.revision : undefined;
    if (rng.chance(0.3)) return { op: 'delete', event_id: event.id, base_revision };
    return { op: 'upsert', event_id: event.id, base_revision, event: { title: world.unique() } };
  });
  await send(
    actor,
    'POST',
    `/calendar/${id}/sync`,
    { changes, conflict: rng.pick(['server', 'client', 'report']) },
    ...WRITTEN,
  );
}

async function createCalendar(actor: Actor): Promise<void> {
  if (actor.device.items('calendars').size < MAX_CALENDARS)
    await send(actor, 'POST', '/calendar', { name: actor.world.unique() }, ...WRITTEN);
}

/** Shares a calendar with others, with other roles, or with fewer users than before. */
async function shareCalendar(actor: Actor): Promise<void> {
  const { world, rng, user } = actor;
  const id = someCalendar(actor);
  if (id === undefined) return;
  const shares = world.site.users
    .filter((one) => one !== user && rng.chance(0.55))
    .map((one) => ({ user_id: one.id, role: rng.pick(['free_busy', 'reader', 'writer', 'owner']) }));
  await send(actor, 'PUT', `/calendar/${id}`, { shares }, ...WRITTEN);
}

async function deleteCalendar(actor: Actor): Promise<void> {
  const [id, other] = [someCalendar(actor), someCalendar(actor)];
  if (id === undefined) return;
  const body = actor.rng.chance(0.5) && other !== id ? { move_events_to: other } : {};
  await send(actor, 'DELETE', `/calendar/${id}`, body, ...WRITTEN, '409 default_calendar');
}

async function canary(actor: Actor): Promise<void> {
  const { world, rng } = actor;
  const found = someEvent(actor);
  if (found)
    await world.call(
      rng,
      world.site.canary,
      'GET',
      `/calendar/${found.calendarId}/events/${found.event.id}`,
      undefined,
      ['404 not_found'],
    );
}

export const CALENDAR_ACTIONS: Record<string, (actor: Actor) => Promise<void>> = {
  eventCreate: create,
  eventEdit: edit,
  eventMove: move,
  eventDelete: remove,
  eventRespond: respond,
  eventPush: push,
  calendarCreate: createCalendar,
  calendarShare: shareCalendar,
  calendarDelete: deleteCalendar,
  calendarCanary: canary,
};
