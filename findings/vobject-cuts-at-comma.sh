#!/usr/bin/env bash
# vobject 0.9.6.1 (Debian 12; khard and the Python library caldav stand on it) keeps only what stands before the first comma of a value, if it has no
# class of its own for the property. Reading and writing so cuts a photo to "data:image/jpeg;base64", a position to its latitude, an
# address of the web in the middle, and the second nickname away, without an error. The value is lost when it is read, before a program can look
# at it. The values are valid: a photo is one URI, whose comma is not escaped (RFC 6350, 6.2.4), and nicknames are a list (6.2.3). In a calendar the same
# happens to properties such as CONFERENCE (RFC 7986) and Apple's X-APPLE-STRUCTURED-LOCATION, while URL and ATTACH stay whole.
# One would expect that a card which is read and written keeps its values, as the module keeps the names of properties that it does not know.
# Remedy: escape each comma of such lines with a backslash before vobject reads them, and write cards back with another program.
# vobject needs Debian's packages of Python; they are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq python3-vobject=0.9.6.1-2 python3-dateutil python3-six python3-tz >/dev/null 2>&1 ||
  { echo 'This needs the package python3-vobject 0.9.6.1-2 of Debian 12.' >&2; exit 1; }
for package in *.deb; do dpkg-deb -x "$package" root; done
cat >run.py <<'PY'
import vobject

def write_back(*lines):
    for line in vobject.readOne('\r\n'.join(lines) + '\r\n').serialize(validate=False).split('\r\n'):
        if line.split(':')[0].split(';')[0] in ('PHOTO', 'GEO', 'URL', 'NICKNAME', 'ORG', 'CONFERENCE', 'X-APPLE-STRUCTURED-LOCATION'):
            print(line)

write_back('BEGIN:VCARD', 'VERSION:4.0', 'N:Lee;Ann;;;', 'FN:Ann Lee', 'PHOTO:data:image/jpeg;base64,/9j/4AAQ', 'GEO:geo:52.52,13.40',
           'URL:https://acme.example/map/52,13', 'NICKNAME:Annie,Nan', 'ORG:Acme\\, Inc.', 'END:VCARD')
write_back('BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Example//EN', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20260101T000000Z', 'DTSTART:20260105T090000Z',
           'URL:https://acme.example/map/52,13', 'CONFERENCE;VALUE=URI:https://meet.example/a,b',
           'X-APPLE-STRUCTURED-LOCATION;VALUE=URI:geo:52.52,13.40', 'END:VEVENT', 'END:VCALENDAR')
PY
output=$(PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 run.py)
echo "vobject $(dpkg-deb -f python3-vobject_*.deb Version)"
echo "$output"
expected='GEO:geo:52.52
NICKNAME:Annie
ORG:Acme\, Inc.
PHOTO:data:image/jpeg\;base64
URL:https://acme.example/map/52
CONFERENCE;VALUE=URI:https://meet.example/a
URL:https://acme.example/map/52,13
X-APPLE-STRUCTURED-LOCATION;VALUE=URI:geo:52.52'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
