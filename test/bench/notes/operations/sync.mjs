// Change feed and index of notes. Cursors are the server's own; the floor reads their numbers and not their signature.
import { get, NOTES, pick } from '../../support/requests.mjs';

const CALLERS = 100;
const BEHIND = 20;
const PAGE = 500;

const changes = (caller, cursor, query = '') => get(`${NOTES}/changes?cursor=${cursor}${query}`, caller);
const index = (caller, cursor) =>
  get(`${NOTES}/index?limit=${PAGE}${cursor === undefined ? '' : `&cursor=${cursor}`}`, caller);

/** The requests of a walk over the whole index, the number of notes that they return, and the cursor of the changes after it. */
async function walk(exchange, caller) {
  const requests = [];
  let count = 0;
  for (let cursor; ;) {
    const request = index(caller, cursor);
    const { json } = await exchange(request, 200);
    requests.push(request);
    count += json.notes.length;
    cursor = json.cursor;
    if (!json.has_more) return { requests, count, cursor };
  }
}

/** A request for changes whose cursor precedes the last `notes` notes of the caller. */
async function behind(exchange, caller, notes) {
  const { count } = await walk(exchange, caller);
  let url = `${NOTES}/changes?include=summary`;
  for (let left = count - notes; ;) {
    const limit = Math.min(left, PAGE);
    const { json } = await exchange(get(`${url}&limit=${limit}`, caller), 200);
    left -= limit;
    if (left === 0) return changes(caller, json.cursor);
    url = `${NOTES}/changes?include=summary&cursor=${json.cursor}`;
  }
}

/** Makes the requests of some callers, of all workspaces, then checks the number of notes in the response. */
async function requestsOf({ callers, exchange }, notes, request) {
  const requests = [];
  const step = Math.ceil(callers.length / CALLERS);
  for (let n = 0; n < callers.length; n += step) requests.push(await request(callers[n]));
  const { json } = await exchange(requests[0], 200);
  if (json.notes.length !== notes) throw new Error(`${json.notes.length} notes instead of ${notes}`);
  return requests;
}

const anyOf = async ({ fixtures }) => {
  return () => pick(fixtures);
};

export const SYNC = {
  'poll-empty': {
    expects: 200,
    connections: [8],
    comparable: true,
    setUp: (run) =>
      requestsOf(run, 0, async (caller) => changes(caller, (await walk(run.exchange, caller)).cursor)),
    prepare: anyOf,
  },
  [`poll-${BEHIND}`]: {
    expects: 200,
    connections: [8],
    comparable: true,
    setUp: (run) => requestsOf(run, BEHIND, (caller) => behind(run.exchange, caller, BEHIND)),
    prepare: anyOf,
  },
  'index-10k': {
    expects: 200,
    connections: [8],
    comparable: true,
    async setUp({ large, exchange }) {
      const { requests, count } = await walk(exchange, large);
      if (count !== large.count) throw new Error(`${count} notes in the index instead of ${large.count}`);
      return requests;
    },
    // Each connection begins at another page and repeats the walk.
    async prepare({ fixtures, n }) {
      let page = n;
      return () => fixtures[page++ % fixtures.length];
    },
  },
};
