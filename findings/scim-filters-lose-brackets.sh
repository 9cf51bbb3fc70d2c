#!/usr/bin/env bash
# Two libraries for SCIM filters lose the difference that the brackets of RFC 7644 (3.4.2.2) make, in opposite directions. Inside brackets all
# conditions are asked of one and the same value: a work address of the domain. Without them each condition may be met by another value.
# scim2-parse-filter 0.2.10 (`filter`) asks each condition of all values also inside brackets, so that it returns Bob, whose work address is elsewhere
# and whose home address is of the domain. With `not` inside it returns nobody, where each has a value that is not "home". Its `parse` keeps the
# brackets. scimmy 1.3.5 joins conditions without brackets to one value, so that it misses Bob, who meets both.
# One would expect Ann with brackets, and both without. A group that is filled by such a filter has the wrong members, without an error.
# Remedy: evaluate the tree of `parse` with an own function that looks at one value at a time below `[]`, and at all values elsewhere.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim2-parse-filter@0.2.10 scimmy@1.3.5 >/dev/null
cat >run.mjs <<'JS'
import { filter, parse } from 'scim2-parse-filter';
import SCIMMY from 'scimmy';
const writeUser = (userName, work, home) => ({ userName, emails: [{ type: 'work', value: work }, { type: 'home', value: home }] });
const users = [
  writeUser('Ann', 'ann@acme.example', 'ann@home.example'),
  writeUser('Bob', 'bob@partner.example', 'bob@acme.example'),
];
for (const text of [
  'emails[type eq "work" and value ew "@acme.example"]',
  'emails.type eq "work" and emails.value ew "@acme.example"',
  'emails[not (type eq "home")]',
]) {
  console.log(text);
  console.log(`  scim2-parse-filter: ${users.filter(filter(parse(text))).map(({ userName }) => userName).join() || 'nobody'}`);
  console.log(`  scimmy: ${new SCIMMY.Types.Filter(text).match(users).map(({ userName }) => userName).join() || 'nobody'}`);
}
JS
output=$(node run.mjs)
for name in scim2-parse-filter scimmy; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='emails[type eq "work" and value ew "@acme.example"]
  scim2-parse-filter: Ann,Bob
  scimmy: Ann
emails.type eq "work" and emails.value ew "@acme.example"
  scim2-parse-filter: Ann,Bob
  scimmy: Ann
emails[not (type eq "home")]
  scim2-parse-filter: nobody
  scimmy: Ann,Bob'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
