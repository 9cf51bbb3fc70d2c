import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CatalogueFile, HOLIDAYS } from '../../../src/modules/holidays/catalogue/catalogue-file.js';

test('the holidays are read again after a failure', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'holidays-'));
  try {
    const copy = pathToFileURL(path.join(folder, 'holidays.ndjson'));
    const catalogue = new CatalogueFile(copy);
    await expect(catalogue.holidays('DE')).rejects.toThrow('ENOENT');
    await copyFile(HOLIDAYS, copy);
    expect(await catalogue.holidays('DE')).not.toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
