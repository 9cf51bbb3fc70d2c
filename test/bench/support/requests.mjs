// The requests of the bench. Their bytes are the same for the server and the floor: each reads the headers it needs.
import { bodies } from './html.mjs';

export const NOTES = '/apis/v1/notes';
/** Number of members of each workspace. */
export const PEOPLE = 100;

/** Size of the notes that are written; the minimal bench sets another one. */
const CONTENT_BYTES = Number(process.env.BENCH_CONTENT_BYTES ?? 6_000);

const CONTENTS = bodies(64, CONTENT_BYTES, 99).map((html) => JSON.stringify(html));

/** JSON of the n-th text that is written. */
export const contentOf = (n) => CONTENTS[n % CONTENTS.length];

export const pick = (list) => list[Math.floor(Math.random() * list.length)];

export const get = (path, caller) => head('GET', path, caller);
export const readNote = (caller, id = pick(caller.notes)) => get(`${NOTES}/${id}`, caller);
export const listNotes = (caller) => get(NOTES, caller);

export const createNote = (caller, content = pick(CONTENTS)) =>
  withBody('POST', NOTES, caller, `{"title":"Minutes","labels":["planning","2026"],"content":${content}}`);

export const updateNote = (caller, id, base, n) =>
  withBody('PATCH', `${NOTES}/${id}`, caller, `{"base_revision":${base},"content":${contentOf(n)}}`);

/** Shares a note with `count` other members of the workspace, first with those who send no requests. */
export function invite(caller, id, count) {
  const [, slug] = /@(.+)\.example$/.exec(caller.email);
  const invited = Array.from({ length: PEOPLE }, (_, n) => emailOf((n + 1) % PEOPLE, slug))
    .filter((email) => email !== caller.email)
    .slice(0, count)
    .map((email) => ({ email, role: 'editor' }));
  return withBody('PUT', `${NOTES}/${id}/invited`, caller, JSON.stringify({ invited }));
}

export const emailOf = (n, slug) => `person-${n}@${slug}.example`;

/** A note of its own for a connection that writes. `exchange` sends a request outside the measurement. */
export async function ownNote(exchange, caller) {
  const { json } = await exchange(createNote(caller, CONTENTS[0]), 201);
  return json.note.id;
}

function head(method, path, caller, extra = '') {
  return `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${caller.token}\r\nX-Tenant: ${caller.tenant}\r\nX-User: ${caller.user}\r\n${extra}\r\n`;
}

function withBody(method, path, caller, body) {
  const extra = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return head(method, path, caller, extra) + body;
}
