import { TestApp, type TestUser } from '../support/app.ts';

/** Two applications on one database. */
describe('concurrent changes of settings', () => {
  let one: TestApp;
  let two: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    [alice] = await one.tenant('acme', 'alice');
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const clients = () => [one.as(alice.token), two.as(alice.token)] as const;

  test('ten concurrent updates and creations of the default signature: exactly one default', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        clients()[n % 2]!.post('/settings/signatures', { name: `${n}`, html: '', is_default: true }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    const defaults = async () =>
      (await alice.api.get('/settings/signatures')).body.signatures.filter((s: any) => s.is_default).length;
    expect(await defaults()).toBe(1);
    for (let round = 0; round < 5; round += 1) {
      const set = await Promise.all(
        made.map(({ body }, n) => clients()[n % 2]!.put(`/settings/signatures/${body.signature.id}/default`)),
      );
      expect(set.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
      expect(await defaults()).toBe(1);
    }
  });

  test('preferences of two devices: each change is kept, and with a revision one wins', async () => {
    const path = '/settings/general-preferences';
    const patches = [
      { theme: 'dark' },
      { density: 'compact' },
      { week_start: 'sunday' },
      { time_format: '12h' },
    ];
    await Promise.all(patches.map((patch, n) => clients()[n % 2]!.put(path, patch)));
    const { preferences, rev } = (await alice.api.get(path)).body;
    expect(preferences).toMatchObject(Object.assign({}, ...patches));
    expect(rev).toBe(4);
    const racers = await Promise.all(
      ['light', 'system'].map((theme, n) => clients()[n]!.put(path, { theme, rev })),
    );
    expect(racers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test('concurrent changes of profile fields are all kept', async () => {
    const fields = [
      { title: 'T' },
      { phone: '1' },
      { given_name: 'G' },
      { display_name: 'D' },
      { locale: 'de' },
    ];
    await Promise.all(fields.map((field, n) => clients()[n % 2]!.put('/settings/profile', field)));
    expect((await alice.api.get('/settings/profile')).body.profile).toMatchObject(
      Object.assign({}, ...fields),
    );
  });
});
