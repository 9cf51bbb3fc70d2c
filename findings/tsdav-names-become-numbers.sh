#!/usr/bin/env bash
# tsdav 2.3.4 turns the name of a calendar into a number or a truth value if it looks like one: the calendar "2026.10" is called 2026.1, "1e3" 1000, "2026" is
# the number 2026, and "True" is true. RFC 4918 (15.2) has `displayname` as a text, and the type that tsdav declares is a text (or an object). A
# program that sorts calendars by `localeCompare` fails at the first year somebody made a calendar for, one that shows names shows
# October as January, and one that writes the name back renames the calendar. Names that a server puts into CDATA stay as they are, and a
# leading zero protects, so that tests do not find it. `ctag` and `syncToken` are treated alike: "12.50" becomes 12.5, which the server never gave.
# One would expect the text that the server sent, as tsdav's type says.
# Remedy: ask for the names by `davRequest` with `parseOutgoing: false` and parse the XML of `raw`; a server can send names as CDATA.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund tsdav@2.3.4 >/dev/null
cat >run.mjs <<'JS'
import http from 'node:http';
import { fetchCalendars } from 'tsdav';
const names = ['2026.10', '2026', '1e3', 'True', '007', 'Team 7', '<![CDATA[2026.10]]>'];
const writeCalendar = (name, index) =>
  `<d:response><d:href>/${index}/</d:href><d:propstat><d:prop><d:displayname>${name}</d:displayname><d:sync-token>12.50</d:sync-token>` +
  '<d:resourcetype><d:collection/><c:calendar/></d:resourcetype><c:supported-calendar-component-set><c:comp name="VEVENT"/>' +
  '</c:supported-calendar-component-set></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>';
const server = http.createServer(async (request, response) => {
  await request.toArray();
  response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' });
  response.end(`<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${names.map(writeCalendar).join('')}</d:multistatus>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
const calendars = await fetchCalendars({ account: { accountType: 'caldav', serverUrl: url, rootUrl: url, homeUrl: url } });
for (const [index, { displayName }] of calendars.entries()) console.log(`${names[index]}: ${typeof displayName} ${displayName}`);
console.log(`sync-token 12.50: ${typeof calendars[0].syncToken} ${calendars[0].syncToken}`);
server.close();
JS
output=$(node run.mjs)
echo "tsdav $(node -p "require('tsdav/package.json').version")"
echo "$output"
expected='2026.10: number 2026.1
2026: number 2026
1e3: number 1000
True: boolean true
007: string 007
Team 7: string Team 7
<![CDATA[2026.10]]>: string 2026.10
sync-token 12.50: number 12.5'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
