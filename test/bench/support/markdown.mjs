// The results as tables for the README.
import { BARS, fixed, percent } from './report.mjs';

/** Measured at 1, 8 and 32 connections; the others have a table of their own. */
const CONNECTIONS = [1, 8, 32];

export function markdown(results) {
  const operations = [...Map.groupBy(results, ({ operation }) => operation)];
  const wide = operations.filter(([, cells]) => cells.length > 1);
  const narrow = operations.filter(([, cells]) => cells.length === 1).map(([, [cell]]) => cell);
  const read = results.find((it) => it.operation === 'read' && it.connections === 8);
  const tables = [];
  if (wide.length > 0)
    tables.push(
      table(
        ['operation', ...CONNECTIONS.map((n) => `${n} conn.`), 'p99/p50 at 32', 'trips', 'bar at 8', 'met'],
        wide.map(([operation, cells]) => wideRow(operation, cells)),
      ),
    );
  if (narrow.length > 0)
    tables.push(
      table(
        [
          'operation',
          'conn.',
          'req/s',
          'of the floor',
          'p50 ms',
          'p99 ms',
          'CPU us',
          'trips',
          'p50 of a read',
        ],
        narrow.map((cell) => narrowRow(cell, read)),
      ),
    );
  return tables.join('\n\n');
}

const shares = ({ server, floor }) =>
  `${percent(server.rate / floor.rate)} / ${percent(floor.cpu / server.cpu)}`;

function wideRow(operation, cells) {
  const at = (n) => cells.find(({ connections }) => connections === n);
  const bar = BARS[operation];
  const eight = at(8);
  const met = eight && bar !== undefined && eight.server.rate / eight.floor.rate >= bar;
  return [
    operation,
    ...CONNECTIONS.map((n) => (at(n) ? shares(at(n)) : '-')),
    at(32) ? fixed(at(32).server.p99 / at(32).server.p50, 1) : '-',
    fixed(cells[0].server.trips, 2),
    bar === undefined ? 'none' : percent(bar),
    bar === undefined || !eight ? '' : met ? 'yes' : 'no',
  ];
}

function narrowRow(cell, read) {
  const { operation, connections, server } = cell;
  const toRead = read && connections === 8 ? `${fixed(server.p50 / read.server.p50, 2)} x` : '-';
  return [
    operation,
    String(connections),
    fixed(server.rate),
    shares(cell),
    fixed(server.p50, 2),
    fixed(server.p99, 2),
    fixed(server.cpu * 1e6),
    fixed(server.trips, 2),
    toRead,
  ];
}

function table(head, rows) {
  const widths = head.map((cell, n) => Math.max(cell.length, ...rows.map((row) => row[n].length)));
  const line = (cells) => `| ${cells.map((cell, n) => cell.padEnd(widths[n])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
