#!/usr/bin/env bash
# mailparser 3.14.2 takes the present time for a Date header that JavaScript's Date cannot read, also where RFC 5322 allows the
# header: comments may stand between the parts of the time (section 4.3 and appendix A.5; receivers must accept it). One would
# expect the time, or no `date`. A message so appears as just written, and differently at each parsing.
# Remedy: read the raw line (`headerLines`), remove comments and the spaces around colons, and leave an unreadable date out.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 >/dev/null
cat >run.cjs <<'JS'
const { simpleParser } = require('mailparser');
(async () => {
  for (const value of ['Fri, 21 Nov 1997 09:55:06 -0600 (CST)', 'Fri, 21 Nov 1997 09(comment):   55  :  06 -0600']) {
    const { date } = await simpleParser(`Date: ${value}\r\nFrom: ann@acme.test\r\n\r\nText\r\n`);
    const isNow = Math.abs(Date.now() - date.getTime()) < 60_000;
    console.log(`${value} => ${isNow ? 'the present time' : date.toISOString()}`);
  }
})();
JS
output=$(node run.cjs)
echo "mailparser $(node -p "require('mailparser/package.json').version")"
echo "$output"
expected='Fri, 21 Nov 1997 09:55:06 -0600 (CST) => 1997-11-21T15:55:06.000Z
Fri, 21 Nov 1997 09(comment):   55  :  06 -0600 => the present time'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
