#!/usr/bin/env bash
# khard 0.18.0 (Debian 12, with vobject 0.9.6.1) deletes postal addresses of a contact when something else is changed. It writes the contact into a form
# for the editor, and the form has one address of each type: the second address "work" is not in it, and so not in the card that khard writes back when
# the note was changed. Telephone numbers and e-mail addresses of one type are all in the form, and `khard show` lists them. Addresses without a type
# are of one type too. RFC 6350 (6.3.1) lets a card have any number of addresses (cardinality *). A company with two offices so loses one of them in
# the address book that khard shares with a server, without a question or a hint.
# One would expect that what is not changed stays, as the numbers do.
# khard needs Debian's packages of Python; they are unpacked, not installed.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
chmod 755 .
apt-get download -qq khard=0.18.0-1 python3-vobject=0.9.6.1-2 python3-atomicwrites python3-configobj python3-ruamel.yaml \
  python3-ruamel.yaml.clib python3-unidecode python3-dateutil python3-six >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" root; done
mkdir cards
cat >cards/acme.vcf <<'VCF'
BEGIN:VCARD
VERSION:3.0
UID:acme
FN:Acme
N:Acme;;;;
ADR;TYPE=WORK:;;First Street 1;Berlin;;10115;Germany
ADR;TYPE=WORK:;;Second Street 2;Bonn;;53111;Germany
TEL;TYPE=WORK:+49 30 1
TEL;TYPE=WORK:+49 30 2
NOTE:Old
END:VCARD
VCF
sed -i 's/$/\r/' cards/acme.vcf
cat >editor.sh <<'SH'
#!/bin/sh
sed -i 's/^\(Note *:\).*/\1 New/' "$1"
SH
chmod 755 editor.sh
cat >khard.conf <<CONF
[addressbooks]
[[contacts]]
path = $directory/cards
[general]
default_action = list
editor = $directory/editor.sh
merge_editor = $directory/editor.sh
CONF
run() { HOME="$directory" PYTHONPATH="$directory/root/usr/lib/python3/dist-packages" /usr/bin/python3 -m khard -c khard.conf "$@"; }
kept() { tr -d '\r' <cards/acme.vcf | sed -nE 's/^ADR[^:]*:;;([^;]*);.*/\1/p; s/^TEL[^:]*:(.*)/\1/p; s/^NOTE:(.*)/note \1/p' | sort | paste -sd,; }
output="before: $(kept)
the form: $(run show --format=yaml uid:acme | grep -oE '(First|Second) Street [12]|\+49 30 [12]' | sort | paste -sd,)
$(run edit uid:acme </dev/null >edited.txt 2>&1 || cat edited.txt)after: $(kept)"
echo "khard $(dpkg-deb -f khard_*.deb Version), vobject $(dpkg-deb -f python3-vobject_*.deb Version)"
echo "$output"
expected='before: +49 30 1,+49 30 2,First Street 1,Second Street 2,note Old
the form: +49 30 1,+49 30 2,First Street 1
after: +49 30 1,+49 30 2,First Street 1,note New'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
