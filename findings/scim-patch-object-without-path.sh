#!/usr/bin/env bash
# scim-patch 0.8.3 takes one and the same change for two things, depending on where its name stands. An operation with the path `name` and a value with
# `givenName` merges: the family name stays. With `name` inside the value and no path the whole name is replaced, and the family name is gone; so also
# with `add`, which by its name takes nothing away. The flat key `name.givenName` inside the value merges again. RFC 7644 (3.5.2.1, 3.5.2.3) adds to a
# complex attribute what is specified and leaves the rest of it unchanged. Identity providers send the form without a path for all changed attributes
# together, so that a changed first name deletes the last one, with the answer that all is well.
# One would expect the family name in each form.
# Remedy: before patching, turn each member of such an object into an operation with its name as the path.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim-patch@0.8.3 >/dev/null
cat >run.cjs <<'JS'
const { scimPatch } = require('scim-patch');
for (const op of ['replace', 'add'])
  for (const operation of [
    { op, path: 'name', value: { givenName: 'Ann' } },
    { op, value: { name: { givenName: 'Ann' } } },
    { op, value: { 'name.givenName': 'Ann' } },
  ]) {
    const user = {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ann',
      name: { givenName: 'Anna', familyName: 'Berg' },
    };
    console.log(`${JSON.stringify(operation)}: ${JSON.stringify(scimPatch(user, [operation]).name)}`);
  }
JS
output=$(node run.cjs)
echo "scim-patch $(node -p "JSON.parse(fs.readFileSync('node_modules/scim-patch/package.json')).version")"
echo "$output"
expected='{"op":"replace","path":"name","value":{"givenName":"Ann"}}: {"givenName":"Ann","familyName":"Berg"}
{"op":"replace","value":{"name":{"givenName":"Ann"}}}: {"givenName":"Ann"}
{"op":"replace","value":{"name.givenName":"Ann"}}: {"givenName":"Ann","familyName":"Berg"}
{"op":"add","path":"name","value":{"givenName":"Ann"}}: {"givenName":"Ann","familyName":"Berg"}
{"op":"add","value":{"name":{"givenName":"Ann"}}}: {"givenName":"Ann"}
{"op":"add","value":{"name.givenName":"Ann"}}: {"givenName":"Ann","familyName":"Berg"}'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
