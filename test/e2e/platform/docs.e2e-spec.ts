import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { TestApp } from '../../support/app.ts';

interface ApiResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

describe('the documentation', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  /** `fetch` decompresses by itself; this client shows the bytes of the response. */
  const get = (path: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
    new Promise((resolve, reject) => {
      request(`${app.base}/apis/v1${path}`, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes: Buffer.concat(chunks),
          }),
        );
      })
        .on('error', reject)
        .end();
    });

  test.each([
    ['/openapi.json', 'application/json'],
    ['/asyncapi.json', 'application/json'],
    ['/docs', 'text/html'],
    ['/docs/swagger-ui-init.js', 'application/javascript'],
    ['/docs/swagger-ui-bundle.js', 'text/javascript'],
    ['/docs/swagger-ui.css', 'text/css'],
  ])('%s is compressed, and not sent again to a client that has it', async (path, type) => {
    const plain = await get(path);
    expect(plain).toMatchObject({
      status: 200,
      headers: { vary: expect.stringContaining('Accept-Encoding') },
    });
    expect(plain.headers['content-type']).toContain(type);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const packed = await get(path, { 'Accept-Encoding': 'gzip' });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
    expect(packed.headers['cache-control']).toMatch(/no-cache|max-age=0/);
    const etag = String(packed.headers['etag']);
    const again = await get(path, { 'If-None-Match': etag, 'Accept-Encoding': 'gzip' });
    expect(again).toMatchObject({ status: 304, bytes: Buffer.alloc(0) });
    expect(again.headers['etag']).toBe(etag);
    expect((await get(path, { 'If-None-Match': '"other"' })).status).toBe(200);
  });

  test('Swagger UI loads the document instead of containing it', async () => {
    const script = (await get('/docs/swagger-ui-init.js')).bytes.toString();
    expect(script).toContain('/apis/v1/openapi.json');
    expect(script.length).toBeLessThan(10_000);
    const { status, headers } = await get('/docs');
    expect([status, headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  test('the document takes GET and HEAD only, at its own address only', async () => {
    expect((await app.anonymous.get('/openapi.json/x')).status).toBe(404);
    expect((await app.anonymous.post('/openapi.json', {})).status).toBe(404);
  });
});
