#!/usr/bin/env bash
# yjs 13.6.33 accepts a Date in a shared map, and each copy then has another value: the copy where it was set keeps the Date, each other copy has an
# empty object, also one that is loaded from what was stored. Nothing reports it, and the copies count as equal (the same state vector), so that no
# later synchronisation repairs it: the member who set the due date sees it, the others have none. A Map as a value is rejected ("Unexpected
# content type"), so that one takes a Date for allowed; inside of an object both pass, and are lost in the same way.
# One would expect one value in all copies, or the error that a Map raises.
# Remedy: store texts (`toISOString()`), and read the document from a second copy in tests.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund yjs@13.6.33 >/dev/null
cat >run.mjs <<'JS'
import * as Y from 'yjs';
const first = new Y.Doc();
const task = first.getMap('task');
task.set('due', new Date('2026-01-05T09:00:00Z'));
task.set('reminder', { at: new Date('2026-01-05T08:00:00Z') });
task.set('title', 'Review');
const second = new Y.Doc();
Y.applyUpdate(second, Y.encodeStateAsUpdate(first));
Y.applyUpdate(first, Y.encodeStateAsUpdate(second));
for (const [name, document] of Object.entries({ first, second })) {
  console.log(`${name}: ${JSON.stringify(document.getMap('task'))}`);
}
try {
  task.set('votes', new Map([['ann', 1]]));
} catch (error) {
  console.log(`a Map: ${error.message}`);
}
console.log(`same state: ${Buffer.compare(Y.encodeStateVector(first), Y.encodeStateVector(second)) === 0}`);
JS
output=$(node run.mjs)
echo "yjs $(node -p "JSON.parse(fs.readFileSync('node_modules/yjs/package.json')).version")"
echo "$output"
expected='first: {"due":"2026-01-05T09:00:00.000Z","reminder":{"at":"2026-01-05T08:00:00.000Z"},"title":"Review"}
second: {"due":{},"reminder":{"at":{}},"title":"Review"}
a Map: Unexpected content type
same state: true'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
