import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { json, workspace } from '../../support/installation/cli.ts';
import { QUOTAS } from '../../../src/platform/quotas/quotas.js';

/** A real PNG of one colour. */
function png(width: number, height: number, color = 0): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, color);
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001A\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A picture with metadata and transparency. */
const picture = (format: 'png' | 'jpeg' | 'webp', width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: { r: 31, g: 78, b: 140, alpha: 0.5 } } })
    .withExif({ IFD0: { Artist: 'hidden author' } })
    .toFormat(format)
    .toBuffer();

/** Correct headers without an image. */
const HEADER_ONLY_JPEG = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0000b080010002001011100ffd9',
  'hex',
);
const webp = (kind: string, rest: number[]): Buffer =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), Buffer.from(kind, 'latin1'), Buffer.from(rest)]);
const HEADER_ONLY_WEBP = webp('VP8X', [10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0]);

describe('the workspace', () => {
  let app: TestApp;
  let directory: string;
  let made = 0;

  beforeAll(async () => {
    app = await TestApp.start({ PUBLIC_URL: 'https://work.example/' });
    directory = mkdtempSync(path.join(tmpdir(), 'workspace-logo-'));
  });
  afterAll(async () => {
    await app?.stop();
    if (directory) rmSync(directory, { recursive: true, force: true });
  });

  const people = async () => {
    const slug = `t${(made += 1)}`;
    const [owner, member] = await app.tenant(slug, 'owner', 'member');
    return { slug, owner, member };
  };
  const put = (person: TestUser, bytes: Buffer, type = 'image/png') =>
    person.api.put('/tenant/logo', undefined, { raw: bytes, headers: { 'content-type': type } });

  test('every member reads its name, domains, branding, features and limits', async () => {
    const { slug, member } = await people();
    await provision(app.served.nest, {
      tenants: [{ slug, name: 'Acme', domains: ['b.example', 'a.example'] }],
    });
    const { status, body } = await member.api.get('/tenant');
    const { files, ...tenant } = body.tenant;
    expect(files).toMatchObject({ bytes: 0, limit_bytes: null });
    expect([status, tenant]).toEqual([
      200,
      {
        id: member.tenantId,
        slug,
        name: 'Acme',
        domains: [
          { domain: 'a.example', verified: true },
          { domain: 'b.example', verified: true },
        ],
        branding: { primary_color: null, logo_url: null },
        features: { assistant: false, calls: false, docx_export: true, livestream: false, mail: false },
        quotas: QUOTAS,
        limits: expect.objectContaining({
          page_size_max: 200,
          logo_bytes: 262_144,
          note_content_bytes: 2_097_152,
          task_attachment_bytes: 20_971_520,
        }),
      },
    ]);
    const without = await TestApp.start(
      { DOCX_CONVERTER: 'off', MAIL_SERVICE_URL: 'http://127.0.0.1:9' },
      app.databaseUrl,
    );
    try {
      const { features } = (await without.as(member.token).get('/tenant')).body.tenant;
      expect([features.docx_export, features.mail]).toEqual([false, true]);
    } finally {
      await without.stop();
    }
  });

  test('tenant.manage allows changes of name and branding', async () => {
    const { owner, member } = await people();
    expect((await member.api.put('/tenant', { name: 'Mine' })).body.error).toBe('forbidden');
    const first = await owner.api.put('/tenant', { name: ' Acme ', branding: { primary_color: '#2F80ED' } });
    expect(first.body.tenant).toMatchObject({ name: 'Acme', branding: { primary_color: '#2F80ED' } });
    expect((await owner.api.put('/tenant', { name: 'Acme GmbH' })).body.tenant.branding.primary_color).toBe(
      '#2F80ED',
    );
    expect((await owner.api.put('/tenant', { branding: { primary_color: null } })).body.tenant).toMatchObject(
      {
        name: 'Acme GmbH',
        branding: { primary_color: null },
      },
    );
    expect((await owner.api.put('/tenant', {})).status).toBe(200);
    expect((await member.api.get('/tenant')).body.tenant.name).toBe('Acme GmbH');
    for (const body of [
      { name: '' },
      { name: 7 },
      { name: 'a\nb' },
      { branding: 'red' },
      { branding: [] },
      { branding: null },
      { branding: { primary_color: 'red' } },
      { branding: { primary_color: 'url(javascript:alert(1))' } },
    ])
      expect([body, (await owner.api.put('/tenant', body)).status]).toEqual([body, 422]);
    const log = await app.get(AuditReader).page(owner.tenantId, { action: 'tenant.updated' }, 9);
    expect(log.map(({ data }) => data)).toEqual([
      { before: { primary_color: '#2F80ED' }, after: { primary_color: null } },
      { before: { name: 'Acme' }, after: { name: 'Acme GmbH' } },
      {
        before: { name: expect.any(String), primary_color: null },
        after: { name: 'Acme', primary_color: '#2F80ED' },
      },
    ]);
  });

  test('the logo: set, read, cached by its ETag, replaced and removed', async () => {
    const { owner, member } = await people();
    expect((await member.api.get('/tenant/logo')).body).toMatchObject({ error: 'not_found' });
    expect((await put(member, png(10, 10))).body.error).toBe('forbidden');
    const sent = await picture('png', 200, 80);
    const set = await put(owner, sent, 'IMAGE/PNG; x=y');
    expect(set.body.tenant.branding.logo_url).toMatch(
      /^https:\/\/work\.example\/apis\/v1\/tenant\/logo\?v=[0-9a-f]{16}$/,
    );
    const url = `${app.base}/apis/v1/tenant/logo?v=1`;
    const get = (headers: Record<string, string> = {}, method = 'GET') =>
      fetch(url, { method, headers: { authorization: `Bearer ${member.token}`, ...headers } });
    const shown = await get();
    const stored = Buffer.from(await shown.arrayBuffer());
    expect([sent.includes('hidden author'), stored.includes('hidden author')]).toEqual([true, false]);
    expect(await sharp(stored).metadata()).toMatchObject({
      format: 'png',
      width: 200,
      height: 80,
      hasAlpha: true,
    });
    const header = (name: string) => shown.headers.get(name);
    expect([header('content-type'), header('x-content-type-options'), header('cache-control')]).toEqual([
      'image/png',
      'nosniff',
      'private, no-cache',
    ]);
    expect(header('content-disposition')).toBe('inline; filename="image.png"');
    expect(header('content-security-policy')).toContain("default-src 'none'");
    const etag = header('etag') as string;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await get({ 'if-none-match': known });
      expect([same.status, same.headers.get('etag'), await same.text()]).toEqual([304, etag, '']);
    }
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(stored.length),
      '',
    ]);
    expect((await fetch(url)).status).toBe(401);

    for (const [bytes, type] of [
      [await picture('jpeg', 64, 64), 'image/jpeg'],
      [await picture('webp', 64, 64), 'image/webp'],
    ] as const) {
      // The content decides the format.
      expect((await put(owner, bytes, 'image/png')).status).toBe(200);
      expect((await get({ 'if-none-match': etag })).headers.get('content-type')).toBe(type);
    }
    expect((await owner.api.delete('/tenant/logo')).body.tenant.branding.logo_url).toBeNull();
    expect((await owner.api.delete('/tenant/logo')).status).toBe(404);
    expect((await get()).status).toBe(404);
    const log = await app.get(AuditReader).page(owner.tenantId, { objectKind: 'tenant' }, 9);
    expect(log.map(({ action }) => action)).toEqual([
      'tenant.logo.removed',
      'tenant.logo.set',
      'tenant.logo.set',
      'tenant.logo.set',
      'tenant.provisioned',
    ]);
    expect(log[3]!.data).toMatchObject({ format: 'png', width: 200, height: 80, bytes: stored.length });
  });

  test('the logo in a requested size, with an ETag of its own', async () => {
    const { owner, member } = await people();
    await put(owner, await picture('webp', 400, 100), 'image/webp');
    const get = async (query: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${app.base}/apis/v1/tenant/logo${query}`, {
        headers: { authorization: `Bearer ${member.token}`, ...headers },
      });
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    const whole = await get('');
    const small = await get('?size=64');
    const { format, width, height } = await sharp(small.bytes).metadata();
    expect([format, width, height]).toEqual(['webp', 64, 16]);
    const [wholeTag, smallTag] = [whole, small].map(({ response }) => response.headers.get('etag')!);
    expect(smallTag).not.toBe(wholeTag);
    expect((await get('?size=64', { 'if-none-match': smallTag! })).response.status).toBe(304);
    expect((await get('?size=64', { 'if-none-match': wholeTag! })).response.status).toBe(200);
    expect((await get('?size=64', { 'if-none-match': '*' })).response.status).toBe(304);
    expect((await get('?size=32', { 'if-none-match': smallTag! })).response.status).toBe(200);
    expect((await get('?size=1024')).bytes.equals(whole.bytes)).toBe(true);
    for (const size of ['0', '15', '2049', 'x', '', '1.5'])
      expect([size, (await get(`?size=${size}`)).response.status]).toEqual([size, 422]);
  });

  test('a logo of an earlier version is encoded by a job; a file without an image is removed', async () => {
    const { owner } = await people();
    const other = await people();
    const sent = await picture('png', 40, 40);
    await put(owner, sent);
    await put(other.owner, sent);
    const store = (tenantId: string | null, bytes: Buffer, version: string) =>
      app.sql('UPDATE tenant_logos SET bytes = $2, version = $3, is_encoded = false WHERE tenant_id = $1', [
        tenantId,
        bytes,
        version,
      ]);
    await store(owner.tenantId, sent, 'a'.repeat(32));
    await store(other.owner.tenantId, HEADER_ONLY_JPEG, 'b'.repeat(32));
    await app.get(PeriodicJobs).runDue();
    const shown = await fetch(`${app.base}/apis/v1/tenant/logo`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    expect(Buffer.from(await shown.arrayBuffer()).includes('hidden author')).toBe(false);
    expect((await other.owner.api.get('/tenant/logo')).status).toBe(404);
  });

  test('only a raster image of limited size becomes a logo', async () => {
    const { owner } = await people();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const gif = Buffer.from('GIF89a\u0010\0\u0010\0\0\0\0', 'latin1');
    const rejections: [Buffer, string, number, string][] = [
      [svg, 'image/svg+xml', 415, 'unsupported_media_type'],
      [svg, 'image/png', 422, 'invalid_image'],
      [gif, 'image/png', 422, 'invalid_image'],
      [Buffer.from('{}'), 'application/json', 415, 'unsupported_media_type'],
      [Buffer.from('x'), 'text/plain', 415, 'unsupported_media_type'],
      [Buffer.alloc(0), 'image/png', 422, 'invalid_image'],
      [png(2049, 1), 'image/png', 422, 'invalid_image'],
      [png(0, 10), 'image/png', 422, 'invalid_image'],
      [Buffer.concat([png(10, 10), Buffer.alloc(256 * 1024)]), 'image/png', 413, 'body_too_large'],
      [HEADER_ONLY_JPEG, 'image/jpeg', 422, 'invalid_image'],
      [HEADER_ONLY_JPEG.subarray(0, 20), 'image/jpeg', 422, 'invalid_image'],
      [HEADER_ONLY_WEBP, 'image/webp', 422, 'invalid_image'],
      [(await picture('png', 300, 300)).subarray(0, 300), 'image/png', 422, 'invalid_image'],
      [
        webp(
          'VP8?',
          Array.from({ length: 20 }, () => 0),
        ),
        'image/webp',
        422,
        'invalid_image',
      ],
    ];
    for (const [bytes, type, status, error] of rejections) {
      const response = await put(owner, bytes, type);
      expect([type, bytes.length, response.status, response.body.error]).toEqual([
        type,
        bytes.length,
        status,
        error,
      ]);
    }
    expect((await owner.api.get('/tenant')).body.tenant.branding.logo_url).toBeNull();
    // The largest accepted size.
    const largest = Buffer.concat([png(2048, 2048), Buffer.alloc(256 * 1024)]).subarray(0, 256 * 1024);
    expect((await put(owner, largest)).status).toBe(200);
  });

  test('the operator does the same on the command line', async () => {
    const { slug, owner } = await people();
    const env = { DATABASE_URL: app.databaseUrl };
    const file = path.join(directory, 'logo.png');
    writeFileSync(file, png(64, 64));
    const run = (...args: string[]) => workspace(env, 'tenant', 'update', '--tenant', slug, ...args);
    const set = json(await run('--name', 'By command', '--color', '#abcdef', '--logo', file));
    expect(set).toMatchObject({ slug, name: 'By command', branding: { primary_color: '#abcdef' } });
    expect((await owner.api.get('/tenant/logo')).headers.get('content-type')).toBe('image/png');
    expect(json(await run('--no-logo', '--color', 'none')).branding).toEqual({
      primary_color: null,
      logo_url: null,
    });
    expect((await owner.api.get('/tenant')).body.tenant.name).toBe('By command');
    for (const [args, message] of [
      [['--color', 'red'], /primary_color must be #rrggbb/],
      [['--name', ' '], /name must not be empty/],
      [['--logo', path.join(directory, 'none.png')], /ENOENT|no such file/],
      [['--no-logo'], /no logo/],
    ] as const) {
      const { code, stderr } = await run(...args);
      expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    }
    const [event] = await app.get(AuditReader).page(owner.tenantId, {}, 1);
    expect(event).toMatchObject({ origin: 'cli', actor_id: null, action: 'tenant.updated' });
  });

  test('the audit log: requires audit.read, has pages and filters', async () => {
    const { owner, member } = await people();
    expect((await member.api.get('/tenant/audit')).body.error).toBe('forbidden');
    for (const name of ['A', 'B', 'C']) await owner.api.post('/rbac/groups', { name });
    await owner.api.put('/tenant', { name: 'Audited' });
    const list = async (query = '') => (await owner.api.get(`/tenant/audit${query}`)).body;
    const all = await list();
    expect(all.events.map((event: any) => event.action)).toEqual([
      'tenant.updated',
      'rbac.group.created',
      'rbac.group.created',
      'rbac.group.created',
      'identity.token.issued',
      'identity.token.issued',
      'tenant.provisioned',
      'rbac.role.set',
    ]);
    expect(all.events.at(-1)).toMatchObject({
      origin: 'cli',
      actor_id: null,
      object_id: owner.id,
      data: { role: 'owner' },
    });
    expect(all.next).toBeNull();
    const pages: any[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page: any = await list(`?limit=3${next ? `&cursor=${next}` : ''}`);
      pages.push(...page.events);
      next = page.next;
    }
    expect(pages).toEqual(all.events);
    const [, last] = all.events;
    const count = async (query: string) => (await list(query)).events.length;
    expect(await count('?action=rbac.group.created')).toBe(3);
    expect(await count(`?object_kind=group&object_id=${last.object_id}`)).toBe(1);
    expect(await count(`?actor_id=${owner.id}`)).toBe(4);
    expect(await count(`?actor_id=${member.id}`)).toBe(0);
    expect(await count(`?until=${all.events.at(-1).occurred_at}`)).toBe(0);
    expect(await count(`?since=${last.occurred_at}&action=rbac.group.created`)).toBeGreaterThanOrEqual(1);
    for (const query of [
      '?actor_id=x',
      '?since=yesterday',
      '?limit=0',
      '?cursor=x',
      '?action=a&action=b',
      '?action=%00',
    ])
      expect([query, (await owner.api.get(`/tenant/audit${query}`)).status]).toEqual([query, 422]);
    const { next } = await list('?limit=1');
    // A cursor belongs to its filters.
    expect((await owner.api.get(`/tenant/audit?action=x&cursor=${next}`)).body.error).toBe('invalid_cursor');
    const [elsewhere] = await app.tenant(`other${made}`, 'nobody');
    expect((await elsewhere.api.get('/tenant/audit')).body.events).toMatchObject([
      { action: 'identity.token.issued', object_id: elsewhere.id },
      { action: 'tenant.provisioned' },
      { action: 'rbac.role.set', object_id: elsewhere.id },
    ]);
  });

  test('the audit log as CSV: the same events, no formulas, and the export is an event', async () => {
    const { owner, member } = await people();
    expect((await member.api.get('/tenant/audit.csv')).body.error).toBe('forbidden');
    await owner.api.post('/rbac/groups', { name: '=1+1, "quoted"' });
    for (let n = 0; n < 3; n += 1)
      await app.sql(
        `INSERT INTO audit_log (tenant_id, id, occurred_at, origin, action, object_kind, object_id, data)
         SELECT $1, gen_random_uuid(), now(), 'api', 'many.rows', 'thing', '=cmd()', '{}' FROM generate_series(1, 400)`,
        [owner.tenantId],
      );
    const head = await owner.api.request('HEAD', '/tenant/audit.csv');
    expect([head.status, head.text]).toEqual([200, '']);
    const { status, headers, text } = await owner.api.get('/tenant/audit.csv?object_kind=thing');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-disposition')).toContain('audit.csv');
    const lines = text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(1_201);
    expect(lines[0]).toContain(
      'id,occurred_at,origin,actor_id,session_id,request_id,ip,action,object_kind,object_id,data',
    );
    expect(new Set(lines.slice(1)).size).toBe(1_200);
    expect(lines[1]).toMatch(/,many\.rows,thing,'=cmd\(\),\{\}$/);
    const group = await owner.api.get('/tenant/audit.csv?action=rbac.group.created');
    expect(group.text).toContain('=1+1, \\""quoted\\""');
    const [event] = (await owner.api.get('/tenant/audit?action=tenant.audit.exported&limit=1')).body.events;
    expect(event).toMatchObject({ actor_id: owner.id, data: { action: 'rbac.group.created' } });
    expect((await owner.api.get('/tenant/audit.csv?since=yesterday')).status).toBe(422);
  });
});
