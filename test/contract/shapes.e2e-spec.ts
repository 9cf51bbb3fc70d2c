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

  test('search', async () => {
    await alice.api.post('/notes', { title: 'Needle', content: '<p>needle</p>', labels: ['a'] });
    const found = await alice.api.get('/search/notes?q=needle');
    expect(found.body.notes).toHaveLength(1);
    fits('searchNotes', found);
    fits('searchNotes', await alice.api.get('/search/notes?q=%21'));
  });

  test('groups', async () => {
    const [owner, member] = (await app.tenant('groups', 'owner', 'member')) as [Person, Person];
    const { api } = owner;
    const created = await api.post('/rbac/groups', { name: 'G', permissions: ['forms.create'] });
    fits('createGroup', created);
    const path = `/rbac/groups/${created.body.group.id}`;
    fits('listGroups', await api.get('/rbac/groups'));
    fits('updateGroup', await api.put(path, { description: 'd' }));
    fits('addGroupMembers', await api.post(`${path}/members`, { user_id: owner.id }));
    fits('addGroupMember', await api.post(`${path}/members/${member.id}`));
    fits('listGroupMembers', await api.get(`${path}/members`));
    fits('removeGroupMember', await api.delete(`${path}/members/${member.id}`));
    fits('listGroupPermissions', await api.get(`${path}/permissions`));
    fits('grantGroupPermissions', await api.post(`${path}/permissions`, { permission: 'calls.start' }));
    fits('grantGroupPermission', await api.post(`${path}/permissions/audit.read`));
    fits('revokeGroupPermission', await api.delete(`${path}/permissions/audit.read`));
    fits('deleteGroup', await api.delete(path));
  });

  test('settings', async () => {
    const [, member] = (await app.tenant('settings', 'owner', 'member')) as [Person, Person];
    const { api } = member;
    fits('readProfile', await api.get('/settings/profile'));
    fits('updateProfile', await api.put('/settings/profile', { timezone: 'Europe/Berlin' }));
    const created = await api.post('/settings/signatures', { name: 'S', html: 'x', is_default: true });
    fits('createSignature', created);
    const path = `/settings/signatures/${created.body.signature.id}`;
    fits('readSignature', await api.get(path));
    fits('listSignatures', await api.get('/settings/signatures'));
    fits('updateSignature', await api.put(path, { name: 'T' }));
    fits('setDefaultSignature', await api.put(`${path}/default`));
    fits('deleteSignature', await api.delete(path));
    fits('readGeneralPreferences', await api.get('/settings/general-preferences'));
    fits('updateGeneralPreferences', await api.put('/settings/general-preferences', { language: 'de' }));
    fits('readNotificationPreferences', await api.get('/settings/notifications'));
    fits('updateNotificationPreferences', await api.put('/settings/notifications', { digest: 'daily' }));
    fits('deactivateProfile', await api.delete('/settings/profile'));
  });

  test('tenant and directory', async () => {
    const { api } = alice;
    fits('updateTenant', await api.put('/tenant', { branding: { primary_color: '#2f80ed' } }));
    fits('readTenant', await api.get('/tenant'));
    const png = Buffer.alloc(24);
    png.write('\u0089PNG\r\n\u001A\n', 'latin1');
    png.writeUInt32BE(1, 16);
    png.writeUInt32BE(1, 20);
    const headers = { 'content-type': 'image/png' };
    fits('setTenantLogo', await api.put('/tenant/logo', undefined, { raw: png, headers }));
    fits('removeTenantLogo', await api.delete('/tenant/logo'));
    fits('listAuditEvents', await api.get('/tenant/audit'));
    const bob = await app.member('acme', 'bob@acme.example');
    fits('listTenantMembers', await api.get('/tenant/members'));
    fits('deactivateTenantMember', await api.post(`/tenant/members/${bob.id}/deactivate`));
    fits('activateTenantMember', await api.post(`/tenant/members/${bob.id}/activate`));
    const found = await api.get('/directory/search?q=alice');
    expect(found.body.results).toHaveLength(1);
    fits('searchDirectory', found);
  });

  test('health and keys', async () => {
    fits('healthLive', await app.anonymous.get('/health/live'));
    fits('healthReady', await app.anonymous.get('/health/ready'));
    fits('listSigningKeys', await app.anonymous.get('/.well-known/jwks.json'));
  });
});
