import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';

/** Tests of the suites `basic` and `props` that fail; adr/0078 has the reasons. */
const FAILING = ['basic delete_fragment', 'basic mkcol'];
const SKIPPED = ['basic mkcol_again', 'basic delete_coll'];
const TESTS = 46;
const HEADERS = ['authorization', 'content-type', 'depth', 'destination', 'overwrite', 'if', 'if-match'];

/** An event with the bytes of a file. */
const eventOf = (name, bytes) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//litmus//EN',
    'BEGIN:VEVENT',
    `UID:${name}`,
    'DTSTAMP:20270101T000000Z',
    'DTSTART:20270302T090000Z',
    `X-LITMUS:${bytes.toString('base64')}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
const bytesOf = (text) =>
  Buffer.from(/^X-LITMUS:(.*)$/m.exec(text.replaceAll('\r\n ', ''))?.[1] ?? '', 'base64');

/**
 * litmus stores files in plain collections. This proxy makes a calendar of its collection and an event of each file. The file whose
 * properties it sets is the calendar itself, since events have no properties of programs. Everything else passes through it.
 */
async function proxyOf(origin) {
  const forward = async (request, response) => {
    const bytes = Buffer.concat(await Array.fromAsync(request));
    const hasProperties = /\/litmus\/prop2?$/.test(request.url);
    if (hasProperties && ['MOVE', 'DELETE'].includes(request.method))
      return response.writeHead(request.method === 'MOVE' ? 201 : 204).end();
    const isOfCalendar = hasProperties && ['PROPFIND', 'PROPPATCH'].includes(request.method);
    const target = isOfCalendar ? path.posix.dirname(request.url) + '/' : request.url;
    const isCalendar = request.method === 'MKCOL' && target.endsWith('/litmus/');
    const isFile = request.method === 'PUT';
    const body = isFile ? eventOf(path.posix.basename(target), bytes) : bytes;
    const passed = HEADERS.filter((name) => name in request.headers).map((name) => [
      name,
      request.headers[name],
    ]);
    const answer = await fetch(origin + target, {
      method: isCalendar ? 'MKCALENDAR' : request.method,
      headers: { ...Object.fromEntries(passed), ...(isFile && { 'content-type': 'text/calendar' }) },
      redirect: 'manual',
      ...(body.length > 0 && { body }),
    });
    const text = Buffer.from(await answer.arrayBuffer());
    for (const name of ['dav', 'allow', 'etag', 'content-type', 'www-authenticate'])
      if (answer.headers.has(name)) response.setHeader(name, answer.headers.get(name));
    response.writeHead(answer.status);
    return response.end(request.method === 'GET' && answer.ok ? bytesOf(text.toString()) : text);
  };
  const server = createServer((request, response) => {
    forward(request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** litmus for the base of WebDAV: its suites `basic` and `props`. */
export async function litmus(directory, api) {
  const server = await proxyOf(api.origin);
  try {
    const { profile } = await api.call('GET', '/settings/profile');
    const home = `http://127.0.0.1:${server.address().port}/apis/v1/dav/calendars/${profile.id}/`;
    const env = { ...process.env, TESTS: 'basic props' };
    const output = await new Promise((resolve) => {
      const options = { cwd: directory, env, timeout: 300_000 };
      execFile('litmus', ['-k', home, api.email, api.password], options, (_error, stdout) => resolve(stdout));
    });
    assert.deepEqual(resultsOf(output), { tests: TESTS, failing: FAILING, skipped: SKIPPED }, output);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The tests that litmus ran, by their results. */
function resultsOf(output) {
  const results = { tests: 0, failing: [], skipped: [] };
  let suite;
  let test;
  for (const line of output.split(/[\r\n]+/)) {
    suite = /^-> running `(\w+)'/.exec(line)?.[1] ?? suite;
    test = /^ *\d+\. (\w+)\./.exec(line)?.[1] ?? test;
    const [, result] = /\. (pass|FAIL|SKIPPED)/.exec(line) ?? [];
    if (!result) continue;
    results.tests += 1;
    if (result === 'FAIL') results.failing.push(`${suite} ${test}`);
    if (result === 'SKIPPED') results.skipped.push(`${suite} ${test}`);
  }
  return results;
}
