import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import sharp from 'sharp';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { upload } from '../../support/network/multipart.ts';

const MARKER = 'zanzibar-4711';

describe('thumbnails of chat attachments', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let eve: TestUser;
  let photo: Buffer;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    [eve] = await app.tenant('globex', 'eve');
    photo = await sharp({ create: { width: 1200, height: 600, channels: 3, background: '#3366cc' } })
      .withExif({ IFD0: { Copyright: MARKER } })
      .jpeg()
      .toBuffer();
    expect(photo.includes(MARKER)).toBe(true);
  });
  afterAll(() => app?.stop());

  const attach = async (content: Buffer | string, filename = 'photo.jpg'): Promise<any> => {
    const { status, body } = await upload(alice.api, '/chat/attachments', content, { filename });
    expect(status).toBe(201);
    return body.attachment;
  };
  const statusOf = async (user: TestUser, path: string): Promise<number> =>
    (await user.api.get(path.replace('/apis/v1', ''))).status;
  const blobs = async (): Promise<number> =>
    (await app.sql<{ count: number }>('SELECT count(*)::int AS count FROM blobs'))[0]!.count;

  test('are small JPEGs without metadata, for members of the room only', async () => {
    const attachment = await attach(photo);
    const { thumbnail_url: url } = attachment;
    expect(url).toBe(`/apis/v1/chat/attachments/${attachment.id}/thumbnail`);
    const response = await fetch(`${app.base}${url}`, {
      headers: { authorization: `Bearer ${alice.token}` },
    });
    expect(response.headers.get('content-type')).toBe('image/jpeg');
    expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 480, height: 240 });
    expect(bytes.includes(MARKER)).toBe(false);

    const created = await alice.api.post('/chat/rooms', { type: 'group', name: 'r', member_ids: [bob.id] });
    const room = `/chat/rooms/${created.body.room.id}`;
    expect(await statusOf(bob, url)).toBe(404);
    const client_msg_id = randomUUID();
    const sent = await alice.api.post(`${room}/messages`, {
      client_msg_id,
      body: '',
      attachment_ids: [attachment.id],
    });
    expect(sent.body.message.attachments).toEqual([attachment]);
    expect(await statusOf(bob, url)).toBe(200);
    expect(await statusOf(eve, url)).toBe(404);
    await alice.api.delete(`${room}/members/${bob.id}`);
    expect(await statusOf(bob, url)).toBe(404);

    const stored = await blobs();
    await alice.api.delete(`${room}/messages/${sent.body.message.id}`);
    expect(await statusOf(alice, url)).toBe(404);
    await app.get<BlobCollector>(BlobCollector).collect();
    expect(await blobs()).toBe(stored - 2);
  });

  test.each(['png', 'gif', 'webp'] as const)('of %s images', async (format) => {
    const image = await sharp({ create: { width: 20, height: 10, channels: 4, background: '#ff000080' } })
      .toFormat(format)
      .toBuffer();
    expect((await attach(image, `a.${format}`)).thumbnail_url).not.toBeNull();
  });

  test('other files, damaged and hostile images have none, and are stored', async () => {
    const bomb = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#000' } })
      .png()
      .toBuffer();
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>';
    for (const content of [bomb, photo.subarray(0, 2_000), photo.subarray(0, 20), svg, '<h1>x</h1>', '']) {
      const attachment = await attach(content);
      expect(attachment).toMatchObject({ size: content.length, thumbnail_url: null });
      expect(await statusOf(alice, `/chat/attachments/${attachment.id}/thumbnail`)).toBe(404);
      expect(await statusOf(alice, `/chat/attachments/${attachment.id}`)).toBe(200);
      await app.sql('DELETE FROM chat_attachments WHERE id = $1', [attachment.id]);
    }
    const changed = fc.record({
      at: fc.nat(photo.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(changed, async ({ at, bytes }) => {
        const content = Buffer.from(photo);
        content.set(bytes.subarray(0, content.length - at), at);
        const { id, thumbnail_url: url } = await attach(content);
        expect(await statusOf(alice, `/chat/attachments/${id}/thumbnail`)).toBe(url === null ? 404 : 200);
        await app.sql('DELETE FROM chat_attachments WHERE id = $1', [id]);
      }),
      { numRuns: 20 },
    );
  });
});
