import fc from 'fast-check';
import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser, type UsersOf } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { until } from '../../support/until.ts';
import { runs } from '../../support/property-runs.ts';

describe('settings', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let made = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const people = <const Names extends readonly string[]>(...names: Names): Promise<UsersOf<Names>> =>
    app.tenant(`s${(made += 1)}`, ...names);
  const actions = async (person: TestUser) =>
    (await app.get(AuditReader).page(person.tenantId, { actorId: person.id }, 50))
      .toReversed()
      .map((event) => event.action);

  describe('profile', () => {
    test('starts with the membership; given fields change, others stay', async () => {
      const [ann, ben] = await people('ann', 'ben');
      const first = (await ann.api.get('/settings/profile')).body.profile;
      expect(first).toEqual({
        id: ann.id,
        email: ann.email,
        display_name: 'Ann',
        given_name: '',
        family_name: '',
        title: '',
        phone: '',
        timezone: null,
        locale: null,
        role: 'owner',
        status: 'active',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const fields = {
        display_name: ' Ann Lê ',
        given_name: 'Ann',
        timezone: 'Asia/Ho_Chi_Minh',
        locale: 'vi-vn',
      };
      const second = await ann.api.put('/settings/profile', fields);
      expect([second.status, second.body.profile]).toEqual([
        200,
        {
          ...first,
          display_name: 'Ann Lê',
          given_name: 'Ann',
          timezone: 'Asia/Ho_Chi_Minh',
          locale: 'vi-VN',
          updated_at: expect.any(String),
        },
      ]);
      const third = await ann.api.put('/settings/profile', { phone: '+84 28 3829 (0)', timezone: null });
      expect(third.body.profile).toMatchObject({
        given_name: 'Ann',
        phone: '+84 28 3829 (0)',
        timezone: null,
      });
      // The profile as it was read, with unknown members: nothing changes, and nothing is logged.
      const again = await ann.api.put('/settings/profile', { ...third.body.profile, made_up: 1 });
      expect([again.status, again.body]).toEqual([200, third.body]);
      expect(await actions(ann)).toEqual(['profile.updated', 'profile.updated']);
      const note = (await ann.api.post('/notes', { title: 'x' })).body.note;
      await ann.api.put(`/notes/${note.id}/invited`, { invited: [ben.id] });
      expect((await ben.api.get(`/notes/${note.id}/revisions`)).body.revisions[0].author.name).toBe('Ann Lê');
    });

    test('another e-mail address and invalid values are rejected', async () => {
      const wrong: [object, string, string][] = [
        [{ email: 'mallory@acme.example' }, 'email', 'not_writable'],
        [{ display_name: ' ' }, 'display_name', 'matches'],
        ...['\u3164', '\u2800\u2800', '\u115f', '\uffa0', '\u200b'].map(
          (display_name): [object, string, string] => [{ display_name }, 'display_name', 'matches'],
        ),
        [{ display_name: null }, 'display_name', 'matches'],
        [{ display_name: 'a\u202eb' }, 'display_name', 'matches'],
        [{ given_name: 'a\nb' }, 'given_name', 'matches'],
        [{ phone: 'call me' }, 'phone', 'matches'],
        [{ timezone: 'Mars/Olympus' }, 'timezone', 'time_zone'],
        [{ timezone: '+02:00' }, 'timezone', 'time_zone'],
        [{ timezone: 7 }, 'timezone', 'time_zone'],
        [{ locale: 'english please' }, 'locale', 'locale'],
        [{ title: 'x'.repeat(101) }, 'title', 'is_length'],
      ];
      for (const [body, field, code] of wrong) {
        const response = await alice.api.put('/settings/profile', body);
        expect([body, response.status, response.body.details?.[0]]).toEqual([
          body,
          422,
          expect.objectContaining({ field, code }),
        ]);
      }
    });

    test('any input is accepted unchanged or rejected; stored and returned values are equal', async () => {
      const field = fc.oneof(fc.string({ unit: 'binary', maxLength: 120 }), fc.anything());
      const body = fc.record(
        {
          display_name: field,
          given_name: field,
          title: field,
          phone: field,
          timezone: field,
          locale: field,
        },
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(body, async (input) => {
          const response = await alice.api.put('/settings/profile', input);
          expect([200, 422]).toContain(response.status);
          if (response.status === 200)
            expect((await alice.api.get('/settings/profile')).body).toEqual(response.body);
        }),
        { numRuns: runs(60) },
      );
    });
  });

  describe('leaving', () => {
    /** Users with passwords. */
    const withPasswords = async (slug: string, ...names: string[]) => {
      const users = names.map((name, n) => ({
        email: `${name}@${slug}.example`,
        name,
        password: `${name}'s long password`,
        role: n === 0 ? ('owner' as const) : ('member' as const),
      }));
      const { users: all } = await provision(app.served.nest, { tenants: [{ slug, users }] }, true);
      return all.map((user) => ({ ...user, tenantId: user.tenant_id, api: app.as(user.token as string) }));
    };
    const gone = (client: { get: (path: string) => Promise<{ status: number }> }) =>
      until('401', async () => (await client.get('/notes')).status === 401);

    test('requires the password; then the membership and its sessions end, other workspaces stay', async () => {
      const [, ben] = await withPasswords('leave-one', 'ann', 'ben');
      const elsewhere = await app.member('leave-two', ben!.email);
      for (const password of [undefined, '', 'wrong', "ann's long password"]) {
        const { status, body } = await ben!.api.delete('/settings/profile', { password });
        expect([status, body.error]).toEqual([403, 'invalid_password']);
      }
      const left = await ben!.api.delete('/settings/profile', { password: "ben's long password" });
      expect([left.status, left.body]).toMatchObject([
        200,
        { deactivated: true, account_closed: false, profile: { status: 'deactivated' } },
      ]);
      await gone(ben!.api);
      expect((await elsewhere.api.get('/notes')).status).toBe(200);
      const sessions = await app.sql('SELECT tenant_id, revoked_at FROM sessions WHERE account_id = $1', [
        ben!.id,
      ]);
      expect(
        sessions.map(({ tenant_id, revoked_at }) => [tenant_id === ben!.tenantId, revoked_at !== null]),
      ).toEqual(
        expect.arrayContaining([
          [true, true],
          [false, false],
        ]),
      );
      // The last membership of the account.
      const last = await elsewhere.api.delete('/settings/profile', { password: "ben's long password" });
      expect(last.body).toMatchObject({ deactivated: true, account_closed: true });
      await gone(elsewhere.api);
      expect((await app.sql('SELECT status FROM accounts WHERE id = $1', [ben!.id]))[0].status).toBe(
        'deactivated',
      );
      const log = await app.get(AuditReader).listConcerning(ben!.tenantId, ben!.id, 5);
      expect(log[0]).toMatchObject({ action: 'user.deactivated', data: { by_themselves: true } });
    });

    test('publishes an event for other modules', async () => {
      const [, ben] = await withPasswords('leave-told', 'ann', 'ben');
      const deliver = await holdEvents(app);
      await ben!.api.delete('/settings/profile', { password: "ben's long password" });
      const events = await app.sql(
        `SELECT payload FROM outbox WHERE tenant_id = $1 AND type = 'member.deactivated'`,
        [ben!.tenantId],
      );
      await deliver();
      expect(events).toEqual([{ payload: { user_id: ben!.id } }]);
    });

    test('the last owner stays', async () => {
      const [ann] = await withPasswords('leave-last', 'ann', 'ben');
      const { status, body } = await ann!.api.delete('/settings/profile', {
        password: "ann's long password",
      });
      expect([status, body.error]).toEqual([409, 'last_admin']);
      expect((await ann!.api.get('/settings/profile')).body.profile.status).toBe('active');
    });

    test('an account without a password needs no proof', async () => {
      const [, ben] = await people('ann', 'ben');
      expect((await ben.api.delete('/settings/profile')).status).toBe(200);
    });
  });

  describe('signatures', () => {
    const create = async (person: TestUser, body: object) => {
      const response = await person.api.post('/settings/signatures', {
        name: 'S',
        html: '<p>x</p>',
        ...body,
      });
      expect(response.status).toBe(201);
      return response.body.signature;
    };
    const defaults = async (person: TestUser) =>
      (await person.api.get('/settings/signatures')).body.signatures
        .filter((signature: any) => signature.is_default)
        .map(({ id }: any) => id);

    test('are created, read, listed, changed and deleted; the text follows the HTML until a user sets it', async () => {
      const [ann, ben] = await people('ann', 'ben');
      const html = '<p>Ann &amp; Co<br>Research</p><p>Berlin</p>';
      const posted = await ann.api.post('/settings/signatures', { name: 'Work', html });
      const { signature } = posted.body;
      expect(posted.headers.get('location')).toBe(`/apis/v1/settings/signatures/${signature.id}`);
      expect(signature).toEqual({
        id: expect.any(String),
        name: 'Work',
        html,
        text: 'Ann & Co\nResearch\nBerlin',
        is_default: false,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const path = `/settings/signatures/${signature.id}`;
      expect((await ann.api.get(path)).body).toEqual({ signature });
      const put = async (body: object) => (await ann.api.put(path, body)).body.signature;
      expect(await put({ html: '<b>Ann</b>' })).toMatchObject({ name: 'Work', text: 'Ann' });
      expect(await put({ text: 'mine' })).toMatchObject({ html: '<b>Ann</b>', text: 'mine' });
      expect(await put({ html: '<i>A</i>' })).toMatchObject({ text: 'mine' });
      expect(await put({ text: null })).toMatchObject({ text: 'A' });
      expect(await put({ html: '<i>B</i>', name: 'W' })).toMatchObject({ text: 'B', name: 'W' });
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect(
          (await ben.api.request(method, path, { body: method === 'GET' ? undefined : { name: 'x' } }))
            .status,
        ).toBe(404);
      expect((await ben.api.put(`${path}/default`)).status).toBe(404);
      expect((await ben.api.get('/settings/signatures')).body).toEqual({ signatures: [], next: null });
      const second = await create(ann, {});
      const page = (await ann.api.get('/settings/signatures?limit=1')).body;
      const rest = (await ann.api.get(`/settings/signatures?limit=1&cursor=${page.next}`)).body;
      expect([page.signatures[0].id, rest.signatures[0].id, rest.next]).toEqual([
        signature.id,
        second.id,
        null,
      ]);
      expect((await ann.api.delete(path)).body).toMatchObject({
        deleted: true,
        signature: { id: signature.id },
      });
      expect((await ann.api.get(path)).status).toBe(404);
      expect((await actions(ann)).filter((action) => action.startsWith('signature'))).toEqual([
        'signature.created',
        ...Array.from({ length: 5 }, () => 'signature.updated'),
        'signature.created',
        'signature.deleted',
      ]);
    });

    test('a signature that is sent back with the derived text that was read keeps deriving it', async () => {
      const [ann] = await people('ann');
      const read = await create(ann, { html: '<p>Ann</p>' });
      const put = async (body: object) =>
        (await ann.api.put(`/settings/signatures/${read.id}`, body)).body.signature;
      expect(await put(read)).toEqual(read);
      expect(await put({ ...read, html: '<p>Ann Lee</p>' })).toMatchObject({ text: 'Ann Lee' });
      expect(await put({ html: '<p>Ann Ray</p>' })).toMatchObject({ text: 'Ann Ray' });
    });

    test('nothing in them runs, loads scripts or sends forms', async () => {
      const signature = await create(alice, {
        html: '<form action="https://evil.example"><input name="p"></form><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a><p>ok</p>',
      });
      expect(signature.html).not.toMatch(/<form|<script|<input|onerror|javascript:/i);
      expect(signature.html).toContain('<p>ok</p>');
      const updated = await alice.api.put(`/settings/signatures/${signature.id}`, {
        html: '<svg onload=alert(1)>',
      });
      expect(updated.body.signature.html).not.toMatch(/onload/);
    });

    test('at most one is the default, and none after it is deleted', async () => {
      const [ann] = await people('ann');
      const [one, two] = [await create(ann, { is_default: true }), await create(ann, { is_default: true })];
      expect(await defaults(ann)).toEqual([two.id]);
      expect((await ann.api.put(`/settings/signatures/${one.id}/default`)).body.signature.is_default).toBe(
        true,
      );
      expect((await ann.api.put(`/settings/signatures/${one.id}/default`)).status).toBe(200);
      expect(await defaults(ann)).toEqual([one.id]);
      await ann.api.put(`/settings/signatures/${two.id}`, { is_default: true });
      expect(await defaults(ann)).toEqual([two.id]);
      await ann.api.put(`/settings/signatures/${two.id}`, { is_default: false });
      expect(await defaults(ann)).toEqual([]);
      await ann.api.put(`/settings/signatures/${two.id}/default`);
      await ann.api.delete(`/settings/signatures/${two.id}`);
      expect(await defaults(ann)).toEqual([]);
    });

    test('invalid input; at most a hundred', async () => {
      const [ann] = await people('ann');
      const wrong: [object, string][] = [
        [{ html: 'x' }, 'name'],
        [{ name: 'x' }, 'html'],
        [{ name: 'x', html: null }, 'html'],
        [{ name: 'x', html: 'ü'.repeat(32 * 1024 + 1) }, 'html'],
        [{ name: 'x', html: '', text: 5 }, 'text'],
        [{ name: 'x', html: '', is_default: 'yes' }, 'is_default'],
        [{ name: 'x', html: '<b>'.repeat(10_000) }, 'html'],
      ];
      for (const [body, field] of wrong) {
        const { status, body: response } = await ann.api.post('/settings/signatures', body);
        expect([field, status, response.details?.[0].field]).toEqual([field, 422, field]);
      }
      for (let n = 0; n < 100; n += 1) await create(ann, { name: `${n}` });
      const { status, body } = await ann.api.post('/settings/signatures', { name: 'x', html: '' });
      expect([status, body.error]).toEqual([422, 'too_many_signatures']);
    });
  });

  describe.each(['general-preferences', 'notifications'])('%s', (name) => {
    const path = `/settings/${name}`;
    const sample = name === 'notifications' ? { digest: 'daily' } : { theme: 'dark' };

    test('defaults, merges, resets, revisions', async () => {
      const [ann, ben] = await people('ann', 'ben');
      const defaults = (await ann.api.get(path)).body;
      expect(defaults.rev).toBe(0);
      const first = await ann.api.put(path, sample);
      expect([first.status, first.body]).toEqual([
        200,
        { rev: 1, preferences: { ...defaults.preferences, ...sample } },
      ]);
      expect((await ann.api.put(path, sample)).body.rev).toBe(1);
      expect((await ann.api.put(path, {})).body).toEqual(first.body);
      // The preferences as they were read change nothing.
      expect((await ann.api.put(path, first.body)).body).toEqual(first.body);
      expect((await ben.api.get(path)).body).toEqual(defaults);
      const stale = await ann.api.put(path, { ...sample, rev: 0 });
      expect([stale.status, stale.body.error, stale.body.rev, stale.body.preferences]).toEqual([
        409,
        'conflict',
        1,
        first.body.preferences,
      ]);
      const back = Object.fromEntries(Object.keys(sample).map((key) => [key, null]));
      expect((await ann.api.put(path, { ...back, rev: 1 })).body).toEqual({ ...defaults, rev: 2 });
    });

    test('unknown keys and invalid values are named, and nothing changes', async () => {
      const [ann] = await people('ann');
      const before = (await ann.api.get(path)).body;
      const key = Object.keys(sample)[0] as string;
      for (const [body, field, code] of [
        [{ made_up: 1, ...sample }, 'made_up', 'unknown_key'],
        [{ made_up: null }, 'made_up', 'unknown_key'],
        [{ preferences: { made_up: 1 } }, 'made_up', 'unknown_key'],
        [{ preferences: {}, ...sample }, key, 'unknown_key'],
        [{ preferences: [] }, 'preferences', 'is_object'],
        [{ [key]: 'nonsense' }, key, 'invalid_value'],
        [{ [key]: { a: 1 } }, key, 'invalid_value'],
        [{ rev: '1' }, 'rev', 'is_int'],
        [{ rev: 1e300 }, 'rev', 'is_int'],
        [[], '', 'is_object'],
        ['text', '', 'is_object'],
      ] as [any, string, string][]) {
        const response = await ann.api.put(path, body);
        expect([body, response.status, response.body.details?.[0]]).toEqual([
          body,
          422,
          expect.objectContaining({ field, code }),
        ]);
      }
      const own = await ann.api.put(path, undefined, { raw: '{"__proto__":{"theme":"dark"}}' });
      // Keys such as `__proto__` are removed before the handler: no change remains.
      expect([own.status, own.body]).toEqual([200, before]);
      expect((await ann.api.get(path)).body).toEqual(before);
    });

    test('any input is merged or rejected as a whole', async () => {
      const [ann] = await people('ann');
      const { preferences } = (await ann.api.get(path)).body;
      const keys = fc.oneof(fc.constantFrom(...Object.keys(preferences)), fc.string({ maxLength: 8 }));
      const values = fc.oneof(
        fc.constantFrom('dark', '24h', 'sunday', 'Europe/Berlin', true, false, null, 'daily'),
        fc.jsonValue(),
        fc.dictionary(
          fc.constantFrom('email', 'push', 'tz', 'ranges', 'security.*', 'chat.mention'),
          fc.jsonValue(),
        ),
      );
      await fc.assert(
        fc.asyncProperty(fc.dictionary(keys, values, { maxKeys: 3 }), async (patch) => {
          const before = (await ann.api.get(path)).body;
          const response = await ann.api.put(path, patch);
          expect([200, 409, 422]).toContain(response.status);
          const after = (await ann.api.get(path)).body;
          expect(after).toEqual(response.status === 200 ? response.body : before);
          expect(Object.keys(after.preferences)).toEqual(Object.keys(preferences));
        }),
        { numRuns: runs(80) },
      );
    });
  });

  test('notification preferences merge deeply, replace lists, and never disable security mails', async () => {
    const { api } = bob;
    const path = '/settings/notifications';
    const quiet = { tz: 'Europe/Berlin', ranges: [{ from: '22:00', to: '07:00', days: ['mon', 'sun'] }] };
    const { preferences } = (
      await api.put(path, {
        channels: { push: false },
        types: { 'chat.message': { email: false } },
        quiet_hours: quiet,
      })
    ).body;
    expect(preferences).toMatchObject({
      channels: { email: true, push: false, in_app: true },
      types: { 'chat.message': { email: false, push: true }, 'chat.mention': { email: true } },
      quiet_hours: quiet,
    });
    const next = (await api.put(path, { quiet_hours: { ranges: [] }, types: { 'chat.message': null } })).body
      .preferences;
    expect(next).toMatchObject({
      types: { 'chat.message': { email: true } },
      quiet_hours: { tz: 'Europe/Berlin', ranges: [] },
    });
    for (const body of [
      { types: { 'security.*': { email: false } } },
      { types: { 'no.such': { email: false } } },
      { types: { 'chat.message': false } },
      { quiet_hours: { tz: 'Nowhere' } },
      { quiet_hours: { ranges: [{ from: '24:00', to: '07:00' }] } },
      { quiet_hours: { ranges: [{ from: '07:00', to: '07:00' }] } },
      { quiet_hours: { ranges: [{ from: '07:00', to: '08:00', days: ['mon', 'mon'] }] } },
      { quiet_hours: { ranges: [{ from: '07:00', to: '08:00', extra: 1 }] } },
      { quiet_hours: { ranges: Array.from({ length: 15 }, () => ({ from: '01:00', to: '02:00' })) } },
    ])
      expect([body, (await api.put(path, body)).status]).toEqual([body, 422]);
  });
});
