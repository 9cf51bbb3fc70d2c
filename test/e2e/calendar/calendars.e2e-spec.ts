import { type TestUser, TestApp } from '../../support/app.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('calendars', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;
  let eve: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob, eve] = await app.tenant('acme', 'ann', 'bob', 'eve');
  });
  afterAll(() => app?.stop());

  const calendarsOf = async (person: TestUser, query = '') =>
    (await person.api.get(`/calendar${query}`)).body.calendars as any[];

  test('the first list creates the default calendar, once', async () => {
    await ann.api.put('/settings/profile', { timezone: 'Europe/Berlin' });
    const lists = await Promise.all([1, 2, 3].map(() => ann.api.get('/calendar')));
    for (const { status, body } of lists) {
      expect(status).toBe(200);
      expect(body.next).toBeNull();
      expect(body.calendars).toMatchObject([
        {
          name: 'Calendar',
          is_default: true,
          kind: 'own',
          role: 'owner',
          owner: { id: ann.id },
          hidden: false,
        },
      ]);
    }
    expect(new Set(lists.map(({ body }) => body.calendars[0].id)).size).toBe(1);
  });

  test('are created, changed with and without a revision, and deleted', async () => {
    const made = await ann.api.post('/calendar', {
      name: '  Team ',
      color: '#27AE60',
      time_zone: 'europe/berlin',
      default_reminders: [{ method: 'email', minutes: 60 }],
    });
    expect(made.status).toBe(201);
    const { calendar } = made.body;
    expect(calendar).toMatchObject({
      name: 'Team',
      color: '#27ae60',
      time_zone: 'Europe/Berlin',
      is_default: false,
      default_reminders: [{ method: 'email', minutes: 60 }],
      shares: [],
      revision: 1,
    });
    expect(made.headers.get('etag')).toBe(`"calendar:${calendar.id}:r1"`);
    const path = `/calendar/${calendar.id}`;
    const renamed = await ann.api.put(path, { name: 'Crew', base_revision: 1 });
    expect([renamed.status, renamed.body.calendar.name, renamed.body.calendar.revision]).toEqual([
      200,
      'Crew',
      2,
    ]);
    const stale = await ann.api.put(path, { name: 'Late', base_revision: 1 });
    expect([stale.status, stale.body.error, stale.body.calendar.name]).toEqual([409, 'conflict', 'Crew']);
    expect((await ann.api.put(path, { name: '' })).status).toBe(422);
    expect((await ann.api.put(path, { time_zone: 'Mars/Olympus' })).status).toBe(422);
    const own = await ann.api.put(path, { hidden: true, order: 3 });
    expect(own.body.calendar).toMatchObject({ hidden: true, order: 3, revision: 2 });
    expect((await calendarsOf(ann)).map(({ id }) => id)).not.toContain(calendar.id);
    expect((await calendarsOf(ann, '?include=hidden')).map(({ id }) => id)).toContain(calendar.id);
    const gone = await ann.api.delete(path);
    expect([gone.status, gone.body.deleted, gone.body.calendar.id]).toEqual([200, true, calendar.id]);
    expect((await ann.api.put(path, { name: 'x' })).status).toBe(404);
  });

  test('one is the default, which cannot be deleted', async () => {
    const [first] = await calendarsOf(bob);
    expect((await bob.api.delete(`/calendar/${first.id}`)).body.error).toBe('default_calendar');
    const second = (await bob.api.post('/calendar', { name: 'Work', is_default: true })).body.calendar;
    expect((await calendarsOf(bob)).filter(({ is_default }) => is_default).map(({ id }) => id)).toEqual([
      second.id,
    ]);
    expect((await bob.api.delete(`/calendar/${first.id}`)).status).toBe(200);
  });

  test('are shared with users and groups; each sees them with the highest role and own settings', async () => {
    const group = (await ann.api.post('/rbac/groups', { name: 'Crew' })).body.group;
    await ann.api.post(`/rbac/groups/${group.id}/members`, { user_id: bob.id });
    const shares = [
      { user_id: bob.id, role: 'free_busy' },
      { group_id: group.id, role: 'writer' },
      { user_id: ann.id, role: 'reader' },
    ];
    const shared = (await ann.api.post('/calendar', { name: 'Shared', shares })).body.calendar;
    expect(shared.shares).toMatchObject([
      { user_id: bob.id, group_id: null, name: 'Bob', role: 'free_busy' },
      { user_id: null, group_id: group.id, name: 'Crew', role: 'writer' },
    ]);
    const path = `/calendar/${shared.id}`;
    const seen = (await calendarsOf(bob)).find(({ id }) => id === shared.id);
    expect(seen).toMatchObject({ kind: 'shared', role: 'writer', shares: [], owner: { email: ann.email } });
    expect((await calendarsOf(eve)).some(({ id }) => id === shared.id)).toBe(false);
    expect((await eve.api.put(path, { color: '#000000' })).status).toBe(404);
    expect((await bob.api.put(path, { name: 'Mine' })).status).toBe(403);
    expect((await bob.api.delete(path)).status).toBe(403);
    expect((await bob.api.put(path, { color: '#ff0000', order: 1 })).body.calendar.color).toBe('#ff0000');
    expect((await calendarsOf(ann)).find(({ id }) => id === shared.id).color).not.toBe('#ff0000');
    const everyone = (await ann.api.get('/rbac/groups')).body.groups.find(
      ({ key }: any) => key === 'members',
    );
    await ann.api.put(path, { shares: [{ group_id: everyone.id, role: 'reader' }] });
    expect((await calendarsOf(eve)).find(({ id }) => id === shared.id).role).toBe('reader');
    await ann.api.put(path, { shares: [] });
    expect((await calendarsOf(eve)).some(({ id }) => id === shared.id)).toBe(false);
  });

  test('reject unknown grantees, malformed ids and bad fields', async () => {
    const foreign = await app.tenant('other', 'olga');
    for (const share of [
      { user_id: UNKNOWN, role: 'reader' },
      { user_id: foreign[0].id, role: 'reader' },
      { group_id: UNKNOWN, role: 'reader' },
    ])
      expect((await ann.api.post('/calendar', { name: 'x', shares: [share] })).body.error).toBe(
        'unknown_grantee',
      );
    for (const body of [
      {},
      { name: 'x', color: 'red' },
      { name: 'x', shares: [{ role: 'reader' }] },
      { name: 'x', shares: [{ user_id: bob.id, role: 'king' }] },
      { name: 'x', default_reminders: [{ method: 'popup', minutes: -1 }] },
      { name: 'x', default_reminders: 'none' },
    ])
      expect((await ann.api.post('/calendar', body)).status).toBe(422);
    expect((await ann.api.put('/calendar/sync', { name: 'x' })).body.error).toBe('invalid_id');
    expect((await ann.api.put(`/calendar/${UNKNOWN}`, { name: 'x' })).status).toBe(404);
  });

  test('pages follow the own order', async () => {
    const [zoe] = await app.tenant('pages', 'zoe');
    const ids: string[] = [(await calendarsOf(zoe))[0].id];
    for (const n of [3, 1, 2]) {
      const { calendar } = (await zoe.api.post('/calendar', { name: `c${n}` })).body;
      await zoe.api.put(`/calendar/${calendar.id}`, { order: n });
      ids.push(calendar.id);
    }
    const names: string[] = [];
    let cursor = '';
    do {
      const { body } = await zoe.api.get(`/calendar?limit=1${cursor}`);
      names.push(...body.calendars.map(({ name }: any) => name));
      cursor = body.next && `&cursor=${encodeURIComponent(body.next)}`;
    } while (cursor);
    expect(names).toEqual(['c1', 'c2', 'c3', 'Calendar']);
    expect((await zoe.api.get('/calendar?cursor=x.y')).body.error).toBe('invalid_cursor');
  });

  test('a repeated creation with an Idempotency-Key creates one', async () => {
    const headers = { 'idempotency-key': 'once' };
    const made = await ann.api.post('/calendar', { name: 'Once' }, { headers });
    const again = await ann.api.post('/calendar', { name: 'Once' }, { headers });
    expect(again.body).toEqual(made.body);
    const id = made.body.calendar.id;
    expect((await ann.api.post('/calendar', { name: 'Twice', id })).body.error).toBe('already_exists');
  });

  test('may be written back as they were read: by a role owner, and with the share of a former member', async () => {
    const [owner, uma, vic] = await app.tenant('echo', 'owner', 'uma', 'vic');
    const { id } = (
      await uma.api.post('/calendar', {
        name: 'Team',
        shares: [
          { user_id: vic.id, role: 'reader' },
          { user_id: owner.id, role: 'owner' },
        ],
      })
    ).body.calendar;
    const read = async (person: TestUser) =>
      (await person.api.get('/calendar')).body.calendars.find((each: any) => each.id === id);
    const back = await owner.api.put(`/calendar/${id}`, await read(owner));
    expect([back.status, back.body.error]).toEqual([200, undefined]);
    const claimed = await owner.api.put(`/calendar/${id}`, { is_default: true });
    expect(claimed.status).toBe(403);
    await owner.api.post(`/tenant/members/${vic.id}/deactivate`);
    const { shares, ...rest } = await read(uma);
    const renamed = await uma.api.put(`/calendar/${id}`, { ...rest, shares, name: 'Ours' });
    expect([renamed.status, renamed.body.calendar.name, renamed.body.calendar.shares]).toEqual([
      200,
      'Ours',
      expect.arrayContaining(shares),
    ]);
  });
});
