import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Assistant } from '../../../src/modules/forms/definitions/presets/presets.controller.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { definitionOf, draft, ok, published, SIMPLE } from '../../support/domains/forms.ts';

describe('forms', () => {
  let app: TestApp;
  let assistant: Server;
  let reply: (prompt: string) => { status?: number; body: string; silent?: 'headers' | 'body' };
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    assistant = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { status = 200, body, silent } = reply(Buffer.concat(chunks).toString());
        if (silent === 'headers') return;
        response.writeHead(status, { 'content-type': 'application/json' }).write(body);
        if (silent !== 'body') response.end();
      });
    });
    await new Promise<void>((resolve) => assistant.listen(0, '127.0.0.1', resolve));
    const { port } = assistant.address() as AddressInfo;
    app = await TestApp.start({ ASSISTANT_URL: `http://127.0.0.1:${port}/v1`, ASSISTANT_API_KEY: 'k' });
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    assistant?.closeAllConnections();
    assistant?.close();
  });

  const state = (form: any) => [form.state, form.accepting, form.version, form.has_unpublished_changes];

  test('a form is created, read, listed, changed and deleted', async () => {
    const response = await bob.api.post('/forms', {
      title: ' Lunch ',
      definition: SIMPLE,
      settings: { max_responses: 5 },
    });
    const { form } = ok(response, 201);
    expect(response.headers.get('location')).toBe(`/apis/v1/forms/${form.id}`);
    expect(form).toMatchObject({
      title: 'Lunch',
      description: '',
      state: 'draft',
      accepting: false,
      version: null,
      draft_rev: 1,
      role: 'owner',
      response_count: 0,
      owner: { id: bob.id, name: 'Bob', email: bob.email },
      settings: { max_responses: 5, anonymous: false, opens_at: null },
      share: { enabled: false, role: null, expires_at: null },
    });
    expect(ok(await bob.api.get(`/forms/${form.id}`)).form).toEqual(form);
    const listed = ok(await bob.api.get('/forms')).forms;
    expect(listed.map(({ id }: any) => id)).toEqual([form.id]);
    expect(listed[0]).not.toHaveProperty('definition');
    const changed = ok(
      await bob.api.patch(`/forms/${form.id}`, {
        title: 'Dinner',
        settings: { one_per_user: true },
        draft_rev: 1,
      }),
    ).form;
    expect(changed).toMatchObject({
      title: 'Dinner',
      draft_rev: 2,
      settings: { max_responses: 5, one_per_user: true },
    });
    expect(ok(await bob.api.patch(`/forms/${form.id}`, { title: 'Dinner' })).form.draft_rev).toBe(2);
    const replaced = ok(
      await bob.api.put(`/forms/${form.id}`, { definition: { sections: [] }, draft_rev: 2 }),
    ).form;
    expect(replaced).toMatchObject({
      title: 'Dinner',
      draft_rev: 3,
      definition: { sections: [], logic: [] },
      settings: { max_responses: null, one_per_user: false },
    });
    const deleted = ok(await bob.api.delete(`/forms/${form.id}`));
    expect([deleted.deleted, deleted.form.id]).toEqual([true, form.id]);
    for (const call of [bob.api.get(`/forms/${form.id}`), bob.api.delete(`/forms/${form.id}`)])
      expect((await call).status).toBe(404);
    expect(ok(await bob.api.get('/forms')).forms).toEqual([]);
  });

  test('a stale draft_rev is a conflict, also among concurrent changes', async () => {
    const { id } = await draft(bob);
    const titles = Array.from({ length: 10 }, (_, n) => `Title ${n}`);
    const responses = await Promise.all(
      titles.map((title) => bob.api.patch(`/forms/${id}`, { title, draft_rev: 1 })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of responses.filter((response) => response.status !== 200))
      expect([status, body.error, body.draft_rev]).toEqual([409, 'conflict', 2]);
  });

  test('lists are paged, filtered and searched', async () => {
    const [carol] = await app.tenant('lists', 'carol');
    const made = [];
    for (const title of ['Déjeuner', 'Dinner', 'Party 100%'])
      made.push(await draft(carol, SIMPLE, { title }));
    const ids = made.map(({ id }) => id).toReversed();
    const first = ok(await carol.api.get('/forms?limit=2'));
    const second = ok(await carol.api.get(`/forms?limit=2&cursor=${first.next}`));
    expect([...first.forms, ...second.forms].map(({ id }: any) => id)).toEqual(ids);
    expect(second.next).toBeNull();
    const titles = async (query: string) =>
      ok(await carol.api.get(`/forms?${query}`)).forms.map(({ title }: any) => title);
    expect(await titles('q=DEJEUNER')).toEqual(['Déjeuner']);
    expect(await titles('q=100%25')).toEqual(['Party 100%']);
    expect(await titles('q=colour%20dinner')).toEqual(['Dinner']);
    expect(await titles('state=published')).toEqual([]);
    expect(await titles(`owner=${carol.id}`)).toHaveLength(3);
    expect((await carol.api.get(`/forms?q=x&cursor=${first.next}`)).body.error).toBe('invalid_cursor');
  });

  test('the life cycle', async () => {
    const { id } = await draft(bob);
    const post = (path: string, body?: object) => bob.api.post(`/forms/${id}/${path}`, body);
    expect((await post('accepting', { accepting: true })).body.error).toBe('not_published');
    expect(state(ok(await post('publish')).form)).toEqual(['published', true, 1, false]);
    expect((await post('publish')).body.error).toBe('no_changes');
    const more = definitionOf([{ id: 'name', type: 'short_text', title: 'Your name' }]);
    expect(state(ok(await bob.api.patch(`/forms/${id}`, { definition: more })).form)).toEqual([
      'published',
      true,
      1,
      true,
    ]);
    expect(state(ok(await bob.api.patch(`/forms/${id}`, { definition: SIMPLE })).form)).toEqual([
      'published',
      true,
      1,
      false,
    ]);
    ok(await bob.api.patch(`/forms/${id}`, { definition: more }));
    expect((await post('publish', { draft_rev: 1 })).body.error).toBe('conflict');
    expect(state(ok(await post('publish', { accepting: false })).form)).toEqual([
      'published',
      false,
      2,
      false,
    ]);
    expect(
      ok(await bob.api.get(`/forms/${id}?version=1`)).form.definition.sections[0].questions,
    ).toHaveLength(2);
    expect((await bob.api.get(`/forms/${id}?version=3`)).status).toBe(404);
    const opened = ok(
      await post('accepting', { accepting: true, message: 'Over', closes_at: '2999-01-01T00:00:00Z' }),
    ).form;
    expect([opened.accepting, opened.settings.closed_message, opened.settings.closes_at]).toEqual([
      true,
      'Over',
      '2999-01-01T00:00:00.000Z',
    ]);
    expect(state(ok(await post('archive')).form)).toEqual(['archived', false, 2, false]);
    expect(state(ok(await post('archive')).form)).toEqual(['archived', false, 2, false]);
    for (const call of [
      bob.api.patch(`/forms/${id}`, { title: 'x' }),
      bob.api.put(`/forms/${id}`, { definition: more }),
      post('publish'),
    ])
      expect((await call).body.error).toBe('archived');
    expect((await post('accepting', { accepting: true })).body.error).toBe('not_published');
    expect(state(ok(await post('unarchive')).form)).toEqual(['published', false, 2, false]);
    expect(state(ok(await post('unarchive')).form)).toEqual(['published', false, 2, false]);
  });

  test('invalid definitions and settings are rejected with their places', async () => {
    const { id } = await draft(bob);
    const response = await bob.api.patch(`/forms/${id}`, {
      definition: definitionOf([{ id: 'a', type: 'magic' }]),
    });
    expect([response.status, response.body.error, response.body.details]).toEqual([
      422,
      'invalid_definition',
      [{ field: 'sections.0.questions.0.type', code: 'is_in', message: expect.any(String) }],
    ]);
    ok(
      await bob.api.patch(`/forms/${id}`, {
        definition: definitionOf([{ id: 'a', type: 'dropdown', title: 'A' }]),
      }),
    );
    expect((await bob.api.post(`/forms/${id}/publish`)).body).toMatchObject({
      error: 'invalid_definition',
      details: [{ field: 'sections.0.questions.0', code: 'incomplete' }],
    });
    for (const [settings, field] of [
      [{ opens_at: '2027-01-02T00:00:00Z', closes_at: '2027-01-01T00:00:00Z' }, 'settings.closes_at'],
      [{ anonymous: true, allow_edit: true }, 'settings.allow_edit'],
      [{ max_responses: 0 }, 'settings.max_responses'],
      [{ opens_at: 'soon' }, 'settings.opens_at'],
      [{ confirmation: null }, 'settings.confirmation'],
    ] as const) {
      const { status, body } = await bob.api.patch(`/forms/${id}`, { settings });
      expect([settings, status, body.details?.[0]?.field]).toEqual([settings, 422, field]);
    }
    expect((await bob.api.patch(`/forms/${id}`, { settings: [] })).status).toBe(422);
  });

  test('other members see nothing; the permission forms.manage_any opens the forms of the workspace', async () => {
    const { id } = await published(bob);
    const [carol] = (await app.tenant('acme', 'alice', 'bob', 'carol')).slice(2) as [TestUser];
    for (const call of [
      carol.api.get(`/forms/${id}`),
      carol.api.patch(`/forms/${id}`, { title: 'x' }),
      carol.api.post(`/forms/${id}/archive`),
    ])
      expect((await call).status).toBe(404);
    expect(ok(await carol.api.get('/forms?scope=all')).forms).toEqual([]);
    expect(ok(await alice.api.get(`/forms/${id}`)).form.role).toBe('owner');
    const mine = ok(await alice.api.get('/forms')).forms.map((form: any) => form.id);
    const all = ok(await alice.api.get('/forms?scope=all')).forms.map((form: any) => form.id);
    expect([mine.includes(id), all.includes(id)]).toEqual([false, true]);
    expect(ok(await alice.api.patch(`/forms/${id}`, { title: 'Corrected' })).form.title).toBe('Corrected');
  });

  test('the share link of an archived form can be revoked, not changed', async () => {
    const { id } = await published(bob);
    const { token } = ok(await bob.api.post(`/forms/${id}/share`, { role: 'view' })).form.share;
    const link = `/forms/${id}?share_token=${token}`;
    ok(await bob.api.post(`/forms/${id}/archive`));
    const [carol] = (await app.tenant('acme', 'alice', 'bob', 'carol')).slice(2) as [TestUser];
    expect(ok(await carol.api.get(link)).form.state).toBe('archived');
    for (const change of ['share', 'share/regenerate'])
      expect((await bob.api.post(`/forms/${id}/${change}`)).body.error).toBe('archived');
    expect(ok(await bob.api.delete(`/forms/${id}/share`)).form.share.enabled).toBe(false);
    expect((await carol.api.get(link)).status).toBe(404);
  });

  test('a share link that does not change leaves the form and its history as they are', async () => {
    const { id } = await published(bob);
    const state = async () => {
      const { updated_at } = ok(await bob.api.get(`/forms/${id}`)).form;
      const sql = 'SELECT count(*)::int AS count FROM audit_log WHERE object_id = $1';
      return [updated_at, (await app.sql(sql, [id]))[0].count];
    };
    const before = await state();
    ok(await bob.api.delete(`/forms/${id}/share`));
    expect(await state()).toEqual(before);
    const terms = { role: 'view', expires_at: '2999-01-31T18:00:00.000Z' };
    ok(await bob.api.post(`/forms/${id}/share`, terms));
    const shared = await state();
    expect(ok(await bob.api.post(`/forms/${id}/share`, terms)).form.share).toMatchObject(terms);
    expect(await state()).toEqual(shared);
  });

  test('a lower role does not hide a draft from a holder of forms.manage_any', async () => {
    const { id } = await draft(bob);
    expect(ok(await alice.api.get(`/forms/${id}`)).form.role).toBe('owner');
    const access = [{ user_id: alice.id, role: 'respondent' }];
    ok(await bob.api.put(`/forms/${id}/access`, { access }));
    expect(ok(await alice.api.get(`/forms/${id}`)).form.role).toBe('owner');
  });

  test('the forms of a deactivated member get a new owner', async () => {
    const [root, dora] = await app.tenant('moves', 'root', 'dora');
    const { id } = await published(dora);
    const path = `/tenant/members/${dora.id}`;
    ok(await root.api.post(`${path}/deactivate`));
    expect(JSON.stringify(ok(await root.api.get(`${path}/content`)))).toContain('"forms":1');
    ok(await root.api.post(`${path}/transfer`, { to: root.id }));
    expect(ok(await root.api.get('/forms')).forms.map((form: any) => [form.id, form.owner.id])).toEqual([
      [id, root.id],
    ]);
  });

  test('presets exist in four languages, and each can be published as it is', async () => {
    const texts = [];
    for (const locale of ['en', 'de-AT', 'pt', 'vi']) {
      const { presets } = ok(await bob.api.get(`/forms/presets?locale=${locale}`));
      expect(presets.length).toBeGreaterThanOrEqual(12);
      texts.push(JSON.stringify(presets));
    }
    expect(new Set(texts).size).toBe(4);
    for (const { id: preset_id } of ok(await bob.api.get('/forms/presets')).presets) {
      const { form, source } = ok(await bob.api.post('/forms/draft', { preset_id, language: 'vi' }), 201);
      expect([source, form.state]).toEqual(['preset', 'draft']);
      ok(await bob.api.post(`/forms/${form.id}/publish`));
    }
    expect(
      ok(await bob.api.post('/forms', { title: 'Mine', preset_id: 'quiz' }), 201).form.definition.sections[0]
        .questions,
    ).toHaveLength(3);
    expect((await bob.api.post('/forms/draft', { preset_id: 'nope' })).body.error).toBe('unknown_preset');
    expect((await bob.api.post('/forms', { title: 'x', preset_id: 'nope' })).body.error).toBe(
      'unknown_preset',
    );
    for (const body of [{}, { preset_id: 'quiz', prompt: 'x' }])
      expect((await bob.api.post('/forms/draft', body)).body.error).toBe('validation_failed');
  });

  test('the assistant drafts a form; its failures and unusable output are 503', async () => {
    const completion = (content: unknown) => ({
      body: JSON.stringify({ choices: [{ message: { content } }] }),
    });
    let asked = '';
    reply = (prompt) => {
      asked = prompt;
      return completion(JSON.stringify({ title: 'Canteen\n', description: 'd', definition: SIMPLE }));
    };
    const { form, source } = ok(
      await bob.api.post('/forms/draft', { prompt: 'our canteen', language: 'de' }),
      201,
    );
    expect([source, form.title, form.state]).toEqual(['assistant', 'Canteen', 'draft']);
    expect(JSON.parse(asked).messages[1].content).toBe('Language: de\n\nour canteen');
    const unusable: (typeof reply)[] = [
      () => ({ status: 500, body: '{}' }),
      () => ({ body: 'not json' }),
      () => ({ body: '{}' }),
      () => completion(7),
      () => completion('Sure! Here is your form'),
      () => completion('null'),
      () => completion(JSON.stringify({ definition: definitionOf([{ id: 'a', type: 'magic' }]) })),
      () => completion(JSON.stringify({ definition: { sections: [] } })),
      () => ({ body: ' '.repeat(2 * 1024 * 1024) }),
    ];
    for (reply of unusable) {
      const { status, body } = await bob.api.post('/forms/draft', { prompt: 'x' });
      expect([status, body.error]).toEqual([503, 'assistant_unavailable']);
    }
    // No response at all, and a body that never ends.
    app.get<Assistant>(Assistant).timeoutMs = 200;
    for (const silent of ['headers', 'body'] as const) {
      reply = () => ({ body: 'x', silent });
      const { status, body } = await bob.api.post('/forms/draft', { prompt: 'x' });
      expect([silent, status, body.error]).toEqual([silent, 503, 'assistant_unavailable']);
    }
    expect(ok(await bob.api.get('/forms?q=form')).forms).toEqual([]);
    const other = await TestApp.start({}, app.databaseUrl);
    const { status, body } = await other.as(bob.token).post('/forms/draft', { prompt: 'x' });
    await other.stop();
    expect([status, body.error]).toEqual([503, 'assistant_unavailable']);
  });
});
