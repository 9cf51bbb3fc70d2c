import { Config } from '../../src/config/config.js';
import { randomUUID } from 'node:crypto';
import { acceptApplicationPasswords } from '../support/sign-in/application-passwords.ts';
import { PASSWORD, personWithPassword, session } from '../support/sign-in/account.ts';
import { TestApp, type TestUser } from '../support/app.ts';
import { upload } from '../support/network/multipart.ts';
import { SoftPasskey } from '../support/sign-in/webauthn.ts';
import { Client } from '../support/network/client.ts';
import { ScimClient, USER_SCHEMA } from '../support/sign-in/scim.ts';
import { fits, isDescribed, offered } from '../support/contract/shapes.ts';
import { Authenticator, stopClock } from '../support/sign-in/totp.ts';
import { CAPTURES, capture, DRAFTS, INBOX, WildDuck } from '../support/mail/wild-duck.ts';
import { PresenceDevices } from '../../src/modules/presence/devices/presence-devices.js';
import { TestSocket } from '../support/network/socket.ts';
import { PushDevice } from '../support/network/push-service.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

describe('responses have exactly the described shape', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start({ SMTP_URL: 'smtp://127.0.0.1:9' });
    acceptApplicationPasswords(app);
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

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
    const stale = await api.patch(`/notes/${id}`, { title: 'T4', base_revision: 1 });
    expect([stale.status, stale.headers.get('etag')]).toEqual([409, `"note:${id}:r3"`]);
    fits('updateNote', stale);
    fits('listNoteRevisions', await api.get(`/notes/${id}/revisions`));
    fits('readNoteRevision', await api.get(`/notes/${id}/revisions/1`));
    fits('deleteNote', await api.delete(`/notes/${id}`, { base_revision: 3 }));
    fits('listNotes', await api.get('/notes?state=trash'));
    fits('restoreNote', await api.post(`/notes/${id}/restore`));
    await api.delete(`/notes/${id}`, { base_revision: 3 });
    fits('purgeNote', await api.delete(`/notes/${id}/purge`));
  });

  test('sharing, folders and feeds', async () => {
    const [owner, guest] = await app.tenant('shapes', 'owner', 'guest');
    const { api } = owner;
    const folder = await api.post('/note_folders', { name: 'f', color: '#ffffff' });
    fits('createNoteFolder', folder);
    const folderPath = `/note_folders/${folder.body.folder.id}`;
    fits('readNoteFolder', await api.get(folderPath));
    fits('listNoteFolders', await api.get('/note_folders'));
    for (const body of offered('updateNoteFolder'))
      fits('updateNoteFolder', await api.patch(folderPath, body));
    fits('putNoteFolder', await api.put(folderPath, { name: 'h' }));
    const stale = await api.put(folderPath, { name: 'i', base_revision: 1 });
    expect([stale.status, stale.headers.has('etag')]).toEqual([409, true]);
    fits('putNoteFolder', stale);
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

  test('tokens of identity providers', async () => {
    const { api } = alice;
    const created = await api.post('/tenant/scim/tokens', { name: 'Entra', expires_in_days: 30 });
    fits('createScimToken', created);
    const path = `/tenant/scim/tokens/${created.body.scim_token.id}`;
    fits('listScimTokens', await api.get('/tenant/scim/tokens'));
    fits('rotateScimToken', await api.post(`${path}/rotate`));
    fits('revokeScimToken', await api.delete(path));
  });

  test('push subscriptions', async () => {
    const { api } = alice;
    fits('readPushKey', await api.get('/notifications/push-key'));
    const device = new PushDevice('http://127.0.0.1:9/x');
    const created = await api.post('/notifications/push-subscriptions', device.subscription);
    fits('createPushSubscription', created);
    const path = `/notifications/push-subscriptions/${created.body.push_subscription.id}`;
    fits('listPushSubscriptions', await api.get('/notifications/push-subscriptions'));
    fits('testPushSubscription', await api.post(`${path}/test`));
    fits('deletePushSubscription', await api.delete(path));
  });

  test('webhooks', async () => {
    const { api } = alice;
    const input = { scope: 'tenant', url: 'http://127.0.0.1:9/x', event_types: ['task.created'] };
    const created = await api.post('/webhooks', input);
    fits('createWebhook', created);
    const path = `/webhooks/${created.body.webhook.id}`;
    fits('listWebhooks', await api.get('/webhooks'));
    fits('listWebhookEventTypes', await api.get('/webhooks/event-types'));
    fits('readWebhook', await api.get(path));
    fits('updateWebhook', await api.patch(path, { description: 'x', base_revision: 1 }));
    fits('putWebhook', await api.put(path, { active: false, base_revision: 2 }));
    fits('rotateWebhookSecret', await api.post(`${path}/rotate-secret`));
    const tested = await api.post(`${path}/test`);
    fits('testWebhook', tested);
    fits('listWebhookDeliveries', await api.get(`${path}/deliveries`));
    fits('redeliverWebhookEvent', await api.post(`${path}/deliveries/${tested.body.delivery.id}/redeliver`));
    fits('redeliverWebhookEvents', await api.post(`${path}/redeliver`, { since: '2026-01-01T00:00:00Z' }));
    fits('deleteWebhook', await api.delete(path, { base_revision: 4 }));
  });

  test('issuers of the workspace', async () => {
    const { api } = alice;
    await app.sql(
      `INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, 'shapes.example', now())`,
      [alice.tenantId],
    );
    const input = { name: 'Acme', issuer: 'http://127.0.0.1:9', client_id: 'c', domains: ['shapes.example'] };
    const created = await api.post('/tenant/issuers', { ...input, client_secret: 'secret' });
    fits('createIssuer', created);
    const path = `/tenant/issuers/${created.body.issuer.id}`;
    fits('listIssuers', await api.get('/tenant/issuers'));
    fits('readIssuer', await api.get(path));
    fits('updateIssuer', await api.patch(path, { enabled: false, base_revision: 1 }));
    fits('putIssuer', await api.put(path, { enabled: true, base_revision: 2 }));
    fits('checkIssuer', await api.post(`${path}/check`));
    fits('deleteIssuer', await api.delete(path, { base_revision: 3 }));
  });

  test('tasks', async () => {
    const [owner, guest] = await app.tenant('tasks', 'owner', 'guest');
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
    fits('taskIndex', await guest.api.get('/tasks/index?include=content'));
    fits('taskIndex', await api.get('/tasks/index'));
    fits('taskFolderIndex', await guest.api.get('/task_folders/index'));
    const found = await api.get('/search/tasks?q=u');
    expect(found.body.tasks).toHaveLength(1);
    fits('searchTasks', found);
    fits('searchTasks', await api.get('/search/tasks?q=%21'));
    const before = (await guest.api.get('/task_folders/index')).body.cursor;
    fits('deleteTaskFolder', await api.delete(`/task_folders/${folder_id}`));
    await api.patch(path, { assignees: [] });
    fits('taskChanges', await api.get('/tasks/changes'));
    const lost = await guest.api.get(`/task_folders/changes?cursor=${before}`);
    expect(lost.body.folders).toEqual([expect.objectContaining({ removed: true })]);
    fits('taskFolderChanges', lost);
  });

  test('search', async () => {
    await alice.api.post('/notes', { title: 'Needle', content: '<p>needle</p>', labels: ['a'] });
    const found = await alice.api.get('/search/notes?q=needle');
    expect(found.body.notes).toHaveLength(1);
    fits('searchNotes', found);
    fits('searchNotes', await alice.api.get('/search/notes?q=%21'));
  });

  test('groups', async () => {
    const [owner, member] = await app.tenant('groups', 'owner', 'member');
    const { api } = owner;
    const created = await api.post('/rbac/groups', { name: 'G', permissions: ['forms.create'] });
    fits('createGroup', created);
    const path = `/rbac/groups/${created.body.group.id}`;
    fits('listGroups', await api.get('/rbac/groups'));
    for (const body of offered('updateGroup')) fits('updateGroup', await api.put(path, body));
    fits('addGroupMembers', await api.post(`${path}/members`, { user_id: owner.id }));
    fits('addGroupMember', await api.post(`${path}/members/${member.id}`));
    const again = await api.post(`${path}/members/${member.id}`);
    expect(again.status).toBe(200);
    fits('addGroupMember', again);
    fits('listGroupMembers', await api.get(`${path}/members`));
    fits('removeGroupMember', await api.delete(`${path}/members/${member.id}`));
    fits('listGroupPermissions', await api.get(`${path}/permissions`));
    fits('grantGroupPermissions', await api.post(`${path}/permissions`, { permission: 'calls.start' }));
    fits('grantGroupPermission', await api.post(`${path}/permissions/audit.read`));
    fits('grantGroupPermission', await api.post(`${path}/permissions/audit.read`));
    fits('revokeGroupPermission', await api.delete(`${path}/permissions/audit.read`));
    fits('deleteGroup', await api.delete(path));
  });

  test('account security', async () => {
    const user = await personWithPassword(app, 'secure');
    const { api } = user;
    const begun = await api.post('/auth/initiate-2fa', { password: PASSWORD });
    fits('initiateTwoFactor', begun);
    const authenticator = new Authenticator(begun.body.secret);
    const on = await api.post('/auth/enable-2fa', { code: authenticator.code() });
    fits('enableTwoFactor', on);
    const [first, second] = on.body.recovery_codes;
    fits('verifyTwoFactor', await api.post('/auth/verify-2fa', { code: authenticator.code(1) }));
    fits('verifyTwoFactor', await api.post('/auth/verify-2fa', { recovery_code: first }));
    const renewed = await api.post('/auth/recovery-codes', { password: PASSWORD, recovery_code: second });
    fits('renewRecoveryCodes', renewed);
    const made = await api.post('/settings/application-passwords', { description: 'd', scopes: ['imap'] });
    fits('createApplicationPassword', made);
    const path = `/settings/application-passwords/${made.body.application_password.id}`;
    fits('listApplicationPasswords', await api.get('/settings/application-passwords'));
    fits('readApplicationPassword', await api.get(path));
    fits('deleteApplicationPassword', await api.delete(path));
    await session(app, user);
    const state = await api.get('/settings/security');
    fits('readSecurity', state);
    expect(state.body.recent_events.length).toBeGreaterThan(3);
    fits('endSession', await api.delete(`/settings/security/sessions/${state.body.sessions[1].id}`));
    const change = { current_password: PASSWORD, new_password: 'seven purple teapots dance' };
    fits('changePassword', await api.put('/settings/password', change));
    fits(
      'disableTwoFactor',
      await api.post('/auth/disable-2fa', {
        password: change.new_password,
        recovery_code: renewed.body.recovery_codes[0],
      }),
    );
    fits('signOut', await api.post('/auth/sign-out'));
  });

  test('passkeys', async () => {
    const { api } = await personWithPassword(app, 'passkeys');
    const path = '/settings/security/passkeys';
    const key = new SoftPasskey(new URL(app.get<Config>(Config).publicUrl).origin);
    const options = await api.post(`${path}/options`, { password: PASSWORD });
    fits('createPasskeyOptions', options);
    const credential = key.create(options.body.public_key);
    const added = await api.post(path, { name: 'Laptop', credential });
    fits('registerPasskey', added);
    fits('listPasskeys', await api.get(path));
    fits('createPasskeyPage', await api.post(`${path}/page`, { password: PASSWORD }));
    const requested = await api.post('/auth/passkey-options');
    fits('createPasskeyVerification', requested);
    const proof = { credential: key.get(requested.body.public_key) };
    fits('verifyPasskey', await api.post('/auth/verify-passkey', proof));
    const one = `${path}/${added.body.passkey.id}`;
    fits('renamePasskey', await api.patch(one, { name: 'Phone' }));
    fits('removePasskey', await api.delete(one));
  });

  test('settings', async () => {
    const [, member] = await app.tenant('settings', 'owner', 'member');
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
    for (const body of offered('updateGeneralPreferences')) {
      const response = await api.put('/settings/general-preferences', body);
      expect(response.status).toBe(200);
      fits('updateGeneralPreferences', response);
    }
    fits('readNotificationPreferences', await api.get('/settings/notifications'));
    for (const body of offered('updateNotificationPreferences')) {
      const response = await api.put('/settings/notifications', body);
      expect(response.status).toBe(200);
      fits('updateNotificationPreferences', response);
    }
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
    const email = 'invited@far.example';
    const invited = await api.post('/tenant/invitations', { email });
    fits('createInvitation', invited);
    const { id: invitation } = invited.body.invitation;
    fits('listInvitations', await api.get('/tenant/invitations'));
    fits('readInvitation', await api.get(`/tenant/invitations/${invitation}`));
    fits('resendInvitation', await api.post(`/tenant/invitations/${invitation}/resend`));
    fits('revokeInvitation', await api.delete(`/tenant/invitations/${invitation}`));
    fits('addTenantDomain', await api.post('/tenant/domains', { domain: 'corp.example' }));
    fits('listTenantDomains', await api.get('/tenant/domains'));
    fits('removeTenantDomain', await api.delete('/tenant/domains/corp.example'));
    fits('readFileUsage', await api.get('/tenant/files'));
    fits('updateFileLimits', await api.put('/tenant/files', { user_limit_bytes: 1_073_741_824 }));
    fits('listFileUsers', await api.get('/tenant/files/users'));
    fits('readTenantPolicy', await api.get('/tenant/policy'));
    fits('updateTenantPolicy', await api.put('/tenant/policy', { second_factor: { grace_days: 5 } }));
    fits('readEmail', await api.get('/settings/email'));
    fits('listAuditEvents', await api.get('/tenant/audit'));
    const bob = await app.member('acme', 'bob@acme.example');
    fits('listTenantMembers', await api.get('/tenant/members'));
    fits('listMemberSessions', await api.get(`/tenant/members/${bob.id}/sessions`));
    fits('endMemberSessions', await api.delete(`/tenant/members/${bob.id}/sessions`));
    const made = await api.post('/tenant/clients', { name: 'Sync', kind: 'service' });
    fits('createTenantClient', made);
    const { id: client } = made.body.client;
    fits('listTenantClients', await api.get('/tenant/clients'));
    fits('readTenantClient', await api.get(`/tenant/clients/${client}`));
    fits('rotateTenantClientSecret', await api.post(`/tenant/clients/${client}/secret`));
    fits('removeTenantClient', await api.delete(`/tenant/clients/${client}`));
    fits('listConnectedApps', await api.get('/settings/connected-apps'));
    fits('deactivateTenantMember', await api.post(`/tenant/members/${bob.id}/deactivate`));
    fits('readTenantMemberContent', await api.get(`/tenant/members/${bob.id}/content`));
    const body = { to: alice.id };
    fits('transferTenantMemberContent', await api.post(`/tenant/members/${bob.id}/transfer`, body));
    fits('activateTenantMember', await api.post(`/tenant/members/${bob.id}/activate`));
    const found = await api.get('/directory/search?q=alice');
    expect(found.body.results).toHaveLength(1);
    fits('searchDirectory', found);
  });

  test('chat', async () => {
    const [owner, guest] = await app.tenant('chat', 'owner', 'guest');
    const { api } = owner;
    const file = await upload(api, '/chat/attachments', 'x');
    fits('uploadChatAttachment', file);
    const [example] = offered('createChatRoom') as [object];
    const created = await api.post('/chat/rooms', example);
    fits('createChatRoom', created);
    const path = `/chat/rooms/${created.body.room.id}`;
    const direct = { type: 'direct', member_ids: [guest.id] };
    fits('createChatRoom', await api.post('/chat/rooms', direct));
    fits('createChatRoom', await guest.api.post('/chat/rooms', { type: 'direct', member_ids: [owner.id] }));
    fits('addChatRoomMembers', await api.post(`${path}/members`, { user_id: guest.id }));
    fits('addChatRoomMembers', await api.post(`${path}/members`, { user_id: guest.id }));
    const text = { client_msg_id: randomUUID(), body: 'b', mentions: [guest.id] };
    const message = { ...text, attachment_ids: [file.body.attachment.id] };
    const sent = await api.post(`${path}/messages`, message);
    fits('sendChatMessage', sent);
    fits('sendChatMessage', await api.post(`${path}/messages`, message));
    const messagePath = `${path}/messages/${sent.body.message.id}`;
    fits('reactToChatMessage', await guest.api.put(`${messagePath}/reactions`, { emoji: '👍' }));
    fits('editChatMessage', await api.patch(messagePath, { body: 'c' }));
    fits('editChatMessage', await api.patch(messagePath, { body: 'd', base_mod_seq: 1 }));
    for (const body of offered('updateChatRoom')) fits('updateChatRoom', await api.put(path, body));
    fits('listChatRooms', await guest.api.get('/chat/rooms'));
    fits('readChatRoom', await guest.api.get(path));
    fits('listChatMessages', await guest.api.get(`${path}/messages`));
    fits('markChatRoomRead', await guest.api.put(`${path}/read`, { seq: 1 }));
    fits('listChatRoomMembers', await api.get(`${path}/members`));
    fits('readChatParty', await api.get(`/chat/user/parties/${guest.id}`));
    fits('listChatPartyMessages', await api.get(`/chat/user/parties/${guest.id}/messages`));
    fits('readChatUser', await api.get('/chat/user'));
    fits('listChatUsers', await api.get('/chat/users'));
    fits('createSocketToken', await api.post('/auth/socket/token'));
    for (const body of offered('setOwnPresence')) fits('setOwnPresence', await api.put('/presence/me', body));
    fits('readOwnPresence', await api.get('/presence/me'));
    fits('readPresence', await api.get(`/presence/${guest.id}`));
    fits('listPresence', await api.get(`/presence?user_ids=${guest.id}`));
    const socket = await TestSocket.open(app, guest);
    await app.get(PresenceDevices).flush();
    fits('listRoomPresence', await api.get(`/presence/rooms/${created.body.room.id}`));
    socket.close();
    fits('deleteChatMessage', await api.delete(messagePath));
    fits('removeChatRoomMember', await api.delete(`${path}/members/${guest.id}`));
    const channel = { type: 'channel', name: 'c', visibility: 'tenant' };
    const open = await api.post('/chat/rooms', channel);
    fits('readChatRoom', await guest.api.get(`/chat/rooms/${open.body.room.id}`));
    fits('listChatRooms', await guest.api.get('/chat/rooms?joined=false'));
    fits('deleteChatRoom', await api.delete(path));
  });

  test('mail, as WildDuck responded', async () => {
    const duck = await WildDuck.start();
    const mail = await TestApp.start(duck.settings, app.databaseUrl);
    try {
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
        if (label.startsWith('draft'))
          fits('createDraft', await api.post('/mail/draft', { mailbox: DRAFTS }));
        if (label.startsWith('submit')) fits('submitMessage', await api.post(`${messages}/1/submit`, {}));
        if (label.startsWith('submit'))
          fits('submitDraft', await api.post('/mail/draft/submit', { mailbox_id: DRAFTS, message_id: '1' }));
      }
      const rejection = CAPTURES.find(
        ({ status, json }) => status === 404 && json?.code === 'MessageNotFound',
      );
      duck.script = ({ url }) => (url.startsWith('/users/me/') ? rejection : undefined);
      fits('readMessage', await api.get(`${messages}/1`));
      expect(capture('get-message').json.success).toBe(true);
    } finally {
      await mail.stop();
      await duck.stop();
    }
  });

  test('health and keys', async () => {
    fits('healthLive', await app.anonymous.get('/health/live'));
    fits('healthReady', await app.anonymous.get('/health/ready'));
    fits('listSigningKeys', await app.anonymous.get('/.well-known/jwks.json'));
  });

  test('contacts', async () => {
    const [owner, reader] = await app.tenant('contacts', 'owner', 'reader');
    const { api } = owner;
    const book = await api.post('/contact/addressbooks', { name: 'b', shares: [reader.id] });
    fits('createAddressbook', book);
    const { id } = book.body.addressbook;
    fits('readAddressbook', await reader.api.get(`/contact/addressbooks/${id}`));
    fits('updateAddressbook', await api.put(`/contact/addressbooks/${id}`, { color: '#2f80ed' }));
    fits('listAddressbooks', await api.get('/contact/addressbooks'));
    fits('listUserAddressbooks', await api.get('/contact/useraddressbooks'));
    const path = `/contact/addressbooks/${id}/contacts`;
    for (const body of offered('createContact')) fits('createContact', await api.post(path, body));
    const made = await api.post(path, {
      full_name: 'Full',
      emails: ['a@x.example'],
      phones: ['+420601123456'],
    });
    const item = `${path}/${made.body.contact.external_id}`;
    const image = { raw: PNG, headers: { 'content-type': 'image/png' } };
    fits('setContactPhoto', await api.put(`${item}/photo`, undefined, image));
    fits('readContact', await reader.api.get(item));
    fits('listContacts', await reader.api.get(`${path}?q=full`));
    fits('listContacts', await reader.api.get(`${path}?fields=full_name,photo`));
    fits('listGlobalContacts', await api.get(`/contact/addressbooks/${id}/global?fields=emails`));
    for (const accept of ['text/vcard', 'application/jscontact+json'])
      isDescribed('readContact', await reader.api.get(item, { headers: { accept } }));
    isDescribed('exportPhoneContacts', await api.get('/contact/phone-sync/export'));
    fits('updateContact', await api.put(item, { job_title: 'j', categories: ['c'] }));
    fits('listGlobalContacts', await api.get(`/contact/addressbooks/${id}/global`));
    fits('contactChanges', await reader.api.get(`${path}/sync`));
    const changes = [
      { op: 'upsert', external_id: 'new', contact: { full_name: 'N' } },
      { op: 'delete', external_id: 'missing' },
      { op: 'upsert', external_id: 'bad', contact: { full_name: 1 } },
    ];
    fits('applyContactChanges', await api.post(`${path}/sync`, { changes }));
    fits('removeContactPhoto', await api.delete(`${item}/photo`));
    const external_ids = ['new', made.body.contact.external_id];
    fits('findDuplicateContacts', await api.post('/contact/duplicates', { addressbook_id: id }));
    const merged = await api.post('/contact/merges', { addressbook_id: id, external_ids });
    fits('mergeContacts', merged);
    fits('undoContactMerge', await api.post(`/contact/merges/${merged.body.merge_id}/undo`));
    const target = (await api.post('/contact/addressbooks', { name: 't' })).body.addressbook.id;
    fits('moveContact', await api.post(`${item}/move`, { target_addressbook_id: target }));
    const move = { target_addressbook_id: target, contact_ids: ['new', 'missing'] };
    fits('moveContacts', await api.post(`/contact/addressbooks/${id}/move_contacts`, move));
    const imported = await api.post('/contact/phone-sync/import', {
      contacts: [{ full_name: 'I' }, { full_name: 1 }],
    });
    fits('importPhoneContacts', imported);
    const asJson = { headers: { accept: 'application/json' } };
    fits('exportPhoneContacts', await api.get('/contact/phone-sync/export?device_id=x', asJson));
    fits('listContactImports', await api.get('/contact/phone-sync/imports'));
    const importPath = `/contact/phone-sync/imports/${imported.body.import.id}`;
    fits('readContactImport', await api.get(importPath));
    fits('undoContactImport', await api.post(`${importPath}/undo`));
    fits('setSelfPhoto', await api.put('/contact/self/photo', undefined, image));
    fits('readSelf', await api.get('/contact/self'));
    fits('updateSelf', await api.put('/contact/self', { nicknames: ['Al'] }));
    fits('listDirectory', await api.get('/contact/directory'));
    fits('searchDirectory', await api.get('/directory/search?q=full'));
    fits('listExtractedAddresses', await api.get('/contact/extract'));
    fits('removeExtractedAddress', await api.delete('/contact/extract', { email: 'a@x.example' }));
    fits('syncState', await api.get('/sync/state'));
    fits('deleteContact', await api.delete(`/contact/addressbooks/${target}/contacts/new`));
    fits('deleteAddressbook', await api.delete(`/contact/addressbooks/${target}`));
  });

  test('copies of files that clients store', async () => {
    const [owner] = await app.tenant('copies', 'owner');
    const { api } = owner;
    const image = { raw: PNG, headers: { 'content-type': 'image/png' } };
    for (const path of ['/tenant/logo', '/contact/self/photo'])
      expect((await api.put(path, undefined, image)).status).toBe(200);
    const self = (await api.get('/contact/self')).body.contact;
    const card = `/contact/addressbooks/${self.addressbook_id}/contacts/${self.external_id}`;
    const calendar = (await api.post('/calendar', { name: 'Team' })).body.calendar;
    const feed = (await api.post(`/calendar/${calendar.id}/feeds`, {})).body.feed;
    const task = (await api.post('/tasks', { title: 'Files' })).body.task;
    const attached = await upload(api, `/tasks/${task.id}/attachments`, 'text');
    const files = {
      readTenantLogo: '/tenant/logo',
      readSelfPhoto: '/contact/self/photo',
      readContactPhoto: `${card}/photo`,
      readCalendarFeed: feed.url.replace('/apis/v1', ''),
      downloadTaskAttachment: `/tasks/${task.id}/attachments/${attached.body.attachment.id}`,
    };
    for (const [operationId, path] of Object.entries(files)) {
      const whole = await api.get(path);
      isDescribed(operationId, whole);
      const known = await api.get(path, { headers: { 'if-none-match': whole.headers.get('etag') ?? '' } });
      expect([operationId, whole.status, known.status]).toEqual([operationId, 200, 304]);
      isDescribed(operationId, known);
    }
    const outside = await api.get(files.downloadTaskAttachment, { headers: { range: 'bytes=99-' } });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, 'bytes */4']);
    fits('downloadTaskAttachment', outside);
  });

  test('requests without a valid token', async () => {
    for (const token of [null, 'invalid']) {
      const rejected = await new Client(app.base, token).get('/notes');
      expect([rejected.status, rejected.headers.get('www-authenticate')]).toEqual([401, expect.anything()]);
      fits('listNotes', rejected);
    }
  });

  test('resources of identity providers name their version and address', async () => {
    const [owner] = await app.tenant('provisioned', 'owner');
    const scim = await ScimClient.of(app, owner, 'provisioned.example');
    const created = await scim.post('/Users', {
      schemas: [USER_SCHEMA],
      userName: 'ann@provisioned.example',
    });
    expect([created.status, created.headers.has('etag')]).toEqual([201, true]);
    isDescribed('createScimUser', created);
    const path = `/Users/${created.body.id}`;
    const version = created.headers.get('etag') ?? '';
    isDescribed('readScimUser', await scim.get(path));
    isDescribed('readScimUser', await scim.get(path, { 'if-none-match': version }));
    isDescribed('patchScimUser', await scim.patch(path, [{ op: 'replace', path: 'title', value: 'Lead' }]));
    isDescribed('listScimUsers', await new ScimClient(app.base, 'invalid').get('/Users'));
  });
});
