import { runProcess } from './runtime/run-process.js';

// The application is 4,000 modules in one bundle. They load after the checks of the start, so that an invalid start fails at once.
await runProcess(async () => {
  const [prepared, setup] = await Promise.all([import('./app.prepare.js'), import('./app.setup.js')]);
  return { ...prepared, createApp: setup.createApp };
});
