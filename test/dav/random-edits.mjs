import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const EDITS = 200;
const EDITS_OF_A_ROUND = 25;
const SEED = Number(process.env.DAV_SEED ?? 7);

/** Numbers between 0 and 1 that follow from a seed (mulberry32). */
export function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const KINDS = {
  events: {
    extension: '.ics',
    title: /^SUMMARY:.*$/m,
    name: 'SUMMARY',
    text: (uid, title, n) =>
      [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'PRODID:-//Test//EN',
        'BEGIN:VEVENT',
        `UID:${uid}`,
        'DTSTAMP:20270101T000000Z',
        `SUMMARY:${title}`,
        `DTSTART;TZID=Europe/Berlin:202703${String((n % 28) + 1).padStart(2, '0')}T090000`,
        'DURATION:PT1H',
        ...(n % 3 === 0 ? ['RRULE:FREQ=WEEKLY;COUNT=10'] : []),
        `X-ROUND-TRIP;A=1:${n}`,
        ...(n % 2 === 0
          ? ['BEGIN:VALARM', 'ACTION:DISPLAY', 'DESCRIPTION:D', 'TRIGGER:-PT10M', 'END:VALARM']
          : []),
        'END:VEVENT',
        'END:VCALENDAR',
        '',
      ].join('\r\n'),
    all: (api) => api.events(),
    create: (api, uid, title) =>
      api.call('POST', `/calendar/${api.calendar}/events`, {
        uid,
        title,
        start: '2027-03-02T09:00:00Z',
        end: '2027-03-02T10:00:00Z',
      }),
    change: (api, { id }, title) =>
      api.call('PUT', `/calendar/${api.calendar}/events/${id}`, { title, scope: 'all' }),
    remove: (api, { id }) => api.call('DELETE', `/calendar/${api.calendar}/events/${id}`, { scope: 'all' }),
  },
  // The API names a task by its id, a program by its UID: both sides have the titles in common.
  tasks: {
    extension: '.ics',
    title: /^SUMMARY:.*$/m,
    name: 'SUMMARY',
    text: (uid, title, n) =>
      [
        'BEGIN:VCALENDAR',
        'VERSION:2.0',
        'PRODID:-//Test//EN',
        'BEGIN:VTODO',
        `UID:${uid}`,
        'DTSTAMP:20270101T000000Z',
        `SUMMARY:${title}`,
        `DUE;TZID=Europe/Berlin:202703${String((n % 28) + 1).padStart(2, '0')}T090000`,
        `PRIORITY:${n % 10}`,
        ...(n % 3 === 0 ? ['DESCRIPTION:Two\\nlines'] : []),
        `X-ROUND-TRIP;A=1:${n}`,
        ...(n % 2 === 0
          ? ['BEGIN:VALARM', 'ACTION:DISPLAY', 'DESCRIPTION:D', 'TRIGGER;RELATED=END:-PT10M', 'END:VALARM']
          : []),
        'END:VTODO',
        'END:VCALENDAR',
        '',
      ].join('\r\n'),
    // By the UID in the folder: that of a program, or the id.
    all: async (api, programs) => {
      const tasks = [...(await api.tasks()).values()];
      const uids = new Map([...programs.files('tasks')].map(([uid, { text }]) => [titleIn(text), uid]));
      return new Map(tasks.map((task) => [uids.get(task.title) ?? task.id, task]));
    },
    create: (api, id, title) => api.call('POST', '/tasks', { id, title, folder_id: api.list }),
    change: (api, { id }, title) => api.call('PATCH', `/tasks/${id}`, { title }),
    remove: (api, { id }) => api.call('DELETE', `/tasks/${id}`),
  },
  contacts: {
    extension: '.vcf',
    title: /^FN:.*$/m,
    name: 'FN',
    text: (uid, title, n) =>
      `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:${title}\r\nN:;${title};;;\r\nEMAIL;TYPE=work:c${n}@example.com\r\nX-ROUND-TRIP;A=1:${n}\r\nEND:VCARD\r\n`,
    all: (api) => api.contacts(),
    create: (api, uid, title) =>
      api.call('POST', `/contact/addressbooks/${api.book}/contacts`, {
        uid,
        full_name: title,
        on_duplicate: 'create',
      }),
    change: (api, { external_id }, title) =>
      api.call('PUT', `/contact/addressbooks/${api.book}/contacts/${encodeURIComponent(external_id)}`, {
        full_name: title,
      }),
    remove: (api, { external_id }) =>
      api.call('DELETE', `/contact/addressbooks/${api.book}/contacts/${encodeURIComponent(external_id)}`),
  },
};

const titleIn = (text) => /^SUMMARY:(.*)$/m.exec(text)?.[1].trim();

/**
 * Edits items at random, in the folder and by the HTTP API, and synchronises between rounds. An item is edited on one side only in each
 * round, so that every edit must be found on the other side.
 */
export async function editBothSides(api, programs, name) {
  const kind = KINDS[name];
  const next = numbers(SEED);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const expected = new Map();
  for (const [uid, item] of await kind.all(api, programs)) expected.set(uid, item.title ?? item.full_name);
  for (let edit = 0; edit < EDITS;) {
    const touched = new Set();
    const files = programs.files(name);
    const items = await kind.all(api, programs);
    for (const end = edit + EDITS_OF_A_ROUND; edit < end; edit += 1) {
      const isLocal = next() < 0.5;
      const free = [...expected.keys()].filter((uid) => !touched.has(uid));
      const action =
        free.length === 0 ? 'create' : pick(['create', 'create', 'change', 'change', 'change', 'remove']);
      const uid = action === 'create' ? randomUUID() : pick(free);
      const title = `Title ${edit}`;
      touched.add(uid);
      if (action === 'remove') expected.delete(uid);
      else expected.set(uid, title);
      if (!isLocal) {
        if (action === 'create') await kind.create(api, uid, title);
        else await kind[action](api, items.get(uid), title);
        continue;
      }
      const file = path.join(programs.folders[name], files.get(uid)?.name ?? `${uid}${kind.extension}`);
      if (action === 'remove') rmSync(file);
      else if (action === 'create') writeFileSync(file, kind.text(uid, title, edit));
      else writeFileSync(file, files.get(uid).text.replace(kind.title, `${kind.name}:${title}\r`));
    }
    await programs.sync();
    const after = await kind.all(api, programs);
    const titles = [...after].map(([uid, item]) => `${uid} ${item.title ?? item.full_name}`).toSorted();
    assert.deepEqual(titles, [...expected].map(([uid, title]) => `${uid} ${title}`).toSorted());
    // The server sends its own form of what the folder has sent.
    await programs.sync();
    await programs.assertQuiet();
    await programs.assertEqual();
  }
}
