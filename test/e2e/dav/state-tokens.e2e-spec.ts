import { TestApp, type TestUser } from '../../support/app.ts';
import { DavClient, NAMESPACES, valuesOf } from '../../support/dav/dav-client.ts';

const event = (uid: string): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20270101T000000Z\r\nDTSTART:20270302T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
const todo = (uid: string): string =>
  event(uid)
    .replace(/DTSTART.*\r\n/, '')
    .replaceAll('VEVENT', 'VTODO');
const card = (uid: string): string =>
  `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:${uid}\r\nN:;${uid};;;\r\nEND:VCARD\r\n`;

/** Sync tokens as conditions of requests (RFC 6578, section 5). */
describe('sync tokens in If headers', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let client: DavClient;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    client = await DavClient.of(app, alice);
  });
  afterAll(() => app?.stop());

  const made = async (kind: string): Promise<string> => {
    const { body } = await alice.api.post(
      { events: '/calendar', tasks: '/task_folders', cards: '/contact/addressbooks' }[kind] as string,
      { name: 'Tokens' },
    );
    const { id } = body.calendar ?? body.folder ?? body.addressbook;
    return `${client.home(kind === 'cards' ? 'addressbooks' : 'calendars')}${id}/`;
  };
  const tokenOf = async (path: string): Promise<string> =>
    valuesOf((await client.propfind(path, '<D:sync-token/>')).text, 'D:sync-token')[0] as string;
  const synchronised = async (path: string, token: string): Promise<string> => {
    const { text } = await client.report(
      path,
      'D:sync-collection',
      `<D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop>`,
    );
    return valuesOf(text, 'D:sync-token')[0] as string;
  };

  test.each([
    ['events', event],
    ['tasks', todo],
    ['cards', card],
  ])(
    'a write of %s that names the current token of the collection is made, others fail',
    async (kind, text) => {
      const path = await made(kind);
      const put = async (name: string, header: string, client_ = client) =>
        (await client_.send('PUT', path + name, text(name), { if: header })).status;
      const first = await tokenOf(path);
      expect(await put('one', `<${path}> (<${first}>)`)).toBe(201);
      expect(await put('two', `<${path}> (<${first}>)`)).toBe(412);
      // Tokens of a property and of a report are not the same text.
      const second = await synchronised(path, first);
      expect(await put('two', `<${app.base}${path}> (<${second}>)`)).toBe(201);
      expect(await put('three', `<${path}> (<${second}>)`)).toBe(412);
      expect(await put('three', `<${path}> (Not <${second}>)`)).toBe(201);
      const current = await tokenOf(path);
      // Tokens of other collections, and ones that the server did not make, are false.
      expect(await put('four', `<${client.home('calendars')}nothing/> (<${current}>)`)).toBe(412);
      expect(await put('four', `(<${current}>)`)).toBe(412);
      expect(await put('four', `<${path}> (<data:,x>)`)).toBe(412);
      const remove = async (header: string) =>
        (await client.send('DELETE', `${path}one`, undefined, { if: header })).status;
      expect(await remove(`<${path}> (<${second}>)`)).toBe(412);
      expect(await remove(`<${path}> (<${current}>)`)).toBe(204);
      // The collection itself.
      const rename = `<D:propertyupdate ${NAMESPACES}><D:set><D:prop><D:displayname>New</D:displayname></D:prop></D:set></D:propertyupdate>`;
      const patch = async (token: string) =>
        (await client.send('PROPPATCH', path, rename, { if: `(<${token}>)` })).status;
      expect(await patch(current)).toBe(412);
      expect(await patch(await tokenOf(path))).toBe(207);
    },
  );

  test('of another user, and more than a few, are not evaluated', async () => {
    const path = await made('events');
    const token = await tokenOf(path);
    const bobs = await DavClient.of(app, bob);
    const own = `${bobs.home('calendars')}x/`;
    const body = (await bob.api.get('/calendar')).body;
    const to = `${bobs.home('calendars')}${body.calendars[0].id}/e.ics`;
    for (const named of [path, own, path.replace(alice.id, bob.id)])
      expect((await bobs.send('PUT', to, event('e'), { if: `<${named}> (<${token}>)` })).status).toBe(412);
    const many = Array.from({ length: 11 }, (_, index) => `(<data:,${index}>)`).join(' ');
    expect((await client.send('PUT', `${path}e.ics`, event('e'), { if: `<${path}> ${many}` })).status).toBe(
      400,
    );
  });
});
