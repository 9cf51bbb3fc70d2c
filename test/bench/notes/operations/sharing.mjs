// Operations on notes with several members.
import { invite, listNotes, ownNote, pick, readNote, updateNote } from '../../support/requests.mjs';

const LISTS = 16;
const SHARED_WITH = 3;

/** Callers of different workspaces, so that their notes have no members in common; workspaces repeat when there are too few. */
function ofDifferentWorkspaces(callers, count) {
  const workspaces = [...Map.groupBy(callers, (caller) => caller.tenant).values()];
  return Array.from({ length: count }, (_, n) => {
    const people = workspaces[n % workspaces.length];
    return people[Math.floor(n / workspaces.length) % people.length];
  });
}

/** Each connection updates a note of its own; the other members of the note get the change in their feeds. */
const updateWith = (members) => ({
  expects: 200,
  connections: [8],
  async setUp({ callers, exchange, connections }) {
    const fixtures = [];
    for (const caller of ofDifferentWorkspaces(callers, connections)) {
      const id = await ownNote(exchange, caller);
      if (members > 1) await exchange(invite(caller, id, members - 1), 200);
      const { json } = await exchange(readNote(caller, id), 200);
      const invited = json.note.invited.length;
      if (invited !== members - 1) throw new Error(`${invited} invited instead of ${members - 1}`);
      fixtures.push({ caller, id });
    }
    return fixtures;
  },
  async prepare({ exchange, fixtures, n }) {
    const { caller, id } = fixtures[n];
    let { revision } = (await exchange(readNote(caller, id), 200)).json.note;
    return () => updateNote(caller, id, revision++, revision);
  },
});

export const SHARING = {
  'list-shared': {
    expects: 200,
    connections: [8],
    comparable: true,
    async setUp({ callers, exchange }) {
      const requests = [];
      for (const caller of ofDifferentWorkspaces(callers, LISTS)) {
        const request = listNotes(caller);
        const { json } = await exchange(request, 200);
        for (const { id } of json.notes) await exchange(invite(caller, id, SHARED_WITH), 200);
        requests.push(request);
      }
      return requests;
    },
    prepare: async ({ fixtures }) => {
      return () => pick(fixtures);
    },
  },
  'update-1': updateWith(1),
  'update-10': updateWith(10),
  'update-100': updateWith(100),
};
