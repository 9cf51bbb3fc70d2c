import fc from 'fast-check';
import { DirectoryBackfill } from '../../../src/modules/tenants/directory-backfill.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import { provision } from '../../../src/provision/provision.js';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { runs } from '../../support/property-runs.ts';

const NAMES: [string, string][] = [
  ['Alice Martin', 'alice@dir.example'],
  ['Márta Nagy', 'marta.nagy@dir.example'],
  ['Martín Fierro', 'mf@other.example'],
  ['Nguyễn Thị Hương', 'huong@dir.example'],
  ['王小明', 'wang.xiaoming@dir.example'],
  ['Łukasz Đặng', 'lukasz@dir.example'],
  ['Stephen Hawkins', 'sh@dir.example'],
  ['Zed_100%', 'zed@dir.example'],
];

describe('the directory', () => {
  let app: TestApp;
  let alice: TestUser;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    app = await TestApp.start();
    const users = NAMES.map(([name, email], n) => ({
      name,
      email,
      role: n === 0 ? ('owner' as const) : ('member' as const),
    }));
    const { users: made } = await provision(app.served.nest, { tenants: [{ slug: 'dir', users }] }, true);
    made.forEach((user, n) => ids.set(NAMES[n]![0], user.id));
    const [first] = made as [(typeof made)[0]];
    alice = { ...first, tenantId: first.tenant_id, token: first.token!, api: app.as(first.token!) };
    await app.tenant('elsewhere', 'martina');
    for (const name of ['Marketing', 'Éditeurs']) await alice.api.post('/rbac/groups', { name });
  });
  afterAll(() => app?.stop());

  const search = async (q: string, more = '') => {
    const { status, body } = await alice.api.get(`/directory/search?q=${encodeURIComponent(q)}${more}`);
    expect([q, status]).toEqual([q, 200]);
    return body.results;
  };
  const names = async (q: string, more = '') => (await search(q, more)).map((result: any) => result.name);

  test('matches beginnings of words in names and addresses, ignoring case and accents', async () => {
    expect(await names('mar', '&kinds=user')).toEqual(['Márta Nagy', 'Martín Fierro', 'Alice Martin']);
    expect(await names('martin al')).toEqual(['Alice Martin']);
    expect(await names('NGUYEN', '&kinds=user')).toEqual(['Nguyễn Thị Hương']);
    expect(await names('hươ')).toEqual(['Nguyễn Thị Hương']);
    expect(await names('lukasz dang')).toEqual(['Łukasz Đặng']);
    expect(await names('王小')).toEqual(['王小明']);
    expect(await names('xiaom')).toEqual(['王小明']);
    expect(await names('mf@other.example')).toEqual(['Martín Fierro']);
    expect(await names('zed_100%')).toEqual(['Zed_100%']);
    expect(await names('edit')).toEqual(['Éditeurs']);
    // The middle of a word matches only by similarity.
    for (const { score } of await search('artin')) expect(score).toBeLessThan(0.9);
  });

  test('orders matches at the beginning first, then of words, then similar ones', async () => {
    const results = await search('marta');
    expect(results[0]).toEqual({
      kind: 'user',
      id: ids.get('Márta Nagy'),
      name: 'Márta Nagy',
      email: 'marta.nagy@dir.example',
      avatar_url: null,
      score: 1,
    });
    expect((await search('nagy'))[0]).toMatchObject({ name: 'Márta Nagy', score: 0.9 });
    const misspelt = await search('stephan hawkins');
    expect(misspelt[0].name).toBe('Stephen Hawkins');
    expect(misspelt[0].score).toBeLessThan(0.9);
    expect(misspelt[0].score).toBeGreaterThan(0.4);
    expect(
      (await search('mar', '&kinds=group')).map(({ kind, name, email }: any) => [kind, name, email]),
    ).toEqual([['group', 'Marketing', null]]);
    expect(await search('mar', '&limit=1')).toHaveLength(1);
  });

  test('excludes other workspaces and deactivated members', async () => {
    expect(await names('martina')).not.toContain('Martina');
    const id = ids.get('Stephen Hawkins') as string;
    const set = (status: 'active' | 'deactivated') =>
      app.get(Db).tx((tx) => app.get(TenantsApi).setMemberStatus(tx, id, alice.tenantId!, status));
    await set('deactivated');
    expect(await names('hawkins')).toEqual([]);
    expect(await names('stephan hawkins')).toEqual([]);
    await set('active');
    expect(await names('hawkins')).toEqual(['Stephen Hawkins']);
  });

  test('follows a change of name', async () => {
    await alice.api.put('/settings/profile', { display_name: 'Alicia Keys' });
    expect(await names('keys')).toEqual(['Alicia Keys']);
    expect(await names('alice', '&kinds=user')).toEqual(['Alicia Keys']);
    await alice.api.put('/settings/profile', { display_name: 'Alice Martin' });
  });

  test('finds members that a version without the directory wrote', async () => {
    await app.sql('UPDATE tenant_members SET folded = NULL WHERE tenant_id = $1', [alice.tenantId]);
    expect(await names('hawkins')).toEqual([]);
    await app.get(DirectoryBackfill).run();
    expect(await names('hawkins')).toEqual(['Stephen Hawkins']);
  });

  test('rejects invalid queries, and never fails', async () => {
    for (const query of [
      '',
      '?q=a',
      '?q=%20a%20',
      '?q=a.',
      '?q=..',
      '?q=--',
      `?q=${'x'.repeat(201)}`,
      '?q=ab&q=cd',
      '?q=ab&kinds=room',
      '?q=ab&kinds=user&kinds=group',
      '?q=ab&limit=51',
      '?q=ab&limit=0',
      '?q=%00%00',
    ])
      expect([query, (await alice.api.get(`/directory/search${query}`)).status]).toEqual([query, 422]);
    expect(await search('a b c d e f g h i j')).toEqual([]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 2, maxLength: 40 }), async (q) => {
        const { status } = await alice.api.get(`/directory/search?q=${encodeURIComponent(q.toWellFormed())}`);
        expect([200, 422]).toContain(status);
      }),
      { numRuns: runs(60) },
    );
  });
});
