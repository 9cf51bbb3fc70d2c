#!/usr/bin/env bash
# Node 24.21.0 makes another kind of text of 1,031,913 bytes and more. `Buffer.toString` and TextDecoder then keep the characters outside of V8's heap, and the
# text itself begins in the old generation: a collection of the young generation never frees it, however short its life was. One byte less, and the same
# collection frees all. StringDecoder gives a text of the heap at each length, from the same bytes. pg 8.23.1 (pg-protocol 1.16.1) makes its texts by
# `toString`, so that a service whose columns or bodies are just above a mebibyte grows by the size of each of them until a complete collection, which
# costs the longest pause. The heap looks small meanwhile: only `external` and the memory of the process grow.
# One would expect that a text that nobody refers to leaves with the young generation, at each length.
# Remedy: `const decoder = new StringDecoder('utf8'); text = decoder.write(bytes) + decoder.end()`, or bytes that stay bytes.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@24.21.0 pg@8.23.1 pg-protocol@1.16.1 >/dev/null
cat >run.mjs <<'JS'
import { EventEmitter } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { parse } from 'pg-protocol';
const decode = new TextDecoder();
const makers = {
  'Buffer.toString': (bytes) => bytes.toString(),
  TextDecoder: (bytes) => decode.decode(bytes),
  StringDecoder: (bytes) => {
    const decoder = new StringDecoder('utf8');
    return decoder.write(bytes) + decoder.end();
  },
  'a column by pg-protocol': (bytes) => {
    const head = Buffer.alloc(11);
    head.write('D');
    head.writeInt32BE(10 + bytes.length, 1);
    head.writeInt16BE(1, 5);
    head.writeInt32BE(bytes.length, 7);
    const connection = new EventEmitter();
    let length = 0;
    parse(connection, ({ fields }) => (length += fields[0].length));
    connection.emit('data', Buffer.concat([head, bytes]));
    return length;
  },
};
const COUNT = 20;
const collect = (type) => globalThis.gc({ type, execution: 'sync' });
function measure(make, bytes) {
  const before = process.memoryUsage().external;
  for (let n = 0; n < COUNT; n++) make(bytes);
  for (let n = 0; n < 3; n++) collect('minor');
  const young = process.memoryUsage().external - before;
  collect('major');
  const full = process.memoryUsage().external - before;
  const write = (size) => (size > 0.9 * COUNT * bytes.length ? 'all' : size < 0.1 * COUNT * bytes.length ? 'none' : size);
  return `young collections leave ${write(young)}, a complete one ${write(full)}`;
}
for (const length of [1_031_912, 1_031_913]) {
  const bytes = Buffer.alloc(length, 'a');
  for (const [name, make] of Object.entries(makers)) {
    make(bytes);
    collect('major');
    console.log(`${length} bytes, ${name}: ${measure(make, bytes)}`);
  }
}
JS
output=$(node_modules/.bin/node --expose-gc run.mjs)
echo "Node $(node_modules/.bin/node -p process.versions.node), pg-protocol $(node -p "JSON.parse(fs.readFileSync('node_modules/pg-protocol/package.json')).version")"
echo "$output"
expected='1031912 bytes, Buffer.toString: young collections leave none, a complete one none
1031912 bytes, TextDecoder: young collections leave none, a complete one none
1031912 bytes, StringDecoder: young collections leave none, a complete one none
1031912 bytes, a column by pg-protocol: young collections leave none, a complete one none
1031913 bytes, Buffer.toString: young collections leave all, a complete one none
1031913 bytes, TextDecoder: young collections leave all, a complete one none
1031913 bytes, StringDecoder: young collections leave none, a complete one none
1031913 bytes, a column by pg-protocol: young collections leave all, a complete one none'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
