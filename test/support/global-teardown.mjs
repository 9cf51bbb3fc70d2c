import { rmSync } from 'node:fs';

export default async function teardown() {
  const { database, dataDir } = globalThis.__testDatabase;
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}
