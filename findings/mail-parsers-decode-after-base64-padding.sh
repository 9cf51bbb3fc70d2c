#!/usr/bin/env bash
# mailparser 3.14.2 and postal-mime 4.0.0 go on decoding base64 after its padding. Mailing lists append a footer in plain text to a message without
# looking at its encoding: the body ends with "=", the footer follows. Both libraries decode the letters of the footer as further data, so the text
# ends with unreadable characters; in the same way a file gets some bytes at its end, and a digest or signature over it no longer matches.
# One would expect "Hello", the data up to the padding (RFC 2045, 6.8: "=" can only occur at the end of the data), as Node's Buffer returns.
# Remedy: end the body at the padding before the parser sees it.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0 >/dev/null
cat >run.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const body = ['SGVsbG8=', '-- ', 'footer of the list'].join('\r\n');
const head = ['From: list@lists.example', 'MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8'];
const raw = [...head, 'Content-Transfer-Encoding: base64', '', body, ''].join('\r\n');
const shown = (text) => `${text.slice(0, 5)} and ${text.length - 5} more characters`;
console.log('mailparser:', shown((await simpleParser(raw)).text));
console.log('postal-mime:', shown((await PostalMime.parse(raw)).text));
console.log('Buffer:', shown(Buffer.from(body, 'base64').toString()));
JS
output=$(node run.mjs)
echo "mailparser $(node -p "require('mailparser/package.json').version")"
echo "$output"
expected='mailparser: Hello and 11 more characters
postal-mime: Hello and 11 more characters
Buffer: Hello and 0 more characters'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
