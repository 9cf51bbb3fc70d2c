import { getSchemaPath } from '@nestjs/swagger';
import { type PublicEventType, publicEventTypes } from '../platform/events/public-events.js';
import { exampleOf } from '../platform/resources/example.js';

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
