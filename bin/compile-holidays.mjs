// `node bin/compile-holidays.mjs [--verbose] [--accept] [COUNTRY ...]`: compiles the data of date-holidays and the reviewed overlay
// (bin/holidays/corrections) into src/modules/holidays/data/holidays.ndjson.
// The first line has the attribution, the years and the countries, each further line the holidays of one country, in the same
// order. Run it after an update of date-holidays and commit the result: the service never loads date-holidays.
// It prints how the days off of each country differ from the second source, the days themselves with --verbose or for the named
// countries, and fails when a country differs in more days than bin/holidays/differences.json records, except with --accept.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compareWithSecondSource } from './holidays/compare.mjs';
import { corrections, fingerprint } from './holidays/corrections/index.mjs';
import { compileCountries } from './holidays/date-holidays.mjs';
import { FIRST_YEAR, LAST_YEAR } from './holidays/days.mjs';
import { applyOverlay } from './holidays/overlay.mjs';

const TARGET = path.join(import.meta.dirname, '../src/modules/holidays/data/holidays.ndjson');
const DIFFERENCES = path.join(import.meta.dirname, 'holidays/differences.json');
const options = new Set(process.argv.slice(2));
const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync(require.resolve('date-holidays/package.json'), 'utf8'));

const compiled = compileCountries();
applyOverlay(compiled, corrections);
const isGrown = printDifferences();
if (isGrown && !options.has('--accept')) {
  process.stderr.write('Differences grew. Review them, then record them with --accept.\n');
  process.exit(1);
}
write();

/** Prints and records the differences. @returns whether a country has more than recorded */
function printDifferences() {
  const recorded = JSON.parse(readFileSync(DIFFERENCES, 'utf8'));
  const found = compareWithSecondSource(compiled.map(({ country, holidays }) => [country.country, holidays]));
  let grown = false;
  for (const { code, more, fewer } of found) {
    const [oldMore, oldFewer] = recorded[code] ?? [0, 0];
    const isChanged = more.length !== oldMore || fewer.length !== oldFewer;
    grown ||= more.length > oldMore || fewer.length > oldFewer;
    if (isChanged || more.length + fewer.length > 0)
      process.stdout.write(
        `${code} +${more.length} -${fewer.length}${isChanged ? ` (recorded: +${oldMore} -${oldFewer})` : ''}\n`,
      );
    if (!options.has('--verbose') && !options.has(code)) continue;
    for (const day of more) process.stdout.write(`  + ${day}\n`);
    for (const day of fewer) process.stdout.write(`  - ${day}\n`);
  }
  if (!grown || options.has('--accept')) {
    const counts = found
      .filter(({ more, fewer }) => more.length + fewer.length > 0)
      .map(({ code, more, fewer }) => `  "${code}": [${more.length}, ${fewer.length}]`);
    writeFileSync(DIFFERENCES, `{\n${counts.join(',\n')}\n}\n`);
  }
  return grown;
}

function write() {
  const header = {
    attribution:
      'Holidays: date-holidays (https://github.com/commenthol/date-holidays), data under CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/), from Wikipedia and other sources named there; changed: evaluated for the years below and corrected by the laws and official announcements that bin/holidays/corrections names. This file is under CC BY-SA 3.0.',
    source: `date-holidays ${version}`,
    corrections: fingerprint(),
    first_year: FIRST_YEAR,
    last_year: LAST_YEAR,
    countries: compiled.map(({ country }) => country),
  };
  const lines = [header, ...compiled.map(({ holidays }) => holidays)].map((line) => JSON.stringify(line));
  writeFileSync(TARGET, `${lines.join('\n')}\n`);
  process.stdout.write(`${compiled.length} countries\n`);
}
