#!/usr/bin/env bash
# scim-patch 0.8.3 compares the names of attributes by case. RFC 7643 (2.1) makes them independent of it. A client that sends the path `DisplayName`, or
# a value with such a member, gets success; from then on the user has the new text as `DisplayName` beside the old one as `displayName`, and everything
# that reads the attribute of the schema shows the old one. A change by `EMAILS[type eq "work"].value` adds a second list of addresses beside the first,
# and a removal of `Name.familyName` removes nothing. Only inside the brackets of a filter the case does not matter, so a test with `emails[TYPE eq
# "work"]` passes. There is no error in any of these.
# One would expect one attribute of each name.
# Remedy: before patching, replace each name in paths and values by the spelling of the schema.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim-patch@0.8.3 >/dev/null
cat >run.cjs <<'JS'
const { scimPatch } = require('scim-patch');
for (const operation of [
  { op: 'replace', value: { displayName: 'Ann New' } },
  { op: 'replace', value: { DisplayName: 'Ann New' } },
  { op: 'replace', path: 'DisplayName', value: 'Ann New' },
  { op: 'replace', path: 'emails[TYPE eq "work"].value', value: 'ann@new.example' },
  { op: 'replace', path: 'EMAILS[type eq "work"].value', value: 'ann@new.example' },
  { op: 'remove', path: 'Name.familyName' },
]) {
  const user = {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'ann',
    displayName: 'Ann Old',
    name: { givenName: 'Ann', familyName: 'Berg' },
    emails: [{ type: 'work', value: 'ann@old.example' }],
  };
  const names = Object.keys(user);
  const { displayName, emails, name, ...others } = scimPatch(user, [operation]);
  const added = Object.keys(others).filter((key) => !names.includes(key));
  console.log(`${operation.op} ${operation.path ?? Object.keys(operation.value)}: ${displayName}, ${emails[0].value}, ${name.familyName ?? 'no family name'}, new attributes ${added.join() || 'none'}`);
}
JS
output=$(node run.cjs)
echo "scim-patch $(node -p "JSON.parse(fs.readFileSync('node_modules/scim-patch/package.json')).version")"
echo "$output"
expected='replace displayName: Ann New, ann@old.example, Berg, new attributes none
replace DisplayName: Ann Old, ann@old.example, Berg, new attributes DisplayName
replace DisplayName: Ann Old, ann@old.example, Berg, new attributes DisplayName
replace emails[TYPE eq "work"].value: Ann Old, ann@new.example, Berg, new attributes none
replace EMAILS[type eq "work"].value: Ann Old, ann@old.example, Berg, new attributes EMAILS
remove Name.familyName: Ann Old, ann@old.example, Berg, new attributes none'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
