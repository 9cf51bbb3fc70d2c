// `node test/bench/calendar/recurrence.bench.mjs` after a build: the recurrence engine against rrule-temporal, in turns in one process.
// Both begin with the text of the rule, as a request does that reads a series from the database.
// Prints processor time of each and their ratio; the median of `ROUNDS` rounds after one warm-up round.
import { RRuleTemporal } from 'rrule-temporal';
import {
  DAY,
  formatWallTime,
  instancesOf,
  lastInstance,
  nextInstance,
  parseRule,
  parseWallTime,
} from '../../../dist/lib/recurrence/index.js';

const ROUNDS = 9;
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

/**
 * @param age years between DTSTART and the window
 * @param distinct each series has a rule of its own, so that no parsed rule is used twice
 */
function workload(name, count, age, days, { next = false, distinct = false } = {}) {
  const from = Date.UTC(2026, 2, 15) / 1000;
  const series = Array.from({ length: count }, (_, n) => {
    const start = parseWallTime(`${2026 - age}-01-${String((n % 28) + 1).padStart(2, '0')}T09:00`);
    const until = distinct ? `;UNTIL=${formatWallTime(from + (400 + n) * DAY).replaceAll(/[-:]/g, '')}Z` : '';
    return { start, text: next ? 'FREQ=DAILY' : RULES[n % RULES.length] + until };
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
  workload('1,000 series over a month', 1_000, 1, 31),
  workload('1,000 ten-year-old series over a month', 1_000, 10, 31),
  workload('3,000 series of different rules over a month', 3_000, 1, 31, { distinct: true }),
  workload('next instance of 100 daily series, 1 year old', 100, 1, 0, { next: true }),
  workload('next instance of 100 daily series, 10 years old', 100, 10, 0, { next: true }),
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

// Rules that find little or nothing, from callers that want to keep the processor busy: the slowest single evaluation.
const HOSTILE = [
  'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=DAILY;INTERVAL=7;BYDAY=TU',
  'FREQ=WEEKLY;BYMONTH=2;BYDAY=MO;COUNT=10000',
  'FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=3',
  'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=10000',
  `FREQ=YEARLY;BYWEEKNO=${Array.from({ length: 53 }, (_, n) => n + 1).join(',')};BYMONTHDAY=31;BYMONTH=2`,
  'FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO;COUNT=10000',
  'FREQ=HOURLY;INTERVAL=25;BYHOUR=3;BYMONTH=2;BYMONTHDAY=29;COUNT=10000',
  'FREQ=HOURLY;INTERVAL=9999;BYHOUR=3;COUNT=10000',
  'FREQ=HOURLY;UNTIL=99991231T000000Z;BYMINUTE=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20',
];
const hostileTimes = HOSTILE.map((text, n) => {
  const start = parseWallTime('2026-01-01T09:00') + n;
  const series = { start, zone: ZONE, isDate: false, rules: [parseRule(text)] };
  const { ms } = processorTime(() => [nextInstance(series, start), lastInstance(series)]);
  return { text, ms };
});
const { text, ms } = hostileTimes.toSorted((a, b) => b.ms - a.ms)[0];
process.stdout.write(
  `slowest of ${HOSTILE.length} hostile rules, next and last instance: ${ms.toFixed(1)} ms, ${text}\n`,
);
