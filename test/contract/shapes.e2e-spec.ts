import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { TestApp, type Person } from '../support/app.ts';
import type { Answer } from '../support/client.ts';
import { describedOperations, openApi } from '../support/operations.ts';

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

  test('tasks', async () => {
    const [owner, guest] = (await app.tenant('tasks', 'owner', 'guest')) as [Person, Person];
    const { api } = owner;
    const folder = await api.post('/task_folders', { name: 'f', color: '#ffffff', members: [guest.id] });
    fits('createTaskFolder', folder);
    const folder_id = folder.body.folder.id;
    fits('readTaskFolder', await guest.api.get(`/task_folders/${folder_id}`));
    fits('updateTaskFolder', await api.patch(`/task_folders/${folder_id}`, { name: 'g' }));
    fits('putTaskFolder', await api.put(`/task_folders/${folder_id}`, { name: 'h' }));
    fits('listTaskFolders', await api.get('/task_folders'));
    const note = (await api.post('/notes', { title: 'n' })).body.note;
    fits('createTaskFromNote', await api.post(`/notes/${note.id}/task`, { assignees: [guest.id] }));
    const created = await api.post('/tasks', {
      title: 't',
      description: '<p>x</p>',
      due_at: '2099-01-04T09:00:00Z',
      recurrence: 'FREQ=DAILY',
      reminders: [{ minutes_before: 5 }, { at: '2099-01-01T00:00:00Z' }],
      assignees: [guest.id],
      labels: ['l'],
      folder_id,
      references: [
        { type: 'note', id: note.id },
        { type: 'url', url: 'https://example.com/' },
      ],
    });
    fits('createTask', created);
    const path = `/tasks/${created.body.task.id}`;
    const subtask = await api.post(`${path}/subtasks`, {
      title: 's',
      assignee: guest.id,
      date: '2099-01-01',
    });
    fits('addSubtask', subtask);
    const subtaskPath = `${path}/subtasks/${subtask.body.subtask.id}`;
    fits('updateSubtask', await api.put(subtaskPath, { done: true, assignee: null }));
    const comment = await guest.api.post(`${path}/comments`, { body: 'c' });
    fits('addTaskComment', comment);
    const commentPath = `${path}/comments/${comment.body.comment.id}`;
    fits('editTaskComment', await guest.api.patch(commentPath, { body: 'd' }));
    fits('listTaskComments', await api.get(`${path}/comments`));
    fits('updateTask', await api.patch(path, { done: true }));
    fits('putTask', await api.put(path, { title: 'u' }));
    fits('readTask', await guest.api.get(path));
    fits('readTaskPanel', await guest.api.get(`${path}/panel`));
    fits('listTasks', await guest.api.get('/tasks'));
    fits('deleteSubtask', await api.delete(subtaskPath));
    fits('deleteTaskComment', await guest.api.delete(commentPath));
    fits('deleteTask', await api.delete(path));
    fits('restoreTask', await api.post(`${path}/restore`));
    fits('deleteTaskFolder', await api.delete(`/task_folders/${folder_id}`));
  });

  test('search', async () => {
    await alice.api.post('/notes', { title: 'Needle', content: '<p>needle</p>', labels: ['a'] });
    const found = await alice.api.get('/search/notes?q=needle');
    expect(found.body.notes).toHaveLength(1);
    fits('searchNotes', found);
    fits('searchNotes', await alice.api.get('/search/notes?q=%21'));
  });

  test('health and keys', async () => {
    fits('healthLive', await app.anonymous.get('/health/live'));
    fits('healthReady', await app.anonymous.get('/health/ready'));
    fits('listSigningKeys', await app.anonymous.get('/.well-known/jwks.json'));
  });
});
