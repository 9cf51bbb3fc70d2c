import type { Type } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CLIENT_EVENTS, SERVER_EVENTS } from '../platform/realtime/event-declarations.js';
import { SOCKET_PATH } from '../platform/http/server/client-error.js';
import { reachableSchemas } from './components.js';

type Json = Record<string, unknown>;

const DESCRIPTION = `The sockets of the workspace API: Socket.IO 4 at \`${SOCKET_PATH}\`, websocket transport only. A message of this document is one event of Socket.IO: its name, and its payload as the first argument. Each event of a client has an acknowledgement: \`{ "ok": true, ... }\`, or \`{ "ok": false, "status", "error", "message", ... }\` with the codes of the HTTP operations.

Connect with \`auth: { token }\`, a token of \`POST /apis/v1/auth/socket/token\`. Everything that a socket delivers can also be read over HTTP, which \`/apis/v1/openapi.json\` describes. docs/realtime.md explains the protocol.`;

/** The acknowledgement of a rejected event. */
class RejectedEvent {
  @ApiProperty({ enum: [false], example: false }) ok!: false;
  /** HTTP status of the same error. */
  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599, example: 422 })
  status!: number;
  @ApiProperty({ example: 'validation_failed' }) error!: string;
  @ApiProperty({ example: 'The request is invalid.' }) message!: string;
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    example: [{ field: 'room_id', code: 'is_uuid', message: 'room_id must be a UUID' }],
  })
  details?: object[];
  /** Seconds; with status 429. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 1 })
  retry_after?: number;
}

/** Classes whose schemas the document contains. */
export const socketModels = (): Type[] => [
  RejectedEvent,
  ...CLIENT_EVENTS.flatMap(({ input, ack }) => (ack ? [input, ack] : [input])),
  ...SERVER_EVENTS.map(({ payload }) => payload),
];

/**
 * The AsyncAPI 3 description of the events of sockets, from the classes that validate and shape them.
 * @param schemas of all classes, by name, in OpenAPI 3.1
 */
export function asyncApiDocument(schemas: Json): Json {
  const messages: Json = { rejected: message('rejected', 'The event is rejected.', ref(RejectedEvent)) };
  const operations: Json = {};
  for (const { name, summary, input, ack } of CLIENT_EVENTS) {
    messages[`${name}.request`] = message(name, summary, ref(input));
    messages[`${name}.ack`] = message(name, `Acknowledgement of \`${name}\`.`, acknowledgementOf(ack));
    const reply = { channel: channelRef(), messages: [messageRef(`${name}.ack`), messageRef('rejected')] };
    operations[`receive.${name}`] = operation('receive', summary, `${name}.request`, { reply });
  }
  for (const { name, summary, payload } of SERVER_EVENTS) {
    messages[`${name}.event`] = message(name, summary, ref(payload));
    operations[`send.${name}`] = operation('send', summary, `${name}.event`);
  }
  return {
    asyncapi: '3.0.0',
    info: { title: 'Workspace sockets', version: '1.0.0', description: DESCRIPTION },
    defaultContentType: 'application/json',
    servers: {
      workspace: {
        host: 'workspace.example',
        protocol: 'wss',
        pathname: SOCKET_PATH,
        description: 'Socket.IO 4, websocket transport only.',
      },
    },
    channels: {
      socket: {
        address: SOCKET_PATH,
        description: 'All events of one socket.',
        messages: Object.fromEntries(
          Object.keys(messages).map((id) => [id, { $ref: `#/components/messages/${id}` }]),
        ),
      },
    },
    operations,
    components: {
      messages,
      schemas: schemasOf(messages, schemas),
      securitySchemes: {
        socketToken: {
          type: 'apiKey',
          in: 'user',
          description:
            'The member `token` of `auth` in the handshake of Socket.IO, from `POST /auth/socket/token`.',
        },
      },
    },
  };
}

const ref = (type: Type): Json => ({ $ref: `#/components/schemas/${type.name}` });
const channelRef = (): Json => ({ $ref: '#/channels/socket' });
const messageRef = (id: string): Json => ({ $ref: `#/channels/socket/messages/${id}` });

const message = (name: string, summary: string, payload: Json): Json => ({ name, summary, payload });

const operation = (action: 'send' | 'receive', summary: string, id: string, more: Json = {}): Json => ({
  action,
  channel: channelRef(),
  summary,
  security: [{ $ref: '#/components/securitySchemes/socketToken' }],
  messages: [messageRef(id)],
  ...more,
});

function acknowledgementOf(ack: Type | null): Json {
  const ok = { type: 'object', required: ['ok'], properties: { ok: { const: true } } };
  return ack ? { allOf: [ok, ref(ack)] } : ok;
}

/** JSON Schemas of the classes that the messages use, by name. */
function schemasOf(messages: Json, schemas: Json): Json {
  const used = Object.entries(reachableSchemas(messages, schemas));
  const sorted = used.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, schema]) => [name, asJsonSchema(schema)]));
}

/** JSON Schema has `examples` where OpenAPI has `example`. */
function asJsonSchema(node: unknown, isProperties = false): unknown {
  if (Array.isArray(node)) return node.map((entry) => asJsonSchema(entry));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
    if (isProperties) return [key, asJsonSchema(value)];
    if (key === 'example') return ['examples', [value]];
    return key === 'default' ? [key, value] : [key, asJsonSchema(value, key === 'properties')];
  });
  return Object.fromEntries(entries);
}
