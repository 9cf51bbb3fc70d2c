// `node test/bench/recurrence.bench.mjs` after a build: the recurrence engine against rrule-temporal, in turns in one process.
// Both begin with the text of the rule, as a request does that reads a series from the database.
// Prints processor time of each and their ratio; the median of `ROUNDS` rounds after one warm-up round.
import { RRuleTemporal } from 'rrule-temporal';
import {
  DAY,
  formatWallTime,
  instancesOf,
  nextInstance,
  parseRule,
  parseWallTime,
} from '../../dist/lib/recurrence/index.js';

const ROUNDS = 5;
const ZONE = 'Europe/Berlin';
const RULES = [
  'FREQ=DAILY',
  'FREQ=WEEKLY;BYDAY=MO,WE,FR',
  'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU',
  'FREQ=MONTHLY;BYDAY=1MO',
  'FREQ=MONTHLY;BYMONTHDAY=15',
  'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
  'FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU',
  'FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR',
];

/** @param age years between DTSTART and the window */
function workload(name, count, age, days, next) {
  const from = Date.UTC(2026, 2, 15) / 1000;
  const series = Array.from({ length: count }, (_, n) => {
    const start = parseWallTime(`${2026 - age}-01-${String((n % 28) + 1).padStart(2, '0')}T09:00`);
    return { start, text: next ? 'FREQ=DAILY' : RULES[n % RULES.length] };
  });
  const to = from + days * DAY;
  const window = [new Date(from * 1000), new Date(to * 1000 - 1), true];
  const ours = ({ start, text }) => {
    const parsed = { start, zone: ZONE, isDate: false, rules: [parseRule(text)] };
    return next ? Number(nextInstance(parsed, from - 1) !== null) : instancesOf(parsed, { from, to }).length;
  };
  const theirs = ({ start, text }) => {
    const stamp = formatWallTime(start).replaceAll(/[-:]/g, '');
    const rule = new RRuleTemporal({ rruleString: `DTSTART;TZID=${ZONE}:${stamp}\nRRULE:${text}` });
    return next ? Number(rule.next(window[0], true) !== null) : rule.between(...window).length;
  };
  const total = (count) => () => series.reduce((sum, each) => sum + count(each), 0);
  return { name, ours: total(ours), theirs: total(theirs) };
}

function processorTime(work) {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

for (const { name, ours, theirs } of [
  workload('1,000 series over a month', 1_000, 1, 31, false),
  workload('1,000 ten-year-old series over a month', 1_000, 10, 31, false),
  workload('next instance of 100 daily series, 1 year old', 100, 1, 0, true),
  workload('next instance of 100 daily series, 10 years old', 100, 10, 0, true),
]) {
  const times = { ours: [], theirs: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [mine, other] = [processorTime(ours), processorTime(theirs)];
    if (mine.result !== other.result)
      throw new Error(`${name}: ${mine.result} and ${other.result} instances`);
    if (round === 0) continue;
    times.ours.push(mine.ms);
    times.theirs.push(other.ms);
  }
  const [mine, other] = [median(times.ours), median(times.theirs)];
  process.stdout.write(
    `${name}: ${mine.toFixed(2)} ms, rrule-temporal ${other.toFixed(2)} ms, ${(other / mine).toFixed(0)} times\n`,
  );
}
