import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, getSchemaPath, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { OPEN_MAIL_SCHEMAS } from '../modules/mail/index.js';
import { SCIM_SCHEMAS, SCIM_SCHEME } from '../modules/scim/index.js';
import { PREFERENCE_SCHEMAS } from '../modules/settings/index.js';
import { API_SCOPE, OIDC_PATH } from '../modules/sign-in/index.js';
import { type PublicEventType, publicEventTypes } from '../platform/events/public-events.js';
import { exampleOf } from '../platform/resources/example.js';
import { asyncApiDocument, socketModels } from './asyncapi-document.js';
import { reachableSchemas, shareComponents } from './components.js';

type Json = Record<string, unknown>;

const HEADERS = [
  ['webhook-id', 'Id of the event, the same in each attempt: ignore one that you know.', 'uuid'],
  [
    'webhook-timestamp',
    'Time of the attempt, seconds since 1970. Reject one that differs by more than 5 minutes.',
    null,
  ],
  [
    'webhook-signature',
    'Signatures separated by spaces: `v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`. One of them must match.',
    null,
  ],
] as const;

/** The section `webhooks` of the OpenAPI document: the requests that receivers get. */
export const webhookDocs = (): Json =>
  Object.fromEntries(publicEventTypes().map((type) => [type.type, { post: operationOf(type) }]));

function operationOf({ type, description, subject }: PublicEventType): Json {
  const { kind, object, facts } = subject;
  const examples = Object.entries(facts).map(([name, { example }]) => [name, example]);
  return {
    operationId: `on${type.split(/[._]/).map(capital).join('')}`,
    summary: description.replace(/\. .*|\.$/s, ''),
    description: `${description} \`${kind}\` is the object as the owner of the webhook can read it when the event is sent.`,
    tags: ['webhooks'],
    security: [],
    parameters: HEADERS.map(([name, text, format]) => ({
      name,
      in: 'header',
      required: true,
      description: text,
      schema: { type: 'string', ...(format && { format }) },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['type', 'timestamp', 'data'],
            properties: {
              type: { type: 'string', enum: [type] },
              timestamp: { type: 'string', format: 'date-time', description: 'Time of the event.' },
              data: {
                type: 'object',
                required: [Object.keys(facts)[0], kind],
                properties: {
                  ...facts,
                  [kind]: { anyOf: [{ $ref: getSchemaPath(object) }, { type: 'null' }] },
                  omitted: {
                    type: 'boolean',
                    description: 'True if the object is null because it is longer than 256 KiB.',
                  },
                },
              },
            },
          },
          example: {
            type,
            timestamp: '2026-11-21T09:30:00.000Z',
            data: { ...Object.fromEntries(examples), [kind]: exampleOf(object) },
          },
        },
      },
    },
    responses: {
      '2XX': { description: 'The event is delivered.' },
      '410': { description: 'The service deactivates the webhook.' },
      default: { description: 'The service repeats the event, for three days.' },
    },
  };
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

type Body = { content?: Record<string, { schema?: object }> };

/**
 * Describes the files that an operation takes in place of a JSON body. The decorators of Nest give each media type of a body the
 * schema and the examples of the JSON body.
 */
export function describeFileBodies(paths: OpenAPIObject['paths']): void {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as { requestBody?: Body }[]);
  for (const { requestBody: { content = {} } = {} } of operations)
    for (const [type, { schema }] of Object.entries(content))
      if (schema && '$ref' in schema && !/[/+]json$/.test(type)) content[type] = { schema: fileOf(type) };
}

const fileOf = (type: string): object =>
  type === 'multipart/form-data'
    ? {
        type: 'object',
        required: ['file'],
        properties: {
          file: { type: 'string', format: 'binary', description: 'Its field may have any name.' },
        },
      }
    : { type: 'string' };

/** The part of the description about the built-in sign-in. */
export const SIGN_IN = `**Sign-in**: press *Authorize* and sign in with the scheme \`signIn\`. Its OpenID provider publishes its addresses in \`/apis/v1/oidc/.well-known/openid-configuration\`: authorization code with PKCE, rotating refresh tokens, device flow, client credentials. The scope \`workspace\` grants the use of this API.`;

const DESCRIPTION = `Notes, tasks, calendars, contacts, forms, mail, chat, calls, notifications, presence, settings and the administration of a workspace.

Every path is under \`/apis/v1\`. JSON is snake_case, ids are UUIDs, times are RFC 3339 in UTC. Lists are \`{ "<plural>": [...], "next": cursor | null }\`: request the next page with \`cursor\`. Errors are \`{ "error": "<code>", "message", "details"? }\`. Clients tolerate further fields.

${SIGN_IN}

**Token**: \`npm start\` prints one for the demo workspace; \`npm run --silent workspace -- token --email alice@demo.example --tenant demo\` prints another. Paste it after a click on *Authorize* to try the operations out.

**Concurrency**: updates and deletions contain the revision of the object, as \`If-Match\` with the ETag or as \`base_revision\`. A stale revision returns 409 \`conflict\` with the current object and changes nothing.

**Sockets**: clients with a socket receive changes as events. [asyncapi.json](/apis/v1/asyncapi.json) describes them.`;

/** The security scheme of the built-in sign-in. */
export const SIGN_IN_SCHEME = 'signIn';

/** In the order in which they are shown. */
const TAGS: Record<string, string> = {
  notes: 'Notes, their trash, history and sharing, and tasks made from them.',
  'note folders': "Each user's own tree of folders for notes.",
  tasks: 'Tasks with subtasks, comments, attachments and reminders; search.',
  'task folders': 'Trees of folders for tasks, shared with editors and viewers.',
  calendar: 'Calendars, shared and own; events, series, invitations and responses.',
  forms: 'Forms in versions, responses, exports and shared reports.',
  contacts: 'Address books, their contacts, and the members of the workspace.',
  sync: 'Several requests at once, for clients that work offline.',
  mail: 'The mailboxes of the caller at the mail service, with its field names (camelCase).',
  chat: 'Rooms with messages, reactions and files; direct conversations.',
  meetings: 'Calls and their recordings.',
  guests: 'Invites for users without an account, and the routes for these guests.',
  notifications:
    'Notifications about objects and the account of the caller: unread, read, archived, snoozed; push messages to devices.',
  webhooks:
    'Events of the workspace for other programs, sent to their addresses and signed; and secret addresses at which programs post messages, and create tasks and events.',
  presence: 'The status of users and their devices.',
  settings: 'The profile, signatures, preferences, passwords and sessions of the caller.',
  auth: 'The second factor, and signing out.',
  tenant: 'The workspace itself: name, branding, domains, policy, members, invitations, audit log.',
  provisioning:
    'Members and groups by an identity provider: SCIM 2.0 (RFC 7643, RFC 7644), with its own media type, error shape and token.',
  directory: 'Users and groups of the workspace.',
  access: 'Groups of members and their permissions.',
  account: 'Pages of links in mails: invitations, forgotten passwords, new addresses.',
  identity: 'Keys for verifying access tokens.',
  health: 'For load balancers and supervisors.',
};

/** The OpenAPI 3.1 and AsyncAPI 3 descriptions of the running code. */
export function documentsOf(app: INestApplication): { openApi: OpenAPIObject; asyncApi: Json } {
  // The document is made once for both, because the decorators' metadata changes with each call.
  const document = createDocument(app);
  const schemas = document.components?.schemas ?? {};
  const asyncApi = asyncApiDocument(asOpenApi31(schemas) as Json);
  Object.assign(document.components ?? {}, {
    schemas: reachableSchemas([document.paths, webhookDocs()], schemas as Json),
  });
  return { openApi: completed(document), asyncApi };
}

function createDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Workspace API')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .addServer('/', 'This server')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token, without the word Bearer. It is taken from the header only.',
    })
    .addBearerAuth(
      {
        type: 'http',
        bearerFormat: 'opaque',
        scheme: 'bearer',
        description: 'The token of an identity provider, from `POST /apis/v1/tenant/scim/tokens`.',
      },
      SCIM_SCHEME,
    )
    .addOAuth2(
      {
        type: 'oauth2',
        description:
          'Sign in with e-mail address and password, and the second factor if the account has one.',
        flows: {
          authorizationCode: {
            authorizationUrl: `${OIDC_PATH}/auth`,
            tokenUrl: `${OIDC_PATH}/token`,
            refreshUrl: `${OIDC_PATH}/token`,
            scopes: { [API_SCOPE]: 'use the API as the user', openid: 'the identity of the user' },
          },
        },
      },
      SIGN_IN_SCHEME,
    );
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  return SwaggerModule.createDocument(app, builder.build(), {
    autoTagControllers: false,
    extraModels: [...socketModels(), ...publicEventTypes().map(({ subject }) => subject.object)],
  });
}

function completed(document: OpenAPIObject): OpenAPIObject {
  for (const operations of Object.values(document.paths))
    for (const operation of Object.values(operations) as { security?: Record<string, string[]>[] }[])
      if (operation.security?.some((scheme) => 'bearer' in scheme))
        operation.security.push({ [SIGN_IN_SCHEME]: [API_SCOPE] });
  document.paths = inReadingOrder(document.paths);
  Object.assign(((document.components ??= {}).schemas ??= {}), PREFERENCE_SCHEMAS, SCIM_SCHEMAS);
  Object.assign(document.info, { license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' } });
  // Some errors and responses of the mail service have additional members. Not `additionalProperties`: Swagger UI would add a
  // member of this name to each example.
  for (const name of ['ErrorResponse', ...OPEN_MAIL_SCHEMAS]) {
    Object.assign(document.components?.schemas?.[name] ?? {}, { unevaluatedProperties: true });
  }
  describeFileBodies(document.paths);
  Object.assign(document, { webhooks: webhookDocs() });
  return shareComponents(asOpenApi31(document) as OpenAPIObject);
}

/**
 * Sorts the operations on a resource before its sub-resources, and synchronisation last. Routes are registered in the opposite
 * order, because fixed names must precede ids.
 */
function inReadingOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const rank = (path: string) => {
    if (/^\/apis\/v1\/\w+(?:\/\{\w+\})?$/.test(path)) return 0;
    return /\/(?:changes|index)$/.test(path) ? 2 : 1;
  };
  return Object.fromEntries(Object.entries(paths).toSorted(([a], [b]) => rank(a) - rank(b)));
}

/** Corrects the output of the decorators: OpenAPI 3.1 has `type: [x, "null"]` where 3.0 had `nullable: true`. */
function asOpenApi31(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asOpenApi31);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = node as Record<string, unknown>;
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, asOpenApi31(value)]));
  if (nullable === true && typeof copy['type'] === 'string') copy['type'] = [copy['type'], 'null'];
  if (typeof copy['in'] === 'string' && 'schema' in copy) correctParameter(copy);
  return copy;
}

function correctParameter(parameter: Record<string, unknown>): void {
  const schema = parameter['schema'] as Record<string, unknown>;
  // The plugin marks a field with a default as required, but it is optional.
  if (parameter['in'] === 'query' && schema['default'] !== undefined) parameter['required'] = false;
  if (parameter['required'] === true) return;
  // Swagger UI would send the `example` of an optional parameter, such as a filter or a revision.
  const example = parameter['example'] ?? schema['example'];
  delete parameter['example'];
  delete schema['example'];
  if (example !== undefined) schema['examples'] = [example];
}
