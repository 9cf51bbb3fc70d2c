import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, truncateSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { Controller, Get, Inject, Post } from '@nestjs/common';
import fc from 'fast-check';
import pg from 'pg';
import { objectName } from '../../../src/platform/blobs/store/blob-store.js';
import { Blobs } from '../../../src/platform/blobs/blobs.js';
import { BlobsModule } from '../../../src/platform/platform.module.js';
import { Form, TakesFile, type UploadForm } from '../../../src/platform/blobs/uploads/upload-form.js';
import { UploadLimits, Uploads } from '../../../src/platform/blobs/uploads/uploads.js';
import { Ctx, type RequestContext } from '../../../src/platform/context/request-context.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { ContentReply } from '../../../src/platform/http/replies/content-reply.js';
import { Errors } from '../../../src/platform/http/errors.js';
import { Id } from '../../../src/platform/http/id.pipe.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { lockWaits } from '../../support/database/locks.ts';
import type { RequestOptions } from '../../support/network/client.ts';
import { form, SlowRequest, upload } from '../../support/network/multipart.ts';
import { until } from '../../support/until.ts';
import { runs } from '../../support/property-runs.ts';

const MAX = 20 * 1024 * 1024;
const NOWHERE = '00000000-0000-4000-8000-000000000000';
const FAILING = '00000000-0000-4000-8000-00000000ffff';

interface Row {
  content_type: string;
  size: number;
  sha256: string;
}
const find = either.statement<Row>(
  'test.blob',
  `SELECT content_type, size::int, encode(sha256, 'hex') AS sha256 FROM blobs WHERE tenant_id = $1 AND id = $2`,
);

/** Runs before a form is read. Services read the database at this time. */
let beforeReading: (form: UploadForm) => Promise<unknown> = async () => undefined;

/** A domain that only stores files. */
@Controller('test-files')
class FilesController {
  constructor(
    @Inject(Uploads) private readonly uploads: Uploads,
    @Inject(Blobs) private readonly blobs: Blobs,
    @Inject(Db) private readonly db: Db,
  ) {}

  @TakesFile(MAX)
  @Post(':id')
  async upload(@Ctx() ctx: RequestContext, @Id() id: string, @Form() form: UploadForm) {
    if (id === NOWHERE) throw Errors.notFound.with();
    await beforeReading(form);
    return this.uploads.receive(ctx, form, MAX, async (file) => {
      await this.db.tx((tx) => file.keep(tx));
      if (id === FAILING) throw Errors.forbidden.with();
      const { name, size, contentType, blobId } = file;
      return { name, size, content_type: contentType, id: blobId };
    });
  }

  @TakesFile(MAX)
  @Post(':id/rejected')
  async reject(@Ctx() ctx: RequestContext, @Form() form: UploadForm) {
    return this.uploads.receive(ctx, form, MAX, async () => {
      throw Errors.forbidden.with();
    });
  }

  @Get(':id')
  async download(@Ctx() ctx: RequestContext, @Id() id: string) {
    const [row] = await this.db.query(find, [ctx.tenantId, id]);
    if (!row) throw Errors.notFound.with();
    return new ContentReply({
      name: 'naïve "report".pdf',
      contentType: row.content_type,
      size: row.size,
      sha256: row.sha256,
      open: (range) => this.blobs.open(ctx.tenantId, id, range),
    });
  }
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('uploads and downloads', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  const target = `/test-files/${randomUUID()}`;

  beforeAll(async () => {
    Reflect.defineMetadata('controllers', [FilesController], BlobsModule);
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(async () => {
    Reflect.deleteMetadata('controllers', BlobsModule);
    await app?.stop();
  });

  const files = (): string[] => {
    const directory = path.join(app.dataDir, 'blobs', alice.tenantId!);
    if (!existsSync(directory)) return [];
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const blobs = async () => (await app.sql('SELECT id FROM blobs')).map(({ id }) => id as string);
  /** Runs `work` and expects that no file and no row of it remains. */
  const leavesNothing = async <T>(work: () => Promise<T>): Promise<T> => {
    const before = [files().length, (await blobs()).length];
    const result = await work();
    await until('everything to be removed', async () => {
      const now = [files().length, (await blobs()).length];
      return now[0] === before[0] && now[1] === before[1];
    });
    return result;
  };
  const stored = async (content: string | Buffer, part = {}): Promise<any> => {
    const { status, body } = await upload(alice.api, target, content, part);
    expect({ status, body }).toMatchObject({ status: 201 });
    return body;
  };
  const download = async (id: string, options: RequestOptions = {}, method = 'GET') => {
    const headers = { authorization: `Bearer ${alice.token}`, ...options.headers };
    const response = await fetch(`${app.base}/apis/v1/test-files/${id}`, { method, headers });
    return {
      status: response.status,
      headers: response.headers,
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  };

  test('a source that fails before it is read fails the upload, and not the process', async () => {
    const holder = new pg.Client({ connectionString: await app.databaseOf(alice.tenantId!) });
    await holder.connect();
    try {
      await leavesNothing(async () => {
        const missing = app.get(Blobs).put(alice.tenantId!, createReadStream('/missing'), { maxBytes: 10 });
        await expect(missing).rejects.toMatchObject({ code: 'ENOENT' });
        await holder.query('BEGIN; LOCK TABLE blobs IN EXCLUSIVE MODE');
        const source = new PassThrough();
        const gone = app.get(Blobs).put(alice.tenantId!, source, { maxBytes: 10 });
        await until('the upload to wait', async () => (await lockWaits(holder)).length === 1);
        source.destroy(new Error('the client has left'));
        await holder.query('COMMIT');
        await expect(gone).rejects.toThrow('the client has left');
      });
    } finally {
      await holder.end();
    }
  });

  describe('a file that is sent', () => {
    test('comes back as it was', async () => {
      const content = randomBytes(1_000_000);
      const { id, size } = await stored(content);
      expect(size).toBe(content.length);
      const moved = async (direction: string) => {
        const text = await app.get(Metrics).registry.getSingleMetricAsString('blob_bytes_total');
        return Number(new RegExp(`direction="${direction}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
      };
      const before = [await moved('in'), await moved('out')] as const;
      expect((await download(id)).bytes.equals(content)).toBe(true);
      expect([await moved('in'), await moved('out')]).toEqual([before[0], before[1] + content.length]);
      expect(before[0]).toBeGreaterThanOrEqual(content.length);
    });

    test('can be empty, under any field name, beside other fields', async () => {
      const body = form(
        { field: 'comment', content: 'hello' },
        { field: 'a[b][c]', content: 'x' },
        { field: '__proto__', content: 'x' },
        { field: 'ünïcode [\u{1f4ce}', filename: 'none.txt', content: '' },
      );
      const response = await alice.api.request('POST', target, body);
      expect(response).toMatchObject({ status: 201, body: { name: 'none.txt', size: 0 } });
      expect(await download(response.body.id)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
      expect((await download(response.body.id, { headers: { range: 'bytes=0-' } })).status).toBe(416);
    });

    test('of exactly 20 MiB is accepted, of one byte more rejected', async () => {
      const content = Buffer.alloc(MAX + 1, 'x');
      expect((await stored(content.subarray(0, MAX))).size).toBe(MAX);
      const rejected = { status: 413, body: { error: 'file_too_large', max_bytes: MAX } };
      expect(await leavesNothing(() => upload(alice.api, target, content))).toMatchObject(rejected);
      const { raw, headers } = form({ filename: 'a', content });
      const chunked = () => {
        const options = { ...headers, 'transfer-encoding': 'chunked' };
        const request = new SlowRequest(alice.api, 'POST', target, options);
        void request.write(raw).then(() => request.end());
        return request.response;
      };
      expect(await leavesNothing(chunked)).toMatchObject(rejected);
    });

    test('a much larger file is rejected before it is read', async () => {
      const { headers } = form();
      const request = new SlowRequest(alice.api, 'POST', target, { ...headers, 'content-length': 2 * MAX });
      expect(await leavesNothing(() => request.response)).toMatchObject({ status: 413 });
      request.abort();
    });

    test.each<[string, string, string]>([
      ['report.pdf', 'report.pdf', 'report.pdf'],
      ['../../etc/passwd', 'passwd', 'a path'],
      ['C:\\\\Users\\\\me\\\\a.txt', 'a.txt', 'a path of Windows'],
      ['naïve Übersicht 日本.docx', 'naïve Übersicht 日本.docx', 'UTF-8'],
      ['.htaccess', 'htaccess', 'a hidden file'],
      ['\u202egnp.exe', 'gnp.exe', 'a name that shows backwards'],
      ['CON.txt', '_CON.txt', 'a device'],
      ['%0D%0ASet-Cookie: a', 'Set-Cookie_ a', 'line breaks'],
      [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(120)}.jpeg`, 'a long name'],
      ['...', 'file', 'dots'],
    ])('called %s is kept as %s (%s)', async (filename, name) => {
      expect(await stored('x', { filename })).toMatchObject({ name });
    });

    test.each<[string, string | Buffer, string, string]>([
      ['a picture', PNG, 'image/png', 'image/png'],
      ['a picture declared as HTML', PNG, 'text/html', 'image/png'],
      [
        'HTML called a picture',
        '<!doctype html><script>alert(1)</script>',
        'image/png',
        'application/octet-stream',
      ],
      ['HTML', '<!doctype html><script>alert(1)</script>', 'text/html', 'application/octet-stream'],
      ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml', 'application/octet-stream'],
      ['SVG declared as XML', '<?xml version="1.0"?><svg/>', 'image/svg+xml', 'application/octet-stream'],
      ['text', 'Grüße\n', 'text/plain; charset=utf-8', 'text/plain'],
      [
        'invalid UTF-8 declared as text',
        Buffer.from([0xff, 0xfe, 0, 1]),
        'text/plain',
        'application/octet-stream',
      ],
      ['text with NULs', 'a\0b', 'text/csv', 'application/octet-stream'],
      ['a document', '%PDF-1.7\n', 'application/octet-stream', 'application/pdf'],
      ['text of an invalid type', 'x', 'x'.repeat(3_000), 'text/plain'],
    ])('%s has the type of its content', async (_, content, type, expected) => {
      const { id, content_type } = await stored(content, { type });
      expect(content_type).toBe(expected);
      const { headers } = await download(id);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': expected,
        'content-disposition': expect.stringMatching(/^attachment; filename="na.ve .*filename\*=UTF-8''/),
        'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
      });
    });
  });

  describe('a rejected form', () => {
    const file = { filename: 'a.bin', content: randomBytes(200_000) };
    const broken = (change: (raw: Buffer) => Buffer | string) => {
      const { raw, headers } = form(file);
      return { raw: Buffer.from(change(raw)), headers };
    };
    const multipart = { 'content-type': 'multipart/form-data; boundary=b' };

    test.each<[string, RequestOptions, number, string]>([
      ['without a file', form({ field: 'note', content: 'x' }), 422, 'validation_failed'],
      ['with an empty file input', form({ filename: '', content: '' }), 422, 'validation_failed'],
      ['without anything', { headers: {}, raw: '' }, 422, 'validation_failed'],
      ['with two files', form(file, { ...file, field: 'other' }), 422, 'validation_failed'],
      ['as JSON', { raw: '{}' }, 415, 'unsupported_media_type'],
      [
        'of another kind',
        { raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        415,
        'unsupported_media_type',
      ],
      [
        'without a boundary',
        { raw: 'x', headers: { 'content-type': 'multipart/form-data' } },
        400,
        'invalid_multipart',
      ],
      ['that ends in the file', broken((raw) => raw.subarray(0, 150_000)), 400, 'invalid_multipart'],
      ['that ends in the headers', broken((raw) => raw.subarray(0, 80)), 400, 'invalid_multipart'],
      ['with another boundary', broken(() => '--other\r\n\r\nx\r\n--other--'), 400, 'invalid_multipart'],
      ['of noise', broken(() => randomBytes(5_000)), 400, 'invalid_multipart'],
      [
        'with a part without a name',
        {
          raw: '--b\r\nContent-Disposition: form-data; filename="a"\r\n\r\nx\r\n--b--\r\n',
          headers: multipart,
        },
        400,
        'invalid_multipart',
      ],
      [
        'with a part without headers',
        { raw: '--b\r\n\r\nx\r\n--b--\r\n', headers: multipart },
        400,
        'invalid_multipart',
      ],
      ['with a text too long', form(file, { field: 'x', content: 'x'.repeat(9_000) }), 413, 'body_too_large'],
      [
        'with too many texts',
        form(file, ...Array.from({ length: 20 }, () => ({ field: 'x', content: 'x' }))),
        413,
        'body_too_large',
      ],
    ])('%s leaves nothing', async (_, options, status, error) => {
      const response = await leavesNothing(() => alice.api.request('POST', target, options));
      expect(response).toMatchObject({ status, body: { error } });
      if (status === 422) expect(response.body.details).toMatchObject([{ field: 'file' }]);
    });

    test('any input returns a typed error or a file', async () => {
      const token = fc.constantFrom(
        '--b',
        '--b--',
        '\r\n',
        '\n',
        'Content-Disposition: form-data',
        '; name="a"',
        '; filename="f"',
        '; name',
        '\0',
        ':',
        "; filename*=utf-8''%ff",
        'Content-Type: text/plain',
        'Content-Transfer-Encoding: base64',
        'x',
        '"',
        '[',
        ']',
        '%00',
      );
      await fc.assert(
        fc.asyncProperty(fc.array(token, { maxLength: 40 }), async (tokens) => {
          const raw = `--b\r\n${tokens.join('')}`;
          const { status, body } = await alice.api.request('POST', target, { raw, headers: multipart });
          expect([201, 400, 413, 422]).toContain(status);
          expect(typeof (status === 201 ? body.id : body.error)).toBe('string');
        }),
        { numRuns: runs(150) },
      );
    });

    test('leaves nothing when the transaction that keeps it fails', async () => {
      const response = await leavesNothing(() =>
        upload(alice.api, `${target}/rejected`, randomBytes(100_000)),
      );
      expect(response.status).toBe(403);
    });

    test('keeps a file that a committed transaction references, whatever fails later', async () => {
      const before = (await blobs()).length;
      expect((await upload(alice.api, `/test-files/${FAILING}`, 'x')).status).toBe(403);
      expect((await blobs()).length).toBe(before + 1);
    });
  });

  describe('the body is not read', () => {
    const { headers } = form();
    const announce = { ...headers, 'content-length': MAX };

    test('of a caller without a token, and for unknown objects', async () => {
      for (const [api, place, status] of [
        [app.anonymous, target, 401],
        [alice.api, `/test-files/${NOWHERE}`, 404],
        [alice.api, '/test-files/none', 422],
      ] as const) {
        const request = new SlowRequest(api, 'POST', place, announce);
        expect(await leavesNothing(() => request.response)).toMatchObject({ status });
        request.abort();
      }
    });
  });

  describe('a client', () => {
    const begin = async (user: TestUser) => {
      const { raw, headers } = form({ filename: 'a', content: Buffer.alloc(1_000_000, 'x') });
      const request = new SlowRequest(user.api, 'POST', target, {
        ...headers,
        'content-length': raw.length,
      });
      await request.write(raw.subarray(0, 500_000));
      return { request, rest: raw.subarray(500_000) };
    };

    test('that disconnects leaves nothing', async () => {
      const count = (await blobs()).length;
      const { request } = await begin(alice);
      await until('the upload to run', async () => (await blobs()).length === count + 1);
      request.abort();
      await until('everything to be removed', async () => (await blobs()).length === count);
      expect(files().filter((name) => name.includes('unfinished'))).toEqual([]);
    });

    test('that disconnects before its form is read does not count in the limit', async () => {
      const limits = app.get(UploadLimits);
      const { perUser } = limits;
      limits.perUser = 1;
      try {
        const arrived = Promise.withResolvers<void>();
        const closed = new Promise<void>((resolve) => {
          beforeReading = async ({ response }) => {
            const close = once(response, 'close');
            arrived.resolve();
            await close;
            resolve();
          };
        });
        // A small body, so that the server reads it to its end and detects the end of the connection.
        const request = new SlowRequest(alice.api, 'POST', target, {
          ...form({ content: 'x' }).headers,
          'content-length': 1_000,
        });
        await arrived.promise;
        request.abort();
        await closed;
        beforeReading = async () => undefined;
        await stored('of the same user');
      } finally {
        limits.perUser = perUser;
        beforeReading = async () => undefined;
      }
    });

    test('that stops sending returns 408 and leaves nothing', async () => {
      const limits = app.get(UploadLimits);
      const { windowMs } = limits;
      limits.windowMs = 300;
      try {
        const { request } = await leavesNothing(async () => {
          const begun = await begin(alice);
          expect(await begun.request.response).toMatchObject({
            status: 408,
            headers: { connection: 'close' },
            body: { error: 'upload_timeout' },
          });
          return begun;
        });
        request.abort();
      } finally {
        limits.windowMs = windowMs;
      }
    });

    test('that is slow has a time limit for the whole upload', async () => {
      const limits = app.get(UploadLimits);
      const { totalMs } = limits;
      limits.totalMs = 300;
      try {
        const { request } = await begin(alice);
        expect(await request.response).toMatchObject({ status: 408 });
        request.abort();
      } finally {
        limits.totalMs = totalMs;
      }
    });

    test('may send eight files at once, all together as many as the process takes', async () => {
      const limits = app.get(UploadLimits);
      const { total } = limits;
      const count = (await blobs()).length;
      const eight = await Promise.all(Array.from({ length: 8 }, () => begin(alice)));
      await until('the uploads to run', async () => (await blobs()).length === count + 8);
      expect(await upload(alice.api, target, 'x')).toMatchObject({
        status: 429,
        body: { error: 'too_many_uploads' },
      });
      expect((await upload(alice.api, target, 'x')).headers.get('retry-after')).toBe('2');
      expect((await upload(bob.api, target, 'x')).status).toBe(201);
      limits.total = 8;
      const busy = await upload(bob.api, target, 'x');
      expect([busy.status, busy.body.error, busy.headers.get('retry-after')]).toEqual([
        503,
        'overloaded',
        '2',
      ]);
      limits.total = total;
      for (const { request, rest } of eight) {
        await request.write(rest);
        request.end();
      }
      const responses = await Promise.all(eight.map(({ request }) => request.response));
      expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
      expect((await upload(alice.api, target, 'x')).status).toBe(201);
    });
  });

  describe('a file that is fetched', () => {
    const content = randomBytes(700_001);
    let id: string;
    let etag: string;
    beforeAll(async () => {
      ({ id } = await stored(content));
      etag = (await download(id)).headers.get('etag')!;
    });

    test('has a strong tag and its length, and returns 304 for the same tag', async () => {
      expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
      const head = await download(id, {}, 'HEAD');
      expect(Object.fromEntries(head.headers)).toMatchObject({
        'content-length': String(content.length),
        'accept-ranges': 'bytes',
        etag,
      });
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      for (const tag of [etag, `W/${etag}`, `"a", ${etag}`, '*']) {
        const response = await download(id, { headers: { 'if-none-match': tag } });
        expect([response.status, response.bytes.length]).toEqual([304, 0]);
      }
      expect((await download(id, { headers: { 'if-none-match': '"a"' } })).status).toBe(200);
    });

    test('can be fetched in any part', async () => {
      const number = fc.oneof(fc.nat(800_000), fc.constantFrom(0, 1, 700_000, 700_001, 999_999_999_999));
      const header = fc.oneof(
        fc.tuple(number, number).map(([a, b]) => `bytes=${a}-${b}`),
        number.map((a) => `bytes=${a}-`),
        number.map((a) => `bytes=-${a}`),
        fc.constantFrom(
          'bytes=-',
          'bytes=',
          'bytes=a-b',
          'bytes=0x1-2',
          'items=0-1',
          'bytes=0-0,5-6',
          'bytes 0-1',
          'bytes=1-1e3',
          'bytes=--1',
          '',
        ),
      );
      await fc.assert(
        fc.asyncProperty(header, async (range) => {
          const response = await download(id, { headers: range ? { range } : {} });
          const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
          const size = content.length;
          let start = Number(first);
          let end = last ? Number(last) : size - 1;
          const suffix = first === '' && last !== '';
          if (suffix) [start, end] = [Math.max(0, size - Number(last)), size - 1];
          const isRange =
            first !== undefined && `${first}${last}` !== '' && (suffix || !last || end >= start);
          end = Math.min(end, size - 1);
          if (!isRange) {
            expect([response.status, response.headers.get('content-range')]).toEqual([200, null]);
            expect(response.bytes.equals(content)).toBe(true);
          } else if (start >= size) {
            expect([response.status, response.headers.get('content-range')]).toEqual([
              416,
              `bytes */${size}`,
            ]);
          } else {
            expect([response.status, response.headers.get('content-range')]).toEqual([
              206,
              `bytes ${start}-${end}/${size}`,
            ]);
            expect(response.bytes.equals(content.subarray(start, end + 1))).toBe(true);
          }
        }),
        { numRuns: runs(100) },
      );
    });

    test('is sent whole where the part is of another file', async () => {
      const part = (tag: string) => download(id, { headers: { range: 'bytes=0-9', 'if-range': tag } });
      expect((await part(etag)).status).toBe(206);
      for (const tag of ['"a"', `W/${etag}`, new Date().toUTCString()])
        expect((await part(tag)).status).toBe(200);
    });

    /** Begins to read and stops: the rest waits in the server. */
    const beginReading = (file: string): Promise<{ response: import('node:http').IncomingMessage }> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${alice.token}` };
        const request = httpGet(`${app.base}/apis/v1/test-files/${file}`, { headers }, (response) => {
          response.on('error', () => undefined).pause();
          resolve({ response });
        });
        request.once('error', reject);
      });

    test('is closed when the client disconnects', async () => {
      const { id: large } = await stored(Buffer.alloc(MAX, 'x'));
      const { response } = await beginReading(large);
      await until('the file to be open', () => app.openBlobs() === 1);
      response.destroy();
      await until('the file to be closed', () => app.openBlobs() === 0);
    });

    test('ends in a broken connection when the store fails in the middle', async () => {
      const { id: large } = await stored(Buffer.alloc(MAX, 'x'));
      const { response } = await beginReading(large);
      await until('the file to be open', () => app.openBlobs() === 1);
      truncateSync(
        path.join(app.dataDir, 'blobs', objectName({ tenantId: alice.tenantId!, id: large })),
        1_000,
      );
      let bytes = 0;
      const ended = new Promise<boolean>((resolve) => {
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.on('close', () => resolve(response.complete)).resume();
      });
      expect(await ended).toBe(false);
      expect(bytes).toBeLessThan(MAX);
      const { status } = await download(large);
      expect(status).toBe(500);
    });

    test('is not found by another workspace', async () => {
      const [eve] = await app.tenant('globex', 'eve');
      expect((await eve.api.get(`/test-files/${id}`)).status).toBe(404);
    });
  });
});
