import { rmSync } from 'node:fs';

export default async function teardown() {
  const { database, directories } = globalThis.__testDatabase;
  await database.close();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}
