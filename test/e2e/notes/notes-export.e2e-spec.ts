import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jest } from '@jest/globals';
import { zipSync } from 'fflate';
import { writeDocx } from '../../../src/lib/docx/writer.js';
import { DocxConverter } from '../../../src/platform/docx/docx-converter.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { isAlive } from '../../runtime/support/processes.ts';
import { until } from '../../support/until.ts';
import { child, readDocx, source, textOf } from '../../unit/docx/read-docx.ts';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const LARGE = '<p>some <b>text</b> to write</p>'.repeat(6_000);

interface Download {
  status: number;
  headers: Headers;
  bytes: Buffer;
  error?: string;
}

async function download(
  who: TestUser,
  id: string,
  init: RequestInit & { query?: string } = {},
): Promise<Download> {
  const response = await fetch(`${who.api.base}/apis/v1/notes/${id}/export.docx${init.query ?? ''}`, {
    ...init,
    headers: { authorization: `Bearer ${who.token}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const json = response.headers.get('content-type')?.startsWith('application/json') && bytes.length > 0;
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    error: json ? JSON.parse(bytes.toString()).error : undefined,
  };
}

const make = async (who: TestUser, fields: object): Promise<string> =>
  (await who.api.post('/notes', fields)).body.note.id;

/** Fewer than the two fifths of the queue (DOCX_QUEUE) that one user may fill, and the running one. */
const EXPORTS = 12;

describe('the export of a note', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  const directory = mkdtempSync(path.join(tmpdir(), 'export-test-'));

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  const servers: TestApp[] = [];
  afterAll(async () => {
    for (const server of [...servers, app]) await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Another server on the same database, with other settings for exports. */
  async function server(
    settings: Record<string, string>,
  ): Promise<{ who: TestUser; stop: () => Promise<void>; app: TestApp }> {
    const other = await TestApp.start(settings, app.databaseUrl);
    servers.push(other);
    return { who: { ...alice, api: other.as(alice.token) }, stop: () => other.stop(), app: other };
  }

  /** A program that stands in for LibreOffice; it writes to `$out`. */
  function office(name: string, script: string): Record<string, string> {
    const program = path.join(directory, name);
    writeFileSync(
      program,
      `#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = --outdir ] && out="$2/note.docx"; shift; done\n${script}\n`,
    );
    chmodSync(program, 0o755);
    return { DOCX_CONVERTER: 'libreoffice', DOCX_LIBREOFFICE: program };
  }

  test('is a file to keep, with its name, its size and the security headers', async () => {
    const id = await make(alice, { title: 'Überblick / 笔记', content: '<h1>Agenda</h1><p>Rooms</p>' });
    const { status, headers, bytes } = await download(alice, id);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': DOCX,
      'content-disposition': `attachment; filename="Uberblick _ _.docx"; filename*=UTF-8''%C3%9Cberblick%20_%20%E7%AC%94%E8%AE%B0.docx`,
      'content-length': String(bytes.length),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-request-id': expect.any(String),
    });
    const docx = readDocx(bytes);
    expect(docx.lines).toEqual([
      ['Title', 'Überblick / 笔记'],
      ['Heading1', 'Agenda'],
      [undefined, 'Rooms'],
    ]);
    const core = docx.part('docProps/core.xml');
    expect([child(core, 'dc:title')?.text, child(core, 'dc:creator')?.text]).toEqual([
      'Überblick / 笔记',
      'Alice',
    ]);
  });

  test('sends the headers of JSON responses', async () => {
    const id = await make(alice, {});
    const [file, json] = [await download(alice, id), await alice.api.get(`/notes/${id}`)];
    const names = (headers: Headers) =>
      [...headers.keys()].filter((name) => name !== 'etag' && name !== 'content-disposition');
    expect(names(file.headers)).toEqual(names(json.headers));
    expect(file.headers.get('content-disposition')).toBe('attachment; filename=note.docx');
    expect(textOf(readDocx(file.bytes).body)).toBe('');
  });

  test('is the same to the byte until the note changes', async () => {
    const id = await make(alice, { title: 'T', content: '<p>one</p>' });
    const [first, second] = [await download(alice, id), await download(alice, id)];
    expect(second.bytes.equals(first.bytes)).toBe(true);
    await alice.api.patch(`/notes/${id}`, { content: '<p>two</p>', base_revision: 1 });
    expect((await download(alice, id)).bytes.equals(first.bytes)).toBe(false);
  });

  test('HEAD responds without creating the document', async () => {
    const off = await server({ DOCX_CONVERTER: 'off' });
    const id = await make(alice, { title: 'T' });
    const { status, headers, bytes } = await download(off.who, id, { method: 'HEAD' });
    expect([status, bytes.length, headers.get('content-type')]).toEqual([200, 0, DOCX]);
    expect(headers.get('content-disposition')).toBe('attachment; filename=T.docx');
    expect((await download(bob, id, { method: 'HEAD' })).status).toBe(404);
    await off.stop();
  });

  test('is for every reader of the note, from the trash too', async () => {
    const id = await make(alice, { title: 'T', content: '<p>text</p>' });
    expect(await download(bob, id)).toMatchObject({ status: 404, error: 'not_found' });
    await alice.api.put(`/notes/${id}/invited`, { invited: [{ user_id: bob.id, role: 'viewer' }] });
    expect(textOf(readDocx((await download(bob, id)).bytes).body)).toBe('Ttext');
    await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
    expect((await download(alice, id)).status).toBe(200);
    await alice.api.delete(`/notes/${id}/purge`);
    expect(await download(alice, id)).toMatchObject({ status: 404, error: 'not_found' });
  });

  test('opens with a share link', async () => {
    const id = await make(alice, { title: 'T' });
    const { token } = (await alice.api.post(`/notes/${id}/share`, { role: 'viewer' })).body.note.share;
    expect((await download(bob, id, { query: `?share_token=${token}` })).status).toBe(200);
    expect((await download(bob, id, { query: '?share_token=wrong' })).status).toBe(404);
  });

  test('needs a valid id', async () => {
    expect(await download(alice, 'x')).toMatchObject({ status: 422, error: 'invalid_id' });
  });

  describe('is 503 docx_converter_unavailable', () => {
    test('when it is off', async () => {
      const { who, stop } = await server({ DOCX_CONVERTER: 'off' });
      expect(await download(who, await make(alice, {}))).toMatchObject({
        status: 503,
        error: 'docx_converter_unavailable',
      });
      await stop();
    });

    test('when the program is missing', async () => {
      const { who, stop } = await server({
        DOCX_CONVERTER: 'libreoffice',
        DOCX_LIBREOFFICE: 'no-such-office-program',
      });
      expect(await download(who, await make(alice, {}))).toMatchObject({
        status: 503,
        error: 'docx_converter_unavailable',
      });
      await stop();
    });

    test('when too many wait, with Retry-After', async () => {
      const { who, stop } = await server({ DOCX_WORKERS: '1', DOCX_QUEUE: '1' });
      const id = await make(alice, { content: LARGE });
      const responses = await Promise.all(Array.from({ length: 6 }, () => download(who, id)));
      const rejected = responses.filter(({ status }) => status !== 200);
      expect(rejected.length).toBeGreaterThanOrEqual(3);
      for (const { status, error, headers } of rejected)
        expect([status, error, headers.get('retry-after')]).toEqual([503, 'docx_converter_unavailable', '5']);
      expect((await download(who, id)).status).toBe(200);
      await stop();
    });
  });

  describe('is 502 docx_conversion_failed', () => {
    const failed = { status: 502, error: 'docx_conversion_failed' };

    test('when it takes too long', async () => {
      const { who, stop } = await server({ DOCX_TIMEOUT_MS: '1' });
      expect(await download(who, await make(alice, {}))).toMatchObject(failed);
      await stop();
    });

    test('when it takes too much memory, and the next one is made again', async () => {
      const { who, stop } = await server({ DOCX_MEMORY_MB: '16', DOCX_WORKERS: '1' });
      expect(
        await download(who, await make(alice, { content: '<p>some <b>text</b></p>'.repeat(15_000) })),
      ).toMatchObject(failed);
      expect((await download(who, await make(alice, {}))).status).toBe(200);
      await stop();
    });

    const zip = path.join(directory, 'other.zip');
    writeFileSync(zip, zipSync({ 'readme.txt': Buffer.from('no document') }));
    test.each([
      ['crashes', 'kill -9 $$'],
      ['makes nothing', 'exit 0'],
      ['makes no ZIP', 'echo nonsense > "$out"'],
      ['makes a ZIP that is no document', `cp ${zip} "$out"`],
    ])('when the program %s', async (name, script) => {
      const { who, stop } = await server(office(name.replaceAll(' ', '-'), script));
      expect(await download(who, await make(alice, {}))).toMatchObject(failed);
      await stop();
    });
  });

  test('a client that disconnects frees its place in the queue', async () => {
    const made = path.join(directory, 'made.docx');
    const [gate, log] = [path.join(directory, 'gate'), path.join(directory, 'log')];
    writeFileSync(made, writeDocx(source('<p>made</p>')));
    // Program and time limit take ten minutes, so that neither ends before the test on a busy machine.
    const settings = office(
      'gated',
      `echo $$ > ${log}; if [ -e ${gate} ]; then cp ${made} "$out"; else sleep 600; fi`,
    );
    const limits = { DOCX_WORKERS: '1', DOCX_QUEUE: '1', DOCX_TIMEOUT_MS: '600000' };
    const { who, stop, app: other } = await server({ ...settings, ...limits });
    const converter = other.get<DocxConverter>(DocxConverter);
    const convert = converter.convert.bind(converter);
    const conversions: { ended: boolean }[] = [];
    jest.spyOn(converter, 'convert').mockImplementation((...args) => {
      const conversion = { ended: false };
      conversions.push(conversion);
      return convert(...args).finally(() => (conversion.ended = true));
    });
    const id = await make(alice, {});
    const send = async () => {
      const client = new AbortController();
      const n = conversions.length;
      const answer = download(who, id, { signal: client.signal }).then(
        ({ status }) => status,
        () => 'gone' as const,
      );
      const conversion = await until('the conversion to begin', () => conversions[n]);
      return { answer, leave: () => client.abort(), conversion };
    };
    const running = await send();
    const pid = await until(
      'the program to run',
      () => existsSync(log) && (readFileSync(log, 'utf8').trim() || undefined),
    );
    const waiting = await send();
    expect(await (await send()).answer).toBe(503);
    waiting.leave();
    await until('a free place in the queue', () => waiting.conversion.ended);
    const next = await send();
    expect(await (await send()).answer).toBe(503);
    writeFileSync(gate, '');
    running.leave();
    await until('the program to end', () => !isAlive(Number(pid)));
    expect(await next.answer).toBe(200);
    expect(await Promise.all([running.answer, waiting.answer])).toEqual(['gone', 'gone']);
    await stop();
  });

  test('other requests get responses while a user runs as many exports as may wait for them', async () => {
    const [large, small] = [await make(alice, { content: LARGE }), await make(alice, { title: 'small' })];
    const exporting = { left: EXPORTS };
    const exports = Promise.all(
      Array.from({ length: exporting.left }, () => download(alice, large).finally(() => exporting.left--)),
    );
    let reads = 0;
    for (; exporting.left > 0; reads++) expect((await alice.api.get(`/notes/${small}`)).status).toBe(200);
    expect((await exports).map(({ status }) => status)).toEqual(Array.from({ length: EXPORTS }, () => 200));
    // If conversions ran on the event loop, only one or two reads would be served between two of them.
    expect(reads).toBeGreaterThan(3 * EXPORTS);
  });
});
