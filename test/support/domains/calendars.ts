import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../app.ts';
import type { ApiResponse } from '../network/client.ts';

const BERLIN = 'Europe/Berlin';
export const at = (date_time: string, time_zone = BERLIN) => ({ date_time, time_zone });

/** The default calendar of a user; the first call creates it. */
export async function defaultCalendar({ api }: TestUser): Promise<string> {
  const { calendars } = (await api.get('/calendar')).body;
  return calendars.find(({ is_default, kind }: any) => is_default && kind === 'own').id;
}

/** Creates a calendar in the zone of Berlin. */
export async function newCalendar({ api }: TestUser, name: string, shares: object[] = []): Promise<string> {
  return (await api.post('/calendar', { name, time_zone: BERLIN, shares })).body.calendar.id;
}

/** A calendar of Ann, and the default calendars of Bob and Eve, whom she invites. */
export interface Meetings {
  app: TestApp;
  ann: TestUser;
  bob: TestUser;
  eve: TestUser;
  calendar: string;
  bobs: string;
  eves: string;
}

/** Starts an application for tests of meetings. The messages stay in the outbox, where a test reads them. */
export async function startMeetings(): Promise<Meetings> {
  const app = await TestApp.start();
  await app.get(OutboxWorker).onModuleDestroy();
  const [ann, bob, eve] = await app.tenant('acme', 'ann', 'bob', 'eve');
  const calendar = await newCalendar(ann, 'Work');
  const [bobs, eves] = [await defaultCalendar(bob), await defaultCalendar(eve)];
  return { app, ann, bob, eve, calendar, bobs, eves };
}

/** The responses of the attendees of an event by the names in their addresses. */
export const responsesOf = ({ attendees }: any): Record<string, string> =>
  Object.fromEntries(attendees.map(({ email, response }: any) => [email.split('@')[0], response]));

/** The text of an iCalendar file. */
export const icsFile = (...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');

/** The lines of an event of an iCalendar file. */
export const vevent = (...lines: string[]): string[] => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'];

/** Imports an iCalendar file. */
export const importFile = (
  { api }: TestUser,
  calendar: string,
  file: string | Buffer,
): Promise<ApiResponse> =>
  api.post(`/calendar/${calendar}/events/batch`, undefined, {
    raw: file,
    headers: { 'content-type': 'text/calendar; charset=utf-8' },
  });

/** Creates an event. */
export async function newEvent({ api }: TestUser, calendar: string, fields: object): Promise<any> {
  const { status, body } = await api.post(`/calendar/${calendar}/events`, fields);
  if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`);
  return body.event;
}

export const eventPath = (calendar: string, event: { id: string }): string =>
  `/calendar/${calendar}/events/${event.id}`;

/** The instances of a window. */
export async function instancesOf(
  { api }: TestUser,
  calendar: string,
  from: string,
  to: string,
): Promise<any[]> {
  return (await api.get(`/calendar/${calendar}/instances?from=${from}&to=${to}&limit=1000`)).body.instances;
}
