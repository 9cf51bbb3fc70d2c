import { globSync, readFileSync } from 'node:fs';

/** Entities that no code outside of their schema names, with the reason. */
const NAMED_BY_THEIR_SCHEMA: Record<string, string> = {
  EntryTombstone: 'statements return removals together with entries, under the names of both',
  // Rows that statements insert and look for by `NOT EXISTS`.
  PurgedNote: 'the id of a note that no new note may use',
  PurgedTask: 'the id of a task that no new task may use',
  CallDecline: 'who declines a call, and gets no notification of a missed one',
  NotificationCauseRow: 'what has already caused a notification',
  NotificationHead:
    'the number of the last notification of a user, advanced by the statement that inserts it',
  // PostgreSQL writes its JSON.
  TaskActivity: 'written by the functions of tasks, shown by the panel as JSON',
  // `SearchTables` names the tables of all kinds of items.
  EventSearch: 'the index of the search in events',
  NoteSearch: 'the index of the search in notes',
  TaskSearch: 'the index of the search in tasks',
};

const ENTITY = /@Entity\([^)]*\)[^]{0,400}?export class (\w+)/g;

test('code names the entities whose rows it reads and writes', () => {
  const files = globSync('src/**/*.ts').map((name): [string, string] => [name, readFileSync(name, 'utf8')]);
  const entities = files.flatMap(([file, text]) =>
    file.endsWith('.schema.ts') ? [...text.matchAll(ENTITY)].map(([, name]) => ({ file, name: name! })) : [],
  );
  expect(entities.length).toBeGreaterThan(100);
  const isUsed = ({ file, name }: { file: string; name: string }): boolean =>
    files.some(
      ([other, text]) =>
        other !== file && !/(?:\.schema|index)\.ts$/.test(other) && new RegExp(`\\b${name}\\b`).test(text),
    );
  const unused = entities.filter((entity) => !isUsed(entity)).map(({ name }) => name);
  expect(unused.toSorted()).toEqual(Object.keys(NAMED_BY_THEIR_SCHEMA).toSorted());
});
