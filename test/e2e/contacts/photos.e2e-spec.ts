import { createHash } from 'node:crypto';
import fc from 'fast-check';
import ICAL from 'ical.js';
import sharp from 'sharp';
import { ContactPhotos } from '../../../src/modules/contacts/contact-photos.js';
import { readCard } from '../../../src/lib/vcard/index.js';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse, Client } from '../../support/network/client.ts';
import { runs } from '../../support/property-runs.ts';

const PIXELS = {
  width: 90,
  height: 60,
  channels: 4,
  background: { r: 200, g: 20, b: 20, alpha: 0.5 },
} as const;

describe('photos of contacts', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let mallory: TestUser;
  let png: Buffer;
  /** A JPEG from a camera: on its side, with a place. */
  let jpeg: Buffer;
  let bookId: string;
  let path: string;
  let contact: any;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
    png = await sharp({ create: PIXELS }).png().toBuffer();
    jpeg = await sharp({ create: { ...PIXELS, width: 2000, height: 1000, channels: 3 } })
      .withExif({ IFD0: { Make: 'Camera', Orientation: '6' }, IFD3: { GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
  });
  afterAll(() => app?.stop());
  beforeEach(async () => {
    bookId = (await alice.api.post('/contact/addressbooks', { name: 'Photos' })).body.addressbook.id;
    contact = await create('Maria Silva');
    path = pathOf(contact);
  });

  const create = async (full_name: string, fields: object = {}) =>
    (await alice.api.post(`/contact/addressbooks/${bookId}/contacts`, { full_name, ...fields })).body.contact;
  const pathOf = ({ addressbook_id, external_id }: any) =>
    `/contact/addressbooks/${addressbook_id}/contacts/${encodeURIComponent(external_id)}`;
  const put = (
    to: string,
    raw: Buffer,
    headers: object = {},
    api: Client = alice.api,
  ): Promise<ApiResponse> =>
    api.request('PUT', to, { raw, headers: { 'content-type': 'image/png', ...headers } });
  const bytesOf = async (url: string, { api }: TestUser = alice): Promise<Buffer> => {
    const headers = { authorization: `Bearer ${api.token}` };
    const response = await fetch(`${app.base}${url}`, { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    return Buffer.from(await response.arrayBuffer());
  };
  const rows = async (): Promise<number> =>
    (await app.sql<{ n: number }>('SELECT count(*)::int AS n FROM contact_photos')).at(0)?.n ?? 0;
  const collect = () => app.get(ContactPhotos).collect();

  test('a photo is set, read, cached by its ETag, replaced and removed, each time with a new revision', async () => {
    expect(contact.photo).toBeNull();
    expect((await alice.api.get(`${path}/photo`)).body).toMatchObject({ error: 'not_found' });
    const set = await put(`${path}/photo`, png);
    expect([set.status, set.headers.get('etag')]).toEqual([200, `"contact:${contact.id}:r2"`]);
    const { photo } = set.body.contact;
    const stored = await bytesOf(photo.url);
    expect(photo).toEqual({
      url: `/apis/v1${path}/photo?v=${photo.url.slice(-36)}`,
      media_type: 'image/jpeg',
      size: stored.length,
      sha256: createHash('sha256').update(stored).digest('hex'),
      width: 90,
      height: 60,
    });
    expect((await alice.api.get(path)).body.contact.photo).toEqual(photo);
    const tag = `"${photo.sha256}"`;
    for (const known of [tag, `"a",W/${tag}`, '*']) {
      const again = await alice.api.get(`${path}/photo`, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    }
    expect((await put(`${path}/photo`, png)).body.contact.revision).toBe(2);
    const other = await put(`${path}/photo`, jpeg, { 'content-type': 'image/jpeg' });
    expect([other.body.contact.revision, other.body.contact.photo.url === photo.url]).toEqual([3, false]);
    const removed = await alice.api.delete(`${path}/photo`);
    expect([removed.status, removed.body.contact.revision, removed.body.contact.photo]).toEqual([
      200,
      4,
      null,
    ]);
    expect((await alice.api.delete(`${path}/photo`)).status).toBe(404);
    expect((await alice.api.get(`${path}/photo`)).status).toBe(404);
  });

  test('the server encodes the image again: upright, small, opaque, without metadata', async () => {
    const { photo } = (await put(`${path}/photo`, jpeg, { 'content-type': 'image/jpeg' })).body.contact;
    const stored = await bytesOf(photo.url);
    const info = await sharp(stored).metadata();
    expect([info.format, info.width, info.height]).toEqual(['jpeg', 360, 720]);
    expect([info.exif, info.xmp, info.icc, info.orientation]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(stored.includes('Camera')).toBe(false);
    await put(`${path}/photo`, png);
    const { dominant } = await sharp(await bytesOf(`/apis/v1${path}/photo`)).stats();
    // Half transparent red on white.
    expect(dominant.r).toBeGreaterThan(200);
    expect(dominant.g).toBeGreaterThan(100);
  });

  test.each(['webp', 'gif'] as const)('reads %s', async (format) => {
    const image = await sharp({ create: PIXELS }).toFormat(format).toBuffer();
    const { status, body } = await put(`${path}/photo`, image, { 'content-type': `image/${format}` });
    expect([status, body.contact.photo.width]).toEqual([200, 90]);
  });

  test('only raster images of limited size become photos', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script/></svg>');
    const bomb = Buffer.from(png);
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    const avif = await sharp({ create: PIXELS }).avif().toBuffer();
    for (const image of [svg, bomb, avif, png.subarray(0, 60), Buffer.alloc(0), Buffer.from('GIF89a')]) {
      const { status, body } = await put(`${path}/photo`, image);
      expect([status, body.error]).toEqual([422, 'invalid_image']);
    }
    expect((await put(`${path}/photo`, svg, { 'content-type': 'image/svg+xml' })).status).toBe(415);
    expect((await put(`${path}/photo`, Buffer.alloc(8 * 1024 * 1024 + 1))).status).toBe(413);
    expect((await alice.api.get(path)).body.contact).toMatchObject({ revision: 1, photo: null });
  });

  test('any bytes are a photo or a typed error', async () => {
    const damage = fc.record({ at: fc.nat(png.length - 1), byte: fc.nat(255), cut: fc.nat(png.length) });
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { maxLength: 3 }), async (damages) => {
        let image = Buffer.from(png);
        for (const { at, byte, cut } of damages) {
          if (at < image.length) image[at] = byte;
          if (cut % 4 === 0) image = image.subarray(0, cut);
        }
        const { status, body } = await put(`${path}/photo`, image);
        expect(status === 200 || (status === 422 && body.error === 'invalid_image')).toBe(true);
      }),
      { numRuns: runs(40) },
    );
  });

  test('revisions: a stale write conflicts, with the current contact', async () => {
    await alice.api.put(path, { job_title: 'Manager' });
    const stale = await put(`${path}/photo`, png, { 'if-match': `"contact:${contact.id}:r1"` });
    expect([stale.status, stale.body.error, stale.body.contact.revision]).toEqual([409, 'conflict', 2]);
    const current = await put(`${path}/photo`, png, { 'if-match': `"contact:${contact.id}:r2"` });
    expect([current.status, current.body.contact.revision]).toEqual([200, 3]);
    const late = await alice.api.delete(`${path}/photo`, undefined, {
      headers: { 'if-match': `"contact:${contact.id}:r2"` },
    });
    expect(late.status).toBe(409);
  });

  test('access: readers read, writers write, other users and other workspaces find nothing', async () => {
    await put(`${path}/photo`, png);
    const share = (role: string) =>
      alice.api.put(`/contact/addressbooks/${bookId}`, { shares: [{ user_id: bob.id, role }] });
    expect((await bob.api.get(`${path}/photo`)).status).toBe(404);
    expect((await put(`${path}/photo`, png, {}, bob.api)).status).toBe(404);
    await share('reader');
    expect((await bob.api.get(`${path}/photo`)).status).toBe(200);
    expect((await put(`${path}/photo`, png, {}, bob.api)).status).toBe(403);
    expect((await bob.api.delete(`${path}/photo`)).status).toBe(403);
    await share('writer');
    expect((await put(`${path}/photo`, jpeg, { 'content-type': 'image/jpeg' }, bob.api)).status).toBe(200);
    for (const method of ['GET', 'DELETE'])
      expect((await mallory.api.request(method, `${path}/photo`)).status).toBe(404);
    expect((await put(`${path}/photo`, png, {}, mallory.api)).status).toBe(404);
  });

  test('a change of the photo is in the change feed; fields= selects it', async () => {
    const feed = `/contact/addressbooks/${bookId}/contacts/sync`;
    const { cursor } = (await alice.api.get(feed)).body;
    const { photo } = (await put(`${path}/photo`, png)).body.contact;
    const { changes } = (await alice.api.get(`${feed}?cursor=${cursor}`)).body;
    expect(changes).toMatchObject([{ op: 'upsert', contact: { id: contact.id, revision: 2, photo } }]);
    const list = async (fields: string) =>
      (await alice.api.get(`/contact/addressbooks/${bookId}/contacts?fields=${fields}`)).body.contacts[0];
    expect((await list('full_name,photo')).photo).toEqual(photo);
    expect(await list('full_name')).not.toHaveProperty('photo');
  });

  test('vCard and JSContact contain the photo, and an independent library reads it', async () => {
    const { photo } = (await put(`${path}/photo`, png)).body.contact;
    const stored = await bytesOf(photo.url);
    const read = async (accept: string) => (await alice.api.get(path, { headers: { accept } })).text;
    const three = new ICAL.Component(ICAL.parse(await read('text/vcard')) as unknown[]).getFirstProperty(
      'photo',
    );
    expect(three?.getParameter('type')).toBe('JPEG');
    expect(Buffer.from(String(three?.getFirstValue()), 'base64')).toEqual(stored);
    const four = new ICAL.Component(ICAL.parse(await read('text/vcard;version=4.0')) as unknown[]);
    expect(String(four.getFirstPropertyValue('photo'))).toBe(
      `data:image/jpeg;base64,${stored.toString('base64')}`,
    );
    const js = JSON.parse(await read('application/jscontact+json'));
    expect(Object.values<any>(js.media)).toMatchObject([
      { kind: 'photo', uri: `data:image/jpeg;base64,${stored.toString('base64')}` },
    ]);
  });

  test('import and export include photos; a repeated import changes nothing, a damaged photo is left out', async () => {
    const vcard = (name: string, image: Buffer, uid: string) =>
      `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:${name}\r\nPHOTO;ENCODING=b;TYPE=PNG:${image.toString('base64')}\r\nEND:VCARD\r\n`;
    const linked =
      'BEGIN:VCARD\r\nVERSION:4.0\r\nUID:linked\r\nFN:Linked\r\nPHOTO:https://example.com/a.jpg\r\nEND:VCARD\r\n';
    const send = async (raw: string, query = '') => {
      const url = `/contact/phone-sync/import?addressbook_id=${bookId}&device_id=pixel${query}`;
      const { status, body } = await alice.api.request('POST', url, {
        raw,
        headers: { 'content-type': 'text/vcard' },
      });
      expect([status, body.error]).toEqual([200, undefined]);
      return body.import;
    };
    const file = vcard('Ana', png, 'ana') + vcard('Ben', Buffer.from('no image'), 'ben') + linked;
    expect(await send(file)).toMatchObject({ created: 3, failed: 0 });
    const read = async (uid: string) => {
      const { contacts } = (await alice.api.get(`/contact/addressbooks/${bookId}/contacts`)).body;
      return contacts.find((each: any) => each.uid === uid);
    };
    const ana = await read('ana');
    expect(ana.photo).toMatchObject({ media_type: 'image/jpeg', width: 90 });
    expect([(await read('ben')).photo, (await read('linked')).photo]).toEqual([null, null]);
    const before = await rows();
    expect(await send(file)).toMatchObject({ unchanged: 3 });
    const exported = (query: string) =>
      alice.api.get(`/contact/phone-sync/export?addressbook_id=${bookId}${query}`).then(({ text }) => text);
    const text = await exported('');
    expect(text).toContain('PHOTO;VALUE=uri:https://example.com/a.jpg');
    expect((await exported('&photos=false')).includes('ENCODING=b')).toBe(false);
    // The device returns the photo that it received.
    expect(await send(text)).toMatchObject({ created: 0, failed: 0 });
    expect((await read('ana')).photo).toEqual(ana.photo);
    expect(await rows()).toBe(before);
    // A new photo on the device replaces it, and the undo of the import brings it back.
    const update = await send(vcard('Ana', jpeg, 'ana'));
    expect(update).toMatchObject({ updated: 1 });
    expect((await read('ana')).photo.height).toBe(720);
    await collect();
    const undone = await alice.api.post(`/contact/phone-sync/imports/${update.id}/undo`);
    expect(undone.body.undo).toEqual({ removed: 0, restored: 1, kept: 0 });
    expect((await read('ana')).photo).toEqual(ana.photo);
    expect(await bytesOf(ana.photo.url)).toHaveLength(ana.photo.size);
  });

  test('a merge keeps the photo of the first contact that has one; its undo separates them again', async () => {
    const other = await create('Maria S.', { emails: ['maria@example.com'] });
    const { photo } = (await put(`${pathOf(other)}/photo`, png)).body.contact;
    const external_ids = [contact.external_id, other.external_id];
    const merged = (await alice.api.post('/contact/merges', { addressbook_id: bookId, external_ids })).body;
    expect(merged.contact.photo).toMatchObject({ sha256: photo.sha256 });
    await alice.api.post(`/contact/merges/${merged.merge_id}/undo`);
    expect((await alice.api.get(path)).body.contact.photo).toBeNull();
    expect((await alice.api.get(pathOf(other))).body.contact.photo).toMatchObject({ sha256: photo.sha256 });
  });

  test('a move keeps the photo', async () => {
    const { photo } = (await put(`${path}/photo`, png)).body.contact;
    const target = (await alice.api.post('/contact/addressbooks', { name: 'Target' })).body.addressbook.id;
    const moved = await alice.api.post(`${path}/move`, { target_addressbook_id: target });
    expect(moved.body.contact.photo).toMatchObject({ sha256: photo.sha256 });
    expect(await bytesOf(moved.body.contact.photo.url)).toHaveLength(photo.size);
    expect((await alice.api.get(`${path}/photo`)).status).toBe(404);
  });

  test('photos without a contact are deleted with their files', async () => {
    await app.sql('UPDATE contact_photos SET check_at = now() - make_interval(secs => 1)');
    await collect();
    const kept = await rows();
    const images = await Promise.all(
      [10, 20, 30].map((width) =>
        sharp({ create: { ...PIXELS, width } })
          .png()
          .toBuffer(),
      ),
    );
    const contacts = await Promise.all(images.map((_, n) => create(`Person ${n}`)));
    for (const [n, image] of images.entries()) await put(`${pathOf(contacts[n])}/photo`, image);
    const shared = await create('Same photo');
    await put(`${pathOf(shared)}/photo`, images[0] as Buffer);
    const blobs = async () =>
      (
        await app.sql<{ id: string }>(`SELECT blob_id AS id FROM contact_photos WHERE width IN (10, 20, 30)`)
      ).map(({ id }) => id);
    const before = await blobs();
    expect(before).toHaveLength(3);
    await alice.api.delete(pathOf(contacts[0]));
    await alice.api.delete(`${pathOf(contacts[1])}/photo`);
    await collect();
    // The first photo has another contact.
    expect(await rows()).toBe(kept + 2);
    expect((await alice.api.get(`${pathOf(shared)}/photo`)).status).toBe(200);
    await alice.api.delete(`/contact/addressbooks/${bookId}`);
    await collect();
    expect(await blobs()).toEqual([]);
    await app.get(BlobCollector).collect();
    expect(await app.sql('SELECT id FROM blobs WHERE id = ANY ($1)', [before])).toEqual([]);
  });

  test('parallel writes of the photo and the card both take effect', async () => {
    const writes = await Promise.all([
      put(`${path}/photo`, png),
      alice.api.put(path, { job_title: 'Manager' }),
      alice.api.put(path, { nicknames: ['Mia'] }),
    ]);
    expect(writes.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await alice.api.get(path)).body.contact).toMatchObject({
      revision: 4,
      job_title: 'Manager',
      nicknames: ['Mia'],
      photo: { width: 90 },
    });
  });

  test('the own photo: in the card, the directory, the search and the address book; a workspace can lock it', async () => {
    const own = '/contact/self/photo';
    expect((await alice.api.get(own)).status).toBe(404);
    const { photo } = (await put(own, png)).body.contact;
    expect(photo.url).toContain(`/contact/addressbooks/${alice.tenantId}/contacts/${alice.id}/photo?v=`);
    expect(await bytesOf(photo.url, bob)).toHaveLength(photo.size);
    expect((await alice.api.get('/contact/self')).body.contact.photo).toEqual(photo);
    const card = async (query: string) =>
      readCard((await alice.api.get(`/contact/self/card${query}`)).text).photo;
    expect(await card('')).toMatchObject({ media_type: 'image/jpeg' });
    expect(await card('?photo=false')).toBeNull();
    const { users } = (await bob.api.get('/contact/directory')).body;
    expect(users.map(({ id, photo_url }: any) => [id, photo_url]).toSorted()).toEqual(
      [
        [alice.id, photo.url],
        [bob.id, null],
      ].toSorted(),
    );
    const { results } = (await bob.api.get('/directory/search?q=alice')).body;
    expect(results).toMatchObject([{ kind: 'user', id: alice.id, avatar_url: photo.url }]);
    // A change of the profile keeps it.
    await alice.api.put('/contact/self', { nicknames: ['Al'] });
    expect((await alice.api.get('/contact/self')).body.contact.photo).toEqual(photo);
    // Members change the photos of other members nowhere.
    expect((await put(photo.url.slice('/apis/v1'.length).split('?')[0], png, {}, bob.api)).status).toBe(403);
    const lock = (locked_fields: string[]) =>
      alice.api.put(`/contact/addressbooks/${alice.tenantId}`, { locked_fields });
    expect((await lock(['photo'])).status).toBe(200);
    for (const write of [put(own, jpeg), alice.api.delete(own)])
      expect((await write).body).toMatchObject({ error: 'field_locked' });
    await lock([]);
    expect((await alice.api.delete(own)).body.contact.photo).toBeNull();
  });

  test('the search shows the photo of a contact', async () => {
    await alice.api.put(path, { full_name: 'Zdenek Photo' });
    const { photo } = (await put(`${path}/photo`, png)).body.contact;
    const { results } = (await alice.api.get('/directory/search?q=zdenek')).body;
    expect(results).toMatchObject([{ kind: 'contact', avatar_url: photo.url }]);
  });
});
