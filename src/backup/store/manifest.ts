import { createHash } from 'node:crypto';
import { BackupError } from '../reporting.js';

/** Version of the layout of backups. A change that earlier versions cannot read increments it. */
export const FORMAT = 1;
/** The layout with cells: version 1 would load the tables of a cell in place of those of the directory. */
export const FORMAT_WITH_CELLS = 2;

/** An object in the backup. */
export interface StoredObject {
  /** Relative to the backup. */
  name: string;
  bytes: number;
  /** SHA-256 of the stored bytes, hexadecimal. */
  sha256: string;
}

/** The rows of a table, in the text format of COPY, compressed with Zstandard. */
export interface TableObject extends StoredObject {
  table: string;
  columns: string[];
  rows: number;
}

export interface SequenceValue {
  name: string;
  lastValue: string;
  isCalled: boolean;
}

/** A PostgreSQL schema. */
export interface SchemaBackup {
  name: string;
  /** Set: only the tables of workspaces, from this cell. */
  cell?: string;
  /** Names of the applied migrations, in the order of application. */
  migrations: string[];
  tables: TableObject[];
  sequences: SequenceValue[];
}

/** The files that rows of one kind refer to. */
export interface FileSet {
  kind: string;
  count: number;
  bytes: number;
  /** Lines of JSON, each a `StoredObject`, ordered by name, compressed with Zstandard. */
  index: StoredObject;
}

/** The workspace of an export. */
export interface ExportedWorkspace {
  id: string;
  slug: string;
  name: string;
}

/** The content of a complete snapshot. It is written last. */
export interface Manifest {
  format: number;
  /** Version of the program that made it. */
  version: string;
  /** Id of the snapshot: its time. */
  snapshot: string;
  /** Time of the state of the database, RFC 3339. */
  takenAt: string;
  /** Id of the installation. */
  installation: string;
  /** Set: this is the export of one workspace, not a backup of the installation. */
  workspace?: ExportedWorkspace;
  /** Ids of the keys in SECRET_KEYS that encrypt secrets of this database. */
  secretKeys: string[];
  schemas: SchemaBackup[];
  files: FileSet[];
}

/** Numbers of the tables of a snapshot, and of their rows. */
export function tableCounts({ schemas }: Manifest): { tables: number; rows: number } {
  const tables = schemas.flatMap((schema) => schema.tables);
  return { tables: tables.length, rows: tables.reduce((total, { rows }) => total + rows, 0) };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The text of a manifest, with its own checksum. */
export function formatManifest(manifest: Manifest): string {
  const sha256 = hashOf(JSON.stringify(manifest));
  return `${JSON.stringify({ sha256, manifest }, null, 1)}\n`;
}

/**
 * Parses the text of `formatManifest`.
 * @throws BackupError when it was modified, or has a format of a later version
 */
export function parseManifest(text: string): Manifest {
  let parsed: { sha256?: unknown; manifest?: Manifest };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch (cause) {
    throw new BackupError('The manifest of the backup is damaged.', { cause });
  }
  const { sha256, manifest } = parsed;
  if (manifest === undefined || sha256 !== hashOf(JSON.stringify(manifest)))
    throw new BackupError('The manifest of the backup is damaged.');
  if (manifest.format > FORMAT_WITH_CELLS)
    throw new BackupError(
      `The backup has format ${manifest.format}, of version ${manifest.version}; this version reads format ${FORMAT_WITH_CELLS}. Install version ${manifest.version} or later.`,
    );
  return manifest;
}
