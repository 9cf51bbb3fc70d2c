import { randomUUID } from 'node:crypto';
import { unzipSync, strFromU8 } from 'fflate';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { BlobStore } from '../../../src/platform/blobs/store/blob-store.js';
import { MemberContent } from '../../../src/modules/tenants/index.js';
import { Db } from '../../../src/platform/database/db.js';
import { PersonalExportWorker } from '../../../src/modules/personal-data/personal-export.worker.js';
import { PersonalData, type PersonalDataSource } from '../../../src/platform/personal-data/personal-data.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { upload } from '../../support/network/multipart.ts';
import { accepted, writeEverywhere } from '../../support/domains/personal-data.ts';
import { until } from '../../support/until.ts';

const PASSWORD = 'seven purple teapots dance';

const DOMAINS = [
  'profile',
  'signature',
  'webhook',
  'push',
  'note-folder',
  'note',
  'note-content',
  'task',
  'description',
  'reference',
  'task-folder',
  'comment',
  'attachment',
  'file',
  'poll',
  'event',
  'contact',
  'own-card',
  'form',
  'response',
  'presence',
  'room',
  'message',
];

/** Domains with personal data of which `writeEverywhere` writes no text. */
const WITHOUT_TEXT: Record<string, string> = {
  account: 'address and name are set before',
  calls: 'calls need a server of LiveKit',
  dav: 'properties of programs; test/e2e/dav/dead-properties sets them',
  exports: 'made by the application',
  groups: 'names of groups belong to the workspace',
  holidays: 'ids of places',
  issuers: 'made by sign-ins',
  mail: 'messages need a mail service; the test of erasures writes a draft',
  membership: 'address and name are set before',
  notifications: 'made by the application',
  requests: 'stored responses and mails of the application, which are erased and not exported',
  provisioning: 'written by clients of SCIM; the test of erasures inserts a row',
  security: 'names of passkeys and application passwords need an authenticator and a mail service',
  'sign-in': 'made by sign-ins',
};

describe('export of personal data', () => {
  let app: TestApp;
  let ann: TestUser;
  let ben: TestUser;
  let eve: TestUser;
  let made = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, ben] = await app.tenant('acme', 'ann', 'ben');
    [eve] = await app.tenant('globex', 'eve');
  });
  afterAll(() => app?.stop());

  const state = async (user: TestUser): Promise<any> => ok(await user.api.get('/settings/export')).export;
  const finished = (user: TestUser): Promise<any> =>
    until('the end of the export', async () => {
      const found = await state(user);
      return ['done', 'failed'].includes(found?.state) && found;
    });
  const download = async (user: TestUser, headers: Record<string, string> = {}) => {
    const response = await fetch(`${app.base}/apis/v1/settings/export/file`, {
      headers: { authorization: `Bearer ${user.token}`, ...headers },
    });
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  const textsOf = (bytes: Uint8Array): Record<string, string> =>
    Object.fromEntries(Object.entries(unzipSync(bytes)).map(([name, data]) => [name, strFromU8(data)]));
  const actions = async (user: TestUser): Promise<string[]> =>
    (
      await app.sql(
        `SELECT action FROM audit_log WHERE object_id = $1 AND action LIKE 'personal_data.%' ORDER BY id`,
        [user.id],
      )
    ).map(({ action }) => action);
  const newUser = async (): Promise<TestUser> => (await app.tenant(`x${(made += 1)}`, 'una'))[0];

  /** A source that waits until it is opened. */
  const gate = (owner: TestUser, on = app) => {
    const opened = Promise.withResolvers<void>();
    let isEntered = false;
    const source = on
      .get<PersonalData>(PersonalData)
      .sources.find(({ name }) => name === 'tasks') as PersonalDataSource;
    const original = source.export.bind(source);
    source.export = async (...given) => {
      if (given[0].userId === owner.id) {
        isEntered = true;
        await opened.promise;
      }
      return original(...given);
    };
    return {
      entered: () => until('the start of the export', () => isEntered),
      open: () => {
        opened.resolve();
        source.export = original;
      },
    };
  };

  test('everything that the user wrote is in the archive, and nothing of others', async () => {
    await writeEverywhere(ann, (domain) => `MARK-ann-${domain}-end`);
    await writeEverywhere(ben, (domain) => `MARK-ben-${domain}-end`);
    await writeEverywhere(eve, (domain) => `MARK-eve-${domain}-end`);
    // Content of another member that the user may read.
    const { note } = ok(await ben.api.post('/notes', { title: 'MARK-ben-shared', content: '' }), 201);
    accepted(await ben.api.put(`/notes/${note.id}/invited`, { invited: [{ id: ann.id, role: 'editor' }] }));
    const { room } = ok(
      await ben.api.post('/chat/rooms', { type: 'group', name: 'Common', member_ids: [ann.id] }),
      201,
    );
    accepted(
      await ben.api.post(`/chat/rooms/${room.id}/messages`, {
        client_msg_id: randomUUID(),
        body: 'MARK-ben-common',
      }),
    );

    expect(await state(ann)).toBeNull();
    const response = await ann.api.post('/settings/export', {});
    expect(response.status).toBe(202);
    expect(response.body.export).toMatchObject({
      state: 'pending',
      size: null,
      finished_at: null,
      omitted_files: 0,
    });
    const done = await finished(ann);
    expect(done).toMatchObject({ id: response.body.export.id, state: 'done', omitted_files: 0 });
    expect(done.progress.done).toBe(done.progress.total);

    const { response: file, bytes } = await download(ann);
    expect(file.status).toBe(200);
    expect(file.headers.get('content-type')).toBe('application/zip');
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="?personal-data-[\d-]+\.zip/,
    );
    expect(bytes.length).toBe(done.size);
    const texts = textsOf(bytes);
    const all = Object.entries(texts).join('\n');
    expect(DOMAINS.filter((domain) => !all.includes(`MARK-ann-${domain}-end`))).toEqual([]);
    expect(all).not.toMatch(/MARK-(ben|eve)/);
    expect(all).not.toContain(ben.email);
    expect(all).not.toContain(eve.email);
    for (const [name, text] of Object.entries(texts))
      if (name.endsWith('.json')) expect([name, Array.isArray(JSON.parse(text))]).toEqual([name, true]);
    const vcf = Object.entries(texts).find(([name]) => name.endsWith('.vcf'))?.[1];
    expect(vcf).toContain('FN:MARK-ann-contact-end');
    const ics = Object.entries(texts).find(([name]) => name.endsWith('.ics'))?.[1];
    expect(ics).toContain('SUMMARY:MARK-ann-event-end');
    expect(texts['contacts/own-card.vcf']).toContain('NOTE:MARK-ann-own-card-end');
    expect(JSON.parse(texts['calendar/polls.json']!)).toMatchObject([
      {
        title: 'MARK-ann-poll-end',
        options: [{ starts: '2027-03-02T08:00:00Z' }, { starts: '2027-03-03T13:00:00Z' }],
      },
    ]);
    expect(texts['mail/README.txt']).toContain('another mail service');
    expect(JSON.parse(texts['account/account.json']!)).toMatchObject([{ id: ann.id, email: ann.email }]);
    expect(JSON.parse(texts['account/sessions.json']!).length).toBeGreaterThan(0);
    expect(texts['README.txt']).toContain('notes/  1 files');
    expect(await actions(ann)).toEqual([
      'personal_data.export_requested',
      'personal_data.exported',
      'personal_data.export_downloaded',
    ]);
  });

  test('`writeEverywhere` writes in each domain with content or personal data', async () => {
    const user = await newUser();
    await writeEverywhere(user, (domain) => `MARK-${domain}-end`);
    ok(await user.api.post('/settings/export', {}), 202);
    await finished(user);
    const written = new Set(
      Object.entries(textsOf((await download(user)).bytes)).flatMap(([name, text]) =>
        text.includes('MARK-') ? [name.split('/')[0]] : [],
      ),
    );
    const sources = app.get<PersonalData>(PersonalData).sources.map(({ name }) => name);
    expect(sources.filter((name) => !written.has(name) && !(name in WITHOUT_TEXT))).toEqual([]);
    const listed = Object.keys(WITHOUT_TEXT);
    expect(listed.filter((name) => written.has(name) || !sources.includes(name))).toEqual([]);
    const owner = { tenantId: user.tenantId!, userId: user.id };
    const counts = await app.get<MemberContent>(MemberContent).count(app.get<Db>(Db), owner);
    expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
  });

  test('secrets are not in the archive', async () => {
    const user = await newUser();
    ok(await user.api.post('/settings/export', {}), 202);
    await finished(user);
    const all = Object.values(textsOf((await download(user)).bytes)).join('\n');
    expect(all).not.toMatch(/_hash"|"secret"|"selector"|public_key|client_secret/);
    expect(all).not.toContain(user.token);
  });

  test('a part of the archive can be downloaded', async () => {
    const whole = (await download(ann)).bytes;
    const { response, bytes } = await download(ann, { range: 'bytes=0-3' });
    expect(response.status).toBe(206);
    expect(bytes).toEqual(whole.slice(0, 4));
  });

  test('the owner confirms the password', async () => {
    const email = 'pat@pass.example';
    const tenants = [
      { slug: 'pass', users: [{ email, name: 'Pat', role: 'owner' as const, password: PASSWORD }] },
    ];
    const { users } = await provision(app.served.nest, { tenants }, true);
    const api = app.as(users[0]!.token as string);
    for (const body of [{}, { password: 'incorrect' }])
      expect(await api.post('/settings/export', body)).toMatchObject({
        status: 403,
        body: { error: 'invalid_password' },
      });
    expect(ok(await api.get('/settings/export')).export).toBeNull();
    expect((await api.post('/settings/export', { password: PASSWORD })).status).toBe(202);
  });

  test('an unknown export has no file; other workspaces have their own', async () => {
    const user = await newUser();
    expect((await user.api.get('/settings/export/file')).status).toBe(404);
    ok(await user.api.post('/settings/export', {}), 202);
    await finished(user);
    const twin = await app.member(`other${made}`, user.email, 'owner');
    expect(await state(twin)).toBeNull();
    expect((await twin.api.get('/settings/export/file')).status).toBe(404);
  });

  test('one export at a time: parallel requests start one', async () => {
    // The worker runs the export of this user, so that the others stay pending.
    const first = await newUser();
    const { entered, open } = gate(first);
    try {
      ok(await first.api.post('/settings/export', {}), 202);
      await entered();
      expect(await state(first)).toMatchObject({ state: 'running' });
      expect((await first.api.post('/settings/export', {})).status).toBe(409);
      const users = await Promise.all(Array.from({ length: 8 }, newUser));
      for (const user of users) {
        const requests = Array.from({ length: 6 }, () => user.api.post('/settings/export', {}));
        const responses = await Promise.all(requests);
        expect(responses.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409, 409, 409]);
        expect(responses.find(({ status }) => status === 409)?.body.error).toBe('export_running');
        const started = responses.find(({ status }) => status === 202);
        expect(await state(user)).toMatchObject({ state: 'pending', id: started?.body.export.id });
      }
    } finally {
      open();
    }
    expect(await finished(first)).toMatchObject({ state: 'done' });
  });

  test('a new export replaces the previous one, and its bytes are removed', async () => {
    const user = await newUser();
    const blob = async () =>
      (await app.sql('SELECT blob_id FROM personal_exports WHERE user_id = $1', [user.id]))[0].blob_id;
    ok(await user.api.post('/settings/export', {}), 202);
    await finished(user);
    const first = await blob();
    ok(await user.api.post('/settings/export', {}), 202);
    await finished(user);
    expect(await blob()).not.toBe(first);
    await app.get<BlobCollector>(BlobCollector).collect();
    const store = app.get<BlobStore>(BlobStore);
    const tenantId = user.tenantId as string;
    expect(await store.size({ tenantId, id: first })).toBeUndefined();
    expect(await store.size({ tenantId, id: await blob() })).toBeGreaterThan(0);
  });

  test('another process takes over the export of a dead one, whose late archive is discarded', async () => {
    const user = await newUser();
    const other = await TestApp.start({}, app.databaseUrl);
    try {
      const { entered, open } = gate(user);
      ok(await user.api.post('/settings/export', {}), 202);
      await entered();
      await app.sql(`UPDATE personal_exports SET due_at = now() - interval '1 second' WHERE user_id = $1`, [
        user.id,
      ]);
      other.get<PersonalExportWorker>(PersonalExportWorker).wake();
      const done = await finished(user);
      expect(done.state).toBe('done');
      const before = (await download(user)).bytes;
      open();
      // The first process is idle again when it runs the next export.
      const next = await newUser();
      ok(await next.api.post('/settings/export', {}), 202);
      await finished(next);
      expect(await state(user)).toEqual(done);
      expect((await download(user)).bytes).toEqual(before);
      expect(await actions(user)).toEqual([
        'personal_data.export_requested',
        'personal_data.exported',
        'personal_data.export_downloaded',
        'personal_data.export_downloaded',
      ]);
      expect(
        await app.sql(`SELECT FROM blobs WHERE tenant_id = $1 AND state = 'pending'`, [user.tenantId]),
      ).toHaveLength(0);
    } finally {
      await other.stop();
    }
  });

  test('an unavailable file delays the export; the last attempt lists it', async () => {
    const user = await newUser();
    const { task } = ok(await user.api.post('/tasks', { title: 'x' }), 201);
    ok(await upload(user.api, `/tasks/${task.id}/attachments`, 'lost', { filename: 'lost.txt' }), 201);
    const [{ blob_id: id }] = await app.sql('SELECT blob_id FROM task_attachments WHERE task_id = $1', [
      task.id,
    ]);
    await app.get<BlobStore>(BlobStore).remove({ tenantId: user.tenantId as string, id });
    ok(await user.api.post('/settings/export', {}), 202);
    for (let attempt = 1; attempt < 4; attempt += 1) {
      await until('a failed attempt', async () => {
        const [row] = await app.sql('SELECT state, attempts FROM personal_exports WHERE user_id = $1', [
          user.id,
        ]);
        return row.state === 'pending' && row.attempts === attempt;
      });
      await app.sql(
        'UPDATE personal_exports SET due_at = now() - make_interval(secs => 1) WHERE user_id = $1',
        [user.id],
      );
      app.get<PersonalExportWorker>(PersonalExportWorker).wake();
    }
    expect(await finished(user)).toMatchObject({ state: 'done', omitted_files: 1 });
    const texts = textsOf((await download(user)).bytes);
    expect(JSON.parse(texts['omitted-files.json']!)).toMatchObject([{ reason: 'unavailable', size: 4 }]);
  });

  test('a failing source ends the export after four attempts', async () => {
    const user = await newUser();
    const source = app.get<PersonalData>(PersonalData).sources[0] as PersonalDataSource;
    const original = source.export.bind(source);
    source.export = async (owner, archive) => {
      if (owner.userId === user.id) throw new Error('broken');
      await original(owner, archive);
    };
    ok(await user.api.post('/settings/export', {}), 202);
    for (let attempt = 1; attempt < 4; attempt += 1) {
      await until('a failed attempt', async () => {
        const [row] = await app.sql('SELECT state, attempts FROM personal_exports WHERE user_id = $1', [
          user.id,
        ]);
        return row.state === 'pending' && row.attempts === attempt;
      });
      await app.sql(
        'UPDATE personal_exports SET due_at = now() - make_interval(secs => 1) WHERE user_id = $1',
        [user.id],
      );
      app.get<PersonalExportWorker>(PersonalExportWorker).wake();
    }
    expect(await finished(user)).toMatchObject({ state: 'failed', size: null });
    expect(await actions(user)).toEqual(['personal_data.export_requested', 'personal_data.export_failed']);
    source.export = original;
    ok(await user.api.post('/settings/export', {}), 202);
    expect(await finished(user)).toMatchObject({ state: 'done' });
  });

  test('a source that never ends does not delay the end of its process, and the next process runs the export', async () => {
    const user = await newUser();
    const other = await TestApp.start({}, app.databaseUrl);
    const here = gate(user);
    const there = gate(user, other);
    ok(await other.as(user.token).post('/settings/export', {}), 202);
    await there.entered();
    // The fourth start, after other processes that ended: an end of a process is no failure of the export.
    await app.sql('UPDATE personal_exports SET attempts = 4 WHERE user_id = $1', [user.id]);
    await other.stop();
    here.open();
    app.get<PersonalExportWorker>(PersonalExportWorker).wake();
    expect(await finished(user)).toMatchObject({ state: 'done' });
    there.open();
  });

  test('an account may start 20 exports a day', async () => {
    const user = await newUser();
    const statuses = [];
    for (let n = 0; n < 21; n += 1) statuses.push((await user.api.post('/settings/export', {})).status);
    expect(statuses.filter((status) => status === 429)).toEqual([429]);
    expect(statuses.at(-1)).toBe(429);
    expect(await finished(user)).toMatchObject({ state: 'done' });
  });

  test('archives expire, and end with the membership', async () => {
    const [owner, user] = await app.tenant(`x${(made += 1)}`, 'una', 'leo');
    ok(await user.api.post('/settings/export', {}), 202);
    await finished(user);
    ok(await owner.api.post('/settings/export', {}), 202);
    await finished(owner);
    await app.sql(
      `UPDATE personal_exports SET expires_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
      [owner.id],
    );
    await app.get<PersonalExportWorker>(PersonalExportWorker).expire();
    expect(await state(owner)).toBeNull();
    expect(await state(user)).toMatchObject({ state: 'done' });
    ok(await user.api.delete('/settings/profile', {}));
    expect(await app.sql('SELECT FROM personal_exports WHERE user_id = $1', [user.id])).toHaveLength(0);
    const kept = await app.sql(`SELECT FROM blobs WHERE tenant_id = $1 AND state = 'kept'`, [user.tenantId]);
    expect(kept).toHaveLength(0);
  });
});
