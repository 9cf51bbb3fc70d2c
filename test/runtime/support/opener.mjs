// A process that opens the embedded database and holds it. It prints one line of JSON: the URL, or why not.
// A line on its stdin makes it close and end.
import { once } from 'node:events';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';

const [dataDir, role] = process.argv.slice(2);
const log = { info() {}, warn() {}, error() {} };
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);

try {
  const database = await EmbeddedDatabase.open({ dataDir, role, log });
  say({ url: database.url });
  await once(process.stdin, 'data');
  await database.close();
  process.exit(0);
} catch (error) {
  say({ error: error.name, message: error.message });
  process.exit(1);
}
