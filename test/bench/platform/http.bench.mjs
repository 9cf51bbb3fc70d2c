// `node test/bench/platform/http.bench.mjs` (after a build): the time that `RouteIndex` and `writeJson` save in a request, compared
// with plain Express in the same process, and the processor time of a read of a note of the running server, to which both are related.
import { readFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import express from 'express';
import { writeJson } from '../../../dist/platform/http/replies/reply-writer.js';
import { JSON_HEADERS } from '../../../dist/platform/http/security-headers.js';
import { RouteIndex } from '../../../dist/platform/http/server/lean-express.adapter.js';
import { Connection } from '../support/connection.mjs';
import { WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { median } from '../support/report.mjs';
import { print, withWorkspace } from '../support/workspace.mjs';

const ROUNDS = 25;
const MS = 80;
const CONTENT = 'Words of a note for the bench, repeated to about one kilobyte. '.repeat(16);
const { paths } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));
const ROUTES = Object.entries(paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => ({ method, path: path.replaceAll(/\{(\w+)\}/g, ':$1') })),
);
const REQUESTS = ROUTES.map(({ method, path }) => ({
  method: method.toUpperCase(),
  url: path.replaceAll(/:\w+/g, '01890a5d-ac96-774b-bcce-b302099a8057'),
}));
const LAST = REQUESTS.slice(-40);
const READ = [REQUESTS.find(({ method, url }) => method === 'GET' && /\/notes\/[^/]+$/.test(url))];

/**
 * All routes in an application that is configured as the server's.
 * @returns a function that dispatches requests and returns their number
 */
function routed(registrar) {
  const app = lean();
  const register = registrar(app);
  let handled = 0;
  for (const { method, path } of ROUTES) register(method)(path, () => (handled += 1));
  return (requests) => {
    handled = 0;
    for (const request of requests)
      app.handle({ ...request, headers: {} }, {}, (error) => error && fail(error));
    if (handled !== requests.length)
      fail(new Error(`${handled} of ${requests.length} requests reached a route.`));
    return requests.length;
  };
}

function lean() {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('strict routing', true);
  app.set('case sensitive routing', true);
  return app;
}

function fail(error) {
  throw error;
}

const plain = routed((app) => (method) => app[method].bind(app));
const indexed = routed((app) => {
  const index = new RouteIndex(app);
  return (method) => index.registrar(method);
});

const app = lean();
const sink = new Writable({ write: (_, __, done) => done() });
const note = JSON.stringify({
  note: { id: REQUESTS[0].url, revision: 1, title: 'A note', content: CONTENT },
});

/** A response whose bytes are discarded. */
function responded(respond) {
  const request = Object.setPrototypeOf(
    { method: 'GET', headers: {}, httpVersionMajor: 1, httpVersionMinor: 1 },
    app.request,
  );
  const response = Object.setPrototypeOf(new ServerResponse(request), app.response);
  sink._httpMessage = null;
  response.assignSocket(sink);
  response.req = request;
  request.res = response;
  respond(response);
  response.detachSocket(sink);
  sink.removeAllListeners();
  return 1;
}

const oneCall = () => responded((response) => writeJson(response, 200, note));
const byExpress = () =>
  responded((response) => {
    for (const [name, value] of JSON_HEADERS) response.setHeader(name, value);
    response.status(200).json(JSON.parse(note));
  });

/** Medians of the processor time of one call, in microseconds. The candidates take turns. */
function compare(candidates) {
  const times = candidates.map(() => []);
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [n, run] of candidates.entries()) {
      const [before, end] = [process.cpuUsage(), performance.now() + MS];
      let calls = 0;
      while (performance.now() < end) calls += run();
      const { user, system } = process.cpuUsage(before);
      // The first round compiles.
      if (round > 0) times[n].push((user + system) / calls);
    }
  return times.map(median);
}

await withWorkspace('http', async ({ owner, server }) => {
  const application = await server({ ...WITHOUT_MAILBOXES });
  const read = await readsOf(application, owner.token);
  await application.stop();
  const us = (value) => value.toFixed(1);
  print(`A read of a note takes ${us(read)} us of processor time of the server. ${ROUTES.length} routes.\n`);
  print('| part | Express us | ours us | of a read |\n| --- | --- | --- | --- |');
  for (const [name, candidates] of [
    ['route dispatch, mean of all routes', [() => plain(REQUESTS), () => indexed(REQUESTS)]],
    ['route dispatch, mean of the last 40 routes', [() => plain(LAST), () => indexed(LAST)]],
    ['route dispatch, read of a note', [() => plain(READ), () => indexed(READ)]],
    ['response with a note of 1 kB', [byExpress, oneCall]],
  ]) {
    const [theirs, ours] = compare(candidates);
    print(
      `| ${String(name)} | ${us(theirs)} | ${us(ours)} | ${((100 * (theirs - ours)) / read).toFixed(0)} % |`,
    );
  }
});

/** Processor time of the server for a read, with 8 connections. */
async function readsOf(application, token) {
  const head = `Host: bench\r\nAuthorization: Bearer ${token}\r\n`;
  const json = JSON.stringify({ title: 'A note', content: CONTENT });
  const first = await Connection.open(application.port);
  const created = await first.exchange(
    `POST /apis/v1/notes HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
  first.close();
  const request = `GET /apis/v1/notes/${JSON.parse(created.body).note.id} HTTP/1.1\r\n${head}\r\n`;
  const load = async (seconds) => {
    const [cpu, end] = [application.cpu, performance.now() + 1000 * seconds];
    let count = 0;
    const loop = async () => {
      const connection = await Connection.open(application.port);
      for (; performance.now() < end; count += 1) {
        const { status, body } = await connection.exchange(request);
        if (status !== 200) throw new Error(`${status} ${body.slice(0, 300)}`);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: 8 }, loop));
    return (1e6 * (application.cpu - cpu)) / count;
  };
  await load(4);
  return load(5);
}
