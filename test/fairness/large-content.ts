import type { FuzzWorkspace } from '../contract/fuzz/workspace.ts';
import type { TestApp } from '../support/app.ts';
import type { ApiResponse } from '../support/network/client.ts';

const NOTES = 10;
const NOTE_CHARACTERS = 1_900_000;
const SERIES = 100;
const CONTACTS = 2_000;
const RESPONSES = 6_000;
const MESSAGES = 400;
const TASKS = 500;

const made = ({ status, body, text }: ApiResponse): any => {
  if (status >= 300) throw new Error(`large content: ${status} ${text.slice(0, 300)}`);
  return body;
};

/**
 * Adds the largest things that members store: long notes, dense series, many contacts, responses, messages and tasks.
 * @param share of their numbers, from 0 to 1
 */
export async function addLargeContent(
  app: TestApp,
  { owner, ids }: FuzzWorkspace,
  share: number,
): Promise<void> {
  const api = app.as(owner);
  const content = `<p>${'The quarterly report of the third region. '.repeat(NOTE_CHARACTERS / 42)}</p>`;
  for (let n = 0; n < NOTES * share; n += 1) made(await api.post('/notes', { title: `Long ${n}`, content }));
  for (let n = 0; n < (TASKS / 100) * share; n += 1) {
    const requests = Array.from({ length: 100 }, (_, k) => ({
      method: 'POST',
      path: '/apis/v1/tasks',
      body: { title: `Task ${n} ${k}`, description: 'A line of text. '.repeat(200) },
    }));
    made(await api.post('/batch', { requests }));
  }
  await addSeries(app, owner, ids['calendar']![0]!);
  const cards = Array.from(
    { length: CONTACTS * share },
    (_, n) =>
      `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:large-${n}\r\nFN:Person ${n}\r\nN:${n};Person;;;\r\nEMAIL:p${n}@example.com\r\n` +
      `TEL:+47 55 50 ${String(n).padStart(4, '0')}\r\nNOTE:${'A line of text. '.repeat(30)}\r\nEND:VCARD\r\n`,
  );
  const headers = { 'content-type': 'text/vcard' };
  made(await api.post('/contact/phone-sync/import', undefined, { raw: cards.join(''), headers }));
  for (let n = 0; n < (MESSAGES / 100) * share; n += 1) {
    const requests = Array.from({ length: 100 }, (_, k) => ({
      method: 'POST',
      path: `/apis/v1/chat/rooms/${ids['rooms']![0]}/messages`,
      body: { content: `Message ${n} ${k} ${'of some length '.repeat(200)}` },
    }));
    made(await api.post('/batch', { requests }));
  }
  const [form] = await app.sql<{ tenant_id: string; id: string; version: number }>(
    'SELECT tenant_id, id, version FROM form_responses WHERE form_id = $1 LIMIT 1',
    [ids['forms']![0]],
  );
  if (form)
    await app.sql(
      `INSERT INTO form_responses (tenant_id, form_id, id, version, answers, search_text, submitted_at, updated_at)
       SELECT tenant_id, form_id, gen_random_uuid(), version, answers, search_text, now(), now()
         FROM form_responses, generate_series(1, $3) WHERE tenant_id = $1 AND id = (
           SELECT id FROM form_responses WHERE tenant_id = $1 AND form_id = $2 LIMIT 1)`,
      [form.tenant_id, ids['forms']![0], RESPONSES * share],
    );
}

async function addSeries(app: TestApp, owner: string, calendar: string): Promise<void> {
  const events = Array.from(
    { length: SERIES },
    (_, n) =>
      `BEGIN:VEVENT\r\nUID:dense-${n}@example.com\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260101T${String(n % 24).padStart(2, '0')}0000Z\r\n` +
      `DURATION:PT30M\r\nRRULE:FREQ=HOURLY\r\nSUMMARY:Dense ${n}\r\nDESCRIPTION:${'A line of text. '.repeat(100)}\r\nEND:VEVENT\r\n`,
  );
  const raw = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n${events.join('')}END:VCALENDAR\r\n`;
  const headers = { 'content-type': 'text/calendar' };
  made(await app.as(owner).post(`/calendar/${calendar}/events/batch`, undefined, { raw, headers }));
}
