// TypeScript types of asyncapi.json.
import openapiTS, { astToString } from 'openapi-typescript';

const SCHEMA = '#/components/schemas/';
const EVENT = '.event';
const REQUEST = '.request';

/** @returns a module with `ServerEvents`, `ClientEvents` and `Rejection` */
export async function eventTypes({ components: { schemas, messages } }) {
  const info = { title: 'Events', version: '1' };
  const nodes = await openapiTS(
    { openapi: '3.1.0', info, paths: {}, components: { schemas } },
    { defaultNonNullable: false },
  );
  const named = (suffix) => Object.entries(messages).filter(([name]) => name.endsWith(suffix));
  const server = named(EVENT).map(([, message]) => property(message, typeOf(message.payload)));
  const client = named(REQUEST).map(([name, message]) => {
    const response = typeOf(messages[`${name.slice(0, -REQUEST.length)}.ack`].payload);
    return property(message, `{ request: ${typeOf(message.payload)}; response: ${response} }`);
  });
  return [
    astToString(nodes),
    type('ServerEvents', 'The events of the server, with their payloads.', server),
    type('ClientEvents', 'The events of clients, with their payloads and acknowledgements.', client),
    `/** The acknowledgement of a rejected event. */\nexport type Rejection = ${typeOf(messages.rejected.payload)};\n`,
  ].join('\n');
}

const type = (name, description, properties) =>
  `/** ${description} */\nexport interface ${name} {\n${properties.join('')}}\n`;
const property = ({ name, summary }, text) => `  /** ${summary} */\n  '${name}': ${text};\n`;

/** Payloads are references, `{ ok: true }`, or both. */
function typeOf(payload) {
  if (payload.$ref) return `components['schemas']['${payload.$ref.slice(SCHEMA.length)}']`;
  if (payload.allOf) return payload.allOf.map(typeOf).join(' & ');
  if (payload.properties?.ok?.const === true) return '{ ok: true }';
  throw new Error(`unexpected payload: ${JSON.stringify(payload)}`);
}
