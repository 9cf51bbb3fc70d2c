import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, NAMESPACES } from '../../support/dav/dav-client.ts';

const XML = 'urn:example:notes';

describe('properties that only programs know', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let client: DavClient;
  let bobs: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    client = await DavClient.of(app, alice);
    bobs = await DavClient.of(app, bob);
  });
  afterAll(() => app?.stop());

  const calendar = async (name: string): Promise<{ id: string; path: string }> => {
    const { body } = await alice.api.post('/calendar', { name });
    return { id: body.calendar.id, path: `${client.home('calendars')}${body.calendar.id}/` };
  };
  const patch = (path: string, steps: string, by = client) =>
    by.send(
      'PROPPATCH',
      path,
      `<D:propertyupdate ${NAMESPACES} xmlns:N="${XML}">${steps}</D:propertyupdate>`,
    );
  const set = (path: string, props: string, by = client) =>
    patch(path, `<D:set><D:prop>${props}</D:prop></D:set>`, by);
  const remove = (path: string, props: string) =>
    patch(path, `<D:remove><D:prop>${props}</D:prop></D:remove>`);
  const read = async (path: string, name: string, by = client) => {
    const { text } = await by.propfind(path, `<N:${name} xmlns:N="${XML}"/>`);
    return text.includes('200 OK') ? (/<D:prop>(.*?)<\/D:prop>/s.exec(text)?.[1] ?? '') : null;
  };
  const stored = async () => (await app.sql('SELECT FROM dav_properties')).length;

  test('are kept with markup, attributes and language, and are returned to PROPFIND', async () => {
    const { path } = await calendar('Marked');
    const value = `<N:note xml:lang="de" N:kind="a &amp; b" plain="&#10;">Some <b xmlns="">mixed</b> <N:text/>&lt;</N:note>`;
    const { status, text } = await set(path, `${value}<D:displayname>Renamed</D:displayname>`);
    expect([status, text.includes('200 OK'), text.includes(' 403 ')]).toEqual([207, true, false]);
    const kept = await read(path, 'note');
    expect(kept).toBe(
      `<note xmlns="${XML}" plain="&#10;" xml:lang="de" xmlns:n1="${XML}" n1:kind="a &amp; b">Some <b xmlns="">mixed</b> <text/>&lt;</note>`,
    );
    expect((await client.propfind(path, '<D:displayname/>')).text).toContain('Renamed');
    // A program that stores what it read changes nothing.
    await set(path, kept as string);
    expect(await read(path, 'note')).toBe(kept);
    const all = await client.send('PROPFIND', path, undefined, { depth: '0' });
    expect(all.text).toContain(kept);
    const names = await client.send(
      'PROPFIND',
      path,
      `<D:propfind ${NAMESPACES}><D:propname/></D:propfind>`,
      {
        depth: '0',
      },
    );
    expect(names.text).toContain(`<note xmlns="${XML}"/>`);
    const home = await client.propfind(client.home('calendars'), `<N:note xmlns:N="${XML}"/>`, '1');
    expect(home.text).toContain(kept);
    // The language of an element around it is that of the property.
    await patch(path, '<D:set xml:lang="fr"><D:prop><N:short>x</N:short></D:prop></D:set>');
    expect(await read(path, 'short')).toBe(`<short xmlns="${XML}" xml:lang="fr">x</short>`);
    expect((await remove(path, '<N:note/><N:absent/>')).text).toContain('200 OK');
    expect([await read(path, 'note'), await read(path, 'short')]).toEqual([null, expect.any(String)]);
  });

  test('belong to address books and lists of tasks too, and to their creation', async () => {
    const book = `${client.home('addressbooks')}dead/`;
    const type = '<D:resourcetype><D:collection/><A:addressbook/></D:resourcetype>';
    const made = await client.send(
      'MKCOL',
      book,
      `<D:mkcol ${NAMESPACES} xmlns:N="${XML}"><D:set><D:prop>${type}<N:note>book</N:note></D:prop></D:set></D:mkcol>`,
    );
    expect([made.status, await read(book, 'note')]).toEqual([201, `<note xmlns="${XML}">book</note>`]);
    const list = `${client.home('calendars')}dead-tasks/`;
    const components =
      '<C:supported-calendar-component-set><C:comp name="VTODO"/></C:supported-calendar-component-set>';
    const body = (props: string) =>
      `<C:mkcalendar ${NAMESPACES} xmlns:N="${XML}"><D:set><D:prop>${components}${props}</D:prop></D:set></C:mkcalendar>`;
    expect((await client.send('MKCALENDAR', list, body('<N:note>list</N:note>'))).status).toBe(201);
    expect(await read(list, 'note')).toBe(`<note xmlns="${XML}">list</note>`);
  });

  test('are not protected ones: those fail, and nothing is set', async () => {
    const { path } = await calendar('Protected');
    const { text } = await set(path, '<N:note>x</N:note><C:supported-calendar-data/><D:anything/>');
    expect(text).toMatch(/<C:supported-calendar-data\/><D:anything\/><\/D:prop><D:status>HTTP\/1.1 403/);
    expect(text).toContain('424');
    expect(await read(path, 'note')).toBeNull();
  });

  test('are those of one user, also in a calendar that others share', async () => {
    const { id, path } = await calendar('Shared');
    await alice.api.put(`/calendar/${id}`, { shares: [{ user_id: bob.id, role: 'reader' }] });
    const own = `${bobs.home('calendars')}${id}/`;
    expect((await set(own, '<N:note>of Bob</N:note>', bobs)).text).toContain('200 OK');
    expect([await read(own, 'note', bobs), await read(path, 'note')]).toEqual([expect.any(String), null]);
    const { path: secret } = await calendar('Secret');
    const unseen = secret.replace(alice.id, bob.id);
    expect((await set(unseen, '<N:note>x</N:note>', bobs)).status).toBe(404);
  });

  test('have limits of number and bytes', async () => {
    const { path } = await calendar('Limits');
    const many = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `<N:p${from + index}/>`).join('');
    expect((await set(path, many(0, 100))).text).toContain('200 OK');
    const more = await set(path, `<N:p100/><D:displayname>No</D:displayname>`);
    expect(more.text).toMatch(/p100 xmlns="[^"]*"\/><\/D:prop><D:status>HTTP\/1.1 507/);
    expect(more.text).toMatch(/<D:displayname\/><\/D:prop><D:status>HTTP\/1.1 424/);
    await remove(path, many(0, 100));
    expect((await set(path, `<N:long>${'x'.repeat(32_769)}</N:long>`)).text).toContain('507');
    expect(await read(path, 'long')).toBeNull();
    const type = '<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>';
    const to = `${client.home('calendars')}too-much/`;
    const make = `<D:mkcol ${NAMESPACES} xmlns:N="${XML}"><D:set><D:prop>${type}${many(0, 101)}</D:prop></D:set></D:mkcol>`;
    expect((await client.send('MKCOL', to, make)).status).toBe(507);
    expect((await client.propfind(to, '<D:displayname/>')).status).toBe(404);
  });

  test('two programs that set different ones at once keep both', async () => {
    const { path } = await calendar('At once');
    const names = Array.from({ length: 8 }, (_, index) => `q${index}`);
    await Promise.all(names.map((name) => set(path, `<N:${name}/>`)));
    expect(await Promise.all(names.map((name) => read(path, name)))).not.toContain(null);
  });

  test('go with their collection', async () => {
    const before = await stored();
    const { id, path } = await calendar('Short');
    await set(path, '<N:note>x</N:note>');
    expect(await stored()).toBe(before + 1);
    await alice.api.delete(`/calendar/${id}`);
    expect(await stored()).toBe(before);
    expect((await set(path, '<N:note>x</N:note>')).status).toBe(404);
  });
});
