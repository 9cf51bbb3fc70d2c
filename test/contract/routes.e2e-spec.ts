import { readFileSync } from 'node:fs';
import type { Router } from 'express';
import type { LeanExpressAdapter } from '../../src/platform/http/server/lean-express.adapter.js';
import { OIDC_ROUTES } from '../../src/modules/sign-in/sign-in.server.js';
import { PERMISSIONS } from '../../src/modules/access/index.js';
import { TestApp } from '../support/app.ts';
import { describedOperations, fillPath, METHODS, openApi } from '../support/contract/operations.ts';

/**
 * Routes that we add to domains of the contract, with the reason. Domains that the contract lacks need no entry: the description of
 * their tag is the reason.
 */
const OUR_ADDITIONS = new Map([
  ['GET /apis/v1/settings/application-passwords/{asp_id}', 'one application password, as in the design'],
  [
    'DELETE /apis/v1/settings/security/sessions/{id}',
    'ends one of the sessions that GET /settings/security lists',
  ],
  ['POST /apis/v1/auth/sign-out', 'ends this session, or all of the user'],
  ['POST /apis/v1/auth/recovery-codes', 'new recovery codes while the second factor stays on'],
  ['PUT /apis/v1/tenant', 'administrators rename their workspace without the operator'],
  ['PUT /apis/v1/tenant/logo', 'likewise'],
  ['DELETE /apis/v1/tenant/logo', 'likewise'],
  ['GET /apis/v1/tenant/members', 'administrators see all members, deactivated ones included'],
  ['POST /apis/v1/tenant/members/{user_id}/deactivate', 'for the permission users.deactivate'],
  ['POST /apis/v1/tenant/members/{user_id}/activate', 'reverses the deactivation'],
  ['GET /apis/v1/tenant/members/{user_id}/content', 'content of a deactivated member'],
  ['POST /apis/v1/tenant/members/{user_id}/transfer', 'a new owner for it; the permission users.transfer'],
  ['POST /apis/v1/tenant/invitations', 'administrators invite users without the operator'],
  ['GET /apis/v1/tenant/invitations', 'likewise'],
  ['GET /apis/v1/tenant/invitations/{invitation_id}', 'likewise'],
  ['POST /apis/v1/tenant/invitations/{invitation_id}/resend', 'likewise'],
  ['DELETE /apis/v1/tenant/invitations/{invitation_id}', 'likewise'],
  ['GET /apis/v1/tenant/domains', 'the domains with the TXT records that verify them'],
  ['POST /apis/v1/tenant/domains', 'the verification of a domain'],
  ['POST /apis/v1/tenant/domains/{domain}/verify', 'the verification of a domain'],
  ['DELETE /apis/v1/tenant/domains/{domain}', 'the end of a domain'],
  ['GET /apis/v1/tenant/policy', 'rules that administrators set for the workspace'],
  ['PUT /apis/v1/tenant/policy', 'likewise'],
  ['GET /apis/v1/tenant/files', 'use and limits of files'],
  ['PUT /apis/v1/tenant/files', 'the limit of each user'],
  ['GET /apis/v1/tenant/files/users', 'the bytes of each user'],
  ['GET /apis/v1/tenant/members/{user_id}/sessions', 'administrators see and end the sessions of a member'],
  ['DELETE /apis/v1/tenant/members/{user_id}/sessions', 'likewise'],
  ['DELETE /apis/v1/tenant/members/{user_id}/sessions/{session_id}', 'likewise'],
  ['POST /apis/v1/tenant/members/{user_id}/second-factor/reset', 'a lost second factor without the operator'],
  ['POST /apis/v1/tenant/clients', 'applications and service accounts without the operator'],
  ['GET /apis/v1/tenant/clients', 'likewise'],
  ['GET /apis/v1/tenant/clients/{client_id}', 'likewise'],
  ['POST /apis/v1/tenant/clients/{client_id}/secret', 'likewise'],
  ['DELETE /apis/v1/tenant/clients/{client_id}', 'likewise'],
  ['GET /apis/v1/tenant/issuers', 'members sign in by the issuer of their workspace'],
  ['POST /apis/v1/tenant/issuers', 'likewise'],
  ['GET /apis/v1/tenant/issuers/{id}', 'likewise'],
  ['PATCH /apis/v1/tenant/issuers/{id}', 'likewise'],
  ['PUT /apis/v1/tenant/issuers/{id}', 'likewise'],
  ['DELETE /apis/v1/tenant/issuers/{id}', 'likewise'],
  ['POST /apis/v1/tenant/issuers/{id}/check', 'likewise'],
  ['GET /apis/v1/notifications/push-key', 'notifications for browsers and phones whose socket is closed'],
  ['GET /apis/v1/notifications/push-subscriptions', 'likewise'],
  ['POST /apis/v1/notifications/push-subscriptions', 'likewise'],
  ['DELETE /apis/v1/notifications/push-subscriptions/{id}', 'likewise'],
  ['POST /apis/v1/notifications/push-subscriptions/{id}/test', 'likewise'],
  ['POST /apis/v1/tenant/scim/tokens', 'tokens of identity providers'],
  ['GET /apis/v1/tenant/scim/tokens', 'likewise'],
  ['POST /apis/v1/tenant/scim/tokens/{token_id}/rotate', 'likewise'],
  ['DELETE /apis/v1/tenant/scim/tokens/{token_id}', 'likewise'],
  ['GET /apis/v1/settings/connected-apps', 'applications with the consent of the user'],
  ['DELETE /apis/v1/settings/connected-apps/{client}', 'the end of a consent'],
  ['POST /apis/v1/settings/export', 'an export of the own data'],
  ['GET /apis/v1/settings/export', 'likewise'],
  ['GET /apis/v1/settings/export/file', 'likewise'],
  ['GET /apis/v1/settings/email', 'the own address and its pending change'],
  ['PUT /apis/v1/settings/email', 'a change of the address, confirmed by a mail'],
  ['DELETE /apis/v1/settings/email', 'the end of a pending change'],
  ['GET /apis/v1/settings/security/passkeys', 'passkeys as second and as only factor'],
  ['POST /apis/v1/settings/security/passkeys', 'likewise'],
  ['POST /apis/v1/settings/security/passkeys/options', 'likewise'],
  ['POST /apis/v1/settings/security/passkeys/page', 'a link to the page of the own passkeys'],
  ['PATCH /apis/v1/settings/security/passkeys/{passkey_id}', 'passkeys as second and as only factor'],
  ['DELETE /apis/v1/settings/security/passkeys/{passkey_id}', 'likewise'],
  ['POST /apis/v1/auth/passkey-options', 'a proof of the second factor by a passkey'],
  ['POST /apis/v1/auth/verify-passkey', 'likewise'],
  ['GET /apis/v1/tenant/audit', 'the audit log, for the permission audit.read'],
  ['GET /apis/v1/tenant/audit.csv', 'the same as a file'],
  [
    'POST /apis/v1/rbac/groups/{group_id}/members/{user_id}',
    'the contract names the path, and POST beside it',
  ],
  ['POST /apis/v1/rbac/groups/{group_id}/permissions/{permission}', 'likewise'],
  ['GET /apis/v1/tasks/{task_id}/attachments', 'the files of a task, beside POST of the same path'],
  [
    'GET /apis/v1/tasks/{task_id}/attachments/{id}',
    'the file itself: the contract adds and removes files only',
  ],
  ['POST /apis/v1/tasks/{id}/restore', 'restores a task from the trash'],
  ['GET /apis/v1/tasks/{task_id}/comments', 'comments beyond the newest that the panel shows'],
  ['PATCH /apis/v1/tasks/{task_id}/comments/{id}', 'corrects a comment'],
  ['DELETE /apis/v1/tasks/{task_id}/comments/{id}', 'deletes a comment'],
  ['GET /apis/v1/tasks/changes', 'synchronisation of tasks, as of notes'],
  ['GET /apis/v1/tasks/index', 'the same'],
  ['GET /apis/v1/task_folders/changes', 'the same, of their folders'],
  ['GET /apis/v1/task_folders/index', 'the same'],
  ['POST /apis/v1/calendar/polls/{id}/cancel', 'the end of a poll without an event'],
  ['GET /apis/v1/calendar/polls/outside/{token}', 'votes of participants outside of the workspace'],
  ['POST /apis/v1/calendar/polls/outside/{token}', 'the same'],
  ['GET /apis/v1/calendar/{calendar_id}/export.ics', 'a calendar for other programs'],
  ['GET /apis/v1/calendar/{calendar_id}/feeds', 'secret addresses for programs that cannot sign in'],
  ['POST /apis/v1/calendar/{calendar_id}/feeds', 'the same'],
  ['DELETE /apis/v1/calendar/{calendar_id}/feeds/{id}', 'the same'],
  ['GET /apis/v1/calendar/feeds/{file}', 'the same'],
  ['DELETE /apis/v1/forms/{id}/responses/{response_id}', 'a response that its respondent withdraws'],
  ['POST /apis/v1/forms/{id}/start', 'the starts of respondents, for the analytics'],
  ['GET /apis/v1/forms/{id}/access', 'members and groups with a role on a form'],
  ['PUT /apis/v1/forms/{id}/access', 'the same'],
  [
    'GET /apis/v1/forms/{id}/responses/{response_id}/files/{upload_id}',
    'the file of an answer: the contract uploads files only',
  ],
  ['DELETE /apis/v1/contact/extract', 'removes an address from the list for ever'],
  ['POST /apis/v1/contact/duplicates', 'contacts that may be the same person'],
  ['POST /apis/v1/contact/merges', 'merges such contacts when a user asks for it'],
  ['POST /apis/v1/contact/merges/{merge_id}/undo', 'separates them again'],
  ['GET /apis/v1/task_folders/{id}', 'one folder, as its other routes have it'],
  ['POST /apis/v1/chat/rooms/{id}/messages', 'sending without a socket'],
  ['PATCH /apis/v1/chat/rooms/{id}/messages/{message_id}', 'editing without a socket'],
  ['PUT /apis/v1/chat/rooms/{id}/messages/{message_id}/reactions', 'reactions without a socket'],
  ['PUT /apis/v1/chat/rooms/{id}/read', 'the read position without a socket'],
  ['GET /apis/v1/chat/rooms/{id}/members', 'members beyond the first 200, which the room contains'],
  ['GET /apis/v1/chat/attachments/{id}', 'the file itself: the contract uploads files only'],
  ['GET /apis/v1/chat/attachments/{id}/thumbnail', 'a small picture of an image, for lists of messages'],
  [
    'GET /apis/v1/contact/addressbooks/{addressbook_id}/contacts/{external_id}/photo',
    'the photo of a contact',
  ],
  [
    'PUT /apis/v1/contact/addressbooks/{addressbook_id}/contacts/{external_id}/photo',
    'the photo of a contact',
  ],
  [
    'DELETE /apis/v1/contact/addressbooks/{addressbook_id}/contacts/{external_id}/photo',
    'the photo of a contact',
  ],
  ['GET /apis/v1/contact/self/photo', 'the own photo, which members see'],
  ['PUT /apis/v1/contact/self/photo', 'the own photo, which members see'],
  ['DELETE /apis/v1/contact/self/photo', 'the own photo, which members see'],
  ['GET /apis/v1/presence/me', 'the status that the caller has chosen'],
  ['PUT /apis/v1/presence/me', 'a status without a socket'],
  ['GET /apis/v1/contact/self/card/qr', 'the own card for the camera of a phone'],
  ['GET /apis/v1/contact/phone-sync/imports', 'the imports that can be undone'],
  ['GET /apis/v1/contact/phone-sync/imports/{id}', 'one of them'],
  ['POST /apis/v1/contact/phone-sync/imports/{id}/undo', 'an import into the wrong book'],
  ['GET /apis/v1/call/{call_id}', 'one call, also after its end'],
  ['POST /apis/v1/call/{call_id}/end', 'the end of a call for all participants'],
  ['POST /apis/v1/call/{call_id}/recordings', 'the contract lists recordings: this starts one'],
  ['POST /apis/v1/call/{call_id}/recordings/{recording_id}/stop', 'this stops it'],
  ['DELETE /apis/v1/call/{call_id}/recordings/{recording_id}', 'the end of a recording before 90 days'],
  ['POST /apis/v1/call/{call_id}/decline', 'a declined call without a socket, as from a push message'],
  ['GET /apis/v1/call/recordings/{token}', 'the file of a recording, at a signed link'],
  ['POST /apis/v1/call/livekit/webhook', 'events of the media server'],
  ['GET /apis/v1/notifications/unsubscribe/{token}', 'the page that confirms the end of e-mails'],
  ['POST /apis/v1/notifications/unsubscribe/{token}', 'the end of e-mails with one click (RFC 8058)'],
  ['GET /apis/v1/call/external_invites', 'the invites that exist, of calls'],
  ['GET /apis/v1/call/external_invites/{invite_id}', 'one of them'],
  ['DELETE /apis/v1/call/external_invites/{invite_id}', 'the end of an invite and of its sessions'],
  ['POST /apis/v1/call/external_invites/{invite_id}/chat_link', 'named by the contract without its path'],
  ['DELETE /apis/v1/call/external_invites/{invite_id}/chat_link', 'the end of the link'],
  ['GET /apis/v1/call/external_invites/approvals', 'named by the contract without its path'],
  [
    'POST /apis/v1/call/external_invites/approvals/{approval_id}/review',
    'named by the contract without its path',
  ],
  ['POST /apis/v1/call/external_invites/domain_request', 'named by the contract without its path'],
  ['GET /apis/v1/chat/rooms/{chat_room_id}/external_invites', 'the invites that exist, of a chat room'],
  ['GET /apis/v1/chat/rooms/{chat_room_id}/external_invites/{invite_id}', 'one of them'],
  [
    'DELETE /apis/v1/chat/rooms/{chat_room_id}/external_invites/{invite_id}',
    'the end of an invite and of its sessions',
  ],
  [
    'POST /apis/v1/chat/rooms/{chat_room_id}/external_invites/{invite_id}/chat_link',
    'named by the contract without its path',
  ],
  ['DELETE /apis/v1/chat/rooms/{chat_room_id}/external_invites/{invite_id}/chat_link', 'the end of the link'],
  [
    'GET /apis/v1/chat/rooms/{chat_room_id}/external_invites/approvals',
    'named by the contract without its path',
  ],
  [
    'POST /apis/v1/chat/rooms/{chat_room_id}/external_invites/approvals/{approval_id}/review',
    'named by the contract without its path',
  ],
  [
    'POST /apis/v1/chat/rooms/{chat_room_id}/external_invites/domain_request',
    'named by the contract without its path',
  ],
  ['GET /apis/v1/call/external/{invite_token}/chat/attachments/{id}', 'the file itself, for guests'],
  ['GET /apis/v1/call/external/{invite_token}/logo', 'the logo of the workspace, for guests'],
]);

/** Optional operations of SCIM that return 501 and never succeed (RFC 7644, section 3.12); docs/scim.md lists them. */
const UNSUPPORTED = [
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /apis/v1/scim/v2/Me`),
  'POST /apis/v1/scim/v2/Bulk',
  'POST /apis/v1/scim/v2/.search',
];

/** All routes that need no token. A new entry is a decision, not a repair of a failed test. */
const PUBLIC = new Set([
  'GET /apis/v1/health/live',
  'GET /apis/v1/health/ready',
  'GET /apis/v1/.well-known/jwks.json',
  // RFC 7643, section 5, recommends it.
  'GET /apis/v1/scim/v2/ServiceProviderConfig',
  // The token in the path is the credential.
  'GET /apis/v1/calendar/feeds/{file}',
  'GET /apis/v1/calendar/polls/outside/{token}',
  'POST /apis/v1/calendar/polls/outside/{token}',
  'GET /apis/v1/call/recordings/{token}',
  // The signature of the event is the credential.
  'POST /apis/v1/call/livekit/webhook',
  // The token in the path is the credential.
  'POST /apis/v1/hooks/{token}',
  // The same; RFC 8058 requires a request without sign-in.
  'GET /apis/v1/notifications/unsubscribe/{token}',
  'POST /apis/v1/notifications/unsubscribe/{token}',
  // Pages for users who cannot sign in yet, or no longer. The token in the path is the credential.
  'GET /apis/v1/account/invitations/{token}',
  'POST /apis/v1/account/invitations/{token}',
  'GET /apis/v1/account/password',
  'POST /apis/v1/account/password',
  'GET /apis/v1/account/password/{token}',
  'POST /apis/v1/account/password/{token}',
  'GET /apis/v1/account/email/{token}',
  'POST /apis/v1/account/email/{token}',
  'GET /apis/v1/account/passkeys/{token}',
  'POST /apis/v1/account/passkeys/{token}',
  'GET /apis/v1/account/join',
  'POST /apis/v1/account/join',
  // The token of an invite in the path is the credential, with X-Guest-Session.
  'GET /apis/v1/call/external/{invite_token}/status',
  'POST /apis/v1/call/external/{invite_token}/otp',
  'POST /apis/v1/call/external/{invite_token}/claim',
  'POST /apis/v1/call/external/{invite_token}/call_session',
  'POST /apis/v1/call/external/{invite_token}/livestream_join',
  'POST /apis/v1/call/external/{invite_token}/livestream_verify/request',
  'POST /apis/v1/call/external/{invite_token}/livestream_verify',
  'POST /apis/v1/call/external/{invite_token}/chat/attachments',
  'POST /apis/v1/call/external/{invite_token}/session/mint',
  'POST /apis/v1/call/external/{invite_token}/session/leave',
  'GET /apis/v1/call/external/{invite_token}/chat/messages',
  'POST /apis/v1/call/external/{invite_token}/chat/messages',
  'GET /apis/v1/call/external/{invite_token}/chat/attachments/{id}',
  'GET /apis/v1/call/external/{invite_token}/logo',
]);

/**
 * The protocol and pages of the sign-in, below /apis/v1/oidc: OpenID Connect describes them, the discovery document lists
 * them. All are open without a token, so each new entry is a decision.
 */
const SIGN_IN = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/jwks',
  '/auth',
  '/auth/:uid',
  '/callback/:issuer_id',
  '/token',
  '/token/revocation',
  '/me',
  '/device/auth',
  '/device',
  '/device/:uid',
  '/session/end',
  '/session/end/confirm',
  '/session/end/success',
  '/interaction/:uid',
  '/passkey.js',
];

/** The contract's operations that exist. It only grows: a route that disappears breaks a client. */
const IMPLEMENTED = readFileSync(new URL('implemented-operations.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

interface Listed {
  method: string;
  path: string;
  access: 'bearer' | 'public';
}

function contract(): Listed[] {
  const [, ...lines] = readFileSync(new URL('operations.tsv', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const [, method, path, access] = line.split('\t') as [string, string, string, Listed['access']];
    return { method, path: path.replaceAll(/:(\w+)/g, '{$1}'), access };
  });
}

const key = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
/** The first segment below `/apis/v1/`. */
const domainOf = (name: string) => name.split('/')[3] as string;
/** The path without parameter names: the contract does not prescribe them. */
const shape = (name: string) => name.replaceAll(/\{\w+\}/g, '{}');

describe('the routes', () => {
  let app: TestApp;
  const listed = contract();
  const described = describedOperations();

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  test('of the contract that exist are those of implemented-operations.txt', () => {
    const contractShapes = new Set(listed.map((operation) => shape(key(operation))));
    const now = described.map(key).filter((name) => contractShapes.has(shape(name)));
    process.stdout.write(`${now.length} of the contract's ${listed.length} operations exist\n`);
    expect(now.toSorted()).toEqual(IMPLEMENTED.toSorted());
  });

  test('are the contract’s, or among our additions', () => {
    const known = new Set([...listed.map(key), ...OUR_ADDITIONS.keys()].map(shape));
    const domains = new Set(listed.map(({ path }) => domainOf(path)));
    const reasons = new Map(openApi().tags.map(({ name, description }) => [name, description]));
    const unexplained = described.filter(
      (operation) =>
        !known.has(shape(key(operation))) &&
        (domains.has(domainOf(operation.path)) || !reasons.get(operation.spec.tags[0])),
    );
    expect(unexplained.map(key)).toEqual([]);
    expect([...OUR_ADDITIONS.keys()].filter((name) => !domains.has(domainOf(name)))).toEqual([]);
    const present = new Set(described.map(key));
    expect([...OUR_ADDITIONS.keys()].filter((name) => !present.has(name))).toEqual([]);
  });

  test('served by the application are exactly the described ones', () => {
    const adapter = app.served.nest.getHttpAdapter() as unknown as LeanExpressAdapter;
    const served = [adapter.getInstance().router as Router, ...adapter.routers]
      .flatMap((router) => router.stack)
      .filter((layer) => layer.route)
      .flatMap(({ route }) =>
        Object.keys((route as unknown as { methods: object }).methods).map(
          (method) => `${method.toUpperCase()} ${route!.path.replaceAll(/:(\w+)/g, '{$1}')}`,
        ),
      )
      .filter((name) => !name.includes('/apis/v1/docs'));
    expect(served.toSorted()).toEqual([...described.map(key), ...UNSUPPORTED].toSorted());
  });

  test('of the sign-in are these', () => {
    expect(new Set(OIDC_ROUTES)).toEqual(new Set(SIGN_IN));
  });

  test('require permissions of the catalogue only', () => {
    const named = described.flatMap(({ spec }) => (spec['x-permissions'] as string[] | undefined) ?? []);
    expect(named.filter((permission) => !(permission in PERMISSIONS))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });

  test('each described route reaches a handler of its own', () => {
    const ids = described.map(({ spec }) => spec.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('without a token every route returns 401, except the public routes', async () => {
    const open: string[] = [];
    for (const operation of described) {
      const path = fillPath(operation.path, '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000').replace('/apis/v1', '');
      const { status, headers, body } = await app.anonymous.request(operation.method, path);
      if (status === 401) {
        expect(headers.get('www-authenticate')).toBe('Bearer');
        // SCIM has its own tokens and error shape.
        const isScim = operation.path.startsWith('/apis/v1/scim/');
        expect(isScim ? body.status : body.error).toBe(isScim ? '401' : 'unauthorized');
        const schemes = isScim ? [{ scim: [] }] : [{ bearer: [] }, { signIn: ['workspace'] }];
        expect(operation.spec.security).toEqual(schemes);
      } else {
        open.push(key(operation));
        expect(operation.spec.security).toEqual([]);
      }
    }
    expect(new Set(open)).toEqual(PUBLIC);
  });

  test('nothing else is served', async () => {
    const [alice] = await app.tenant('acme', 'alice');
    const strange = [
      '//',
      '//index.html',
      '//favicon.ico',
      '//apis',
      '//apis/v2/notes',
      '//apis/v1',
      '//apis/v1/',
      '//apis/v1/Notes',
      '//apis/v1/notes/',
      '//APIS/v1/notes',
      '//apis/v1/docs-json',
      '//apis/v1/docs-yaml',
      '//metrics',
      '//apis/v1/openapi.json/x',
    ];
    for (const path of strange) {
      for (const client of [app.anonymous, alice.api]) {
        const { status, body } = await client.get(path);
        expect([path, status, body?.error]).toEqual([path, 404, 'not_found']);
      }
    }
    for (const method of [...METHODS.map((m) => m.toUpperCase()), 'OPTIONS', 'PROPFIND']) {
      expect((await alice.api.request(method, '/nothing/here')).status).toBe(404);
    }
    expect((await alice.api.request('OPTIONS', '/notes')).status).toBe(404);
  });
});
