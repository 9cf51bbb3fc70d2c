// `npm run test:record [paths]`: runs tests with one database and writes down how long each file takes, and which files have to run
// with workspaces in several databases. Without a path it replaces the whole record, otherwise the parts of these files. Files that
// fail keep their record.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readDurations, writeDurations } from './durations.ts';
import { type FileRecord, formatList, LIST, readList, ROOT, select } from './selection.ts';

/** Compares the record of before with the code. */
const CHECK = 'test/contract/several-databases';

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-record-'));
try {
  const target = path.join(directory, 'uses');
  const { status } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'bin', 'test.mjs'), ...process.argv.slice(2), '--testPathIgnorePatterns', CHECK],
    { cwd: ROOT, env: { ...process.env, TEST_USES: target }, stdio: 'inherit' },
  );
  if (existsSync(target)) record(target);
  process.exitCode = status ?? 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function record(target: string): void {
  const records = readFileSync(target, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FileRecord);
  const durations = new Map([...readDurations()].filter(([file]) => existsSync(path.join(ROOT, file))));
  for (const { file, seconds } of records) durations.set(file, Math.max(1, Math.round(seconds)));
  writeDurations(durations);
  writeFileSync(LIST, formatList(select(records, readList())));
}
