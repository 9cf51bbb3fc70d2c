import path from 'node:path';

/** Places of an upgrade in DATA_DIR. Only whole folders are renamed, so each name says how far the upgrade has come. */
export interface UpgradePaths {
  /** Programs that only the upgrade needs. */
  programs: string;
  /** The new cluster while it is filled. A later start removes it. */
  incomplete: string;
  /** The new cluster, complete and durable, until it gets the name of the former one. */
  ready: string;
  /** The former cluster, once the new one has its name. */
  old: string;
}

/** @param from, to major versions */
export const upgradePaths = (dataDir: string, from: string, to: string): UpgradePaths => ({
  programs: path.join(dataDir, 'upgrade'),
  incomplete: path.join(dataDir, `postgres-${to}.incomplete`),
  ready: path.join(dataDir, `postgres-${to}.ready`),
  old: path.join(dataDir, `postgres-${from}.old`),
});
