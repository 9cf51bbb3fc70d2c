// A process that opens the embedded database and holds it. It prints one line of JSON: the URL, or the error.
// A line on its stdin makes it close the database and exit.
import { once } from 'node:events';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';

const [dataDir, role] = process.argv.slice(2);
const log = { info() {}, warn() {}, error() {} };
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

try {
  const database = await EmbeddedDatabase.open({ dataDir, role, log });
  print({ url: database.url });
  await once(process.stdin, 'data');
  await database.close();
  process.exit(0);
} catch (error) {
  print({ error: error.name, message: error.message });
  process.exit(1);
}
