import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Seconds of each test file in a recorded run. Their order and ratio count: a busy machine takes longer for all of them. */
const DURATIONS = path.join(import.meta.dirname, 'durations.tsv');

/** @returns the recorded seconds by the path of a test file */
export function readDurations(): Map<string, number> {
  if (!existsSync(DURATIONS)) return new Map();
  const lines = readFileSync(DURATIONS, 'utf8').trimEnd().split('\n');
  return new Map(
    lines
      .map((line) => line.split('\t') as [string, string])
      .map(([seconds, file]) => [file, Number(seconds)]),
  );
}

/** @param durations seconds by the path of a test file */
export function writeDurations(durations: ReadonlyMap<string, number>): void {
  const lines = [...durations].toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(DURATIONS, lines.map(([file, seconds]) => `${seconds}\t${file}\n`).join(''));
}
