#!/usr/bin/env bash
# scim-patch 0.8.3 puts the values of a schema extension under a name of its own making, if an operation carries them as an object: the
# URI of the schema is split at its last colon, so that `urn:…:enterprise:2.0:User` becomes an attribute `urn:…:enterprise:2.0` with a member `User`. The
# department that the identity provider set stays as it was, and the answer reports success. The forms that do so are those of RFC 7644
# (3.5.2.1, 3.5.2.3): no `path` and a value with members of the extension, and a `path` that is the URI of the extension. Only a path that ends in
# an attribute (`…:User:department`) reaches the extension.
# One would expect the department in the extension in each form.
# Remedy: before patching, turn each member of such an object into an operation with the path `URI:attribute`.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim-patch@0.8.3 >/dev/null
cat >run.cjs <<'JS'
const { scimPatch } = require('scim-patch');
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const operations = {
  'without path': { op: 'replace', value: { active: false, [enterprise]: { department: 'Legal' } } },
  'path of the extension': { op: 'replace', path: enterprise, value: { department: 'Legal' } },
  'path of the attribute': { op: 'replace', path: `${enterprise}:department`, value: 'Legal' },
};
for (const [name, operation] of Object.entries(operations)) {
  const user = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', enterprise],
    userName: 'ann',
    active: true,
    [enterprise]: { department: 'Sales' },
  };
  const patched = scimPatch(user, [operation]);
  const others = Object.keys(patched).filter((key) => /enterprise/.test(key) && key !== enterprise);
  console.log(`${name}: department ${patched[enterprise].department}, active ${patched.active}, new attributes ${others.join() || 'none'}`);
}
JS
output=$(node run.cjs)
echo "scim-patch $(node -p "JSON.parse(fs.readFileSync('node_modules/scim-patch/package.json')).version")"
echo "$output"
expected='without path: department Sales, active false, new attributes urn:ietf:params:scim:schemas:extension:enterprise:2.0
path of the extension: department Sales, active true, new attributes urn:ietf:params:scim:schemas:extension:enterprise:2.0
path of the attribute: department Legal, active true, new attributes none'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
