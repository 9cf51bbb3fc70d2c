// Loaded into a server by `--import`: writes the longest processor time between two turns of the event loop, in milliseconds, to the file
// LOOP_HOLD. SIGUSR2 begins anew.
import { writeFileSync } from 'node:fs';

const EVERY_MS = 2;
let last = process.threadCpuUsage();
let longest = 0;

const show = () => writeFileSync(process.env.LOOP_HOLD, longest.toFixed(1));
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  if ((user + system) / 1000 <= longest) return;
  longest = (user + system) / 1000;
  show();
}, EVERY_MS).unref();
process.on('SIGUSR2', () => {
  longest = 0;
  show();
});
