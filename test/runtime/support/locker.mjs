// A process that holds the lock of a directory from the line that it prints to a line on its stdin.
import { once } from 'node:events';
import { withLock } from '../../../bin/lib/lock.mjs';

await withLock(process.argv[2], async () => {
  process.stdout.write('locked\n');
  await once(process.stdin, 'data');
});
process.exit(0);
