import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SMTPServer } from 'smtp-server';
import { until } from '../browser/support/until.mjs';
import { numbers } from './random-edits.mjs';
import { Vdirsyncer } from './vdirsyncer.mjs';

/** How long the edits go on. */
const MINUTES = Number(process.env.DAV_MINUTES ?? 0.5);
const SEED = Number(process.env.DAV_SEED ?? 7);
const EDITS_OF_A_SIDE = 4;
/** Events that an error describes. */
const SHOWN = 20;

const attendeeOf = (uid) => `${uid}@outside.example`;

/** A server for mail to the outside. `mails` has the calendar of each: Message-ID, recipient, METHOD, UID, SUMMARY. */
export async function startRelay() {
  const mails = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    onData(stream, { envelope }, done) {
      const parts = [];
      stream.on('data', (part) => parts.push(part));
      stream.on('end', () => {
        const raw = Buffer.concat(parts).toString();
        for (const { address } of envelope.rcptTo) mails.push(mailOf(raw, address));
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://127.0.0.1:${server.server.address().port}`,
    mails,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

function mailOf(raw, to) {
  const encoded = /content-type: text\/calendar[^]*?\r\n\r\n([^]*?)\r\n--/i.exec(raw);
  const isBase64 = /base64/i.test(encoded?.[0].split('\r\n\r\n')[0] ?? '');
  const text = (isBase64 ? Buffer.from(encoded[1], 'base64').toString() : (encoded?.[1] ?? ''))
    .replaceAll('=\r\n', '')
    .replaceAll(/\r\n[ \t]/g, '');
  const value = (name) => new RegExp(`^${name}[^:\r\n]*:(.*)$`, 'm').exec(text)?.[1].trim();
  const id = /^message-id:\s*(\S+)/im.exec(raw)?.[1];
  return { id, to, method: value('METHOD'), uid: value('UID'), title: value('SUMMARY') };
}

const meetingText = (uid, title, organizer, attendee) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Test//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    'DTSTAMP:20270101T000000Z',
    `SUMMARY:${title}`,
    'DTSTART:20270302T090000Z',
    'DTEND:20270302T100000Z',
    `ORGANIZER:mailto:${organizer}`,
    `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${attendee}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n');

/**
 * Two programs and the HTTP API edit the meetings of one calendar at the same time. Each event has one attendee outside of the workspace, who
 * gets an invitation, at most one mail for each edit, the last title, and one cancellation. An event is edited on one side in each round.
 */
export async function meetings(directory, api, relay) {
  const folders = ['one', 'two'].map((name) => path.join(directory, `meetings-${name}`));
  for (const folder of folders) mkdirSync(folder);
  const programs = folders.map((folder) => new Vdirsyncer(folder, api));
  for (const each of programs) await each.discover();
  const next = numbers(SEED);
  const pick = (list) => list[Math.floor(next() * list.length)];
  /** What the events must be: title, null after a removal; and their edits. */
  const expected = new Map();
  const before = new Set((await api.events()).keys());

  const sides = [
    async (edits) => {
      const events = await api.events();
      await Promise.all(
        edits.map(({ action, uid, title }) => {
          const at = `/calendar/${api.calendar}/events`;
          const times = { start: '2027-03-02T09:00:00Z', end: '2027-03-02T10:00:00Z' };
          if (action === 'create')
            return api.call('POST', at, { uid, title, attendees: [attendeeOf(uid)], ...times });
          const target = `${at}/${events.get(uid).id}`;
          return action === 'change'
            ? api.call('PUT', target, { title, scope: 'all' })
            : api.call('DELETE', target, { scope: 'all' });
        }),
      );
    },
    ...programs.map((program) => async (edits) => {
      const files = program.files('events');
      for (const { action, uid, title } of edits) {
        const file = path.join(program.folders.events, files.get(uid)?.name ?? `${uid}.ics`);
        if (action === 'remove') rmSync(file);
        else if (action === 'create')
          writeFileSync(file, meetingText(uid, title, api.email, attendeeOf(uid)));
        else writeFileSync(file, files.get(uid).text.replace(/^SUMMARY:.*$/m, `SUMMARY:${title}\r`));
      }
      await program.syncLater();
    }),
  ];

  let edits = 0;
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end;) {
    const touched = new Set();
    const plans = sides.map(() =>
      Array.from({ length: EDITS_OF_A_SIDE }, () => {
        const free = [...expected].filter(([uid, { title }]) => title !== null && !touched.has(uid));
        const action = free.length === 0 ? 'create' : pick(['create', 'change', 'change', 'remove']);
        const uid = action === 'create' ? randomUUID() : pick(free)[0];
        const title = action === 'remove' ? null : `Title ${edits}`;
        edits += 1;
        touched.add(uid);
        expected.set(uid, { title, edits: (expected.get(uid)?.edits ?? 0) + 1 });
        return { action, uid, title };
      }),
    );
    await Promise.all(sides.map((side, n) => side(plans[n])));
    for (const each of programs) await each.sync();
    const left = [...expected].filter(([, { title }]) => title !== null);
    const wanted = left.map(([uid, { title }]) => `${uid} ${title}`).toSorted();
    const shown = [...(await api.events())].filter(([uid]) => !before.has(uid));
    assert.deepEqual(shown.map(([uid, { title }]) => `${uid} ${title}`).toSorted(), wanted);
    for (const each of programs) {
      const files = [...each.files('events')].filter(([uid]) => !before.has(uid));
      const titles = files.map(([uid, { text }]) => `${uid} ${/^SUMMARY:(.*)$/m.exec(text)[1].trim()}`);
      assert.deepEqual(titles.toSorted(), wanted);
    }
  }

  const editsEnd = Date.now();
  await waitForLastMails(api, relay, expected);
  const late = ((Date.now() - editsEnd) / 1000).toFixed(1);
  const received = mailsByUid(relay);
  const mailsOf = (uid) => received.get(uid) ?? [];
  assert.ok(
    relay.mails.every(({ id }) => id),
    'each mail has a Message-ID',
  );
  const ids = relay.mails.map(({ id, to }) => `${id} ${to}`);
  assert.equal(new Set(ids).size, ids.length, 'a mail was sent twice');
  for (const [uid, { title, edits: count }] of expected) {
    const mails = mailsOf(uid);
    const cancellations = mails.filter(({ method }) => method === 'CANCEL').length;
    assert.ok(mails.length <= count, `${uid}: ${mails.length} mails for ${count} edits`);
    assert.equal(cancellations, title === null && mails.length > 0 ? 1 : 0, uid);
  }
  const strangers = relay.mails.filter(({ uid, to }) => expected.has(uid) && to !== attendeeOf(uid));
  assert.deepEqual(strangers, []);
  process.stdout.write(
    `        ${edits} edits of ${expected.size} meetings, ${relay.mails.length} mails, the last one ${late} s after the edits\n`,
  );
}

/** The mails that the attendee of each event got, in the order of their arrival. */
const mailsByUid = ({ mails }) =>
  Map.groupBy(
    mails.filter(({ uid, to }) => to === attendeeOf(uid)),
    ({ uid }) => uid,
  );

/** Waits until each attendee has received the last mail of each event. @throws Error with what is missing */
async function waitForLastMails(api, relay, expected) {
  const missing = () => {
    const received = mailsByUid(relay);
    return [...expected].filter(([uid, { title }]) => {
      const last = received.get(uid)?.at(-1);
      return title === null ? last && last.method !== 'CANCEL' : last?.title !== title;
    });
  };
  try {
    await until(() => missing().length === 0);
  } catch (cause) {
    const left = missing();
    const lines = [];
    for (const [uid, { title }] of left.slice(0, SHOWN)) lines.push(await reportOf(api, relay, uid, title));
    const summary = `${left.length} of ${expected.size} attendees lack the last mail:`;
    throw new Error([summary, ...lines].join('\n'), { cause });
  }
}

/** What the attendee of an event got, and what the log of messages states about each mail: late, lost, or in another order. */
async function reportOf(api, relay, uid, title) {
  const got = (mailsByUid(relay).get(uid) ?? []).map((mail) => `${mail.method} "${mail.title}"`);
  const { messages } = await api.call(
    'GET',
    `/calendar/${api.calendar}/scheduling/messages?direction=out&uid=${encodeURIComponent(uid)}`,
  );
  const log = messages
    .toReversed()
    .map(({ method, result, reason }) => `${method} ${result} ${reason ?? ''}`);
  return `${uid}: wants ${title === null ? 'CANCEL' : `"${title}"`}; got ${got.join(', ')}; log ${log.join(', ')}`;
}
