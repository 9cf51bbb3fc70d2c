// A program that saves notes on a device until it is killed. Each line that it prints is a note or a label whose save has resolved.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@workspace-backend/client';
import { openWorkspace } from '@workspace-backend/client/sync';
import { sqliteStore } from '@workspace-backend/client/sync/sqlite';

const {
  SERVICE: url = '',
  TOKEN: token = '',
  STORE: file = '',
  USER_ID: user = '',
  RUN: run = '',
} = process.env;

const client = createClient({ url, token: () => token, retry: { attempts: 1 } });
const workspace = await openWorkspace({
  client,
  store: sqliteStore(new DatabaseSync(file)),
  user,
  collections: ['notes'],
});
const notes = workspace.collection('notes');
for (let n = 0; ; n += 1) {
  // SQLite is synchronous: without a pause the program would save only, and send nothing.
  await delay(10);
  const id = await notes.create({ title: `${run}.${n}`, labels: [] });
  process.stdout.write(`${JSON.stringify({ id })}\n`);
  for (const item of await notes.list({ limit: 3 })) {
    const label = `${run}.${n}`;
    await notes.update(item.id, { labels: [...item.labels!.slice(-5), label] });
    process.stdout.write(`${JSON.stringify({ id: item.id, label })}\n`);
  }
}
