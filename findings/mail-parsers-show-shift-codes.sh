#!/usr/bin/env bash
# mailparser 3.14.2 and postal-mime 4.0.0 do not decode the charsets ISO-2022-KR (RFC 1557, Korean) and HZ-GB-2312 (RFC 1843, Chinese): the text is
# the bytes as they are, escape and shift codes included, without an error or a replacement character, so that a program cannot see that it is
# wrong. iconv-lite, which mailparser uses, does not have them, and TextDecoder refuses them, since the Encoding Standard maps both names to its
# "replacement" encoding. ISO-2022-JP, their sibling, is decoded by both.
# One would expect the text, as for the other forty charsets of mails, or U+FFFD.
# Remedy: turn the runs between the shift codes into EUC-KR or GB 2312 by setting the high bit of each byte, then decode that.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0 >/dev/null
cat >run.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const SAMPLES = {
  'iso-2022-kr': ['\x1b$)C\x0eGQ1[\x0f', '한글'],
  'hz-gb-2312': ['~{VPND~}', '中文'],
  'iso-2022-jp': ['\x1b$BF|K\\\x1b(B', '日本'],
};
for (const [charset, [body, text]] of Object.entries(SAMPLES)) {
  const raw = ['From: ann@acme.example', 'MIME-Version: 1.0', `Content-Type: text/plain; charset=${charset}`, '', body, ''];
  const bytes = Buffer.from(raw.join('\r\n'), 'latin1');
  const answer = (read) => (read.trim() === text ? 'decoded' : read.includes(body) ? 'as it was' : JSON.stringify(read));
  console.log(charset, answer((await simpleParser(bytes)).text), '/', answer((await PostalMime.parse(bytes)).text));
}
JS
output=$(node run.mjs)
echo "mailparser $(node -p "require('mailparser/package.json').version")"
echo "$output"
expected='iso-2022-kr as it was / as it was
hz-gb-2312 as it was / as it was
iso-2022-jp decoded / decoded'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
