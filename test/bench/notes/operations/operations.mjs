// The measured operations.
import {
  createNote,
  get,
  listNotes,
  NOTES,
  ownNote,
  pick,
  readNote,
  updateNote,
} from '../../support/requests.mjs';
import { SHARING } from './sharing.mjs';
import { SYNC } from './sync.mjs';

/**
 * Each operation: the expected status, and for each connection a function that makes its next request. Some have a `setUp`,
 * which runs at the server only; `prepare` gets its result as `fixtures`, and the number of the connection. They are measured
 * with their own numbers of `connections`, unless the options set others.
 */
export const OPERATIONS = {
  read: {
    expects: 200,
    prepare:
      async ({ callers }) =>
      () =>
        readNote(pick(callers)),
  },
  list: {
    expects: 200,
    prepare:
      async ({ callers }) =>
      () =>
        listNotes(pick(callers)),
  },
  create: {
    expects: 201,
    prepare:
      async ({ callers }) =>
      () =>
        createNote(pick(callers)),
  },
  update: {
    expects: 200,
    async prepare({ callers, exchange }) {
      const caller = pick(callers);
      const id = await ownNote(exchange, caller);
      let revision = 0;
      return () => updateNote(caller, id, ++revision, revision);
    },
  },
  conflict: {
    expects: 409,
    async prepare({ callers, exchange }) {
      const caller = pick(callers);
      const id = await ownNote(exchange, caller);
      await exchange(updateNote(caller, id, 1, 1), 200);
      let n = 0;
      return () => updateNote(caller, id, 1, ++n);
    },
  },
  ...SYNC,
  ...SHARING,
};

/** Requests that change nothing, with which the responses of server and floor are compared. */
export const comparable = (caller) => ({
  read: readNote(caller, caller.notes[0]),
  list: listNotes(caller),
  conflict: updateNote(caller, caller.notes[0], 1_000_000, 1),
});

/** A small request that makes the server verify and remember the token. */
export const introduce = (caller) => get(`${NOTES}?limit=1&include=summary`, caller);
