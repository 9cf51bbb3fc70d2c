import { banner, prepare, prepareDemo } from './app.prepare.js';
import { createApp } from './app.setup.js';
import { runProcess } from './runtime/run-process.js';

await runProcess({ prepare, prepareDemo, createApp, banner });
