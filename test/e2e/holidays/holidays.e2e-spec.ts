import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { type TestUser, TestApp } from '../../support/app.ts';

describe('holidays', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let mallory: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
  });
  afterAll(() => app?.stop());

  const list = async (query: string) => (await bob.api.get(`/calendar/holidays?${query}`)).body.holidays;
  const named = (holidays: any[], name: string) => holidays.find((each) => each.name === name);

  describe('of a country', () => {
    test('are listed in order of date, with names in the language and in that of the country', async () => {
      const holidays = await list('country=de&region=by&year=2026&types=public&language=de-AT');
      expect(holidays[0]).toEqual({
        id: 'DE-2026-01-01-new-year-s-day',
        date: '2026-01-01',
        end_date: '2026-01-01',
        name: 'Neujahr',
        local_name: 'Neujahr',
        type: 'public',
        observed: false,
        country: 'DE',
        region: 'BY',
      });
      const dates = holidays.map((each: any) => each.date);
      expect(dates).toEqual(dates.toSorted());
      expect(named(holidays, 'Heilige Drei Könige')).toMatchObject({ date: '2026-01-06' });
      expect(named(holidays, 'Karfreitag').date).toBe('2026-04-03');
      expect(new Set(holidays.map((each: any) => each.type))).toEqual(new Set(['public']));
    });

    test('differ by region and contain days off in place of a weekend', async () => {
      expect(named(await list('country=DE&year=2026&types=public'), 'Epiphany')).toBeUndefined();
      const american = await list('country=US&from=2027-07-01&to=2027-07-05');
      expect(american.map((each: any) => [each.date, each.observed])).toEqual([
        ['2027-07-04', false],
        ['2027-07-05', true],
      ]);
    });

    test('cover a range across years, inclusive at both ends', async () => {
      const holidays = await list('country=GB&region=ENG&from=2026-12-25&to=2027-01-01&types=public');
      expect(holidays.map((each: any) => each.date)).toEqual([
        '2026-12-25',
        '2026-12-26',
        '2026-12-28',
        '2027-01-01',
      ]);
    });

    test('include a holiday that began in the year before', async () => {
      const named = 'Incwala Festival';
      const festivals = (await list('country=SZ&year=2026')).filter(({ name }: any) => name === named);
      expect(festivals.map((each: any) => [each.date, each.end_date])).toEqual([
        ['2025-12-28', '2026-01-02'],
        ['2026-12-28', '2027-01-02'],
      ]);
      // The first year of the data.
      expect((await list('country=SZ&year=2020'))[0].date).toMatch(/^2020/);
    });

    test('without a country are the countries and their regions', async () => {
      const { status, body } = await bob.api.get('/calendar/holidays');
      expect([status, body.next]).toEqual([200, null]);
      expect(body.countries.length).toBeGreaterThan(200);
      expect(body.countries).toContainEqual({ code: 'VN', name: 'Vietnam', language: 'vi', regions: [] });
      const germany = body.countries.find((each: any) => each.code === 'DE');
      expect(germany.regions).toContainEqual({ code: 'BY', name: 'Bayern' });
    });

    test('are those of each region that is listed, in any letter case', async () => {
      const { countries } = (await bob.api.get('/calendar/holidays')).body;
      const regions = countries.find(({ code }: any) => code === 'NZ').regions.map(({ code }: any) => code);
      expect(regions).toContain('CAN-Timaru');
      for (const region of [...regions, 'can-timaru']) {
        const { status, body } = await bob.api.get(
          `/calendar/holidays?country=NZ&year=2026&region=${encodeURIComponent(region)}`,
        );
        expect([region, status, body.error]).toEqual([region, 200, undefined]);
        expect(regions).toContain(body.holidays[0].region);
      }
    });

    test.each([
      ['CZ', 'cs-CZ', 'Nový rok'],
      ['JP', 'ja', '元日'],
      ['GE', 'ka', 'ახალი წელი'],
      ['NO', 'nb-NO', 'Første nyttårsdag'],
    ])('have names in the language of the country by its tag: %s, %s', async (country, language, name) => {
      const [first] = await list(`country=${country}&year=2026&language=${language}`);
      expect(first.name).toContain(name);
      const { countries } = (await bob.api.get('/calendar/holidays')).body;
      const tag = countries.find(({ code }: any) => code === country).language;
      expect((await list(`country=${country}&year=2026&language=${tag}`))[0].name).toBe(first.name);
    });

    test.each([
      ['country=XX', 'unknown_country'],
      ['country=DE&region=NOWHERE', 'unknown_region'],
      ['country=DE&region=constructor', 'unknown_region'],
      ['country=DE&year=2019', 'year_unsupported'],
      ['country=DE&year=2046', 'year_unsupported'],
      ['country=DEU', 'validation_failed'],
      ['country=DE&year=26.5', 'validation_failed'],
      ['country=DE&from=2026-02-30', 'validation_failed'],
      ['country=DE&from=2026-05-01&to=2026-04-01', 'validation_failed'],
      ['country=DE&from=2026-01-01&to=2040-01-01', 'validation_failed'],
      ['country=DE&types=public,lunar', 'validation_failed'],
      ['country=DE&language=%00', 'validation_failed'],
    ])('rejects %s', async (query, error) => {
      const response = await bob.api.get(`/calendar/holidays?${query}`);
      expect([response.status, response.body.error]).toEqual([422, error]);
    });
  });

  describe('subscriptions', () => {
    const germany = { country: 'de', region: 'by', language: 'de', color: '#0E7C3A', busy: true };
    const stored = {
      country: 'DE',
      region: 'BY',
      types: ['public'],
      language: 'de',
      color: '#0E7C3A',
      busy: true,
    };
    const france = {
      country: 'FR',
      region: null,
      types: ['public'],
      language: null,
      color: null,
      busy: false,
    };

    test('of a member are replaced as a whole, each place once', async () => {
      expect((await bob.api.get('/calendar/holiday-subscriptions')).body).toEqual({
        subscriptions: [],
        tenant_subscriptions: [],
        muted_tenant: [],
      });
      const twice = { subscriptions: [{ country: 'DE', region: 'BY' }, germany], muted_tenant: ['FR'] };
      const { status, body } = await bob.api.put('/calendar/holiday-subscriptions', twice);
      expect([status, body]).toEqual([
        200,
        { subscriptions: [stored], tenant_subscriptions: [], muted_tenant: ['FR'] },
      ]);
      // A request without muted_tenant keeps the muted holidays.
      const kept = await bob.api.put('/calendar/holiday-subscriptions', { subscriptions: [germany] });
      expect(kept.body).toEqual(body);
      const island = {
        subscriptions: [{ country: 'NZ', region: 'WTC-Buller' }],
        muted_tenant: ['NZ-CAN-Timaru'],
      };
      const mixed = await bob.api.put('/calendar/holiday-subscriptions', island);
      expect([mixed.status, mixed.body]).toEqual([
        200,
        expect.objectContaining({
          subscriptions: [expect.objectContaining({ region: 'WTC-Buller' })],
          muted_tenant: ['NZ-CAN-Timaru'],
        }),
      ]);
      expect((await alice.api.get('/calendar/holiday-subscriptions')).body.subscriptions).toEqual([]);
    });

    test('of the workspace are changed by a permission, audited, and seen by its members only', async () => {
      const wanted = { subscriptions: [{ country: 'FR' }, { country: 'CH', types: ['public', 'bank'] }] };
      const path = '/calendar/holiday-subscriptions/tenant';
      const denied = await bob.api.put(path, wanted);
      expect([denied.status, denied.body.error]).toEqual([403, 'forbidden']);
      const { status, body } = await alice.api.put(path, wanted);
      expect([status, body.subscriptions[0]]).toEqual([200, france]);
      const [entry] = await app.get(AuditReader).page(alice.tenantId, { actorId: alice.id }, 1);
      expect(entry).toMatchObject({ action: 'calendar.holidays.changed', data: { places: ['FR', 'CH'] } });
      const seen = (await bob.api.get('/calendar/holiday-subscriptions')).body.tenant_subscriptions;
      expect(seen).toEqual(body.subscriptions);
      const outside = (await mallory.api.get('/calendar/holiday-subscriptions')).body.tenant_subscriptions;
      expect(outside).toEqual([]);
    });

    test('in effect are those of the workspace, unless muted, and the own ones, each holiday once', async () => {
      await alice.api.put('/calendar/holiday-subscriptions/tenant', {
        subscriptions: [{ country: 'FR' }, { country: 'DE', language: 'de' }],
      });
      await bob.api.put('/calendar/holiday-subscriptions', {
        subscriptions: [germany],
        muted_tenant: ['FR'],
      });
      const { body } = await bob.api.get('/calendar/holidays/effective?from=2026-01-01&to=2026-12-31');
      const keys = body.holidays.map((each: any) => `${each.date} ${each.name}`);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).toEqual(keys.toSorted());
      // New Year comes from the workspace, and blocks time because of the member's own subscription.
      expect(named(body.holidays, 'Neujahr')).toMatchObject({ source: 'tenant', busy: true, region: null });
      expect(named(body.holidays, 'Heilige Drei Könige')).toMatchObject({
        source: 'personal',
        color: '#0E7C3A',
        region: 'BY',
      });
      expect(body.holidays.some((each: any) => each.country === 'FR')).toBe(false);
      expect(body.subscriptions.map((each: any) => each.country)).toEqual(['DE', 'DE']);
      const french = await bob.api.get(
        '/calendar/holidays/effective?from=2026-01-01&to=2026-01-01&language=pt',
      );
      expect(french.body.holidays.map((each: any) => each.name)).toEqual(['Ano Novo']);
    });

    test.each<[object, string]>([
      [{ subscriptions: [{ country: 'XX' }] }, 'unknown_country'],
      [{ subscriptions: [{ country: 'DE', region: 'Q' }] }, 'unknown_region'],
      [{}, 'validation_failed'],
      [{ subscriptions: [[]] }, 'validation_failed'],
      [{ subscriptions: [{ country: 'DE', types: ['lunar'] }] }, 'validation_failed'],
      [{ subscriptions: [{ country: 'DE', color: 'red' }] }, 'validation_failed'],
      [{ subscriptions: [{ country: 'DE', busy: 'yes' }] }, 'validation_failed'],
      [{ subscriptions: [], muted_tenant: ['de'] }, 'validation_failed'],
      [{ subscriptions: Array.from({ length: 21 }, () => ({ country: 'DE' })) }, 'validation_failed'],
    ])('rejects %j', async (body, error) => {
      const own = await bob.api.put('/calendar/holiday-subscriptions', body);
      expect([own.status, own.body.error]).toEqual([422, error]);
    });
  });
});
