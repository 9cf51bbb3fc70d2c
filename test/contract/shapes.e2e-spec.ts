import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { TestApp, type Person } from '../support/app.ts';
import type { Answer } from '../support/client.ts';
import { describedOperations, openApi } from '../support/operations.ts';
import { CAPTURES, capture, DRAFTS, INBOX, WildDuck } from '../support/wild-duck.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (ajv: Ajv2020) => void)(ajv);

/** The described schema with no member beyond those described: a column that leaks fails here. */
function closed(node: any): any {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([k, v]) => [k, closed(v)]));
  if (copy['properties'] && copy['additionalProperties'] === undefined) copy['additionalProperties'] = false;
  return copy;
}

describe('answers have exactly the described shape', () => {
  let app: TestApp;
  let alice: Person;
  const schemas = closed(openApi().components.schemas);

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = (await app.tenant('acme', 'alice')) as [Person];
  });
  afterAll(() => app?.stop());

  const fits = (operationId: string, { status, body }: Answer) => {
    const operation = describedOperations().find(({ spec }) => spec.operationId === operationId);
    const schema = operation?.spec.responses[status]?.content['application/json'].schema;
    expect([operationId, status, schema]).toEqual([operationId, status, expect.anything()]);
    const valid = ajv.validate({ ...closed(schema), components: { schemas } }, body);
    expect([operationId, valid ? null : ajv.errors]).toEqual([operationId, null]);
  };

  test('notes', async () => {
    const { api } = alice;
    const created = await api.post('/notes', {
      title: 'T',
      content: '<p>x</p>',
      labels: ['a'],
      device_id: 'd',
    });
    const { id } = created.body.note;
    fits('createNote', created);
    fits('readNote', await api.get(`/notes/${id}`));
    fits('listNotes', await api.get('/notes?limit=1'));
    fits('listNotes', await api.get('/notes?include=summary'));
    fits('updateNote', await api.patch(`/notes/${id}`, { title: 'T2', base_revision: 1 }));
    fits('putNote', await api.put(`/notes/${id}`, { title: 'T3', base_revision: 2 }));
    fits('listNoteRevisions', await api.get(`/notes/${id}/revisions`));
    fits('readNoteRevision', await api.get(`/notes/${id}/revisions/1`));
    fits('deleteNote', await api.delete(`/notes/${id}`, { base_revision: 3 }));
    fits('listNotes', await api.get('/notes?state=trash'));
    fits('restoreNote', await api.post(`/notes/${id}/restore`));
    await api.delete(`/notes/${id}`, { base_revision: 3 });
    fits('purgeNote', await api.delete(`/notes/${id}/purge`));
  });

  test('sharing, folders and feeds', async () => {
    const [owner, guest] = (await app.tenant('shapes', 'owner', 'guest')) as [Person, Person];
    const { api } = owner;
    const folder = await api.post('/note_folders', { name: 'f', color: '#ffffff' });
    fits('createNoteFolder', folder);
    const folderPath = `/note_folders/${folder.body.folder.id}`;
    fits('readNoteFolder', await api.get(folderPath));
    fits('listNoteFolders', await api.get('/note_folders'));
    fits('updateNoteFolder', await api.patch(folderPath, { name: 'g' }));
    fits('putNoteFolder', await api.put(folderPath, { name: 'h' }));
    const { id } = (await api.post('/notes', { title: 't', folder_id: folder.body.folder.id })).body.note;
    fits(
      'shareNote',
      await api.post(`/notes/${id}/share`, { role: 'editor', expires_at: '2999-01-01T00:00:00Z' }),
    );
    fits('regenerateNoteShare', await api.post(`/notes/${id}/share/regenerate`));
    fits('readNote', await api.get(`/notes/${id}`));
    fits('revokeNoteShare', await api.delete(`/notes/${id}/share`));
    fits('inviteToNote', await api.put(`/notes/${id}/invited`, { invited: [guest.id] }));
    await api.put(`/notes/${id}/invited`, { invited: [] });
    fits('noteChanges', await api.get('/notes/changes'));
    fits('noteChanges', await guest.api.get('/notes/changes'));
    fits('noteIndex', await api.get('/notes/index?include=content'));
    fits('deleteNoteFolder', await api.delete(folderPath));
    fits('noteFolderChanges', await api.get('/note_folders/changes'));
    fits('noteFolderIndex', await api.get('/note_folders/index'));
  });

  test('search', async () => {
    await alice.api.post('/notes', { title: 'Needle', content: '<p>needle</p>', labels: ['a'] });
    const found = await alice.api.get('/search/notes?q=needle');
    expect(found.body.notes).toHaveLength(1);
    fits('searchNotes', found);
    fits('searchNotes', await alice.api.get('/search/notes?q=%21'));
  });

  test('mail, as WildDuck answered', async () => {
    const duck = await WildDuck.start();
    const mail = await TestApp.start(duck.settings, app.databaseUrl);
    const api = mail.as(alice.token);
    const boxes = '/mail/users/me/mailboxes';
    const messages = `${boxes}/${INBOX}/messages`;
    for (const { json, status, label } of CAPTURES) {
      if (status !== 200 || json?.success !== true) continue;
      duck.script = ({ url }) => (url.startsWith('/users/me/') ? { status, json } : undefined);
      if (label.startsWith('list-mailboxes')) fits('listMailboxes', await api.get(boxes));
      if (label.startsWith('create-mailbox')) fits('createMailbox', await api.post(boxes, { path: 'x' }));
      if (label.startsWith('get-mailbox')) fits('readMailbox', await api.get(`${boxes}/${INBOX}`));
      if (label.startsWith('put-mailbox'))
        fits('updateMailbox', await api.put(`${boxes}/${INBOX}`, { path: 'x' }));
      if (label.startsWith('delete-mailbox')) fits('deleteMailbox', await api.delete(`${boxes}/${INBOX}`));
      if (/^list-messages|^sent-list/.test(label)) fits('listMessages', await api.get(messages));
      if (label.startsWith('upload')) fits('createMessage', await api.post(messages, {}));
      if (label.startsWith('bulk')) fits('updateMessages', await api.put(messages, { message: [1] }));
      if (/^get-message|^get-draft/.test(label)) fits('readMessage', await api.get(`${messages}/1`));
      if (label.startsWith('put-message'))
        fits('updateMessage', await api.put(`${messages}/1`, { seen: true }));
      if (label.startsWith('delete-message')) fits('deleteMessage', await api.delete(`${messages}/1`));
      if (label.startsWith('draft')) fits('createDraft', await api.post('/mail/draft', { mailbox: DRAFTS }));
      if (label.startsWith('submit')) fits('submitMessage', await api.post(`${messages}/1/submit`, {}));
      if (label.startsWith('submit'))
        fits('submitDraft', await api.post('/mail/draft/submit', { mailbox_id: DRAFTS, message_id: '1' }));
    }
    expect(capture('get-message').json.success).toBe(true);
    await mail.stop();
    await duck.stop();
  });

  test('health and keys', async () => {
    fits('healthLive', await app.anonymous.get('/health/live'));
    fits('healthReady', await app.anonymous.get('/health/ready'));
    fits('listSigningKeys', await app.anonymous.get('/.well-known/jwks.json'));
  });
});
