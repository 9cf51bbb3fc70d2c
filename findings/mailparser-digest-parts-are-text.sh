#!/usr/bin/env bash
# mailparser 3.14.2 takes a part of multipart/digest without Content-Type for text/plain, although the default of a digest is message/rfc822
# (RFC 2046, 5.1.5). Digests of mailing lists are written so, because it saves a header for each message. The text of the mail then begins with
# the raw header of each message, its encoded words included, and its body stays encoded: here base64.
# One would expect a nested message with a decoded subject and text, as postal-mime 4.0.0 gives.
# Remedy: set `Content-Type: message/rfc822` in such parts before the parser sees them.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0 >/dev/null
cat >run.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const raw = [
  'From: list@lists.example',
  'MIME-Version: 1.0',
  'Content-Type: multipart/digest; boundary=next',
  '',
  '--next',
  '',
  'From: ann@acme.example',
  'Subject: =?utf-8?q?Caf=C3=A9?=',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  '',
  'SGVsbG8=',
  '--next--',
  '',
].join('\r\n');
const words = (text) => ['=?utf-8?q?', 'Café', 'SGVsbG8=', 'Hello'].filter((word) => text?.includes(word)).join(' ');
console.log('mailparser:', words((await simpleParser(raw)).text));
console.log('postal-mime:', words((await PostalMime.parse(raw)).text));
JS
output=$(node run.mjs)
echo "mailparser $(node -p "require('mailparser/package.json').version")"
echo "$output"
expected='mailparser: =?utf-8?q? SGVsbG8=
postal-mime: Café Hello'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
