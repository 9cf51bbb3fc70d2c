#!/usr/bin/env bash
# The full text search of PostgreSQL 18.7 (as PGlite 0.5.17) does not find words beside a slash, or beside a full stop without a blank. Its parser takes
# "meetings/rooms" for the path of a file and "moved.Please", as hurried writers end a sentence, for the name of a host, and makes one word of each. A
# search for "rooms" or "moved" finds nothing, with each configuration (`simple`, `english`, `german`), because the parser is the same. Of "Berlin/Bonn" one
# finds neither town, of "Müller/Schmidt" the first name and not the second, which is "/schmidt". In "2026-27" the second number is -27. Comma, colon and
# hyphen separate: "meetings-rooms" is found by both words.
# One would expect that each word of a sentence is found, as with the hyphen, where the parts are indexed beside the whole.
# Remedy: index `regexp_replace(text, '[/.]', ' ', 'g')` beside the text, and change searches in the same way.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17 >/dev/null
cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const database = await PGlite.create();
console.log((await database.query('SHOW server_version')).rows[0].server_version);
const find = async (configuration, text, word) => {
  const found = `to_tsvector('${configuration}', $1) @@ websearch_to_tsquery('${configuration}', $2) AS found`;
  return (await database.query(`SELECT ${found}`, [text, word])).rows[0].found;
};
for (const [text, ...words] of [
  ['The visit was moved. Please call.', 'moved', 'Please'],
  ['The visit was moved.Please call.', 'moved', 'Please'],
  ['Ask for meetings-rooms', 'meetings', 'rooms'],
  ['Ask for meetings/rooms', 'meetings', 'rooms'],
  ['Offices: Berlin/Bonn', 'Berlin', 'Bonn'],
  ['Ask Müller/Schmidt', 'Müller', 'Schmidt'],
  ['The budget 2026-27', '2026', '27'],
]) {
  const missing = [];
  for (const word of words)
    for (const configuration of ['simple', 'english', 'german'])
      if (!(await find(configuration, text, word))) missing.push(`${word} (${configuration})`);
  console.log(`${text}: ${missing.length ? `does not find ${missing.join(', ')}` : 'finds both words'}`);
}
await database.close();
JS
output=$(node run.mjs)
echo "PostgreSQL ${output%%$'\n'*}, PGlite $(node -p "JSON.parse(fs.readFileSync('node_modules/@electric-sql/pglite/package.json')).version")"
output=${output#*$'\n'}
echo "$output"
expected='The visit was moved. Please call.: finds both words
The visit was moved.Please call.: does not find moved (simple), moved (english), moved (german), Please (simple), Please (english), Please (german)
Ask for meetings-rooms: finds both words
Ask for meetings/rooms: does not find meetings (simple), meetings (english), meetings (german), rooms (simple), rooms (english), rooms (german)
Offices: Berlin/Bonn: does not find Berlin (simple), Berlin (english), Berlin (german), Bonn (simple), Bonn (english), Bonn (german)
Ask Müller/Schmidt: does not find Schmidt (simple), Schmidt (english), Schmidt (german)
The budget 2026-27: does not find 27 (simple), 27 (english), 27 (german)'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
