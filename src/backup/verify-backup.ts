import { BackupError, type Fault, type Report } from './reporting.js';
import { BackupStore } from './store/backup-store.js';
import { CONCURRENT_FILES } from './store/copy-files.js';
import { type Manifest, type StoredObject, tableCounts } from './store/manifest.js';
import { mapInOrder } from './store/streams.js';

export interface VerifySummary {
  snapshot: string;
  taken_at: string;
  version: string;
  tables: number;
  files: number;
  faults: Fault[];
  /** Ids of all complete snapshots here. */
  complete: string[];
  /** Ids of aborted ones. */
  incomplete: string[];
}

/**
 * Reads everything in a snapshot and compares sizes and checksums.
 * @param snapshot default: the newest complete one
 * @throws BackupError when there is none, or its manifest is damaged
 */
export async function verifyBackup(
  from: string,
  snapshot: string | undefined,
  report: Report,
): Promise<VerifySummary> {
  const store = await BackupStore.open(from);
  try {
    const manifest = await store.manifest(snapshot);
    const faults = await tableFaults(store, manifest, report);
    let files = 0;
    for (const { index } of manifest.files) {
      // Without its index, the files of a set are unknown. The fault of the index is in the list already.
      if (faults.some(({ name }) => name === index.name)) continue;
      for await (const { object, fault } of fileFaults(store, index)) {
        files += 1;
        if (fault) faults.push(fault);
        await report({ phase: 'file', name: object.name, amount: object.bytes });
      }
    }
    const { tables } = tableCounts(manifest);
    const { snapshot: id, takenAt, version } = manifest;
    return { snapshot: id, taken_at: takenAt, version, tables, files, faults, ...(await store.snapshots()) };
  } finally {
    store.close();
  }
}

/** Verifies the tables and the indexes of files. */
async function tableFaults(store: BackupStore, manifest: Manifest, report: Report): Promise<Fault[]> {
  const faults: Fault[] = [];
  const tables = manifest.schemas.flatMap(({ name, tables: all }) =>
    all.map((table) => ({ object: table, label: `${name}.${table.table}`, amount: table.rows })),
  );
  const indexes = manifest.files.map(({ kind, index, count }) => ({
    object: index,
    label: `index of ${kind}`,
    amount: count,
  }));
  for (const { object, label, amount } of [...tables, ...indexes]) {
    const fault = await store.fault(object);
    if (fault) faults.push(fault);
    await report({ phase: 'table', name: label, amount });
  }
  return faults;
}

/** @throws BackupError when tables or indexes are damaged */
export async function rejectFaults(store: BackupStore, manifest: Manifest, report: Report): Promise<void> {
  const faults = await tableFaults(store, manifest, report);
  if (faults.length === 0) return;
  const list = faults.map(({ name, reason }) => `${name} is ${reason}`).join('; ');
  throw new BackupError(`The backup ${manifest.snapshot} cannot be restored: ${list}.`);
}

function fileFaults(
  store: BackupStore,
  index: StoredObject,
): AsyncGenerator<{ object: StoredObject; fault: Fault | undefined }> {
  return mapInOrder(store.readLines<StoredObject>(index), CONCURRENT_FILES, async (object) => ({
    object,
    fault: await store.fault(object),
  }));
}
