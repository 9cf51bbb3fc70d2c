#!/usr/bin/env bash
# swagger-client 3.38.2, which Swagger UI 5.33 contains, resolves the references of one operation by `resolveSubtree(document,
# path)`, and Swagger UI calls it each time that an operation is opened. For a document of OpenAPI 3.0 the work is that of the
# operation. For the same document marked as 3.1, each call parses, normalizes and walks the whole document, so that its time
# grows with the number of all operations: a page with 400 operations blocks the browser for many seconds, at its start
# and again for each operation that is opened. Nothing is kept between two calls.
# One would expect a subtree to cost what the subtree needs, with either version of the specification.
# Remedy: a plugin of Swagger UI that replaces `fn.resolveSubtree`, if all references are to components of the same document.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund swagger-client@3.38.2 >/dev/null
cat >run.cjs <<'JS'
const SwaggerClient = require('swagger-client').default ?? require('swagger-client');
const documentOf = (openapi, operations) => {
  const paths = {};
  const schemas = {};
  for (let n = 0; n < operations; n += 1) {
    schemas[`Thing${n}`] = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`field${i}`, { type: 'string', description: 'A field.' }])),
    };
    const content = { 'application/json': { schema: { $ref: `#/components/schemas/Thing${n}` } } };
    paths[`/things/${n}`] = { get: { operationId: `get${n}`, responses: { 200: { description: 'A thing.', content } } } };
  }
  return { openapi, info: { title: 'Things', version: '1' }, paths, components: { schemas } };
};
async function resolve(openapi, operations) {
  const document = documentOf(openapi, operations);
  const once = () => SwaggerClient.resolveSubtree(document, ['paths', '/things/0', 'get'], { baseDoc: 'https://things.example/openapi.json' });
  await once();
  const before = process.cpuUsage();
  const { spec, errors } = await once();
  const { user, system } = process.cpuUsage(before);
  const { type } = spec.responses[200].content['application/json'].schema;
  if (errors.length > 0 || type !== 'object') throw new Error('the operation is not resolved');
  return (user + system) / 1000;
}
(async () => {
  const times = {};
  for (const version of ['3.0.3', '3.1.0']) {
    const [few, many] = [await resolve(version, 40), await resolve(version, 400)];
    console.error(`${version}: ${few.toFixed(0)} ms with 40 operations, ${many.toFixed(0)} ms with 400, for the second resolution of one of them`);
    times[version] = many;
  }
  console.log(`3.1.0 takes ${times['3.1.0'] > 10 * times['3.0.3'] ? 'more' : 'less'} than ten times the time of 3.0.3`);
})();
JS
output=$(nice node run.cjs)
echo "swagger-client $(node -p "require('swagger-client/package.json').version")"
echo "$output"
expected='3.1.0 takes more than ten times the time of 3.0.3'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
