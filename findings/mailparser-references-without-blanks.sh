#!/usr/bin/env bash
# mailparser 3.14.2 splits References only at blanks. RFC 5322, 3.6.4 makes the blanks around each msg-id optional, and some programs write the ids
# without any, or with commas: the result is then one string with all ids in it instead of a list, and a thread is not found by any of them. With
# blanks the same header gives an array.
# One would expect an array of both ids in each case.
# Remedy: read the ids by their angle brackets.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 >/dev/null
cat >run.mjs <<'JS'
import { simpleParser } from 'mailparser';
for (const between of [' ', '', ',']) {
  const raw = ['From: ann@acme.example', `References: <a@acme.example>${between}<b@acme.example>`, '', 'Text', ''].join('\r\n');
  console.log(JSON.stringify((await simpleParser(raw)).references));
}
JS
output=$(node run.mjs)
echo "mailparser $(node -p "require('mailparser/package.json').version")"
echo "$output"
expected='["<a@acme.example>","<b@acme.example>"]
"<a@acme.example><b@acme.example>"
"<a@acme.example>,<b@acme.example>"'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
