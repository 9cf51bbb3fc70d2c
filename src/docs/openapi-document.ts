import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

const DESCRIPTION = `Notes, mail, chat and meetings, contacts, forms, calendar, tasks, tenant administration, notifications, presence and settings of a workspace.

Every path is under \`/apis/v1\`. JSON is snake_case, ids are UUIDs, times are RFC 3339 in UTC. Lists are \`{ "<plural>": [...], "next": cursor | null }\`: ask for the next page with \`cursor\`. Errors are \`{ "error": "<code>", "message", "details"? }\`. Clients tolerate further fields.

**Token**: \`npm start\` prints one for the demo workspace; \`npm run --silent workspace -- token --email alice@demo.example --tenant demo\` prints another.

**Concurrency**: an update or delete carries the revision that was read, as \`If-Match\` with the ETag or as \`base_revision\`. A stale one answers 409 \`conflict\` with the object as it is and changes nothing.`;

const TAGS: Record<string, string> = {
  notes: 'Notes, their trash and their history.',
  identity: 'Keys for verifying access tokens.',
  health: 'For load balancers and supervisors.',
};

/** The OpenAPI 3.1 description of the running code. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Workspace API')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .setLicense('Proprietary', 'https://example.com/licence')
    .addServer('/', 'This server')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token, RFC 6750, in the header only.',
    });
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build(), { autoTagControllers: false });
  return asOpenApi31(document) as OpenAPIObject;
}

/** Mends what the decorators say: OpenAPI 3.1 has `type: [x, "null"]` where 3.0 had `nullable: true`. */
function asOpenApi31(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asOpenApi31);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = node as Record<string, unknown>;
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, asOpenApi31(value)]));
  if (nullable === true && typeof copy['type'] === 'string') copy['type'] = [copy['type'], 'null'];
  // The plugin calls a field required when its class gives it a default; a client may leave it out.
  const schema = copy['schema'] as { default?: unknown } | undefined;
  if (copy['in'] === 'query' && schema?.default !== undefined) copy['required'] = false;
  return copy;
}
