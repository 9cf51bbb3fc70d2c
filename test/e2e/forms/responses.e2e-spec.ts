import { jest } from '@jest/globals';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { Uploads } from '../../../src/platform/blobs/uploads/uploads.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { FormsCleanup } from '../../../src/modules/forms/responses/forms-cleanup.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { definitionOf, draft, ok, option, published, SIMPLE } from '../../support/domains/forms.ts';
import { form as formData } from '../../support/network/multipart.ts';

const PDF = Buffer.from('%PDF-1.4\n%\u00e2\u00e3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n', 'latin1');
const uuid = () => crypto.randomUUID();

describe('responses to forms', () => {
  let app: TestApp;
  let owner: TestUser;
  let ann: TestUser;
  let ben: TestUser;
  let eve: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    // The first member is an owner of the workspace, who may read everything.
    [, owner, ann, ben, eve] = (await app.tenant('acme', 'root', 'olga', 'ann', 'ben', 'eve')) as any;
  });
  afterAll(() => app?.stop());

  const share = async (form: any, users: [TestUser, string][]) =>
    ok(
      await owner.api.put(`/forms/${form.id}/access`, {
        access: users.map(([user, role]) => ({ user_id: user.id, role })),
      }),
    );
  const open = async (definition: object = SIMPLE, settings: object = {}) => {
    const form = await published(owner, definition, { settings });
    await share(form, [
      [ann, 'respondent'],
      [ben, 'respondent'],
    ]);
    return form;
  };
  const submit = (user: TestUser, form: any, answers: object, more: object = {}) =>
    user.api.post(`/forms/${form.id}/submit`, { answers, ...more });
  const stored = async (form: any) => ok(await owner.api.get(`/forms/${form.id}/responses`)).responses;

  test('a response is stored once for each client_response_id, with discarded answers named', async () => {
    const form = await open(
      definitionOf(
        [
          { id: 'a', type: 'consent', title: 'A' },
          { id: 'b', type: 'short_text', title: 'B' },
        ],
        [
          {
            id: '1',
            action: 'show',
            target: 'b',
            conditions: [{ question: 'a', operator: 'equals', value: true }],
          },
        ],
      ),
      { confirmation: 'Thanks' },
    );
    const started_at = new Date(Date.now() - 60_000).toISOString();
    const client_response_id = uuid();
    const first = await submit(ann, form, { a: false, b: 'hidden' }, { client_response_id, started_at });
    const body = ok(first, 201);
    expect(body).toEqual({
      response: { id: expect.any(String), version: 1, submitted_at: expect.any(String) },
      confirmation: 'Thanks',
      discarded: ['b'],
    });
    expect(first.headers.get('location')).toBe(`/apis/v1/forms/${form.id}/responses/${body.response.id}`);
    expect(ok(await submit(ann, form, { a: false }, { client_response_id }))).toEqual({
      ...body,
      discarded: [],
    });
    for (const call of [
      submit(ann, form, { a: true }, { client_response_id }),
      submit(ben, form, { a: false }, { client_response_id }),
    ])
      expect((await call).body.error).toBe('client_response_id_reused');
    const [response, ...others] = await stored(form);
    expect(others).toEqual([]);
    expect(response).toEqual({
      ...body.response,
      updated_at: body.response.submitted_at,
      respondent: { id: ann.id, name: 'Ann', email: ann.email },
      answers: { a: false },
      duration_seconds: expect.any(Number),
    });
    expect(response.duration_seconds).toBeGreaterThanOrEqual(60);
    ok(await owner.api.post(`/forms/${form.id}/accepting`, { accepting: false }));
    expect(ok(await submit(ann, form, { a: false }, { client_response_id })).response).toEqual(body.response);
  });

  test('invalid answers are reported by question; reasons why a form is closed are named', async () => {
    const form = await open(SIMPLE, { closed_message: 'Too late' });
    const invalid = await submit(ann, form, { color: 'green', nope: 1 });
    expect([invalid.status, invalid.body.error]).toEqual([422, 'invalid_answers']);
    expect(invalid.body.details.map(({ field, code }: any) => `${field} ${code}`).toSorted()).toEqual([
      'color unknown_option',
      'name required',
      'nope unknown_question',
    ]);
    const reason = async () => {
      const { status, body } = await submit(ann, form, { name: 'x' });
      return [status, body.error, body.reason];
    };
    const settings = (values: object) => owner.api.patch(`/forms/${form.id}`, { settings: values });
    ok(await settings({ opens_at: '2998-01-01T00:00:00Z' }));
    expect(await reason()).toEqual([403, 'not_accepting', 'not_open']);
    ok(await settings({ opens_at: null, closes_at: '2001-01-01T00:00:00Z' }));
    expect(await reason()).toEqual([403, 'not_accepting', 'closed']);
    ok(await settings({ closes_at: null, max_responses: 1 }));
    ok(await submit(ben, form, { name: 'x' }), 201);
    expect(await reason()).toEqual([403, 'not_accepting', 'full']);
    ok(await settings({ max_responses: null }));
    ok(await owner.api.post(`/forms/${form.id}/accepting`, { accepting: false }));
    expect((await submit(ann, form, { name: 'x' })).body).toMatchObject({
      reason: 'closed',
      closed_message: 'Too late',
    });
    ok(await owner.api.post(`/forms/${form.id}/archive`));
    expect(await reason()).toEqual([403, 'not_accepting', 'archived']);
    expect((await submit(owner, await draft(owner), { name: 'x' })).body.error).toBe('not_published');
    expect((await ann.api.post(`/forms/${form.id}/submit`, { answers: [] })).body.error).toBe(
      'validation_failed',
    );
    expect(
      (await ann.api.post(`/forms/${form.id}/submit`, { answers: { name: 'x'.repeat(1_100_000) } })).status,
    ).toBe(413);
  });

  test('answers to older versions are accepted while they fit the current one', async () => {
    const form = await open();
    const next = definitionOf([
      { id: 'name', type: 'short_text', title: 'Name', required: true },
      { id: 'age', type: 'number', title: 'Age' },
      { id: 'color', type: 'single_choice', title: 'Colour', options: [option('red')] },
    ]);
    ok(await owner.api.patch(`/forms/${form.id}`, { definition: next }));
    ok(await owner.api.post(`/forms/${form.id}/publish`));
    const fits = ok(await submit(ann, form, { name: 'x', color: 'red' }, { version: 1 }), 201);
    expect(fits.response.version).toBe(1);
    const outdated = await submit(ann, form, { name: 'x', color: 'blue' }, { version: 1 });
    expect([outdated.status, outdated.body.error, outdated.body.version]).toEqual([
      409,
      'version_outdated',
      2,
    ]);
    expect(outdated.body.details[0]).toMatchObject({ field: 'color', code: 'unknown_option' });
    expect((await submit(ann, form, { name: 'x' }, { version: 7 })).body.error).toBe('version_outdated');
    const read = ok(await owner.api.get(`/forms/${form.id}/responses/${fits.response.id}`));
    expect(read.definition.sections[0].questions).toHaveLength(2);
  });

  test('a repeated submission returns the stored response after a version that its answers do not fit', async () => {
    const form = await open();
    const client_response_id = uuid();
    const answers = { name: 'x', color: 'red' };
    const { response } = ok(await submit(ann, form, answers, { client_response_id, version: 1 }), 201);
    const next = definitionOf([{ id: 'age', type: 'number', title: 'Age', required: true }]);
    ok(await owner.api.patch(`/forms/${form.id}`, { definition: next }));
    ok(await owner.api.post(`/forms/${form.id}/publish`));
    for (const more of [{ version: 1 }, {}])
      expect(ok(await submit(ann, form, answers, { client_response_id, ...more })).response).toEqual(
        response,
      );
    const reused = await submit(ann, form, { name: 'y' }, { client_response_id, version: 1 });
    expect(reused.body.error).toBe('client_response_id_reused');
    const invalid = await submit(ann, form, answers, { client_response_id: uuid() });
    expect([invalid.status, invalid.body.error]).toEqual([422, 'invalid_answers']);
    expect(await stored(form)).toHaveLength(1);
  });

  test('a respondent with the share link reads the own response and its files', async () => {
    const question = { id: 'f', type: 'file', title: 'File' };
    const form = await published(owner, definitionOf([question]));
    const { token: share_token } = ok(await owner.api.post(`/forms/${form.id}/share`)).form.share;
    const link = `share_token=${share_token}`;
    const file = formData({ content: PDF, filename: 'x.pdf' });
    const uploads = `/forms/${form.id}/attachments?question_id=f&${link}`;
    const { upload } = ok(await eve.api.request('POST', uploads, file), 201);
    const answers = { f: { upload_ids: [upload.id] } };
    const { response } = ok(await submit(eve, form, answers, { share_token }), 201);
    const path = `/forms/${form.id}/responses/${response.id}`;
    expect(ok(await eve.api.get(`${path}?${link}`)).response.id).toBe(response.id);
    expect((await eve.api.get(`${path}/files/${upload.id}?${link}`)).status).toBe(200);
    for (const call of [
      eve.api.get(path),
      ann.api.get(`${path}?${link}`),
      ann.api.get(`${path}/files/${upload.id}?${link}`),
    ])
      expect((await call).status).toBe(404);
    ok(await owner.api.delete(`/forms/${form.id}/share`));
    expect((await eve.api.get(`${path}?${link}`)).status).toBe(404);
  });

  test('one response of each user, which the user may change where the form allows it', async () => {
    const form = await open(SIMPLE, { one_per_user: true, allow_edit: true });
    const { id } = ok(await submit(ann, form, { name: 'x' }), 201).response;
    const again = await submit(ann, form, { name: 'y' });
    expect([again.status, again.body.error, again.body.response_id]).toEqual([409, 'already_submitted', id]);
    const changed = await submit(ann, form, { name: 'y' }, { response_id: id });
    expect(ok(changed).response.id).toBe(id);
    expect((await submit(ben, form, { name: 'z' }, { response_id: id })).status).toBe(404);
    expect((await stored(form)).map(({ answers }: any) => answers)).toEqual([{ name: 'y' }]);
    expect(ok(await ann.api.get(`/forms/${form.id}/responses/${id}`)).response.answers).toEqual({
      name: 'y',
    });
    expect((await ben.api.get(`/forms/${form.id}/responses/${id}`)).status).toBe(404);
    expect((await ann.api.get(`/forms/${form.id}/responses`)).status).toBe(403);
    ok(await owner.api.patch(`/forms/${form.id}`, { settings: { allow_edit: false } }));
    expect((await submit(ann, form, { name: 'z' }, { response_id: id })).body.error).toBe('not_editable');
  });

  test('anonymous responses: one of each user, no trace of the user', async () => {
    const file = definitionOf([
      { id: 'name', type: 'short_text', title: 'Name' },
      { id: 'f', type: 'file', title: 'File' },
    ]);
    const form = await open(file, { anonymous: true, one_per_user: true });
    const upload = ok(
      await ann.api.request(
        'POST',
        `/forms/${form.id}/attachments?question_id=f`,
        formData({ content: PDF, filename: 'x.pdf' }),
      ),
      201,
    ).upload;
    const body = ok(await submit(ann, form, { name: 'x', f: { upload_ids: [upload.id] } }), 201);
    expect(body.response.submitted_at).toMatch(/:00\.000Z$/);
    // Ids of version 7 contain the time.
    expect([body.response.id[14], upload.id[14]]).toEqual(['4', '4']);
    const again = await submit(ann, form, { name: 'y' });
    expect([again.status, again.body.error, again.body.response_id]).toEqual([
      409,
      'already_submitted',
      undefined,
    ]);
    expect((await stored(form))[0].respondent).toBeNull();
    expect((await ann.api.get(`/forms/${form.id}/responses/${body.response.id}`)).status).toBe(404);
    const changed = await owner.api.patch(`/forms/${form.id}`, { settings: { anonymous: false } });
    expect([changed.status, changed.body.error]).toEqual([409, 'anonymity_fixed']);
    // Nothing that is stored with or about the response names ann.
    for (const table of [
      'form_responses',
      'form_uploads',
      'form_response_once',
      'outbox',
      'audit_log',
      'idempotency_keys',
    ]) {
      const rows = await app.sql<{ text: string }>(
        `SELECT row::text AS text FROM ${table} AS row WHERE row::text LIKE '%' || $1 || '%' AND row::text LIKE '%' || $2 || '%'`,
        [ann.id, table.startsWith('form_') ? form.id : body.response.id],
      );
      expect([table, rows]).toEqual([table, []]);
    }
  });

  test('a respondent reads whether the form takes a response now, a viewer whether it is open', async () => {
    const form = await open();
    await share(form, [
      [ann, 'respondent'],
      [ben, 'respondent'],
      [eve, 'viewer'],
    ]);
    const seen = async () => {
      const read = async (user: TestUser) => ok(await user.api.get(`/forms/${form.id}`)).form.accepting;
      const { forms } = ok(await ann.api.get('/forms'));
      const listed = forms.find(({ id }: any) => id === form.id).accepting;
      return [await read(ann), listed, await read(eve), await read(owner)];
    };
    const settings = (values: object) => owner.api.patch(`/forms/${form.id}`, { settings: values });
    expect(await seen()).toEqual([true, true, true, true]);
    ok(await settings({ opens_at: '2998-01-01T00:00:00Z' }));
    expect(await seen()).toEqual([false, false, true, true]);
    ok(await settings({ opens_at: '2001-01-01T00:00:00Z', closes_at: '2002-01-01T00:00:00Z' }));
    expect(await seen()).toEqual([false, false, true, true]);
    ok(await settings({ closes_at: null, max_responses: 2 }));
    ok(await submit(ben, form, { name: 'x' }), 201);
    expect(await seen()).toEqual([true, true, true, true]);
    ok(await submit(ben, form, { name: 'y' }), 201);
    expect(await seen()).toEqual([false, false, true, true]);
    ok(await settings({ max_responses: null }));
    ok(await owner.api.post(`/forms/${form.id}/accepting`, { accepting: false }));
    expect(await seen()).toEqual([false, false, false, false]);
  });

  test('files: detected type, limits of the question, single use, download, removal', async () => {
    const questions = [
      {
        id: 'cv',
        type: 'file',
        title: 'CV',
        settings: { content_types: ['application/pdf'], max_bytes: 1000 },
      },
      { id: 'any', type: 'file', title: 'Any', settings: { max_files: 2 } },
    ];
    const form = await open(definitionOf(questions), { allow_edit: true });
    const upload = (user: TestUser, question: string, content: Buffer | string, filename = 'cv.pdf') =>
      user.api.request(
        'POST',
        `/forms/${form.id}/attachments?question_id=${question}`,
        formData({ content, filename }),
      );
    expect((await upload(ann, 'cv', 'text')).body.error).toBe('unsupported_media_type');
    expect((await upload(ann, 'cv', Buffer.concat([PDF, Buffer.alloc(1000)]))).body.error).toBe(
      'file_too_large',
    );
    expect((await upload(ann, 'nope', PDF)).body.details[0].field).toBe('question_id');
    expect((await upload(eve, 'cv', PDF)).status).toBe(404);
    const { upload: cv } = ok(await upload(ann, 'cv', PDF, '../Vitæ.pdf'), 201);
    expect(cv).toMatchObject({
      name: expect.stringContaining('Vitæ.pdf'),
      size: PDF.length,
      content_type: 'application/pdf',
    });
    const answer = { upload_ids: [cv.id] };
    expect((await submit(ann, form, { any: answer })).body.details[0]).toMatchObject({
      field: 'any',
      code: 'unknown_upload',
    });
    expect((await submit(ben, form, { cv: answer })).body.error).toBe('upload_used');
    const client_response_id = uuid();
    const { response } = ok(await submit(ann, form, { cv: answer }, { client_response_id }), 201);
    expect(ok(await submit(ann, form, { cv: answer }, { client_response_id })).response).toEqual(response);
    expect((await submit(ann, form, { cv: answer })).body.error).toBe('upload_used');
    expect((await stored(form))[0].answers.cv.files[0]).toMatchObject({ id: cv.id, size: PDF.length });
    const path = `/forms/${form.id}/responses/${response.id}/files/${cv.id}`;
    for (const user of [owner, ann]) {
      const file = await user.api.get(path);
      expect([file.status, file.headers.get('content-disposition')]).toEqual([
        200,
        expect.stringContaining('attachment'),
      ]);
    }
    for (const user of [ben, eve]) expect((await user.api.get(path)).status).toBe(404);
    // A change without the file deletes it; a file without a response is deleted after its expiry.
    const { upload: other } = ok(await upload(ann, 'any', 'x', 'x.txt'), 201);
    ok(await submit(ann, form, {}, { response_id: response.id }));
    await app.sql(`UPDATE form_uploads SET expires_at = now() - interval '1 s' WHERE id = $1`, [other.id]);
    const blobs = async () =>
      (await app.sql(`SELECT count(*)::int AS n FROM blobs WHERE state = 'kept'`))[0].n;
    await app.get(FormsCleanup).run();
    await app.get(BlobCollector).collect();
    expect((await owner.api.get(path)).status).toBe(404);
    expect(await app.sql(`SELECT id FROM form_uploads WHERE form_id = $1`, [form.id])).toEqual([]);
    const kept = await blobs();
    const { upload: last } = ok(await upload(ann, 'any', 'y', 'y.txt'), 201);
    ok(await submit(ann, form, { any: { upload_ids: [last.id] } }), 201);
    expect(await blobs()).toBe(kept + 1);
    ok(await owner.api.delete(`/forms/${form.id}`));
    await app.sql(`UPDATE forms SET deleted_at = now() - interval '31 days' WHERE id = $1`, [form.id]);
    await app.get(FormsCleanup).run();
    expect([
      await blobs(),
      await app.sql(`SELECT id FROM form_responses WHERE form_id = $1`, [form.id]),
    ]).toEqual([kept, []]);
  });

  test('a file above the limit of pending files is rejected before it is received', async () => {
    const form = await open(definitionOf([{ id: 'f', type: 'file', title: 'F' }]));
    await app.sql(
      `INSERT INTO form_uploads (tenant_id, form_id, id, question_id, user_id, blob_id, name, size, content_type, sha256)
       SELECT $1, $2, gen_random_uuid(), 'f', $3, gen_random_uuid(), 'x', 1, 'text/plain', '' FROM generate_series(1, 50)`,
      [ann.tenantId, form.id, ann.id],
    );
    const receive = jest.spyOn(app.get<Uploads>(Uploads), 'receive');
    const path = `/forms/${form.id}/attachments?question_id=f`;
    const rejected = await ann.api.request('POST', path, formData({ content: 'x', filename: 'x.txt' }));
    expect(rejected.body.error).toBe('too_many_uploads');
    expect(receive).not.toHaveBeenCalled();
    receive.mockRestore();
  });

  test('responses are listed in pages and filtered', async () => {
    const questions = [
      { id: 't', type: 'short_text', title: 'T' },
      { id: 'n', type: 'number', title: 'N' },
      { id: 'o', type: 'multiple_choice', title: 'O', options: [option('x', 'Crème'), option('y')] },
      { id: 'b', type: 'consent', title: 'B' },
    ];
    const form = await open(definitionOf(questions));
    for (const [n, t] of ['Alpha', 'Béta', '100%', 'İzmir', 'Alpha two'].entries())
      ok(await submit(ann, form, { t, n, o: n % 2 ? ['y'] : ['x', 'y'], b: n > 2 }), 201);
    const list = async (query: string) => ok(await owner.api.get(`/forms/${form.id}/responses?${query}`));
    const ns = async (query: string) => (await list(query)).responses.map(({ answers }: any) => answers.n);
    const first = await list('limit=3');
    const second = await list(`limit=3&cursor=${first.next}`);
    expect([...first.responses, ...second.responses].map(({ answers }: any) => answers.n)).toEqual([
      4, 3, 2, 1, 0,
    ]);
    expect([first.total, second.next]).toEqual([5, null]);
    expect(await ns('q=BETA')).toEqual([1]);
    expect(await ns('q=creme')).toEqual([4, 2, 0]);
    expect(await ns('filter[t]=alpha')).toEqual([4, 0]);
    expect(await ns('filter[t]=0%25')).toEqual([2]);
    expect(await ns(`filter[t]=${encodeURIComponent('İzmir')}`)).toEqual([3]);
    expect(await ns('filter[n]=3')).toEqual([3]);
    expect(await ns('filter[o]=x&filter[b]=true')).toEqual([4]);
    expect(await ns('version=2')).toEqual([]);
    expect(await ns('to=2001-01-01T00:00:00Z')).toEqual([]);
    const filtered = await list('from=2001-01-01T00:00:00Z&limit=2');
    expect([filtered.total, (await list('q=alpha')).total, (await list('q=nothing')).total]).toEqual([
      5, 2, 0,
    ]);
    expect((await list(`from=2001-01-01T00:00:00Z&limit=2&cursor=${filtered.next}`)).total).toBeNull();
    for (const query of ['filter[z]=1', 'filter[n]=many', 'filter[b]=1'])
      expect((await owner.api.get(`/forms/${form.id}/responses?${query}`)).status).toBe(422);
  });

  test('an editor deletes a response with its files; the respondent can submit again', async () => {
    const definition = definitionOf([{ id: 'f', type: 'file', title: 'F' }]);
    const form = await open(definition, { one_per_user: true });
    const path = `/forms/${form.id}`;
    const file = formData({ content: PDF, filename: 'a.pdf' });
    const { upload } = ok(await ann.api.request('POST', `${path}/attachments?question_id=f`, file), 201);
    const answers = { f: { upload_ids: [upload.id] } };
    const { response } = ok(await submit(ann, form, answers), 201);
    ok(await submit(ben, form, {}), 201);
    expect((await submit(ann, form, {})).body.error).toBe('already_submitted');
    const one = `${path}/responses/${response.id}`;
    for (const [user, status] of [
      [ann, 403],
      [eve, 404],
    ] as const)
      expect((await user.api.delete(one)).status).toBe(status);
    expect(ok(await owner.api.delete(one))).toMatchObject({ deleted: true, response: { id: response.id } });
    for (const call of [
      owner.api.delete(one),
      owner.api.get(one),
      owner.api.get(`${one}/files/${upload.id}`),
    ])
      expect((await call).status).toBe(404);
    const list = ok(await owner.api.get(`${path}/responses`));
    expect([list.total, list.responses.map((each: any) => each.respondent.id)]).toEqual([1, [ben.id]]);
    expect(await app.sql('SELECT FROM form_uploads WHERE form_id = $1', [form.id])).toEqual([]);
    ok(await submit(ann, form, {}), 201);
    expect(ok(await owner.api.get(path)).form.response_count).toBe(2);
  });

  test('roles of members and groups, and the share link', async () => {
    const form = await published(owner);
    const path = `/forms/${form.id}`;
    expect((await ann.api.get(path)).status).toBe(404);
    const group = (
      await app.sql(`SELECT id FROM rbac_groups WHERE tenant_id = $1 AND key = 'members'`, [owner.tenantId])
    )[0].id;
    const access = [
      { group_id: group, role: 'respondent' },
      { user_id: ann.id, role: 'viewer' },
      { user_id: ben.id, role: 'editor' },
    ];
    const set = ok(await owner.api.put(`${path}/access`, { access }));
    expect(set.access.map(({ kind, name, role }: any) => [kind, name, role])).toEqual([
      ['user', 'Ann', 'viewer'],
      ['user', 'Ben', 'editor'],
      ['group', 'Members', 'respondent'],
    ]);
    expect(ok(await owner.api.get(`${path}/access`))).toEqual(set);
    const role = async (user: TestUser) => ok(await user.api.get(path)).form.role;
    expect([await role(ann), await role(ben), await role(eve)]).toEqual(['viewer', 'editor', 'respondent']);
    expect(ok(await eve.api.get('/forms')).forms.map(({ id }: any) => id)).toContain(form.id);
    const seen = ok(await eve.api.get(path)).form;
    expect([seen.share, seen.response_count, seen.settings.max_responses]).toEqual([
      undefined,
      null,
      undefined,
    ]);
    expect((await eve.api.patch(path, { title: 'x' })).status).toBe(403);
    expect((await ann.api.patch(path, { title: 'x' })).status).toBe(403);
    expect((await ben.api.put(`${path}/access`, { access: [] })).status).toBe(403);
    expect((await ben.api.delete(path)).status).toBe(403);
    ok(await ben.api.patch(path, { title: 'By an editor' }));
    const [outsider] = await app.tenant('evil', 'outsider');
    for (const [entry, error] of [
      [{ user_id: outsider.id, role: 'viewer' }, 'unknown_user'],
      [{ group_id: ann.id, role: 'viewer' }, 'unknown_user'],
      [{ role: 'viewer' }, 'validation_failed'],
      [{ user_id: ann.id, group_id: group, role: 'viewer' }, 'validation_failed'],
      [{ user_id: ann.id, role: 'owner' }, 'validation_failed'],
    ] as const)
      expect((await owner.api.put(`${path}/access`, { access: [entry] })).body.error).toBe(error);
    ok(await owner.api.put(`${path}/access`, { access: [] }));
    expect((await ben.api.get(path)).status).toBe(404);

    expect((await owner.api.post(`${path}/share/regenerate`)).body.error).toBe('not_shared');
    const release = await holdEvents(app);
    const shared = ok(await owner.api.post(`${path}/share`)).form.share;
    expect(shared).toMatchObject({
      enabled: true,
      role: 'respond',
      token: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(ok(await owner.api.get(path)).form.share).toEqual({
      enabled: true,
      role: 'respond',
      expires_at: null,
    });
    const link = `${path}?share_token=${shared.token}`;
    expect(ok(await eve.api.get(link)).form.role).toBe('respondent');
    expect((await outsider.api.get(link)).status).toBe(404);
    expect((await submit(eve, form, { name: 'x' })).status).toBe(404);
    ok(await submit(eve, form, { name: 'x' }, { share_token: shared.token }), 201);
    // The link opens the form for an invalid body too, so the response names the invalid fields.
    for (const [body, field] of [
      [{ answers: [] }, 'answers'],
      [{ answers: { name: 'x' }, client_response_id: '7' }, 'client_response_id'],
    ] as const) {
      const invalid = await eve.api.post(`${path}/submit`, { ...body, share_token: shared.token });
      expect([invalid.status, invalid.body.details?.[0]?.field]).toEqual([422, field]);
      expect((await eve.api.post(`${path}/submit`, body)).status).toBe(404);
    }
    const next = ok(await owner.api.post(`${path}/share/regenerate`)).form.share.token;
    expect((await eve.api.get(link)).status).toBe(404);
    expect((await eve.api.get(`${path}/responses?share_token=${next}`)).status).toBe(403);
    const view = ok(
      await owner.api.post(`${path}/share`, { role: 'view', expires_at: '2999-01-01T00:00:00Z' }),
    ).form.share;
    expect([view.role, view.token]).toEqual(['view', undefined]);
    expect(ok(await eve.api.get(`${path}?share_token=${next}`)).form.role).toBe('viewer');
    for (const results of ['responses', 'analytics', 'export.csv', 'export.xlsx']) {
      expect((await eve.api.get(`${path}/${results}`)).status).toBe(404);
      expect((await eve.api.get(`${path}/${results}?share_token=${next}`)).status).toBe(200);
    }
    expect(ok(await eve.api.get(`${path}/responses?share_token=${next}`)).responses).toMatchObject([
      { answers: { name: 'x' } },
    ]);
    ok(await owner.api.post(`${path}/share`, { expires_at: '2001-01-01T00:00:00Z' }));
    expect((await eve.api.get(`${path}?share_token=${next}`)).status).toBe(404);
    expect(ok(await owner.api.delete(`${path}/share`)).form.share.enabled).toBe(false);
    expect(ok(await owner.api.delete(`${path}/share`)).form.share.enabled).toBe(false);
    const events = JSON.stringify(await app.sql('SELECT payload FROM outbox'));
    expect(events).toContain(form.id);
    for (const token of [shared.token, next]) expect(events).not.toContain(token);
    await release();
    await app.get(OutboxWorker).drain();
  });
});
