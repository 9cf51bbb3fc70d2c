#!/usr/bin/env bash
# postal-mime 4.0.0 joins the lines of format=flowed (RFC 3676) without looking at the quote marks: of "> The meeting was moved to " and "> Friday."
# it makes "> The meeting was moved to > Friday.", with a mark in the middle of the sentence. With DelSp=yes, by which senders cut long words, a
# quoted address becomes `https://acme.example/20> 26`, which opens another page. A line without marks that ends in a space swallows the quote that
# follows it, so that an answer and the text it answers are one line.
# RFC 3676 (4.5) has a paragraph consist of lines of one quote depth, and the marks are taken off before lines are joined. One would expect the text
# that mailparser 3.14.2 gives.
# Remedy: turn `format=flowed` off in the header before the parser sees it, and join the lines with an own function.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0 >/dev/null
cat >run.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
for (const [parameter, ...lines] of [
  ['', '> The meeting was moved to ', '> Friday.', 'Thanks.'],
  ['; delsp=yes', '> See https://acme.example/20 ', '> 26 for more.'],
  ['', 'I agree. ', '> Is Friday fine?'],
]) {
  const raw = `MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8; format=flowed${parameter}\r\n\r\n${lines.join('\r\n')}\r\n`;
  console.log(`mailparser: ${JSON.stringify((await simpleParser(raw)).text.trim())}`);
  console.log(`postal-mime: ${JSON.stringify((await PostalMime.parse(raw)).text.trim())}`);
}
JS
output=$(node run.mjs)
echo "postal-mime $(node -p "JSON.parse(fs.readFileSync('node_modules/postal-mime/package.json')).version")"
echo "$output"
expected='mailparser: "> The meeting was moved to Friday.\nThanks."
postal-mime: "> The meeting was moved to > Friday.\nThanks."
mailparser: "> See https://acme.example/2026 for more."
postal-mime: "> See https://acme.example/20> 26 for more."
mailparser: "I agree. \n> Is Friday fine?"
postal-mime: "I agree. > Is Friday fine?"'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
