#!/usr/bin/env bash
# Two libraries for SCIM filters find nothing by the full name of an attribute. RFC 7644 (3.10) gives each attribute a name with the URI of its schema,
# `urn:ietf:params:scim:schemas:core:2.0:User:userName`, also for those of the core schema, and a client may write either. scim2-parse-filter 0.2.10
# (`filter`) knows such names for extensions only, scimmy 1.3.5 (`Filter.match`) for none. Both parse the name, so there is no error: `eq` is true for nobody,
# and `not (… eq …)` is true for everybody. A client that looks by `eq` whether a user exists before it makes one is told that there is none. With `ne` the
# two differ: everybody for scimmy, nobody for scim2-parse-filter.
# One would expect the same users by the short and the full name.
# Remedy: before evaluation, take the URI of the core schema off the names in the tree of `parse`, and look for other URIs in the extension.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim2-parse-filter@0.2.10 scimmy@1.3.5 >/dev/null
cat >run.mjs <<'JS'
import { filter, parse } from 'scim2-parse-filter';
import SCIMMY from 'scimmy';
const core = 'urn:ietf:params:scim:schemas:core:2.0:User';
const extension = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const write = (userName, department) => ({ schemas: [core, extension], userName, [extension]: { department } });
const users = [write('Ann', 'Legal'), write('Bob', 'Sales')];
const list = (found) => found.map(({ userName }) => userName).join() || 'nobody';
for (const text of [
  'userName eq "Ann"',
  `${core}:userName eq "Ann"`,
  `not (${core}:userName eq "Ann")`,
  `${core}:userName ne "Ann"`,
  `${extension}:department eq "Legal"`,
]) {
  console.log(text);
  console.log(`  scim2-parse-filter: ${list(users.filter(filter(parse(text))))}`);
  console.log(`  scimmy: ${list(new SCIMMY.Types.Filter(text).match(users))}`);
}
JS
output=$(node run.mjs)
for name in scim2-parse-filter scimmy; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='userName eq "Ann"
  scim2-parse-filter: Ann
  scimmy: Ann
urn:ietf:params:scim:schemas:core:2.0:User:userName eq "Ann"
  scim2-parse-filter: nobody
  scimmy: nobody
not (urn:ietf:params:scim:schemas:core:2.0:User:userName eq "Ann")
  scim2-parse-filter: Ann,Bob
  scimmy: Ann,Bob
urn:ietf:params:scim:schemas:core:2.0:User:userName ne "Ann"
  scim2-parse-filter: nobody
  scimmy: Ann,Bob
urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "Legal"
  scim2-parse-filter: Ann
  scimmy: nobody'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
