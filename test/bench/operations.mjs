// What is measured. The bytes of a request are the same for the server and the floor: each reads the headers it needs.
import { bodies } from './html.mjs';

const NOTES = '/apis/v1/notes';
const CONTENTS = bodies(64, 6_000, 99).map((html) => JSON.stringify(html));

const head = (method, path, caller, extra = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${caller.token}\r\nX-Tenant: ${caller.tenant}\r\nX-User: ${caller.user}\r\n${extra}\r\n`;

const withBody = (method, path, caller, body) =>
  head(
    method,
    path,
    caller,
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`,
  ) + body;

const pick = (list) => list[Math.floor(Math.random() * list.length)];

const readNote = (caller) => head('GET', `${NOTES}/${pick(caller.notes)}`, caller);
const listNotes = (caller) => head('GET', NOTES, caller);
const createNote = (caller, content = pick(CONTENTS)) =>
  withBody('POST', NOTES, caller, `{"title":"Minutes","labels":["planning","2026"],"content":${content}}`);
const updateNote = (caller, id, base, n) =>
  withBody(
    'PATCH',
    `${NOTES}/${id}`,
    caller,
    `{"base_revision":${base},"content":${CONTENTS[n % CONTENTS.length]}}`,
  );

/** A note of its own for a connection that writes. `exchange` sends a request outside the measurement. */
async function ownNote(exchange, caller) {
  const { json } = await exchange(createNote(caller, CONTENTS[0]), 201);
  return json.note.id;
}

/** Each operation: the status it expects, and for each connection a function that makes its next request. */
export const OPERATIONS = {
  read: { expects: 200, prepare: async (callers) => () => readNote(pick(callers)) },
  list: { expects: 200, prepare: async (callers) => () => listNotes(pick(callers)) },
  create: { expects: 201, prepare: async (callers) => () => createNote(pick(callers)) },
  update: {
    expects: 200,
    async prepare(callers, exchange) {
      const caller = pick(callers);
      const id = await ownNote(exchange, caller);
      let revision = 0;
      return () => updateNote(caller, id, ++revision, revision);
    },
  },
  conflict: {
    expects: 409,
    async prepare(callers, exchange) {
      const caller = pick(callers);
      const id = await ownNote(exchange, caller);
      await exchange(updateNote(caller, id, 1, 1), 200);
      let n = 0;
      return () => updateNote(caller, id, 1, ++n);
    },
  },
};

/** Requests that change nothing, with which the answers of server and floor are compared. */
export const comparable = (caller) => ({
  read: head('GET', `${NOTES}/${caller.notes[0]}`, caller),
  list: listNotes(caller),
  conflict: updateNote(caller, caller.notes[0], 1_000_000, 1),
});

/** A small request that makes the server verify and remember the token. */
export const introduce = (caller) => head('GET', `${NOTES}?limit=1&include=summary`, caller);
