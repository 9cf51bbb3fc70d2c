// The operations of the minimal floor as Parse Server offers them.
import { contentOf, pick } from '../../support/requests.mjs';

const CLASSES = '/parse/classes';

const head = (method, target, { session }, extra = '') =>
  `${method} ${target} HTTP/1.1\r\nHost: bench\r\nX-Parse-Application-Id: bench\r\nX-Parse-Session-Token: ${session}\r\n${extra}\r\n`;

function withBody(method, target, caller, body) {
  const extra = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return head(method, target, caller, extra) + body;
}

const query = (className, parameters) => `${CLASSES}/${className}?${new URLSearchParams(parameters)}`;

/** An object without an access list of its own belongs to everyone who is signed in. */
const access = (caller) => `"ACL":{"${caller.id}":{"read":true,"write":true}}`;

const createNote = (caller, n) =>
  withBody(
    'POST',
    `${CLASSES}/Note`,
    caller,
    `{"owner":"${caller.id}","title":"Minutes","labels":["planning","2026"],"deleted":false,"content":${contentOf(n)},${access(caller)}}`,
  );

export const PARSE = {
  'parse-read': {
    expects: 200,
    prepare:
      ({ callers }) =>
      () => {
        const caller = pick(callers);
        return head('GET', `${CLASSES}/Note/${pick(caller.notes)}`, caller);
      },
  },
  'parse-list': {
    expects: 200,
    prepare:
      ({ callers }) =>
      () => {
        const caller = pick(callers);
        const where = JSON.stringify({ owner: caller.id, deleted: false });
        return head('GET', query('Note', { where, order: '-updatedAt', limit: '50' }), caller);
      },
  },
  'parse-poll': {
    expects: 200,
    prepare({ callers }) {
      const where = JSON.stringify({
        createdAt: { $gt: { __type: 'Date', iso: '2100-01-01T00:00:00.000Z' } },
      });
      return () => head('GET', query('Change', { where, order: 'createdAt', limit: '500' }), pick(callers));
    },
  },
  'parse-create': {
    expects: 201,
    prepare: ({ callers }) => {
      let n = 0;
      return () => createNote(pick(callers), (n += 1));
    },
  },
  'parse-update': {
    expects: 200,
    async prepare({ callers, exchange, n }) {
      const caller = callers[n % callers.length];
      const { json } = await exchange(createNote(caller, 0), 201);
      let base = 0;
      return () => {
        base += 1;
        const body = `{"base_revision":${base},"content":${contentOf(base)}}`;
        return withBody('PUT', `${CLASSES}/Note/${json.objectId}`, caller, body);
      };
    },
  },
};
