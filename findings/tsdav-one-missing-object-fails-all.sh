#!/usr/bin/env bash
# tsdav 2.3.4 rejects a whole calendar if one of its objects is deleted while it reads. `fetchCalendarObjects` asks for the list first and for the data of all
# in a second request. RFC 4791 (7.9, with an example) has a server answer the second one with 207 and the status 404 at each object that is gone. tsdav
# takes this status for that of the request, and throws "Collection query failed: 404 Not Found": the data of the others, which it has, is lost.
# In a calendar that others change this happens at any time; a client that keeps the list itself (`calendarMultiGet`) fails until it
# drops the object, whose name the error does not tell.
# One would expect the objects that are there.
# Remedy: send the REPORT by `davRequest`, which returns all responses with their own status.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund tsdav@2.3.4 >/dev/null
cat >run.mjs <<'JS'
import http from 'node:http';
import { davRequest, fetchCalendarObjects } from 'tsdav';
const ok = 'HTTP/1.1 200 OK';
const writeObject = (name, data) =>
  `<d:response><d:href>/calendar/${name}.ics</d:href><d:propstat><d:prop><d:getetag>"${name}"</d:getetag>${data}</d:prop><d:status>${ok}</d:status></d:propstat></d:response>`;
const missing = '<d:response><d:href>/calendar/2.ics</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>';
const data = '<c:calendar-data>BEGIN:VCALENDAR&#13;\nEND:VCALENDAR&#13;\n</c:calendar-data>';
let deleted = false;
const server = http.createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  const second = deleted ? missing : writeObject(2, data);
  const objects = body.includes('calendar-multiget') ? writeObject(1, data) + second : writeObject(1, '') + writeObject(2, '');
  response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' });
  response.end(`<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${objects}</d:multistatus>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/calendar/`;
for (deleted of [false, true]) {
  const found = await fetchCalendarObjects({ calendar: { url } }).then(
    (objects) => objects.map((object) => new URL(object.url).pathname).join(),
    (error) => error.message.replace(/ Raw.*/, ''),
  );
  console.log(`${deleted ? 'one deleted' : 'both there'}: ${found}`);
}
const answers = await davRequest({ url, init: { method: 'REPORT', headers: {}, body: { 'c:calendar-multiget': {} } } });
console.log(`davRequest: ${answers.map(({ href, status, ok: found }) => `${href} ${found ? 'there' : status}`).join(', ')}`);
server.close();
JS
output=$(node run.mjs)
echo "tsdav $(node -p "require('tsdav/package.json').version")"
echo "$output"
expected='both there: /calendar/1.ics,/calendar/2.ics
one deleted: Collection query failed: 404 Not Found.
davRequest: /calendar/1.ics there, /calendar/2.ics 404'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
