/** The middle value of a list of numbers. */
export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

export const percent = (value) => (Number.isFinite(value) ? `${(value * 100).toFixed(0)} %` : '-');
export const fixed = (value, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : '-');

/** The least share of the floor's requests per second at 8 connections. */
export const BARS = { read: 0.38, list: 0.77, update: 0.58, create: 0.6 };
/** The least share of the throughput of a read that an empty poll reaches, at 8 connections. */
const POLL_TO_READ = 0.5;
/** Notes of an index page: a walk sends no more requests than necessary. */
const INDEX_PAGE = 500;
const MOST_MEMORY = 250;
const MOST_SPREAD = 8;
const ONE_TRIP = 1.05;

const HEADINGS = [
  'operation',
  'conn',
  'req/s',
  'floor',
  'ratio',
  'p50 ms',
  'p99 ms',
  'p99/p50',
  'floor p99/p50',
  'CPU us',
  'floor',
  'ratio',
  'trips',
  'peak MB',
];

export function row({ operation, connections, server, floor }) {
  return [
    operation,
    String(connections),
    fixed(server.rate),
    fixed(floor.rate),
    percent(server.rate / floor.rate),
    fixed(server.p50, 2),
    fixed(server.p99, 2),
    fixed(server.p99 / server.p50, 1),
    fixed(floor.p99 / floor.p50, 1),
    fixed(server.cpu * 1e6),
    fixed(floor.cpu * 1e6),
    percent(floor.cpu / server.cpu),
    fixed(server.trips, 2),
    fixed(server.memory),
  ];
}

export function heading() {
  return line(HEADINGS);
}

export function line(cells) {
  return cells
    .map((cell, n) => (n === 0 ? cell.padEnd(12) : cell.padStart(Math.max(7, HEADINGS[n].length + 2))))
    .join('');
}

/** The required figures (bars), each with whether it is met. */
export function bars(results) {
  const at = (operation, connections) =>
    results.find((result) => result.operation === operation && result.connections === connections);
  const lines = [];
  const bar = (what, value, met) => lines.push(`${met ? 'met   ' : 'MISSED'}  ${what}: ${value}`);
  for (const [operation, least] of Object.entries(BARS)) {
    const result = at(operation, 8);
    if (!result) continue;
    const share = result.server.rate / result.floor.rate;
    bar(
      `${operation}, 8 connections, at least ${percent(least)} of the floor`,
      percent(share),
      share >= least,
    );
  }
  for (const operation of ['read', 'update', 'poll-empty']) {
    const result = at(operation, 8);
    if (result)
      bar(
        `${operation}, one database round trip`,
        fixed(result.server.trips, 2),
        result.server.trips < ONE_TRIP,
      );
  }
  const [read, poll, walk, first] = ['read', 'poll-empty', 'index-10k', 'update-1'].map((name) =>
    at(name, 8),
  );
  if (read && poll) {
    const share = poll.server.rate / read.server.rate;
    bar(
      `poll-empty, 8 connections, at least ${percent(POLL_TO_READ)} of the requests per second of read`,
      percent(share),
      share >= POLL_TO_READ,
    );
  }
  const walked = results.find((result) => result.walk)?.walk;
  if (walked) {
    const most = Math.ceil(walked.notes / INDEX_PAGE);
    bar(
      `index of ${walked.notes} notes, below ${most + 1} requests`,
      String(walked.requests),
      walked.requests <= most,
    );
  }
  const growth = (what, one, other) =>
    lines.push(
      `        ${what}: p50 ${fixed(one.server.p50 / other.server.p50, 1)} x, CPU ${fixed(one.server.cpu / other.server.cpu, 1)} x, floor p50 ${fixed(one.floor.p50 / other.floor.p50, 1)} x`,
    );
  if (read && walk) growth('a page of the index against a read', walk, read);
  for (const operation of ['update-10', 'update-100']) {
    const result = at(operation, 8);
    if (first && result) growth(`${operation} against update-1`, result, first);
  }
  for (const result of results.filter(({ connections }) => connections === 32)) {
    const spread = result.server.p99 / result.server.p50;
    bar(
      `${result.operation}, 32 connections, p99 below ${MOST_SPREAD} x p50`,
      `${fixed(spread, 1)} x`,
      spread < MOST_SPREAD,
    );
  }
  const memory = Math.max(...results.map(({ server }) => server.memory));
  if (Number.isFinite(memory))
    bar(`peak RSS below ${MOST_MEMORY} MB`, `${fixed(memory)} MB`, memory < MOST_MEMORY);
  return lines;
}
