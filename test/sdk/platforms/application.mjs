// The built package as an application uses it, without a test runner: `node test/sdk/platforms/application.mjs URL TOKEN USER`.
import assert from 'node:assert/strict';
import { createClient, unwrap } from '@workspace-backend/client';
import { MemoryStorage, SignIn } from '@workspace-backend/client/sign-in';
import { WorkspaceSocket } from '@workspace-backend/client/sockets';
import { memoryStore, openWorkspace } from '@workspace-backend/client/sync';

const [, , url, token, user] = process.argv;

let isOnline = true;
const send = (request) =>
  isOnline ? fetch(request) : Promise.reject(new TypeError('The device has no connection.'));
const client = createClient({ url, token: () => token, fetch: send });

const signIn = new SignIn({ url, clientId: 'workspace-device', storage: new MemoryStorage() });
const code = new Promise((resolve, reject) => {
  signIn.device({ onCode: resolve }).catch(reject);
});
assert.ok((await code).userCode.length > 0);
await signIn.signOut();

const workspace = await openWorkspace({ client, store: memoryStore(), user, collections: ['notes'] });
const notes = workspace.collection('notes');
await workspace.sync();
isOnline = false;
const id = await notes.create({ title: 'Written offline', content: '<p>Rooms</p>' });
await notes.update(id, { title: 'Edited offline' });
await assert.rejects(workspace.sync());
assert.equal((await workspace.pending()).length, 1);
isOnline = true;
await workspace.sync();
assert.equal((await workspace.pending()).length, 0);
const { note } = unwrap(await client.GET('/notes/{id}', { params: { path: { id } } }));
assert.equal(note.title, 'Edited offline');
await workspace.close();

const socket = new WorkspaceSocket(client);
const connected = new Promise((resolve) => {
  socket.on('state', (state) => state === 'connected' && resolve());
});
socket.open();
await connected;
socket.close();
process.stdout.write(`passed with Node ${process.versions.node}\n`);
// A waiting request of the sign-in does not end by itself.
process.exit(0);
