import { parseArgs } from 'node:util';
import { ChatFuzzer } from './fuzzer.ts';
import { Site } from './site.ts';

/**
 * The long run: two server processes, which are killed now and then, on a PostgreSQL of their own, which is killed as well.
 *
 *     npm run fuzz:realtime -- --minutes 30 --seed 7
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: `${Date.now()}` },
    actions: { type: 'string', default: '120' },
  },
});

const site = new Site();
try {
  const { servers, users } = await site.start(['alice', 'bob', 'carol', 'dora'], 2);
  const end = Date.now() + Number(values.minutes) * 60_000;
  console.log(`seed ${values.seed}, ${values.minutes} minutes`);
  const disturbances = {
    'first process killed': () => servers[0]!.crash(),
    'second process killed': () => servers[1]!.crash(),
    'PostgreSQL killed': async () => site.killPostgres(),
  };
  const fuzzer = new ChatFuzzer(
    { bases: servers.map(({ base }) => base), users, disturbances },
    {
      seed: values.seed,
      actionsPerRound: Number(values.actions),
      goOn: () => Date.now() < end,
      progress: (line) => console.log(`${new Date().toISOString()} ${line}`),
    },
  );
  await fuzzer.run();
  console.log('No difference.');
} catch (error) {
  console.error(error);
  for (const { output } of site.servers) console.error(output.split('\n').slice(-10).join('\n'));
  process.exitCode = 1;
} finally {
  await site.stop();
}
process.exit();
