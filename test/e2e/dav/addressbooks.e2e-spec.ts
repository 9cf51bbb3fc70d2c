import { Db } from '../../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { leastTrips } from '../../support/database/round-trips.ts';
import { DAV, DavClient, goneOf, hrefsOf, valuesOf } from '../../support/dav/dav-client.ts';

const card = (uid: string, name: string, more = ''): string =>
  `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:${name}\r\nN:;${name};;;\r\n${more}END:VCARD\r\n`;
const VCARD = { 'content-type': 'text/vcard' };

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('CardDAV', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let client: DavClient;
  let book: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    client = await DavClient.of(app, alice);
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Customers' });
    book = `${client.home('addressbooks')}${body.addressbook.id}/`;
  });
  afterAll(() => app?.stop());

  const put = (path: string, text: string, headers: Record<string, string> = {}) =>
    client.send('PUT', path, text, { ...VCARD, ...headers });
  const idOf = (path: string) => path.split('/').at(-2) as string;
  const contacts = async (path = book) =>
    (await alice.api.get(`/contact/addressbooks/${idOf(path)}/contacts`)).body.contacts;

  test('the home lists own books and that of the workspace, which is read-only for members', async () => {
    const bobs = await DavClient.of(app, bob);
    await alice.api.get('/contact/addressbooks');
    const { status, text } = await bobs.propfind(
      bobs.home('addressbooks'),
      '<D:displayname/><D:current-user-privilege-set/><D:resourcetype/>',
      '1',
    );
    expect(status).toBe(207);
    const global = text.split('<D:response>').find((part) => part.includes(bob.tenantId as string)) as string;
    expect(global).toContain('<A:addressbook/>');
    expect(global).not.toContain('<D:write/>');
    expect(hrefsOf(text)).toHaveLength(3);
    const write = await bobs.send(
      'PUT',
      `${bobs.home('addressbooks')}${bob.tenantId}/x.vcf`,
      card('x', 'X'),
      VCARD,
    );
    expect(write.status).toBe(403);
  });

  test('a contact is created, read, replaced and deleted under its own path', async () => {
    const path = `${book}maria.vcf`;
    const made = await put(
      path,
      card('uid-maria', 'Maria', 'EMAIL:maria@example.com\r\nX-UNKNOWN;A=b:c\\,d\r\n'),
      {
        'if-none-match': '*',
      },
    );
    expect([made.status, made.headers.get('etag')]).toEqual([201, null]);
    const read = await client.send('GET', path);
    expect([read.status, read.headers.get('content-type')]).toEqual([200, 'text/vcard; charset=utf-8']);
    expect(read.text).toContain('X-UNKNOWN;A=b:c\\,d\r\n');
    const [contact] = await contacts();
    expect(contact).toMatchObject({ external_id: 'maria', uid: 'uid-maria', revision: 1 });
    const etag = read.headers.get('etag') as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await client.send('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);

    const same = await put(path, read.text, { 'if-match': etag });
    expect([same.status, (await contacts())[0].revision]).toEqual([204, 1]);
    const changed = await put(path, read.text.replace('FN:Maria', 'FN:Maria Silva'), { 'if-match': etag });
    expect([changed.status, (await contacts())[0].full_name]).toEqual([204, 'Maria Silva']);
    const old = await put(path, read.text, { 'if-match': etag });
    expect([old.status, (await contacts())[0].revision]).toEqual([412, 2]);
    expect((await put(path, read.text, { 'if-none-match': '*' })).status).toBe(412);
    expect((await client.send('DELETE', path, undefined, { 'if-match': etag })).status).toBe(412);
    expect((await client.send('DELETE', path)).status).toBe(204);
    expect((await client.send('GET', path)).status).toBe(404);
    expect((await client.send('DELETE', path)).status).toBe(404);
  });

  test('what a program stored survives an edit of the HTTP API, and the other way round', async () => {
    const path = `${book}both.vcf`;
    await put(
      path,
      card('uid-both', 'Both', 'item1.TEL:+420601123456\r\nitem1.X-ABLabel:Boat\r\nX-FOO:bar\r\n'),
    );
    const url = `/contact/addressbooks/${idOf(book)}/contacts/both`;
    await alice.api.put(url, { job_title: 'Captain' });
    const { text } = await client.send('GET', path);
    for (const line of ['TITLE:Captain', 'X-FOO:bar', 'X-ABLabel:Boat']) expect(text).toContain(line);
    await put(path, text.replace('FN:Both', 'FN:Both of us'));
    expect((await alice.api.get(url)).body.contact).toMatchObject({
      full_name: 'Both of us',
      job_title: 'Captain',
      custom: expect.arrayContaining([expect.objectContaining({ name: 'X-FOO' })]),
    });
  });

  const listOf = (count: number, line: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => line(n)).join('');
  test.each([
    ['phones', listOf(101, (n) => `TEL:+4930123${1_000 + n}\r\n`)],
    ['custom', listOf(101, (n) => `X-OWN:${n}\r\n`)],
    ['categories', `CATEGORIES:${listOf(201, (n) => `c${n},`)}end\r\n`],
    ['urls', `URL:https://e.example/${'x'.repeat(1_990)}\r\n`],
    ['job_title', `TITLE:${'x'.repeat(1_001)}\r\n`],
  ])('a card with a value beyond a limit of %s is rejected and changes nothing', async (_, lines) => {
    const path = `${book}limits.vcf`;
    for (const isNew of [true, false]) {
      const { status, text } = await put(path, card('uid-limits', 'Lia', lines));
      expect([status, text]).toEqual([403, expect.stringContaining('valid-address-data')]);
      if (isNew) {
        expect((await client.send('GET', path)).status).toBe(404);
        const logo = `LOGO;ENCODING=b;TYPE=PNG:${Buffer.alloc(20_000).toString('base64')}\r\n`;
        expect((await put(path, card('uid-limits', 'Lia', logo))).status).toBe(201);
      }
    }
    expect((await client.send('GET', path)).text).toContain('FN:Lia');
    expect((await client.send('DELETE', path)).status).toBe(204);
  });

  const bytesOf = (count: number): string => Buffer.alloc(count, 0xff).toString('base64');
  test.each([
    [
      'second photo',
      `PHOTO;ENCODING=b;TYPE=PNG:${PIXEL}\r\nPHOTO;ENCODING=b;TYPE=PNG:${bytesOf(20_000)}\r\n`,
    ],
    ['photo without an encoding', `PHOTO;TYPE=PNG:${bytesOf(60_000)}\r\n`],
    ['picture of a card', `X-MS-CARDPICTURE;ENCODING=b:${bytesOf(20_000)}\r\n`],
    ['file of a program', `X-OWN-FILE;ENCODING=b:${bytesOf(20_000)}\r\n`],
  ])('a large %s is left out, and the contact is stored', async (_, lines) => {
    const path = `${book}media.vcf`;
    expect((await put(path, card('uid-media', 'Mia', `${lines}TITLE:T\r\n`))).status).toBe(201);
    const { text } = await client.send('GET', path);
    expect(text).toContain('TITLE:T');
    expect(text.length).toBeLessThan(2_000);
    expect((await client.send('DELETE', path)).status).toBe(204);
  });

  test('a large text is rejected, also beside a file of the same name', async () => {
    const lines = `X-OWN;ENCODING=b:${bytesOf(100)}\r\nX-OWN:${'a'.repeat(70_000)}\r\n`;
    const { status, text } = await put(`${book}large.vcf`, card('uid-large', 'Lia', lines));
    expect([status, text]).toEqual([403, expect.stringContaining('valid-address-data')]);
  });

  test('names that programs choose are kept, also without an extension', async () => {
    for (const name of ['plain', 'a b.vcf', 'x.y.vcf', 'ünïcode.vcf', 'dot..vcf', 'id@host/part.vcf']) {
      const path = `${book}${encodeURIComponent(name)}`;
      expect((await put(path, card(`uid of ${name}`, name))).status).toBe(201);
      const { text } = await client.propfind(book, '<D:getetag/>', '1');
      expect(hrefsOf(text)).toContain(path);
      expect((await client.send('DELETE', path)).status).toBe(204);
    }
    expect((await put(`${book}sync.vcf`, card('uid-sync', 'Sync'))).status).toBe(403);
  });

  test('a UID occurs once in a book', async () => {
    await put(`${book}first.vcf`, card('uid-once', 'Once'));
    const { status, text } = await put(`${book}second.vcf`, card('uid-once', 'Once'));
    expect(status).toBe(409);
    expect(text).toContain('<A:no-uid-conflict>');
    expect(text).toContain(`${book}first.vcf`);
    const agent = card('uid-agent', 'Principal', 'AGENT:BEGIN:VCARD\\nFN:Agent\\nEND:VCARD\r\n');
    expect((await put(`${book}agent.vcf`, agent)).status).toBe(201);
    for (const wrong of ['no card', card('uid-two', 'Two') + card('uid-three', 'Three')]) {
      const invalid = await put(`${book}third.vcf`, wrong);
      expect(invalid.status).toBe(403);
      expect(invalid.text).toContain('<A:valid-address-data/>');
    }
  });

  test('of concurrent writes one takes effect, the others get 412', async () => {
    const path = `${book}race.vcf`;
    const outcome = async (headers: Record<string, string>, name: string) => {
      const writes = Array.from({ length: 6 }, (_, n) =>
        put(path, card('uid-race', `${name} ${n}`), headers),
      );
      return (await Promise.all(writes)).map(({ status }) => status).toSorted();
    };
    expect(await outcome({ 'if-none-match': '*' }, 'A')).toEqual([201, 412, 412, 412, 412, 412]);
    const etag = await client.etag(path);
    expect(await outcome({ 'if-match': etag }, 'B')).toEqual([204, 412, 412, 412, 412, 412]);
  });

  test('a photo is stored once, and its return changes nothing', async () => {
    const path = `${book}photo.vcf`;
    await put(path, card('uid-photo', 'Photo', `PHOTO;ENCODING=b;TYPE=PNG:${PIXEL}\r\n`));
    const read = await client.send('GET', path);
    expect(read.text).toContain('PHOTO;ENCODING=b;TYPE=JPEG:');
    expect((await put(path, read.text)).status).toBe(204);
    expect(await client.etag(path)).toBe(read.headers.get('etag'));
  });

  test('multiget returns contents, and 404 for what the book does not contain', async () => {
    await put(`${book}m1.vcf`, card('uid-m1', 'M1'));
    const hrefs = [`${book}m1.vcf`, `${book}none.vcf`, '/elsewhere', `${DAV}/calendars/${alice.id}/x/y`];
    const { status, text } = await client.report(
      book,
      'A:addressbook-multiget',
      `<D:prop><D:getetag/><A:address-data/></D:prop>${hrefs.map((href) => `<D:href>${href}</D:href>`).join('')}`,
    );
    expect(status).toBe(207);
    expect(hrefsOf(text)).toEqual([hrefs[0]]);
    expect(goneOf(text).toSorted()).toEqual(hrefs.slice(1).toSorted());
    expect(valuesOf(text, 'A:address-data')[0]).toContain('FN:M1');
    const version4 = await client.report(
      book,
      'A:addressbook-multiget',
      `<D:prop><A:address-data content-type="text/vcard" version="4.0"/></D:prop><D:href>${hrefs[0]}</D:href>`,
    );
    expect(version4.text).toContain('VERSION:4.0');
  });

  test('queries filter by properties', async () => {
    await put(`${book}q1.vcf`, card('uid-q1', 'Query One', 'EMAIL;TYPE=work:one@query.example\r\n'));
    await put(`${book}q2.vcf`, card('uid-q2', 'Query Two', 'TEL:+1\r\n'));
    const find = async (filter: string) => {
      const { text } = await client.report(
        book,
        'A:addressbook-query',
        `<D:prop><D:getetag/></D:prop>${filter}`,
      );
      return hrefsOf(text)
        .map((href) => href.split('/').at(-1))
        .filter((name) => name?.startsWith('q'));
    };
    const prop = (name: string, content: string) =>
      `<A:prop-filter name="${name}">${content}</A:prop-filter>`;
    const match = (text: string, more = '') => `<A:text-match ${more}>${text}</A:text-match>`;
    expect(await find('')).toEqual(['q1.vcf', 'q2.vcf']);
    expect(await find(`<A:filter>${prop('FN', match('query'))}</A:filter>`)).toEqual(['q1.vcf', 'q2.vcf']);
    expect(
      await find(`<A:filter>${prop('EMAIL', match('ONE@', 'match-type="starts-with"'))}</A:filter>`),
    ).toEqual(['q1.vcf']);
    expect(await find(`<A:filter>${prop('EMAIL', '<A:is-not-defined/>')}</A:filter>`)).toEqual(['q2.vcf']);
    const both = prop('FN', match('two')) + prop('EMAIL', '');
    expect(await find(`<A:filter test="anyof">${both}</A:filter>`)).toEqual(['q1.vcf', 'q2.vcf']);
    expect(await find(`<A:filter test="allof">${both}</A:filter>`)).toEqual([]);
  });

  test('sync-collection returns changes and removals since a token', async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Synchronised' });
    const path = `${client.home('addressbooks')}${body.addressbook.id}/`;
    const sync = async (token: string, more = '') => {
      const { status, text } = await client.report(
        path,
        'D:sync-collection',
        `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level>${more}<D:prop><D:getetag/></D:prop>`,
      );
      return { status, text, token: valuesOf(text, 'D:sync-token')[0] as string };
    };
    await put(`${path}a.vcf`, card('uid-a', 'A'));
    await put(`${path}b.vcf`, card('uid-b', 'B'));
    const first = await sync('');
    expect(hrefsOf(first.text)).toEqual([`${path}a.vcf`, `${path}b.vcf`]);
    expect(hrefsOf((await sync(first.token)).text)).toEqual([]);
    const { text } = await client.propfind(path, '<D:sync-token/><S:getctag/>');
    const shown = valuesOf(text, 'D:sync-token')[0] as string;
    await alice.api.put(`/contact/addressbooks/${body.addressbook.id}/contacts/a`, { full_name: 'Anna' });
    await client.send('DELETE', `${path}b.vcf`);
    for (const token of [first.token, shown]) {
      const next = await sync(token);
      expect([hrefsOf(next.text), goneOf(next.text)]).toEqual([[`${path}a.vcf`], [`${path}b.vcf`]]);
    }
    const part = await sync('', '<D:limit><D:nresults>1</D:nresults></D:limit>');
    expect(hrefsOf((await sync(part.token)).text)).toEqual([]);
    for (const token of ['data:,c1.x.y', 'http://example.com/1']) {
      const invalid = await sync(token);
      expect([invalid.status, invalid.text]).toEqual([403, expect.stringContaining('<D:valid-sync-token/>')]);
    }
  });

  test('a book of a program is created under its name, patched and deleted', async () => {
    const path = `${client.home('addressbooks')}my-book/`;
    const body = `<D:mkcol xmlns:D="DAV:" xmlns:A="urn:ietf:params:xml:ns:carddav"><D:set><D:prop><D:resourcetype><D:collection/><A:addressbook/></D:resourcetype><D:displayname>Mine</D:displayname></D:prop></D:set></D:mkcol>`;
    expect((await client.send('MKCOL', path, body)).status).toBe(201);
    expect((await client.send('MKCOL', path, body)).status).toBe(405);
    expect((await put(`${path}c.vcf`, card('uid-c', 'C'))).status).toBe(201);
    const { text } = await client.propfind(path, '<D:displayname/>', '1');
    expect(hrefsOf(text)).toEqual([path, `${path}c.vcf`]);
    const patch = await client.send(
      'PROPPATCH',
      path,
      '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:displayname>Renamed</D:displayname></D:prop></D:set></D:propertyupdate>',
    );
    expect(patch.text).toContain('200 OK');
    expect(valuesOf((await client.propfind(path, '<D:displayname/>')).text, 'D:displayname')).toEqual([
      'Renamed',
    ]);
    expect((await client.send('DELETE', path)).status).toBe(204);
    expect((await client.propfind(path, '<D:displayname/>')).status).toBe(404);
  });

  test('a book that a program creates at the path of an id is found there by each method', async () => {
    const path = `${client.home('addressbooks')}0199cafe-0000-4000-8000-00000000beef/`;
    const properties = '<D:displayname>Own id</D:displayname><x:mood xmlns:x="urn:x">calm</x:mood>';
    const body = `<D:mkcol xmlns:D="DAV:" xmlns:A="urn:ietf:params:xml:ns:carddav"><D:set><D:prop><D:resourcetype><D:collection/><A:addressbook/></D:resourcetype>${properties}</D:prop></D:set></D:mkcol>`;
    expect((await client.send('MKCOL', path, body)).status).toBe(201);
    expect((await client.propfind(path, '<x:mood xmlns:x="urn:x"/>')).text).toContain('calm');
    expect((await put(`${path}own.vcf`, card('uid-own', 'Own'))).status).toBe(201);
    expect((await client.send('GET', `${path}own.vcf`)).text).toContain('FN:Own');
    const reports = {
      'A:addressbook-multiget': `<D:prop><D:getetag/></D:prop><D:href>${path}own.vcf</D:href>`,
      'A:addressbook-query': '<D:prop><D:getetag/></D:prop>',
      'D:sync-collection': '<D:sync-token/><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>',
    };
    for (const [name, content] of Object.entries(reports)) {
      const { status, text } = await client.report(path, name, content);
      expect([name, status, hrefsOf(text)]).toEqual([name, 207, [`${path}own.vcf`]]);
    }
    expect((await client.send('DELETE', `${path}own.vcf`)).status).toBe(204);
    expect((await client.send('GET', `${path}own.vcf`)).status).toBe(404);
    expect((await client.send('DELETE', path)).status).toBe(204);
    expect((await client.report(path, 'A:addressbook-multiget', '<D:prop/>')).status).toBe(404);
  });

  test('contacts are read with the access to their book: not by others, and not after the end of a share', async () => {
    await put(`${book}shared.vcf`, card('uid-shared', 'Shared'));
    const bobs = await DavClient.of(app, bob);
    const path = `${bobs.home('addressbooks')}${idOf(book)}/`;
    const multiget = (hrefs: string) =>
      bobs.report(path, 'A:addressbook-multiget', `<D:prop><A:address-data/></D:prop>${hrefs}`);
    const href = `<D:href>${path}shared.vcf</D:href>`;
    const share = (shares: object[]) => alice.api.put(`/contact/addressbooks/${idOf(book)}`, { shares });
    const expectNothing = async () => {
      for (const hrefs of [href, '']) expect((await multiget(hrefs)).status).toBe(404);
      expect((await bobs.send('GET', `${path}shared.vcf`)).status).toBe(404);
      expect((await bobs.send('DELETE', `${path}shared.vcf`)).status).toBe(404);
    };
    await expectNothing();
    expect((await share([{ user_id: bob.id, role: 'reader' }])).status).toBe(200);
    expect(valuesOf((await multiget(href)).text, 'A:address-data')[0]).toContain('FN:Shared');
    expect(hrefsOf((await multiget('')).text)).toEqual([]);
    const write = await bobs.send('PUT', `${path}shared.vcf`, card('uid-shared', 'Other'), VCARD);
    expect([write.status, write.text]).toEqual([403, expect.stringContaining('<D:error')]);
    expect((await bobs.send('DELETE', `${path}shared.vcf`)).status).toBe(403);
    expect((await share([])).status).toBe(200);
    await expectNothing();
  });

  test('a home with its tokens takes the queries of the list of books, a multiget of contacts one', async () => {
    await put(`${book}one.vcf`, card('uid-one', 'One'));
    const db = app.get<Db>(Db);
    const home = () =>
      client.propfind(client.home('addressbooks'), '<D:displayname/><D:sync-token/><S:getctag/>', '1');
    const multiget = () =>
      client.report(
        book,
        'A:addressbook-multiget',
        `<D:prop><D:getetag/><A:address-data/></D:prop><D:href>${book}one.vcf</D:href>`,
      );
    const { text } = await home();
    expect(valuesOf(text, 'D:sync-token')).toHaveLength(hrefsOf(text).length - 1);
    const listed = await leastTrips(db, () => alice.api.get('/contact/useraddressbooks'));
    expect(await leastTrips(db, home)).toBe(listed);
    expect(await leastTrips(db, multiget)).toBe(1);
  });

  test('the token of a book in the home is that of its last change', async () => {
    const { body } = await alice.api.post('/contact/addressbooks', { name: 'Tokens' });
    const path = `${client.home('addressbooks')}${body.addressbook.id}/`;
    const tokens = async () => {
      const { text } = await client.propfind(client.home('addressbooks'), '<D:sync-token/>', '1');
      return new Map(
        text
          .split('<D:response>')
          .flatMap((part) =>
            hrefsOf(`<D:response>${part}`).map((href) => [href, part.match(/data:,[^<]*/)?.[0]]),
          ),
      );
    };
    const before = await tokens();
    await put(`${path}t.vcf`, card('uid-t', 'T'));
    const after = await tokens();
    const changed = [...after].filter(([href, token]) => before.get(href) !== token).map(([href]) => href);
    expect(changed).toEqual([path]);
    const { text } = await client.propfind(path, '<D:sync-token/>');
    expect(valuesOf(text, 'D:sync-token')).toEqual([after.get(path)]);
    const synchronised = await client.report(
      path,
      'D:sync-collection',
      `<D:sync-token>${after.get(path)}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
    );
    expect([synchronised.status, hrefsOf(synchronised.text)]).toEqual([207, []]);
  });
});
