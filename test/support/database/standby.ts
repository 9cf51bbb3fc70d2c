import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EmbeddedDatabase } from '../../../src/platform/database/embedded/embedded-database.js';
import { memoryDirectory } from '../memory-directory.ts';

export interface TestServer {
  url: string;
  stop: () => Promise<void>;
}

/**
 * A PostgreSQL server of its own with a migrated, empty database.
 * @param isStandby it stays in recovery: it serves reads and gets no changes, like a standby that lags
 */
export async function startServer({ isStandby = false } = {}): Promise<TestServer> {
  const dataDir = memoryDirectory('workspace-server-');
  cpSync(process.env['TEST_INSTALLATION']!, dataDir, { recursive: true });
  if (isStandby) writeFileSync(path.join(dataDir, 'postgres', 'standby.signal'), '');
  const quiet = (): void => undefined;
  const log = { info: quiet, warn: quiet, error: quiet };
  const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log });
  return {
    url: database.url,
    stop: async () => {
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
