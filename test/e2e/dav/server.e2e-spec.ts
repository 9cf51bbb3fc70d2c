import { jest } from '@jest/globals';
import { TestApp, type TestUser } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { DAV, DavClient, hrefsOf, NAMESPACES, valuesOf } from '../../support/dav/dav-client.ts';

describe('WebDAV', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    client = await DavClient.of(app, alice);
  });
  afterAll(() => app?.stop());

  const status = async (authorization: string | null, path = `${DAV}/`, method = 'OPTIONS') => {
    const response = await fetch(app.base + path, {
      method,
      headers: { ...(authorization !== null && { authorization }), depth: '0' },
    });
    return response.status;
  };
  const basic = (name: string, password: string) =>
    `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

  describe('sign-in', () => {
    test('is by an application password or a bearer token', async () => {
      expect(await status(client.authorization)).toBe(200);
      expect(await status(`Bearer ${alice.token}`)).toBe(200);
      const { status: without, headers } = await client.send('OPTIONS', `${DAV}/`, undefined, {
        authorization: '',
      });
      expect(without).toBe(401);
      expect(headers.get('www-authenticate')).toMatch(/^Basic .*Bearer/);
      for (const wrong of [
        basic(alice.email, 'aaaaaaaaaaaaaaaa'),
        basic('nobody@acme.example', client.password),
        'Basic x',
        'Basic Og==',
        'Bearer nonsense',
      ])
        expect(await status(wrong)).toBe(401);
    });

    test('the password of the account opens nothing', async () => {
      const [dora] = await app.tenant('own', 'dora');
      const { body } = await dora.api.put('/settings/security/password', {
        new_password: 'a long enough secret',
      });
      expect(body.error === undefined || typeof body.error === 'string').toBe(true);
      expect(await status(basic(dora.email, 'a long enough secret'))).toBe(401);
    });

    test('the scopes of a password limit it to calendars or contacts', async () => {
      const contacts = await DavClient.of(app, alice, ['carddav']);
      expect((await contacts.propfind(contacts.home('addressbooks'), '<D:displayname/>')).status).toBe(207);
      expect((await contacts.propfind(contacts.home('calendars'), '<D:displayname/>')).status).toBe(403);
    });

    test('the list in the settings shows the last use, and an ended password is rejected', async () => {
      const own = await DavClient.of(app, alice);
      await own.propfind(`${DAV}/`, '<D:displayname/>');
      const { body } = await alice.api.get('/settings/application-passwords');
      const [{ id, last_used_at, last_used_ip }] = body.application_passwords;
      expect([typeof last_used_at, typeof last_used_ip]).toEqual(['string', 'string']);
      await alice.api.delete(`/settings/application-passwords/${id}`);
      // Another header is another entry of the cache.
      expect(await status(basic(alice.email, own.password.toUpperCase()))).toBe(401);
    });

    test('the end of a password is effective at once, in other processes too', async () => {
      const other = await TestApp.start({}, app.databaseUrl);
      try {
        const own = await DavClient.of(app, alice);
        const at = async (served: TestApp) =>
          (
            await fetch(`${served.base}${DAV}/`, {
              method: 'OPTIONS',
              headers: { authorization: own.authorization },
            })
          ).status;
        expect([await at(app), await at(other)]).toEqual([200, 200]);
        const { body } = await alice.api.get('/settings/application-passwords');
        expect(
          (await alice.api.delete(`/settings/application-passwords/${body.application_passwords[0].id}`))
            .status,
        ).toBe(200);
        expect(await at(app)).toBe(401);
        // Without a report, the cache of the other process would keep the password for five seconds.
        const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
        try {
          await until('the end of the password', async () => (await at(other)) === 401);
        } finally {
          clock.mockRestore();
        }
      } finally {
        await other.stop();
      }
    });

    test('a password is not accepted after its time', async () => {
      const own = await DavClient.of(app, alice);
      const [{ id }] = (await alice.api.get('/settings/application-passwords')).body.application_passwords;
      const setEnd = (seconds: number) =>
        app.sql(
          `UPDATE application_passwords SET expires_at = now() + make_interval(secs => $2) WHERE id = $1`,
          [id, seconds],
        );
      await setEnd(3_600);
      expect(await status(own.authorization)).toBe(200);
      await setEnd(-1);
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_601_000);
      expect(await status(own.authorization)).toBe(401);
      clock.mockRestore();
    });

    test('guesses are limited, in one network and for one address', async () => {
      const [eve] = await app.tenant('guesses', 'eve');
      const own = await DavClient.of(app, eve);
      const letters = 'abcdefghijklmnopqrstuvwxyz';
      for (let guess = 0; guess < 30; guess += 1) {
        const wrong = letters[guess % 26]!.repeat(15) + letters[Math.floor(guess / 26)]!;
        const answer = await status(basic(eve.email, wrong));
        if (answer === 429) break;
        expect(answer).toBe(401);
      }
      expect(await status(basic(eve.email, 'zzzzzzzzzzzzzzzz'))).toBe(429);
      expect(await status(own.authorization)).toBe(429);
      const audit = await app.sql(
        `SELECT data FROM audit_log WHERE action = 'identity.sign_in.failed' AND object_id = $1`,
        [eve.id],
      );
      expect(audit[0].data).toEqual({ factor: 'application_password' });
    });
  });

  test('programs find principal and homes from any start', async () => {
    for (const path of ['/.well-known/caldav', '/.well-known/carddav']) {
      const { status: code, headers } = await client.send('PROPFIND', path);
      expect([code, headers.get('location')]).toEqual([301, `${DAV}/`]);
    }
    const { headers } = await client.send('OPTIONS', `${DAV}/`);
    expect(headers.get('dav')).toContain('calendar-access');
    const root = await client.propfind(DAV, '<D:current-user-principal/><D:unknown/>');
    expect(root.text).toContain('404 Not Found');
    const principal = hrefsOfProperty(root.text, 'D:current-user-principal')[0] as string;
    const { text } = await client.propfind(
      principal,
      '<C:calendar-home-set/><A:addressbook-home-set/><C:calendar-user-address-set/><C:schedule-inbox-URL/><C:schedule-outbox-URL/><D:displayname/>',
    );
    expect(hrefsOfProperty(text, 'C:calendar-home-set')).toEqual([client.home('calendars')]);
    expect(hrefsOfProperty(text, 'A:addressbook-home-set')).toEqual([client.home('addressbooks')]);
    expect(hrefsOfProperty(text, 'C:calendar-user-address-set')[0]).toBe(`mailto:${alice.email}`);
    for (const place of ['inbox', 'outbox'])
      expect(
        (await client.propfind(`${client.home('calendars')}${place}/`, '<D:resourcetype/>')).text,
      ).toContain(`<C:schedule-${place}/>`);
  });

  test('PROPFIND returns all properties, their names, or the given ones', async () => {
    const path = client.home('calendars');
    const all = await client.send('PROPFIND', path, undefined, { depth: '0' });
    expect(all.text).toContain('<D:displayname>Calendars</D:displayname>');
    const names = await client.send('PROPFIND', path, '<propfind xmlns="DAV:"><propname/></propfind>', {
      depth: '0',
    });
    expect(names.text).toContain('<D:displayname/>');
    const minimal = await client.send(
      'PROPFIND',
      path,
      `<D:propfind ${NAMESPACES}><D:prop><D:none/></D:prop></D:propfind>`,
      {
        depth: '0',
        prefer: 'return=minimal',
      },
    );
    expect(minimal.text).not.toContain('404 Not Found');
    const foreign = await client.propfind(path, '<x:y xmlns:x="urn:&quot;&lt;"/>');
    expect(foreign.text).toContain('<y xmlns="urn:&quot;&lt;"/>');
    for (const depth of [undefined, 'infinity']) {
      const { status: code, text } = await client.send('PROPFIND', path, undefined, depth ? { depth } : {});
      expect([code, text]).toEqual([403, expect.stringContaining('<D:propfind-finite-depth/>')]);
    }
    expect((await client.send('PROPFIND', path, undefined, { depth: '2' })).status).toBe(400);
  });

  test('unknown paths, methods and reports get typed errors', async () => {
    for (const path of [
      '/x',
      '/calendars/1',
      '/calendars/%zz',
      `/principals/${alice.id}/x`,
      `/calendars/${alice.id}/a/b/c`,
    ])
      expect((await client.propfind(DAV + path, '<D:displayname/>')).status).toBe(404);
    expect((await client.send('LOCK', `${DAV}/`)).status).toBe(405);
    expect((await client.send('GET', `${DAV}/`)).status).toBe(405);
    const report = await client.report(client.home('calendars'), 'D:version-tree', '');
    expect([report.status, report.text]).toEqual([403, expect.stringContaining('<D:supported-report/>')]);
  });

  test('members are found by the words of their names and addresses, in the own workspace only', async () => {
    const [sophie, other] = await app.tenant('searched', 'sophie', 'sophus');
    const own = await DavClient.of(app, sophie);
    const principals = `${DAV}/principals/`;
    const search = async (conditions: string, test = 'allof', on = principals, more = '') => {
      const { status, text } = await own.send(
        'REPORT',
        on,
        `<D:principal-property-search test="${test}" ${NAMESPACES}>${conditions}<D:prop><D:displayname/><C:calendar-user-address-set/></D:prop>${more}</D:principal-property-search>`,
        { depth: '0' },
      );
      return { status, text, found: hrefsOf(text).filter((href) => href.startsWith(principals)) };
    };
    const of = (property: string, match: string) =>
      `<D:property-search><D:prop>${property}</D:prop><D:match>${match}</D:match></D:property-search>`;
    const [name, address] = ['<D:displayname/>', '<S:email-address-set/>'];
    const paths = (...users: TestUser[]) => users.map(({ id }) => `${principals}${id}/`).toSorted();
    const byAddress = await search(of(address, 'soph'));
    expect(byAddress.found.toSorted()).toEqual(paths(sophie, other));
    expect(byAddress.text).toContain(`<D:href>mailto:${other.email}</D:href>`);
    expect((await search(of(address, sophie.email))).found).toEqual(paths(sophie));
    expect((await search(of(address, 'soph') + of(name, 'nobody'))).found).toEqual([]);
    expect((await search(of(address, sophie.email) + of(name, 'nobody'), 'anyof')).found).toEqual(
      paths(sophie),
    );
    expect((await search(of('<D:getetag/>', 'soph'))).found).toEqual([]);
    expect((await search(of(address, alice.email))).found).toEqual([]);
    expect((await search('')).status).toBe(400);
    const elsewhere = [own.home('calendars'), '<D:apply-to-principal-collection-set/>'] as const;
    expect((await search(of(address, 'sophie'), 'allof', ...elsewhere)).found).toEqual(paths(sophie));
    expect((await search(of(address, 'sophie'), 'allof', elsewhere[0])).status).toBe(403);
    const { text: properties } = await own.send(
      'REPORT',
      principals,
      `<D:principal-search-property-set ${NAMESPACES}/>`,
    );
    for (const each of ['D:displayname', 'S:email-address-set', 'C:calendar-user-address-set'])
      expect(properties).toContain(`<D:prop><${each}/></D:prop>`);
    const { text: supported } = await own.propfind(principals, '<D:supported-report-set/>');
    expect(supported).toContain('<D:principal-property-search/>');
  });

  test('hostile XML is rejected before it costs anything', async () => {
    const find = (body: string | Buffer) => client.send('PROPFIND', `${DAV}/`, body, { depth: '0' });
    const bomb = `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(1000)}"><!ENTITY b "&a;&a;&a;&a;">]><propfind xmlns="DAV:"><prop>&b;</prop></propfind>`;
    const external = '<!DOCTYPE x SYSTEM "file:///etc/passwd"><propfind xmlns="DAV:"><allprop/></propfind>';
    const cases: [string | Buffer, number][] = [
      [bomb, 400],
      [external, 400],
      ['<propfind xmlns="DAV:"><prop>&undeclared;</prop></propfind>', 400],
      [`<propfind xmlns="DAV:">${'<a>'.repeat(5000)}`, 422],
      [`<propfind xmlns="DAV:"><prop>${'<a/>'.repeat(30_000)}</prop></propfind>`, 422],
      [`<propfind xmlns="DAV:" ${Array.from({ length: 30_000 }, (_, n) => `a${n}=""`).join(' ')}/>`, 422],
      ['x'.repeat(1024 * 1024 + 1), 413],
      ['<propfind xmlns="DAV:">', 400],
      ['plain', 400],
      ['<other/>', 400],
      [Buffer.from([0xff, 0xfe, 0x3c, 0x00]), 400],
      ['<propfind xmlns="DAV:"><x:prop/></propfind>', 400],
    ];
    for (const [body, code] of cases) expect((await find(body)).status).toBe(code);
    expect(
      (await client.send('PROPFIND', `${DAV}/`, '<a/>', { depth: '0', 'content-encoding': 'gzip' })).status,
    ).toBe(415);
  });

  test('a body without a length is read up to the limit', async () => {
    const chunk = new Uint8Array(64 * 1024).fill(0x20);
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks += 1;
        if (chunks > 200) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const response = await fetch(`${app.base}${DAV}/`, {
      method: 'PROPFIND',
      headers: { authorization: client.authorization, depth: '0' },
      body,
      duplex: 'half',
    });
    expect(response.status).toBe(413);
    expect(chunks).toBeLessThan(200);
  });

  test('the profile of Apple programs names the accounts of its reader', async () => {
    const response = await fetch(`${app.base}${DAV}/profile`, {
      headers: { authorization: `Bearer ${alice.token}` },
    });
    expect(response.headers.get('content-type')).toBe('application/x-apple-aspen-config');
    const text = await response.text();
    expect(text).toContain(`<key>CalDAVUsername</key><string>${alice.email}</string>`);
    expect(text).toContain(`<key>CardDAVPrincipalURL</key><string>${DAV}/principals/${alice.id}/</string>`);
    expect((await fetch(`${app.base}${DAV}/profile`)).status).toBe(401);
  });

  test('what is created below a missing collection is a conflict (RFC 4918, 9.3.1, 9.7.1)', async () => {
    const home = client.home('calendars');
    const sent = async (method: string, path: string) =>
      (await client.send(method, path, 'x', { 'content-type': 'text/calendar' })).status;
    expect(await sent('PUT', `${home}missing/one.ics`)).toBe(409);
    expect(await sent('PUT', `${client.home('addressbooks')}missing/one.vcf`)).toBe(409);
    expect(await sent('PUT', `${home}missing/deeper/one.ics`)).toBe(409);
    for (const [method, space] of [
      ['MKCOL', 'calendars'],
      ['MKCALENDAR', 'calendars'],
      ['MKCOL', 'addressbooks'],
    ] as const)
      for (const path of ['missing/sub/', 'missing/deeper/deepest/'])
        expect((await client.send(method, client.home(space) + path)).status).toBe(409);
    expect(await sent('DELETE', `${home}missing/one.ics`)).toBe(404);
  });

  test('what an existing collection cannot have is forbidden, and no conflict', async () => {
    const home = client.home('calendars');
    const { body } = await alice.api.post('/calendar', { name: 'Parent' });
    const own = `${home}${body.calendar.id}/`;
    const sent = async (method: string, path: string) => (await client.send(method, path)).status;
    expect(await sent('MKCOL', `${own}sub/`)).toBe(403);
    expect(await sent('MKCALENDAR', `${own}sub/`)).toBe(403);
    for (const name of ['%00.ics', '%zz.ics', `${'a'.repeat(513)}.ics`]) {
      expect(await sent('PUT', own + name)).toBe(403);
      expect(await sent('GET', own + name)).toBe(404);
    }
    expect(await sent('PUT', `${home}inbox/one.ics`)).toBe(403);
    expect(await sent('MKCOL', `${home}outbox/sub/`)).toBe(403);
    expect(await sent('MKCOL', `${DAV}/elsewhere/`)).toBe(403);
    expect(await sent('MKCOL', `${DAV}/elsewhere/sub/`)).toBe(409);
  });

  test('a MKCOL whose body is no XML is of an unsupported type (RFC 4918, 9.3.1)', async () => {
    const path = `${client.home('calendars')}typed/`;
    const make = async (type: string) =>
      (await client.send('MKCOL', path, 'afafafaf', { 'content-type': type })).status;
    expect(await make('xyz-foo/bar-512')).toBe(415);
    expect(await make('application/xml')).toBe(400);
    expect(await make('text/xml; charset=utf-8')).toBe(400);
  });
});

const hrefsOfProperty = (text: string, name: string): string[] =>
  valuesOf(text, name).flatMap((value) => valuesOf(value, 'D:href'));
