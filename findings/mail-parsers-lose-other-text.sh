#!/usr/bin/env bash
# mailparser 3.14.2 and postal-mime 4.0.0 show no text of a mail that is of another type of text than plain and HTML, such as text/markdown or
# text/enriched: `text` and `html` are empty, and the message becomes an attachment without a name. RFC 2046 (4.1.4) asks to
# treat unknown subtypes of text as text/plain where the charset is known.
# One would expect the text of the only part of a message in `text`.
# Remedy: read an attachment of type text/* without a name and disposition as the text, if the message has no other.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0 >/dev/null
cat >run.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
for (const type of ['plain', 'markdown', 'enriched']) {
  const raw = `From: ann@acme.example\r\nMIME-Version: 1.0\r\nContent-Type: text/${type}; charset=utf-8\r\n\r\nHello\r\n`;
  for (const [name, mail] of [
    ['mailparser', await simpleParser(raw)],
    ['postal-mime', await PostalMime.parse(raw)],
  ]) {
    const files = mail.attachments.map(({ filename }) => filename ?? 'no name');
    console.log(`text/${type}, ${name}: text ${mail.text ? mail.text.trim() : 'empty'}, attachments ${files.join() || 'none'}`);
  }
}
JS
output=$(node run.mjs)
echo "mailparser $(node -p "require('mailparser/package.json').version"), postal-mime $(node -p "require('postal-mime/package.json').version")"
echo "$output"
expected='text/plain, mailparser: text Hello, attachments none
text/plain, postal-mime: text Hello, attachments none
text/markdown, mailparser: text empty, attachments no name
text/markdown, postal-mime: text empty, attachments no name
text/enriched, mailparser: text empty, attachments no name
text/enriched, postal-mime: text empty, attachments no name'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
