#!/usr/bin/env bash
# Two libraries for SCIM filters do not compare times as times. RFC 7643 (2.3.5) makes them those of XML Schema, whose values are instants, and RFC 7644
# (3.4.2.2) compares them chronologically: 10:00Z is the same as 12:00+02:00, and as 10:00:00.000Z. scim2-parse-filter 0.2.10 (`filter`) compares the
# texts. A client east of Greenwich that asks for all that has changed since 11:00+02:00 misses what was changed an hour later, at 10:00Z; west of
# Greenwich it gets what is older. scimmy 1.3.5 has the instant in gt, ge, lt and le, but the text in eq and ne, so that a time is `ge` and `le` another
# one, and `ne` as well. A fraction of zero is enough, which `toISOString` always writes. A first test passes, since all its texts have one form.
# One would expect Ann in each answer of the list below but the last two.
# Remedy: bring each time, stored and asked for, to one form (`new Date(text).toISOString()`) before the comparison.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scim2-parse-filter@0.2.10 scimmy@1.3.5 >/dev/null
cat >run.mjs <<'JS'
import { filter, parse } from 'scim2-parse-filter';
import SCIMMY from 'scimmy';
const users = [{ userName: 'Ann', meta: { lastModified: '2026-01-05T10:00:00Z' } }];
const write = (found) => found.map(({ userName }) => userName).join() || 'nobody';
for (const condition of [
  'eq "2026-01-05T10:00:00Z"',
  'eq "2026-01-05T10:00:00.000Z"',
  'eq "2026-01-05T12:00:00+02:00"',
  'ge "2026-01-05T12:00:00+02:00"',
  'ge "2026-01-05T11:00:00+02:00"',
  'le "2026-01-05T12:00:00+02:00"',
  'ne "2026-01-05T12:00:00+02:00"',
  'gt "2026-01-05T09:00:00-05:00"',
]) {
  const text = `meta.lastModified ${condition}`;
  console.log(`${condition}: scim2-parse-filter ${write(users.filter(filter(parse(text))))}, scimmy ${write(new SCIMMY.Types.Filter(text).match(users))}`);
}
JS
output=$(node run.mjs)
for name in scim2-parse-filter scimmy; do echo "$name $(node -p "JSON.parse(fs.readFileSync('node_modules/$name/package.json')).version")"; done
echo "$output"
expected='eq "2026-01-05T10:00:00Z": scim2-parse-filter Ann, scimmy Ann
eq "2026-01-05T10:00:00.000Z": scim2-parse-filter nobody, scimmy nobody
eq "2026-01-05T12:00:00+02:00": scim2-parse-filter nobody, scimmy nobody
ge "2026-01-05T12:00:00+02:00": scim2-parse-filter nobody, scimmy Ann
ge "2026-01-05T11:00:00+02:00": scim2-parse-filter nobody, scimmy Ann
le "2026-01-05T12:00:00+02:00": scim2-parse-filter Ann, scimmy Ann
ne "2026-01-05T12:00:00+02:00": scim2-parse-filter Ann, scimmy Ann
gt "2026-01-05T09:00:00-05:00": scim2-parse-filter Ann, scimmy nobody'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
