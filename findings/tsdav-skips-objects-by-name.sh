#!/usr/bin/env bash
# tsdav 2.3.4 returns only the calendar objects whose address contains ".ics". The server names the others in its answer to the first request, and
# tsdav does not ask for their data, without an error or a hint: the calendar has fewer events, or none. RFC 4791 leaves names to
# the client that creates an object (4.1, 5.3.2), and a gateway names them by its own source, as DavMail with ".EML". For contacts the
# same library has no such rule: `fetchVCards` returns cards of any name.
# One would expect each object that the server returned for the filter.
# Remedy: `fetchCalendarObjects({ calendar, urlFilter: (url) => !url.endsWith('/') })`.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund tsdav@2.3.4 >/dev/null
cat >run.mjs <<'JS'
import http from 'node:http';
import { fetchCalendarObjects, fetchVCards } from 'tsdav';
const writeObject = (href, data) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop><d:getetag>"1"</d:getetag>${data}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
const server = http.createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  const asked = [...body.matchAll(/<d:href>([^<]*)/g)].map(([, href]) => href);
  const data = '<c:calendar-data>BEGIN:VCALENDAR</c:calendar-data><v:address-data>BEGIN:VCARD</v:address-data>';
  const objects = body.includes('multiget')
    ? asked.map((href) => writeObject(href, data))
    : ['one.ics', 'two', 'three.EML'].map((name) => writeObject(`/home/${name}`, ''));
  const names = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:v="urn:ietf:params:xml:ns:carddav"';
  response.writeHead(207, { 'content-type': 'application/xml; charset=utf-8' });
  response.end(`<d:multistatus ${names}>${objects.join('')}</d:multistatus>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/home/`;
const listNames = (objects) => objects.map((object) => object.url.split('/').pop()).join();
console.log(`fetchCalendarObjects: ${listNames(await fetchCalendarObjects({ calendar: { url } }))}`);
const urlFilter = (text) => !text.endsWith('/');
console.log(`fetchCalendarObjects with urlFilter: ${listNames(await fetchCalendarObjects({ calendar: { url }, urlFilter }))}`);
console.log(`fetchVCards: ${listNames(await fetchVCards({ addressBook: { url } }))}`);
server.close();
JS
output=$(node run.mjs)
echo "tsdav $(node -p "require('tsdav/package.json').version")"
echo "$output"
expected='fetchCalendarObjects: one.ics
fetchCalendarObjects with urlFilter: one.ics,two,three.EML
fetchVCards: one.ics,two,three.EML'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
