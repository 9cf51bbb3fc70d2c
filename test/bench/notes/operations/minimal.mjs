// The operations measured against the minimal floor: the same requests for both, except for the cursor of the feed.
import { get, NOTES, pick } from '../../support/requests.mjs';
import { OPERATIONS } from './operations.mjs';

const PAGE = 500;

/** The cursor of a client that has all changes. */
async function currentCursor(exchange, caller, isMinimal) {
  if (isMinimal) return (await exchange(get(`${NOTES}/head`, caller), 200)).json.cursor;
  for (let url = `${NOTES}/index?limit=${PAGE}`; ;) {
    const { json } = await exchange(get(url, caller), 200);
    if (!json.has_more) return json.changes_cursor;
    url = `${NOTES}/index?limit=${PAGE}&cursor=${json.cursor}`;
  }
}

const { read, list, create, update } = OPERATIONS;

export const MINIMAL = {
  'minimal-read': read,
  'minimal-list': list,
  'minimal-create': create,
  'minimal-update': update,
  'minimal-poll': {
    expects: 200,
    async prepare({ callers, exchange, fixtures, n }) {
      const polls = [];
      for (const caller of callers.slice(n * 10, n * 10 + 10)) {
        const cursor = await currentCursor(exchange, caller, fixtures.isMinimal);
        polls.push(get(`${NOTES}/changes?cursor=${cursor}`, caller));
      }
      return () => pick(polls);
    },
  },
};
